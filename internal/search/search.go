// Package search finds the paragraphs of a corpus that a question is about.
//
// The lexical score is Okapi BM25 over paragraphs, as rank-bm25 computes it: k1 1.5,
// b 0.75, negative idfs replaced by a quarter of the mean idf. It is the same to the
// last bit on every machine: the logarithm is our own, no product is fused with a sum,
// sums have a fixed order, and equal scores are ordered by document and paragraph. An
// Index holds the postings in memory, a Store holds them in an SQLite file; both rank
// by the same code.
//
// Vectors stand beside it. A Hybrid merges both lists by weighted reciprocal rank:
// vectors find what is said in other words, BM25 finds names and numbers. Without an
// embedder a Hybrid is its lexical searcher.
//
// A corpus is hostile: whatever Read cannot use it names, with the reason. A query is
// hostile too: it is only ever read as words.
package search

import "context"

// Document is one text of a corpus.
type Document struct {
	// ID is the file's path within its folder, with slashes.
	ID string
	// Title is the first heading, or the file's name.
	Title      string
	Paragraphs []string
	// Contexts are what is searched with each paragraph besides its own text: the words
	// of the path, the title and the headings over it. There may be none.
	Contexts []string
}

// context is what is searched with a paragraph.
func (d *Document) context(paragraph int) string {
	if paragraph < len(d.Contexts) {
		return d.Contexts[paragraph]
	}
	return ""
}

// Hit is a paragraph that answers a query.
type Hit struct {
	Doc, Title string
	// Paragraph counts from 1.
	Paragraph int
	// Text is the whole paragraph, and Hash its SHA-256.
	Text string
	Hash [32]byte
	// Snippet is what stands around the best match: a part of Text, to the byte.
	Snippet string
	// Score is what hits are ordered by, and Relevance how much of what was asked the
	// paragraph is about, from 0 to 1; both in billionths.
	Score, Relevance int64
	// Cover is how much of the question the paragraph covers by an absolute measure, in
	// billionths, and Context what stands over the paragraph; Asked says them.
	Cover   int64
	Context string
}

// Searcher finds paragraphs, the best first.
type Searcher interface {
	// Search returns at most limit hits, in an order that does not depend on anything
	// but the corpus and the query. A paragraph that shares nothing with the query is
	// no hit, so there may be none.
	Search(ctx context.Context, query string, limit int) ([]Hit, error)
}

// Only says which paragraphs a search looks at, by their numbers: all paragraphs of a corpus
// count from 0 on, in the order of their documents' IDs. Nil is for all of them.
type Only func(paragraph int) bool

// Narrow is a searcher that can be told which paragraphs to look at. What is left out is left
// out before the best are counted; what words are worth is what they are in the whole corpus.
type Narrow interface {
	Searcher
	SearchOnly(ctx context.Context, query string, limit int, only Only) ([]Hit, error)
}

// Unit is what one stands for in scores and relevances.
const Unit = 1_000_000_000

// maxQuery is how much of a query is read. A task may be long; a book is no question.
const maxQuery = 64 << 10
