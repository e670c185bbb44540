package tests

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTheDocumentsAreAccessible in every size, light and dark.
func TestTheDocumentsAreAccessible(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	tab := chromium(t).Tab(t, readers(t))
	for _, name := range []string{"index", "lab"} {
		tab.Go("docs/" + name + ".html")
		inEverySize(t, tab, "Documents-"+name, axe)
	}
}

// TestTheDocumentsAreSearched by keys: whoever types finds a section, goes there, and comes back to what was found.
func TestTheDocumentsAreSearched(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("docs/index.html")
	const first = `document.querySelector('#found a')?.textContent`
	tab.Do(chromedp.KeyEvent("backups")) // the field has the focus
	tab.Until(first + ` === 'Backups (cli)' && document.getElementById('all').hidden`)
	tab.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	tab.Until(`location.pathname.endsWith('/docs/cli.html') && location.hash === '#backups'`)
	if !tab.Is(`(() => { const { top } = document.getElementById('backups').getBoundingClientRect(); return top >= 0 && top < innerHeight })()`) {
		t.Error("the section that was chosen is not in sight")
	}
	tab.Do(chromedp.NavigateBack())
	tab.Until(first + ` === 'Backups (cli)' && document.getElementById('q').value === 'backups'`)

	tab.Do(chromedp.SetValue("#q", ""), chromedp.Focus("#q"), chromedp.KeyEvent("nosuchword <img src=x>"))
	tab.Until(`document.getElementById('count').textContent === '0 sections'`)
	tab.Do(chromedp.SetValue("#q", ""), chromedp.Focus("#q"), chromedp.KeyEvent("<script>"))
	tab.Until(`document.querySelectorAll('#found script, #found img').length === 0 && document.querySelectorAll('#found li').length > 0`)
	tab.Go("docs/index.html#q=%") // no text is written so
	tab.Do(chromedp.KeyEvent("backups"))
	tab.Until(first + ` === 'Backups (cli)'`)
}
