package api_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
)

// deliveriesOf is what the server says was said elsewhere.
type deliveriesOf struct{ Deliveries []deliveryOf }

type deliveryOf struct {
	Key, Connector, Conversation, Text, State, Error, Retry string
	Seq, Said                                               uint64
	Tries                                                   int
	Last, Next                                              string
}

func (s *server) deliveries(name string) (d deliveriesOf) {
	s.t.Helper()
	s.do("GET", "/api/quests/"+name+"/deliveries", nil).want(s.t, 200).into(s.t, &d)
	return d
}

// heardElsewhere makes a study that is bound to a conversation elsewhere, and has said something there.
func (h *home) heardElsewhere(s *server, name string) connector.Box {
	h.t.Helper()
	h.gate.says = func(r *model.Request) *model.Answer {
		if r.Turn == 1 {
			return call("interact", `{"kind":"milestone","text":"The baseline stands."}`, r.Turn)
		}
		return said("Turn.")
	}
	s.create(name, map[string]any{"society": "stages"})
	box := connector.Box{Notes: s.rt.Ledger, Clock: s.rt.Clock}
	b, err := box.Bind(h.t.Context(), connector.Binding{Connector: "chat", Conversation: "room " + name, Quest: name}, func(string) (bool, error) { return false, nil })
	must(h.t, err)
	_, err = s.rt.Post(h.t.Context(), name, ledger.Command{Key: b.Key(false), Body: &event.ConversationBound{Connector: "chat", Conversation: "room " + name}})
	must(h.t, err)
	h.gate.let(2)
	s.control(name, map[string]any{"action": "start"}).want(h.t, 200)
	s.waits(name)
	return box
}

// driver is a service that answers what it is told to.
type driver struct{ err error }

func (driver) Run(context.Context, func(context.Context, connector.Message) error) error { return nil }
func (d driver) Send(context.Context, connector.Outgoing) error                          { return d.err }

// posts has the outbox sent once, to a service that answers so.
func posts(t *testing.T, box connector.Box, err error) {
	t.Helper()
	o := &connector.Office{Box: box, Once: true, Look: time.Millisecond, First: time.Hour, Connectors: map[string]*connector.Connector{
		"chat": {Name: "chat", Driver: driver{err}, Secrets: []string{"s3cret"}},
	}}
	o.Run(t.Context(), filepath.Join(t.TempDir(), "lock"))
}

