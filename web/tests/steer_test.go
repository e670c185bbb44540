package tests

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestTheControls(t *testing.T) {
	t.Parallel()
	t.Run("PauseResumeTellAndStop", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", slow(t, "steered", 400, "80ms"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/steered")
		status := func(want string) {
			tab.Until(`document.querySelector('.questbar .badge')?.innerText === '` + want + `'`)
		}
		status("created")
		tab.Click(".controls button", "Start")
		status("running")
		tab.Click(".controls button", "Message")
		fill(tab, "Message", "Please hurry.")
		tab.Click("dialog button", "Send")
		tab.Until(`document.querySelector('dialog .note.good')`)
		tab.Click("dialog button", "Close")
		tab.Click(".controls button", "Pause")
		status("paused")
		tab.Click(".controls button", "Resume")
		status("running")
		tab.Click(".controls button", "Stop")
		status("stopped")
		if trace := lyceum(t, h, "trace", "steered"); !strings.Contains(trace, "Please hurry.") {
			t.Error("what was said is not in the ledger")
		}
		tab.Click(".controls button", "Remove")
		tab.Click("dialog button", "Remove it")
		tab.Until(`document.querySelector('h1')?.innerText === 'Quests' && document.querySelector('main').innerText.includes('No quests yet')`)
		tab.Sound()
	})
	t.Run("RaiseLimits", func(t *testing.T) {
		t.Parallel()
		h, s, words := parrot(t, "bounded")
		lyceum(t, h, "limit", "bounded", "--max-turns", "1")
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/bounded")
		status := func(want string) {
			tab.Until(`document.querySelector('.questbar .badge')?.innerText === '` + want + `'`)
		}
		dialog := func(label, now, more, button string) {
			tab.Until(`document.querySelector('dialog[open]')`)
			find(tab)
			if hint := tab.Text(`[id="` + described(tab, label) + `"]`); hint != now {
				t.Errorf("%s: the dialog says %q, want %q", label, hint, now)
			}
			tab.Sound()
			fill(tab, label, more)
			tab.Click("dialog button", button)
			tab.Until(`!document.querySelector('dialog[open]')`)
		}
		tab.Click(".controls button", "Start")
		words <- ""
		status("out of budget")
		tab.Click(".controls button", "Start")
		dialog("Turns", "1 now", "2", "Go on")
		status("running")
		tab.Click(".controls button", "Limits")
		dialog("Turns", "2 now", "30", "Set")
		words <- "So be it."
		words <- ""
		status("finished")
		if trace := lyceum(t, h, "trace", "bounded", "--type", "budget.raised"); !strings.Contains(trace, "30 turns") {
			t.Errorf("the limit that was set while it ran is not in the ledger:\n%s", trace)
		}
		tab.Sound()
	})
	t.Run("ALimitIsToldWithWhatToDo", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		limits := map[string]string{"cost": "0", "turns": "1", "tokens": "1", "duration": "1ms", "storage": "1MiB"}
		for limit, most := range limits {
			// It comes to rest without an answer, which the exit code says, and here the error.
			if _, err := h.Lyceum("run", filling(t, "no-"+limit), "--max-"+limit, most); err == nil || !strings.Contains(err.Error(), "the limit on "+limit+" is reached") {
				t.Fatalf("a quest with a limit of %s on %s: got %v, want it to rest there", most, limit, err)
			}
		}
		tab := chromium(t).Tab(t, serve(t, h))
		for limit := range limits {
			tab.Go("#/q/no-" + limit)
			want := "The limit on " + limit + " is reached. Go on with a higher one: lyceum run no-" + limit + " --max-" + limit
			tab.Until(`document.querySelector('.notices')?.innerText.includes(` + browsertest.Quote(want) + `)`)
		}
		// What the words ask for, the button does: a quest whose storage is full goes on with more.
		tab.Go("#/q/no-storage")
		tab.Click(".controls button", "Start")
		tab.Until(`document.querySelector('dialog[open]')`)
		find(tab)
		if hint := tab.Text(`[id="` + described(tab, "Storage in MiB") + `"]`); hint != "1 now" {
			t.Errorf("the dialog says of storage %q, want %q", hint, "1 now")
		}
		fill(tab, "Storage in MiB", "64")
		tab.Click("dialog button", "Go on")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		if got := lyceum(t, h, "show", "no-storage", "--json"); !strings.Contains(got, `"storage": 67108864`) {
			t.Errorf("the limit that was given by the page is not the quest's:\n%s", got)
		}
		tab.Sound()
	})
	t.Run("SetTheMode", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", root+"/examples/two-tasks/quest.yaml")
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/two-tasks")
		const chosen = `document.querySelector('.controls .mode select')?.selectedOptions[0].innerText === `
		tab.Until(chosen + `'Go ahead'`)
		choose(tab, "Mode", "approve")
		tab.Until(`!document.querySelector('.controls .mode select').disabled && ` + chosen + `'Approve plans'`)
		if trace := lyceum(t, h, "trace", "two-tasks"); !strings.Contains(trace, "mode.set") {
			t.Errorf("the mode is not in the ledger:\n%s", trace)
		}
		picture(tab, "mode")
		tab.Sound()
	})
	t.Run("CheckTheRecord", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "run", root+"/examples/primes/quest.yaml")
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/primes")
		tab.Until(`document.querySelector('.record')?.innerText.includes('not checked here yet')`)
		tab.Click(".record button", "Check now")
		tab.Until(`document.querySelector('.record .good')`)
		said := tab.Text(".record")
		for _, want := range []string{"25 events consistent, replayed identically, just now", "4 calls run again: 4 the same", "on the word of the model script:plan.yaml: 5 events, none with the provider's id", "the machine that ran it"} {
			if !strings.Contains(said, want) {
				t.Errorf("the record says\n%s\nwant %q", said, want)
			}
		}
		tab.Click(".record summary", "Cite")
		head := tab.Text(".record pre")
		if _, hash, ok := strings.Cut(head, "sha256:"); !ok || !strings.Contains(lyceum(t, h, "verify", "primes", "--head", hash[:64]), "is the head") {
			t.Errorf("what is to be cited is no head of the quest: %s", head)
		}
		picture(tab, "record")
		tab.Sound()
	})
	t.Run("ForkFromAnEvent", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "run", root+"/examples/primes/quest.yaml")
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/primes/timeline?seq=7")
		tab.Click(".event-panel button", "Fork here")
		tab.Until(`document.querySelector('dialog[open]')`)
		find(tab)
		if !tab.Is(`field('After event').value === '7'`) {
			t.Error("the fork does not begin at the event")
		}
		fill(tab, "Name", "other-primes")
		tab.Click("dialog button", "Make the fork")
		tab.Until(`document.querySelector('h1')?.innerText === 'other-primes'`)
		tab.Until(`document.querySelector('.facts')?.innerText.includes('primes at 7')`)
		tab.Sound()
	})
}

