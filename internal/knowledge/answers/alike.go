package answers

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/event"

	"golang.org/x/text/unicode/norm"
)

// Alike reports whether two questions ask the same by their words: what is left of them when
// the words that say nothing are taken away is the same, in the same order. So numbers,
// negations and names are equal, and who does what to whom. Vectors alone do not see any of
// that: what causes something and what prevents it point almost the same way.
func Alike(a, b string) bool { return sum(a) == sum(b) }

// sum is the same for questions that are alike.
func sum(text string) event.Hash {
	var all []string
	for _, w := range core(text) {
		all = append(all, plainly(w)...)
	}
	return event.HashOf([]byte(strings.Join(all, " "))) // there is no space in a word
}

// Counting are the words of a question that count, as they are written: what vectors are made
// of. A greeting would turn the vector of a short question elsewhere.
func Counting(text string) string { return strings.Join(core(text), " ") }

// core are the words of a question that count. How a name is written counts: May is not may.
// Only the first word of a sentence has its capital letter for nothing.
func core(text string) (out []string) {
	fields := strings.Fields(norm.NFC.String(strings.ReplaceAll(text, "’", "'")))
	begins := true
	for i, f := range fields {
		w := bare(f)
		if w == "" {
			continue
		}
		if begins && capitalised(w) {
			w = strings.ToLower(w)
		}
		last := i == len(fields)-1
		if silent[w] && !(last && w == "a") || asks[w] && !last && bare(fields[i+1]) == "you" {
			continue // and the next one still begins the sentence
		}
		begins = strings.ContainsRune(".?!:", rune(f[len(f)-1]))
		out = append(out, w)
	}
	return out
}

// bare is a word without the marks around it. The mark of a factorial stays.
func bare(f string) string {
	w := strings.TrimLeft(f, "\"'“‘«")
	end := strings.TrimRight(w, "\"'”’».,?!;:…")
	if rest := w[len(end):]; strings.HasPrefix(rest, "!") && end != "" {
		if r, _ := utf8.DecodeLastRuneInString(end); unicode.IsDigit(r) || r == ')' || utf8.RuneCountInString(end) == 1 {
			return end + "!"
		}
	}
	return end
}

// capitalised reports whether a word has one capital letter, at its beginning.
func capitalised(w string) bool {
	r, n := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(r) && !strings.ContainsFunc(w[n:], unicode.IsUpper)
}

// plainly are the words that a word stands for: contractions are written out, thousands
// without commas, and words that cannot mean anything else in one spelling.
func plainly(w string) []string {
	if s, ok := same[w]; ok {
		return strings.Fields(s)
	}
	if s, ok := strings.CutSuffix(w, "n't"); ok {
		return []string{s, "not"}
	}
	if thousands.MatchString(w) {
		return []string{strings.ReplaceAll(w, ",", "")}
	}
	return []string{w}
}

var thousands = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)

// silent words say nothing in a question; asks do so before you.
var (
	silent = words("a an the please kindly thanks thank hello hi hey dear you me tell")
	asks   = words("can could would will")
)

// same are words that are written in several ways, or ask alike.
var same = map[string]string{
	"can't": "can not", "cannot": "can not", "won't": "will not", "what's": "what is", "who's": "who is", "where's": "where is", "how's": "how is",
	"which": "what", "describe": "explain", "purchase": "buy", "summarise": "summarize", "colour": "color",
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
