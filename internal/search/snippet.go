package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSnippet bounds a snippet in bytes.
const maxSnippet = 700

// maxMatches is how many places of a paragraph a snippet is chosen from.
const maxMatches = 512

// weights say what each term of a query is worth, stop words left out.
type weights map[string]weighed

type weighed struct {
	number int // among them
	weight float64
}

func (s *statistics) weights(terms []asked) weights {
	return weigh(terms, func(t asked) float64 { return s.weight(t.df) })
}

func weigh(terms []asked, weight func(asked) float64) weights {
	w := make(weights, len(terms))
	for _, t := range terms {
		if !stopWords[t.token] {
			w[t.token] = weighed{len(w), weight(t)}
		}
	}
	return w
}

// match is a place where a term of the query stands.
type match struct {
	start, end int
	weighed
}

// snippet returns the part of a text that says most of the query. It is cut at the
// ends of sentences if there are any nearby, else between words.
func snippet(text string, terms weights) string {
	if len(text) <= maxSnippet {
		return text
	}
	from, to := densest(matches(text, terms), len(terms))
	room := maxSnippet - (to - from)
	low := opening(text, max(from-room/3, 0), from)
	high := closing(text, to, min(low+maxSnippet, len(text)))
	return strings.TrimSpace(text[low:high])
}

func matches(text string, terms weights) []match {
	var list []match
	var s scanner
	s.scan(text, func(token []byte, start, end int) {
		if w, ok := terms[string(token)]; ok && len(list) < maxMatches && end-start <= maxSnippet/2 {
			list = append(list, match{start, end, w})
		}
	})
	return list
}

// densest returns the bounds of the matches within a snippet's length that are worth
// most together, each term counted once; the first of several equal ones.
func densest(list []match, terms int) (from, to int) {
	best := 0.0
	seen := make([]int, terms) // from which match on a term was counted last, plus one
	for i, m := range list {
		sum, end := 0.0, m.end
		for _, n := range list[i:] {
			if n.end-m.start > maxSnippet*3/4 {
				break
			}
			end = max(end, n.end)
			if seen[n.number] != i+1 {
				seen[n.number] = i + 1
				sum += n.weight
			}
		}
		if sum > best {
			best, from, to = sum, m.start, end
		}
	}
	return from, to
}

// opening returns where a snippet begins that may begin from low on and must at from.
func opening(text string, low, from int) int {
	if low == 0 {
		return 0
	}
	for i := low; i < from; i++ {
		if sentenceEnds(text, i) {
			return i
		}
	}
	if i := strings.IndexFunc(text[low:from], unicode.IsSpace); i >= 0 {
		return low + i
	}
	for low < from && !utf8.RuneStart(text[low]) {
		low++
	}
	return low
}

// closing returns where a snippet ends that may end at high and must not before to.
func closing(text string, to, high int) int {
	if high == len(text) {
		return high
	}
	for i := high; i > to && i > high-maxSnippet/3; i-- {
		if sentenceEnds(text, i) {
			return i
		}
	}
	if i := strings.LastIndexFunc(text[to:high], unicode.IsSpace); i > 0 {
		return to + i
	}
	for high > to && !utf8.RuneStart(text[high]) {
		high--
	}
	return high
}

// sentenceEnds says whether a sentence or a line ends before i.
func sentenceEnds(text string, i int) bool {
	if i == 0 || !utf8.RuneStart(text[i]) {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	switch r {
	case '\n', '。', '！', '？':
		return true
	case '.', '!', '?':
		return text[i] == ' ' || text[i] == '\n'
	}
	return false
}