func TestTheTimeline(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	const at = "#/q/demo-number/timeline"
	t.Run("IsNarrowedByTypeActorToolAndText", func(t *testing.T) {
		var tool string
		answer(tab, "/quests/demo-number/timeline", `a.tools.find((t) => t.name).name`, &tool)
		for _, by := range []struct{ query, rows string }{
			{"type=tool.call", `r.querySelector('.etype').innerText.startsWith('tool.call')`},
			{"actor=agent-0", `r.querySelector('.eactor').innerText === 'agent-0'`},
			{"tool=" + tool, `r.querySelector('.etool')?.innerText.trim() === '` + tool + `'`},
			{"text=squarefree", `true`},
		} {
			tab.In(t).Go(at)
			all := tab.Text(".timeline-count")
			name, value, _ := strings.Cut(by.query, "=")
			if name == "text" {
				tab.Eval(`document.querySelector('[type=search]').focus(), true`, nil)
				tab.Do(chromedp.KeyEvent(value), chromedp.KeyEvent(kb.Enter))
			} else {
				pick(tab, strings.ToUpper(name[:1])+name[1:], value)
			}
			tab.Until(`location.hash.includes('` + name + `=') && / of /.test(document.querySelector('.timeline-count').innerText)`)
			tab.Do(browsertest.Settled())
			var want int
			answer(tab, "/quests/demo-number/timeline?"+by.query, "a.matching", &want)
			if said := tab.Text(".timeline-count"); said == all || !strings.HasPrefix(said, strconv.Itoa(want)+" of ") {
				t.Errorf("%s: it says %q; the server finds %d", by.query, said, want)
			}
			if want > 0 && !tab.Is(`[...document.querySelectorAll('.vrow')].every((r) => r.querySelector('.etype') && `+by.rows+`)`) {
				t.Errorf("%s: other events are listed too", by.query)
			}
		}
	})
	t.Run("SaysOfEachEventWhatTheServerSays", func(t *testing.T) {
		tab.In(t).Go(at + "?each=1")
		tab.Until(`document.querySelector('.eline')`)
		tab.Do(browsertest.Settled())
		var lines, shown []string
		answer(tab, "/quests/demo-number/events?limit=5", `a.events.map((e) => e.line)`, &lines)
		tab.Eval(`[...document.querySelectorAll('.eline')].slice(0, 5).map((e) => e.textContent)`, &shown)
		if len(lines) != 5 || slices.Contains(lines, "") || !slices.Equal(lines, shown) {
			t.Errorf("the rows say %q, the server says %q; want five lines, the same", shown, lines)
		}
	})
	t.Run("LeadsFromAnEventToItsCauseAndItsEffects", func(t *testing.T) {
		tab.In(t).Go(at + "?seq=5")
		var chain struct{ Cause, Effect int }
		answer(tab, "/quests/demo-number/events/5", `({ Cause: a.cause?.seq ?? 0, Effect: a.effects[0]?.seq ?? 0 })`, &chain)
		if chain.Cause == 0 && chain.Effect == 0 {
			t.Fatal("this event has neither")
		}
		tab.Until(`document.querySelector('.event-panel [data-verdict=same]')`)
		for _, seq := range []int{chain.Cause, chain.Effect} {
			if seq == 0 {
				continue
			}
			tab.Go(at + "?seq=5")
			tab.Click(".chain .link", strconv.Itoa(seq))
			tab.Until(fmt.Sprintf(`document.querySelector('.event-panel h2')?.innerText === 'Event %d' && location.hash.includes('seq=%[1]d')`, seq))
		}
	})
	tab.In(t).Sound()
}

