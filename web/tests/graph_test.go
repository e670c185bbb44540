package tests

import (
	"fmt"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// largeLab puts a lab of so many agents, papers and reviews into the answer of the server: the page
// cannot tell, and no test has to run it. Papers say one of three things, and cite those before them.
func largeLab(agents, papers, reviews int) string {
	return fmt.Sprintf(`
	if (!/\/canvas$/.test(path)) return body;
	const [agents, papers, reviews] = [%d, %d, %d], nodes = [], edges = [], ref = (i) => i.toString(16).padStart(32, '0');
	const at = (seq) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
	const node = (id, kind, seq, more) => nodes.push({ id, kind, label: id, seq, time: at(seq), last: seq, changes: [], ...more });
	const edge = (from, to, kind, seq) => edges.push({ id: kind + from + to + seq, from, to, kind, seq });
	for (let i = 0; i < agents; i++) node('agent:agent-' + i, 'agent', 1, { label: 'agent-' + i, agent: 'agent-' + i, status: 'active' });
	for (let i = 0; i < papers; i++) {
		const seq = 10 + 8 * i, author = 'agent-' + i %% agents, says = i %% 7 === 3 ? '12161' : i %% 11 === 5 ? '12159' : '12160';
		node('paper:' + ref(i), 'paper', seq, { ref: ref(i), says, agent: author, label: 'The ' + i + 'th way to count them, by a sieve of its own', status: ['PUBLISHED', 'PUBLISHED', 'PUBLISHED', 'REJECTED', 'SUBMITTED'][i %% 5] });
		edge('agent:' + author, 'paper:' + ref(i), 'wrote', seq);
		for (const back of [3, 17]) if (i >= back && i %% 4) edge('paper:' + ref(i), 'paper:' + ref(i - back), 'cites', seq);
		if (i %% 9 === 8) edge('paper:' + ref(i), 'paper:' + ref(i - 1), 'revises', seq);
	}
	for (let r = 0; r < reviews; r++) {
		const p = r %% papers, seq = 10 + 8 * p + 1 + Math.floor(r / papers), by = 'agent-' + (r + 1) %% agents, good = r %% 4;
		node('review:' + seq, 'review', seq, { ref: ref(p), agent: by, label: good ? 'accept' : 'reject', status: good ? 'ACCEPT' : 'REJECT' });
		edge('agent:' + by, 'review:' + seq, 'wrote', seq);
		edge('review:' + seq, 'paper:' + ref(p), 'reviews', seq);
	}
	for (let i = 0; i < agents / 3; i++) edge('agent:agent-' + i, 'paper:' + ref(1), 'votes', 9 * papers + i);
	const after = Number(query.get('after') ?? 0);
	return { ...body, nodes: after ? [] : nodes, edges: after ? [] : edges, agents: Array.from({ length: agents }, (_, i) => 'agent-' + i), head: Math.max(10 * papers, after), truncated: false }`, agents, papers, reviews)
}

// paperNumbered is the reference of a paper of largeLab.
func paperNumbered(i int) string { return fmt.Sprintf("%032x", i) }

const scaleOfCanvas = `new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a`

// TestALargeCanvas draws a lab of 24 agents, 42 papers and 121 reviews.
func TestALargeCanvas(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, serve(t, scholars(t)))
	altered(tab, largeLab(24, 42, 121))
	open := func(t *testing.T, at string) {
		tab.In(t).Fresh("#/q/scholars/canvas" + at)
		tab.Until(`document.querySelector('.react-flow__node')`)
		tab.Do(browsertest.Settled())
	}
	t.Run("HasReviewsAsMarksOnTheirPapers", func(t *testing.T) {
		open(t, "")
		var drawn struct{ Nodes, Papers, Agents, Marks, Edges int }
		tab.Eval(`({ Nodes: document.querySelectorAll('.react-flow__node').length, Papers: document.querySelectorAll('.thing.kind-paper').length,
			Agents: document.querySelectorAll('.thing.kind-agent').length, Marks: document.querySelectorAll('.thing .mark[data-mark]').length,
			Edges: document.querySelectorAll('.flow .edge-wrote, .flow .edge-reviews, .flow .edge-votes').length })`, &drawn)
		if drawn.Papers != 42 || drawn.Agents != 24 || drawn.Nodes != 66 || drawn.Marks != 121 || drawn.Edges != 0 {
			t.Errorf("drawn are %+v; want 42 papers, 24 agents and 121 marks, and no lines to agents", drawn)
		}
		pictures(tab, "canvas-24")
		tab.Sound()
	})
	t.Run("PutsThoseTogetherThatSayTheSame", func(t *testing.T) {
		open(t, "")
		if got := tab.Text(".band-name"); got == "" {
			t.Error("no band has a name")
		}
		if !tab.Is(`[...document.querySelectorAll('.band')].map((b) => b.innerText).join() === '12160 33 papers,12161 6 papers,12159 3 papers'`) {
			t.Errorf("the bands are %q", tab.Text(".react-flow__viewport-portal"))
		}
		if !tab.Is(`[...document.querySelectorAll('.react-flow__node:has(.kind-paper)')].every((n) => { const r = n.getBoundingClientRect();
			return [...document.querySelectorAll('.band')].some((b) => { const s = b.getBoundingClientRect(); return r.left >= s.left && r.right <= s.right && r.top >= s.top && r.bottom <= s.bottom }) })`) {
			t.Error("a paper stands outside of all bands")
		}
	})
	t.Run("IsDrawnByTime", func(t *testing.T) {
		open(t, "")
		tab.Click(".canvas-bar button", "By time")
		tab.Until(`document.querySelectorAll('.tick').length > 3`)
		tab.Do(browsertest.Settled())
		if !tab.Is(`(() => { const x = [...document.querySelectorAll('.react-flow__node[data-id^="paper:"]')].sort((a, b) => a.dataset.id < b.dataset.id ? -1 : 1).map((n) => new DOMMatrix(n.style.transform).e);
			return x.length === 42 && x.every((v, i) => i === 0 || v >= x[i - 1]) })()`) {
			t.Error("a paper stands left of one that came before it")
		}
		pictures(tab, "canvas-24-time")
	})
	t.Run("ShowsDotsThenTitlesThenCards", func(t *testing.T) {
		open(t, "")
		for _, level := range []struct{ class, button string }{{"level-cards", "zoomin"}, {"level-titles", "zoomout"}, {"level-dots", "zoomout"}} {
			for range 12 {
				if tab.Is(`document.querySelector('.flow.` + level.class + `')`) {
					break
				}
				tab.Eval(`document.querySelector('.react-flow__controls-`+level.button+`').click(), true`, nil)
				tab.Do(browsertest.Settled())
			}
			if !tab.Is(`document.querySelector('.flow.` + level.class + `')`) {
				t.Errorf("%s is not come to: the picture is %q", level.class, tab.Text(".flow"))
			}
		}
		if !tab.Is(`[...document.querySelectorAll('.thing .label')].every((l) => getComputedStyle(l).visibility === 'hidden')`) {
			t.Error("from afar there are words that nobody can read")
		}
	})
	t.Run("HasAMapAndALegend", func(t *testing.T) {
		open(t, "")
		if !tab.Is(`document.querySelectorAll('.react-flow__minimap-node').length === 66`) {
			t.Error("the map does not have all that is drawn")
		}
		reads(t, tab, ".legend", "published", "rejected", "submitted", "review for, against", "votes", "cites", "revises")
	})
	t.Run("IsSearchedByWhatASheetSays", func(t *testing.T) {
		open(t, "")
		search(tab, "12159")
		tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.startsWith('3 found') && document.querySelectorAll('.thing.found').length === 3`)
		search(tab, "37th way")
		tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.startsWith('1 found')`)
		tab.Eval(`document.querySelector('.canvas-bar .find').focus(), true`, nil)
		tab.Do(chromedp.KeyEvent("\r"))
		tab.Until(`location.hash.includes('` + paperNumbered(37) + `') && document.querySelector('.canvas-panel h2')?.innerText.includes('37th')`)
	})
	t.Run("IsNarrowedToWhatOnePaperRestsOnAndWhatRestsOnIt", func(t *testing.T) {
		open(t, "?node=paper:"+paperNumbered(20))
		reads(t, tab, ".canvas-panel", "Rests on", "on it")
		tab.Click(".canvas-bar button", "Focus")
		tab.Until(`document.querySelectorAll('.thing.kind-paper').length < 42`)
		// 20 is divided by 4 and cites none; 23 and 37 cite it, and others those.
		if !tab.Is(`['` + paperNumbered(20) + `', '` + paperNumbered(23) + `', '` + paperNumbered(37) + `'].every((ref) => document.querySelector('[data-id="paper:' + ref + '"]')) && !document.querySelector('[data-id="paper:` + paperNumbered(2) + `"]')`) {
			t.Errorf("what is left is not what it has to do with: %q", tab.Text(".flow"))
		}
		tab.Click(".canvas-bar button", "Focus")
		tab.Until(`document.querySelectorAll('.thing.kind-paper').length === 42`)
	})
	t.Run("OpensAReviewFromItsMark", func(t *testing.T) {
		open(t, "?node=paper:"+paperNumbered(0))
		tab.Eval(`document.querySelector('[data-id="paper:`+paperNumbered(0)+`"] [data-mark="review:12"]').click(), true`, nil)
		tab.Until(`location.hash.includes('review') && document.querySelector('.canvas-panel h2')?.innerText === 'accept' && document.querySelector('[data-id="paper:` + paperNumbered(0) + `"] .thing.selected')`)
	})
	tab.In(t).Sound()
}

