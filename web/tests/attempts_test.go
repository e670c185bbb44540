package tests

import (
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"
)

// made has the page get the attempts of a maker: one that rules rejected, one that its story did,
// one that passed and was tried twice; with hostile texts in it.
func made(tab *browsertest.Tab) {
	altered(tab, `
		const sight = (text) => ({ title: 'Counter', text: { text }, accessibility: { text: 'button "Add"' }, output: {}, errors: {}, exit: 0, lines: ['refused: GET http://away.example/'], files: [] });
		const tier = (n, verdict, more) => ({ tier: n, call: 5, seq: 6, verdict, findings: [], stories: [], criteria: [], duration_us: 1200000, ...more });
		const attempt = (n, state, more) => ({ attempt: n, seq: 4, last: 6, maker: 'maker', intent: 'A counter, try ' + n, path: 'page', tree: 'a'.repeat(64), state, stories: [], tiers: [], marks: [], tries: [], ...more });
		const tried = (seq, surprise, held) => ({ seq, call: seq + 1, observed: seq + 2, steps: ['click button “Add”'], end: 'done', before: sight('0'), after: sight(held ? '1' : '0'), unforeseen: held ? 0 : 1, changes: held ? [] : ['<img src=x onerror=alert(1)>'], surprise,
			expect: [{ condition: 'text of status “Count” is “1”', loop: 'counting', probability: 900, held, surprise }] });
		if (path.endsWith('/attempts')) return { structure: { seq: 3, parts: ['lever add (mechanic, instant) at button “Add”', 'loop counting: add → one more in count'] }, attempts: [
			attempt(1, 'rejected', { intent: '<script>alert(1)</script> \u202e', tiers: [tier(1, 'failed', { findings: [{ check: 'names', kind: 'failed', where: 'index.html:7', expected: 'a name', observed: 'a button without one', required: true }] })], reward: { seq: 7, sum: 0, stories: 0, accessibility: 0, conditions: 0, held_out: null } }),
			attempt(2, 'rejected', { tiers: [tier(1, 'passed'), tier(2, 'waived'), tier(3, 'failed', { stories: [{ name: 'adds', verdict: 'assertion', met: 0, of: 1, findings: [{ check: 'text', kind: 'failed', expected: '1', observed: '0' }], seen: sight('0') }] })], reward: { seq: 8, sum: 300, stories: 0, accessibility: 300, conditions: 0, held_out: null } }),
			attempt(3, 'passed', { tiers: [tier(1, 'passed'), tier(2, 'passed', { criteria: [{ criterion: 'clear', mark: 800 }] }), tier(3, 'passed')], marks: [{ seq: 9, judge: 'judge-1', marks: [{ criterion: 'clear', mark: 800, quotation: 'Add' }] }], tries: [tried(10, 810000, false), tried(14, 10000, true)], reward: { seq: 12, sum: 1000, stories: 500, accessibility: 300, conditions: 200, held_out: 1000 } })] };
		if (/^\/api\/quests\/[^/]+$/.test(path)) return { ...body, society: 'world', rules: 'world/1' };
	`)
	before(tab, `window.instead = (url) => (String(url).endsWith('/attempts') ? '/api/quests/demo-number/tasks' : undefined)`)
}

// TestTheAttemptsOfAMaker: verdicts, what was predicted beside what was seen, surprise as a plot;
// nothing that was made becomes part of the page.
func TestTheAttemptsOfAMaker(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	made(tab)
	tab.Fresh("#/q/demo-number/attempts")
	tab.Until(`document.querySelectorAll('.attempt').length === 3 && document.querySelector('.plot svg [data-point="1"]')`)
	said := tab.Text(".attempts")
	for _, want := range []string{"Surprise over time", "reward 1.00", "Predicted and seen", "text of status “Count” is “1”", "did not hold", "held", "0.810", "1 unforeseen", "something unforeseen", "<img src=x onerror=alert(1)>", "judge-1", "lyceum preview demo-number 3", "loop counting: add → one more in count"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q:\n%s", want, said)
		}
	}
	if tab.Is(`document.querySelector('.attempts script, .attempts iframe, .attempts img')`) || !strings.Contains(said, "<script>alert(1)</script> RLO") {
		t.Error("what an agent wrote is not shown as the text that it is")
	}
	picture(tab, "attempts")
	tab.Click(".attempt .title", "Attempt 1")
	tab.Until(`document.querySelector('#attempt-title')?.innerText === 'Attempt 1' && document.querySelector('.findings')`)
	if said := tab.Text(".tier"); !strings.Contains(said, "index.html:7") || !strings.Contains(said, "a button without one") {
		t.Errorf("what stood in the way is not told: %s", said)
	}
	tab.Sound()
}
