package tui

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"

	"github.com/charmbracelet/x/ansi"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// hostilePapers are what agents might write to get at the terminal of a reader.
var hostilePapers = map[string]string{
	"escapes":           evil,
	"in a heading":      "# A " + evil,
	"in code":           "`" + evil + "`\n\n```sh\n" + evil + "\n```\n\n    " + evil,
	"in a language":     "```\x1b]52;c;aGk=\a\nx\n```\n\n```py&#27;[31m\nx = 1\n```",
	"in a table":        "| a | b |\n|---|---|\n| &#27;[2J | " + strings.ReplaceAll(evil, "\n", "") + " |\n| [x&#x1b;](http://e&#27;.x) | y |",
	"as entities":       "&#27;[2J &#x1b;]0;t&#7; &#x202e;rev &#x9b;31m &ZeroWidthSpace; &lrm; &#0; &#155;2J",
	"wrapped once":      "&amp;#27;[31mred &amp;#x1b;[2J",
	"wrapped twice":     "&amp;amp;#27;[31mred &#38;#27;[31m &#x26;amp;#27;[31m",
	"behind a slash":    `&\#27;[31m \&#27;[31m &#2\7;[31m &amp\;#27;[31m`,
	"without semicolon": "&#27[31m &amp#27;[31m &#38#27;[31m",
	"in links":          "[click](http://good.example/\x1b[2J) [t](http://x/&#27;[2J \"ti&#27;tle\") <http://auto&#27;.example/\u202e> ![img&#27;[2J](file:///etc/passwd&#7;)",
	"split by emphasis": "&*#27;*[31m &**#**27;[31m &<b>#27;</b>",
	"in references":     "[a][b&#27;]\n\n[b&#27;]: http://x/&#27;]8;;http://evil.example&#7; 'x&#27;[31m'",
	"in html":           "<b>\x1b[31m</b> <!-- &#27;[2J --> <script>alert(1)</script>\n\n<div>\n&#27;[2J\n</div>",
	"in tasks":          "- [ ] &#27;[2J\n- [x] \x1b[2J\n\n1. &#27;c",
}

func TestNothingOfAPaperIsObeyed(t *testing.T) {
	t.Parallel()
	for name, text := range hostilePapers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, width := range []int{20, 58, 100} {
				harmless(t, Markdown(text, width, Colour))
				if out := Markdown(text, width, Mono); strings.Contains(out, "\x1b") {
					t.Errorf("without colour there are sequences: %q", out)
				}
				if out := Markdown(text, width, Plain); strings.Contains(out, "\x1b") {
					t.Errorf("plain text has sequences: %q", out)
				}
				harmless(t, Markdown(text, width, Plain))
			}
		})
	}
}

