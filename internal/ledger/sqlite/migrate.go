package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/ledger"

	"golang.org/x/sys/unix"
	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// migrations[0] makes format 2 of format 1, migrations[1] format 3, and so on. The
// format is the number in the file's user_version. A migration that was released is
// never changed: homes that have been through it exist.
//
// A migration only adds. A process of the version before may have the ledger open,
// knows nothing of it, and goes on writing as it did. What cannot be done by adding
// needs a way to shut such processes out first.
var migrations = []string{
	// 2: the credentials of servers. They are asked for all at once, in the order of
	// their making.
	`CREATE TABLE tokens (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, scope TEXT NOT NULL, note TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL);`,
	// 3: notes. They are asked for by name, or all of a kind that are due.
	`CREATE TABLE notes (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL, due INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (kind, key));
	CREATE INDEX notes_due ON notes (kind, due);`,
	// 4: checkpoints. They are asked for by quest, in the order of their sizes.
	`CREATE TABLE checkpoints (quest INTEGER NOT NULL, size INTEGER NOT NULL, origin TEXT NOT NULL, own INTEGER NOT NULL, edge BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (quest, size, origin)) WITHOUT ROWID;`,
	// 5: which quests are to run. seq is 0 of one that does not wait for a person.
	`CREATE TABLE wanted (quest INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash BLOB NOT NULL, inbox INTEGER NOT NULL, due INTEGER NOT NULL);`,
}

// format is what this binary makes and knows.
func (s *Store) format() int64 { return 1 + int64(len(s.opts.migrations)) }

func formatOf(conn *sq.Conn) (int64, error) {
	return sqlitex.ResultInt64(conn.Prep("PRAGMA user_version"))
}

func setFormat(conn *sq.Conn, format int64) error {
	return sqlitex.ExecuteTransient(conn, fmt.Sprintf("PRAGMA user_version=%d", format), nil)
}

// Formats tells which format the ledger in a file has, and which this binary makes of it
// when it is opened. It changes nothing.
func Formats(path string) (has, makes int64, err error) {
	s := &Store{path: path, opts: Options{migrations: migrations}}
	conn, err := sq.OpenConn(path, sq.OpenReadWrite)
	if err == nil {
		has, err = formatOf(conn)
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		return 0, 0, fmt.Errorf("look at ledger %s: %w", path, s.kind(err))
	}
	return has, s.format(), nil
}

// execute runs the statements of a script in the transaction that is open.
func execute(conn *sq.Conn, script string) error {
	for _, q := range strings.Split(script, ";") {
		if strings.TrimSpace(q) == "" {
			continue
		}
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) newer(format int64) error {
	return fmt.Errorf("%w: it has format %d, this lyceum knows formats up to %d; use the lyceum that wrote it or a newer one, or choose another home with --home",
		ledger.ErrNewer, format, s.format())
}

// migrate brings the ledger to the format of this binary, one migration after the
// other, all in one transaction. Before the first a copy is made, which is kept.
//
// The write lock of the file decides between processes that open an old ledger at
// once: whoever comes second finds the new format when it gets the lock. A crash
// rolls all of it back; the next to open begins anew.
func (s *Store) migrate(conn *sq.Conn, format int64) error {
	err := s.migrateAll(conn)
	if err == nil || errors.Is(err, ledger.ErrNewer) {
		return err
	}
	return fmt.Errorf("bring it from format %d to %d (it stays as it is): %w", format, s.format(), s.kind(err))
}

func (s *Store) migrateAll(conn *sq.Conn) (err error) {
	fresh := ""
	defer func() {
		if err != nil && fresh != "" { // a try that failed leaves nothing behind
			err = errors.Join(s.kind(err), os.Remove(fresh))
		}
	}()
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	format, err := formatOf(conn)
	switch {
	case err != nil || format == s.format():
		return err
	case format > s.format():
		return s.newer(format)
	}
	if fresh, err = s.copyBefore(format + 1); err != nil {
		return err
	}
	s.opts.Say(fmt.Sprintf("Bringing this home from format %d to %d. A copy of its ledgers as they were is kept in %s.", format, s.format(), fresh))
	for _, script := range s.opts.migrations[format-1:] {
		s.opts.before("change")
		if err := execute(conn, script); err != nil {
			return err
		}
	}
	defer s.opts.before("commit")
	return setFormat(conn, s.format())
}

// copyBefore copies the ledger, of which the caller holds the write lock, to a file
// that says what it is: lyceum.db.before-2. A copy that is there already is not
// touched; the new one gets a further number.
func (s *Store) copyBefore(format int64) (string, error) {
	path := fmt.Sprintf("%s.before-%d", s.path, format)
	for n := 2; exists(path); n++ {
		path = fmt.Sprintf("%s.before-%d.%d", s.path, format, n)
	}
	if err := s.roomForACopy(); err != nil {
		return "", err
	}
	s.opts.before("copy")
	// Nobody else writes this file: the lock is ours. What a crash left of it goes. A
	// store is opened without a context, and is not half opened.
	part := s.path + ".before.part"
	err := os.Remove(part)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = s.copyTo(context.Background(), part, "", nil)
	}
	if err == nil {
		s.opts.before("rename")
		err = os.Rename(part, path)
	}
	if err == nil {
		err = flushFolder(filepath.Dir(path))
	}
	if err != nil {
		err = s.kind(err) // before there is room again
		_ = os.Remove(part)
		return "", fmt.Errorf("copy it to %s first: %w", path, err)
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// roomForACopy finds out before the work whether the disk has room for a copy.
func (s *Store) roomForACopy() error {
	var need, free int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(s.path + suffix); err == nil {
			need += info.Size()
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(s.path), &st); err != nil {
		return nil // the copy itself will tell
	}
	if free = int64(st.Bavail) * st.Bsize; free < need+need/8+1<<20 {
		return fmt.Errorf("%w: a copy of %s needs %d MB in that folder and %d MB are free", ledger.ErrFull, filepath.Base(s.path), 1+(need+need/8)>>20, free>>20)
	}
	return nil
}

func flushFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
