package search

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// How two lists become one: a paragraph's score is the sum of weight/(60+rank) over the
// lists it is in. What vectors say weighs the same for every query. What words say
// weighs as much as the query's words that the best paragraph covers: for a name that
// is all, for a question in other words little, which is where vectors are better.
const (
	semanticWeight = 7 * Unit / 10
	fusionConstant = 60
)

// depth is how far down each list is read at least.
const depth = 100

// batch is how many texts are embedded at once.
const batch = 256

// Hybrid searches by words and by meaning. It is safe for use by several goroutines if
// its searcher and its embedder are.
type Hybrid struct {
	lexical  Searcher
	embedder Embedder
	corpus
	vectors    []vector
	squares    []int64
	dimensions int
	// What cosines mean, in billionths.
	nothing, everything int64
	// words and meaning are what the two lists weigh; words is 0 if that depends on the query.
	words, meaning int64
}

var _ Narrow = (*Hybrid)(nil)

// NewHybrid embeds the paragraphs that the cache does not know. The documents must be
// those of the lexical searcher. The cache may be nil. If the embedder is nil, the
// result searches exactly as the lexical searcher does.
func NewHybrid(ctx context.Context, lexical Searcher, e Embedder, cache *VectorCache, docs []Document) (*Hybrid, error) {
	h := &Hybrid{lexical: lexical, embedder: e, meaning: semanticWeight}
	if e == nil {
		return h, nil
	}
	h.corpus = newCorpus(docs)
	low, high := UsualNothing, UsualEverything
	if c, ok := e.(Calibrated); ok {
		low, high = c.Calibration()
	}
	h.nothing, h.everything = billionths(low), billionths(high)
	if err := h.embedAll(ctx, cache); err != nil {
		return nil, fmt.Errorf("embed the corpus with %s: %w", e.Name(), err)
	}
	return h, nil
}

// Weigh has both lists weigh the same for every query, in billionths. It is for corpora that are
// no prose, and called before the first search.
func (h *Hybrid) Weigh(words, meaning int64) { h.words, h.meaning = words, meaning }

func (h *Hybrid) embedAll(ctx context.Context, cache *VectorCache) error {
	h.vectors = make([]vector, 0, h.len())
	var texts []string
	for _, d := range h.docs {
		for _, p := range d.Paragraphs {
			if texts = append(texts, p); len(texts) == batch {
				if err := h.embedSome(ctx, cache, texts); err != nil {
					return err
				}
				texts = texts[:0]
			}
		}
	}
	if err := h.embedSome(ctx, cache, texts); err != nil {
		return err
	}
	h.squares = make([]int64, len(h.vectors))
	for i, v := range h.vectors {
		h.squares[i] = dot(v, v)
	}
	return nil
}

// embedSome appends the vectors of some texts, out of the cache where it has them. A
// text that stands there twice is embedded once.
func (h *Hybrid) embedSome(ctx context.Context, cache *VectorCache, texts []string) error {
	if len(texts) == 0 {
		return ctx.Err()
	}
	hashes := make([][32]byte, len(texts))
	for i, t := range texts {
		hashes[i] = sha256.Sum256([]byte(t))
	}
	known, err := cache.load(ctx, h.embedder.Name(), hashes)
	if err != nil {
		return err
	}
	var missing []string
	var missed [][32]byte
	for i, hash := range hashes {
		if _, ok := known[hash]; !ok {
			known[hash] = nil
			missing, missed = append(missing, texts[i]), append(missed, hash)
		}
	}
	if len(missing) > 0 {
		fresh, err := h.embed(ctx, missing)
		if err != nil {
			return err
		}
		for i, hash := range missed {
			known[hash] = fresh[i]
		}
		if err := cache.save(ctx, h.embedder.Name(), missed, fresh); err != nil {
			return err
		}
	}
	for _, hash := range hashes {
		v := known[hash]
		if h.dimensions == 0 {
			h.dimensions = len(v)
		}
		if len(v) != h.dimensions {
			return fmt.Errorf("it gave vectors of %d and of %d dimensions: is it one model? Then delete the cache of vectors", h.dimensions, len(v))
		}
		h.vectors = append(h.vectors, v)
	}
	return nil
}

