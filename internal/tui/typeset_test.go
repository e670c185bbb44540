package tui

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/tools/txtar"
)

func paperText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/paper.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAPaperIsSet compares testdata/paper.md, which has all that Markdown has, with how it
// was last seen. Sequences are shown as ‹1;36›.
func TestAPaperIsSet(t *testing.T) {
	t.Parallel()
	var pages []txtar.File
	for _, width := range []int{30, 80, 120} {
		out := Markdown(paperText(t), width, Mono)
		pages = append(pages, txtar.File{Name: fmt.Sprint(width, " columns"), Data: []byte(out + "\n")})
	}
	out := Markdown(paperText(t), 80, Colour)
	out = sgr.ReplaceAllStringFunc(out, func(seq string) string { return "‹" + seq[2:len(seq)-1] + "›" })
	pages = append(pages, txtar.File{Name: "80 columns, in colour", Data: []byte(out + "\n")})
	golden(t, "paper.txtar", pages)
}

// TestNoLineIsTooLong: a line that the terminal breaks goes on where only Lyceum
// writes.
func TestNoLineIsTooLong(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"a paper":    paperText(t),
		"deep lists": staircase(11) + strings.Repeat("  ", 11) + "so deep that hardly any room is left for words",
		"deep quotes": strings.Repeat("> ", 20) + "quoted *so often* that hardly any room is left for words\n" +
			strings.Repeat("> ", 20) + "- 素数定理の初等的な証明",
		"numbers":   "999999998. a long item that must be wrapped\n1. " + strings.Repeat("x", 200),
		"wide":      strings.Repeat("素数定理、", 50) + "\n\n`" + strings.Repeat("🚀", 90) + "`\n\n    " + strings.Repeat("🇩🇪素", 60),
		"clusters":  strings.Repeat("ᄀᄀᄀᄀa", 60) + "\n\n" + strings.Repeat("क्", 200) + "\n\n    " + strings.Repeat("ᄀ", 100),
		"a table":   "| a | b | c |\n|--|:-:|--:|\n" + strings.Repeat("| 素数定理 | "+strings.Repeat("long ", 30)+"| 👍🏽👍🏽 |\n", 3),
		"columns":   "|" + strings.Repeat("column|", 30) + "\n|" + strings.Repeat("--|", 30) + "\n|" + strings.Repeat("素|", 30),
		"a monster": strings.Repeat("> ", 30) + strings.Repeat("ᄀ", 100) + strings.Repeat("word ", 100),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for width := minWidth; width < 130; width += 3 {
				for _, look := range []Look{Mono, Colour} {
					for l := range strings.SplitSeq(Markdown(text, width, look), "\n") {
						bare := ansi.Strip(l)
						// Skin tones are of no width in all that shows them.
						if w := max(ansi.StringWidth(bare), ansi.StringWidthWc(strings.ReplaceAll(bare, "🏽", ""))); w > width {
							t.Fatalf("%d cells in %d: %q", w, width, l)
						}
						if strings.HasSuffix(l, " ") {
							t.Errorf("spaces end %q", l)
						}
					}
				}
			}
		})
	}
}

// TestColourChangesNoLayout but for the marks of emphasis, of which there are none.
func TestColourChangesNoLayout(t *testing.T) {
	t.Parallel()
	text := "# A\n\nb `c` [d](http://e.example) <b>f</b>\n\n- g\n  1. h\n\n> i\n\n| j | k |\n|--:|---|\n| 素 | m |\n\n    n\n\n---"
	for _, width := range []int{20, 60} {
		if mono, colour := Markdown(text, width, Mono), ansi.Strip(Markdown(text, width, Colour)); mono != colour {
			t.Errorf("without colour it is\n%s\nand with it\n%s", mono, colour)
		}
	}
}

func TestTablesAreAligned(t *testing.T) {
	t.Parallel()
	text := "| n | 名前 | x |\n|--:|:-:|---|\n| 1 | 🚀 | `a` |\n| 100 | 素数定理 | 👍🏽 b |"
	var bars []int
	for l := range strings.SplitSeq(Markdown(text, 60, Mono), "\n") {
		before, _, ok := strings.Cut(l, "│")
		if !ok {
			continue
		}
		_, rest, _ := strings.Cut(l, "│")
		second, _, _ := strings.Cut(rest, "│")
		bars = append(bars, ansi.StringWidth(before)*100+ansi.StringWidth(second))
	}
	if want := []int{410, 410, 410}; !slices.Equal(bars, want) {
		t.Errorf("the bars stand at %d, want %d:\n%s", bars, want, Markdown(text, 60, Mono))
	}
}

func TestANarrowTableIsRecords(t *testing.T) {
	t.Parallel()
	text := "| number | name | a comment |\n|--|--|--|\n| 1 | the first of them all | |\n| 2 | second | something long |"
	want := "number: 1\nname: the first of\nthem all\n\nnumber: 2\nname: second\na comment: something\nlong"
	if got := Markdown(text, 20, Mono); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}

func TestMarksAreNoTowers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a" + strings.Repeat("&#769;", 50), "a" + strings.Repeat("*x&#769;&#769;&#769;*&#769;&#769;&#769;", 3)} {
		for _, look := range []Look{Mono, Colour} {
			if out := ansi.Strip(Markdown(text, 60, look)); strings.Contains(out, strings.Repeat("\u0301", 4)) {
				t.Errorf("there is a tower: %q", out)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                   "",
		"one two three":      "one two|three",
		"one  two":           "one  two",
		"one two   three":    "one two|three",
		"abcdefghijklmno":    "abcdefghij|klmno",
		"ab abcdefghijklmno": "ab|abcdefghij|klmno",
		"no\u00a0break here": "no\u00a0break|here",
		"素数定理の証明":            "素数定理の|証明",
		"ab素数定理の証明":          "ab素数定理|の証明",
		"素数定理、。証明":           "素数定|理、。証明",
		"素数定理（証明":            "素数定理|（証明",
		"a 🇩🇪🇩🇪🇩🇪🇩🇪🇩🇪":           "a 🇩🇪🇩🇪🇩🇪🇩🇪|🇩🇪",
		"abcdefghie\u0301 fghij": "abcdefghie\u0301|fghij",
	} {
		var p prose
		p.add(in, 0)
		if got := strings.Join(setAll(wrap(p.cells(), 10), Mono), "|"); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
