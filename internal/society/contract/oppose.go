package contract

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/wording"
)

// Whether a claim says the opposite of its source cannot be known from words alone, but
// words can show it: the same sentence with a "not" in one of them, or with the other one
// of two words that exclude each other. Other numbers and units are found as missing.

// alike is which share of a claim's words, in hundredths, a sentence must have to be the
// one that the claim is about.
const alike = 70

// opposite says how a claim says the opposite of the sentence of its sources that is most
// like it, nothing if it does not. Where another sentence that is as much like it says
// the same as the claim, the sources are of two minds, and the claim is one of them.
func opposite(claim string, sources []string) string {
	for _, sentence := range sentences(claim) {
		if why := turnedRound(sentence, sources); why != "" {
			return why
		}
	}
	return ""
}

func turnedRound(claim string, sources []string) string {
	said := contentOf(claim)
	if len(said) < 2 {
		return ""
	}
	best, why := 0, ""
	for _, text := range sources {
		for _, u := range unitsOf(text) {
			have := wording.Stems(u.text)
			shared := 0
			for _, w := range said {
				if slices.Contains(have, w) || slices.Contains(have, opposites[w]) && opposites[w] != "" {
					shared++
				}
			}
			if shared*100 < alike*len(said) || shared < best {
				continue
			}
			differs := turned(claim, u.text)
			if shared > best || differs == "" {
				best, why = shared, differs
			}
		}
	}
	return why
}

// turned says what makes one sentence say the opposite of another that is much like it.
// Two such things cancel each other.
func turned(claim, source string) string {
	var why []string
	no, yes := negations(claim), negations(source)
	switch {
	case no%2 == 1 && yes%2 == 0:
		why = append(why, "it denies what the source says")
	case no%2 == 0 && yes%2 == 1:
		why = append(why, "it says what the source denies")
	}
	mine, theirs := wording.Stems(claim), wording.Stems(source)
	for _, w := range mine {
		if o := opposites[w]; o != "" && slices.Contains(theirs, o) && !slices.Contains(theirs, w) && !slices.Contains(mine, o) {
			why = append(why, fmt.Sprintf("it says %q where the source says %q", w, o))
			break
		}
	}
	if len(why) != 1 {
		return ""
	}
	return fmt.Sprintf("%s: %s", why[0], quote(shortly(source)))
}

func shortly(s string) string {
	if runes := []rune(s); len(runes) > 160 {
		return string(runes[:160]) + "…"
	}
	return s
}

// negations counts the words of a sentence that turn it round.
func negations(text string) (n int) {
	for _, w := range wording.Words(strings.ToLower(strings.ReplaceAll(text, "’", "'"))) {
		if negating[w] || strings.HasSuffix(w, "n't") {
			n++
		}
	}
	return n
}

var negating = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range []string{"not", "no", "never", "cannot", "nobody", "none", "nothing", "nor", "neither", "without"} {
		m[w] = true
	}
	return m
}()

// contentOf are the stems of a text's words that say something, each once; those that turn
// it round are not among them.
func contentOf(text string) (out []string) {
	for _, t := range wording.Terms(text) {
		if s := wording.Stem(t.Word); !negating[t.Word] && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// opposites are stems of words that exclude each other, both ways.
var opposites = func() map[string]string {
	m := map[string]string{}
	for _, p := range [][2]string{
		{"allowed", "forbidden"}, {"increase", "decrease"}, {"higher", "lower"}, {"highest", "lowest"}, {"more", "less"}, {"above", "below"},
		{"maximum", "minimum"}, {"before", "after"}, {"open", "closed"}, {"true", "false"}, {"possible", "impossible"}, {"safe", "unsafe"},
		{"faster", "slower"}, {"accept", "reject"}, {"positive", "negative"}, {"rise", "fall"}, {"rises", "falls"}, {"longer", "shorter"},
	} {
		a, b := wording.Stem(p[0]), wording.Stem(p[1])
		m[a], m[b] = b, a
	}
	return m
}()
