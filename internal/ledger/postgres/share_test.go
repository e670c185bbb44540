package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"github.com/anishathalye/porcupine"
)

// shared is what a node has after it has asked.
func shared(t *testing.T, st ledger.Lines, a ledger.Asked) ledger.Share {
	t.Helper()
	s, err := st.Share(t.Context(), "p", a)
	must(t, err)
	return s
}

// asking has a node ask again and again, with what it may use, until it has what is wanted.
func asking(t *testing.T, st ledger.Lines, a ledger.Asked, enough func(ledger.Share) bool) ledger.Share {
	t.Helper()
	s := shared(t, st, a)
	for end := time.Now().Add(30 * time.Second); !enough(s); s = shared(t, st, a) {
		if time.Now().After(end) {
			t.Fatalf("after 30 s of asking the share is %+v", s)
		}
		a.Held = s.May
		time.Sleep(quick)
	}
	return s
}

func TestALineIsDividedAmongNodesThatUseIt(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	if s := shared(t, one, ledger.Asked{Most: 8, Wants: 20}); s.May != 8 || s.Held != 8 {
		t.Fatalf("alone a node has %+v, want all 8", s)
	}
	if s := shared(t, two, ledger.Asked{Most: 8, Wants: 3}); s.May != 0 {
		t.Errorf("a second node has %+v while the first holds all, want nothing yet", s)
	}
	if s := shared(t, one, ledger.Asked{Most: 8, Held: 8, Wants: 20}); s.May != 5 || s.Held != 8 {
		t.Errorf("the first has %+v after a second came that wants 3, want to be left 5 and to hold 8 until it says so", s)
	}
	if s := shared(t, two, ledger.Asked{Most: 8, Wants: 3}); s.May != 0 {
		t.Errorf("the second has %+v before the first has given anything back, want nothing", s)
	}
	shared(t, one, ledger.Asked{Most: 8, Held: 6, Wants: 20}) // one call more than it was left is still under way
	if s := shared(t, two, ledger.Asked{Most: 8, Wants: 3}); s.May != 2 {
		t.Errorf("the second has %+v once the first has given back 2, want those", s)
	}
	shared(t, two, ledger.Asked{Most: 8})
	if s := shared(t, one, ledger.Asked{Most: 8, Held: 6, Wants: 20}); s.May != 8 {
		t.Errorf("the first has %+v after the second wants nothing, want all 8", s)
	}
	if s := shared(t, one, ledger.Asked{Most: 8, Held: 99, Wants: 99}); s.Held != 8 {
		t.Errorf("a node that says to hold more than it has has %+v, want 8", s)
	}
}

// TestALineForOneGoesRound: where there is less than one for each node, each has its turn.
func TestALineForOneGoesRound(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	nodes := []*postgres.Store{store(t, address, nil), store(t, address, nil), store(t, address, nil)}
	had, turns := make([]ledger.Share, len(nodes)), make([]int, len(nodes))
	for range 12 {
		for i, st := range nodes {
			turns[i] += had[i].May // each call is over when its node asks again
			had[i] = shared(t, st, ledger.Asked{Most: 1, Held: had[i].May, Wants: 5})
			if had[i].Held == 1 && had[i].May == 0 {
				had[i] = shared(t, st, ledger.Asked{Most: 1, Wants: 5})
			}
		}
	}
	for i, n := range turns {
		if n < 2 {
			t.Errorf("node %d had %d turns of %v, want some for each", i, n, turns)
		}
	}
}

func TestAProviderThatSendsOneNodeAwaySlowsAll(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	a := ledger.Asked{Most: 8, Wants: 4}
	first, second := shared(t, one, a), shared(t, two, a)
	if first.May != 4 || second.May != 4 {
		t.Fatalf("the shares are %+v and %+v, want 4 each", first, second)
	}
	told := shared(t, one, ledger.Asked{Most: 8, Held: 4, Wants: 4, Crowded: true, Began: first.Cuts, Pause: time.Hour})
	heard := shared(t, two, ledger.Asked{Most: 8, Held: 4, Wants: 4})
	for who, s := range map[string]ledger.Share{"that was sent away": told, "that was not": heard} {
		if s.May != 0 || s.Cuts != first.Cuts+1 || s.Pause < 59*time.Minute || s.Pause > time.Hour {
			t.Errorf("the node %s has %+v, want nothing as long as there are more than the 4 that are left, and a pause of an hour", who, s)
		}
	}
	shared(t, one, ledger.Asked{Most: 8, Held: 2, Wants: 4})
	told, heard = shared(t, two, ledger.Asked{Most: 8, Held: 2, Wants: 4}), shared(t, one, ledger.Asked{Most: 8, Held: 2, Wants: 4})
	if told.May != 2 || heard.May != 2 {
		t.Errorf("with two calls each under way the nodes have %+v and %+v, want half of 4 each", told, heard)
	}
	// Answers from before say nothing.
	shared(t, one, ledger.Asked{Most: 8, Held: 2, Wants: 4, Answered: 100, Known: first.Cuts})
	// What began before is no news.
	if s := shared(t, two, ledger.Asked{Most: 8, Held: 4, Wants: 4, Crowded: true, Began: second.Cuts}); s.May != 2 || s.Cuts != first.Cuts+1 {
		t.Errorf("a call that began before the limit was lowered has lowered it again, or old answers have raised it: %+v", s)
	}
	for range 40 {
		shared(t, one, ledger.Asked{Most: 8, Held: 2, Wants: 4, Answered: 2, Known: told.Cuts})
		second = shared(t, two, ledger.Asked{Most: 8, Held: 2, Wants: 4, Answered: 2, Known: told.Cuts})
	}
	if second.May != 4 {
		t.Errorf("after 160 answers a node has %+v, want 4 again", second)
	}
}

