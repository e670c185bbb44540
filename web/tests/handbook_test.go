package tests

import (
	"net/url"
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

// TestTheDocumentsAreSearched by keys: whoever types finds a section and goes there, and the address has what was looked for.
func TestTheDocumentsAreSearched(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("docs/index.html")
	const first = `document.querySelector('#found a')?.textContent`
	tab.Do(chromedp.KeyEvent("backups")) // the field has the focus
	tab.Until(first + ` === 'Backups (cluster)' && document.getElementById('all').hidden`)
	tab.Until(`location.hash === '#q=backups'`)
	tab.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	tab.Until(`location.pathname.endsWith('/docs/cluster.html') && location.hash === '#backups'`)
	tab.Until(`(({ top }) => top > -2 && top < innerHeight)(document.getElementById('backups').getBoundingClientRect())`)
	tab.Fresh("docs/index.html#q=backups") // where the browser's way back leads
	tab.Until(first + ` === 'Backups (cluster)' && document.getElementById('q').value === 'backups'`)

	for _, words := range []string{"nosuchword <img src=x>", "<script>"} {
		tab.Fresh("docs/index.html#q=" + url.PathEscape(words))
		tab.Until(`document.getElementById('count').textContent.endsWith(' sections') && document.querySelectorAll('#found script, #found img').length === 0`)
	}
	tab.Fresh("docs/index.html#q=%") // no text is written so
	tab.Do(chromedp.KeyEvent("backups"))
	tab.Until(first + ` === 'Backups (cluster)'`)
}
