package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres"

	"github.com/jackc/pgx/v5"
)

// follows returns how long after its append another store's follower has an event, at the middle.
func follows(t *testing.T, opts *postgres.Options, times int) time.Duration {
	t.Helper()
	address, _ := database(t)
	writer, reader := store(t, address, opts), store(t, address, opts)
	head := begin(t, writer, "q", 1)
	seen := make(chan uint64)
	go func() {
		for e, err := range reader.Follow(t.Context(), "q", 2) {
			if err != nil {
				return
			}
			seen <- e.Seq
		}
	}()
	var took []time.Duration
	for range times {
		time.Sleep(20 * time.Millisecond) // each by itself
		head = more(t, writer, head, 1)
		begun := time.Now()
		if got := <-seen; got != head.Seq {
			t.Fatalf("the follower got event %d, want %d", got, head.Seq)
		}
		took = append(took, time.Since(begun))
	}
	for i := range took { // the middle one
		below := 0
		for _, d := range took {
			if d < took[i] || d == took[i] {
				below++
			}
		}
		if below == len(took)/2+1 {
			return took[i]
		}
	}
	return took[0]
}

func TestAFollowerElsewhereHearsByNotification(t *testing.T) {
	t.Parallel()
	if d := follows(t, nil, 25); d > 100*time.Millisecond {
		t.Errorf("with notifications an event takes %v, want it far sooner than the poll", d)
	} else {
		t.Logf("with notifications: %v", d)
	}
}

func TestAFollowerElsewhereNeedsNoNotification(t *testing.T) {
	t.Parallel()
	if d := follows(t, &postgres.Options{Silent: true}, 9); d > time.Second {
		t.Errorf("without notifications an event takes %v, want a poll's time", d)
	} else {
		t.Logf("without notifications: %v", d)
	}
}

