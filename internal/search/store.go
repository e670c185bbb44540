package search

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Store is a corpus in a file, for one that is too large to index at every start. It
// finds the same paragraphs as an Index, in the same order with the same scores.
//
// FTS5 holds the postings. It does not see the texts' words but a name for each term
// and how often it stands in the paragraph ("1fx3": term 31, three times), so that its
// own idea of words plays no part, and nothing of a query ever reaches its parser. A
// query reads the paragraphs of each of its terms, one frequency after the other, and
// scores them as an Index does.
type Store struct {
	*statistics
	path string
	pool *sqlitex.Pool
}

var _ Narrow = (*Store)(nil)

// The file's marks: "lysr", and the version of the tables and of what a token is.
const (
	storeID      = 0x6c797372
	storeVersion = 2
)

const storeSchema = `
CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), corpus BLOB NOT NULL, lengths BLOB NOT NULL, frequencies BLOB NOT NULL);
CREATE TABLE extent (pages INTEGER NOT NULL);
INSERT INTO extent VALUES (0);
CREATE TABLE documents (id INTEGER PRIMARY KEY, name BLOB NOT NULL, title BLOB NOT NULL);
CREATE TABLE paragraphs (ord INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL, text BLOB NOT NULL);
CREATE TABLE terms (token BLOB NOT NULL PRIMARY KEY, id INTEGER NOT NULL, df INTEGER NOT NULL, times BLOB NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE postings USING fts5 (names, content='', columnsize=0, detail=none, tokenize='ascii');
`

// maxReaders bounds how many searches run at once.
const maxReaders = 4

// OpenStore opens the index of these documents in the file path. If the file is not
// there, is damaged, or is of other documents, it is built first, beside it, and put in
// its place whole.
func OpenStore(ctx context.Context, path string, docs []Document) (*Store, error) {
	c := newCorpus(docs)
	return openOrBuild(ctx, path, c.key(), func() corpus { return c })
}

// OpenStoreBy is OpenStore for documents that follow from a key: they are made only if there is
// no index under that key.
func OpenStoreBy(ctx context.Context, path string, key [32]byte, docs func() []Document) (*Store, error) {
	h := sha256.Sum256(fmt.Appendf(nil, "search index %d by %x", storeVersion, key))
	return openOrBuild(ctx, path, h, func() corpus { return newCorpus(docs()) })
}

func openOrBuild(ctx context.Context, path string, key [32]byte, made func() corpus) (*Store, error) {
	s, err := openStore(ctx, path, key)
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := buildStore(ctx, path, made(), key); err != nil {
		return nil, fmt.Errorf("build the search index %s: %w", path, err)
	}
	if s, err = openStore(ctx, path, key); err != nil {
		return nil, fmt.Errorf("open the search index %s just built: %w", path, err)
	}
	return s, nil
}