// TestTypesettingDependsOnNobody: should some form of escape get through Clean and
// disarm, it still does not reach the page.
func TestTypesettingDependsOnNobody(t *testing.T) {
	t.Parallel()
	for name, text := range hostilePapers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := typeset(text, 60, Mono)
			if err != nil || strings.Contains(out, "\x1b") {
				t.Errorf("without colour there are sequences: %q, %v", out, err)
			}
			harmless(t, out)
			// The sequences with colour are those that faces have.
			out, err = typeset(text, 60, Colour)
			if err != nil {
				t.Error(err)
			}
			harmless(t, out)
			ours := map[string]bool{ansi.ResetStyle: true}
			for f := range 256 {
				ours[face(f).style().String()] = true
			}
			for _, seq := range sgr.FindAllString(out, -1) {
				if !ours[seq] {
					t.Errorf("%q is not ours", seq)
				}
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
		not  []string
	}{
		"LinksShowTheirTargets":    {"See [the bank](https://evil.example/x).", []string{"the bank", "https://evil.example/x"}, nil},
		"ImagesAreText":            {"![a chart](https://evil.example/pixel.png)", []string{"a chart", "https://evil.example/pixel.png"}, nil},
		"HTMLIsText":               {"Some <b>bold</b> and\n\n<div onclick=\"x\">\nin a *block*\n</div>\n\n<!-- a comment -->", []string{"<b>bold</b>", `<div onclick="x">`, "</div>", "<!-- a comment -->"}, nil},
		"CodeKeepsItsTags":         {"`a < b <i>` and\n\n```html\n<p>x &lt; y</p>\n```", []string{"a < b <i>", "<p>x &lt; y</p>"}, nil},
		"AutolinksAreText":         {"<https://evil.example>", []string{"https://evil.example"}, nil},
		"EntitiesAreWhatTheyMean":  {"a &amp; b &lt; c &copy; d", []string{"a & b < c © d"}, nil},
		"TablesStayTables":         {"| a | b |\n|---|---|\n| 1 | 素数 |", []string{"a", "素数"}, []string{"|---|"}},
		"EntitiesEndWithTheirName": {`a &copy b \&amp; c &#65; d &nosuch; &`, []string{"a &copy b &amp; c A d &nosuch; &"}, nil},
		"BackslashesEscape":        {`a\*b\* \[c\] \d`, []string{`a*b* [c] \d`}, nil},
		"ALinkToItselfIsShownOnce": {"[http://a.example](http://a.example)!", []string{"http://a.example!"}, nil},
		"ALinkCannotLie":           {"[http://a.example](http://b.example)", []string{"http://a.example (http://b.example)"}, nil},
		"ReferencesShowTargets":    {"A [b][c].\n\n[c]: http://d.example", []string{"A b (http://d.example)."}, nil},
		"BreaksAreKept":            {"a\\\nb  \nc\nd", []string{"a\nb\nc d"}, nil},
		"NumbersAreThoseWritten":   {"9. a\n10. b", []string{" 9. a\n10. b"}, nil},
		"TasksAreTasks":            {"- [ ] a\n- [x] b", []string{"[ ] a\n[x] b"}, nil},
		"AnEntityIsNoLine":         {"| a&#10;b |\n|---|", []string{"a b"}, nil},
		"EmptyItemsAreThere":       {"- a\n-\n- b", []string{"• a\n•\n• b"}, nil},
		"CodeThatIsNoneInTheEnd":   {"<!-- x -->\n    <b>y</b>", []string{"<!-- x -->", "<b>y</b>"}, nil},
		"AnEscapeSpoilsNoMore":     {"- b &#27;[31m &amp;#27;[31m", []string{"• b \uFFFD[31m \uFFFD[31m"}, nil},
		"CitationsStay":            {"As shown in [a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4].", []string{"[a1b2c3d4a1b2c3d4a1b2c3d4a1b2c3d4]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, look := range []Look{Mono, Colour} {
				out := ansi.Strip(Markdown(c.text, 80, look))
				for _, want := range c.want {
					if !strings.Contains(out, want) {
						t.Errorf("there is no %q in:\n%s", want, out)
					}
				}
				for _, not := range c.not {
					if strings.Contains(out, not) {
						t.Errorf("there is %q in:\n%s", not, out)
					}
				}
			}
		})
	}
	if out := Markdown("# A *b*", 80, Plain); out != "# A *b*" {
		t.Errorf("plain Markdown is %q", out)
	}
}

// TestMonstersAreShownSoon: a text can be made so that setting it takes for ever.
func TestMonstersAreShownSoon(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"quotes":     strings.Repeat("> ", 20_000) + "x",
		"lists":      strings.Repeat("- ", 20_000) + "x",
		"brackets":   strings.Repeat("[", 50_000),
		"links":      strings.Repeat("[a](", 20_000),
		"stars":      strings.Repeat("*a **b ", 10_000),
		"ticks":      strings.Repeat("` `` ", 10_000),
		"tags":       strings.Repeat("<a ", 50_000),
		"long":       strings.Repeat("word *word* ", 100_000),
		"a line":     strings.Repeat("x", 200_000),
		"blanks":     strings.Repeat("- ", 60_000) + "x" + strings.Repeat("\n", 60_000),
		"indents":    staircase(500) + strings.Repeat("\n", 100_000),
		"wrapped":    "&" + strings.Repeat("amp;", 50_000),
		"long names": "&" + strings.Repeat("amp", 50_000) + ";",
		"references": "[a]: http://" + strings.Repeat("x", 100_000) + "\n\n" + strings.Repeat("[a] ", 900),
		"many rows":  "|" + strings.Repeat("a|", 20_000) + "\n|" + strings.Repeat("-|", 20_000) + strings.Repeat("\nx", 50_000),
		"long heads": "|" + strings.Repeat(strings.Repeat("h", 1000)+"|", 60) + "\n|" + strings.Repeat("-|", 60) + strings.Repeat("\n"+strings.Repeat("|b", 60), 150),
		"pipes":      "|a|\n|-|\n" + strings.Repeat("|`\\|`\n", 9_000),
		"escapes":    strings.Repeat(`\*a`, 80_000),
		"entities":   strings.Repeat("&", 100_000) + strings.Repeat("&lt;", 30_000),
		"jamo":       strings.Repeat("ᄀ", 80_000),
		"fences":     strings.Repeat("`", 100_000) + "\n" + strings.Repeat("~~~\n", 20_000),
		"comments":   strings.Repeat("<!-- <? <![CDATA[ ", 14_000),
		"underlines": strings.Repeat("_a*", 80_000),
		"strikes":    strings.Repeat("~a~~", 60_000),
		"closers":    strings.Repeat("[a", 40_000) + strings.Repeat("]", 80_000),
		"cells":      "|" + strings.Repeat("a|", 3_000) + "\n|" + strings.Repeat("-|", 3_000) + "\n" + strings.Repeat("|"+strings.Repeat("b|", 100)+"\n", 20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			out := Markdown(text, 80, Colour)
			// Alone each takes well under a second; a machine that does other things besides is no fault.
			if took := time.Since(begin); took > 2*time.Minute {
				t.Errorf("it took %s to set %d bytes", took, len(text))
			}
			harmless(t, out)
		})
	}
}