// TestACallThatIsSentAwayWasUnderWay: though its node gives its place back as it tells of it.
func TestACallThatIsSentAwayWasUnderWay(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	a := ledger.Asked{Most: 4, Wants: 2}
	first := shared(t, one, a)
	if second := shared(t, two, a); first.May != 2 || second.May != 2 {
		t.Fatalf("the shares are %+v and %+v, want 2 each", first, second)
	}
	shared(t, one, ledger.Asked{Most: 4, Held: 1, Crowded: true, Began: first.Cuts})
	shared(t, one, ledger.Asked{Most: 4})
	if s := shared(t, two, ledger.Asked{Most: 4, Wants: 4}); s.May != 2 {
		t.Errorf("of 4 calls one was sent away: a node alone has %+v, want half of them", s)
	}
}

// TestTheShareOfANodeThatIsGoneReturns, and it has nothing when it wakes.
func TestTheShareOfANodeThatIsGoneReturns(t *testing.T) {
	t.Parallel()
	address, exec := database(t)
	dead := store(t, address, &postgres.Options{Beat: rarely})
	alive := store(t, address, &postgres.Options{Beat: quick})
	a := ledger.Asked{Most: 4, Wants: 4}
	if s := shared(t, dead, a); s.Held != 4 {
		t.Fatalf("a node alone has %+v, want all 4", s)
	}
	if s := asking(t, alive, a, func(s ledger.Share) bool { return s.May == 4 }); !s.Until.After(time.Now().Add(-time.Minute)) || s.Until.After(time.Now().Add(ledger.Silence*quick)) {
		t.Errorf("the share is good until %v, want %d beats from now at most", s.Until, ledger.Silence)
	}
	if _, err := dead.Share(t.Context(), "p", ledger.Asked{Most: 4, Held: 4, Wants: 4}); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("the node that was given up asks: got %v, want ErrLost", err)
	}
	if s := shared(t, dead, ledger.Asked{Most: 4, Held: 4, Wants: 4}); s.Held != 0 {
		t.Errorf("it comes back as another with %+v, want nothing while the other holds all", s)
	}
	exec("DELETE FROM lyceum.nodes")
}

// takes is something that a node did: it held so much, and was told that its share is so much.
type takes struct{ node, held int }

// shares is what each node has: all of them together never more than the limit.
func shares(limit int) porcupine.Model {
	const nodes = 4
	return porcupine.Model{
		Init: func() any { return [nodes]int{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.([nodes]int), input.(takes), output.(int)
			had := s[in.node]
			s[in.node] = out
			sum := 0
			for _, n := range s {
				sum += n
			}
			return in.held <= had && sum <= limit, s
		},
	}
}

// divided has four nodes take and give back parts of one line, and returns what they were told.
func divided(t *testing.T, nodes []ledger.Lines, limit, each int, disturb func(n int)) *history {
	h := &history{}
	var all sync.WaitGroup
	for who, st := range nodes {
		rng := rand.New(rand.NewPCG(uint64(who), 7))
		all.Go(func() {
			has := ledger.Share{}
			for n := range each {
				if who == 0 {
					disturb(n)
				}
				held := 0
				if has.May > 0 {
					held = rng.IntN(has.May + 1)
				}
				a := ledger.Asked{Most: limit, Held: held, Wants: rng.IntN(limit + 2), Answered: 3, Known: has.Cuts, Crowded: n == each/2 && who == 1, Began: has.Cuts}
				begun := time.Now().UnixNano()
				s, err := st.Share(context.Background(), "p", a)
				if err != nil {
					t.Errorf("node %d asks: %v", who, err)
					return
				}
				has = s
				h.mu.Lock()
				h.all = append(h.all, porcupine.Operation{ClientId: who, Input: takes{who, held}, Output: s.Held, Call: begun, Return: time.Now().UnixNano()})
				h.mu.Unlock()
			}
		})
	}
	all.Wait()
	return h
}

func TestSharesAreNeverMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	needServer(t)
	own := postgrestest.Start(t)
	const limit = 5
	for round := range need.Times(2, 50) {
		address, err := own.Database(fmt.Sprint("s", round))
		must(t, err)
		var nodes []ledger.Lines
		var close []*postgres.Store
		for range 4 {
			st := store(t, address, nil)
			nodes, close = append(nodes, st), append(close, st)
		}
		h := divided(t, nodes, limit, 60, func(n int) {
			var err error
			switch n {
			case 15:
				err = own.Exec(context.Background(), "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname <> 'postgres'")
			case 30:
				err = errors.Join(own.Kill(), own.Boot())
			}
			if err != nil {
				t.Error(err)
			}
		})
		if !h.holds(t, shares(limit)) {
			t.Errorf("round %d: no order of these %d changes keeps the shares within %d", round, len(h.all), limit)
		}
		for _, st := range close {
			must(t, st.Close())
		}
	}
}

// greedy is a node that keeps what it has said to give back.
type greedy struct {
	ledger.Lines
	had int
}

func (g *greedy) Share(ctx context.Context, line string, a ledger.Asked) (ledger.Share, error) {
	s, err := g.Lines.Share(ctx, line, a)
	g.had = max(g.had, s.Held)
	s.Held = g.had
	return s, err
}

func TestHistoriesOfSharesFindAFault(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	nodes := []ledger.Lines{store(t, address, nil), store(t, address, nil), store(t, address, nil), &greedy{Lines: store(t, address, nil)}}
	if h := divided(t, nodes, 5, 60, func(int) {}); h.holds(t, shares(5)) {
		t.Errorf("a history of %d with a node that keeps what it gave back passes", len(h.all))
	}
}
