// Package wording reads questions in plain English: which of their words say what they
// are about, in what other forms and words the same may stand in a text, and what kind
// of answer is asked for.
//
// It knows no more than lists and endings. Where it knows nothing, words stand for
// themselves, so that a question in another language loses nothing but these helps.
package wording

import (
	"slices"
	"strings"
	"unicode"
)

// Term is a word of a question that says what it is about.
type Term struct {
	// Word is the word in lower case.
	Word string
	// Same are stems of other words that may stand for it.
	Same []string
	// Name says that nothing else can stand for it: it has a digit, or is written with
	// a capital letter inside the question.
	Name bool
}

// Words splits a text into words as they are written: letters and digits, and what
// joins them (a point or comma between digits, an apostrophe between letters).
func Words(text string) (out []string) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		if !inside(runes[i]) {
			i++
			continue
		}
		j := i
		for j < len(runes) && (inside(runes[j]) || joins(runes, j)) {
			j++
		}
		out = append(out, string(runes[i:j]))
		i = j
	}
	return out
}

func inside(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func joins(runes []rune, j int) bool {
	if j == 0 || j+1 >= len(runes) {
		return false
	}
	switch runes[j] {
	case '.', ',':
		return unicode.IsDigit(runes[j-1]) && unicode.IsDigit(runes[j+1])
	case '\'', '’':
		return unicode.IsLetter(runes[j-1]) && unicode.IsLetter(runes[j+1])
	}
	return false
}

// Terms are the words of a question that say what it is about, each once. A question
// that has none but empty words is about those.
func Terms(question string) (out []Term) {
	words := Words(question)
	empty := emptyIn(words)
	for i, w := range words {
		low := strings.ToLower(strings.ReplaceAll(w, "’", "'"))
		low = strings.TrimSuffix(low, "'s")
		if strings.IndexFunc(low, Unspaced) == 0 {
			for _, p := range pairsOf(low) {
				if !slices.ContainsFunc(out, func(t Term) bool { return t.Word == p }) {
					out = append(out, Term{Word: p})
				}
			}
			continue
		}
		if empty[i] || low == "" || slices.ContainsFunc(out, func(t Term) bool { return Stem(t.Word) == Stem(low) }) {
			continue
		}
		out = append(out, Term{Word: low, Same: Same(low), Name: i > 0 && named(w) || strings.ContainsFunc(w, unicode.IsDigit)})
	}
	if len(out) == 0 {
		for _, w := range words {
			out = append(out, Term{Word: strings.ToLower(w)})
		}
	}
	return out
}

func named(w string) bool { return strings.ContainsFunc(w, unicode.IsUpper) }

// emptyIn says which words of a question only ask.
func emptyIn(words []string) []bool {
	out := make([]bool, len(words))
	low := make([]string, len(words))
	for i, w := range words {
		low[i] = strings.ToLower(w)
		out[i] = emptyWords[low[i]] || emptyWords[Stem(low[i])]
	}
	for i := range low {
		// "how long" asks for a time or a length; "long" alone says something.
		if low[i] == "how" && i+1 < len(low) && degrees[low[i+1]] {
			out[i+1] = true
		}
		// So does "which year".
		if (low[i] == "what" || low[i] == "which") && i+1 < len(low) && times[low[i+1]] {
			out[i+1] = true
		}
	}
	if n := len(low); n > 0 && (low[n-1] == "mean" || low[n-1] == "for" || low[n-1] == "like" || low[n-1] == "called") {
		out[n-1] = true
	}
	return out
}

func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// degrees are what "how" makes a measure of, where the word itself seldom stands in an
// answer. Others, such as heavy, are looked for: other words stand for them.
var degrees = set("many much long far often late early soon well exactly")

// emptyWords say nothing about what a question is about.
var emptyWords = set(`
a about according actually after again all also am among an and any anybody anyone anything are as at be because been before being between both but
by can cannot could did do does doing done during each either else ever every exactly for from get give given gives had happen happened happens has have
having he her here him his how i if in into is it its itself just kind kinds let many may me might mine more most much must my name named no nor not of off on once one
ones only or other our out over per please possible s shall she should so some somebody someone something sort such t take takes tell than that the their
them then there these they thing things this those through to too under until up upon us use used uses using very want was way we were what when where
whether which while who whom whose why will with within without word would yes yet you your yours
find search look explain describe say says said cite source sources answer question document documents text texts corpus result results according calculate
compute determine estimate evaluate verify check data file table`)
