package knowledge

import (
	"cmp"
	"slices"

	"lyceum/internal/plain"
	"lyceum/internal/search"
	"lyceum/internal/wording"
)

// Subject is a text that can be of use for an intent: what it is called, and how it begins.
type Subject struct {
	Name, Title, Text string
}

// Fitting is a subject that is, with a score in billionths.
type Fitting struct {
	Name  string
	Score int64
}

// Fits are the subjects that an intent is about, the best first, at most limit. Few texts are
// not worth an index, whose weights mean nothing among them: a word of the intent that stands in
// a title counts for two, one in the text for one, and two are needed.
func Fits(intent string, subjects []Subject, limit int) []Fitting {
	terms := wording.Terms(plain.Cut(intent, maxSearched))
	var out []Fitting
	for _, s := range subjects {
		title, text := wording.Stems(s.Title), wording.Stems(plain.Cut(s.Text, maxSearched))
		var score int64
		for _, t := range terms {
			switch stem := wording.Stem(t.Word); {
			case slices.Contains(title, stem):
				score += 2
			case slices.Contains(text, stem):
				score++
			}
		}
		if score >= 2 {
			out = append(out, Fitting{s.Name, score * search.Unit})
		}
	}
	slices.SortFunc(out, func(a, b Fitting) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name)) })
	return out[:min(len(out), limit)]
}
