package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// future are the product's migrations and two that might come: each can only be
// run once.
func future() []string {
	return append(slices.Clone(sqlite.Migrations()),
		"CREATE TABLE pictures (hash BLOB PRIMARY KEY); INSERT INTO pictures VALUES (x'00')",
		"ALTER TABLE pictures ADD COLUMN width INTEGER NOT NULL DEFAULT 0; UPDATE pictures SET width = 640")
}

// old makes a ledger of format 1 with the quest q of 40 events, and returns its path.
func old(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "lyceum.db")
	st, err := sqlite.OpenWith(path, sqlite.Options{}, nil, nil)
	must(t, err)
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "q"}, 40), Blobs: [][]byte{[]byte("small")}}))
	must(t, st.Close())
	return path
}

// format reads a ledger's format behind the store's back.
func format(t *testing.T, path string) (n int64) {
	t.Helper()
	query(t, path, "PRAGMA user_version", func(stmt *sq.Stmt) { n = stmt.ColumnInt64(0) })
	return n
}

func query(t *testing.T, path, q string, row func(*sq.Stmt)) {
	t.Helper()
	conn, err := sq.OpenConn(path, sq.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	must(t, sqlitex.ExecuteTransient(conn, q, &sqlitex.ExecOptions{ResultFunc: func(stmt *sq.Stmt) error { row(stmt); return nil }}))
}

// copies are the files beside a ledger that were made of it.
func copies(t *testing.T, path string) (names []string) {
	t.Helper()
	all, err := filepath.Glob(path + ".before*")
	must(t, err)
	for _, p := range all {
		names = append(names, filepath.Base(p))
	}
	return names
}

// wantCopies checks which copies there are, and that each is a whole ledger of format 1.
func wantCopies(t *testing.T, path string, want ...string) {
	t.Helper()
	got := copies(t, path)
	if !slices.Equal(got, want) {
		t.Fatalf("the copies are %v, want %v", got, want)
	}
	for _, name := range got {
		c := filepath.Join(filepath.Dir(path), name)
		if n := format(t, c); n != 1 {
			t.Errorf("the copy %s has format %d, want 1", name, n)
		}
		st, err := sqlite.OpenWith(c, sqlite.Options{}, nil, nil)
		must(t, err)
		if n, err := count(t, st, "q"); err != nil || n != 40 {
			t.Errorf("the copy %s has %d events, %v; want 40", name, n, err)
		}
		if _, err := st.Blob(t.Context(), event.HashOf([]byte("small"))); err != nil {
			t.Errorf("the copy %s lacks a blob: %v", name, err)
		}
		must(t, st.Close())
	}
}

func TestALedgerOfFormat1IsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := old(t, t.TempDir())
	var said []string
	st, err := sqlite.Open(path, &sqlite.Options{Say: func(line string) { said = append(said, line) }})
	must(t, err)
	defer st.Close()
	if n, err := count(t, st, "q"); err != nil || n != 40 {
		t.Errorf("the quest has %d events, %v; want 40", n, err)
	}
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "p", Events: ledgertest.Chain(t, ledger.Head{Quest: "p"}, 3)}))
	if err := st.PutToken(t.Context(), ledger.Token{ID: "new", Hash: event.HashOf(nil)}); err != nil {
		t.Errorf("what the new format has cannot be used: %v", err)
	}
	wantCopies(t, path, "lyceum.db.before-2")
	if len(said) != 1 || !strings.Contains(said[0], "from format 1 to 5") || !strings.Contains(said[0], "lyceum.db.before-2") {
		t.Errorf("a person was told %q, want one line with both formats and the copy", said)
	}
	if info, err := os.Stat(path + ".before-2"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v, %v; want it for its owner alone", info.Mode(), err)
	}
}

func TestMigrationsRunInOrderAndOnce(t *testing.T) {
	t.Parallel()
	path := old(t, t.TempDir())
	var steps []string
	for range 2 {
		st, err := sqlite.OpenWith(path, sqlite.Options{}, future(), func(step string) { steps = append(steps, step) })
		must(t, err)
		must(t, st.Close())
	}
	if got, want := strings.Join(steps, " "), "copy rename change change change change change change commit"; got != want {
		t.Errorf("opening twice took the steps %q, want %q", got, want)
	}
	var width int64
	query(t, path, "SELECT width FROM pictures", func(stmt *sq.Stmt) { width = stmt.ColumnInt64(0) })
	if f := format(t, path); f != 7 || width != 640 {
		t.Errorf("the ledger has format %d and width %d, want 7 and 640", f, width)
	}
	wantCopies(t, path, "lyceum.db.before-2")
}

func TestANewLedgerIsLikeAMigratedOne(t *testing.T) {
	t.Parallel()
	schemaOf := func(path string) (out []string) {
		st, err := sqlite.OpenWith(path, sqlite.Options{}, future(), nil)
		must(t, err)
		must(t, st.Close())
		query(t, path, "SELECT sql FROM sqlite_schema ORDER BY name", func(stmt *sq.Stmt) { out = append(out, stmt.ColumnText(0)) })
		return out
	}
	fresh := filepath.Join(t.TempDir(), "lyceum.db")
	if got, want := schemaOf(fresh), schemaOf(old(t, t.TempDir())); !slices.Equal(got, want) {
		t.Errorf("a new ledger has the tables %q, a migrated one %q", got, want)
	}
	if got := copies(t, fresh); len(got) != 0 {
		t.Errorf("a new ledger was copied: %v", got)
	}
}

