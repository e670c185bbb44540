package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// parts are what a provider's cache sees of a request: tools come first, then the system prompt,
// then message after message.
func parts(t *testing.T, r *model.Request) (out []string) {
	t.Helper()
	add := func(v any) {
		data, err := json.Marshal(v)
		must(t, err)
		out = append(out, string(data))
	}
	for _, tool := range r.Tools {
		add(tool)
	}
	add("system: " + r.System)
	for _, m := range r.Messages {
		add(m)
	}
	return out
}

// same is how many bytes at the beginning of a request are those of one before.
func same(now, before []string) (n int) {
	for i := 0; i < len(now) && i < len(before) && now[i] == before[i]; i++ {
		n += len(now[i])
	}
	return n
}

// Fifty turns with three discoveries: of what a model is sent, most is what it was sent before,
// counted as the cache of a provider counts.
func TestDiscoveriesKeepThePromptCached(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	for i := range 60 {
		what := []string{"water_plant", "send_letter", "repair_roof"}[i%3]
		p.tool(fmt.Sprintf("%s_%02d", what, i), fmt.Sprintf("Does %s number %d, as often as it is needed.", strings.ReplaceAll(what, "_", " "), i), says("done"))
	}
	searches := map[int64]string{10: "water a plant", 20: "send a letter", 30: "repair the roof"}
	var sent [][]string
	turn, tools := int64(0), 0
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		return actor(func(_ context.Context, r *model.Request) []act {
			turn++
			sent = append(sent, parts(t, r))
			tools = len(r.Tools)
			switch intent := searches[turn]; {
			case intent != "":
				return []act{{quest.SearchTools, args{"intent": intent}}}
			case turn == 50:
				return nil
			}
			return []act{{"calculate", args{"expression": fmt.Sprintf("%d+%d*7", turn, turn)}}}
		}), nil
	}
	name := l.create(plan(t, "q", p.with(l, "discover: true\nwindow: 200000\n"), "rules: [{say: x}]"))
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("it is %s: %s", s.Status, s.Reason)
	}
	grown := 0
	for _, b := range l.shownLists(name) {
		if len(b.Found) > 0 && b.Call != 0 {
			grown++
		}
	}
	cached, all := 0, 0
	for i, now := range sent {
		best := 0
		for _, before := range sent[:i] {
			best = max(best, same(now, before))
		}
		cached += best
		for _, part := range now {
			all += len(part)
		}
	}
	share := 100 * float64(cached) / float64(all)
	t.Logf("%d turns, %d lists of tools, %d tools at the end: %.1f %% of %d bytes were sent before", len(sent), grown, tools, share, all)
	if len(sent) != 50 || grown != 3 || tools < 15 || share < 85 {
		t.Errorf("of %d turns with %d lists of tools %.1f %% are cached; want 50 turns, three discoveries and at least 85 %%", len(sent), grown, share)
	}
	if n := strings.Count(types(l.events(name)), string(event.Type("catalogue.call"))); n != 4 {
		t.Errorf("there were %d searches, want 4", n)
	}
}
