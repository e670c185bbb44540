package postgres_test

import (
	"errors"
	"testing"
	"time"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/postgres"
)

// rarely is for a node that has stopped: it does not beat while the test lasts.
const rarely = time.Hour

func wantLost(t *testing.T, c ledger.Claim) {
	t.Helper()
	select {
	case <-c.Lost():
	case <-time.After(20 * time.Second):
		t.Fatal("the claim was not lost")
	}
}

func TestANodeThatStandsStillLosesItsClaimsAndAppendsNothing(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	stopped := store(t, address, &postgres.Options{Beat: rarely})
	alive := store(t, address, &postgres.Options{Beat: 20 * time.Millisecond})
	head := begin(t, stopped, "q", 3)
	old, err := stopped.Claim(t.Context(), "q")
	must(t, err)
	head = more(t, stopped, head, 1)
	own, err := alive.Claim(t.Context(), "other") // a node that watches the others
	must(t, err)
	defer own.Release()
	var taken ledger.Claim
	for taken == nil {
		switch c, err := alive.Claim(t.Context(), "q"); {
		case err == nil:
			taken = c
		case !errors.Is(err, ledger.ErrClaimed):
			t.Fatal(err)
		}
	}
	defer taken.Release()
	// Nobody has written since, and the seq and the hash are right.
	err = stopped.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)})
	if !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("append under a lost claim: got %v, want ErrConflict", err)
	}
	wantLost(t, old)
	old.Release() // takes nothing from the next owner
	if claimed, err := alive.Claimed("q"); err != nil || !claimed {
		t.Errorf("after the old owner's release: claimed is %v, %v, want it to be the new owner's", claimed, err)
	}
	more(t, alive, head, 2)
}

func TestANodeThatWasGivenUpFindsOutByItsNextBeat(t *testing.T) {
	t.Parallel()
	address, exec := database(t)
	st := store(t, address, &postgres.Options{Beat: 20 * time.Millisecond})
	head := begin(t, st, "q", 1)
	c, err := st.Claim(t.Context(), "q")
	must(t, err)
	exec("DELETE FROM lyceum.nodes")
	wantLost(t, c)
	err = st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)})
	if !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("append after the node was given up: got %v, want ErrConflict", err)
	}
	again, err := st.Claim(t.Context(), "q") // as a new node
	must(t, err)
	defer again.Release()
	more(t, st, head, 1)
}

func TestANodeThatBeatsKeepsItsClaims(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one := store(t, address, &postgres.Options{Beat: 20 * time.Millisecond})
	two := store(t, address, &postgres.Options{Beat: 20 * time.Millisecond})
	c, err := one.Claim(t.Context(), "q")
	must(t, err)
	defer c.Release()
	own, err := two.Claim(t.Context(), "p")
	must(t, err)
	defer own.Release()
	select {
	case <-c.Lost():
		t.Fatal("a node that beats lost its claim")
	case <-time.After(time.Second): // fifty beats
	}
	if ahead := one.Offset(); ahead < -time.Second || ahead > time.Second {
		t.Errorf("the database on this machine is said to be %v ahead, want about nothing", ahead)
	}
}

func TestACloseGivesClaimsBack(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	_, err := one.Claim(t.Context(), "q")
	must(t, err)
	must(t, one.Close())
	c, err := two.Claim(t.Context(), "q")
	must(t, err)
	c.Release()
	if heads, err := two.Quests(t.Context()); err != nil || len(heads) != 0 {
		t.Errorf("a name that was only claimed is listed: %v, %v", heads, err)
	}
}
