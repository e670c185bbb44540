package tests

import (
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPlots: what was used up is drawn with axes, read by keys and as a table, and saved as files.
func TestPlots(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/q/demo-number")
	tab.Until(`document.querySelector('.plots .chart-card svg path.curve')`)
	if got := tab.Text(".plots .chart-card h3"); got != "Tokens" {
		t.Errorf("the first plot is %q, want the tokens of a quest without a price", got)
	}
	t.Run("AreReadByKeys", func(t *testing.T) {
		tab.In(t).Eval(`document.querySelector('.plots .chart-box').focus(), true`, nil)
		tab.Do(chromedp.KeyEvent(kb.Home))
		tab.Until(`document.querySelector('.chart-tip')`)
		first := tab.Text(".chart-tip")
		tab.Do(chromedp.KeyEvent(kb.End))
		tab.Until(`!document.querySelector('.chart-tip').innerText.startsWith(` + browsertest.Quote(strings.Split(first, "\n")[0]) + `)`)
		if !tab.Is(`document.querySelector('.plots [aria-live]').innerText.includes('tokens')`) {
			t.Error("what a key reads is not said")
		}
	})
	t.Run("AreTablesToo", func(t *testing.T) {
		tab.In(t).Click(".plots button", "Table")
		tab.Until(`document.querySelector('.plots .table-box tbody tr:nth-child(2) td').innerText !== ''`)
		tab.Sound()
	})
	t.Run("AreSavedAsFiles", func(t *testing.T) {
		tab.In(t).Eval(`window.saved = [], URL.createObjectURL = (b) => (b.text().then((x) => saved.push(x)), 'blob:x'), HTMLAnchorElement.prototype.click = () => {}, true`, nil)
		tab.Eval(`[...document.querySelectorAll('.plots .chart-card')][0].querySelectorAll('.chart-tools button').forEach((b) => b.innerText !== 'Table' && b.dispatchEvent(new MouseEvent('click', { bubbles: true }))), true`, nil)
		tab.Until(`saved.length === 2`)
		if !tab.Is(`saved.some((x) => x.startsWith('after,tokens\r\n0,')) && saved.some((x) => x.startsWith('<svg') && x.includes('stroke-dasharray') && !x.includes('var('))`) {
			var got []string
			tab.Eval(`saved.map((x) => x.slice(0, 200))`, &got)
			t.Errorf("the files are %q", got)
		}
	})
}