// Documents are those of the index, without what was only searched with their paragraphs.
func (s *Store) Documents(ctx context.Context) (docs []Document, err error) {
	conn, err := s.pool.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer s.pool.Put(conn)
	err = sqlitex.Execute(conn, "SELECT d.id, d.name, d.title, p.text FROM documents d JOIN paragraphs p ON p.document = d.id ORDER BY p.ord", &sqlitex.ExecOptions{
		ResultFunc: func(st *sq.Stmt) error {
			id := st.ColumnInt(0)
			switch {
			case id == len(docs):
				docs = append(docs, Document{ID: string(columnBytes(st, 1)), Title: string(columnBytes(st, 2))})
			case id != len(docs)-1:
				return errors.New("the documents are damaged")
			}
			docs[id].Paragraphs = append(docs[id].Paragraphs, string(columnBytes(st, 3)))
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents of %s (if it is damaged, delete it: it is built anew): %w", s.path, err)
	}
	return docs, nil
}

// key is the hash of all that the index depends on.
func (c *corpus) key() [32]byte {
	h := sha256.New()
	var size [8]byte
	write := func(text string) {
		binary.LittleEndian.PutUint64(size[:], uint64(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	write(fmt.Sprintf("search index %d", storeVersion))
	for _, d := range c.docs {
		write(d.ID)
		write(d.Title)
		write(fmt.Sprint(len(d.Paragraphs)))
		for i, p := range d.Paragraphs {
			write(p)
			write(d.context(i))
		}
	}
	return [32]byte(h.Sum(nil))
}

var errOther = errors.New("not the index of these documents")

// openStore opens an index that is whole and of this corpus.
func openStore(ctx context.Context, path string, key [32]byte) (_ *Store, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	pool, err := sqlitex.NewPool(path, sqlitex.PoolOptions{Flags: sq.OpenReadOnly, PoolSize: maxReaders})
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, pool: pool}
	defer func() {
		if err != nil {
			err = errors.Join(err, pool.Close())
		}
	}()
	conn, err := pool.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer pool.Put(conn)
	for _, mark := range []struct {
		pragma string
		want   int
	}{{"application_id", storeID}, {"user_version", storeVersion}} {
		v, err := sqlitex.ResultInt(conn.Prep("PRAGMA " + mark.pragma))
		if err != nil || v != mark.want {
			return nil, errors.Join(errOther, err)
		}
	}
	return s, s.load(conn, key, info.Size())
}

// load reads what every query needs.
func (s *Store) load(conn *sq.Conn, key [32]byte, size int64) error {
	page, err := sqlitex.ResultInt64(conn.Prep("PRAGMA page_size"))
	if err != nil {
		return err
	}
	ours := false
	err = sqlitex.Execute(conn, "SELECT corpus, (SELECT pages FROM extent), lengths, frequencies FROM meta", &sqlitex.ExecOptions{ResultFunc: func(st *sq.Stmt) error {
		lengths, frequencies := numbers(columnBytes(st, 2)), numbers(columnBytes(st, 3))
		ours = slices.Equal(columnBytes(st, 0), key[:]) && st.ColumnInt64(1)*page == size
		s.statistics = newStatistics(lengths, frequencies)
		return nil
	}})
	if err == nil && !ours {
		err = errOther
	}
	return err
}

// Close closes the file.
func (s *Store) Close() error { return s.pool.Close() }

// Search implements Searcher.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	return s.SearchOnly(ctx, query, limit, nil)
}

// SearchOnly implements Narrow.
func (s *Store) SearchOnly(ctx context.Context, query string, limit int, only Only) ([]Hit, error) {
	conn, err := s.pool.Take(ctx)
	if err != nil {
		return nil, err
	}
	defer s.pool.Put(conn)
	hits, err := s.search(ctx, conn, query, limit, only)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("search in %s (if it is damaged, delete it: it is built anew): %w", s.path, err)
	}
	return hits, nil
}

func (s *Store) search(ctx context.Context, conn *sq.Conn, query string, limit int, only Only) ([]Hit, error) {
	terms := parse(query)
	for i := range terms {
		if err := s.find(conn, &terms[i]); err != nil {
			return nil, err
		}
	}
	list, err := s.rank(ctx, terms, limit, only)
	if err != nil {
		return nil, err
	}
	w := s.weights(terms)
	hits := make([]Hit, len(list))
	for i, r := range list {
		if hits[i], err = s.read(conn, r, w); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// Frequency implements Lexical.
func (s *Store) Frequency(ctx context.Context, token string) (n int, err error) {
	conn, err := s.pool.Take(ctx)
	if err != nil {
		return 0, err
	}
	defer s.pool.Put(conn)
	err = sqlitex.Execute(conn, "SELECT df FROM terms WHERE token = ?", &sqlitex.ExecOptions{
		Args:       []any{[]byte(token)},
		ResultFunc: func(st *sq.Stmt) error { n = st.ColumnInt(0); return nil },
	})
	return n, err
}

// find reads the postings of a term, if the corpus knows it.
func (s *Store) find(conn *sq.Conn, t *asked) error {
	var id int64
	var times []byte
	err := sqlitex.Execute(conn, "SELECT id, df, times FROM terms WHERE token = ?", &sqlitex.ExecOptions{
		Args: []any{[]byte(t.token)},
		ResultFunc: func(st *sq.Stmt) error {
			id, t.df, times = st.ColumnInt64(0), st.ColumnInt(1), columnBytes(st, 2)
			return nil
		},
	})
	if err != nil {
		return err
	}
	found := 0
	for _, tf := range numbers(times) {
		p := postings{tf: uint16(tf)}
		err := sqlitex.Execute(conn, "SELECT rowid FROM postings WHERE postings MATCH ?", &sqlitex.ExecOptions{
			Args: []any{name(id, uint16(tf))},
			ResultFunc: func(st *sq.Stmt) error {
				ord := st.ColumnInt64(0)
				if ord < 0 || ord >= int64(s.paragraphs) || len(p.ords) > 0 && uint32(ord) <= p.ords[len(p.ords)-1] {
					return errors.New("the postings are damaged")
				}
				p.ords = append(p.ords, uint32(ord))
				return nil
			},
		})
		if err != nil {
			return err
		}
		found += len(p.ords)
		t.lists = append(t.lists, p)
	}
	if found != t.df {
		return errors.New("the postings are damaged")
	}
	return nil
}

// name is what FTS5 sees of a term that stands so often in a paragraph. It holds
// nothing that means something in a query.
func name(id int64, times uint16) string { return fmt.Sprintf("%xx%d", id, times) }

func (s *Store) read(conn *sq.Conn, r ranked, w weights) (Hit, error) {
	var hit Hit
	err := sqlitex.Execute(conn, "SELECT d.name, d.title, p.number, p.text, p.hash FROM paragraphs p JOIN documents d ON d.id = p.document WHERE p.ord = ?", &sqlitex.ExecOptions{
		Args: []any{int64(r.ord)},
		ResultFunc: func(st *sq.Stmt) error {
			hit = newHit(string(columnBytes(st, 0)), string(columnBytes(st, 1)), st.ColumnInt(2), string(columnBytes(st, 3)), r, w)
			if !slices.Equal(hit.Hash[:], columnBytes(st, 4)) {
				return fmt.Errorf("paragraph %d of %s is damaged", hit.Paragraph, hit.Doc)
			}
			return nil
		},
	})
	if err == nil && hit.Paragraph == 0 {
		err = errors.New("a paragraph is missing")
	}
	return hit, err
}

func columnBytes(st *sq.Stmt, column int) []byte {
	data := make([]byte, st.ColumnLen(column))
	st.ColumnBytes(column, data)
	return data
}

// numbers reads what packNumbers wrote.
func numbers(data []byte) []uint32 {
	list := make([]uint32, len(data)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return list
}

func packNumbers(list []uint32) []byte {
	data := make([]byte, 0, 4*len(list))
	for _, n := range list {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	return data
}
