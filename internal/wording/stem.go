package wording

import (
	"slices"
	"strings"
)

// Stem takes the endings off an English word in lower case, so that its forms are one:
// weigh, weighs, weighed, weighing. It is careful rather than thorough: words that it
// leaves apart are found by their letters, words that it threw together would be taken
// for each other.
func Stem(w string) string {
	if irregular[w] != "" {
		return irregular[w]
	}
	if len(w) < 4 || strings.ContainsAny(w, "0123456789.,_") {
		return w
	}
	w = strings.TrimSuffix(w, "'s")
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"), strings.HasSuffix(w, "oes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	switch {
	case strings.HasSuffix(w, "ied") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ing") && len(w) > 5 && vowel(w[:len(w)-3]):
		w = undouble(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && len(w) > 4 && vowel(w[:len(w)-2]) && !strings.HasSuffix(w, "eed"):
		w = undouble(w[:len(w)-2])
	}
	if len(w) > 4 { // range, ranged, ranging
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

func vowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble makes one letter of the two that an ending doubles: stopped, but not called.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsAny(w[n-1:], "lszaeiou") {
		return w[:n-1]
	}
	return w
}

// irregular are forms that no ending tells.
var irregular = pairs(`
ran run; went go; gone go; made make; kept keep; held hold; built build; gave give; given give; took take; taken take; found find;
sold sell; bought buy; paid pay; left leave; led lead; lost lose; sent send; wrote write; written write; began begin; begun begin;
grew grow; grown grow; knew know; known know; saw see; seen see; came come; became become; brought bring; thought think; taught teach;
told tell; said say; met meet; fell fall; fallen fall; rose rise; risen rise; broke break; broken break; chose choose; chosen choose;
drew draw; drawn draw; froze freeze; frozen freeze; stood stand; spoke speak; spoken speak; worn wear; wore wear; fled flee; died die;
dies die; dying die; lying lie; lay lie; men man; women woman; children child; feet foot; people person; persons person; mice mouse; teeth tooth; leaves leaf;
halves half; lives live; wolves wolf; better good; best good; worse bad; worst bad; lent lend; fed feed; burnt burn; hidden hide; hid hide;
felt feel; shown show; used use; uses use; using use; goes go; does do; did do; done do; has have; had have; is be; are be; was be; were be; been be`)

func pairs(text string) map[string]string {
	m := map[string]string{}
	for pair := range strings.SplitSeq(text, ";") {
		w := strings.Fields(pair)
		m[w[0]] = w[1]
	}
	return m
}

// Forms are the forms that a word may stand in besides its own.
func Forms(w string) (out []string) {
	stem := Stem(w)
	seen := map[string]bool{w: true}
	add := func(f string) {
		if !seen[f] && len(f) > 1 && Stem(f) == stem {
			seen[f] = true
			out = append(out, f)
		}
	}
	bases := []string{stem, stem + "e", w}
	if n := len(stem); n > 0 {
		bases = append(bases, stem+stem[n-1:])
	}
	for _, base := range bases {
		for _, end := range []string{"", "s", "es", "d", "ed", "ing"} {
			add(base + end)
		}
		if y, ok := strings.CutSuffix(base, "y"); ok {
			add(y + "ies")
			add(y + "ied")
		}
	}
	for _, form := range irregularForms[stem] {
		add(form)
	}
	return out
}

var irregularForms = func() map[string][]string {
	m := map[string][]string{}
	for form, stem := range irregular {
		m[stem] = append(m[stem], form)
	}
	for _, list := range m {
		slices.Sort(list)
	}
	return m
}()
