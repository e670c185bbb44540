package search

import (
	"errors"
	"os"
	"path/filepath"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// OpenCacheFile opens a database that loses nothing but time if it is deleted, for its owner
// alone, and makes it if it is not there: script makes its tables, and query reads of them all
// that is used. A file that is damaged, or whose tables are others, is made anew.
func OpenCacheFile(path, script, query string) (*sq.Conn, error) {
	conn, err := openCacheFile(path, script, query)
	switch sq.ErrCode(err).ToPrimary() {
	case sq.ResultCorrupt, sq.ResultNotADB, sq.ResultError: // the last is that of other tables
		if err = removeDatabase(path); err == nil {
			conn, err = openCacheFile(path, script, query)
		}
	}
	return conn, err
}

func openCacheFile(path, script, query string) (*sq.Conn, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	conn, err := sq.OpenConn(path, sq.OpenReadWrite|sq.OpenCreate)
	if err != nil {
		return nil, err
	}
	// What a power cut takes is made again.
	err = sqlitex.ExecuteTransient(conn, "PRAGMA synchronous = OFF", nil)
	if err == nil {
		err = sqlitex.ExecuteScript(conn, script, nil)
	}
	if err == nil {
		err = sqlitex.Execute(conn, query, nil)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func removeDatabase(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
