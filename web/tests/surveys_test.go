package tests

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestAStudyOfSeveralQuests: a person makes a study by the form, watches it end, sets its quests side by
// side, and opens what the page exports.
func TestAStudyOfSeveralQuests(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	h := home(t)
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/studies")
	tab.Until(`document.querySelector('main')?.innerText.includes('No studies yet')`)
	tab.Click("main a", "New study")
	tab.Until(`location.hash === '#/studies/new' && document.querySelector('form')`)
	tab.Click("form button", "Start the study")
	tab.Until(`[...document.querySelectorAll('.field .wrong')].some((e) => e.innerText.includes('no question')) && document.activeElement?.matches('[aria-invalid="true"]')`)
	fill(tab, "Question", "What is 17 * 23?")
	fill(tab, "Name", "product")
	fill(tab, "Seeds", "1..2, 7")
	tab.Eval(`[...document.querySelectorAll('.study-choices .choice')].find((l) => l.innerText.trim() === 'lab').querySelector('input').click(), true`, nil)
	tab.Until(`document.querySelector('.study-agents')`)
	tab.Eval(`document.querySelector('.study-agents').focus(), true`, nil)
	tab.Do(chromedp.KeyEvent("2"))
	tab.Until(`document.querySelector('.estimate')?.innerText.includes('6 quests, each with $0.17 at most')`)
	inEverySize(t, tab, "NewStudy", axe)
	tab.Click("form button", "Start the study")
	tab.Until(`location.hash === '#/studies/product' && document.querySelectorAll('.study-cells tbody tr').length === 6`)
	tab.Until(`document.querySelector('.head .badge')?.innerText === 'finished'`)
	reads(t, tab, ".study-answers", "391")
	reads(t, tab, ".study-meters", "$0.00 of $1.00", "6 of 6")
	tab.Eval(`(() => { const s = document.querySelector('select[aria-label="Put cells together"]'); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(s, 'society'); s.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
	tab.Until(`[...document.querySelectorAll('.side-by-side thead th')].map((h) => h.innerText.trim()).join() === 'figure,solo,lab'`)
	tab.Eval(`[0, 1, 2].forEach((n) => document.querySelectorAll('.study-cells input')[n].click()), true`, nil)
	tab.Until(`document.querySelectorAll('[aria-label="Quests side by side"] thead a').length === 3`)
	pictures(tab, "study-of-several")
	inEverySize(t, tab, "Study", axe)
	exportedStudy(t, tab)
	tab.Eval(`document.querySelectorAll('.study-cells input')[2].click(), true`, nil)
	tab.Click("main a", "Step by step")
	tab.Until(`location.hash.includes('compare?a=product-1&b=product-2') && document.querySelector('h1')?.innerText === 'Compare'`)
	tab.Go("#/studies")
	tab.Until(`document.querySelector('.study-card')?.innerText.includes('6 of 6')`)
	inEverySize(t, tab, "Studies", axe)
	tab.Click(".study-card a", "product")
	tab.Until(`document.querySelector('.study-cells tbody a')`)
	tab.Click(".study-cells tbody a", "product-1")
	tab.Until(`location.hash === '#/q/product-1'`)
}

// exportedStudy fetches both files of a study as the browser does, by their links alone.
func exportedStudy(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	awaits := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	var table, crate string
	tab.Do(chromedp.Evaluate(`fetch(document.querySelector('a[download="product.csv"]').href).then((r) => r.text())`, &table, awaits))
	if lines := strings.Split(strings.TrimSpace(table), "\r\n"); len(lines) != 7 || !strings.HasPrefix(lines[0], "cell,society,model,seed,quest,") {
		t.Errorf("the table that the page exports has %d lines, want 7:\n%s", len(lines), table)
	}
	// What the browser would save is caught where the page asks for it.
	tab.Eval(`(() => { HTMLAnchorElement.prototype.click = function () { window.saved = this.href }; return true })()`, nil)
	tab.Click(".head button", "Crate")
	tab.Until(`window.saved`)
	tab.Do(chromedp.Evaluate(`fetch(window.saved).then((r) => r.arrayBuffer()).then((b) => { let s = ''; new Uint8Array(b).forEach((c) => { s += String.fromCharCode(c) }); return btoa(s) })`, &crate, awaits))
	data, err := base64.StdEncoding.DecodeString(crate)
	must(t, err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if _, err := z.Open("quests/product-6.zip"); err != nil || len(z.File) != 9 {
		t.Errorf("the crate that the page exports has %d files (%v), want nine with all quests", len(z.File), err)
	}
}