func TestInboxNumbersNeedNotTheQuestsRow(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	one, two := store(t, address, nil), store(t, address, nil)
	begin(t, one, "q", 1)
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM lyceum.quests FOR NO KEY UPDATE") // as a commit has it
	must(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	had := map[int64]bool{}
	for i := range 20 {
		wg.Go(func() {
			id, err := []*postgres.Store{one, two}[i%2].Post(t.Context(), "q", ledger.Command{Key: fmt.Sprint(i / 2), Body: &event.QuestPaused{}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			had[id] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	must(t, errors.Join(tx.Rollback(t.Context()), conn.Close(t.Context())))
	list, err := one.Commands(t.Context(), "q", 0)
	must(t, err)
	if len(list) != 10 || len(had) != 10 || list[9].ID != 10 {
		t.Errorf("20 posts of 10 keys have %d numbers and left %d commands, want 10 each, 1 to 10", len(had), len(list))
	}
}

func TestASmallBlobMetAgainIsSparedByASweep(t *testing.T) {
	t.Parallel()
	address, exec := database(t)
	st := store(t, address, nil)
	head := begin(t, st, "q", 1)
	head = more(t, st, head, 1, []byte("met again"), []byte("never again"), []byte("named"))
	exec("UPDATE lyceum.blobs SET put = now() - interval '2 days'")
	head = more(t, st, head, 1, []byte("met again"), []byte("fresh"))
	removed, err := st.Sweep(t.Context(), map[event.Hash]bool{event.HashOf([]byte("named")): true})
	must(t, err)
	if removed != 1 {
		t.Errorf("the sweep removed %d blobs, want the one that nobody names and nobody has put again", removed)
	}
	for _, word := range []string{"met again", "named", "fresh"} {
		if _, err := st.Blob(t.Context(), event.HashOf([]byte(word))); err != nil {
			t.Errorf("the blob %q: %v", word, err)
		}
	}
	if _, err := st.Blob(t.Context(), event.HashOf([]byte("never again"))); !errors.Is(err, ledger.ErrNoBlob) {
		t.Errorf("the swept blob: got %v, want ErrNoBlob", err)
	}
	_ = head
}

func TestARemovedQuestsEventsGoLaterAndItsNumberNeverReturns(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	st := store(t, address, nil)
	head := begin(t, st, "q", 1)
	for range 6 {
		head = more(t, st, head, 1000)
	}
	old := ask[int64](t, address, "SELECT id FROM lyceum.quests")
	must(t, st.Remove(t.Context(), "q"))
	begin(t, st, "q", 2)
	if now := ask[int64](t, address, "SELECT id FROM lyceum.quests"); now <= old {
		t.Errorf("the new quest has number %d, the removed one had %d", now, old)
	}
	for deadline := time.Now().Add(20 * time.Second); ask[int](t, address, "SELECT count(*) FROM lyceum.events") != 2; {
		if time.Now().After(deadline) {
			t.Fatal("the events of a removed quest stay")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Not beside others: what their statements still see is kept in the pages for so long.
func TestHeadsMoveWithinTheirPages(t *testing.T) {
	address, exec := database(t)
	st := store(t, address, nil)
	heads := make([]ledger.Head, 50)
	for i := range heads {
		heads[i] = begin(t, st, fmt.Sprint("q", i), 1)
	}
	var wg sync.WaitGroup
	for i := range heads {
		wg.Go(func() {
			for range 100 {
				heads[i] = more(t, st, heads[i], 1)
			}
		})
	}
	wg.Wait()
	must(t, st.Close()) // a connection tells its counts at its end
	exec("SELECT pg_stat_clear_snapshot()")
	var hot int
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if hot = ask[int](t, address, "SELECT (100 * n_tup_hot_upd / greatest(n_tup_upd, 1))::int FROM pg_stat_user_tables WHERE relname = 'quests' AND n_tup_upd >= 5000"+" UNION ALL SELECT 0 LIMIT 1"); hot > 0 {
			break
		}
	}
	if hot < 95 {
		t.Errorf("%d %% of the moves of heads stayed within their page, want 95", hot)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("MakesTheTablesOnceHoweverManyStart", func(t *testing.T) {
		t.Parallel()
		address, _ := database(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() { begin(t, store(t, address, nil), fmt.Sprint("q", i), 1) })
		}
		wg.Wait()
	})
	t.Run("WorksWithTheNextFormatAndRefusesTheOneAfter", func(t *testing.T) {
		t.Parallel()
		address, exec := database(t)
		begin(t, store(t, address, nil), "q", 1)
		exec("UPDATE lyceum.meta SET format = format + 1")
		begin(t, store(t, address, nil), "p", 1)
		exec("UPDATE lyceum.meta SET format = format + 1")
		if _, err := postgres.Open(t.Context(), address, nil); !errors.Is(err, ledger.ErrNewer) {
			t.Errorf("two formats on: got %v, want ErrNewer", err)
		}
	})
	t.Run("RefusesAnotherProgramsDatabase", func(t *testing.T) {
		t.Parallel()
		address, exec := database(t)
		exec("CREATE TABLE customers (id int)")
		if _, err := postgres.Open(t.Context(), address, nil); !errors.Is(err, postgres.ErrForeign) {
			t.Errorf("a database with tables of another: got %v, want ErrForeign", err)
		}
		if n := ask[int](t, address, "SELECT count(*) FROM pg_namespace WHERE nspname = 'lyceum'"); n != 0 {
			t.Error("something was made in another program's database")
		}
	})
	for name, test := range map[string]struct{ address, want string }{
		"NobodyThere":  {"postgres://lyceum@127.0.0.1:1/lyceum", "check host and port"},
		"NoSuchHost":   {"postgres://lyceum@nowhere.invalid/lyceum", "check the address"},
		"NotAnAddress": {"postgres://lyceum@host:port:port/%zz", "must be like"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), test.address, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want it to say %q", err, test.want)
			}
		})
	}
	t.Run("SaysWhoIsNotLetIn", func(t *testing.T) {
		t.Parallel()
		address, exec := database(t)
		if _, err := postgres.Open(t.Context(), server.Address("missing"), nil); err == nil || !strings.Contains(err.Error(), "createdb missing") {
			t.Errorf("a database that is not there: got %v, want it to say how to make it", err)
		}
		exec("CREATE ROLE reader LOGIN; CREATE ROLE secret LOGIN PASSWORD 'right'")
		_, err := postgres.Open(t.Context(), strings.Replace(address, "user=lyceum", "user=reader", 1), nil)
		if err == nil || !strings.Contains(err.Error(), "GRANT CREATE") {
			t.Errorf("a user without rights: got %v, want it to say which to give", err)
		}
		must(t, server.Admit("local all secret scram-sha-256"))
		wrong := strings.Replace(address, "user=lyceum", "user=secret&password=wrong", 1)
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			_, err = postgres.Open(t.Context(), wrong, nil)
			if err != nil && strings.Contains(err.Error(), "password is wrong") && !strings.Contains(err.Error(), "password=wrong") {
				break
			}
			if time.Now().After(deadline) { // the server reads its file in its own time
				t.Fatalf("a wrong password: got %v, want it to say so, and not to show it", err)
			}
		}
	})
}

func TestAPasswordInAFlagIsRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://me:hunter2@host/lyceum", "postgres://me@host/lyceum?password=hunter2", "postgresql://me:hunter2@[::1]:bad/x"} {
		if err := postgres.CheckFlag(address); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "PGPASSFILE") {
			t.Errorf("%s: got %v, want it refused with another way, and the password not shown", address, err)
		}
	}
	if err := postgres.CheckFlag("postgres://me@host/lyceum?sslmode=verify-full"); err != nil {
		t.Errorf("an address without a password: %v", err)
	}
}
