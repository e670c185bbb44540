package search

import (
	"context"
	"fmt"
	"sync"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// VectorCache keeps vectors in a file, by model and by the hash of the text, so that a
// text that has not changed is never embedded again. It loses nothing but time if it
// is deleted. A nil cache keeps nothing.
type VectorCache struct {
	mu   sync.Mutex // one connection
	path string
	conn *sq.Conn
}

const cacheSchema = `
CREATE TABLE IF NOT EXISTS vectors (model TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, hash)) WITHOUT ROWID;
`

// OpenVectorCache opens the cache in a file, and makes it if it is not there. One that
// is damaged is made anew.
func OpenVectorCache(path string) (*VectorCache, error) {
	conn, err := OpenCacheFile(path, cacheSchema, "SELECT model, hash, vector FROM vectors LIMIT 1")
	if err != nil {
		return nil, fmt.Errorf("open the cache of vectors %s: %w", path, err)
	}
	return &VectorCache{path: path, conn: conn}, nil
}

// Close closes the file.
func (c *VectorCache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.Close()
}

// load returns the vectors it has. The map is the caller's.
func (c *VectorCache) load(ctx context.Context, model string, hashes [][32]byte) (known map[[32]byte]vector, err error) {
	known = make(map[[32]byte]vector, len(hashes))
	if c == nil {
		return known, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.SetInterrupt(ctx.Done())
	// One transaction for all: the file is locked once, and not for each.
	end := sqlitex.Transaction(c.conn)
	defer end(&err)
	for _, h := range hashes {
		err := sqlitex.Execute(c.conn, "SELECT vector FROM vectors WHERE model = ? AND hash = ?", &sqlitex.ExecOptions{
			Args: []any{model, h[:]},
			ResultFunc: func(s *sq.Stmt) error {
				data := make([]byte, s.ColumnLen(0))
				s.ColumnBytes(0, data)
				known[h] = unpack(data)
				return nil
			},
		})
		if err != nil {
			return nil, c.failed(ctx, "read", err)
		}
	}
	return known, nil
}

func (c *VectorCache) save(ctx context.Context, model string, hashes [][32]byte, vectors []vector) (err error) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.SetInterrupt(ctx.Done())
	end, err := sqlitex.ImmediateTransaction(c.conn)
	if err != nil {
		return c.failed(ctx, "write", err)
	}
	defer func() {
		end(&err)
		if err != nil {
			err = c.failed(ctx, "write", err)
		}
	}()
	for i, h := range hashes {
		err := sqlitex.Execute(c.conn, "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", &sqlitex.ExecOptions{Args: []any{model, h[:], pack(vectors[i])}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *VectorCache) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s the cache of vectors %s (it can be deleted): %w", what, c.path, err)
}

func pack(v vector) []byte {
	data := make([]byte, len(v))
	for i, x := range v {
		data[i] = byte(x)
	}
	return data
}

func unpack(data []byte) vector {
	v := make(vector, len(data))
	for i, x := range data {
		v[i] = int8(x)
	}
	return v
}
