package runtime

import (
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// TestShortenShowsBeginningAndEnd: whatever a text is made of, both are there, within their
// bounds, and what the note says is missing is what read_result shows.
func TestShortenShowsBeginningAndEnd(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"lines":           "first\n" + strings.Repeat("some words on a line\n", 2000) + "last\n",
		"no last newline": "first\n" + strings.Repeat("some words on a line\n", 2000) + "last",
		"short lines":     "first\n" + strings.Repeat("\n", 40_000) + "last",
		"one line":        "first" + strings.Repeat("x", 40_000) + "last",
		"control":         "first" + strings.Repeat("\x01", 40_000) + "last",
		"wide":            "first" + strings.Repeat("ü∀", 10_000) + "last",
	} {
		for _, max := range []int{shownHead, 2 * maxRow} {
			got := shorten(s, max, max, 17, event.Ref{})
			switch {
			case !strings.HasPrefix(got, "first") || !strings.HasSuffix(strings.TrimSuffix(got, "\n"), "last"):
				t.Errorf("%s: the beginning or the end is missing: %.80q … %q", name, got, got[len(got)-40:])
			case event.Weight(got) > 2*max+300:
				t.Errorf("%s: it takes %d bytes, want at most %d", name, event.Weight(got), 2*max+300)
			case event.Weight(got) < max && max == shownHead:
				t.Errorf("%s: only %d bytes are shown of %d", name, event.Weight(got), 2*max)
			case !utf8.ValidString(got):
				t.Errorf("%s: a character is cut in two", name)
			case !strings.Contains(got, "read_result(call: 17, from: "):
				t.Errorf("%s: the note does not say how to read on", name)
			}
		}
	}
}

// TestExcerptsAreTheWholeResult: reading on from where each excerpt says gives all of it.
func TestExcerptsAreTheWholeResult(t *testing.T) {
	t.Parallel()
	maxExcerpt := mostExcerpt(200_000)
	s := strings.Repeat("a line\n", 3000) + strings.Repeat("ü", 60_000) + "\nend"
	var whole strings.Builder
	for from := int64(1); from <= int64(len(rows(s))); {
		got, err := excerptOf(s, &quest.Excerpt{Call: 17, From: from, Lines: 500}, maxExcerpt)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(got, "]\n")
		whole.WriteString(text)
		if len(text) > maxExcerpt {
			t.Fatalf("an excerpt has %d bytes, want at most %d", len(text), maxExcerpt)
		}
		from += int64(len(rows(text)))
	}
	if whole.String() != s {
		t.Errorf("the excerpts have %d bytes together, want the %d of the result", whole.Len(), len(s))
	}
	if got, err := excerptOf(s, &quest.Excerpt{From: -1, Lines: 5}, maxExcerpt); err != nil || !strings.HasSuffix(got, "]\nend") {
		t.Errorf("the last line: got %q, %v, want end", got, err)
	}
	if _, err := excerptOf(s, &quest.Excerpt{From: 1 << 40, Lines: 5}, maxExcerpt); err == nil {
		t.Error("a line beyond the end: got no error, want one")
	}
}
