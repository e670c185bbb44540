package connector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// mortal is a process that dies at one of its steps, before it is done or just after: whatever it
// does next comes to nothing.
type mortal struct {
	mu     sync.Mutex
	steps  int
	at     int
	before bool
	dead   bool
}

var errDied = errors.New("the process is dead")

// step does something that lasts, unless the process is dead.
func (m *mortal) step(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDied
	}
	m.steps++
	if m.dead = m.steps == m.at; m.dead && m.before {
		return errDied
	}
	if err := do(); err != nil || !m.dead {
		return err
	}
	return errDied
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// mortalNotes, mortalQuests and mortalService are those of such a process.
type (
	notes       = ledger.Notes
	mortalNotes struct {
		notes
		*mortal
	}
	mortalQuests struct {
		connector.Quests
		*mortal
	}
	mortalService struct {
		*service
		*mortal
	}
)

func (n mortalNotes) SwapNote(ctx context.Context, note ledger.Note, old []byte) (ok bool, err error) {
	err = n.step(func() (err error) { ok, err = n.notes.SwapNote(ctx, note, old); return err })
	return ok && err == nil, err
}

func (q mortalQuests) Say(ctx context.Context, quest, key, source string, m connector.Message) (reply string, err error) {
	err = q.step(func() (err error) { reply, err = q.Quests.Say(ctx, quest, key, source, m); return err })
	return reply, err
}

func (q mortalQuests) Bind(ctx context.Context, quest, key string, b *event.ConversationBound) error {
	return q.step(func() error { return q.Quests.Bind(ctx, quest, key, b) })
}

func (s mortalService) Send(ctx context.Context, o connector.Outgoing) error {
	return s.step(func() error { return s.service.Send(ctx, o) })
}

// TestWhereverTheProcessDies: it dies at each step of hearing a message, saying it to a quest,
// replying and delivering, and the next one goes on. The message is heard once, what is sent is
// sent, and what may come twice has the same key.
func TestWhereverTheProcessDies(t *testing.T) {
	t.Parallel()
	died := 0
	for _, how := range []string{"before", "after"} {
		for n, alive := 1, false; !alive; n++ {
			if n > 50 {
				t.Fatal("there is no end of steps")
			}
			t.Run(fmt.Sprint(how, " step ", n), func(t *testing.T) { alive = !dies(t, n, how == "before") })
			died++
		}
	}
	if died < 16 {
		t.Errorf("it died %d times: the test shows little", died)
	}
}

// dies has the process die at a step, and reports whether it did.
func dies(t *testing.T, at int, before bool) bool {
	h := open(t)
	h.bind("room", "q")
	must(t, h.box.Put(t.Context(), connector.Delivery{Key: "k", Connector: "chat", Conversation: "room", Text: "news"}))
	first := &mortal{at: at, before: before}
	plain, chat := h.office, *h.office.Connectors["chat"]
	chat.Driver = mortalService{h.service, first}
	h.office = &connector.Office{
		Box: connector.Box{Notes: mortalNotes{h.box.Notes, first}, Clock: h.clock}, Quests: mortalQuests{h.desk, first}, First: plain.First, Look: plain.Look,
		Connectors: map[string]*connector.Connector{"chat": &chat},
	}
	h.run()
	m := connector.Message{ID: "m", Sender: "ada", Conversation: "room", Text: "/stop"}
	acknowledged := h.hear(m) == nil
	sent := func() bool {
		all, err := h.box.Deliveries(t.Context())
		must(t, err)
		for _, d := range all {
			if d.State != connector.Sent {
				return false
			}
		}
		return len(all) == 2
	}
	until(t, "it dies, or all is done", func() bool { return first.isDead() || sent() })
	h.stop()
	if said := h.desk.saidSoFar(); acknowledged && said == "" {
		t.Error("the message was acknowledged, and no quest has heard it")
	}

	h.office = plain
	h.run()
	must(t, h.hear(m)) // whether it was acknowledged or not
	until(t, "all is sent", sent)
	h.stop()
	if got := h.desk.saidSoFar(); got != "q chat room ada: /stop" {
		t.Errorf("the quest has heard %q, want the message once", got)
	}
	if got := strings.Join(h.desk.orders, ";"); got != "q room false" {
		t.Errorf("the quest was told of %q, want its conversation, once", got)
	}
	keys := map[string]string{}
	for _, o := range h.service.got {
		if text, again := keys[o.Key]; again && text != o.Text {
			t.Errorf("by the key %s came %q and %q", o.Key, text, o.Text)
		}
		keys[o.Key] = o.Text
	}
	if len(keys) != 2 || keys["k"] != "news" || len(h.service.got) > 3 {
		t.Errorf("the service got %+v, want the news and a reply, and of one at most a second copy", h.service.got)
	}
	return first.isDead()
}
