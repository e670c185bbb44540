package tui

import (
	"strings"
	"testing"
)

func TestBesidePutsTextsIntoColumns(t *testing.T) {
	t.Parallel()
	three := []string{"one two", "three\nfour", "five"}
	if got, want := Beside(three, 87), "one two                       three                         five\n                              four\n"; got != want {
		t.Errorf("three texts at 87: got\n%q, want\n%q", got, want)
	}
	if got, want := Beside(three, 24), "one two\n\nthree\nfour\n\nfive\n"; got != want {
		t.Errorf("three texts at 24: got %q, want them below each other: %q", got, want)
	}
	for line := range strings.Lines(Beside([]string{strings.Repeat("word ", 40), strings.Repeat("x", 100)}, 60)) {
		if len(strings.TrimRight(line, "\n")) > 60 {
			t.Errorf("a line is wider than 60: %q", line)
		}
	}
}
