package connector_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lyceum/internal/connector"
	"lyceum/internal/need"
)

// TestInboundSimulation has people, strangers and forgers write to two quests by a service that tells of each message
// until it is acknowledged, signed anew each time, while the process that takes them dies at random steps. Each message
// of somebody who may is heard once, by the quest that its conversation was bound to when it first came, and in the order
// in which it was said; nothing else is heard; what is refused is counted.
func TestInboundSimulation(t *testing.T) {
	t.Parallel()
	deaths := 0
	for seed := range uint64(need.Times(12, 500)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { deaths += inbound(t, rand.New(rand.NewPCG(seed, 7))) })
	}
	if deaths < 12 {
		t.Errorf("the process died %d times: the test shows little", deaths)
	}
}

// inbound is one such history. It returns how often the process died.
func inbound(t *testing.T, random *rand.Rand) (deaths int) {
	h := open(t)
	plain := h.office
	bound := map[string]string{"room-0": "q0", "room-1": "q1"}
	for room, quest := range bound {
		h.bind(room, quest)
	}
	var life *mortal
	begin := func(at int) {
		life = &mortal{at: at, before: random.IntN(2) == 0}
		chat := *plain.Connectors["chat"]
		chat.Driver = mortalService{h.service, life}
		h.office = &connector.Office{
			Box: connector.Box{Notes: mortalNotes{h.box.Notes, life}, Clock: h.clock}, Quests: mortalQuests{h.desk, life}, First: plain.First, Look: plain.Look,
			Connectors: map[string]*connector.Connector{"chat": &chat},
		}
		h.run()
	}
	next := func() {
		h.stop()
		begin(1 + random.IntN(40))
	}
	// tell has the service tell of a message until it is acknowledged, or refused, and returns it as it was then: whoever
	// has the secret signs anew each time.
	tell := func(m connector.Message, secret bool) (connector.Message, error) {
		for try := 0; ; try++ {
			again := m
			if secret && try > 0 {
				again.Signature = fmt.Sprint(m.Signature, "/", try)
			}
			h.service.in <- again
			err := <-h.service.acked
			if err == nil || errors.Is(err, connector.ErrReplayed) {
				return again, err
			}
			if !life.isDead() {
				t.Fatalf("message %s: %v, of a process that lives", m.ID, err)
			}
			deaths++
			next()
		}
	}
	begin(1 + random.IntN(40))
	var want []string
	var taken []connector.Message
	for n := range 30 {
		m := connector.Message{ID: fmt.Sprint("m", n), Sender: []string{"ada", "bob", "mallory"}[random.IntN(3)], Conversation: fmt.Sprint("room-", random.IntN(3)), Text: fmt.Sprint("word ", n), Signature: fmt.Sprint("s", n), Proven: true}
		switch random.IntN(6) {
		case 0: // by nobody whom the service vouches for
			m.Proven = false
			_, err := tell(m, false)
			must(t, err)
			continue
		case 1: // a copy of what was taken
			if len(taken) > 0 {
				if _, err := tell(taken[random.IntN(len(taken))], false); !errors.Is(err, connector.ErrReplayed) {
					t.Errorf("a copy is answered with %v, want ErrReplayed", err)
				}
			}
			continue
		}
		m, err := tell(m, true)
		must(t, err)
		if m.Sender == "mallory" {
			continue
		}
		taken = append(taken, m)
		if quest := bound[m.Conversation]; quest != "" {
			want = append(want, fmt.Sprintf("%s chat %s %s: %s", quest, m.Conversation, m.Sender, m.Text))
		}
	}
	// The last process lives, and what it refuses is counted.
	h.stop()
	before := refusedSoFar(t, h)
	begin(0)
	_, err := tell(connector.Message{ID: "x", Sender: "mallory", Conversation: "room-0", Text: "x"}, false)
	must(t, err)
	for _, m := range taken {
		if _, err := tell(m, false); !errors.Is(err, connector.ErrReplayed) {
			t.Errorf("a copy of %s is answered with %v, want ErrReplayed", m.ID, err)
		}
	}
	h.stop()
	if got := refusedSoFar(t, h) - before; got != int64(len(taken))+1 {
		t.Errorf("%d were refused by a process that lived, want %d", got, len(taken)+1)
	}
	if got := h.desk.saidSoFar(); got != strings.Join(want, "; ") {
		t.Errorf("heard is\n%s\nwant\n%s", got, strings.Join(want, "; "))
	}
	return deaths
}

// refusedSoFar is how many the box knows of that were refused.
func refusedSoFar(t *testing.T, h *home) (n int64) {
	t.Helper()
	list, err := h.box.Refusals(t.Context())
	must(t, err)
	for _, r := range list {
		n += r.Count
	}
	return n
}
