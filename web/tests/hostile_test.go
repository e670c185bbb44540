package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// scream is text that would do something if it were not text.
const scream = `<script>window.__pwned='script'</script><img src=x onerror="window.__pwned='img'">`

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.__pwned='svg'"><script>window.__pwned='svg script'</script><rect width="9" height="9"/></svg>`

// traps are papers, by the words that their title begins with. What a browser would do
// with them sets window.__pwned, opens a dialog, or asks another host.
// Lyceum itself refuses a title with control characters or marks of direction.
var traps = map[string]paper{
	"tags":  {title: "tags " + scream, content: "Before. " + scream + " Between.\n\n<svg onload=alert(1)></svg>\n\n<details open ontoggle=alert(2)>\n\nAfter."},
	"links": {title: "links [here](javascript:alert(1))", content: links},
	"drawings": {title: "drawings", content: "![drawn](picture.svg) ![not drawn](false.png) Seen.", files: map[string]string{
		"picture.svg": drawing, "false.png": drawing, "page.html": "<!doctype html>" + scream,
		"<img src=x onerror=alert(1)>.svg": drawing}},
	"tables":    {title: "tables", content: "First.\n\n" + tableOf(400, 8) + "\n\n" + tableOf(2, 250) + "\n\nLast."},
	"direction": {title: "direction", content: "Pay \u202e001$ to \u2066nobody\u2069 now.\n\n`code \u202e edoc`", files: map[string]string{"report.txt": "Read \u202ethis"}},
	"control":   {title: "control", content: "Left\u0000 \u001b[2Jmiddle\u0008 \u2028right\ufeff.\n\n    \u0000 code\n"},
	"elements": {title: "elements <style>*{display:none}</style>", content: "Start.\n\n<style>* { display: none !important }</style>\n\n<iframe src=\"//evil.example/\"></iframe>\n\n" +
		"<form action=\"https://evil.example/\"><input name=p autofocus></form>\n\n<base href=\"https://evil.example/\">\n\n<link rel=stylesheet href=\"https://evil.example/a.css\">\n\n" +
		"<meta http-equiv=refresh content=\"0;url=https://evil.example/\">\n\n<object data=\"https://evil.example/\"></object> Stop."},
	"pictures": {title: "pictures ![x](https://evil.example/t.png)", content: "Shown.\n\n![a](https://evil.example/a.png) ![b](//evil.example/b.png) ![c][c] ![d](http://127.0.0.1:1/d.png) ![e](/api/quests) ![f](data:image/svg+xml,%3Csvg%3E)\n\n[c]: https://evil.example/c.png"},
	"formulas": {title: `formulas $\href{javascript:alert(1)}{x}$`, content: `Sums: $\href{javascript:window.__pwned='href'}{linked}$ and $\url{javascript:alert(1)}$ and $\includegraphics{https://evil.example/k.png}$.` +
		"\n\n$$\\htmlStyle{position:fixed;inset:0}{over} \\htmlData{x=y}{data} \\def\\x{\\x\\x}\\x$$\n\n$$\\rule{9999em}{9999em}$$\n\nDone."},
	"depth": {title: "depth", content: "Top.\n\n" + strings.Repeat("> ", 3000) + "deep\n\n" + strings.Repeat("[", 2000) + "\n\n" + strings.Repeat("*a **b ", 1500) + "\n\nBottom."},
}

const links = `[one](javascript:window.__pwned='link') [two](JaVa&#x53;cript:window.__pwned=2) [three](data:text/html,<script>alert(1)</script>)
[four](vbscript:alert(1)) [five][5] <javascript:window.__pwned=5> [six](&#1;javascript:alert(6)) [seven](blob:null) [eight](file:///etc/passwd)
[nine](https://example.org/a "title") [ten](#here) [eleven](//evil.example/x)

[5]: javascript:window.__pwned='reference'`

