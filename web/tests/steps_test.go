package tests

import (
	"testing"

	"lyceum/web/tests/browsertest"
)

// steps counts what a person does: each click is a step.
type steps struct {
	*browsertest.Tab
	taken int
}

func (s *steps) click(selector, words string) {
	s.T().Helper()
	s.taken++
	s.Click(selector, words)
}

// running makes of the lab that has run one that runs: with two dozen agents, with prices and a limit, as far as the
// page is told. Its papers, reviews and votes are its own.
const running = `
	if (/\/quests\/lab-number$/.test(path)) {
		const like = { ...body.team[0], papers: [], turns: 3 };
		body.running = true; body.status = 'running'; body.agents = 24;
		body.limits = { ...body.limits, cost_usd: '10' }; body.cost_usd = '3.25';
		body.team = Array.from({ length: 24 }, (_, i) => ({ ...like, name: 'agent-' + i, doing: { kind: i === 7 ? 'running' : 'thinking', since: body.created, seq: 1,
			...(i === 7 ? { tool: 'exec', command: 'python3 sieve.py' } : {}) } }));
	}
	if (/\/quests\/lab-number\/cost$/.test(path)) {
		const last = body.points.at(-1), end = Date.parse(last.time);
		body.points = Array.from({ length: 6 }, (_, i) => ({ ...last, time: new Date(end - (5 - i) * 60000).toISOString(), total_usd: String(0.65 * i) }));
	}`

// TestFiveTasksTakeTwoSteps: what people come for is at most two clicks from the list of quests.
func TestFiveTasksTakeTwoSteps(t *testing.T) {
	t.Parallel()
	s := academics(t)
	for name, c := range map[string]struct {
		live bool
		do   func(t *testing.T, tab *steps)
	}{
		"WhoAgrees": {false, func(t *testing.T, tab *steps) {
			reads(t, tab.Tab, ".hero-said", "papers say so", "voted for it")
		}},
		"WhyThisPaperWasRejected": {false, func(t *testing.T, tab *steps) {
			tab.Until(`document.querySelector('.feed li')`)
			tab.Eval(`[...document.querySelectorAll('.feed li')].find((e) => e.innerText.includes('rejected')).querySelector('a').id = 'this-one', true`, nil)
			tab.click("#this-one", "")
			tab.Until(`[...document.querySelectorAll('.review')].some((r) => /reject/i.test(r.innerText) && r.innerText.length > 40)`)
		}},
		"WhatItCostAndWhenItEnds": {true, func(t *testing.T, tab *steps) {
			reads(t, tab.Tab, "section[aria-label=Budget]", "$3.25", "$10.00")
			tab.Until(`/\$0\.65 a minute, limit in \d+ min/.test(document.querySelector('.plots')?.textContent ?? '')`)
		}},
		"WhatAgent7DoesNow": {true, func(t *testing.T, tab *steps) {
			tab.click(".agent-name", "agent-7")
			reads(t, tab.Tab, ".team .told", "agent-7", "running", "exec python3 sieve.py")
		}},
		"WhetherTheRecordIsIntact": {false, func(t *testing.T, tab *steps) {
			tab.click(".known button", "Check now")
			reads(t, tab.Tab, ".known", "replayed identically")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := &steps{Tab: chromium(t).Tab(t, s)}
			if c.live {
				before(tab.Tab, quiet)
				altered(tab.Tab, running)
				tab.Fresh("#/")
			}
			tab.click(".quest-card a", "lab-number")
			tab.Until(`document.querySelector('h1')?.innerText === 'lab-number'`)
			c.do(t, tab)
			if tab.taken > 2 {
				t.Errorf("%s: took %d steps from the list of quests, want at most 2", name, tab.taken)
			}
			tab.Sound()
		})
	}
}
