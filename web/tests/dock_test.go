package tests

import (
	"errors"
	"os"
	"strings"
	"testing"

	"lyceum/internal/need"
	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
)

// rules are those of accessibility.
func rules(t *testing.T) string {
	t.Helper()
	text, err := axe()
	if errors.Is(err, browsertest.ErrNoAxe) {
		need.Missing(t, "%v", err)
	}
	must(t, err)
	return text
}

// study makes a study that has asked something and waits.
func study(t *testing.T) browsertest.Home {
	t.Helper()
	h := home(t)
	quest := folder(t, map[string]string{
		"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast of the series has the smallest error?\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at the series first."
    call: [{tool: interact, args: {kind: milestone, text: "Two methods, both cheap: the value of the month before, and Holt's."}}]
  - on: {turn: 2}
    call: [{tool: interact, args: {kind: decision_request, text: "Which error shall count?", options: ["mean absolute", "root mean squared"]}}]
  - say: "I wait for your word."
`})
	lyceum(t, h, "create", quest)
	out, err := h.Lyceum("run", "series") // it waits, which is no success
	if err != nil && !strings.Contains(out, "waits") {
		t.Fatal(err)
	}
	return h
}

// first reports whether the question is what one sees first: above all else of the page, but for the dock's name, and in the
// window as it opens.
const first = `(() => { const q = document.querySelector('.question .asked')?.getBoundingClientRect(), b = document.querySelector('.question button.option')?.getBoundingClientRect();
	const above = [...document.querySelectorAll('main h2, main .card, main .note')].filter((e) => !e.closest('.questions, dialog') && !e.matches('.dock h2') && e.getClientRects().length && !e.matches('.hidden-label') && e.getBoundingClientRect().top < q?.top && e.getBoundingClientRect().left < q?.right && e.getBoundingClientRect().right > q?.left);
	return q && b && scrollY === 0 && q.top >= 0 && b.bottom <= innerHeight && above.length === 0 })()`

// TestTheQuestionThatWaits: it is the first thing on every page of a study, wide or narrow, and the dock has the rest.
func TestTheQuestionThatWaits(t *testing.T) {
	t.Parallel()
	s := serve(t, study(t))
	tab := chromium(t).Tab(t, s)
	for _, size := range []struct {
		name string
		w, h int64
	}{{"wide", 1280, 800}, {"phone", 390, 844}} {
		tab.Do(chromedp.EmulateViewport(size.w, size.h))
		for _, page := range []string{"", "/talk", "/timeline", "/agents", "/canvas", "/records"} {
			tab.Fresh("#/q/series" + page)
			tab.Until(questionCards + `.length === 1`)
			if !tab.Is(first) {
				t.Errorf("%s, page %q: the question is not the first thing one sees", size.name, page)
			}
		}
	}
	tab.Sound()
}

// TestStreamsThatNobodyLooksAt: a browser has six connections for a server, over all its tabs, and the page of a
// quest that waits holds one for as long as somebody looks at it. Pages that were left and tabs behind others hold
// none: else the seventh would wait for ever.
func TestStreamsThatNobodyLooksAt(t *testing.T) {
	t.Parallel()
	t.Run("AreLetGoByPagesThatWereLeft", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, study(t)))
		for range 7 {
			tab.Fresh("#/q/series/agents")
			tab.Until(questionCards + `.length === 1 && seen.opened > 0`)
		}
		for range 7 { // by the browser's own button, too
			tab.Do(chromedp.Reload(), browsertest.Settled())
			tab.Until(questionCards + `.length === 1 && seen.opened > 0`)
		}
		tab.Sound()
	})
	t.Run("AreLetGoByTabsBehindOthers", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, serve(t, study(t)))
		const behind = `window.behind = true; Object.defineProperty(document, 'visibilityState', { get: () => (window.behind ? 'hidden' : 'visible') });`
		var tabs []*browsertest.Tab
		for range 8 {
			other := tab.Beside("#/q/series/agents", behind)
			other.Until(questionCards + `.length === 1`)
			tabs = append(tabs, other)
		}
		tab.Fresh("#/q/series/agents")
		tab.Until(questionCards + `.length === 1`)
		tab.Click(".dock .question button", "mean absolute")
		tab.Until(questionCards + `.length === 0`)
		// One that is looked at again has what came meanwhile.
		tabs[0].Eval(`window.behind = false, document.dispatchEvent(new Event('visibilitychange')), true`, nil)
		tabs[0].Until(questionCards + `.length === 0 && document.querySelector('.dock .said').innerText.includes('mean absolute') && seen.seqs.length > 0`)
		for _, other := range append(tabs, tab) {
			other.Sound()
		}
	})
}

func TestTheDockIsAccessible(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	s := serve(t, study(t))
	for _, page := range []string{"", "/talk", "/agents"} {
		t.Run("On"+page, func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, s)
			tab.Go("#/q/series" + page)
			tab.Until(questionCards + `.length === 1`)
			pictures(tab, "dock"+strings.ReplaceAll(page, "/", "-"))
			inEverySize(t, tab, page, axe)
		})
	}
}

// TestTheDock: beside a study's pages stands its conversation, with the newest in view; it can be put away.
func TestTheDock(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, serve(t, study(t)))
	tab.Fresh("#/q/series/agents")
	tab.Until(`document.querySelectorAll('.dock .utterance').length === 5`)
	reads(t, tab, ".dock .track [aria-current]", "scout")
	reads(t, tab, ".dock .said", "Two methods", "Which error shall count?")
	tab.Click(".dock [role=tab]", "Status")
	tab.Until(`document.querySelector('.dock .status-facts')`)
	reads(t, tab, ".dock .status-facts", "waiting", "you: 1 question", "scout", "researcher")
	tab.Click(".dock [role=tab]", "Plan")
	tab.Until(`document.querySelector('.dock .room-part .prose')?.innerText.includes('baseline')`)
	tab.Click(".dock [role=tab]", "Chat")
	fill(tab, "Say something", "/status")
	tab.Click(".say button", "Send")
	tab.Until(`document.querySelector('.dock .say [role=status]')?.innerText.includes('Stage: scout.')`)

	tab.Click(".dock button", "Hide")
	tab.Until(`!document.querySelector('.dock .said') && document.querySelector('.dock .badge.asks')`)
	tab.Fresh("#/q/series/agents")
	tab.Until(`document.querySelector('.dock.closed')`)
	tab.Click(".dock button", "Talk")
	tab.Until(`document.querySelector('.dock .said')`)

	tab.Click(".dock .question button", "mean absolute")
	tab.Until(questionCards + `.length === 0 && document.querySelector('.dock .said').innerText.includes('mean absolute')`)
	tab.Sound()

	// Other societies have none.
	other := chromium(t).Tab(t, readers(t))
	other.Go("#/q/thermal")
	if other.Is(`document.querySelector('.dock, .docked')`) {
		t.Error("a quest without a conversation has a dock")
	}
}

// thousands makes a conversation long: its words are numbered.
const thousands = `
	if (/\/conversation$/.test(path)) {
		const total = 560, limit = Number(query.get('limit') ?? 100);
		const from = query.get('tail') ? total - Number(query.get('tail')) : Number(query.get('after') ?? -1) + 1;
		const like = body.utterances[0] ?? window.utterance;
		window.utterance = like;
		if (!like) return body;
		const n = Math.max(0, Math.min(limit, total - from));
		return { ...body, total, utterances: Array.from({ length: n }, (_, i) => ({ ...like, seq: from + i + 1, kind: 'said', by: 'researcher', delivery: undefined, text: 'word-' + (from + i) + ' ' + 'and so on. '.repeat((from + i) % 7) })) };
	}`

// TestALongConversation begins with the newest, and goes back to the first: no word is left out.
func TestALongConversation(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, serve(t, study(t)))
	altered(tab, thousands)
	before(tab, quiet+`window.instead = (url) => String(url).includes('/conversation') ? String(url).replace(/after=\d+/, 'after=-1') : undefined;`)
	for _, page := range []string{"/agents", "/talk"} {
		tab.Fresh("#/q/series" + page)
		tab.Until(`document.querySelector('.mlist.said')?.innerText.includes('word-559')`)
		if !tab.Is(`(() => { const box = document.querySelector('.mlist.said'); return box.scrollHeight - box.scrollTop - box.clientHeight < 3 })()`) {
			t.Errorf("%s: the newest is not in view", page)
		}
		if page != "/talk" { // the list is the same
			continue
		}
		var walk struct {
			Missing []int
			Most    int
		}
		tab.Eval(`window.heard = new Set(), window.mostHeard = 0, true`, nil)
		for done := false; !done; { // a few steps at a time: a busy machine takes its time for all of them
			tab.Eval(`(async () => {
				const box = document.querySelector('.mlist.said'), frame = () => new Promise((done) => requestAnimationFrame(done));
				for (let i = 0; i < 6; i++) {
					await frame(); await frame();
					for (let k = 0; k < 400 && box.querySelector('li.coming'); k++) await new Promise((done) => setTimeout(done, 25));
					const now = [...box.querySelectorAll('.utterance')].map((e) => Number(/word-(\d+)/.exec(e.innerText)?.[1]));
					now.forEach((n) => heard.add(n)); mostHeard = Math.max(mostHeard, now.length);
					if (box.scrollTop < 1 && now.includes(0)) return true;
					box.scrollTop -= box.clientHeight + 200; // less than what is drawn beyond the window
				}
				return false;
			})()`, &done)
		}
		tab.Eval(`(() => { const missing = []; for (let n = 0; n < 560; n++) if (!heard.has(n)) missing.push(n); return { Missing: missing, Most: mostHeard } })()`, &walk)
		if len(walk.Missing) > 0 || walk.Most > 150 {
			t.Errorf("%s: %d of 560 are never shown, such as %v; at most %d exist at once", page, len(walk.Missing), walk.Missing[:min(9, len(walk.Missing))], walk.Most)
		}
		tab.Click(".chat button", "Newest")
		tab.Until(`document.querySelector('.mlist.said').innerText.includes('word-559')`)
	}
	tab.Sound()
}

// pictures keeps what a tab shows, light and dark, wide and narrow, in the folder of LYCEUM_PICTURES.
func pictures(tab *browsertest.Tab, name string) {
	if os.Getenv("LYCEUM_PICTURES") == "" {
		return
	}
	for _, size := range settings {
		tab.Do(chromedp.EmulateViewport(size.w, size.h), browsertest.Scheme(size.dark))
		picture(tab, name+"-"+strings.ReplaceAll(size.words, ", ", "-"))
	}
	tab.Do(chromedp.EmulateViewport(1280, 800), browsertest.Scheme(false))
}
