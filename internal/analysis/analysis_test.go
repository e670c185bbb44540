package analysis_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/analysis"
	"lyceum/internal/event"
)

// tree makes files of texts.
func tree(files map[string]string) []analysis.File {
	var out []analysis.File
	for p, text := range files {
		out = append(out, analysis.File{Path: p, Data: []byte(text), Size: int64(len(text))})
	}
	slices.SortFunc(out, func(a, b analysis.File) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// around is a page that nothing can be said against, with something in its body.
func around(body string) string {
	return "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>A page</title></head>\n<body>\n" + body + "\n</body>\n</html>\n"
}

func manyAttrs() string {
	var b strings.Builder
	for i := range 201 {
		fmt.Fprintf(&b, " a%d", i)
	}
	return b.String()
}

// said are findings as lines: path:line check kind observed.
func said(r analysis.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s:%d %s %s %s", f.Path, f.Line, f.Check, f.Kind, f.Observed))
	}
	return out
}

// TestAPage: what is said of what stands in the body of a page; the body begins in line 5.
func TestAPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"Good":                     {`<main><h1>Counter</h1><p>Text<p>More <button id="b">Add</button><output id="o">0</output><script>let n = 0; b.onclick = () => { o.value = ++n }</script></main>`, nil},
		"GoodForm":                 {`<form action="#"><label for="n">Name</label><input id="n"><label>Age <input type="number"></label><input type="submit"><input type="hidden" name="x"><select aria-label="Kind"><option>a<option>b</select></form>`, nil},
		"GoodLists":                {"<ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3</table><dl><dt>a<dd>b</dl>", nil},
		"GoodDrawing":              {`<svg viewBox="0 0 1 1"><circle r="1"/><path d="M0 0"/></svg><svg/><br><hr>`, nil},
		"UnnamedButton":            {`<button onclick="f()"></button>`, []string{"index.html:5 name failed <button>, a button without a name"}},
		"NamedByItsPicture":        {`<button><img src="data:image/png;base64,AA" alt="Add"></button>`, nil},
		"NamedByAnother":           {`<p id="t">Add</p><button aria-labelledby="t"></button>`, nil},
		"NamedByItsTitle":          {`<button title="Add"></button>`, nil},
		"HiddenButton":             {`<div hidden><button></button></div>`, nil},
		"AHiddenTextIsNoName":      {`<button><span hidden>Add</span></button>`, []string{"index.html:5 name failed <button>, a button without a name"}},
		"UnnamedField":             {"\n<input>", []string{"index.html:6 name failed <input>, a textbox without a name"}},
		"UnnamedSelect":            {`<select></select>`, []string{"index.html:5 name failed <select>, a combobox without a name"}},
		"UnnamedLink":              {`<a href="#top"></a>`, []string{"index.html:5 name failed <a>, a link without a name"}},
		"UnnamedRole":              {`<div role="checkbox"></div>`, []string{"index.html:5 name failed <div>, a checkbox without a name"}},
		"UnnamedFrame":             {`<iframe src="other.html"></iframe>`, []string{"index.html:5 name failed <iframe> without a title"}},
		"PictureWithoutAlt":        {`<img src="a.png">`, []string{"index.html:5 alt failed <img> without alt"}},
		"DecorativePicture":        {`<img src="a.png" alt="">`, nil},
		"IdTwice":                  {"<p id=a>1</p>\n<p id=a>2</p>", []string{`index.html:6 id failed "a" is also that of <p> in line 5`}},
		"IdWithASpace":             {`<p id="a b">1</p>`, []string{`index.html:5 id failed <p id="a b">`}},
		"LabelForNothing":          {`<label for="x">a</label>`, []string{`index.html:5 label failed <label for="x">, which nothing has`}},
		"LabelForWhatAScriptMakes": {`<label for="x">a</label><script>document.body.append(1)</script>`, []string{`index.html:5 label told <label for="x">, which nothing has`}},
		"DescribedByNothing":       {`<p aria-describedby="x">a</p>`, []string{`index.html:5 label failed <p aria-describedby="x">, which nothing has`}},
		"NeverClosed":              {"<div>\n<b>x</b>", []string{"index.html:7 html failed </body> while <div> of line 5 is open"}},
		"ClosesNothing":            {"</span>", []string{"index.html:5 html failed </span> closes nothing"}},
		"ClosesAParagraph":         {"<p><div>a</div></p>", []string{"index.html:5 html failed </p> closes nothing"}},
		"Crossed":                  {"<b><i>x</b></i>", []string{"index.html:5 html failed </b> while <i> of line 5 is open", "index.html:5 html failed </i> closes nothing"}},
		"ManyAttributes":           {"<p" + manyAttrs() + ">x</p>", []string{"index.html:5 html failed <p> has more"}},
		"ScriptThatDoesNotParse":   {"<script>\nlet a = ;\n</script>", []string{"index.html:6 script failed unexpected ; in expression"}},
		"HandlerThatDoesNotParse":  {`<button onclick="f(">Add</button>`, []string{"index.html:5 script failed expected ) instead of EOF in arguments"}},
		"HandlerReturns":           {`<button onclick="return f()">Add</button>`, nil},
		"ScriptOfData":             {"<script type=\"application/json\">{\n\"a\":}</script>", []string{"index.html:6 json failed"}},
		"ImportMap":                {`<script type="importmap">{}</script>`, []string{"index.html:5 reference failed a script of the type importmap"}},
		"StyleNeverClosed":         {"<style>\nb { color: red\n</style>", []string{"index.html:6 css failed a bracket that is never closed"}},
		"StyleThatDoesNotFit":      {"<style>b { color: red } }</style>", []string{"index.html:5 css failed '}', which closes nothing"}},
		"StyleWithABadText":        {"<style>b { content: \"x\n }</style>", []string{`index.html:5 css failed "x`}},
		"NestedStyle":              {"<style>b { &:hover { color: red } @media (width > 3px) { color: blue } }</style>", nil},
		"StyleOfAnElement":         {`<p style="background:url(//x.org/a.png)">x</p>`, []string{"index.html:5 reference failed //x.org/a.png, which lies outside"}},
		"Elsewhere":                {`<a href="https://x.org/">x</a>`, []string{"index.html:5 reference failed https://x.org/, which lies outside"}},
		"ElsewhereWithATab":        {"<a href=\"ht\ttps://x.org/\">x</a>", []string{"index.html:5 reference failed ht tps://x.org/, which lies outside"}},
		"ElsewhereByBackslashes":   {`<a href="\\x.org/">x</a>`, []string{`index.html:5 reference failed \\x.org/, which lies outside`}},
		"ElsewhereBySource":        {`<img alt="" srcset="a.png 1x, //x.org/b.png 2x">`, []string{"index.html:5 reference failed //x.org/b.png, which lies outside"}},
		"JavaScriptAddress":        {`<a href="javascript:f()">x</a>`, []string{"index.html:5 reference failed javascript:f(), which lies outside"}},
		"DataAsAFrame":             {`<iframe title="x" src="data:text/html,x"></iframe>`, []string{"index.html:5 reference failed data:text/html,x, which lies outside"}},
		"LeadsOut":                 {`<img alt="" src="../a.png">`, []string{"index.html:5 reference failed ../a.png, which leads out of the folder"}},
		"LeadsOutInDisguise":       {`<img alt="" src="%2e%2e/a.png">`, []string{"index.html:5 reference failed %2e%2e/a.png, which leads out of the folder"}},
		"OutAndInAgain":            {`<img alt="" src="sub/../a.png?x=1#y">`, nil},
		"FromTheRoot":              {`<img alt="" src="/a.png"><a href="/">home</a>`, nil},
		"NotThere":                 {`<script src="x.js"></script>`, []string{"index.html:5 reference failed x.js, which is not there"}},
		"ALink":                    {`<img alt="" src="link.png">`, []string{"index.html:5 reference failed link.png, which is not there"}},
		"PartThatIsNotThere":       {`<a href="#x">x</a>`, []string{`index.html:5 reference failed <a href="#x">, which nothing has`}},
		"AnotherBase":              {`<base href="/x/">`, []string{"index.html:5 reference failed <base>"}},
		"Refresh":                  {`<meta http-equiv="Refresh" content="0;url=https://x.org">`, []string{`index.html:5 reference failed <meta http-equiv="refresh">`}},
		"PageInAnAttribute":        {`<iframe title="x" srcdoc="<p>"></iframe>`, []string{"index.html:5 reference failed srcdoc, a page within an attribute"}},
		"ImportByName":             {"<script type=module>\nimport a from 'left-pad'</script>", []string{"index.html:6 reference failed left-pad"}},
		"ImportOfNothing":          {"<script type=module>import('./x.js')</script>", []string{"index.html:5 reference failed ./x.js, which is not there"}},
		"ExportOfElsewhere":        {"<script type=module>export * from '//x.org/a.js'</script>", []string{"index.html:5 reference failed //x.org/a.js, which lies outside"}},
		"ZeroBytes":                {"\x00", []string{"index.html:1 html failed zero bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree(map[string]string{"index.html": around(c.body), "a.png": "x", "other.html": around("")})
			files = append(files, analysis.File{Path: "link.png", Link: true})
			r := analysis.Look(files, nil, analysis.Web)
			got := slices.DeleteFunc(said(r), func(s string) bool { return strings.HasPrefix(s, "link.png:") })
			if len(got) != len(c.want) || slices.ContainsFunc(c.want, func(w string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
			}) {
				t.Errorf("%s: got %q, want %q", c.body, got, c.want)
			}
		})
	}
}

