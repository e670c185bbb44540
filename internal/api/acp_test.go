package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/ledger"
	"lyceum/internal/model"

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

// connect returns a client that reads from a pipe, as it would from an agent's output.
func connect() (*editor, io.WriteCloser, *acp.ClientSideConnection) {
	e := &editor{}
	in, out := io.Pipe()
	conn := acp.NewClientSideConnection(e, io.Discard, in)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	return e, out, conn
}

// count sorts what a client has seen, and checks what must hold of each.
func (e *editor) count(t *testing.T, quest string, kinds map[string]int) {
	t.Helper()
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

// TestARealACPClientTakesTheNotifications puts them on the wire to the SDK's own client:
// those of pages, and those of streams.
func TestARealACPClientTakesTheNotifications(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.doubted("doubt")
	kinds := map[string]int{}
	for _, quest := range []string{"alone", "net", "lab", "doubt"} {
		var page struct {
			Updates []struct{ Notification json.RawMessage }
			Next    *int
		}
		w.do("GET", "/api/quests/"+quest+"/events?format=acp&limit=5000", nil).want(t, 200).into(t, &page)
		if page.Next != nil || len(page.Updates) == 0 {
			t.Fatalf("%s has %d updates", quest, len(page.Updates))
		}
		paged, streamed := []string{}, []string{}
		for _, u := range page.Updates {
			paged = append(paged, string(u.Notification))
		}
		a := w.do("GET", "/api/quests/"+quest+"/events?format=acp", nil, streaming).want(t, 200)
		for line := range strings.Lines(string(a.body)) {
			if data, ok := strings.CutPrefix(line, "data: {\"jsonrpc\""); ok {
				streamed = append(streamed, strings.TrimSpace("{\"jsonrpc\""+data))
			}
		}
		if !slices.Equal(paged, streamed) {
			t.Errorf("%s: %d notifications in the page, %d in the stream, or they differ", quest, len(paged), len(streamed))
		}
		e, out, conn := connect()
		for _, n := range streamed {
			_, err := fmt.Fprintf(out, "%s\n", n)
			must(t, err)
		}
		must(t, out.Close())
		<-conn.Done()
		wait(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.seen) == len(streamed) })
		e.count(t, quest, kinds)
		switch quest {
		case "net":
			e.plans(t, 0)
		case "doubt": // there is one more round
			e.plans(t, 1)
		}
	}
	for _, k := range []string{"user", "agent", "thought", "plan", "call", "update"} {
		if kinds[k] == 0 {
			t.Errorf("there is no %s among %v", k, kinds)
		}
	}
}

// plans looks whether a plan goes on from what it was, to its end.
func (e *editor) plans(t *testing.T, grows int) {
	t.Helper()
	rank := map[acp.PlanEntryStatus]int{acp.PlanEntryStatusPending: 0, acp.PlanEntryStatusInProgress: 1, acp.PlanEntryStatusCompleted: 2}
	var last []acp.PlanEntry
	under, grown := 0, 0
	for _, n := range e.seen {
		if n.Update.Plan == nil {
			continue
		}
		now := n.Update.Plan.Entries
		if last != nil && len(now) > len(last) {
			grown++ // by what was not planned at first
		}
		if len(now) < len(last) {
			t.Errorf("a plan of %d parts becomes one of %d", len(last), len(now))
		}
		for i, p := range now {
			if i < len(last) && rank[p.Status] < rank[last[i].Status] {
				t.Errorf("%s was %s and is %s", p.Content, last[i].Status, p.Status)
			}
			if p.Status == acp.PlanEntryStatusInProgress {
				under++
			}
		}
		last = now
	}
	if len(last) < 2 || under == 0 || grown != grows {
		t.Fatalf("the last plan has %d parts, %d were under way, and it grew %d times", len(last), under, grown)
	}
	for _, p := range last {
		if p.Status != acp.PlanEntryStatusCompleted {
			t.Errorf("in the end %s is %s", p.Content, p.Status)
		}
	}
}

// TestTheStreamSpeaksACPWhileAModelDoes has a real client follow a quest that runs. What
// came live does not come again with the answer. Words are told before the events around
// them are read, and however long before, they come in their place.
func TestTheStreamSpeaksACPWhileAModelDoes(t *testing.T) {
	t.Parallel()
	for _, lag := range []time.Duration{0, 30 * time.Millisecond} {
		t.Run(lag.String(), func(t *testing.T) {
			t.Parallel()
			speaksACP(t, lag)
		})
	}
}