// TestACanvasOfFiveHundredPapers: any of them is found with a word and a key.
func TestACanvasOfFiveHundredPapers(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, serve(t, scholars(t)))
	altered(tab, largeLab(60, 500, 1500))
	tab.Fresh("#/q/scholars/canvas")
	tab.Until(`document.querySelector('.flow.level-dots .thing')`)
	pictures(tab, "canvas-500")
	search(tab, "444th way")
	tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.startsWith('1 found')`)
	tab.Eval(`document.querySelector('.canvas-bar .find').focus(), true`, nil)
	tab.Do(chromedp.KeyEvent("\r"))
	tab.Until(`(() => { const n = document.querySelector('[data-id="paper:` + paperNumbered(444) + `"] .thing.selected')?.getBoundingClientRect(), f = document.querySelector('.flow').getBoundingClientRect();
		return n && n.left > f.left && n.right < f.right && n.top > f.top && n.bottom < f.bottom && n.width > 100 })()`)
	tab.Sound()
}

// TestALiveCanvasKeepsItsZoom: what comes in beside what is looked at does not move it, and neither does
// what comes in within the window.
func TestALiveCanvasKeepsItsZoom(t *testing.T) {
	t.Parallel()
	h := home(t)
	lyceum(t, h, "create", folder(t, map[string]string{
		"quest.yaml": "name: growing\nsociety: lab\nagents: 3\nreviewers: 1\ncomputer: none\nproblem: What survives?\nmodel: script:plan.yaml\nlimits: {turns: 24}\n",
		"plan.yaml": `rules:
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    delay: 150ms
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}]
  - delay: 150ms
    call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is."}}]
`}))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/growing/canvas?node=agent:agent-1")
	tab.Until(`document.querySelector('.thing.kind-agent.selected')`)
	tab.Do(browsertest.Settled())
	var before, after float64
	tab.Eval(scaleOfCanvas, &before)
	tab.Click(".controls button", "Start")
	tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'out of budget'`)
	tab.Until(`document.querySelectorAll('.react-flow__node').length > 6`)
	tab.Do(browsertest.Settled())
	if tab.Eval(scaleOfCanvas, &after); before != after {
		t.Errorf("who looks at a node saw the zoom go from %v to %v as papers came in", before, after)
	}
	tab.Sound()
}

// TestAnAgentAloneHasNoCanvas, and its address says where to look instead.
func TestAnAgentAloneHasNoCanvas(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/q/demo-number")
	tab.Until(`document.querySelector('.questbar .tabs')`)
	if tab.Is(`[...document.querySelectorAll('.questbar .tabs a')].some((a) => a.innerText === 'Canvas')`) {
		t.Error("an agent alone has a canvas among its tabs")
	}
	tab.Go("#/q/demo-number/canvas")
	tab.Click(".state a", "The timeline")
	tab.Until(`location.hash === '#/q/demo-number/timeline'`)
	tab.Sound()
}
