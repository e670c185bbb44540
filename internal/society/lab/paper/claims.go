package paper

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/evidence"
)

// How much of a paper's first paragraph is kept, and how many of its numbers.
const (
	maxAbstract = 600 // bytes
	maxNumbers  = 20
)

// MaxClaims is how many values a paper may name, MaxClaim how long each may be.
const (
	MaxClaims = 20
	MaxClaim  = 100 // bytes
)

// Abstract returns the first paragraph of a Markdown text, on one line and cut if it is
// long, and the numbers in it as they are written, each once. Headings and code are no
// paragraphs, and the digits of references no numbers.
func Abstract(markdown string) (abstract string, numbers []string) {
	var lines []string
	fence := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(markdown, "\r\n", "\n"), "\n") {
		text := strings.TrimSpace(line)
		mark := text[:max(run(text, '`'), run(text, '~'))]
		switch {
		case fence != "":
			if len(mark) >= len(fence) && mark[0] == fence[0] {
				fence = ""
			}
			continue
		case len(mark) >= 3 && len(lines) == 0:
			fence = mark
			continue
		}
		if len(lines) > 0 && text != "" && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "") {
			lines = nil // they were a heading, which this line is under
			continue
		}
		if text == "" || strings.HasPrefix(text, "#") || len(mark) >= 3 || strings.Trim(text, "-=*_ ") == "" {
			if len(lines) > 0 {
				break
			}
			continue
		}
		lines = append(lines, text)
	}
	whole := strings.Join(strings.Fields(strings.ToValidUTF8(strings.Join(lines, " "), "")), " ")
	for _, n := range evidence.Numbers(withoutRefs(whole)) {
		if len(numbers) < maxNumbers && len(n.Text) <= MaxClaim && !slices.Contains(numbers, n.Text) {
			numbers = append(numbers, n.Text)
		}
	}
	return event.Shorten(whole, maxAbstract), numbers
}

// withoutRefs leaves out what has the shape of a reference: some are digits alone.
func withoutRefs(s string) string {
	var out strings.Builder
	for s != "" {
		n := hexRun(s)
		if n != refLen {
			out.WriteString(s[:n])
		}
		if s = s[n:]; s != "" {
			out.WriteByte(s[0])
			s = s[1:]
		}
	}
	return out.String()
}

// Unshown returns the claims that an output does not hold, in their order. The numbers
// of a claim must all be in it, or follow from what is in it by rounding; a claim
// without numbers must stand there, whatever its capitals and spaces.
func Unshown(claims []string, output string) (out []string) {
	numbers := evidence.Missing(strings.Join(claims, "\n"), []string{output})
	var folded string
	for _, c := range claims {
		own := evidence.Numbers(c)
		if len(own) > 0 {
			if slices.ContainsFunc(own, func(n evidence.Number) bool { return slices.Contains(numbers, n.Text) }) {
				out = append(out, c)
			}
			continue
		}
		if folded == "" {
			folded = fold(output)
		}
		if !holdsWord(folded, fold(c)) {
			out = append(out, c)
		}
	}
	return out
}

// holdsWord reports whether a text holds words as such, not as a part of longer ones.
func holdsWord(text, words string) bool {
	for from := 0; words != ""; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		i += from
		if (i == 0 || !wordly(text[i-1])) && (i+len(words) == len(text) || !wordly(text[i+len(words)])) {
			return true
		}
		from = i + 1
	}
	return false
}

func wordly(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c >= 0x80 }

// Values is what a paper claims, each value in one form for all ways to write it,
// sorted: two papers with the same values say the same.
func (p *Paper) Values() []string {
	var out []string
	for _, c := range p.Claims {
		key := fold(c)
		if own := evidence.Numbers(c); len(own) > 0 {
			key = ""
			for _, n := range own {
				key += n.String() + " "
			}
		}
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// Held is what the output of a paper's program says to its claims: 1 if it holds them
// all, -1 if one is not there or the program failed, 0 if there is nothing to look at.
func (p *Paper) Held() int {
	r := p.Reproduction
	switch {
	case r == nil:
		return 0
	case len(r.Missing) > 0 || r.Status != event.SameOutput:
		return -1
	case len(p.Claims) == 0:
		return 0
	}
	return 1
}

// Unheld says in words which claims a paper's program does not print, "" if all are there
// or nothing was run.
func (p *Paper) Unheld() string {
	if p.Reproduction == nil || len(p.Reproduction.Missing) == 0 {
		return ""
	}
	return "not in the output: " + Quotes(p.Reproduction.Missing)
}

// maxQuotes is how much of an event a list of what agents said takes: as numbers, its
// characters could take all of it.
const maxQuotes = 1500 // bytes of JSON

// Quotes writes what agents said as a list. Of a long one the beginning is there, and how
// many more there are.
func Quotes(list []string) string {
	text := ""
	for i, s := range list {
		next := Quote(s)
		if i > 0 {
			next = ", " + next
		}
		if event.Weight(text)+event.Weight(next) > maxQuotes {
			return text + fmt.Sprintf(" and %d more", len(list)-i)
		}
		text += next
	}
	return text
}

// maxCompared is how many of the latest published papers a new one is compared with, and
// maxRepeats how many it is told of.
const (
	maxCompared = 500
	maxRepeats  = 3
)

// Like returns the published papers that a new one seems to repeat, the earliest first:
// those that claim the same values in similar words, or are nearly the same text. What it
// revises or cites is not among them: its author knows those.
func (l *Library) Like(p *Paper) (refs []string) {
	list, _ := l.List(Latest, event.Published, maxCompared, 0)
	values, words := p.Values(), wordsOf(p)
	for _, o := range slices.Backward(list) {
		if len(refs) == maxRepeats {
			break
		}
		if o.Ref == p.Revises || slices.Contains(p.Cites, o.Ref) {
			continue
		}
		shared := overlap(words, wordsOf(o))
		if shared >= 80 || len(values) > 0 && shared >= 30 && slices.Equal(values, o.Values()) {
			refs = append(refs, o.Ref)
		}
	}
	return refs
}

// wordsOf are the words of a paper's title and abstract, sorted, each once.
func wordsOf(p *Paper) []string {
	words := strings.FieldsFunc(strings.ToLower(p.Title+" "+p.Abstract), func(r rune) bool { return r < 0x80 && !wordly(byte(r)) })
	slices.Sort(words)
	return slices.Compact(words)
}

// overlap is how many percent of all words of two lists are in both.
func overlap(a, b []string) int {
	both := 0
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return 100 * both / all
	}
	return 0
}
