package search

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// buildStore builds an index in a file of its own and then gives it its name, so that
// whoever opens that name finds a whole one or none. Several processes may do so at
// once; the last one's stays.
func buildStore(ctx context.Context, path string, c corpus, key [32]byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := sweep(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+unfinished)
	if err != nil {
		return err
	}
	// Closing the file would end SQLite's own locks on it, so it comes last. The lock
	// tells others that somebody is still at work on it.
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := fill(ctx, f.Name(), c, key); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := cmp.Or(f.Sync(), os.Rename(f.Name(), path)); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return removeDatabase(path + "-journal")
}

// unfinished is how the name of a file ends that is still being built.
const unfinished = ".*.unfinished"

// sweep removes what builders left behind that were killed.
func sweep(path string) error {
	dir, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, d := range dir {
		if ok, err := filepath.Match(escape(filepath.Base(path))+unfinished, d.Name()); !ok || err != nil || !d.Type().IsRegular() {
			continue
		}
		if err := removeAbandoned(filepath.Join(filepath.Dir(path), d.Name())); err != nil {
			return err
		}
	}
	return nil
}

// escape takes a name for what it is in a pattern.
func escape(name string) string {
	var out []byte
	for i := range len(name) {
		if bytes.IndexByte([]byte(`*?[\`), name[i]) >= 0 {
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}

func removeAbandoned(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // somebody is at work on it
	}
	return removeDatabase(path)
}

func fill(ctx context.Context, path string, c corpus, key [32]byte) (err error) {
	conn, err := sq.OpenConn(path, sq.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetInterrupt(ctx.Done())
	// A file that is not finished is thrown away, so nothing in it needs a journal.
	for _, p := range []string{"journal_mode = OFF", "synchronous = OFF", "page_size = 8192", "application_id = " + strconv.Itoa(storeID), "user_version = " + strconv.Itoa(storeVersion)} {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+p, nil); err != nil {
			return err
		}
	}
	b := builder{ctx: ctx, conn: conn, corpus: c, dictionary: newDictionary(), times: map[uint32][]uint32{}}
	if err := b.build(key); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	// A file that is not as long as this was cut. Writing it down adds no page: it has a
	// table of its own, which is there already.
	return sqlitex.Execute(conn, "UPDATE extent SET pages = (SELECT page_count FROM pragma_page_count)", nil)
}

type builder struct {
	ctx  context.Context
	conn *sq.Conn
	corpus
	*dictionary
	times   map[uint32][]uint32 // for each term, how often it stands in paragraphs
	lengths []uint32
	counts  []count
	names   []byte
}

func (b *builder) build(key [32]byte) (err error) {
	if err := sqlitex.ExecuteScript(b.conn, storeSchema, nil); err != nil {
		return err
	}
	// FTS5 gathers this much in memory before it writes; merging later costs more.
	if err := b.exec("INSERT INTO postings (postings, rank) VALUES ('hashsize', ?)", 64<<20); err != nil {
		return err
	}
	end, err := sqlitex.ImmediateTransaction(b.conn)
	if err != nil {
		return err
	}
	defer end(&err)
	for i, d := range b.docs {
		if err := b.exec("INSERT INTO documents VALUES (?, ?, ?)", i, []byte(d.ID), []byte(d.Title)); err != nil {
			return err
		}
		for j, p := range d.Paragraphs {
			if err := b.paragraph(i, j, p, d.context(j)); err != nil {
				return err
			}
		}
	}
	if err := b.terms(); err != nil {
		return err
	}
	if err := b.exec("INSERT INTO postings (postings) VALUES ('optimize')"); err != nil {
		return err
	}
	return b.exec("INSERT INTO meta VALUES (1, ?, ?, ?)", key[:], packNumbers(b.lengths), packNumbers(b.frequencies()))
}

func (b *builder) exec(query string, args ...any) error {
	return sqlitex.Execute(b.conn, query, &sqlitex.ExecOptions{Args: args})
}

func (b *builder) paragraph(doc, number int, text, context string) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	ord := len(b.lengths)
	var tokens int
	b.counts, tokens = b.count(b.counts[:0], text, context)
	b.lengths = append(b.lengths, uint32(tokens))
	b.names = b.names[:0]
	for _, c := range b.counts {
		if !slices.Contains(b.times[c.term], uint32(c.times)) {
			b.times[c.term] = append(b.times[c.term], uint32(c.times))
		}
		b.names = append(b.names, name(int64(c.term), c.times)...)
		b.names = append(b.names, ' ')
	}
	hash := sha256.Sum256([]byte(text))
	if err := b.exec("INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?)", ord, doc, number+1, hash[:], []byte(text)); err != nil {
		return err
	}
	return b.exec("INSERT INTO postings (rowid, names) VALUES (?, ?)", ord, string(b.names))
}

func (b *builder) terms() error {
	for _, token := range slices.Sorted(maps.Keys(b.ids)) {
		id := b.ids[token]
		slices.Sort(b.times[id])
		if err := b.exec("INSERT INTO terms VALUES (?, ?, ?, ?)", []byte(token), int64(id), int64(b.df[id]), packNumbers(b.times[id])); err != nil {
			return err
		}
	}
	return nil
}
