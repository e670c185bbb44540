package tests

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeys: every place of a quest is reached without a mouse, and ? says how.
func TestKeys(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/")
	tab.Until(`document.querySelectorAll('.quest-card').length === 4`)
	press := func(keys string) { tab.Do(chromedp.KeyEvent(keys)) }
	find := func(words string) {
		tab.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
		tab.Until(`document.activeElement?.getAttribute('role') === 'combobox'`)
		tab.Do(chromedp.KeyEvent(words))
	}
	t.Run("AreListed", func(t *testing.T) {
		tab.In(t)
		press("?")
		tab.Until(`document.querySelector('dialog .keys')?.innerText.includes('its timeline')`)
		tab.Sound()
		press(kb.Escape)
		tab.Until(`!document.querySelector('dialog')`)
	})
	t.Run("GoThroughRows", func(t *testing.T) {
		tab.In(t)
		press("j")
		press("j")
		tab.Until(`document.activeElement === document.querySelectorAll('.quest-card .name a')[1]`)
		press("k")
		tab.Until(`document.activeElement === document.querySelectorAll('.quest-card .name a')[0]`)
	})
	t.Run("FindAQuestAndWhatIsInIt", func(t *testing.T) {
		tab.In(t)
		find("thermal-strict")
		tab.Until(`document.querySelector('.found [aria-selected=true]')?.innerText.includes('thermal-strict')`)
		tab.Sound()
		press(kb.Enter)
		tab.Until(`location.hash === '#/q/thermal-strict' && document.querySelector('h1')?.innerText === 'thermal-strict' && !document.querySelector('dialog')`)
		find("auditor")
		tab.Until(`document.querySelector('.found [aria-selected=true]')?.innerText.includes('auditor')`)
		press(kb.Enter)
		tab.Until(`location.hash === '#/q/thermal-strict/agents/auditor'`)
		find("7")
		tab.Until(`document.querySelector('.found [aria-selected=true]')?.innerText.includes('event 7')`)
		press(kb.Enter)
		tab.Until(`location.hash.includes('timeline?seq=7') && document.querySelector('.event-panel')`)
	})
	t.Run("JumpBetweenPages", func(t *testing.T) {
		tab.In(t)
		for key, place := range map[string]string{"o": "#/q/thermal-strict", "a": "#/q/thermal-strict/agents", "e": "#/q/thermal-strict/evidence", "t": "#/q/thermal-strict/timeline"} {
			press("g")
			press(key)
			tab.Until(`location.hash === '` + place + `'`)
		}
		press("g")
		press("q")
		tab.Until(`location.hash === '#/' && document.querySelector('.quest-card')`)
	})
	t.Run("AreLettersWhereSomebodyWrites", func(t *testing.T) {
		tab.In(t).Go("#/q/demo-number/timeline")
		tab.Until(`document.querySelector('.filters input[type=search]')`)
		press("/")
		tab.Until(`document.activeElement.type === 'search'`)
		press("g?jq")
		// The driver sends the letter of a key apart from the key, and so the slash may be there, too.
		tab.Until(`document.activeElement.value.endsWith('g?jq')`)
		if tab.Is(`document.querySelector('dialog') || location.hash === '#/'`) {
			t.Error("a letter that was written opened something")
		}
	})
}
