package tests

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// longestPause is an expression for how many milliseconds the page did not answer at
// most, from now on for some time.
const longestPause = `new Promise((done) => {
	let last = performance.now(), worst = 0;
	const began = last;
	const look = () => {
		const now = performance.now();
		worst = Math.max(worst, now - last);
		last = now;
		if (now - began < 3000) setTimeout(look, 10); else done(worst);
	};
	look();
})`

func TestATextThatIsBuiltToHang(t *testing.T) {
	t.Parallel()
	matrix := `$\begin{matrix}` + strings.Repeat("a&", 960) + `\end{matrix}$` + "\n\n"
	h := home(t)
	texts := map[string]struct{ text, shows string }{
		"Definitions":    {`$\def\a{` + strings.Repeat("x", 300) + `}` + strings.Repeat(`\a`, 290) + `$`, `\def`},
		"OneLongFormula": {`$` + strings.Repeat("x+", 60_000) + `x$`, "x+x+"},
		"ManyFormulas":   {strings.Repeat(matrix, 40), "begin{matrix}"},
		"ListsInLists":   {strings.Repeat("+ ", 140_000), "+ + +"},
		"LazyLines":      {"> a\n" + strings.Repeat("a\n", 15_000), "a"},
	}
	for name, bomb := range texts {
		lyceum(t, h, "create", folder(t, map[string]string{
			"quest.yaml": "name: " + strings.ToLower(name) + "\nproblem_file: problem.md\nmodel: demo\n", "problem.md": bomb.text,
		}))
	}
	s := serve(t, h)
	for name, bomb := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, s)
			tab.Go("#/q/" + strings.ToLower(name))
			var pause float64
			tab.Eval(longestPause, &pause)
			t.Logf("the page did not answer for %.0f ms at most", pause)
			promise(t, "the longest pause", pause, 1000)
			tab.Until(`document.querySelector('h1')?.innerText === '` + strings.ToLower(name) + `'`)
			if !strings.Contains(tab.Text("main"), bomb.shows) {
				t.Errorf("the words are not there: %.200s", tab.Text("main"))
			}
			tab.Sound()
		})
	}
}

func TestALongTextIsSet(t *testing.T) {
	t.Parallel()
	h := home(t)
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "## Part %d\n\nSome *words*, a formula $\\frac{%d}{2}$, and [a link](https://example.org/%d).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", i, i, i)
	}
	lyceum(t, h, "create", folder(t, map[string]string{"quest.yaml": "name: paper\nproblem_file: problem.md\nmodel: demo\n", "problem.md": text.String()}))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/paper")
	tab.Until(`document.querySelectorAll('.prose h3').length === 60 && document.querySelectorAll('.prose .katex').length === 60 && document.querySelectorAll('.prose table').length === 60`)
	tab.Sound()
}

func TestAZipWithALargeFile(t *testing.T) {
	t.Parallel()
	h := home(t)
	path := filepath.Join(t.TempDir(), "quest.zip")
	f, err := os.Create(path)
	must(t, err)
	z := zip.NewWriter(f)
	for name, content := range map[string]string{
		"q/quest.yaml":  "name: zipped\nproblem: What does it say?\nmodel: demo\ndata: data\n",
		"q/data/t.csv":  strings.Repeat("1,0.1234\n", 120_000),
		"q/data/in.txt": "small\n",
	} {
		w, err := z.Create(name)
		must(t, err)
		_, err = w.Write([]byte(content))
		must(t, err)
	}
	must(t, z.Close())
	must(t, f.Close())
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/new")
	tab.Click("button", "By upload")
	tab.Do(chromedp.SetUploadFiles(`input[type=file]`, []string{path}, chromedp.ByQuery))
	tab.Until(`document.body.innerText.includes('t.csv')`)
	tab.Sound()
}