// TestATree: what is said of files.
func TestATree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		kind  string
		want  []string
	}{
		"NoPage":          {map[string]string{"a.html": around("")}, analysis.Web, []string{"index.html:0 entry failed none"}},
		"Nothing":         {nil, analysis.Web, []string{":0 entry failed an empty folder"}},
		"NoLanguage":      {map[string]string{"index.html": "<html><head><title>x</title></head></html>"}, analysis.Web, []string{`index.html:1 language failed <html> with the language ""`}},
		"StrangeLanguage": {map[string]string{"index.html": "<html lang=english><title>x</title></html>"}, analysis.Web, []string{`index.html:1 language failed <html> with the language "english"`}},
		"NoHTML":          {map[string]string{"index.html": "<title>x</title>"}, analysis.Web, []string{"index.html:1 language failed no <html>"}},
		"NoTitle":         {map[string]string{"index.html": "<html lang=en><title> </title></html>"}, analysis.Web, []string{"index.html:1 title failed none"}},
		"Style":           {map[string]string{"index.html": around(""), "css/a.css": "@import 'b.css';\nb{background:url(../a.png)}\ni{background:url('http://x.org')}\nu{background:url(../../a.png)}\np{background:url(\"\\68ttps://x.org\")}", "a.png": ""}, analysis.Web, []string{"css/a.css:1 reference failed b.css, which is not there", "css/a.css:3 reference failed http://x.org, which lies outside", "css/a.css:4 reference failed ../../a.png, which leads out of the folder", "css/a.css:5 reference failed https://x.org, which lies outside"}},
		"Script":          {map[string]string{"index.html": around(""), "a.js": "\n\nfunction (", "b.mjs": "import './a.js'"}, analysis.Web, []string{"a.js:3 script failed"}},
		"Data":            {map[string]string{"index.html": around(""), "a.json": "{\n\"a\": 1,}"}, analysis.Web, []string{"a.json:2 json failed"}},
		"NoProgram":       {map[string]string{"sort.py": "", "sub/main.py": ""}, analysis.Program, []string{":0 entry failed none"}},
		"Program":         {map[string]string{"main.py": "print(1)", "page.html": "<b>"}, analysis.Program, nil},
		"ProgramOfScript": {map[string]string{"main.js": "\nlet a ="}, analysis.Program, []string{"main.js:2 script failed"}},
		"ProgramOfGo":     {map[string]string{"main.sh": "go run .", "a.go": "package main\nfunc"}, analysis.Program, []string{"a.go:2 syntax failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := analysis.Look(tree(c.files), nil, c.kind)
			got := said(r)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) || r.Failed != (len(c.want) > 0) {
				t.Errorf("got %q, failed %v; want %q", got, r.Failed, c.want)
			}
			for _, f := range r.Findings {
				if !f.Required || f.Expected == "" {
					t.Errorf("%+v: want that it blocks, and says what was expected", f)
				}
			}
		})
	}
}

