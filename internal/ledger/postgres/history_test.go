package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"github.com/anishathalye/porcupine"
)

// Histories of what nodes did at once, and what they were told, are held against what one machine that does
// one thing after the other could have told them.

// place is the head of a quest, as a model of it knows it.
type place struct {
	seq  uint64
	hash event.Hash
}

// did is something that somebody did: an append of one event to the place that it knew, or, without one, a
// look at the head. held is for claims: who asks.
type did struct {
	quest  string
	at     place
	append bool
	next   event.Hash
	give   bool
	who    int
}

// told is what came of it.
type told struct {
	place
	done bool
}

// heads is a quest's head: it moves from where an append expected it, and from nowhere else.
var heads = porcupine.Model{
	Partition: byQuest,
	Init:      func() any { return place{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(place), input.(did), output.(told)
		switch {
		case !in.append:
			return out.place == s, s
		case !out.done:
			return s != in.at, s
		default:
			return s == in.at, place{in.at.seq + 1, in.next}
		}
	},
}

// claims is who owns a quest, 0 for nobody: it is given to one at a time. Somebody may be refused what nobody
// has: who gives a quest back while the line is cut does not wait until the database knows.
var claims = porcupine.Model{
	Partition: byQuest,
	Init:      func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		owner, in, out := state.(int), input.(did), output.(told)
		switch {
		case in.give:
			return owner == in.who, 0
		case out.done:
			return owner == 0, in.who
		default:
			return true, owner
		}
	},
}

func byQuest(all []porcupine.Operation) (out [][]porcupine.Operation) {
	of := map[string][]porcupine.Operation{}
	for _, o := range all {
		q := o.Input.(did).quest
		of[q] = append(of[q], o)
	}
	for _, list := range of {
		out = append(out, list)
	}
	return out
}

// history is what was done, by whom, and from when to when.
type history struct {
	mu  sync.Mutex
	all []porcupine.Operation
}

func (h *history) note(who int, in did, do func() told) told {
	begun := time.Now().UnixNano()
	out := do()
	ended := time.Now().UnixNano()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, porcupine.Operation{ClientId: who, Input: in, Output: out, Call: begun, Return: ended})
	return out
}

func (h *history) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

// holds tells whether one machine could have told all that.
func (h *history) holds(t *testing.T, m porcupine.Model) bool {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(m, h.all, time.Minute) {
	case porcupine.Ok:
		return true
	case porcupine.Illegal:
		return false
	default:
		t.Fatalf("a history of %d could not be judged within a minute", len(h.all))
		return false
	}
}

// look is the head of a quest.
func (h *history) look(t *testing.T, st ledger.Store, who int, quest string) place {
	return h.note(who, did{quest: quest}, func() told {
		head, err := st.Head(context.Background(), quest)
		if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
			t.Errorf("look at %s: %#v", quest, err)
		}
		return told{place: place{head.Seq, head.Hash}}
	}).place
}

// race has clients of some stores look at a few quests and append to them, all to the same ones, until stop,
// or until they have done so many things.
func race(t *testing.T, stores []ledger.Store, stop <-chan struct{}, most int) *history {
	h := &history{}
	var all sync.WaitGroup
	for who := range 3 * len(stores) {
		st := stores[who%len(stores)]
		all.Go(func() {
			for n := 0; h.len() < most; n++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				quest := fmt.Sprint("q", (who+n)%3)
				at := h.look(t, st, who, quest)
				e, err := event.Seal(quest, at.seq+1, at.hash, event.Draft{Actor: "agent-0", Body: &event.UserMessage{Text: event.Text{Text: fmt.Sprintf("word %d of %d", n, who)}}})
				if err != nil {
					t.Error(err)
					return
				}
				h.note(who, did{quest: quest, at: at, append: true, next: e.Hash}, func() told {
					err := st.Append(context.Background(), ledger.Batch{Quest: quest, Events: []event.Event{e}})
					if err != nil && !errors.Is(err, ledger.ErrConflict) {
						t.Errorf("append to %s: %v", quest, err)
					}
					return told{done: err == nil}
				})
			}
		})
	}
	all.Wait()
	return h
}

