package bundle_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/bundle"
)

var look = flag.String("look", "", "write the bundle of TestABundle into this folder")

const drawing = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300" font-family="sans-serif" font-size="13" fill="#222">
<rect x="150" y="20" width="420" height="40" fill="#000"/><text x="140" y="45" text-anchor="end">last value</text><text x="578" y="45">12.41</text>
<rect x="150" y="80" width="330" height="40" fill="#D55E00"/><text x="140" y="105" text-anchor="end">mean of a year</text><text x="488" y="105">9.70</text>
<rect x="150" y="140" width="130" height="40" fill="#0072B2"/><text x="140" y="165" text-anchor="end">season</text><text x="288" y="165">3.80</text>
<text x="150" y="215">mean absolute error, visitors (lower is better)</text>
</svg>
`

const text = `# Forecasting visitors

## Question

How well is the next month forecast [@hyndman2021, p. 3; @box1970]? The baseline is the value of
the month before ([result-1]), with an error of 12.41 visitors. See [@fig:errors].

## Results

The same month a year before has an error of **3.80** [result-3]; the mean of a year, 9.7, lost [result-2].

| way            | error | months |
|:---------------|------:|:------:|
| last value     | 12.41 |   36   |
| mean of a year | 9.70  |   36   |
| season         | 3.80  |   36   |

![Errors](figures/errors.svg)

> What one hopes for is 42.5 times less.

1. Run ` + "`sh evaluate.sh`" + `.
2. Compare.

` + "```sh\nsh evaluate.sh --seed 77\n```" + `

## Limits