// TestWhatIsTooMuch: a reason, and not a long wait.
func TestWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	many := make([]analysis.File, analysis.MaxFiles+1)
	for name, c := range map[string]struct {
		files []analysis.File
		want  string
	}{
		"Files":    {many, "2001 files"},
		"Bytes":    {[]analysis.File{{Path: "index.html", Size: analysis.MaxBytes + 1}}, "8388609 bytes"},
		"OneFile":  {[]analysis.File{{Path: "index.html", Size: analysis.MaxFile + 1}}, "1048577 bytes"},
		"Nesting":  {tree(map[string]string{"index.html": strings.Repeat("<div>", 201)}), "more"},
		"Elements": {tree(map[string]string{"index.html": strings.Repeat("<br>", 50_001)}), "more"},
		"Brackets": {tree(map[string]string{"index.html": around(""), "a.css": strings.Repeat("(", 201)}), "more"},
		"Tag":      {tree(map[string]string{"index.html": "<p class=\"" + strings.Repeat("x", 300_000) + "\">"}), "one of 300012 bytes"},
		"Names":    {tree(map[string]string{"index.html": around("<div id=a>" + strings.Repeat("<i>x</i>", 900) + "</div>" + strings.Repeat("<b role=button aria-labelledby='a a a a a a'></b>", 8000))}), "elements that name each other so often that looking would take too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := analysis.Look(c.files, nil, analysis.Web)
			if !r.Failed || !slices.ContainsFunc(r.Findings, func(f event.WorldFinding) bool { return f.Observed == c.want && f.Required }) {
				t.Errorf("got %.1000q, want one with %q", said(r), c.want)
			}
		})
	}
}