func speaksACP(t *testing.T, lag time.Duration) {
	h := newHome(t)
	h.wrap = func(s ledger.Store) ledger.Store { return lagging{s, lag} }
	h.gate = newGate()
	h.gate.emits = func(r *model.Request) []model.Delta {
		switch r.Turn {
		case 1:
			return []model.Delta{{Kind: "thinking", Text: "Let me "}, {Kind: "thinking", Text: "think."}, {Kind: "text", Text: "The sum"}, {Kind: "retry", Text: "no part of it"}, {Kind: "text", Text: " is <b>"}}
		case 2: // it begins anew, and says something else
			return []model.Delta{{Kind: "text", Text: "Wro"}, {Kind: "restart"}, {Kind: "text", Text: "Right"}}
		}
		return []model.Delta{{Kind: "text", Text: "Do"}} // and is heard again
	}
	h.gate.says = func(r *model.Request) *model.Answer {
		switch r.Turn {
		case 1:
			a := call("calculate", `{"code":"print(1)"}`, r.Turn)
			a.Parts = append([]model.Part{{Kind: "thinking", Text: "Let me think."}, {Kind: "text", Text: "The sum is <b>7</b>."}}, a.Parts...)
			return a
		case 2:
			a := call("calculate", `{"code":"print(2)"}`, r.Turn)
			a.Parts = append([]model.Part{{Kind: "text", Text: "Right so."}}, a.Parts...)
			return a
		}
		return said("Done.")
	}
	s := h.serve(api.Options{})
	s.create("q", nil)
	r := s.stream("/api/quests/q/events?format=acp")
	e, out, conn := connect()
	sent := 0
	pass := func(until string) {
		for {
			line := r.next()
			if data, ok := strings.CutPrefix(line, "data: {\"jsonrpc\""); ok {
				_, err := fmt.Fprintf(out, "{\"jsonrpc\"%s\n", data)
				must(t, err)
				sent++
			}
			if strings.Contains(line, until) {
				return
			}
		}
	}
	pass(`"user_message_chunk"`)
	s.control("q", map[string]any{"action": "start"}).want(t, 200)
	pass(` is \u003cb\u003e`) // the model has not been let: that is live
	if n := len(s.ledger("q")); s.ledger("q")[n-1].Type != "model.call" {
		t.Errorf("the last event is %s", s.ledger("q")[n-1].Type)
	}
	h.gate.let(3)
	pass("event: end")
	must(t, out.Close())
	<-conn.Done()
	wait(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.seen) == sent })
	e.count(t, "q", map[string]int{})
	var message, thought string
	live := 0
	for _, n := range e.seen {
		if c := n.Update.AgentMessageChunk; c != nil {
			message += c.Content.Text.Text
		}
		if c := n.Update.AgentThoughtChunk; c != nil {
			thought += c.Content.Text.Text
		}
		if about, ok := n.Meta["lyceum"].(map[string]any); ok && about["live"] == true {
			live++
			if about["actor"] != "agent-0" || about["seq"] != nil {
				t.Errorf("a live chunk says of itself %v", about)
			}
		}
	}
	if want := "The sum is <b>7</b>." + "Wro" + "Right so." + "Done."; message != want || thought != "Let me think." || live != 6 {
		t.Errorf("the client has %q and %q, %d chunks of it live", message, thought, live)
	}
}

// TestOneWhoJoinsInTheMiddleOfAnAnswerGetsItWhole: nobody can tell how it began.
func TestOneWhoJoinsInTheMiddleOfAnAnswerGetsItWhole(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	began, more := make(chan struct{}), make(chan struct{})
	h.gate.speaks = func(emit func(model.Delta)) {
		emit(model.Delta{Kind: "text", Text: "It is"})
		close(began)
		<-more
		emit(model.Delta{Kind: "text", Text: " seven"})
	}
	h.gate.says = func(*model.Request) *model.Answer { return said("It is seven.") }
	s := h.serve(api.Options{})
	s.create("q", nil)
	s.control("q", map[string]any{"action": "start"}).want(t, 200)
	<-began // and nobody watches
	r := s.stream("/api/quests/q/events?format=acp")
	r.until("data: ")
	close(more)
	h.gate.let(1)
	r.until(`data: {"jsonrpc":"2.0","method":"session/update","params":{"_meta":{"lyceum":{"actor":"agent-0"`)
	if strings.Contains(r.last, `"live"`) || !strings.Contains(r.last, `"It is seven."`) {
		t.Errorf("what comes first of the agent is %s", r.last)
	}
	r.until("event: end")
}

// TestAnACPClientSeesWhatIsAsked follows a quest that asks twice, as it happens.
func TestAnACPClientSeesWhatIsAsked(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.asking("q")
	first := s.waits("q").Questions[0].ID
	r := s.stream("/api/quests/q/events?format=acp")
	saw := func(kind string, words ...string) {
		t.Helper()
		for r.last = r.next(); !strings.Contains(r.last, words[0]); r.last = r.next() {
		}
		for _, w := range append(words, `"sessionUpdate":"`+kind+`"`) {
			if !strings.Contains(r.last, w) {
				t.Errorf("there is no %q in %s", w, r.last)
			}
		}
	}
	saw("agent_message_chunk", fmt.Sprintf("Question %d: Which colour?", first), `\n- red\n- blue\n`, fmt.Sprintf("lyceum answer q %d …", first), `"actor":"agent-0"`)
	s.do("POST", "/api/quests/q/answers", map[string]any{"question": first, "choice": "blue", "text": "As the sky."}).want(t, 202)
	saw("user_message_chunk", fmt.Sprintf("answers question %d: blue. As the sky.", first))
	saw("agent_message_chunk", "agent-0 wants to call write_file", `\n- yes\n- no\nIf nobody answers by `, ": no")
	e, out, conn := connect()
	_, err := fmt.Fprintln(out, strings.TrimPrefix(r.last, "data: "))
	must(t, err)
	must(t, out.Close())
	<-conn.Done()
	wait(t, func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.seen) == 1 })
	e.count(t, "q", map[string]int{})
}
