package wording

import (
	"slices"
	"strings"
	"unicode"
)

// Parts are the questions and orders that a task is made of: its sentences, cut once
// more where a comma or "and" is followed by a word that asks. A part that is about
// nothing is left out; a task of one part is itself.
func Parts(task string) (out []string) {
	var all []string
	start := 0
	runes := []rune(task)
	flush := func(end int) {
		if part := strings.TrimSpace(string(runes[start:end])); part != "" {
			all = append(all, part)
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case strings.ContainsRune("?!;。？！；，", r), r == '.' && (i+1 == len(runes) || unicode.IsSpace(runes[i+1])) && i-start > 20:
			flush(i + 1)
		case r == ',' && i+1 < len(runes) && asks(string(runes[i+1:min(i+60, len(runes))])):
			flush(i + 1)
		}
	}
	flush(len(runes))
	for _, part := range all {
		if !emptyAll(part) {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return []string{task}
	}
	return out
}

func emptyAll(part string) bool {
	return !slices.Contains(emptyIn(Words(part)), false)
}

// asks says whether a text begins with a word that asks, "and" before it or not.
func asks(text string) bool {
	for _, w := range Words(strings.ToLower(text)) {
		if w == "and" || w == "then" || w == "also" {
			continue
		}
		return askingWords[w]
	}
	return false
}

var askingWords = set(`what which who whom whose when where why how explain describe find compare check determine calculate compute estimate verify summarise summarize list name say tell show give evaluate`)
