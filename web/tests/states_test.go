package tests

import (
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

func TestWhatAgentsAreDoing(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	before(tab, quiet)
	altered(tab, `
		if (/\/quests\/unstarted$/.test(path)) {
			const like = { ...body.team[0], papers: [], turns: 3 };
			body.running = true; body.status = 'running';
			body.team = [
				{ ...like, name: 'one', doing: { kind: 'thinking', since: body.created, seq: 1 } },
				{ ...like, name: 'two', doing: { kind: 'running', tool: 'exec', command: 'make -j8 proof', since: body.created, seq: 1 } },
				{ ...like, name: 'three', doing: { kind: 'reviewing', paper: 'a'.repeat(32), title: 'On sums of squares', since: body.created, seq: 1 } },
				{ ...like, name: 'four', doing: { kind: 'parked', reason: 'It repeats itself.', since: body.created, seq: 1 } },
			];
		}`)
	tab.Fresh("#/q/unstarted")
	t.Run("IsSaidOfEachWithWhatItIsAbout", func(t *testing.T) {
		tab.In(t)
		team := strings.Join(strings.Fields(tab.Text(".team")), " ")
		for _, want := range []string{"Right now", "one thinking", "two running exec make -j8 proof", "three reviewing On sums of squares", "four parked It repeats itself."} {
			if !strings.Contains(team, want) {
				t.Errorf("it does not say %q: %q", want, team)
			}
		}
	})
	t.Run("LeadsToThePaperAndToTheAgent", func(t *testing.T) {
		tab.In(t)
		if !tab.Is(`document.querySelector('.team a[href$="papers/` + strings.Repeat("a", 32) + `"]') && document.querySelector('.team a[href$="agents/four"]')`) {
			t.Error("nothing leads there")
		}
	})
	t.Run("IsNothingInAQuestThatDoesNotRun", func(t *testing.T) {
		still := chromium(t).Tab(t, readers(t))
		still.Go("#/q/demo-number")
		if team := still.Text(".team"); strings.Contains(team, "Right now") || strings.Contains(team, "thinking") {
			t.Errorf("it says %q", team)
		}
		still.Sound()
	})
	tab.In(t).Sound()
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	t.Run("SaysForWhat", func(t *testing.T) {
		t.Parallel()
		s := readers(t)
		tab := chromium(t).Tab(t, s)
		// A server that takes its time: until it is let go, nothing is answered.
		before(tab, `(() => { const real = window.fetch; window.fetch = (...args) => new Promise((done) => { (window.held ??= []).push(() => done(real(...args))) }) })()`)
		for place, words := range map[string]string{"#/": "Reading the quests…", "#/q/thermal": "Reading the ledger of thermal…", "#/compare?a=thermal&b=thermal-strict": "Reading both quests…"} {
			tab.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.Base+place))
			tab.Until(`document.querySelector('.waiting') && document.querySelector('main').innerText.includes(` + browsertest.Quote(words) + `)`)
			tab.Eval(`held.splice(0).forEach((f) => f()), true`, nil)
		}
	})
}

func TestTheLedgerOnThePage(t *testing.T) {
	t.Parallel()
	t.Run("IsSaidToBeChangedIfALineWas", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		altered(tab, `if (/\/events$/.test(path)) body.events.at(-1).event.actor = 'somebody'`)
		tab.Fresh("#/q/thermal/timeline?seq=7")
		tab.Until(`document.querySelector('.event-panel [data-verdict=different]')`)
		reads(t, tab, ".event-panel", "It was changed")
	})
}

func TestALiveCanvas(t *testing.T) {
	t.Parallel()
	t.Run("GrowsWhileTheLabWorks", func(t *testing.T) {
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
		tab.Go("#/q/growing/canvas")
		tab.Eval(`window.grown = [], new MutationObserver(() => { const n = document.querySelectorAll('.react-flow__node').length; if (n !== grown.at(-1)) grown.push(n) }).observe(document.querySelector('main'), { subtree: true, childList: true }), true`, nil)
		// Who zooms by a button looks at a part: the graph that grows leaves it there.
		tab.Do(browsertest.Settled())
		tab.Eval(`document.querySelector('.react-flow__controls-zoomin').click(), true`, nil)
		tab.Do(browsertest.Settled())
		scale := `new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a`
		var before, after float64
		tab.Eval(scale, &before)
		tab.Click(".controls button", "Start")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'out of budget'`)
		if tab.Eval(scale, &after); before != after {
			t.Errorf("the zoom was %v, and %v after the graph has grown; want it to stay", before, after)
		}
		tab.Do(browsertest.Settled())
		var want int
		// A review is a mark on its paper, not a node.
		answer(tab, "/quests/growing/canvas", "a.nodes.filter((n) => n.kind !== 'review').length", &want)
		var grown []int
		tab.Eval(`grown`, &grown)
		if len(grown) < 4 || grown[len(grown)-1] != want {
			t.Errorf("the nodes were %v, and should be %d", grown, want)
		}
		tab.Sound()
	})
}

func TestANarrowPage(t *testing.T) {
	t.Parallel()
	t.Run("ShowsWhichTabIsOpen", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		tab.Do(chromedp.EmulateViewport(390, 844))
		for _, page := range []string{"", "/canvas", "/agents", "/evidence"} {
			tab.Fresh("#/q/thermal" + page)
			if !tab.Is(`(() => { const r = document.querySelector('.questbar .tabs [aria-current]').getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth })()`) {
				t.Errorf("%q: the tab of the page is out of sight", page)
			}
		}
		tab.Sound()
	})
}