// embed checks what an embedder says.
func (h *Hybrid) embed(ctx context.Context, texts []string) ([]vector, error) {
	list, err := h.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(list) != len(texts) {
		return nil, fmt.Errorf("it gave %d vectors for %d texts", len(list), len(texts))
	}
	out := make([]vector, len(list))
	for i, v := range list {
		if len(v) == 0 || len(v) > maxDimensions {
			return nil, fmt.Errorf("it gave a vector of %d dimensions", len(v))
		}
		if out[i], err = quantise(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Search implements Searcher.
func (h *Hybrid) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	return h.SearchBoth(ctx, query, query, limit, nil)
}

// SearchOnly implements Narrow, if the lexical searcher does.
func (h *Hybrid) SearchOnly(ctx context.Context, query string, limit int, only Only) ([]Hit, error) {
	return h.SearchBoth(ctx, query, query, limit, only)
}

// SearchBoth searches for some words, and for what means the same as a query: whoever adds
// other forms of its words to a query leaves them out of what is embedded.
func (h *Hybrid) SearchBoth(ctx context.Context, words, query string, limit int, only Only) ([]Hit, error) {
	if h.embedder == nil {
		return h.byLexical(ctx, words, limit, only)
	}
	limit = min(limit, h.len())
	if limit < 1 {
		return nil, ctx.Err()
	}
	lexical, err := h.byLexical(ctx, words, max(limit, depth), only)
	if err != nil {
		return nil, err
	}
	if len(query) > maxParagraph { // embedders have limits; a question's start says most
		query = query[:boundary(query, maxParagraph)]
	}
	asked, err := h.embed(ctx, []string{query})
	if err != nil {
		return nil, fmt.Errorf("embed the query with %s: %w", h.embedder.Name(), err)
	}
	if len(asked[0]) != h.dimensions {
		return nil, fmt.Errorf("embed the query with %s: it gave %d dimensions, but %d for the corpus: delete the cache of vectors", h.embedder.Name(), len(asked[0]), h.dimensions)
	}
	return h.fuse(lexical, asked[0], query, limit, only)
}

func (h *Hybrid) byLexical(ctx context.Context, words string, limit int, only Only) ([]Hit, error) {
	if only == nil {
		return h.lexical.Search(ctx, words, limit)
	}
	n, ok := h.lexical.(Narrow)
	if !ok {
		return nil, errors.New("this searcher by words cannot leave paragraphs out")
	}
	return n.SearchOnly(ctx, words, limit, only)
}

// semantic returns the paragraphs nearest in meaning that have anything in common with
// the query.
func (h *Hybrid) semantic(q vector, limit int, only Only) []ranked {
	square := dot(q, q)
	best := selection{limit: limit}
	for i, v := range h.vectors {
		if only != nil && !only(i) {
			continue
		}
		if c := cosine(dot(q, v), square, h.squares[i]); c > h.nothing {
			best.offer(ranked{ord: uint32(i), score: c})
		}
	}
	return best.sorted()
}

func (h *Hybrid) fuse(lexical []Hit, q vector, query string, limit int, only Only) ([]Hit, error) {
	fused, found := map[uint32]*ranked{}, map[uint32]Hit{}
	if err := h.byWords(fused, found, lexical, q); err != nil {
		return nil, err
	}
	for i, r := range h.semantic(q, max(limit, depth), only) {
		if fused[r.ord] == nil {
			fused[r.ord] = &ranked{ord: r.ord, relevance: h.relevance(r.score)}
		}
		fused[r.ord].score += h.meaning / int64(fusionConstant+i+1)
	}
	best := selection{limit: limit}
	for _, r := range fused { // in any order: no two are equal
		best.offer(*r)
	}
	list := best.sorted()
	terms := weigh(parse(query), func(asked) float64 { return 1 })
	hits := make([]Hit, len(list))
	for i, r := range list {
		hit, ok := found[r.ord]
		if !ok {
			hit = h.hit(r, terms)
		}
		hit.Score, hit.Relevance = r.score, r.relevance
		hits[i] = hit
	}
	return hits, nil
}

// byWords takes up the hits of the lexical searcher that share more than stop words
// with the query. A paragraph is as relevant as the better of the two ways says.
func (h *Hybrid) byWords(fused map[uint32]*ranked, found map[uint32]Hit, lexical []Hit, q vector) error {
	weight := int64(0)
	for _, hit := range lexical {
		weight = max(weight, hit.Relevance)
	}
	if h.words > 0 {
		weight = h.words
	}
	square, rank := dot(q, q), int64(0)
	for _, hit := range lexical {
		if hit.Relevance == 0 {
			continue
		}
		rank++
		ord, err := h.ord(hit)
		if err != nil {
			return err
		}
		near := h.relevance(cosine(dot(q, h.vectors[ord]), square, h.squares[ord]))
		found[ord] = hit
		fused[ord] = &ranked{ord: ord, score: weight / (fusionConstant + rank), relevance: max(hit.Relevance, near)}
	}
	return nil
}

// relevance is what a cosine says about a paragraph, from 0 to 1 in billionths.
func (h *Hybrid) relevance(cosine int64) int64 {
	share := float64(cosine-h.nothing) / float64(h.everything-h.nothing)
	return billionths(min(max(share, 0), 1))
}

var errOtherCorpus = errors.New("the words and the vectors are of different documents: index both from the same ones")

// ord finds the number of a paragraph.
func (h *Hybrid) ord(hit Hit) (uint32, error) {
	i, ok := slices.BinarySearchFunc(h.docs, hit.Doc, func(d Document, id string) int { return strings.Compare(d.ID, id) })
	if !ok || hit.Paragraph < 1 || hit.Paragraph > len(h.docs[i].Paragraphs) || h.docs[i].Paragraphs[hit.Paragraph-1] != hit.Text {
		return 0, fmt.Errorf("paragraph %d of %s: %w", hit.Paragraph, hit.Doc, errOtherCorpus)
	}
	return uint32(h.first[i] + hit.Paragraph - 1), nil
}
