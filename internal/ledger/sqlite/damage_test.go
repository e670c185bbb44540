package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// fill makes a ledger of two interleaved quests and closes it.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	st, err := open(dir)
	must(t, err)
	heads := map[string]ledger.Head{"a": {Quest: "a"}, "b": {Quest: "b"}}
	for range n {
		for _, q := range []string{"a", "b"} {
			e := ledgertest.Chain(t, heads[q], 1)
			must(t, st.Append(t.Context(), ledger.Batch{Quest: q, Events: e}))
			heads[q] = ledger.Head{Quest: q, Seq: e[0].Seq, Hash: e[0].Hash}
		}
	}
	must(t, st.Close())
}

func count(t *testing.T, st ledger.Store, quest string) (n uint64, err error) {
	t.Helper()
	for e, err := range st.Read(t.Context(), quest, 1) {
		if err != nil {
			return n, err
		}
		n = e.Seq
	}
	return n, nil
}

func TestALostOrForeignIndexIsMadeAgain(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"lost":    os.Remove,
		"garbage": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("garbage", 1000)), 0o600) },
		"of another ledger": func(p string) error {
			other := t.TempDir()
			fill(t, other, 100)
			data, err := os.ReadFile(filepath.Join(other, "lyceum-index.db"))
			if err != nil {
				return err
			}
			return os.WriteFile(p, data, 0o600)
		},
		"wrong": func(p string) error {
			conn, err := sq.OpenConn(p, sq.OpenReadWrite)
			if err != nil {
				return err
			}
			return errors.Join(sqlitex.ExecuteScript(conn, "UPDATE spans SET runs = x'0101'", nil), conn.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 300)
			must(t, spoil(filepath.Join(dir, "lyceum-index.db")))
			st, err := open(dir)
			must(t, err)
			defer st.Close()
			for _, q := range []string{"a", "b"} {
				if n, err := count(t, st, q); err != nil || n != 300 {
					t.Fatalf("quest %s has %d events, %v", q, n, err)
				}
			}
		})
	}
}

func TestATornLogLosesOnlyWhatWasNotCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := open(dir)
	must(t, err)
	events := ledgertest.Chain(t, ledger.Head{Quest: "a"}, 40)
	for _, e := range events {
		must(t, st.Append(t.Context(), ledger.Batch{Quest: "a", Events: []event.Event{e}}))
	}
	// A copy of the files as they are now is what a power cut would leave; its
	// log is then cut short at every kind of place.
	copyTo := func(to string) {
		for _, f := range []string{"lyceum.db", "lyceum.db-wal"} {
			data, err := os.ReadFile(filepath.Join(dir, f))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(to, f), data, 0o600))
		}
	}
	info, err := os.Stat(filepath.Join(dir, "lyceum.db-wal"))
	must(t, err)
	last := uint64(0)
	for cut := int64(0); cut < info.Size(); cut += info.Size()/23 + 7 {
		torn := t.TempDir()
		copyTo(torn)
		must(t, os.Truncate(filepath.Join(torn, "lyceum.db-wal"), cut))
		again, err := open(torn)
		if cut < 8000 { // not even the tables are there
			if err == nil {
				_ = again.Close()
			}
			continue
		}
		must(t, err)
		n, err := count(t, again, "a")
		if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if n < last {
			t.Fatalf("cut at %d: %d events, but %d with less of the log", cut, n, last)
		}
		last = n
		must(t, again.Close())
	}
	if last == 0 {
		t.Fatal("nothing was ever there")
	}
	must(t, st.Close())
}

func TestDamageIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query string
		seq   uint64
	}{
		"a changed byte":   {"UPDATE events SET line = CAST(replace(line, 'a word 77', 'a Word 77') AS BLOB) WHERE quest = 1 AND seq = 77", 77},
		"a missing event":  {"DELETE FROM events WHERE quest = 1 AND seq = 150", 150},
		"a repeated event": {"UPDATE events SET line = (SELECT line FROM events WHERE quest = 1 AND seq = 99) WHERE quest = 1 AND seq = 100", 100},
		"garbage":          {"UPDATE events SET line = x'00ff' WHERE quest = 1 AND seq = 1", 1},
		"a cut end":        {"DELETE FROM events WHERE quest = 1 AND seq > 290", 291},
		"a false head":     {"UPDATE quests SET hash = zeroblob(32) WHERE id = 1", 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill(t, dir, 300)
			conn, err := sq.OpenConn(filepath.Join(dir, "lyceum.db"), sq.OpenReadWrite)
			must(t, err)
			must(t, sqlitex.ExecuteScript(conn, c.query, nil))
			must(t, conn.Close())
			st, err := open(dir)
			must(t, err)
			defer st.Close()
			_, err = count(t, st, "a")
			damage, ok := errors.AsType[*ledger.DamageError](err)
			if !ok || damage.Seq != c.seq || damage.Quest != "a" {
				t.Errorf("found %v, want seq %d", err, c.seq)
			}
			if n, err := count(t, st, "b"); err != nil || n != 300 {
				t.Errorf("the other quest has %d events, %v", n, err)
			}
		})
	}
}

func TestOpenRefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	other := func(script string) func(string) error {
		return func(path string) error {
			conn, err := sq.OpenConn(path, sq.OpenReadWrite|sq.OpenCreate)
			if err != nil {
				return err
			}
			return errors.Join(sqlitex.ExecuteScript(conn, script, nil), conn.Close())
		}
	}
	for name, c := range map[string]struct {
		make func(path string) error
		want error
	}{
		"a newer one":              {func(p string) error { fill(t, filepath.Dir(p), 1); return other("PRAGMA user_version = 99")(p) }, ledger.ErrNewer},
		"another program's":        {other("CREATE TABLE recipes (id)"), ledger.ErrCorrupt},
		"one with another version": {other("CREATE TABLE recipes (id); PRAGMA user_version = 1"), ledger.ErrCorrupt},
		"no database at all":       {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("letter ", 1000)), 0o600) }, ledger.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lyceum.db")
			must(t, c.make(path))
			st, err := sqlite.Open(path, nil)
			if err == nil {
				_ = st.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestAFullDiskIsAnErrorOfTheAppend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), &sqlite.Options{MaxPages: 40})
	must(t, err)
	var h ledger.Head
	h.Quest = "q"
	for range 1000 {
		e := ledgertest.Chain(t, h, 1)
		if err = st.Append(t.Context(), ledger.Batch{Quest: "q", Events: e}); err != nil {
			break
		}
		h.Seq, h.Hash = e[0].Seq, e[0].Hash
	}
	if !errors.Is(err, ledger.ErrFull) {
		t.Fatalf("got %v", err)
	}
	// It stays an error, for everybody in the group, and nothing is half there.
	if err := st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, h, 3)}); !errors.Is(err, ledger.ErrFull) {
		t.Fatalf("got %v", err)
	}
	must(t, st.Close())
	st, err = sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	must(t, err)
	defer st.Close()
	if n, err := count(t, st, "q"); err != nil || n != h.Seq {
		t.Fatalf("%d events, %v; %d were acknowledged", n, err, h.Seq)
	}
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, h, 1)}))
}

// TestWritersShareAFlush: with a slow disk, 32 writers need far fewer flushes
// than appends.
func TestWritersShareAFlush(t *testing.T) {
	t.Parallel()
	flushes := 0 // only the writer touches it until the store is closed
	st, err := sqlite.Open(filepath.Join(t.TempDir(), "lyceum.db"), &sqlite.Options{BeforeFlush: func() {
		flushes++
		time.Sleep(2 * time.Millisecond) // the slow disk
	}})
	must(t, err)
	done := make(chan error)
	for i := range 32 {
		go func() {
			h := ledger.Head{Quest: fmt.Sprintf("q%d", i)}
			for range 10 {
				e := ledgertest.Chain(t, h, 1)
				if err := st.Append(t.Context(), ledger.Batch{Quest: h.Quest, Events: e}); err != nil {
					done <- err
					return
				}
				h.Seq, h.Hash = e[0].Seq, e[0].Hash
			}
			done <- nil
		}()
	}
	for range 32 {
		must(t, <-done)
	}
	must(t, st.Close())
	if flushes > 100 {
		t.Errorf("%d flushes for 320 appends", flushes)
	}
}

// TestAFullDiskInOneWriteSpoilsNoOther: when a command does not fit any more,
// SQLite gives up the whole transaction that it shares with appends. They must
// fail with it, not be written piece by piece.
func TestAFullDiskInOneWriteSpoilsNoOther(t *testing.T) {
	t.Parallel()
	held, gate := make(chan struct{}), make(chan struct{})
	hold := make(chan struct{}, 1)
	st, err := sqlite.Open(filepath.Join(t.TempDir(), "lyceum.db"), &sqlite.Options{MaxPages: 40, BeforeFlush: func() {
		select {
		case <-hold:
			close(held)
			<-gate
		default:
		}
	}})
	must(t, err)
	defer st.Close()
	large := &event.UserMessage{Text: event.Text{Text: strings.Repeat("x", 12_000)}}
	h := ledger.Head{Quest: "q"}
	appendOne := func() error {
		e, err := event.Seal("q", h.Seq+1, h.Hash, event.Draft{Actor: "person", Body: large})
		must(t, err)
		err = st.Append(t.Context(), ledger.Batch{Quest: "q", Events: []event.Event{e}})
		if err == nil {
			h.Seq, h.Hash = e.Seq, e.Hash
		}
		return err
	}
	first := ledgertest.Chain(t, ledger.Head{Quest: "other"}, 1)
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "other", Events: first}))
	for err = appendOne(); err == nil; err = appendOne() {
	}
	if !errors.Is(err, ledger.ErrFull) {
		t.Fatal(err)
	}
	// While a commit is held, a command and an append queue up behind it.
	hold <- struct{}{}
	results := make(chan error, 3)
	go func() { results <- st.Append(t.Context(), ledger.Batch{Quest: "other", Events: first}) }()
	<-held
	go func() {
		_, err := st.Post(t.Context(), "q", ledger.Command{Body: large})
		results <- err
	}()
	for st.Queued() < 1 {
		runtime.Gosched()
	}
	go func() { results <- appendOne() }()
	for st.Queued() < 2 {
		runtime.Gosched()
	}
	close(gate)
	full := 0
	for range 3 {
		if err := <-results; errors.Is(err, ledger.ErrFull) {
			full++
		} else if err != nil {
			t.Error(err)
		}
	}
	if full != 2 {
		t.Errorf("%d writes were told that the disk is full, want 2", full)
	}
	if n, err := count(t, st, "q"); err != nil || n != h.Seq {
		t.Fatalf("%d events, %v; %d were acknowledged", n, err, h.Seq)
	}
}
