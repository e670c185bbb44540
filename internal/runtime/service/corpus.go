package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
	"lyceum/internal/search"
	"lyceum/internal/society/contract"
)

// A corpus is what researchers search: the documents of a folder as the quest recorded
// it, read once, when somebody first asks.
type corpus struct {
	rt   *runtime.Runtime
	tree event.TreeRef

	reading sync.Mutex
	docs    []search.Document
	skipped []search.Skipped
	read    bool
	lexical search.Lexical
	hybrid  search.Searcher
	closes  []func() error
}

// largeCorpus is from how many paragraphs on the index is kept on disk, so that the
// next run need not make it again.
const largeCorpus = 20_000

// documents reads the corpus.
func (c *corpus) documents(ctx context.Context) ([]search.Document, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.read {
		return c.docs, nil
	}
	dir, err := scratch.New("", "lyceum-corpus-")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	root, err := os.OpenRoot(dir.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := blob.Restore(ctx, c.rt.Blobs, c.tree, root); err != nil {
		return nil, fmt.Errorf("restore the corpus: %w", err)
	}
	docs, skipped, err := search.Read(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	c.docs, c.skipped, c.read = docs, skipped, true
	return docs, nil
}

// searcher returns what finds by a method.
func (c *corpus) searcher(ctx context.Context, method, embedder string) (*search.Asked, error) {
	docs, err := c.documents(ctx)
	if err != nil {
		return nil, err
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.lexical == nil {
		if c.lexical, err = c.index(ctx, docs); err != nil {
			return nil, err
		}
	}
	if method != "hybrid" || c.hybrid != nil {
		if method == "hybrid" {
			return search.NewAsked(docs, c.lexical, c.hybrid), nil
		}
		return search.NewAsked(docs, c.lexical, nil), nil
	}
	if e := c.rt.Embedder; e == nil || e.Name() != embedder {
		return nil, fmt.Errorf("the quest was made with the vectors of %s, which are not to be had here", embedder)
	}
	vectors, err := c.vectors()
	if err != nil {
		return nil, err
	}
	h, err := search.NewHybrid(ctx, c.lexical, c.rt.Embedder, vectors, docs)
	if err != nil {
		return nil, err
	}
	c.hybrid = h
	return search.NewAsked(docs, c.lexical, h), nil
}

func (c *corpus) index(ctx context.Context, docs []search.Document) (search.Lexical, error) {
	if paragraphs(docs) < largeCorpus || c.rt.Home == "" {
		return search.NewIndex(docs), nil
	}
	dir := filepath.Join(c.rt.Home, "cache", "search")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s, err := search.OpenStore(ctx, filepath.Join(dir, c.tree.Hash.String()+".db"), docs)
	if err != nil {
		return nil, err
	}
	c.closes = append(c.closes, s.Close)
	return s, nil
}

func (c *corpus) vectors() (*search.VectorCache, error) {
	if c.rt.Home == "" {
		return nil, nil
	}
	dir := filepath.Join(c.rt.Home, "cache")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	v, err := search.OpenVectorCache(filepath.Join(dir, "vectors.db"))
	if err != nil {
		return nil, err
	}
	c.closes = append(c.closes, v.Close)
	return v, nil
}

func (c *corpus) close() (err error) {
	if c == nil {
		return nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	for _, f := range c.closes {
		err = errors.Join(err, f())
	}
	c.closes = nil
	return err
}

func paragraphs(docs []search.Document) (n int) {
	for _, d := range docs {
		n += len(d.Paragraphs)
	}
	return n
}

// searches answers search.call.
type searches struct {
	q      *runtime.Quest
	corpus *corpus // nil if the quest has none
}

// Start implements runtime.Service.
func (s *searches) Start(e event.Event) (runtime.Work, error) {
	b, embedder := e.Body.(*event.SearchCall), contract.Net(s.q.State).Spec.Embedder
	return func(ctx context.Context) ([]event.Draft, error) {
		begun := s.q.Clock()
		body, err := s.corpus.search(ctx, b, embedder)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			body = &event.SearchResult{Error: runtime.AtMost(s.q.Redact(err.Error()), 1000)}
		}
		d := s.q.Result(e.Seq, e.Actor, body)
		body.Call, body.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// search is what a call for a search finds, as its result says it.
func (c *corpus) search(ctx context.Context, b *event.SearchCall, embedder string) (*event.SearchResult, error) {
	if c == nil {
		return nil, errors.New("the quest has no corpus")
	}
	if b.Method == "around" {
		return c.around(ctx, b)
	}
	s, err := c.searcher(ctx, b.Method, embedder)
	if err != nil {
		return nil, err
	}
	hits, weights, err := s.Search(ctx, b.Query, int(min(max(b.Limit, 1), maxHits)))
	if err != nil {
		return nil, err
	}
	body := &event.SearchResult{Documents: int64(len(c.docs)), Paragraphs: int64(paragraphs(c.docs)), Skipped: int64(len(c.skipped))}
	for _, w := range weights[:min(len(weights), maxWeights)] {
		body.Words = append(body.Words, event.WordWeight{Unknown: w.Unknown, Weight: w.Weight, Word: w.Word})
	}
	for _, h := range hits {
		body.Anchors = append(body.Anchors, event.Anchor{
			Context: runtime.AtMost(h.Context, 400), Cover: h.Cover, Doc: h.Doc, Hash: event.Hash(h.Hash), Paragraph: int64(h.Paragraph), Relevance: h.Relevance,
			Score: h.Score, Snippet: h.Snippet, Title: runtime.AtMost(h.Title, 200),
		})
		if !fits(body) {
			body.Anchors = body.Anchors[:len(body.Anchors)-1]
			break
		}
	}
	return body, nil
}

// fits reports whether an event can hold a result, with room for what is set later.
func fits(body *event.SearchResult) bool {
	data, err := event.EncodeBody(body)
	return err == nil && len(data) <= event.MaxBody-256
}

// maxOpened is how much of a paragraph is read that stands around another, in bytes of
// JSON.
const maxOpened = 2000

// around reads a paragraph and those beside it, as many as the call allows.
func (c *corpus) around(ctx context.Context, b *event.SearchCall) (*event.SearchResult, error) {
	docs, err := c.documents(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(docs, func(d search.Document) bool { return d.ID == b.Doc })
	if i < 0 {
		return nil, fmt.Errorf("the corpus has no document %q", b.Doc)
	}
	d := docs[i]
	body := &event.SearchResult{Documents: int64(len(c.docs)), Paragraphs: int64(paragraphs(c.docs)), Skipped: int64(len(c.skipped))}
	side := b.Limit / 2
	for number := max(b.Paragraph-side, 1); number <= min(b.Paragraph+side, int64(len(d.Paragraphs))); number++ {
		text := d.Paragraphs[number-1]
		body.Anchors = append(body.Anchors, event.Anchor{
			Doc: d.ID, Hash: event.HashOf([]byte(text)), Paragraph: number, Snippet: event.Cut(text, maxOpened), Title: runtime.AtMost(d.Title, 200),
		})
		if !fits(body) {
			body.Anchors = body.Anchors[:len(body.Anchors)-1]
			break
		}
	}
	return body, nil
}

// maxHits is how many paragraphs a search brings at most.
const maxHits = 50

// maxWeights is of how many words of a question a result says what they are worth.
const maxWeights = 60
