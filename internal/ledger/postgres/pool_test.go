package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/postgres/postgrestest"
)

// quick is how often nodes of these tests beat.
const quick = 20 * time.Millisecond

// pulled is what a node gets that takes so many quests.
func pulled(t *testing.T, st *postgres.Store, most int) (out []ledger.Pulled) {
	t.Helper()
	out, err := st.Pull(t.Context(), most)
	must(t, err)
	return out
}

func names(list []ledger.Pulled) (out []string) {
	for _, p := range list {
		out = append(out, p.Quest)
	}
	return out
}

func TestEachWantedQuestIsPulledByOneNode(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	first := store(t, address, nil)
	const quests = 40
	for i := range quests {
		q := fmt.Sprintf("q%d", i)
		begin(t, first, q, 1)
		must(t, first.Want(t.Context(), ledger.Wanted{Quest: q}))
	}
	begin(t, first, "nobody-wants-it", 1)
	var mu sync.Mutex
	var all sync.WaitGroup
	owners := map[string]int{}
	for range 4 {
		st := store(t, address, nil)
		all.Go(func() {
			for {
				got, err := st.Pull(t.Context(), 3)
				if err != nil || len(got) == 0 {
					if err != nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				for _, p := range got {
					owners[p.Quest]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for q, n := range owners {
		if n != 1 {
			t.Errorf("quest %s was pulled %d times, want once", q, n)
		}
	}
	if len(owners) != quests || owners["nobody-wants-it"] != 0 {
		t.Errorf("%d quests were pulled, want the %d that are to run", len(owners), quests)
	}
}

func TestTheQuestsOfANodeThatIsGoneArePulledByAnotherAndItsAppendsAreRefused(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	dead := store(t, address, &postgres.Options{Beat: rarely})
	alive := store(t, address, &postgres.Options{Beat: quick})
	head := begin(t, dead, "q", 2)
	must(t, dead.Want(t.Context(), ledger.Wanted{Quest: "q"}))
	old := pulled(t, dead, 9)
	if len(old) != 1 {
		t.Fatalf("pulled %v, want q", names(old))
	}
	must(t, alive.Join(t.Context(), ledger.Node{Address: "here", Room: 3, Rules: []string{"solo/3"}}))
	var got []ledger.Pulled
	for end := time.Now().Add(20 * time.Second); len(got) == 0 && time.Now().Before(end); time.Sleep(quick) {
		got = pulled(t, alive, 9)
	}
	if len(got) != 1 || got[0].Quest != "q" {
		t.Fatalf("of a node that is gone were pulled %v, want q", names(got))
	}
	was, is := old[0].Claim.(ledger.Fenced), got[0].Claim.(ledger.Fenced)
	if is.Before() != was.Epoch() || is.Epoch() <= was.Epoch() {
		t.Errorf("the epochs are %d after %d, want the second above the first, which was %d", is.Epoch(), is.Before(), was.Epoch())
	}
	if err := dead.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)}); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("append of the node that was given up: got %v, want ErrConflict", err)
	}
	must(t, alive.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)}))
	nodes, err := alive.Nodes(t.Context())
	must(t, err)
	if len(nodes) != 1 || nodes[0].Address != "here" || nodes[0].Room != 3 || len(nodes[0].Rules) != 1 {
		t.Errorf("the nodes are %+v, want the one that is alive, with what it said of itself", nodes)
	}
	got[0].Claim.Release()
}

func TestAQuestThatWaitsIsPulledOnceSomethingWasSaidOrItsTimeIsUp(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	st := store(t, address, nil)
	now := event.Time(time.Now().UnixMicro())
	for name, due := range map[string]event.Time{"asks": 0, "later": now + 3600_000_000, "late": now - 1, "moved": 0} {
		h := begin(t, st, name, 2)
		must(t, st.Want(t.Context(), ledger.Wanted{Quest: name, Rest: &ledger.Rest{Seq: h.Seq, Hash: h.Hash, Due: due}}))
		if name == "moved" {
			more(t, st, h, 1)
		}
	}
	if got := fmt.Sprint(names(pulled(t, st, 9))); got != "[late moved]" && got != "[moved late]" {
		t.Errorf("pulled %s, want the one whose time is up and the one that has moved on", got)
	}
	id, err := st.Post(t.Context(), "asks", ledger.Command{Body: &event.UserMessage{Text: event.Text{Text: "x"}}})
	must(t, err)
	got := pulled(t, st, 9)
	if fmt.Sprint(names(got)) != "[asks]" {
		t.Fatalf("after something was said: pulled %v, want asks", names(got))
	}
	must(t, st.Dismiss(t.Context(), "asks", id))
	got[0].Claim.Release()
	if got := pulled(t, st, 9); len(got) != 0 {
		t.Errorf("after what was said was dismissed: pulled %v, want none", names(got))
	}
}

func TestWhatEveryNodeRefusesIsStrandedAndSaysWhy(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	for _, st := range []*postgres.Store{one, two} {
		must(t, st.Join(t.Context(), ledger.Node{Room: 1}))
	}
	begin(t, one, "q", 1)
	must(t, one.Want(t.Context(), ledger.Wanted{Quest: "q"}))
	stranded := func() string {
		t.Helper()
		list, err := two.Stranded(t.Context())
		must(t, err)
		return fmt.Sprint(list)
	}
	for i, st := range []*postgres.Store{one, two} {
		if got := stranded(); got != "[]" {
			t.Errorf("stranded are %s while a node has not tried it, want none", got)
		}
		got := pulled(t, st, 9)
		if len(got) != 1 {
			t.Fatalf("node %d pulled %v, want q", i, names(got))
		}
		must(t, st.Refuse(t.Context(), "q", fmt.Sprint("no key ", i)))
		got[0].Claim.Release()
		if got := pulled(t, st, 9); len(got) != 0 {
			t.Errorf("node %d pulled %v, which it has just refused", i, names(got))
		}
	}
	if got := stranded(); got != "[{q [no key 0 no key 1]}]" {
		t.Errorf("stranded are %s, want q and why of both nodes", got)
	}
}

func TestNothingBeginsUnderAClaimWhoseOwnerWasNotHeardOf(t *testing.T) {
	t.Parallel()
	own := postgrestest.Start(t)
	address, err := own.Database("silence")
	must(t, err)
	st := store(t, address, &postgres.Options{Beat: 200 * time.Millisecond})
	c, err := st.Claim(t.Context(), "q")
	must(t, err)
	defer c.Release()
	sure := c.(ledger.Fenced).Sure
	must(t, sure(t.Context()))
	must(t, own.Stop("fast"))
	time.Sleep((ledger.Silence + 1) * 200 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := sure(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a word of the database for %d beats: got %v, want that nothing begins", ledger.Silence+1, err)
	}
	must(t, own.Boot())
	must(t, sure(t.Context())) // nobody else was there, and it is still the owner's
}
