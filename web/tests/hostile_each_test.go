package tests

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// attacks are the texts of a hostile ledger, each with the words that must be read of it
// wherever it stands.
var attacks = map[string]struct{ text, words string }{
	"ScriptTags":          {scream, "<script>window.__pwned="},
	"JavaScriptLinks":     {"[press](javascript:window.__pwned='link') <a href=\"javascript:window.__pwned=2\">here</a> javascript:alert(3)", "javascript:alert(3)"},
	"DrawingsThatProgram": {drawing, "onload="},
	"HugeTables":          {"Before.\n\n" + tableOf(300, 60) + "\n\nAfter.", "r301c59"},
	"TurnedDirection":     {"pay \u202e001$\u202c \u2066now\u2069 \u200fgpj.exe", "RLO"},
}

// A hostile ledger can come from elsewhere, and may hold what this Lyceum would refuse to
// write: so the page is given each attack at each place.
func TestAHostileLedger(t *testing.T) {
	t.Parallel()
	chromium(t)
	s := serve(t, scholars(t))
	const alter = `
		const { place, text } = JSON.parse(sessionStorage.attack ?? '{}');
		const title = (p) => { if (place === 'title') p.title = text };
		if (/\/papers$/.test(path)) body.papers.forEach(title);
		if (/\/papers\/[0-9a-f]+$/.test(path)) {
			title(body);
			for (const l of [...body.citations, ...body.cited_by]) title(l);
			if (place === 'content') { body.content = text; for (const r of body.reviews) r.content = text }
			if (place === 'attachment') body.attachments = [{ name: text, hash: 'a'.repeat(64), size: 9, entrypoint: false }, { name: text + '.png', hash: 'b'.repeat(64), size: 9, entrypoint: false }];
		}
		if (/\/canvas$/.test(path) && place === 'title') for (const n of body.nodes) n.label = text;
		if (/\/transcript$/.test(path) && place === 'output') for (const m of body.messages) {
			m.error = text;
			for (const p of m.parts) { if (p.text !== undefined) p.text = text; if (p.output !== undefined) p.output = text; if (p.args !== undefined) p.args = text; if (p.tool) p.tool = text }
		}`
	for place, at := range map[string][]string{
		"title":      {"/papers", "PAPER", "/canvas"},
		"content":    {"PAPER"},
		"attachment": {"PAPER"},
		"output":     {"/agents/agent-0"},
	} {
		t.Run("InA"+strings.ToUpper(place[:1])+place[1:], func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, s)
			altered(tab, alter)
			paper := firstPaper(tab)
			for name, attack := range attacks {
				t.Run(name, func(t *testing.T) {
					tab.In(t)
					tab.Eval(fmt.Sprintf(`sessionStorage.attack = JSON.stringify({ place: %s, text: %s }), true`, browsertest.Quote(place), browsertest.Quote(attack.text)), nil)
					for _, p := range at {
						tab.Fresh("#/q/scholars" + strings.Replace(p, "PAPER", "/papers/"+paper, 1))
						tab.Eval(`document.querySelectorAll('details').forEach((d) => { d.open = true }), true`, nil)
						tab.Do(browsertest.Resized())
						withstands(t, tab, attack.words)
					}
				})
			}
			tab.In(t)
		})
	}
}

func firstPaper(tab *browsertest.Tab) string {
	var ref string
	tab.Eval(`(async () => (await (await ask('/api/quests/scholars/papers')).json()).papers.at(-1).ref)()`, &ref)
	return ref
}

// withstands wants the words of an attack to be read, and nothing else to come of it.
func withstands(t *testing.T, tab *browsertest.Tab, words string) {
	t.Helper()
	reads(t, tab, "main", words)
	// A person presses on all of it that is no part of the page itself.
	tab.Eval(`document.querySelectorAll('.dead-link, .dead-link *, .prose code').forEach((e) => e.click()), true`, nil)
	if tab.Is(`/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText + document.title)`) {
		t.Error("a mark that turns the text is obeyed")
	}
	if tab.Is(`[...document.querySelectorAll('main [title], main [aria-label], main [alt], main [download]')].some((e) => ['title', 'aria-label', 'alt', 'download'].some((a) => /[\u200f\u202a-\u202e\u2066-\u2069]/.test(e.getAttribute(a) ?? '')))`) {
		t.Error("a mark that turns the text is in what is read out, or saved under that name")
	}
	for _, width := range []int64{1280, 390} {
		tab.Do(chromedp.EmulateViewport(width, 800), browsertest.Resized())
		var wide string
		tab.Eval(`document.documentElement.scrollWidth > innerWidth + 1 ? [...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + '.' + e.className).slice(0, 6).join(', ') || 'it' : ''`, &wide)
		if wide != "" {
			t.Errorf("at %d px the page is wider than its window, by %s", width, wide)
		}
	}
	tab.Do(chromedp.EmulateViewport(1280, 800))
	// The pictures that are named here are in no blob: that the server says so is right.
	for _, w := range tab.Wrong() {
		if !strings.Contains(w, "/api/blobs/") {
			t.Errorf("the page did what it must not: %s", w)
		}
	}
	harmless(t, tab)
}