func TestANewerLedgerIsRefusedByItsNumber(t *testing.T) {
	t.Parallel()
	path := old(t, t.TempDir())
	st, err := sqlite.OpenWith(path, sqlite.Options{}, future(), nil)
	must(t, err)
	must(t, st.Close())
	before, err := os.ReadFile(path)
	must(t, err)
	_, err = sqlite.Open(path, nil)
	if !errors.Is(err, ledger.ErrNewer) {
		t.Fatalf("opening a ledger of format 7: got %v, want ErrNewer", err)
	}
	for _, want := range []string{"format 7", "up to 5", "newer", "--home"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %q", err, want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the refused ledger was changed (%v)", err)
	}
}

func TestProcessesThatOpenAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		path := old(t, t.TempDir())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				st, err := sqlite.Open(path, nil)
				if err != nil {
					t.Errorf("one of eight that open at once: %v", err)
					return
				}
				if n, err := count(t, st, "q"); err != nil || n != 40 {
					t.Errorf("one of eight reads %d events, %v; want 40", n, err)
				}
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantCopies(t, path, "lyceum.db.before-2")
	}
}

// TestAnOlderProcessGoesOn: one that had the ledger open before still writes as it did.
func TestAnOlderProcessGoesOn(t *testing.T) {
	t.Parallel()
	path := old(t, t.TempDir())
	older, err := sqlite.OpenWith(path, sqlite.Options{}, nil, nil)
	must(t, err)
	defer older.Close()
	newer, err := sqlite.Open(path, nil)
	must(t, err)
	defer newer.Close()
	h, err := older.Head(t.Context(), "q")
	must(t, err)
	must(t, older.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, h, 5)}))
	if n, err := count(t, newer, "q"); err != nil || n != 45 {
		t.Errorf("after the older process wrote, the newer reads %d events, %v; want 45", n, err)
	}
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(path string) (*sqlite.Store, error){
		"it is wrong": func(path string) (*sqlite.Store, error) {
			return sqlite.OpenWith(path, sqlite.Options{}, []string{"CREATE TABLE half (id); INSERT INTO nowhere VALUES (1)"}, nil)
		},
		"there is no room for it": func(path string) (*sqlite.Store, error) {
			return sqlite.Open(path, &sqlite.Options{MaxPages: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := old(t, t.TempDir())
			for range 3 {
				_, err := open(path)
				if err == nil || !strings.Contains(err.Error(), "from format 1 to ") || !strings.Contains(err.Error(), "(it stays as it is)") {
					t.Fatalf("got %v, want an error that says which migration failed", err)
				}
				if strings.Contains(name, "room") && !errors.Is(err, ledger.ErrFull) {
					t.Errorf("got %v, want ErrFull", err)
				}
			}
			if n := format(t, path); n != 1 {
				t.Errorf("the ledger has format %d, want 1 as before", n)
			}
			wantCopies(t, path)
			st, err := sqlite.Open(path, nil)
			must(t, err)
			must(t, st.Close())
			wantCopies(t, path, "lyceum.db.before-2")
		})
	}
}

// TestAFullDiskStopsAMigrationBeforeItBegins: the copy does not fit. Once that is known
// beforehand, once the disk fills up while it is written.
func TestAFullDiskStopsAMigrationBeforeItBegins(t *testing.T) {
	t.Parallel()
	for name, fillUp := range map[string]string{"known before": "", "found out meanwhile": "copy"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
				need.Missing(t, "mounting a small tmpfs takes root and CAP_SYS_ADMIN (%v): run the tests with sudo, or in a container with --privileged", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
			path := old(t, dir)
			filler := filepath.Join(dir, "filler")
			fill := func() {
				f, err := os.Create(filler)
				must(t, err)
				for err == nil {
					_, err = f.Write(make([]byte, 16<<10))
				}
				must(t, f.Close())
			}
			if fillUp == "" {
				fill()
			}
			_, err := sqlite.OpenWith(path, sqlite.Options{}, sqlite.Migrations(), func(step string) {
				if step == fillUp {
					fill()
				}
			})
			if !errors.Is(err, ledger.ErrFull) {
				t.Fatalf("got %v, want ErrFull", err)
			}
			wantCopies(t, path)
			must(t, os.Remove(filler))
			if n := format(t, path); n != 1 {
				t.Errorf("the ledger has format %d, want 1 as before", n)
			}
			st, err := sqlite.Open(path, nil)
			must(t, err)
			must(t, st.Close())
		})
	}
}

// migrateUntil is set in the environment of a process that opens a ledger with the
// migrations of the future, and is killed before the step that it names: the path of
// the ledger, a space, the name of the step, how often it was taken before.
const migrateUntil = "LYCEUM_SQLITE_MIGRATE_UNTIL"

