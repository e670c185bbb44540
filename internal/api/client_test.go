package api_test

import (
	"errors"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
)

// The typed client says and hears what the server does.
func TestTheClientSpeaksWithTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := client.New(w.web.URL, token)
	defer c.Close()
	ctx := t.Context()
	all, err := c.Quests(ctx)
	must(t, err)
	if len(all) != 3 {
		t.Fatalf("it lists %d quests", len(all))
	}
	q, err := c.Quest(ctx, "lab")
	must(t, err)
	if q.Name != "lab" || q.Society != "lab" {
		t.Errorf("the quest as the client reads it: got %+v, want a lab named lab", q.Summary)
	}
	must(t, c.Say(ctx, "lab", "Look again.", ""))
	var refused *client.Error
	if err := c.Say(ctx, "net", "Are you sure?", ""); !errors.As(err, &refused) || refused.Status != 400 && refused.Status != 409 {
		t.Errorf("a message to rules: %v", err)
	}
	if _, err := c.Control(ctx, "nowhere", api.Control{Action: "start"}); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("an order to no quest: %v", err)
	}
	must(t, c.Delete(ctx, "alone"))
	if _, err := c.Quest(ctx, "alone"); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("a quest that was removed: %v", err)
	}
	if _, err := client.New(w.web.URL, "wrong").Quests(ctx); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("a wrong token: %v", err)
	}
}