One series, of one place. <script>alert(1)</script> [a link](javascript:alert(2)) [the data](https://example.org/a_b?x=1&y=2#z)
`

const bib = `@comment{nothing}
@book{hyndman2021, author = {Hyndman, Rob J. and Athanasopoulos, George}, title = "Forecasting: {P}rinciples and Practice", publisher={OTexts}, year = 2021, url = {https://otexts.com/fpp3/}}
@article{box1970,
  author = {B{\"o}x, G. E. P. and others}, title = {Time \textbf{Series} \input{/etc/passwd}}, journal = {J. Stat.}, volume = {3}, pages = {1--9}, year = {1970},
}
`

func sample() bundle.Source {
	output := func(id, title, verdict, value, printed string) bundle.Output {
		ref := event.RefOf([]byte(printed))
		return bundle.Output{Text: printed, BundleOutput: event.BundleOutput{
			Result: id, Title: title, Verdict: verdict, Output: &ref, Metrics: []event.Metric{{Name: "mae", Unit: "visitors", Direction: "lower", Value: value}},
		}}
	}
	return bundle.Source{
		Title: "Forecasting visitors", Markdown: []byte(text), Bibliography: []byte(bib),
		Claims: []event.OutlineClaim{{ID: "season", Text: "The same month a year before forecasts better than the month before.", Results: []string{"result-1", "result-3"}}},
		Outputs: []bundle.Output{
			output("result-1", "Forecast by the value of the month before", "verified", "12.4100", "metric mae 12.4100\nmetric months 36\n"),
			output("result-2", "Forecast by the mean of the twelve months before", "verified", "9.7000", "metric mae 9.7000\nmetric months 36\n"),
			output("result-3", "Forecast by the same month a year before", "verified", "3.8000", "metric mae 3.7998\nmetric months 36\n"),
		},
		Figures: []bundle.Figure{{
			BundleFigure: event.BundleFigure{ID: "errors", Caption: "Mean absolute error of three ways to forecast, on the last 36 months.", Program: "figure.sh", Output: "errors.svg", Data: []string{"errors.csv"}},
			Data:         []byte(drawing), Verdict: bundle.Same,
		}},
	}
}

func made(t *testing.T, s bundle.Source) (*bundle.Paper, func(name string) string) {
	t.Helper()
	p, err := bundle.Make(s)
	if err != nil {
		t.Fatalf("make a paper: %v", err)
	}
	return p, func(name string) string {
		i := slices.IndexFunc(p.Files, func(f bundle.File) bool { return f.Path == name })
		if i < 0 {
			t.Fatalf("the bundle has no %s", name)
		}
		return string(p.Files[i].Data)
	}
}

// TestABundle: what is made of a paper. To look at it: go test -run TestABundle -look <folder>.
func TestABundle(t *testing.T) {
	t.Parallel()
	s := sample()
	p, file := made(t, s)
	if file(bundle.FileMarkdown) != text || file(bundle.FileReferences) != bib || file("figures/errors.svg") != drawing {
		t.Error("the text, the references or the figure are not as they were written")
	}
	again, other := made(t, sample())
	for _, f := range p.Files {
		if other(f.Path) != string(f.Data) {
			t.Errorf("%s differs when it is made again", f.Path)
		}
	}
	if !slices.Equal(p.References, []string{"hyndman2021", "box1970"}) || len(p.Unknown) != 0 || !slices.Equal(p.Named, []string{"result-1", "result-2", "result-3"}) {
		t.Errorf("it cites %q, does not know %q, names %q", p.References, p.Unknown, p.Named)
	}
	if want := []string{"Question", "Results", "Limits"}; !slices.Equal(p.Sections, want) || !slices.Equal(again.Sections, want) {
		t.Errorf("its sections are %q, want %q", p.Sections, want)
	}
	for _, want := range []string{"Forecasting visitors", "Figure 1 (errors)", "twice, the same to the byte", "[@hyndman2021]", "result-3, verified"} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("whoever has only the text does not read %q:\n%s", want, p.Text)
		}
	}
	if dir := *look; dir != "" {
		for _, f := range p.Files {
			path := filepath.Join(dir, f.Path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNumbersAreTraced: each number of the text to the output that it follows from.
func TestNumbersAreTraced(t *testing.T) {
	t.Parallel()
	p, _ := made(t, sample())
	got := map[string]string{}
	for _, n := range p.Numbers {
		got[fmt.Sprintf("%d %s", n.Line, n.Text)] = n.Result
	}
	for at, want := range map[string]string{
		"0 36": "result-1", "6 12.41": "result-1", "10 3.80": "result-3", "10 9.7": "result-2", "14 12.41": "result-1", "15 9.70": "result-2", "16 3.80": "result-3", "20 42.5": "",
	} {
		if r, told := got[at]; !told || r != want {
			t.Errorf("the number at %q is said to follow from %q (told: %v), want %q; all: %v", at, r, told, want, p.Numbers)
		}
	}
	for at := range got {
		if strings.HasSuffix(at, " 77") || strings.HasSuffix(at, " 3") || strings.HasSuffix(at, " 2021") {
			t.Errorf("%q is a number of the text, and it is one of a program, a page or a key", at)
		}
	}
	s := sample()
	s.Markdown = []byte("It is `99.5`, and\n**88.5** of\n\n```\n77.5\n```\n\n```text\n66.5\n```\n")
	s.Title = "Or 55.5"
	s.Figures[0].Caption = "And 44.5"
	p, _ = made(t, s)
	var none []string
	for _, n := range p.Numbers {
		if n.Result == "" {
			none = append(none, fmt.Sprintf("%d %s", n.Line, n.Text))
		}
	}
	if want := []string{"0 55.5", "0 44.5", "1 99.5", "2 88.5", "5 77.5", "9 66.5"}; !slices.Equal(none, want) {
		t.Errorf("numbers in code, title and caption: %q follow from nothing, want %q", none, want)
	}
}

// A number follows from what was printed, not from what is claimed of it; cited outputs come
// first, and verified ones before others.
func TestWhichOutputANumberFollowsFrom(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Outputs[0].Text, s.Outputs[0].Verdict = "metric mae 5.5", "differs"
	s.Outputs[1].Text = "metric mae 5.5"
	s.Outputs[2].Text = "metric mae 5.5"
	s.Markdown = []byte("It is 5.5.\n\nIt is 5.5 [result-3].\n\nIt is 5.5 [result-1].\n\nIt is 12.41.\n")
	p, _ := made(t, s)
	var got []string
	for _, n := range p.Numbers {
		if n.Line > 0 {
			got = append(got, n.Result)
		}
	}
	if want := []string{"result-2", "result-3", "result-1", ""}; !slices.Equal(got, want) {
		t.Errorf("the numbers follow from %q, want %q", got, want)
	}
}

// TestThePageIsHarmless: one file, nothing runs, nothing is asked for.
func TestThePageIsHarmless(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Title = `</title><script>alert("t")</script>`
	s.Figures[0].Caption = `" onerror="alert(3)`
	s.Claims[0].Text = "<img src=x onerror=alert(4)>"
	s.Outputs[0].Title = "<svg onload=alert(5)>"
	s.Bibliography = append(s.Bibliography, []byte(`@misc{evil, title={<b onclick=x>}, url={javascript:alert(6)}}`)...)
	s.Markdown = append(s.Markdown, []byte("\n![x](https://evil.example/pixel.png) [@evil] <https://ok.example/> \u202e[x](data:text/html,hi)\n\n<iframe src=//evil.example></iframe>\n")...)
	_, file := made(t, s)
	page := file(bundle.FileHTML)
	for _, bad := range []string{"<script", "<iframe", "<img src=x", "<svg", "onclick=x>", "href=\"javascript", "href=\"data:text", "evil.example/pixel.png\"", "\" onerror", "\u202e", "src=\"http"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{
		"default-src 'none'; img-src data:", `src="data:image/svg+xml;base64,`, `href="https://example.org/a_b?x=1&amp;y=2#z"`, `href="https://ok.example/"`,
		`<a href="#f-errors">Figure 1</a>`, `[<a class="result" href="#result-3">result-3</a>]`, `<tr id="result-3">`, `[<a href="#r1">1</a>, p. 3; <a href="#r2">2</a>]`, "Rob J. Hyndman and George Athanasopoulos",
		"G. E. P. Böx et al.", `<th class="right">error</th>`, "a picture that is none of the paper&#39;s figures",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(page, "<h1"); n != 1 {
		t.Errorf("the page has %d titles", n)
	}
}

// TestLaTeXHasNoCommandsOfStrangers: what was written is text there.
func TestLaTeXHasNoCommandsOfStrangers(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Title = `\write18{rm -rf /} $x$ 100% & #1 _a_ ^b ~c {d}`
	s.Markdown = append(s.Markdown, []byte("\n\\input{/etc/passwd} `\\end{document}` 中 α ≤ µ “q” ą ö [l](https://x.example/%5C_a#b)\n\n```\n\\end{quote}\\immediate\\write18{id}\n```\n\n![\\input{x}](nowhere)\n")...)
	s.Figures[0].Caption = `\include{y}`
	_, file := made(t, s)
	tex := file(bundle.FileLaTeX)
	for _, bad := range []string{`\input{`, `\write`, `\immediate`, `\include{`, `\end{quote}\textbackslash`, "\n\\end{document}\n\\end"} {
		if strings.Contains(tex, bad) {
			t.Errorf("the LaTeX has %q", bad)
		}
	}
	for _, want := range []string{
		`\textbackslash{}write18\{rm {-}rf /\} \dollar{}x\dollar{} 100\% \& \#1 \_a\_ \textasciicircum{}b \textasciitilde{}c \{d\}`, `\textbackslash{}input\{/etc/passwd\}`, `\otherchar{4E2D}{中}`, `\latinchar{0105}{ą} ö`, `\ensuremath{\alpha}`,
		`\href{https://x.example/\%5C\_a\#b}{l}`, `\IfFileExists{figures/errors.pdf}`, `\cite[{p. 3}]{r1}, \cite{r2}`, `Figure~\ref{fig:errors}`, `\bibitem{r2} G. E. P. Böx et al. Time Series /etc/passwd`,
	} {
		if !strings.Contains(tex, want) {
			t.Errorf("the LaTeX has no %q:\n%s", want, tex)
		}
	}
	if strings.Count(tex, `\end{document}`) != 1 {
		t.Error("the document ends more than once")
	}
	// Every command is one of ours.
	ours := strings.Fields(`documentclass usepackage newif ifold oldtrue dollar mathdollar renewcommand labelitemi labelitemii labelitemiii labelitemiv bullet ast cdot latinchar ifPDFTeX pdfinfoomitdate pdftrailerid else fi setcounter setlength emergencystretch newcommand otherchar title author date begin end maketitle
		section subsection textbackslash textasciicircum textasciitilde textless textgreater textbar ensuremath alpha leq mu href texttt textbf emph cite ref caption label
		centering IfFileExists includegraphics linewidth textheight fbox parbox item small ttfamily raggedright mbox hline bibitem ldots
		let otherfont widefont relax ifLuaTeX pdfvariable ifXeTeX IfFontExistsTF newfontfamily mathbb mathbf charcode charcodeof DeclareRobustCommand codechar typeout iffontchar font pdfstringdefDisableCommands`)
	for rest := tex; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		n := 0
		for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z') {
			n++
		}
		if n > 0 && !slices.Contains(ours, rest[:n]) {
			t.Errorf("the LaTeX has a command \\%s", rest[:n])
		}
		if n == 0 && rest != "" {
			rest = rest[1:]
		}
	}
}

// TestClaimsForPrograms: claims.json has each claim, result, number, figure and reference.
func TestClaimsForPrograms(t *testing.T) {
	t.Parallel()
	p, file := made(t, sample())
	var got struct {
		Claims  []struct{ ID string }
		Results []struct {
			ID, Verdict string
			Output      *event.Ref
		}
		Numbers    []event.NumberTraced
		Figures    []struct{ ID, File, SHA256, Verdict string }
		References []struct {
			Key, URL string
			Known    bool
		}
	}
	if err := json.Unmarshal([]byte(file(bundle.FileClaims)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Claims) != 1 || len(got.Results) != 3 || got.Results[0].Output == nil || len(got.Numbers) != len(p.Numbers) || len(got.Figures) != 1 || len(got.References) != 2 {
		t.Fatalf("claims.json has %+v", got)
	}
	if f := got.Figures[0]; f.File != "figures/errors.svg" || f.SHA256 != event.HashOf([]byte(drawing)).String() || f.Verdict != bundle.Same {
		t.Errorf("the figure is told as %+v", f)
	}
	if r := got.References[0]; !r.Known || r.URL != "https://otexts.com/fpp3/" {
		t.Errorf("the first reference is told as %+v", r)
	}
}

// TestWhatIsUnknown: references, results and figures that are not there are told, and seen.
func TestWhatIsUnknown(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Cards = map[string]string{"0123456789abcdef0123456789abcdef": "A paper on cards"}
	s.Markdown = []byte("As [@nobody] and [@0123456789abcdef0123456789abcdef] say [result-9], [@fig:none], [@fig:errors]; [not @ all] and [x@y] and a\n[@box1970;\n@hyndman2021].\n")
	p, file := made(t, s)
	if want := []string{"nobody", "result-9", "fig:none"}; !slices.Equal(p.Unknown, want) {
		t.Errorf("unknown are %q, want %q", p.Unknown, want)
	}
	if want := []string{"nobody", "0123456789abcdef0123456789abcdef", "box1970", "hyndman2021"}; !slices.Equal(p.References, want) {
		t.Errorf("cited are %q, want %q", p.References, want)
	}
	page := file(bundle.FileHTML)
	for _, want := range []string{"<b>nobody?</b>", "A paper on cards", "<b>nobody</b>: nothing is known of it.", "[not @ all]", "[x@y]"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestWhatIsNoPaper: it is refused with a sentence.
func TestWhatIsNoPaper(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bundle.Source)
		want   string
	}{
		"NoTitle":      {func(s *bundle.Source) { s.Title = " " }, "title"},
		"NoText":       {func(s *bundle.Source) { s.Markdown = []byte(" \n") }, "empty"},
		"NoUTF8":       {func(s *bundle.Source) { s.Markdown = []byte("a\xff") }, "no text"},
		"Zero":         {func(s *bundle.Source) { s.Markdown = []byte("a\x00") }, "no text"},
		"TooLong":      {func(s *bundle.Source) { s.Markdown = bytes.Repeat([]byte("words "), bundle.MaxText/5) }, "may have"},
		"LongWithMore": {func(s *bundle.Source) { s.Markdown = bytes.Repeat([]byte("words "), (bundle.MaxText-50)/6) }, "belongs to it"},
		"TooDeep":      {func(s *bundle.Source) { s.Markdown = []byte(strings.Repeat("> ", 100) + "x") }, "plainer"},
		"Cells": {func(s *bundle.Source) {
			s.Markdown = []byte(strings.Repeat("a|", 400) + "\n" + strings.Repeat("-|", 400) + "\n" + strings.Repeat("x\n", 100))
		}, "plainer"},
		"BadBib":      {func(s *bundle.Source) { s.Bibliography = []byte("\xff") }, "bibliography"},
		"FigureName":  {func(s *bundle.Source) { s.Figures[0].ID = "../x" }, "cannot name"},
		"FigureTwice": {func(s *bundle.Source) { s.Figures = append(s.Figures, s.Figures[0]) }, "cannot name"},
		"FigureForm":  {func(s *bundle.Source) { s.Figures[0].Output = "x.html" }, ".svg"},
		"FigureFalse": {func(s *bundle.Source) { s.Figures[0].Output = "x.png" }, "PNG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sample()
			c.change(&s)
			if _, err := bundle.Make(s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it is refused with %v, want a sentence with %q", err, c.want)
			}
		})
	}
}

// TestAFigureThatCouldNotBeMade: the paper says so where it would stand.
func TestAFigureThatCouldNotBeMade(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Figures[0].Data, s.Figures[0].Verdict, s.Figures[0].Why = nil, bundle.Unchecked, "it could not be run: <no python3>"
	p, file := made(t, s)
	if page := file(bundle.FileHTML); !strings.Contains(page, "could not be made: it could not be run: &lt;no python3&gt;") || strings.Contains(page, "<img") {
		t.Error("the page does not say that the figure is missing, or why")
	}
	if !strings.Contains(file(bundle.FileLaTeX), "This figure could not be made") || !strings.Contains(p.Text, "no python3") {
		t.Error("the LaTeX or the text does not say that the figure is missing")
	}
}

// TestSectionsHaveWords: a heading alone is none.
func TestSectionsHaveWords(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Figures = nil
	s.Markdown = []byte("# A\n\n## B\n\nwords\n\n## Limits\n\n## C\n\n---\n\n# D\n\n- item\n\n# E\n")
	p, _ := made(t, s)
	if want := []string{"A", "B", "D"}; !slices.Equal(p.Sections, want) {
		t.Errorf("sections with words are %q, want %q", p.Sections, want)
	}
}

// TestHarmlessDrawings: only what draws.
func TestHarmlessDrawings(t *testing.T) {
	t.Parallel()
	svg := func(inner string) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + inner + `</svg>`
	}
	good := []string{
		drawing, svg(`<use xlink:href="#a"/><style>*{stroke:url(#g)}</style>`), svg(`<image href="data:image/png;base64,AAAA"/>`),
		`<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">` + svg(`<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><cc:Work xmlns:cc="http://creativecommons.org/ns#" rdf:about="x"/></rdf:RDF></metadata>`),
	}
	bad := []string{
		"", "no svg", "<html/>", svg(`<script>alert(1)</script>`), svg(`<g onload="x"/>`), svg(`<foreignObject/>`), svg(`<a href="https://x.example"/>`), svg(`<use href="https://x.example#a"/>`),
		svg(`<image href="https://x.example/p.png"/>`), svg(`<image href="data:image/svg+xml;base64,AAAA"/>`), svg(`<style>@import "x"</style>`), svg(`<style>*{fill:url(https://x.example)}</style>`),
		svg(`<style>*{fill:u\72l(https://x.example)}</style>`), svg(`<g style="fill:url( 'https://x.example')"/>`), svg(`<animate attributeName="href"/>`), svg(`<script xmlns="http://www.w3.org/1999/xhtml"/>`),
		svg(`<metadata><h:script xmlns:h="http://www.w3.org/1999/xhtml">1</h:script></metadata>`), `<?xml-stylesheet href="x"?>` + svg(""), `<!DOCTYPE svg [<!ENTITY a "b">]>` + svg("&a;"), svg("<g>"), svg(strings.Repeat("<g>", 100) + strings.Repeat("</g>", 100)),
	}
	for _, s := range good {
		if _, err := bundle.Kind("x.svg", []byte(s)); err != nil {
			t.Errorf("%s is refused: %v", s, err)
		}
	}
	for _, s := range bad {
		if _, err := bundle.Kind("x.svg", []byte(s)); err == nil {
			t.Errorf("%s is taken for a harmless drawing", s)
		}
	}
}

// TestAWholePDF: one that is cut off is none.
func TestAWholePDF(t *testing.T) {
	t.Parallel()
	whole := "%PDF-1.5\n\xff\nstartxref\n9\n%%EOF\n"
	if _, err := bundle.Kind("x.pdf", []byte(whole)); err != nil {
		t.Errorf("a whole one is refused: %v", err)
	}
	for _, s := range []string{"", "text", whole[:20], whole[1:], whole + strings.Repeat("x", 2000)} {
		if _, err := bundle.Kind("x.pdf", []byte(s)); err == nil {
			t.Errorf("%.40q is taken for a whole PDF", s)
		}
	}
}

// FuzzMake: whatever is written, there is a paper or a sentence, and nothing runs in the page.
func FuzzMake(f *testing.F) {
	f.Add([]byte(text), []byte(bib))
	f.Add([]byte("[@a;\n@b] ![x](errors) <b>"), []byte("@a{b,c={d"))
	f.Add([]byte("| a | b |\n|--|:-:|\n| `x` | [@k] |\n\n1. - > ```\n"), []byte(`@x{k, title="\"{a}", author = a # b}`))
	f.Fuzz(func(t *testing.T, markdown, bib []byte) {
		s := sample()
		s.Markdown, s.Bibliography = markdown, bib
		p, err := bundle.Make(s)
		if err != nil {
			return
		}
		for _, file := range p.Files {
			low := strings.ToLower(string(file.Data))
			if file.Path == bundle.FileHTML && (strings.Contains(low, "<script") || strings.Contains(low, "<iframe") || strings.Contains(low, "href=\"javascript")) {
				t.Errorf("the page of %q runs something", markdown)
			}
			if file.Path == bundle.FileLaTeX && (strings.Count(low, `\end{document}`) != 1 || strings.Contains(low, `\input`) || strings.Contains(low, `\write`)) {
				t.Errorf("the LaTeX of %q has a stranger's command", markdown)
			}
		}
	})
}

// TestFormulasInAPaper: what stands between dollars is a formula in both forms if it is one of ours,
// and what was written if not; money is money. Its values are numbers of the paper.
func TestFormulasInAPaper(t *testing.T) {
	t.Parallel()
	s := sample()
	s.Markdown = []byte("## Of $\\alpha^2$\n\nThe error is $e = 3.80$ [result-3], with $x_1$ and $\\alpha$ and *$n_2$*; it costs $5 or $6, US$7, 8$, \\$9\\$; pay $5 and $, too.\n" +
		"A bad one is $\\write18{id}$, and `$x$` is none.\n\n$$\n\\sum_{i=1}^n x_i\n\\le 77.5\n$$\n\n| $a_1$ | $$b$$ |\n|---|---|\n| $c$ | $12.41$ |\n\n- $$d$$\n\n> $result-1$ $$\\input{x}$$ $ y $\n\n" +
		"$$\n\\begin{align}\n  a &= 12.41 \\\\\n  b &= \\begin{cases} x & \\text{else} \\end{cases}\n\\end{align}\n$$\n\n$$\\begin{document}x\\end{document}$$\n")
	s.Figures, s.Bibliography = nil, nil
	p, file := made(t, s)
	page, tex := file(bundle.FileHTML), file(bundle.FileLaTeX)
	for _, want := range []string{
		"<math><mi>e</mi><mo>=</mo><mn>3.80</mn></math>", "<em><math><msub>", `<code>$\write18{id}$</code>`, "<code>$x$</code>", `<math display="block"><munderover>`, "<td><math><mi>c</mi></math></td>",
		"<th><math><mi>b</mi></math></th>", `<li><math display="block"><mi>d</mi></math>`, `<code>$\input{x}$</code>`, "it costs $5 or $6, US$7, 8$, $9$; pay $5 and $, too.", "$ y $", `<h2 id="s1">Of <math><msup><mi>α</mi>`,
		`<math display="block"><mrow><mtable displaystyle="true"><mtr><mtd class="left-of"><mi>a</mi></mtd>`, "mtd.left-of {", `<code>$\begin{document}x\end{document}$</code>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, want := range []string{
		`\(e=3.80\)`, `\emph{\(n_{2}\)}`, `\texttt{\dollar{}\textbackslash{}write18\{id\}\dollar{}}`, `\texttt{\dollar{}x\dollar{}}`, `\[\sum _{i=1}^{n}x_{i}\le 77.5\]`, `\(b\)`, `\(c\) & \(12.41\)`, `\item `, `\[d\]`,
		`\section{\texorpdfstring{Of \(\alpha ^{2}\)}{Of \dollar{}\textbackslash{}alpha`, `costs \dollar{}5 or \dollar{}6`,
		`\[\begin{aligned}a&=12.41\\b&=\begin{cases}x&\text{else}\end{cases}\end{aligned}\]`,
	} {
		if !strings.Contains(tex, want) {
			t.Errorf("the LaTeX has no %s:\n%s", want, tex)
		}
	}
	if strings.Contains(tex, `\write`) || strings.Contains(tex, `\input`) {
		t.Error("the LaTeX has a stranger's command")
	}
	traced := map[string]string{}
	for _, n := range p.Numbers {
		if n.Line > 0 {
			traced[fmt.Sprintf("%d %s", n.Line, n.Text)] = n.Result
		}
	}
	for at, want := range map[string]string{"3 3.80": "result-3", "6 77.5": "", "13 12.41": "result-1", "19 12.41": "result-1"} {
		if got, told := traced[at]; !told || got != want {
			t.Errorf("%q follows from %q (told: %v), want %q; all: %v", at, got, told, want, traced)
		}
	}
	for at := range traced {
		if strings.HasSuffix(at, " 1") || strings.HasSuffix(at, " 2") {
			t.Errorf("%q counts as a number of the paper, and is a part of a formula", at)
		}
	}
	if slices.Contains(p.Named, "result-1") {
		t.Error("a difference in a formula names a result")
	}
}