// TestWhatWasDelivered: of each word that was said elsewhere it is told how far it came, and why not
// further, in words that do no harm.
func TestWhatWasDelivered(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	box := h.heardElsewhere(s, "q")
	one := func() (out deliveriesOf) {
		t.Helper()
		if out = s.deliveries("q"); len(out.Deliveries) != 1 {
			t.Fatalf("there are %+v, want one", out.Deliveries)
		}
		return out
	}
	d := one().Deliveries[0]
	word := until(t, s.rt, "q", isType("interact.said"))
	if d.State != "queued" || d.Tries != 0 || d.Said != word.Seq || d.Connector != "chat" || d.Conversation != "room q" || !strings.Contains(d.Text, "The baseline stands.") || d.Retry != "" || d.Next == "" {
		t.Errorf("before a try: %+v", d)
	}
	posts(t, box, errors.New("502 \x1b[2J\u202e by s3cret\n"+strings.Repeat("long ", 900)))
	if d = one().Deliveries[0]; d.State != "queued" || d.Tries != 1 || d.Next <= d.Last || !strings.HasPrefix(d.Error, "502 ") || strings.ContainsAny(d.Error, "\x1b\u202e\n") || strings.Contains(d.Error, "s3cret") || len([]rune(d.Error)) > 300 {
		t.Errorf("after a try that failed: %+v", d)
	}

	other := h.heardElsewhere(s, "refused")
	posts(t, other, &connector.Refused{Reason: "403"})
	if d := s.deliveries("refused").Deliveries[0]; d.State != "dead" || d.Error != "403" || d.Retry != "lyceum connector retry "+d.Key || d.Next != "" {
		t.Errorf("one that is dead: %+v", d)
	}
	if n, err := other.Retry(t.Context(), s.deliveries("refused").Deliveries[0].Key); n != 1 || err != nil {
		t.Fatalf("retried are %d, %v", n, err)
	}
	posts(t, other, nil)
	if d := s.deliveries("refused").Deliveries[0]; d.State != "sent" || d.Error != "" || d.Retry != "" {
		t.Errorf("one that was sent again: %+v", d)
	}

	// A fork has said nothing to anybody, and a conversation that the home does not know of hears nothing.
	_, err := s.rt.Fork(t.Context(), "refused", runtime.ForkOptions{Name: "fork"})
	must(t, err)
	if got := s.deliveries("fork").Deliveries; len(got) != 0 {
		t.Errorf("a fork has %+v", got)
	}
	b, err := box.Bound(t.Context(), "chat", "room q")
	must(t, err)
	must(t, box.Unbind(t.Context(), b))
	h.gate.says = func(r *model.Request) *model.Answer {
		if r.Turn == 3 {
			return call("interact", `{"kind":"milestone","text":"Again."}`, r.Turn)
		}
		return said("Turn.")
	}
	h.gate.let(2)
	s.do("POST", "/api/quests/q/messages", map[string]any{"text": "Go on."}).want(t, 202)
	until(t, s.rt, "q", func(e event.Event) bool {
		r, ok := e.Body.(*event.DeliveryResult)
		return ok && r.Error != ""
	})
	s.waits("q")
	all := s.deliveries("q").Deliveries
	if len(all) != 2 || all[0].State != "failed" || !strings.Contains(all[0].Error, "lyceum connector bind") || all[1].State != "queued" {
		t.Errorf("what the outbox did not take: %+v, want it first, and failed", all)
	}
}

// TestAForeignKeyTellsNothing: a ledger that came from elsewhere may name the deliveries of others.
func TestAForeignKeyTellsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	box := h.heardElsewhere(s, "q")
	key := s.deliveries("q").Deliveries[0].Key
	posts(t, box, errors.New("of nobody's business"))
	s.create("spy", map[string]any{"society": "stages"})
	w := s.writes("spy")
	b := ledger.Batch{Quest: "spy"}
	for _, body := range []event.Body{
		&event.QuestStarted{Version: "test"},
		&event.ConversationBound{Connector: "chat", Conversation: "c"},
		&event.InteractSaid{Answer: 1, Kind: "milestone", Reply: "none", Text: event.Text{Text: "x"}},
		&event.DeliveryCall{Connector: "chat", Conversation: "c", Key: key, Said: 4},
		&event.DeliveryResult{Call: 5},
	} {
		e, err := event.Seal("spy", w.seq+1, w.hash, event.Draft{Time: s.rt.Clock(), Actor: "core", Body: body})
		must(t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
	}
	must(t, s.rt.Ledger.Append(t.Context(), b))
	d := s.deliveries("spy").Deliveries
	if len(d) != 1 || d[0].State != "unknown" || d[0].Error != "" || d[0].Tries != 0 {
		t.Errorf("another quest's delivery: %+v, want that it is not known", d)
	}
}

// askDeliveries asks for what was said elsewhere, for the document of the API.
func (w *world) askDeliveries(ask func(string, string, any, ...func(*http.Request)) answer) {
	h := &home{t: w.t, gate: w.gate}
	box := h.heardElsewhere(w.server, "outside")
	const pattern, at = "GET /api/quests/{quest}/deliveries", "/api/quests/outside/deliveries"
	ask(pattern, at, nil).want(w.t, 200)
	posts(w.t, box, &connector.Refused{Reason: "403"})
	ask(pattern, at, nil).want(w.t, 200)
	w.gate.says = nil
	if d := w.deliveries("outside").Deliveries; len(d) != 1 || d[0].State != "dead" {
		w.t.Errorf("the delivery is %+v, want it dead", d)
	}
}
