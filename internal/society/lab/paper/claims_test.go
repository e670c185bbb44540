package paper_test

import (
	"strings"
	"testing"

	"lyceum/internal/society/lab/paper"

	"github.com/google/go-cmp/cmp"
)

func TestAbstract(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		text, want string
		numbers    []string
	}{
		"FirstParagraph":   {"It is 42,\nor 4.2e1.\n\nSee 7.", "It is 42, or 4.2e1.", []string{"42", "4.2e1"}},
		"AfterHeadings":    {"# Paper 3\n\nTitle 4\n=======\n\nIt is 42.", "It is 42.", []string{"42"}},
		"HeadingAndText":   {"## Result\nIt is 42.\n## Proof\n9", "It is 42.", []string{"42"}},
		"AfterCode":        {"```\n1\n```\n\nIt is 42.", "It is 42.", []string{"42"}},
		"EndsAtCode":       {"It is 42:\n```\n1\n```", "It is 42:", []string{"42"}},
		"NoReferences":     {"As [11111111111111111111111111111111] says, 42.", "As [11111111111111111111111111111111] says, 42.", []string{"42"}},
		"EachOnce":         {"42 and 42 and 12,160.", "42 and 42 and 12,160.", []string{"42", "12,160"}},
		"Nothing":          {"\n\n", "", nil},
		"OnlyCode":         {"```\n42", "", nil},
		"WithWindowsLines": {"a 1\r\nb\r\n\r\nc", "a 1 b", []string{"1"}},
	} {
		got, numbers := paper.Abstract(x.text)
		if got != x.want {
			t.Errorf("%s: got %q, want %q", name, got, x.want)
		}
		if diff := cmp.Diff(x.numbers, numbers); diff != "" {
			t.Errorf("the numbers of %s differ (-want +got):\n%s", name, diff)
		}
	}
	if got, _ := paper.Abstract(strings.Repeat("long ", 1000)); len(got) > 700 {
		t.Errorf("a long abstract has %d bytes, want it cut", len(got))
	}
}

func TestUnshown(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ claims, output, want string }{
		"There":              {"42", "the answer: 42\n", ""},
		"NotThere":           {"42|43", "42\n", "43"},
		"PartOfANumber":      {"42", "142 420 4.2", "42"},
		"OtherSpelling":      {"12,160|1.5e3", "12160 1500", ""},
		"Rounded":            {"8.314", "8.314462618", ""},
		"NotRoundedSo":       {"8.315", "8.314462618", "8.315"},
		"Unit":               {"35.09 kJ/mol", "35094 J/mol", ""},
		"OtherUnit":          {"35.09 kJ/mol", "35.09 J/mol", "35.09 kJ/mol"},
		"Words":              {"Blue Whale|whal", "it is the blue\nwhale.", "whal"},
		"NothingPrinted":     {"42|yes", "", "42|yes"},
		"AllNumbersOfAClaim": {"between 3 and 5", "3 and 4", "between 3 and 5"},
	} {
		if got := strings.Join(paper.Unshown(strings.Split(x.claims, "|"), x.output), "|"); got != x.want {
			t.Errorf("%s: got %q, want %q", name, got, x.want)
		}
	}
}

func TestBracketsThatCiteNothingAreToldOf(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ text, cited, loose string }{
		"Semicolons":    {"[A; B] [A;{C}]", "A B C", ""},
		"WordsBefore":   {"[see A] [cf. B, and C] [see also: {A}]", "A B C", ""},
		"FootnoteByRef": {"x[^A] y[^1]", "A", ""},
		"Footnotes":     {"x[^1] y[^2]\n\n[^1]: A, by us.\n[^2]: See [B]; (C).\n", "A B C", ""},
		"NoFootnotes":   {"[^1]: `A` and https://x/A and A0\n", "", ""},
		"Loose":         {"[1] [Smith 2020] [x] [ ] ![pic] [link](y) `[code]` [1]", "", "1|Smith 2020"},
		"Escaped":       {`\[A\] [B]`, "B", ""},
	} {
		cited, loose := paper.Brackets(short.Replace(x.text))
		if got := strings.Join(cited, " "); got != short.Replace(x.cited) {
			t.Errorf("%s cites %q, want %q", name, got, short.Replace(x.cited))
		}
		if got := strings.Join(loose, "|"); got != x.loose {
			t.Errorf("%s has in brackets besides %q, want %q", name, got, x.loose)
		}
	}
}