func dieInAMigration(spec string) error {
	var path, step string
	var left int
	if _, err := fmt.Sscan(spec, &path, &step, &left); err != nil {
		return err
	}
	_, err := sqlite.OpenWith(path, sqlite.Options{}, future(), func(s string) {
		if s != step {
			return
		}
		if left == 0 {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		left--
	})
	return errors.Join(errors.New("it was not killed"), err)
}

func TestAProcessKilledInAMigrationLeavesALedgerThatOpens(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		step   string
		nth    int
		copies []string
	}{
		{"copy", 0, []string{"lyceum.db.before-2"}},
		{"rename", 0, []string{"lyceum.db.before-2"}},
		{"change", 0, []string{"lyceum.db.before-2", "lyceum.db.before-2.2"}},
		{"change", 1, []string{"lyceum.db.before-2", "lyceum.db.before-2.2"}},
		{"change", 4, []string{"lyceum.db.before-2", "lyceum.db.before-2.2"}},
		{"commit", 0, []string{"lyceum.db.before-2", "lyceum.db.before-2.2"}},
	} {
		t.Run(fmt.Sprint(at.step, at.nth), func(t *testing.T) {
			t.Parallel()
			path := old(t, t.TempDir())
			child := exec.Command(os.Args[0], "-test.run=^$")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", migrateUntil, path, at.step, at.nth))
			out, err := child.CombinedOutput()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != -1 {
				t.Fatalf("the process ended by itself: %v: %s", err, out)
			}
			if n := format(t, path); n != 1 {
				t.Errorf("it was killed before %s %d and left format %d, want 1 as before", at.step, at.nth, n)
			}
			st, err := sqlite.OpenWith(path, sqlite.Options{}, future(), nil)
			must(t, err)
			defer st.Close()
			if n, err := count(t, st, "q"); err != nil || n != 40 {
				t.Errorf("the quest has %d events, %v; want 40", n, err)
			}
			if n := format(t, path); n != 7 {
				t.Errorf("opened again it has format %d, want 7", n)
			}
			wantCopies(t, path, at.copies...)
		})
	}
}

// TestACopyIsOfOneMoment copies while others write: every copy is whole, and its events
// are a beginning of theirs. No index of the ledger fits the copy.
func TestACopyIsOfOneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), &sqlite.Options{IndexEvery: 20})
	must(t, err)
	defer st.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			h := ledger.Head{Quest: fmt.Sprintf("q%d", i)}
			for {
				select {
				case <-stop:
					return
				default:
				}
				e := ledgertest.Chain(t, h, 20)
				if err := st.Append(t.Context(), ledger.Batch{Quest: h.Quest, Events: e}); err != nil {
					t.Error(err)
					return
				}
				h.Seq, h.Hash = e[19].Seq, e[19].Hash
			}
		})
	}
	must(t, st.PutToken(t.Context(), ledger.Token{ID: "laptop", Hash: event.HashOf(nil)}))
	for _, kind := range []string{"x", ledger.Grant + "x"} {
		_, err := st.SwapNote(t.Context(), ledger.Note{Kind: kind, Key: "k", Body: []byte("b")}, nil)
		must(t, err)
	}
	for round := range 5 {
		to := filepath.Join(t.TempDir(), "lyceum.db")
		told := int64(0)
		must(t, st.Backup(t.Context(), to, func(done, all int64) { told = done }))
		info, err := os.Stat(to)
		must(t, err)
		if told != info.Size() {
			t.Errorf("round %d: progress ended at %d bytes, the copy has %d", round, told, info.Size())
		}
		if more, _ := filepath.Glob(to + "-*"); len(more) > 0 {
			t.Errorf("round %d: beside the copy there are %v: it is not one file", round, more)
		}
		checkCopy(t, to)
	}
	close(stop)
	wg.Wait()
	if err := st.Backup(t.Context(), filepath.Join(dir, "lyceum.db"), nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("a copy onto a file that is there: got %v, want ErrExist", err)
	}
}

func checkCopy(t *testing.T, path string) {
	t.Helper()
	c, err := sqlite.Open(path, nil)
	must(t, err)
	defer c.Close()
	heads, err := c.Quests(t.Context())
	must(t, err)
	for _, h := range heads {
		if n, err := count(t, c, h.Quest); err != nil || n != h.Seq {
			t.Errorf("quest %s of the copy has %d events, %v; its head says %d", h.Quest, n, err, h.Seq)
		}
	}
	if tokens, err := c.Tokens(t.Context()); err != nil || len(tokens) != 0 {
		t.Errorf("a backup has the tokens %v, %v; want none", tokens, err)
	}
	if granted, err := c.Notes(t.Context(), ledger.Grant+"x", 1, 9); err != nil || len(granted) != 0 {
		t.Errorf("a backup has the notes %v, %v; want none that grants something", granted, err)
	}
	if notes, err := c.Notes(t.Context(), "x", 1, 9); err != nil || len(notes) != 1 {
		t.Errorf("a backup has the notes %v, %v; want the one there is", notes, err)
	}
}