// TestHeadsAreThoseOfOneMachine: three nodes append to the same quests and look at them, while connections are
// cut and the database dies and comes back.
func TestHeadsAreThoseOfOneMachine(t *testing.T) {
	t.Parallel()
	needServer(t)
	own := postgrestest.Start(t)
	for round := range need.Times(2, 200) {
		address, err := own.Database(fmt.Sprint("q", round))
		must(t, err)
		stores := []ledger.Store{store(t, address, nil), store(t, address, nil), store(t, address, nil)}
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			time.Sleep(150 * time.Millisecond)
			if err := own.Exec(context.Background(), "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> 'postgres'"); err != nil {
				t.Error(err)
			}
			time.Sleep(150 * time.Millisecond)
			if err := errors.Join(own.Kill(), own.Boot()); err != nil {
				t.Error(err)
			}
			time.Sleep(150 * time.Millisecond)
		}()
		h := race(t, stores, stop, math.MaxInt)
		if !h.holds(t, heads) {
			t.Errorf("round %d: no order of these %d looks and appends gives what was told", round, len(h.all))
		}
		for _, st := range stores {
			must(t, st.Close())
		}
	}
}

// behind is a store whose looks are not of now.
type behind struct {
	ledger.Store
	mu   sync.Mutex
	seen map[string]ledger.Head
}

func (b *behind) Head(ctx context.Context, quest string) (ledger.Head, error) {
	head, err := b.Store.Head(ctx, quest)
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.seen[quest]
	if b.seen[quest] = head; known {
		return was, err
	}
	return head, err
}

// careless is a store that tells of a conflict as if it were none.
type careless struct{ ledger.Store }

func (c careless) Append(ctx context.Context, b ledger.Batch) error {
	if err := c.Store.Append(ctx, b); err != nil && !errors.Is(err, ledger.ErrConflict) {
		return err
	}
	return nil
}

// TestHistoriesFindAFault: one of three nodes reads what it knew before, or does not heed that another was
// faster.
func TestHistoriesFindAFault(t *testing.T) {
	t.Parallel()
	for name, planted := range map[string]func(ledger.Store) ledger.Store{
		"a read of what was": func(st ledger.Store) ledger.Store {
			return &behind{Store: st, seen: map[string]ledger.Head{}}
		},
		"a fence left out": func(st ledger.Store) ledger.Store { return careless{st} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := database(t)
			stores := []ledger.Store{store(t, address, nil), store(t, address, nil), planted(store(t, address, nil))}
			if h := race(t, stores, nil, 400); h.holds(t, heads) {
				t.Errorf("a history of %d passes for that of one machine", len(h.all))
			}
		})
	}
}

// TestAClaimHasOneOwner: nodes take and give back the same few quests.
func TestAClaimHasOneOwner(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	name := ask[string](t, address, "SELECT current_database()")
	h := &history{}
	var all sync.WaitGroup
	for who := 1; who <= 4; who++ {
		st := store(t, address, nil)
		all.Go(func() {
			for n := range need.Times(60, 1000) {
				in := did{quest: fmt.Sprint("q", n%2), who: who}
				var c ledger.Claim
				out := h.note(who, in, func() told {
					var err error
					c, err = st.Claim(context.Background(), in.quest)
					if err != nil && !errors.Is(err, ledger.ErrClaimed) {
						t.Errorf("claim %s: %v", in.quest, err)
					}
					return told{done: err == nil}
				})
				if n%20 == 10 {
					if err := server.Exec(context.Background(), "postgres", fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name)); err != nil {
						t.Error(err)
					}
				}
				if out.done {
					in.give = true
					h.note(who, in, func() told { c.Release(); return told{done: true} })
				}
			}
		})
	}
	all.Wait()
	if !h.holds(t, claims) {
		t.Errorf("no order of these %d takings and givings back gives what was told", len(h.all))
	}
}