// TestManyFindings: the first are told, those that block before others, and the rest counted.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	body := "<script></script>" + strings.Repeat("<p aria-describedby=x></p>", 300) + strings.Repeat("<button></button>", 50)
	r := analysis.Look(tree(map[string]string{"index.html": around(body)}), nil, analysis.Web)
	blocking := 0
	for _, f := range r.Findings {
		if f.Required {
			blocking++
		}
	}
	if len(r.Findings) != 200 || r.More != 150 || blocking != 50 || !r.Failed {
		t.Errorf("got %d findings, %d of them blocking, and %d more; want 200, 50 and 150", len(r.Findings), blocking, r.More)
	}
}

// TestLoops: what was declared is looked for by role and name, where a page can tell.
func TestLoops(t *testing.T) {
	t.Parallel()
	declared := &event.WorldStructure{
		Levers:   []event.WorldLever{{Name: "add", At: event.WorldPlace{Role: "button", Name: "Add one"}}},
		Channels: []event.WorldChannel{{Name: "count", At: event.WorldPlace{Role: "status"}}, {Name: "anywhere"}},
		Loops:    []event.WorldLoop{{Name: "counting", Lever: "add", Channel: "count"}},
	}
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"There":            {"<button> Add  one </button><output></output>", nil},
		"ThereByRole":      {`<b role="button" aria-label="Add one"></b><p role="status"></p>`, nil},
		"AnotherName":      {"<button>Add</button><output></output>", []string{"index.html:0 loop failed"}},
		"NoChannel":        {"<button>Add one</button>", []string{"index.html:0 loop failed"}},
		"NamedByAScript":   {"<button>Add</button><output></output><script>b.textContent = 'Add one'</script>", []string{"index.html:0 loop told"}},
		"NotMadeByAScript": {"<output></output><script>b.textContent = 'Add one'</script>", []string{"index.html:0 loop failed"}},
		"MadeByAScript":    {"<script>document.createElement('button')</script>", []string{"index.html:0 loop told", "index.html:0 loop told"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := said(analysis.Look(tree(map[string]string{"index.html": around(c.body)}), declared, analysis.Web))
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	open := &event.WorldStructure{Loops: []event.WorldLoop{{Name: "counting", Lever: "add", Channel: "count"}}}
	if got := said(analysis.Look(tree(map[string]string{"index.html": around("")}), open, analysis.Web)); len(got) != 2 {
		t.Errorf("a loop between nothing and nothing: got %q, want both ends", got)
	}
	if got := said(analysis.Look(tree(map[string]string{"main.py": ""}), declared, analysis.Program)); got != nil {
		t.Errorf("a program has no pages to look in: got %q", got)
	}
}

// TestText: what judges are shown.
func TestText(t *testing.T) {
	t.Parallel()
	files := tree(map[string]string{"a.css": "b{}\r\n", "index.html": "<p>\u202ex", "z.png": "\x89PNG\x00"})
	files = append(files, analysis.File{Path: "zz", Link: true}, analysis.File{Path: "zzz", Size: 5})
	want := "=== index.html (7 bytes) ===\n<p>\ufffdx\n=== a.css (5 bytes) ===\nb{}\n\n=== z.png (5 bytes, no text) ===\n\n=== zz (0 bytes, a symbolic link) ===\n\n=== zzz (5 bytes, too long to be shown) ===\n\n"
	if got := analysis.Text(files, analysis.Web); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := analysis.Text(tree(map[string]string{"a": strings.Repeat("ä", 20_000), "b": strings.Repeat("x", 30_000), "main.py": "1"}), analysis.Program)
	if !strings.HasPrefix(long, "=== main.py (1 bytes) ===\n1\n=== a (40000 bytes, the first 24576 are shown) ===\nä") || !strings.HasSuffix(long, "=== there is more, which is not shown ===\n") || len(long) > analysis.MaxText+100 {
		t.Errorf("of much: got %d bytes, beginning with %.100q", len(long), long)
	}
}

// FuzzLook: any bytes give an answer, twice the same, that an event can hold.
func FuzzLook(f *testing.F) {
	for _, s := range []string{around("<button onclick='a('>"), "<svg><p/></svg></b>", "b{background:url(x", "import a from './b'", "{\"a\":[", "<style>@import url(", "<script>`${`${", "package a\nfunc("} {
		f.Add(s)
	}
	declared := &event.WorldStructure{Levers: []event.WorldLever{{Name: "a", At: event.WorldPlace{Role: "button", Name: "x"}}}}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range []string{"index.html", "a.css", "a.js", "a.json", "a.go"} {
			files := tree(map[string]string{p: s, s: s})
			r := analysis.Look(files, declared, analysis.Web)
			if again := analysis.Look(files, declared, analysis.Web); !reflect.DeepEqual(r, again) {
				t.Fatalf("%s: twice the same look, and %v is not %v", p, r, again)
			}
			for _, x := range r.Findings {
				if _, err := event.EncodeBody(&event.AnalysisResult{Findings: []event.WorldFinding{x}}); err != nil {
					t.Fatalf("%s: %+v cannot be recorded: %v", p, x, err)
				}
			}
			if text := analysis.Text(files, analysis.Web); len(text) > analysis.MaxText+100 {
				t.Fatalf("judges would be shown %d bytes", len(text))
			}
		}
	})
}

// BenchmarkLook looks at 200 KB: half of it markup, half scripts and styles.
func BenchmarkLook(b *testing.B) {
	row := "<p class=\"row\"><label>Name <input name=\"n\"></label> <button type=\"button\">Add <b>one</b></button></p>\n"
	script := "window.add = function (a, b) { return [a, b].map((x) => x * 2 + `${a}`).filter(Boolean) }\n"
	style := ".row > button:hover { color: rgb(1 2 3); background: url(a.png) no-repeat }\n"
	files := tree(map[string]string{
		"index.html": around(strings.Repeat(row, 100_000/len(row))), "a.js": strings.Repeat(script, 70_000/len(script)), "a.css": strings.Repeat(style, 30_000/len(style)), "a.png": "x",
	})
	for b.Loop() {
		analysis.Look(files, nil, analysis.Web)
	}
}