func tableOf(rows, columns int) string {
	var b strings.Builder
	for r := range rows + 2 {
		for c := range columns {
			if r == 1 {
				b.WriteString("|---")
			} else {
				fmt.Fprintf(&b, "|r%dc%d", r, c)
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

var trapped = sync.OnceValues(func() (browsertest.Home, error) {
	var list []paper
	for _, p := range traps {
		list = append(list, p)
	}
	return publish(filepath.Join(shared, "traps"), "traps", "Is it "+scream+" or ![x](https://evil.example/p.png)?", list)
})

func TestHostileText(t *testing.T) {
	t.Parallel()
	chromium(t)
	h, err := trapped()
	must(t, err)
	s := serve(t, h)
	read := func(name, of string, look func(t *testing.T, tab *browsertest.Tab)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, s)
			tab.Go("#/q/traps/papers")
			tab.Click(".paper-row .title", of)
			tab.Until(`document.querySelector('article .prose, article .pre')`)
			tab.Do(browsertest.Settled())
			look(t, tab)
			harmless(t, tab)
		})
	}
	read("OfScriptTagsIsShownAsText", "tags", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, ".paper-title", scream)
		reads(t, tab, "article", "Before.", "<script>", "onerror=", "Between.", "<svg onload=alert(1)>", "After.")
	})
	read("OfReviewsIsShownAsText", "tags", func(t *testing.T, tab *browsertest.Tab) { reads(t, tab, ".review", scream) })
	read("OfScriptLinksLeadsNowhere", "links", func(t *testing.T, tab *browsertest.Tab) {
		var hrefs []string
		tab.Eval(`[...document.querySelectorAll('.prose a')].map((a) => a.getAttribute('href'))`, &hrefs)
		if got := strings.Join(hrefs, " "); !strings.Contains(got, "https://example.org/a") || strings.Contains(got, "evil.example") {
			t.Errorf("the links of the text are %q", hrefs)
		}
		// A person clicks on what looks like a link.
		for _, word := range []string{"one", "two", "three", "four", "five", "six"} {
			if !tab.Is(`[...document.querySelectorAll('.prose *')].some((e) => e.innerText.trim().startsWith('` + word + `'))`) {
				t.Errorf("%q is not shown", word)
			}
		}
		tab.Eval(`document.querySelectorAll('.prose .dead-link, .prose .dead-link *').forEach((e) => e.click()), true`, nil)
	})
	read("OfDrawingsIsNeverDrawn", "drawings", func(t *testing.T, tab *browsertest.Tab) { neverDrawn(t, tab) })
	read("OfHugeTablesStaysInItsFrame", "tables", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, ".prose", "First.", "r0c0", "r401c7", "r2c249", "Last.")
		tab.Do(chromedp.EmulateViewport(390, 844), browsertest.Settled())
		if tab.Is(`document.documentElement.scrollWidth > innerWidth + 1`) {
			t.Error("the table makes the page wider than its window")
		}
	})
	read("OfTurnedDirectionIsReadAsItWasWritten", "direction", func(t *testing.T, tab *browsertest.Tab) {
		if tab.Is(`/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)`) {
			t.Error("a mark that turns the text is obeyed")
		}
		reads(t, tab, ".prose", "\ufffd001$", "nobody") // what an agent wrote was made visible before it was recorded
		tab.Click("button", "show")
		tab.Until(`document.querySelector('article aside').innerText.includes('Read')`)
		if tab.Is(`/\u202e/.test(document.body.innerText + document.title)`) {
			t.Error("a mark in an attachment is obeyed")
		}
	})
	read("OfControlCharactersKeepsItsWords", "control", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, "article", "control", "Left", "middle", "right", "code")
	})
	read("OfStylesFramesAndFormsMakesNoElements", "elements", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, "article", "Start.", "<iframe", "<form", "<base", "<meta", "Stop.")
	})
	read("OfForeignPicturesAsksNobody", "pictures", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, ".prose", "Shown.", "https://evil.example/a.png")
		if tab.Is(`document.querySelector('article img')`) {
			t.Error("a picture of another place is an image")
		}
	})
	read("OfFormulasCannotLinkOrLoad", "formulas", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, ".prose", "Sums:", "Done.")
		if tab.Is(`[...document.querySelectorAll('.prose *')].some((e) => getComputedStyle(e).position === 'fixed')`) {
			t.Error("a formula stands over the page")
		}
		if tab.Is(`document.querySelector('.prose').getBoundingClientRect().height > 5000`) {
			t.Error("a formula is as large as it likes")
		}
	})
	read("OfEndlessNestingStaysReadable", "depth", func(t *testing.T, tab *browsertest.Tab) {
		reads(t, tab, "article", "Top.", "Bottom.")
	})
	t.Run("IsHarmlessOnEveryPageOfTheQuest", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		for _, place := range []string{"", "/canvas", "/timeline", "/timeline?seq=12", "/papers", "/agents", "/agents/agent-0", "/agents/agent-0?tab=files", "/agents/agent-1"} {
			tab.Go("#/q/traps" + place)
			tab.Eval(`document.querySelectorAll('details').forEach((d) => { d.open = true }), true`, nil)
			tab.Do(browsertest.Resized())
			harmless(t, tab)
		}
		tab.Go("#/q/traps")
		reads(t, tab, "#problem ~ *", "<script>", "https://evil.example/p.png")
		tab.Go("#/q/traps/agents/agent-0")
		reads(t, tab, ".message", "<script>", "onerror=")
	})
	t.Run("InAnAddressIsNoPlace", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		for _, place := range []string{
			"#/q/%3Cimg%20src=x%20onerror=alert(1)%3E", "#/q/..%2F..%2Fetc", "#/q/traps/papers/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "#/q/traps/agents/..%2F..",
			"#javascript:alert(1)", "#/compare?a=javascript:alert(1)&b=%3Cscript%3E", "#/q/traps/timeline?type=%3Cb%3E&text=%3Cscript%3E", "#/q/traps/timeline?seq=-1e99",
			"#/q/traps/canvas?node=%22%3E%3Cscript%3E", "#/q/traps/evidence?claim=NaN&source=1e308",
		} {
			tab.Go(place)
			if tab.Text("main") == "" || tab.Is(`document.querySelector('main').innerText.includes('This page broke')`) {
				t.Errorf("%s: the page shows %q", place, tab.Text("main"))
			}
			// That the server has no such quest is on the console, and right.
			for _, w := range tab.Wrong() {
				if !strings.Contains(w, "status of 4") {
					t.Errorf("%s: the page did what it must not: %s", place, w)
				}
			}
			harmless(t, tab)
		}
	})
}

