package tests

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAPhone shows agents as cards, and of the timeline the time and the words.
func TestAPhone(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Do(chromedp.EmulateViewport(390, 844))
	t.Run("HasAgentsAsCards", func(t *testing.T) {
		tab.In(t).Fresh("#/q/thermal/agents")
		tab.Until(`document.querySelector('.agent-cards .card')`)
		var agents int
		answer(tab, "/quests/thermal/agents", `a.agents.length - document.querySelectorAll('.agent-cards .card').length`, &agents)
		if agents != 0 || tab.Is(`document.querySelector('table.agents')`) {
			t.Errorf("%d agents have no card, or there is a table", agents)
		}
		reads(t, tab, ".agent-cards .card", "turn", "tokens", "command")
		if !tab.Is(`document.documentElement.scrollWidth <= innerWidth`) {
			t.Error("the page is wider than the phone")
		}
		picture(tab, "phone-agents")
	})
	t.Run("KeepsTimeAndWordsOfTheTimeline", func(t *testing.T) {
		tab.In(t).Fresh("#/q/thermal/timeline")
		tab.Until(`document.querySelector('.vrow .etype')`)
		if !tab.Is(`[...document.querySelectorAll('.vrow')].filter((r) => r.querySelector('.erow')).every((r) => /\d\d:\d\d:\d\d/.test(r.innerText) && r.innerText.replace(/\d\d:\d\d:\d\d/, '').trim().length > 8)`) {
			t.Errorf("a row has no time or no words: %q", tab.Text(".vlist"))
		}
	})
	t.Run("HasTheFiltersBehindOneButton", func(t *testing.T) {
		tab.In(t).Fresh("#/q/thermal/timeline")
		tab.Until(`document.querySelector('.filters .fold')?.getAttribute('aria-expanded') === 'false'`)
		const seen = `[...document.querySelectorAll('.filters select, .filters input')].some((e) => e.getClientRects().length > 0)`
		if tab.Is(seen) || !tab.Is(`document.querySelector('.filters').getBoundingClientRect().height < 70`) {
			t.Error("the filters take the room of the list, want one row")
		}
		tab.Click(".filters button", "Filter")
		tab.Until(`document.querySelector('.filters .fold').getAttribute('aria-expanded') === 'true' && ` + seen)
	})
	tab.In(t).Sound()
}

// TestALargeScreenIsUsed, and every page leads to the documents and says which Lyceum it is.
func TestALargeScreenIsUsed(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Do(chromedp.EmulateViewport(2000, 1100))
	tab.Fresh("#/q/thermal")
	tab.Until(`document.querySelector('main .page')`)
	if !tab.Is(`document.querySelector('main .page').getBoundingClientRect().width > 1500`) {
		t.Error("the page of a quest leaves most of a large screen empty")
	}
	var version string
	answer(tab, "/options", `a.version`, &version)
	tab.Until(`document.querySelector('.top .version-of')`)
	if got := tab.Text(".top .version-of"); got != version || version == "" {
		t.Errorf("the top bar says version %q, want %q", got, version)
	}
	var help string
	tab.Eval(`fetch([...document.querySelectorAll('.top a')].find((a) => a.innerText === 'Help').href).then((r) => r.ok ? r.text() : '')`, &help)
	if len(help) < 500 {
		t.Errorf("Help leads to %q, want the documents", help)
	}
	picture(tab, "wide-2000")
	tab.Sound()
}
