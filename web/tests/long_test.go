package tests

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// slack is by how much a measure may miss its promise before the test fails: machines
// that test are busy with other things. What was measured is printed.
const slack = 3

// These measure, and so none of them is parallel: in Go that means that they have the
// machine to themselves, and all others come after them.

// measured returns the home of a quest that is measured. They are all made side by side, when
// the first is asked for: that takes longer than looking at them, and nothing else may run
// while one is looked at.
func measured(t testing.TB, name string) browsertest.Home {
	t.Helper()
	chromium(t)
	bin, err := program()
	must(t, err)
	at := func(name string) browsertest.Home {
		return browsertest.Home{Bin: bin, Dir: filepath.Join(shared, "measured-"+name)}
	}
	makeMeasured.Do(func() {
		var wg sync.WaitGroup
		for name, quest := range map[string]string{"long": longQuest(t), "wide": wideLab(t), "talk": talk(t, "talk", talkTurns, "")} {
			wg.Go(func() {
				// The lab ends when its turns do, which lyceum run calls a failure; its papers are counted.
				if _, err := at(name).Lyceum("run", quest); err != nil && name != "wide" {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
	return at(name)
}

var makeMeasured sync.Once

func TestAHundredThousandEvents(t *testing.T) {
	h := measured(t, "long")
	last := events(t, h, "long")
	if last < 100_000 {
		t.Fatalf("the quest has only %d events", last)
	}
	s := serve(t, h)
	tab := chromium(t).Tab(t, s)
	t.Run("ArePaintedWithinASecond", func(t *testing.T) {
		tab.In(t)
		// The first look at a quest by this server, which reads its ledger for it, and the
		// second, by a browser that has to read the page again.
		for _, which := range []string{"first", "second"} {
			tab.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.Base+"#/q/long"))
			tab.Until(`document.querySelector('h1')?.innerText === 'long'`)
			var paint, named, known float64
			tab.Eval(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`, &paint)
			tab.Eval(`performance.now()`, &named)
			tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
			tab.Eval(`performance.now()`, &known)
			t.Logf("%s look at %d events: first paint after %.0f ms, the quest's name after %.0f ms, its state after %.0f ms", which, last, paint, named, known)
			promise(t, "the first paint", paint, 1000)
			promise(t, "the quest's name", named, 1000)
			if which == "second" { // the first is the server's reading, which is printed
				promise(t, "the quest's state", known, 1000)
			}
		}
	})
	t.Run("AreScrolledWithoutALostRow", func(t *testing.T) {
		tab.In(t).Go("#/q/long/timeline?each=1")
		var worst float64
		for range 10 {
			took := scrolled(t, tab, rand.Float64(), last)
			worst = max(worst, took)
		}
		t.Logf("ten random places of %d events: the slowest was whole after %.0f ms", last, worst)
		promise(t, "a place in the timeline", worst, 1000)
		// The ends are places too.
		scrolled(t, tab, 0, last)
		scrolled(t, tab, 1, last)
		if got := seqs(tab); got[len(got)-1] != last {
			t.Errorf("at its end the timeline shows %v; the last event is %d", got, last)
		}
	})
	t.Run("AreScrolledSmoothly", func(t *testing.T) {
		tab.In(t).Go("#/q/long/timeline")
		smooth(tab, `document.querySelector('.vlist')`, "the timeline")
	})
	t.Run("AreBrushedInLanesWithoutALongTask", func(t *testing.T) {
		tab.In(t).Go("#/q/long/timeline")
		brushed(t, tab)
	})
	tab.In(t).Sound()
}

// brushed drags over the lanes and back, and lets go: the list then has what happened in that stretch.
func brushed(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	tab.Until(`document.querySelector('.lanes-drawn svg path.tools')?.getAttribute('d') && document.querySelector('.vrow .etype')`)
	tab.Do(browsertest.Settled())
	var worst float64
	tab.Eval(`(async () => {
		const tasks = [], watch = new PerformanceObserver((l) => tasks.push(...l.getEntries().map((e) => e.duration)));
		watch.observe({ type: 'longtask' });
		const box = document.querySelector('.lanes-drawn'), at = box.getBoundingClientRect();
		box.setPointerCapture = () => {};
		const send = (kind, x) => box.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, pointerId: 1, clientX: at.left + x, clientY: at.top + 10 }));
		const frame = () => new Promise(requestAnimationFrame);
		for (let i = 0; i < 60; i++) { send('pointermove', 120 + i * 8); await frame() }
		send('pointerdown', 200);
		for (let i = 0; i < 120; i++) { send('pointermove', 200 + i * 4); await frame() }
		await new Promise((done) => setTimeout(done, 100));
		const worst = Math.max(0, ...tasks);
		send('pointerup', 680);
		watch.disconnect();
		return worst;
	})()`, &worst)
	t.Logf("while the lanes were brushed the longest task over 50 ms took %.0f ms (0: none)", worst)
	promise(t, "a task while the lanes are brushed", worst, 50)
	tab.Until(`location.hash.includes('from=') && / of .* events/.test(document.querySelector('.timeline-count').innerText) && document.querySelector('.vrow .etype')`)
	tab.Click(".lanes button", "All of it")
	tab.Until(`!location.hash.includes('from=')`)
}

// scrolled moves the timeline to a place and waits until every row of the window is
// there. It returns how many milliseconds that took, and fails the test unless the rows
// are those of the ledger, each once and in order.
func scrolled(t *testing.T, tab *browsertest.Tab, at float64, last uint64) float64 {
	t.Helper()
	var took float64
	tab.Eval(fmt.Sprintf(`new Promise((done, fail) => {
		const box = document.querySelector('.vlist'), began = performance.now();
		box.scrollTop = %f * (box.scrollHeight - box.clientHeight);
		const look = () => {
			const rows = [...box.querySelectorAll('.vrow')];
			const { top, bottom } = box.getBoundingClientRect();
			const seen = rows.filter((r) => { const b = r.getBoundingClientRect(); return b.bottom > top + 1 && b.top < bottom - 1 });
			const covered = seen.length > 0 && seen[0].getBoundingClientRect().top <= top + 1 && seen.at(-1).getBoundingClientRect().bottom >= bottom - 1;
			if (covered && seen.every((r) => r.querySelector('.etype'))) done(performance.now() - began);
			else if (performance.now() - began > 20000) fail(new Error('rows are missing: ' + seen.map((r) => r.innerText).join(' | ').slice(0, 600)));
			else requestAnimationFrame(look);
		};
		requestAnimationFrame(() => requestAnimationFrame(look));
	})`, at), &took)
	got := seqs(tab)
	// A place of the bar stands for a row, to within what a window shows.
	want := at * float64(last)
	if len(got) < 10 || float64(got[0]) > want+60 || float64(got[len(got)-1]) < want-60 {
		t.Errorf("at %.4f of %d events the timeline shows %v", at, last, got)
	}
	for i, seq := range got {
		if seq != got[0]+uint64(i) {
			t.Fatalf("event %d is shown after %d", seq, got[0]+uint64(i)-1)
		}
	}
	return took
}

func seqs(tab *browsertest.Tab) []uint64 {
	var got []uint64
	tab.Eval(`[...document.querySelectorAll('.vrow .eseq')].map((e) => Number(e.innerText))`, &got)
	return got
}

func TestFiveHundredPapers(t *testing.T) {
	tab := chromium(t).Tab(t, serve(t, measured(t, "wide")))
	began := time.Now()
	tab.Do(chromedp.Navigate("about:blank"))
	tab.Go("#/q/wide/canvas")
	var drawn struct {
		Layout        float64
		Nodes, Papers int
		Spots         int
	}
	tab.Eval(`(async () => {
		const canvas = await (await ask('/api/quests/wide/canvas')).json();
		const all = performance.getEntriesByName('lyceum-layout');
		const nodes = [...document.querySelectorAll('.react-flow__node')];
		return { Layout: Math.max(...all.map((m) => m.duration)), Nodes: Math.max(...all.map((m) => m.detail.nodes)),
			Papers: canvas.nodes.filter((n) => n.kind === 'paper').length, Spots: new Set(nodes.map((n) => n.style.transform)).size - nodes.length };
	})()`, &drawn)
	t.Logf("a canvas of %d papers, %d nodes in all: laid out in %.0f ms, at rest %.0f ms after it was opened", drawn.Papers, drawn.Nodes, drawn.Layout, float64(time.Since(began).Milliseconds()))
	if drawn.Papers < 500 || drawn.Nodes < drawn.Papers {
		t.Errorf("%d papers and %d nodes are drawn", drawn.Papers, drawn.Nodes)
	}
	if drawn.Spots != 0 {
		t.Errorf("%d nodes stand on others", -drawn.Spots)
	}
	promise(t, "the layout", drawn.Layout, 2000)
	tab.Sound()
}

// promise fails the test if a measure misses what is promised by far.
func promise(t testing.TB, what string, got, most float64) {
	t.Helper()
	if got < 0 || got > slack*most {
		t.Errorf("%s took %.0f ms; %.0f are promised", what, got, most)
	}
}

func TestTheFirstView(t *testing.T) {
	const most, mostFonts = 250 * 1000, 100 * 1000
	s := readers(t)
	tab := chromium(t).Tab(t, s)
	tab.Do(browsertest.Settled())
	// This tab was empty, and had nothing of the page in its cache.
	n, fonts := tab.Received()
	t.Logf("the first view of all quests takes %d bytes, and its fonts %d", n, fonts)
	if n < 10_000 || n > most {
		t.Errorf("the first view takes %d bytes, want at most %d", n, most)
	}
	if fonts < 10_000 || fonts > mostFonts {
		t.Errorf("the fonts of the first view take %d bytes, want some, and at most %d", fonts, mostFonts)
	}
}

// turns is how long the long quest is, in turns of some eighty events. With -turns 12500
// it is a million of them.
var turns = flag.Int("turns", 1250, "how many turns the long quest has")

// longQuest is a quest of one agent with a hundred thousand events and some.
func longQuest(t testing.TB) string {
	t.Helper()
	var calls strings.Builder
	for i := range 40 {
		fmt.Fprintf(&calls, "      - {tool: calculate, args: {code: 'print(${turn} + %d)'}}\n", i)
	}
	return folder(t, map[string]string{
		"quest.yaml": "name: long\nproblem: Does it hold?\nmodel: script:plan.yaml\ntools: [calculate]\n",
		"plan.yaml":  fmt.Sprintf("rules:\n  - on: {until_turn: %d}\n    usage: {input: 10, output: 5}\n    call:\n", *turns) + calls.String() + "  - say: It holds.\n",
	})
}

// wideLab is a lab that has published five hundred papers, most of which cite another,
// when it runs out of turns.
func wideLab(t testing.TB) string {
	t.Helper()
	return folder(t, map[string]string{
		"quest.yaml": "name: wide\nsociety: lab\nagents: 25\nreviewers: 1\nproblem: What survives?\nmodel: script:plan.yaml\ncomputer: none\nlimits: {turns: 1600}\n",
		"plan.yaml": `rules:
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}]
  - on: {last: "(?:has published) ([0-9a-f]{32})"}
    call: [{tool: submit_publication, args: {title: "It follows", content: "As $1 says."}}]
  - call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is."}}]
`,
	})
}
