package study_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

const referee = `Reviewer 2

The paper compares three forecasts.

Major comments
1. The “test months” were also used
   to choose the window.
2) No error bars are given — how sure is the ranking?

Minor comments
(3) Table 1 has no units.
Point 4: The word *season* is used in two senses.
   a) in the abstract

References
1. Somebody, 1987.
`

func TestPointsThatAReportLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"Numbered":      {referee, []string{"1. The “test", "2) No error", "(3) Table", "Point 4: The word"}},
		"ByReviewer":    {"R1.1: Too short a series.\n\nR1.2: And noisy.\n", []string{"R1.1: Too", "R1.2: And"}},
		"Bold":          {"**1.** One thing.\n**Comment 2:** Another.", []string{"**1.** One", "**Comment 2:** A"}},
		"Bullets":       {"Weaknesses\n- One.\n- Two,\n  goes on.\n\nSummary\n- Not this.\n", []string{"- One.", "- Two,"}},
		"Prose":         {"I liked it in 1987. It has 3 parts.", nil},
		"AYearIsNone":   {"1987. It was then.\n", nil},
		"NumbersBefore": {"- a bullet\n1. a number\n", []string{"1. a number"}},
		"AHeading":      {"1. One.\n## 2. Section\nNot of one.\n", []string{"1. One."}},
		"Nothing":       {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ReportItems(c.text)
			if len(got) != len(c.want) {
				t.Fatalf("got %d points %q, want %q", len(got), got, c.want)
			}
			for i, w := range c.want {
				if !strings.HasPrefix(got[i], w) {
					t.Errorf("point %d is %q, want one that begins %q", i, got[i], w)
				}
			}
		})
	}
}

func TestAReportIsReadAgainstPoints(t *testing.T) {
	t.Parallel()
	whole := []string{"the \"TEST months\" were also used to choose", "no error bars are given - how", "Table 1 has no units", "word season is used"}
	for name, c := range map[string]struct {
		quotes []string
		absent string
		left   []string
	}{
		"AllOfIt":         {whole, "[]", nil},
		"InventedWords":   {append(whole[:4:4], "the paper is excellent"), "[5]", nil},
		"OneLeftOut":      {whole[:3], "[]", []string{"Point 4: The word *season* is used in two senses. a) in the abstract"}},
		"NoneOfTheListed": {[]string{"compares three forecasts"}, "[]", []string{"1. The “test months” were also used to choose the window.", "2) No error", "(3) Table", "Point 4"}},
		"OneTwice":        {[]string{whole[0], whole[0], whole[1], whole[2]}, "[]", []string{"Point 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &event.ReportCall{Points: 1, Source: "r.md"}
			for _, q := range c.quotes {
				b.Quotes = append(b.Quotes, event.ReportQuote{Point: 1, Text: q})
			}
			r := CompareReport(referee, b)
			if got := fmt.Sprint(r.Absent); got != c.absent || r.Items != 4 || len(r.Left) != len(c.left) || r.More != 0 {
				t.Fatalf("got %+v, want %s absent and %d left of 4", r, c.absent, len(c.left))
			}
			for i, w := range c.left {
				if !strings.HasPrefix(r.Left[i], w) {
					t.Errorf("left is %q, want %q", r.Left[i], w)
				}
			}
		})
	}
	// Two points in the same words are two.
	same := CompareReport("1. Please clarify this.\n2. Please clarify this.\n", &event.ReportCall{Points: 1, Quotes: []event.ReportQuote{{Point: 1, Text: "please clarify"}}})
	if len(same.Left) != 1 || !strings.HasPrefix(same.Left[0], "2.") {
		t.Errorf("of two points in the same words one was quoted: left is %q, want the second", same.Left)
	}
	// What is left is named up to a number, and fits into an event.
	many := CompareReport(strings.Repeat("1. "+strings.Repeat("long words ", 100)+"\n", 700), &event.ReportCall{})
	if len(many.Left) != 12 || many.Items != 500 || many.More != 488 || len(strings.Join(many.Left, "")) > 12*130 {
		t.Errorf("of a long report %d are named, %d more of %d", len(many.Left), many.More, many.Items)
	}
}

func TestWhatCannotBeComparedWithAReport(t *testing.T) {
	t.Parallel()
	ok := func() *event.ReportCall {
		return &event.ReportCall{Points: 1, Source: "r.md", Quotes: []event.ReportQuote{{Point: 1, Text: "eight or more"}}}
	}
	if err := MayCompare(ok()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*event.ReportCall){
		"quotes nothing": func(b *event.ReportCall) { b.Points = 2 },
		"a quote has":    func(b *event.ReportCall) { b.Quotes[0].Text = " short\n\n\n" },
		"8 to 200":       func(b *event.ReportCall) { b.Quotes[0].Text = strings.Repeat("x", 201) },
		"no point 2":     func(b *event.ReportCall) { b.Quotes[0].Point = 2 },
		"no point 0":     func(b *event.ReportCall) { b.Quotes[0].Point = 0 },
		"is no file":     func(b *event.ReportCall) { b.Source = "../r.md" },
		"at most 48":     func(b *event.ReportCall) { b.Quotes = make([]event.ReportQuote, 49) },
		"at most 12":     func(b *event.ReportCall) { b.Points = 13 },
	} {
		b := ok()
		change(b)
		if err := MayCompare(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
