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
	"lyceum/internal/need"

	"github.com/jackc/pgx/v5"
)

// writers append to quests of their own, one event after the other, until they are told to stop,
// and return what was acknowledged. Any error is a failure: an outcome that was open was settled.
func writers(t *testing.T, st ledger.Store, prefix string, stop <-chan struct{}) func() map[string]ledger.Head {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	heads := map[string]ledger.Head{}
	for i := range 8 {
		wg.Go(func() {
			h := ledger.Head{Quest: fmt.Sprint(prefix, i)}
			for {
				select {
				case <-stop:
					mu.Lock()
					heads[h.Quest] = h
					mu.Unlock()
					return
				default:
				}
				events := ledgertest.Chain(t, h, 1+int(h.Seq%3))
				if err := st.Append(context.Background(), ledger.Batch{Quest: h.Quest, Events: events, Blobs: [][]byte{[]byte(events[0].Hash.String())}}); err != nil {
					t.Errorf("append by the only writer of %s: %v", h.Quest, err)
					return
				}
				last := events[len(events)-1]
				h.Seq, h.Hash = last.Seq, last.Hash
			}
		})
	}
	return func() map[string]ledger.Head { wg.Wait(); return heads }
}

// whole reads every quest, which proves its chain, and compares its end with what was acknowledged.
func whole(t *testing.T, st ledger.Store, heads map[string]ledger.Head) {
	t.Helper()
	for quest, want := range heads {
		var got event.Event
		for e, err := range st.Read(t.Context(), quest, 1) {
			must(t, err)
			got = e
		}
		if got.Seq != want.Seq || got.Hash != want.Hash {
			t.Errorf("quest %s ends with event %d, want the acknowledged %d and nothing more", quest, got.Seq, want.Seq)
		}
	}
}

func TestAConnectionLostInACommitIsSettledByHash(t *testing.T) {
	t.Parallel()
	address, exec := database(t)
	st := store(t, address, nil)
	stop := make(chan struct{})
	ended := writers(t, st, "q", stop)
	rounds := need.Times(40, 500)
	written := func() (sum uint64) {
		list, err := st.Quests(t.Context())
		must(t, err)
		for _, h := range list {
			sum += h.Seq
		}
		return sum
	}
	for before := uint64(0); rounds > 0; rounds-- {
		time.Sleep(30 * time.Millisecond)
		for written() == before { // a busy machine takes longer to connect again
			time.Sleep(10 * time.Millisecond)
		}
		before = written()
		exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	close(stop)
	whole(t, st, ended())
}

func TestADatabaseThatDiesLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	needServer(t)
	own := postgrestest.Start(t)
	address, err := own.Database("q")
	must(t, err)
	st, other := store(t, address, nil), store(t, address, nil)
	follow := make(chan error, 1)
	begin(t, st, "seen", 1)
	go func() {
		for e, err := range other.Follow(t.Context(), "seen", 1) {
			if err != nil || e.Seq == 5 {
				follow <- err
				return
			}
		}
	}()
	for round := range 3 * need.Times(5, 200) {
		stop := make(chan struct{})
		ended := writers(t, st, fmt.Sprint("r", round, "-"), stop)
		time.Sleep(200 * time.Millisecond)
		if how := []string{"immediate", "fast", "kill"}[round%3]; how == "kill" {
			must(t, own.Kill())
		} else {
			must(t, own.Stop(how))
		}
		time.Sleep(50 * time.Millisecond)
		must(t, own.Boot())
		time.Sleep(200 * time.Millisecond)
		close(stop)
		whole(t, st, ended())
	}
	h, err := st.Head(t.Context(), "seen")
	must(t, err)
	more(t, st, h, 4)
	if err := <-follow; err != nil {
		t.Errorf("a follower did not outlast the server: %v", err)
	}
}

func TestACommitUnderWayIsNotCancelled(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	st := store(t, address, nil)
	head := begin(t, st, "q", 1)
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM lyceum.quests FOR UPDATE") // the commit waits for this
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		answer <- st.Append(ctx, ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, head, 1)})
	}()
	for ask[int](t, address, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	select {
	case err := <-answer:
		t.Fatalf("Append returned %v while its commit was under way", err)
	case <-time.After(100 * time.Millisecond):
	}
	must(t, tx.Commit(t.Context()))
	if err := <-answer; err != nil {
		t.Errorf("Append of a cancelled sender: got %v, want the outcome, which is success", err)
	}
	if h, err := st.Head(t.Context(), "q"); err != nil || h.Seq != 2 {
		t.Errorf("the head is %v, %v, want 2", h, err)
	}
}

func TestOneQuestsConflictIsItsOwn(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	st := store(t, address, nil)
	heads := map[string]ledger.Head{}
	for i := range 20 {
		q := fmt.Sprint("q", i)
		heads[q] = begin(t, st, q, 2)
	}
	var wg sync.WaitGroup
	for q, h := range heads {
		wg.Go(func() {
			stale := q < "q15"
			if stale {
				h.Hash = event.HashOf([]byte(q))
			}
			err := st.Append(t.Context(), ledger.Batch{Quest: q, Events: ledgertest.Chain(t, h, 1)})
			if stale != errors.Is(err, ledger.ErrConflict) || !stale && err != nil {
				t.Errorf("append to %s, stale %v: got %v", q, stale, err)
			}
		})
	}
	wg.Wait()
}

func TestOpenRefusesAServerThatDoesNotFlush(t *testing.T) {
	t.Parallel()
	needServer(t)
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			own := postgrestest.Start(t, setting+" = off")
			address, err := own.Database("q")
			must(t, err)
			_, err = postgres.Open(t.Context(), address, nil)
			var refused *postgres.SettingError
			if !errors.As(err, &refused) || refused.Name != setting {
				t.Errorf("open with %s off: got %v, want it refused for that", setting, err)
			}
		})
	}
}
