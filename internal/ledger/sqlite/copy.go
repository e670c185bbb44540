package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// copyPages is how many pages are copied between two words of progress.
const copyPages = 1024

// Backup writes the ledger as it is at one moment into a new file, while others go on
// reading and writing, and flushes it. Nothing in it is to run by itself. What is copied are pages, so that a damaged
// ledger is copied as damaged as it is. The copy has no tokens, and no notes that grant
// something: what is taken back here must not come back with it.
//
// progress, if it is not nil, is told how many bytes of how many are there. When
// Backup fails the file may be there in part; the caller removes it.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, all int64)) error {
	err := s.copyTo(ctx, path, "PRAGMA secure_delete=ON; DELETE FROM tokens; DELETE FROM wanted; DELETE FROM notes WHERE kind LIKE '"+ledger.Grant+"%'", progress)
	if err != nil {
		return fmt.Errorf("copy the ledgers to %s: %w", path, err)
	}
	return nil
}

// copyTo copies the ledger and then changes the copy by a script. It is a ledger of its
// own: it has another id, so that no index of this one is taken for its.
func (s *Store) copyTo(ctx context.Context, path, script string, progress func(done, all int64)) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	from, err := s.connect()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := sq.OpenConn(path, sq.OpenReadWrite)
	if err != nil {
		return s.kind(err)
	}
	err = s.copyPages(ctx, to, from, progress)
	if err == nil {
		err = execute(to, script+newID())
	}
	// Closing brings what is in the write-ahead log of the copy into the file.
	if err := errors.Join(err, to.Close()); err != nil {
		return s.kind(err)
	}
	return f.Sync()
}

// copyPages copies all pages in one read transaction. Without it SQLite would begin
// anew whenever another process has written.
func (s *Store) copyPages(ctx context.Context, to, from *sq.Conn, progress func(done, all int64)) (err error) {
	// The file is flushed at the end and nobody reads it before.
	for _, p := range []string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=OFF"} {
		if err := sqlitex.ExecuteTransient(to, p, nil); err != nil {
			return err
		}
	}
	defer sqlitex.Transaction(from)(&err)
	size, err := sqlitex.ResultInt64(from.Prep("PRAGMA page_size"))
	if err != nil {
		return err
	}
	if _, err := formatOf(from); err != nil { // the moment is now
		return err
	}
	b, err := sq.NewBackup(to, "main", from, "main")
	if err != nil {
		return err
	}
	defer b.Close()
	for more := true; more; {
		if more, err = b.Step(copyPages); err != nil {
			return err
		}
		if progress != nil {
			progress(int64(b.PageCount()-b.Remaining())*size, int64(b.PageCount())*size)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// newID is the statement that makes a copied ledger one of its own.
func newID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return fmt.Sprintf("; UPDATE meta SET ledger = x'%x'", id)
}