func TestTheCanvas(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	tab.Go("#/q/thermal/canvas")
	nodes := func() (n int) { tab.Eval(`document.querySelectorAll('.react-flow__node').length`, &n); return n }
	t.Run("DrawsAllThatAContractNetDid", func(t *testing.T) {
		tab.In(t)
		for _, kind := range []string{"agent", "task", "search", "computation", "source", "claim", "answer"} {
			if !tab.Is(`document.querySelector('.thing.kind-` + kind + `')`) {
				t.Errorf("no %s is drawn", kind)
			}
		}
		var graph struct{ Nodes, Kinds int }
		// A bid is a mark on the card of its task; who was awarded one stands there too, and is joined with it once it is selected.
		answer(tab, "/quests/thermal/canvas", `({ Nodes: a.nodes.filter((n) => n.kind !== 'bid').length, Kinds: new Set(a.edges.map((e) => e.kind)).size })`, &graph)
		if nodes() != graph.Nodes || graph.Kinds < 4 || !tab.Is(`['attacks', 'supports', 'caused-by'].every((kind) => document.querySelector('.flow .edge-' + kind))`) {
			t.Errorf("%d of %d nodes are drawn, or not all kinds of edges", nodes(), graph.Nodes)
		}
		var bids int
		answer(tab, "/quests/thermal/canvas", `a.nodes.filter((n) => n.kind === 'bid').length - document.querySelectorAll('.kind-task .mark').length`, &bids)
		if bids != 0 || !tab.Is(`document.querySelector('.kind-task .mark.good')`) {
			t.Errorf("%d bids are no marks on their tasks, or none of them is awarded", bids)
		}
		tab.Go("#/q/thermal-strict/canvas")
		if !tab.Is(`document.querySelector('.thing.kind-challenge.bad')`) {
			t.Error("no challenge is drawn")
		}
		tab.Go("#/q/thermal/canvas")
	})
	t.Run("OpensANodeAndFollowsItsEdges", func(t *testing.T) {
		tab.In(t)
		press(tab, `.react-flow__node[data-id="claim:1"]`)
		tab.Until(`document.querySelector('.canvas-panel h2')?.innerText.includes('arrhenius') && location.hash.includes('claim')`)
		tab.Click(".edges .link", "output of")
		tab.Until(`location.hash.includes('source') && document.querySelector('.canvas-panel h2')?.innerText.includes('output of')`)
		tab.Click(".canvas-panel a", "The source")
		tab.Until(`document.querySelector('.source')`)
	})
	t.Run("ShowsWhatOneAgentHadToDoWith", func(t *testing.T) {
		tab.In(t).Go("#/q/thermal/canvas")
		pick(tab, "Agent", "researcher-lexical")
		tab.Until(`document.querySelector('.thing.faint')`)
		if tab.Is(`document.querySelector('.react-flow__node[data-id="agent:researcher-lexical"] .thing.faint')`) {
			t.Error("the agent itself is faint")
		}
	})
	t.Run("IsReplayedFromTheFirstEventToNow", func(t *testing.T) {
		tab.In(t).Fresh("#/q/thermal/canvas")
		all := nodes()
		tab.Eval(`(() => { const e = document.querySelector('.slider input'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, '12'); e.dispatchEvent(new Event('input', { bubbles: true })); return true })()`, nil)
		tab.Until(`document.querySelector('.slider').innerText.includes('event 12 of')`)
		early := nodes()
		if early == 0 || early >= all {
			t.Errorf("after event 12 there are %d of %d nodes", early, all)
		}
		tab.Eval(`window.grown = [], new MutationObserver(() => grown.push(document.querySelectorAll('.react-flow__node').length)).observe(document.querySelector('.flow'), { subtree: true, childList: true }), true`, nil)
		tab.Click(".slider button", "Replay")
		tab.Until(`document.querySelector('.slider').innerText.includes('now') && document.querySelector('.slider button').innerText === 'Replay'`)
		if nodes() != all || !tab.Is(`new Set(grown).size > 3`) {
			t.Errorf("it ends with %d of %d nodes", nodes(), all)
		}
	})
	tab.In(t).Sound()
	t.Run("OfALabHasPapersReviewsVotesAndRevisions", func(t *testing.T) {
		lab := chromium(t).Tab(t, academics(t))
		lab.Go("#/q/lab-number/canvas")
		for _, what := range []string{".thing.kind-paper.good", ".thing.kind-paper.bad", ".kind-paper .mark.good", ".kind-paper .mark.bad", ".kind-paper .mark.vote", ".flow .edge-revises"} {
			if !lab.Is(`document.querySelector('` + what + `')`) {
				t.Errorf("%s is not drawn", what)
			}
		}
		if lab.Is(`document.querySelector('.flow .edge-wrote, .flow .edge-votes')`) {
			t.Error("lines to agents are drawn though nothing is selected")
		}
		lab.Go("#/q/lab-number/canvas?node=agent:agent-0")
		lab.Until(`['wrote', 'votes', 'reviews'].every((kind) => document.querySelector('.flow .edge-' + kind + '.touched'))`)
		lab.Sound()
	})
	t.Run("OfALabHasCitations", func(t *testing.T) {
		lab := chromium(t).Tab(t, serve(t, scholars(t)))
		altered(lab, `if (/\/canvas$/.test(path)) { const [a, b] = body.nodes.filter((n) => n.kind === 'paper'); body.edges.push({ id: 'cited', from: b.id, to: a.id, kind: 'cites', seq: b.seq }) }`)
		lab.Fresh("#/q/scholars/canvas")
		if !lab.Is(`document.querySelector('.flow .edge-cites path')`) {
			t.Error("no citation is drawn")
		}
		lab.Sound()
	})
}

// press clicks an element where it is, without bringing it into view.
func press(tab *browsertest.Tab, selector string) {
	var at struct{ X, Y float64 }
	tab.Eval(`(() => { const r = document.querySelector('`+selector+`').getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 } })()`, &at)
	tab.Do(chromedp.MouseClickXY(at.X, at.Y))
}

// filling is a quest that keeps more than a mebibyte before it has an answer. What it writes cannot be
// packed into less.
func filling(t testing.TB, name string) string {
	t.Helper()
	noise := make([]byte, 200<<10)
	_, _ = rand.Read(noise)
	return folder(t, map[string]string{
		"quest.yaml": "name: " + name + "\nproblem: How much?\nmodel: script:plan.yaml\ntools: [write_file]\n",
		"plan.yaml": fmt.Sprintf(`rules:
  - on: {until_turn: 5}
    say: "Once more."
    call: [{tool: write_file, args: {path: noise, content: "${turn} %x"}}]
  - say: "Two megabytes."
`, noise),
	})
}
