package tests

import (
	"strings"
	"testing"
)

func TestTheFeed(t *testing.T) {
	t.Parallel()
	t.Run("LeadsFromARejectionToThePaperAndWhatWasSaidOfIt", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, academics(t))
		tab.Go("#/q/lab-number")
		tab.Until(`document.querySelectorAll('.feed li').length > 3`)
		reads(t, tab, ".feed", "published", "rejected", "voted", "answered")
		if !tab.Is(`(() => { const at = [...document.querySelectorAll('.feed time')].map((e) => e.dateTime); return at.every((x, i) => i === 0 || x <= at[i - 1]) })()`) {
			t.Error("the feed is not in order: want the newest first")
		}
		tab.Eval(`[...document.querySelectorAll('.feed li')].find((e) => e.innerText.includes('rejected')).querySelector('a').click(), true`, nil)
		tab.Until(`location.hash.includes('/papers/') && document.querySelector('.review')`)
		reads(t, tab, "article", "rejected")
		tab.Sound()
	})
	t.Run("GrowsWhileOneLooks", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "told", 5, "60ms"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/told")
		tab.Until(`document.querySelector('.feed')?.innerText.includes('Nothing yet')`)
		tab.Eval(`window.same = true`, nil)
		tab.Click("button", "Start")
		tab.Until(`document.querySelector('.feed li')?.innerText.includes('answered') && window.same`)
		tab.Sound()
	})
}

// TestManyAgents: two dozen are a grid in which each says what it does, and one of them more if asked.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	before(tab, quiet)
	altered(tab, `
		if (/\/quests\/unstarted$/.test(path)) {
			const like = { ...body.team[0], papers: [], turns: 3 };
			const kinds = ['thinking', 'running', 'resting'];
			body.running = true; body.status = 'running'; body.agents = 24;
			body.team = Array.from({ length: 24 }, (_, i) => ({ ...like, name: 'agent-' + i, doing: { kind: kinds[i % 3], since: body.created, seq: 1,
				...(i % 3 === 1 ? { tool: 'exec', command: 'make proof-' + i } : {}) } }));
		}`)
	tab.Fresh("#/q/unstarted")
	tab.Until(`document.querySelectorAll('.agent-cell').length === 24`)
	reads(t, tab, ".team", "8 running, 8 thinking, 8 resting")
	if text := tab.Text(".team"); strings.Contains(text, "make proof-7") {
		t.Errorf("what agent-7 runs is shown though nobody asked: %q", text)
	}
	tab.Click(".agent-name", "agent-7")
	tab.Until(`document.querySelector('.team .told')?.innerText.includes('exec make proof-7')`)
	tab.Click(".agent-name", "agent-7")
	tab.Until(`!document.querySelector('.team .told')`)
	tab.Sound()
}