// staircase is a list in a list, and so on.
func staircase(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

func TestADocument(t *testing.T) {
	t.Parallel()
	lib := &paper.Library{Votes: map[string]string{"agent-2": ref(0), "agent-1": ref(0), "agent-0": ref(1)}}
	p := newPaper(0)
	p.Attachments, p.Entrypoint, p.Cites = []string{"run.sh", "data.csv"}, "run.sh", []string{ref(2)}
	p.Content.Text = "── Review by agent-9: ACCEPT\n\nStatus: PUBLISHED\n\n" + evil
	p.Reviews[2].Content.Text = "No: " + evil
	p.Requests = []paper.Request{{Reviewer: "agent-5", State: paper.Expired}, {Reviewer: "agent-6", State: paper.Open}}
	citing, own := newPaper(4), newPaper(8)
	citing.Author, own.Author = "agent-7", p.Author
	citing.Cites, own.Cites = []string{p.Ref}, []string{p.Ref}
	unheard := newPaper(2) // not published, so it does not count
	unheard.Cites = []string{p.Ref}
	lib.Papers = []*paper.Paper{p, newPaper(1), unheard, citing, own}
	p.Claims, p.Reproduction = []string{"168", "42"}, &event.ReproductionResult{Status: event.SameOutput, Printed: "168\n\x1b[2J", Missing: []string{"42"}}
	p.Reviews[0].Confidence, p.Reviews[0].Ran = 4, "run.sh, twice"
	d := NewDocument(lib, p, "/home/quests/primes")
	if err := d.Load(func(t event.Text) (string, error) { return t.Text, nil }); err != nil {
		t.Fatal(err)
	}
	for _, look := range []Look{Plain, Mono, Colour} {
		out := d.Render(80, look)
		harmless(t, out)
		text := ansi.Strip(out)
		for _, want := range []string{
			p.Title, "PUBLISHED · " + p.Ref + "\nby agent-0 · ", "reproduction  same output twice: run.sh", "2 (agent-1, agent-2)",
			"claims        168, 42", "printed       168", "NOT printed   42", "confidence    4 of 5", "checked, ran  run.sh, twice",
			"cites         " + ref(2), "cited by      " + ref(4), "by itself     " + ref(8),
			"── Review by agent-1: ACCEPT\n", "── Review by agent-1: REJECT\n", "── Review by agent-5: expired", "── Review by agent-6: not there yet", "│ Well done.", "│ No: ",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in:\n%s", want, text)
			}
		}
		if look == Plain && !strings.Contains(text, "attachment    /home/quests/primes/publications/"+p.Ref+"/data.csv\n") {
			t.Errorf("the attachment's path is not there:\n%s", text)
		}
		// What the paper says about itself stands behind a bar.
		if strings.Count(text, "\n── Review by agent-9") != 0 || strings.Count(text, "│ ── Review by agent-9: ACCEPT") != 1 {
			t.Errorf("a paper has forged a review:\n%s", text)
		}
		if look == Mono && strings.Contains(out, "\x1b[3") {
			t.Errorf("there is colour in:\n%q", out)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\tb":                            "a    b",
		"a\r\nb":                          "a\nb",
		"\x1b[2J":                         "\uFFFD[2J",
		"\xff\xfe":                        "\uFFFD\uFFFD",
		"素数 é e\u0301":                    "素数 é e\u0301",
		"\u202eabc":                       "\uFFFDabc",
		"a\u0301\u0301\u0301\u0301\u0301": "a\u0301\u0301\u0301",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
