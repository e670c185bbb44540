package api_test

import (
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

type posted struct {
	ID              int64
	Running         bool
	Message         uint64
	Delivery, Reply string
}

// talker makes a quest to which commands can be given.
func (s *server) talker(name string) {
	s.t.Helper()
	s.create(name, map[string]any{"society": "stages"})
}

// TestTheReceiptOfAMessage: it is recorded at once, waits while a turn is under way, and is
// delivered with the next.
func TestTheReceiptOfAMessage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.create("q", nil)
	var first posted
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "/usr is full", "source": "mail", "sender": "ann", "conversation": "c-1", "reply": 1}).want(t, 202).into(t, &first)
	if first.ID == 0 || first.Message == 0 || first.Delivery != "queued" || first.Reply != "" {
		t.Errorf("before it runs: got %+v, want a number, and that it is queued", first)
	}
	found := false
	for e, err := range s.rt.Ledger.Read(t.Context(), "q", first.Message) {
		must(t, err)
		m, ok := e.Body.(*event.UserMessage)
		found = ok && m.Text.Text == "/usr is full" && m.Source == "mail" && m.Sender == "ann" && m.Conversation == "c-1" && m.Reply == 1
		break
	}
	if !found {
		t.Error("event of the receipt: want the message with its source, sender, conversation and reply")
	}
	for field, body := range map[string]map[string]any{
		"source": {"text": "x", "sender": "ann"}, "sender": {"text": "x", "source": "mail", "sender": strings.Repeat("x", 201)}, "reply": {"text": "x", "reply": 9999},
	} {
		var e struct{ Error struct{ Field string } }
		s.do("POST", "/api/quests/q/messages", body).want(t, 400).into(t, &e)
		if e.Error.Field != field {
			t.Errorf("%v: the fault is of %q, want %q", body, e.Error.Field, field)
		}
	}
	// One whose answer was lost is sent again, and is the same message.
	var once, twice posted
	keyed := map[string]any{"text": "Hear me.", "key": "k-1"}
	s.do("POST", "/api/quests/q/messages", keyed).want(t, 202).into(t, &once)
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "Between."}).want(t, 202)
	s.do("POST", "/api/quests/q/messages", keyed).want(t, 202).into(t, &twice)
	if once.ID != twice.ID || once.Message == 0 || once.Message != twice.Message {
		t.Errorf("a message that was sent twice with one key: got %+v and %+v, want the same", once, twice)
	}
	s.do("DELETE", "/api/quests/q/messages/"+"2", nil).want(t, 409)
}

// TestCommandsByTheAPI: to a society that has commands, what begins with a slash is one.
func TestCommandsByTheAPI(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.talker("q")
	var got posted
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "/status"}).want(t, 202).into(t, &got)
	if got.ID != 0 || !strings.Contains(got.Reply, "q is created.") {
		t.Errorf("/status: got %+v, want an answer", got)
	}
	before, err := s.rt.Ledger.Head(t.Context(), "q")
	must(t, err)
	var e struct {
		Error struct{ Message, Field string }
	}
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "/staus"}).want(t, 400).into(t, &e)
	if e.Error.Field != "text" || !strings.Contains(e.Error.Message, "did you mean /status?") {
		t.Errorf("an unknown command: got %+v, want it refused with a suggestion", e)
	}
	if now, err := s.rt.Ledger.Head(t.Context(), "q"); err != nil || now != before {
		t.Errorf("after it the ledger ends at %v %v, want %v", now, err, before)
	}
	got = posted{}
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "//usr is full"}).want(t, 202).into(t, &got)
	if got.Message == 0 || got.Reply != "" {
		t.Errorf("words with two slashes: got %+v, want a message", got)
	}
	s.do("DELETE", "/api/quests/q/messages/999", nil).want(t, 404)
	s.do("DELETE", "/api/quests/q/messages/x", nil).want(t, 404)
}
