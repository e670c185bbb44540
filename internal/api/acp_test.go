package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"lyceum/internal/api"

	acp "github.com/coder/acp-go-sdk"
)

// editor is a client of the Agent Client Protocol that only listens.
type editor struct {
	acp.Client
	mu    sync.Mutex
	seen  []acp.SessionNotification
	wrong []error
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := n.Validate(); err != nil {
		e.wrong = append(e.wrong, err)
	}
	e.seen = append(e.seen, n)
	return nil
}

// TestARealACPClientTakesTheNotifications puts them on the wire to the SDK's own client.
func TestARealACPClientTakesTheNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds := map[string]int{}
	for _, quest := range []string{"alone", "net", "lab"} {
		var page struct {
			Updates []struct{ Notification json.RawMessage }
			Next    *int
		}
		w.do("GET", "/api/quests/"+quest+"/events?format=acp&limit=5000", nil).want(t, 200).into(t, &page)
		if page.Next != nil || len(page.Updates) == 0 {
			t.Fatalf("%s has %d updates", quest, len(page.Updates))
		}
		e := &editor{}
		in, out := io.Pipe()
		conn := acp.NewClientSideConnection(e, io.Discard, in)
		conn.SetLogger(slog.New(slog.DiscardHandler))
		for _, u := range page.Updates {
			_, err := fmt.Fprintf(out, "%s\n", u.Notification)
			must(t, err)
		}
		must(t, out.Close())
		<-conn.Done()
		wait(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.seen) == len(page.Updates) })
		for _, err := range e.wrong {
			t.Error(err)
		}
		open := map[acp.ToolCallId]bool{}
		for _, n := range e.seen {
			if string(n.SessionId) != quest {
				t.Errorf("the session is %s", n.SessionId)
			}
			switch u := n.Update; {
			case u.UserMessageChunk != nil:
				kinds["user"]++
			case u.AgentMessageChunk != nil:
				kinds["agent"]++
			case u.AgentThoughtChunk != nil:
				kinds["thought"]++
			case u.Plan != nil:
				kinds["plan"]++
			case u.ToolCall != nil:
				kinds["call"]++
				open[u.ToolCall.ToolCallId] = true
			case u.ToolCallUpdate != nil:
				kinds["update"]++
				if !open[u.ToolCallUpdate.ToolCallId] {
					t.Errorf("%s: an update of the call %s, which nobody made", quest, u.ToolCallUpdate.ToolCallId)
				}
			default:
				t.Errorf("%s: an update of no kind", quest)
			}
		}
	}
	for _, k := range []string{"user", "agent", "thought", "plan", "call", "update"} {
		if kinds[k] == 0 {
			t.Errorf("there is no %s among %v", k, kinds)
		}
	}
}

func TestTheStreamSpeaksACP(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "q", "")
	a := s.do("GET", "/api/quests/q/events?format=acp", nil, streaming).want(t, 200)
	if !contains(a, `"method":"session/update"`) || !contains(a, "event: end") {
		t.Errorf("%.500s", a.body)
	}
}
