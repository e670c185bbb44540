package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"
)

// TestPromotingTheStandbyLosesNothing: the first server dies, by the signal that nothing survives,
// while writers write; its synchronous standby is promoted; the same writers go on there, and all
// that they were told is there.
func TestPromotingTheStandbyLosesNothing(t *testing.T) {
	t.Parallel()
	needServer(t)
	for round := range need.Times(3, 200) {
		first := postgrestest.Start(t)
		second, err := first.Standby()
		must(t, err)
		t.Cleanup(func() { _ = second.Remove() })
		_, err = first.Database("q")
		must(t, err)
		st := store(t, first.Either(second, "q"), nil)
		stop := make(chan struct{})
		ended := writers(t, st, fmt.Sprint("r", round, "-"), stop)
		time.Sleep(500 * time.Millisecond)
		must(t, first.Kill())
		must(t, second.Promote())
		h := begin(t, st, "after", 1) // it has moved over
		more(t, st, h, 1)
		close(stop)
		whole(t, st, ended())
		must(t, st.Close())
		must(t, errors.Join(first.Remove(), second.Remove()))
	}
}

// left is a primary whose standby has ended, with a quest of one event, and an append to it that waits for the
// standby.
func left(t *testing.T) (first, second *postgrestest.Server, address string, st *postgres.Store, told chan ledger.Head) {
	needServer(t)
	first = postgrestest.Start(t)
	second, err := first.Standby()
	must(t, err)
	t.Cleanup(func() { _ = second.Remove() })
	address, err = first.Database("q")
	must(t, err)
	st = store(t, address, nil)
	head := begin(t, st, "q", 1)
	must(t, second.Stop("immediate"))
	told = make(chan ledger.Head, 1)
	go func() { told <- more(t, st, head, 1) }()
	return first, second, address, st, told
}

// TestAnIsolatedPrimaryAcknowledgesNothing: without its standby a commit waits, and what waits is
// seen by nobody, not even by the writer's own store.
func TestAnIsolatedPrimaryAcknowledgesNothing(t *testing.T) {
	t.Parallel()
	first, second, _, st, told := left(t)
	select {
	case <-told:
		t.Fatal("a commit was acknowledged without the standby")
	case <-time.After(500 * time.Millisecond):
	}
	if h, err := st.Head(t.Context(), "q"); err != nil || h.Seq != 1 {
		t.Errorf("the head is %v, %v, want what the standby has", h, err)
	}
	// An administrator, or a client's timeout, cancels the wait: PostgreSQL calls that done.
	must(t, first.Exec(t.Context(), "postgres", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
	select {
	case <-told:
		t.Fatal("a commit whose wait was cancelled was taken for done")
	case <-time.After(500 * time.Millisecond):
	}
	must(t, second.Boot())
	if h := <-told; h.Seq != 2 {
		t.Errorf("with its standby back the append ended at %d, want 2", h.Seq)
	}
}

// TestACloseDoesNotWaitForAStandby: who appends is told that the store was closed; the events may be
// there or not.
func TestACloseDoesNotWaitForAStandby(t *testing.T) {
	t.Parallel()
	needServer(t)
	own := postgrestest.Start(t)
	address, err := own.Database("q")
	must(t, err)
	st := store(t, address, nil)
	head := begin(t, st, "q", 1)
	must(t, own.Exec(t.Context(), "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'nobody'"))
	must(t, own.Exec(t.Context(), "postgres", "SELECT pg_reload_conf()"))
	for ask[string](t, address, "SHOW synchronous_standby_names") != "nobody" {
		time.Sleep(10 * time.Millisecond)
	}
	told := make(chan error, 2)
	go func() {
		told <- st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)})
	}()
	go func() {
		_, err := st.Post(t.Context(), "q", ledger.Command{Body: &event.QuestPaused{}})
		told <- err
	}()
	for ask[int](t, address, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") < 2 {
		time.Sleep(10 * time.Millisecond)
	}
	must(t, st.Close())
	for range 2 {
		if err := <-told; !errors.Is(err, ledger.ErrClosed) {
			t.Errorf("a write that Close gave up: got %v, want ErrClosed", err)
		}
	}
}

// TestNothingIsReadBeforeTheStandbyHasIt: a primary that starts again shows commits that its standby
// never had, and that a failover would take back.
func TestNothingIsReadBeforeTheStandbyHasIt(t *testing.T) {
	t.Parallel()
	first, second, address, st, told := left(t)
	for ask[int](t, address, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	must(t, first.Stop("immediate"))
	must(t, first.Boot())
	if seen := ask[int](t, address, "SELECT head FROM lyceum.quests WHERE name = 'q'"); seen != 2 {
		t.Fatalf("the server shows head %d, want 2: there is nothing to be careful about", seen)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if h, err := st.Head(ctx, "q"); err == nil {
		t.Errorf("the store read the head %d, which the standby does not have", h.Seq)
	}
	must(t, second.Boot())
	if h := <-told; h.Seq != 2 {
		t.Errorf("with its standby back the append ended at %d, want 2", h.Seq)
	}
	if h, err := st.Head(t.Context(), "q"); err != nil || h.Seq != 2 {
		t.Errorf("with its standby back the head is %v, %v, want 2", h, err)
	}
}