// neverDrawn looks at drawings that hold programs, as attachments and by their address.
func neverDrawn(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	reads(t, tab, "article", "picture.svg", "Seen.", "<img src=x onerror=alert(1)>.svg")
	if tab.Is(`[...document.querySelectorAll('article img')].some((i) => i.naturalWidth > 0)`) {
		t.Error("a drawing is drawn")
	}
	tab.Click("article button", "show")
	tab.Until(`document.querySelector('article aside').innerText.includes('onload=') || document.querySelector('article aside').innerText.includes('onerror=')`)
	var files []struct{ Name, URL, Type, Disposition, Policy, Sniff string }
	tab.Eval(`Promise.all([...document.querySelectorAll('article a[download]')].map(async (a) => {
		const h = (await fetch(a.href)).headers;
		return { Name: a.download, URL: a.href, Type: h.get('Content-Type'), Disposition: h.get('Content-Disposition') ?? '', Policy: h.get('Content-Security-Policy'), Sniff: h.get('X-Content-Type-Options') };
	}))`, &files)
	if len(files) != 4 {
		t.Fatalf("%d attachments can be had, want 4", len(files))
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Disposition, "attachment") || strings.Contains(f.Type, "svg") || strings.Contains(f.Type, "html") || !strings.Contains(f.Policy, "sandbox") || f.Sniff != "nosniff" {
			t.Errorf("%s comes as %+v", f.Name, f)
		}
		// Somebody opens it in a tab: the browser saves it, and stays where it is.
		_ = chromedp.Run(tab.Ctx, chromedp.Navigate(f.URL))
		if tab.Is(`/svg|html/.test(document.contentType) && location.pathname.includes('/blobs/')`) {
			t.Errorf("%s is rendered", f.Name)
		}
	}
}

// reads wants words to be what an element shows, as words.
func reads(t *testing.T, tab *browsertest.Tab, selector string, words ...string) {
	t.Helper()
	all := fmt.Sprintf(`[...document.querySelectorAll(%s)].map((e) => e.textContent).join('\n')`, browsertest.Quote(selector))
	for _, w := range words {
		tab.Until(all + `.includes(` + browsertest.Quote(w) + `)`)
	}
}

// harmless fails the test if anything of a text became more than text.
func harmless(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	var found struct {
		Pwned, Place string
		Elements     []string
	}
	tab.Eval(`({ Pwned: String(window.__pwned ?? ''), Place: location.hash, Elements: [
		...document.querySelectorAll('main script, main style, main iframe, main object, main embed, main base, main meta, main link, main .prose form, main .prose svg:not(.katex svg)'),
		...[...document.querySelectorAll('main *')].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || (/^(href|src|action|formaction|xlink:href)$/i.test(a.name) && !/^(#|https?:|\/api\/)/.test(a.value) && !(e.tagName === 'IMG' && a.value.startsWith('blob:'))))),
	].map((e) => e.outerHTML.slice(0, 200)) })`, &found)
	if found.Pwned != "" {
		t.Errorf("%s: a script ran: %s", found.Place, found.Pwned)
	}
	for _, e := range found.Elements {
		t.Errorf("%s: text became %s", found.Place, e)
	}
	tab.Sound()
}
