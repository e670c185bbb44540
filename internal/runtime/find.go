package runtime

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/search"
)

// How much of each text is looked through, in bytes, and how much is shown of the
// paragraph that fits best.
const (
	maxLooked  = 256 << 10
	maxSnippet = 400
)

// find looks through texts for what an agent wants to know, and tells what it found: by
// words, and by meaning where there are vectors that cost nothing. Those of a server are
// not asked for: texts that agents write are new all the time.
func (l *live) find(ctx context.Context, d *quest.Delivery) (string, error) {
	f := d.Find
	docs := make([]search.Document, 0, len(f.Among))
	for i, x := range f.Among {
		text, err := l.rt.Joined(ctx, x.Parts)
		if err != nil {
			return "", err
		}
		// The title counts with every paragraph's words, and is one to be found itself.
		paragraphs := append([]string{x.Title}, search.Paragraphs(event.Cut(text, maxLooked), true)...)
		docs = append(docs, search.Document{ID: strconv.Itoa(i), Title: x.Title, Paragraphs: paragraphs})
	}
	var by search.Searcher = search.NewIndex(docs)
	if e, ok := l.rt.Embedder.(interface{ Repeats() bool }); ok && e.Repeats() {
		hybrid, err := search.NewHybrid(ctx, by, l.rt.Embedder, nil, docs)
		if err != nil {
			return "", err
		}
		by = hybrid
	}
	hits, err := by.Search(ctx, f.Query, max(100, 10*f.Limit))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(d.Said)
	seen := map[string]bool{}
	for _, h := range hits {
		if seen[h.Doc] || len(seen) == f.Limit {
			continue // the best paragraph of each is enough
		}
		seen[h.Doc] = true
		i, err := strconv.Atoi(h.Doc)
		if err != nil {
			return "", err
		}
		snippet := event.Cut(strings.Join(strings.Fields(h.Snippet), " "), maxSnippet)
		fmt.Fprintf(&b, "\n- %s\n  %q", f.Among[i].Line, Clean(snippet))
	}
	files, err := l.findFiles(ctx, f)
	if err != nil {
		return "", err
	}
	b.WriteString(files)
	if len(seen) == 0 && files == "" {
		b.WriteString("\nNothing was found: try other words.")
	}
	return b.String(), nil
}
