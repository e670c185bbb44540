package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// listed gives a page words for what stands in the list of a selector: the numbers of its
// rows, and of those that are in the window.
const listed = `window.listed = (row, number) => {
	const all = [...document.querySelectorAll(row)];
	const seen = all.filter((e) => { const r = e.getBoundingClientRect(); return r.bottom > 60 && r.top < innerHeight });
	return { all: all.map(number), seen: seen.map(number), first: seen[0]?.getBoundingClientRect().top ?? 1e9, last: seen.at(-1)?.getBoundingClientRect().bottom ?? -1e9 };
}; window.messages = () => listed('.message[data-number]', (e) => Number(e.dataset.number));
window.bare = () => { const list = document.querySelector('.transcript .mlist > ul'), rows = list?.children ?? [];
	return rows.length === 0 || (rows[0].getBoundingClientRect().top > 60 && list.style.paddingTop !== '0px') || (rows[rows.length - 1].getBoundingClientRect().bottom < innerHeight && list.style.paddingBottom !== '0px') };
window.still = () => new Promise((done) => { let last = '', same = 0; const look = () => {
	const now = JSON.stringify(messages()) + scrollY + !!document.querySelector('li.coming');
	same = now === last && !document.querySelector('li.coming') && !bare() ? same + 1 : 0; last = now;
	if (same >= 2) done(true); else requestAnimationFrame(look) }; look() }); true`

// talkTurns is how long the quest of a long transcript is.
const talkTurns = 1200

// This measures, and so is not parallel.
func TestATranscriptOfAThousandTurns(t *testing.T) {
	const turns = talkTurns
	tab := chromium(t).Tab(t, serve(t, measured(t, "talk")))
	tab.Go("#/q/talk/agents/agent-0")
	tab.Eval(listed, nil)
	total := said(tab, "talk")
	if total < turns+2 {
		t.Fatalf("the transcript has %d messages, want more than the question, %d turns and the answer", total, turns)
	}
	t.Run("ShowsEveryMessageOnceAndInOrder", func(t *testing.T) {
		tab.In(t)
		var walk struct {
			Missing, Repeated, Broken []int
			Most, Nodes, Steps        int
		}
		tab.Do(browsertest.Resized())
		tab.Eval(fmt.Sprintf(`(async () => {
			const seen = new Map(), broken = []; let most = 0, nodes = 0, steps = 0;
			window.scrollTo(0, 0);
			for (;;) {
				await still();
				const { all } = messages();
				all.forEach((n, i) => { seen.set(n, (seen.get(n) ?? 0) + 1); if (i > 0 && n !== all[i - 1] + 1) broken.push(n) });
				if (new Set(all).size !== all.length) broken.push(-1);
				most = Math.max(most, all.length); nodes = Math.max(nodes, document.querySelectorAll('main *').length); steps++;
				if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) break;
				window.scrollBy(0, 1500);
				if (steps > 2000) throw new Error('no end');
			}
			const missing = []; for (let n = 0; n < %d; n++) if (!seen.has(n)) missing.push(n);
			return { Missing: missing, Repeated: [], Broken: broken, Most: most, Nodes: nodes, Steps: steps };
		})()`, total), &walk)
		t.Logf("%d messages in %d steps: at most %d of them, %d elements, exist at once", total, walk.Steps, walk.Most, walk.Nodes)
		if len(walk.Missing) > 0 || len(walk.Broken) > 0 {
			t.Errorf("of %d messages %d are never shown (%v), and out of order are %v", total, len(walk.Missing), walk.Missing[:min(10, len(walk.Missing))], walk.Broken)
		}
		if walk.Most > 80 || walk.Nodes > 3000 {
			t.Errorf("%d messages, %d elements exist at once", walk.Most, walk.Nodes)
		}
	})
	t.Run("StandsStillWhenWhatIsAboveIsReadAndMeasured", func(t *testing.T) {
		tab.In(t).Fresh("#/q/talk/agents/agent-0")
		tab.Eval(listed, nil)
		// Into the midst, where nothing was measured yet, and from there upwards.
		var moved []float64
		tab.Eval(`(async () => {
			window.scrollTo(0, document.documentElement.scrollHeight / 2);
			await still();
			const off = [];
			for (let i = 0; i < 25; i++) {
				const row = [...document.querySelectorAll('.message[data-number]')].find((e) => e.getBoundingClientRect().top > 200);
				const n = row.dataset.number, before = row.getBoundingClientRect().top;
				window.scrollBy(0, -400);
				await still();
				const after = document.querySelector('.message[data-number="' + n + '"]').getBoundingClientRect().top;
				off.push(Math.abs(after - before - 400));
			}
			return off;
		})()`, &moved)
		if worst := slices.Max(moved); worst > 2 {
			t.Errorf("a message jumps by up to %.0f px while one scrolls: %v", worst, moved)
		}
	})
	t.Run("LeadsToTheNewestAndBack", func(t *testing.T) {
		tab.In(t)
		tab.Click("button", "Newest")
		tab.Until(fmt.Sprintf(`messages().seen.at(-1) === %d && messages().last <= innerHeight`, total-1))
		tab.Click("button", "First")
		tab.Until(`messages().seen[0] === 0`)
		// The keyboard does the same.
		tab.Eval(`document.activeElement.blur(), true`, nil)
		tab.Do(chromedp.KeyEvent(kb.End))
		tab.Until(fmt.Sprintf(`messages().seen.at(-1) === %d`, total-1))
		tab.Do(chromedp.KeyEvent(kb.Home))
		tab.Until(`messages().seen[0] === 0`)
	})
	t.Run("LeavesTheListsOfATextAsTheyAre", func(t *testing.T) {
		tab.In(t)
		// How many messages fit the window is not what is asked here.
		tab.Until(`document.querySelector('.message .prose li') || (scrollBy(0, 50), false)`)
		if !tab.Is(`(() => { const s = getComputedStyle(document.querySelector('.message .prose li')); return s.display === 'list-item' && s.paddingBottom === '0px' })()`) {
			t.Error("an item of a list in a message looks like a row of the transcript")
		}
		tab.Eval(`scrollTo(0, 0), true`, nil)
		tab.Until(`messages().seen[0] === 0`)
	})
	t.Run("KeepsWhatWasUnfolded", func(t *testing.T) {
		tab.In(t)
		tab.Eval(`document.querySelector('.message[data-number="1"] details').open = true, true`, nil)
		tab.Click("button", "Newest")
		tab.Until(`!document.querySelector('.message[data-number="1"]')`)
		tab.Click("button", "First")
		tab.Until(`document.querySelector('.message[data-number="1"] details')?.open`)
	})
	t.Run("IsFoundAgainWhereItWasLeft", func(t *testing.T) {
		tab.In(t).Fresh("#/q/talk/agents/agent-0")
		tab.Eval(listed, nil)
		var top float64
		tab.Eval(`(async () => {
			window.scrollTo(0, document.documentElement.scrollHeight / 2);
			await still();
			window.read = [...document.querySelectorAll('.message[data-number]')].find((e) => e.getBoundingClientRect().top > 100);
			read = { number: read.dataset.number, top: read.getBoundingClientRect().top };
			await new Promise((done) => setTimeout(done, 400));
			return read.top;
		})()`, &top)
		tab.Eval(`document.querySelector('.message[data-number="' + read.number + '"] header a').click(), true`, nil)
		tab.Until(`location.hash.includes('timeline') && scrollY === 0 && !document.querySelector('.message')`)
		tab.Eval(`history.back(), true`, nil)
		tab.Until(`document.querySelector('.message[data-number="' + read.number + '"]')`)
		var off float64
		tab.Eval(`still().then(() => document.querySelector('.message[data-number="' + read.number + '"]').getBoundingClientRect().top - read.top)`, &off)
		if off > 2 || off < -2 {
			t.Errorf("what was read at %.0f px is %.0f px off", top, off)
		}
		// A place that is new begins at its top, also if one was there before.
		tab.Eval(`document.querySelector('a[href="#/q/talk/agents"]').click(), true`, nil)
		tab.Until(`location.hash === '#/q/talk/agents' && scrollY === 0`)
	})
	t.Run("ScrollsSmoothly", func(t *testing.T) {
		tab.In(t).Fresh("#/q/talk/agents/agent-0")
		smooth(tab, `document.scrollingElement`, "the transcript")
	})
	tab.In(t).Sound()
}

// smooth scrolls an element for two seconds' worth of frames and holds them against
// what the eye takes for motion.
func smooth(tab *browsertest.Tab, element, what string) {
	tab.T().Helper()
	var frames []float64
	for frames == nil {
		tab.Do(page.BringToFront()) // a browser may draw nothing of a tab behind others: then it is tried again
		tab.Eval(`new Promise((done) => {
			const box = `+element+`, frames = [];
			let last = performance.now(), came = last;
			const watch = setInterval(() => { if (performance.now() - came > 10000) { clearInterval(watch); done(null) } }, 1000);
			const step = (now) => {
				frames.push(now - last);
				last = now; came = performance.now();
				box.scrollTop += 400;
				if (frames.length < 120) requestAnimationFrame(step); else { clearInterval(watch); done(frames.slice(1)) }
			};
			requestAnimationFrame(step);
		})`, &frames)
	}
	slices.Sort(frames)
	median := frames[len(frames)/2]
	tab.T().Logf("%d frames of scrolling %s: half within %.0f ms, all but a twentieth within %.0f ms", len(frames), what, median, frames[len(frames)*19/20])
	promise(tab.T(), "a frame of scrolling "+what, median, 1000.0/30)
}

// said is how many messages the transcript of a quest's agent has: what it is told of where it
// stands is among them.
func said(tab *browsertest.Tab, quest string) (total int) {
	tab.Eval(fmt.Sprintf(`ask('/api/quests/%s/agents/agent-0/transcript?limit=1').then((r) => r.json()).then((t) => t.total)`, quest), &total)
	return total
}

func TestALiveTranscript(t *testing.T) {
	t.Parallel()
	t.Run("FollowsItsEndUntilSomebodyScrollsAway", func(t *testing.T) {
		t.Parallel()
		h := home(t)
		lyceum(t, h, "create", talk(t, "live", 300, "60ms"))
		tab := chromium(t).Tab(t, serve(t, h))
		tab.Go("#/q/live")
		tab.Click("button", "Start")
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'running'`)
		tab.Eval(`location.hash = '#/q/live/agents/agent-0', true`, nil)
		tab.Eval(listed, nil)
		// By itself: nobody scrolls.
		tab.Until(`messages().seen.at(-1) > 12`)
		tab.Until(`messages().seen.at(-1) > 20 && scrollY + innerHeight > document.documentElement.scrollHeight - 60`)
		// Also when it is read anew.
		tab.Eval(`new Promise((done) => setTimeout(done, 300)).then(() => { location.reload(); return true })`, nil)
		tab.Until(`window.messages === undefined && document.querySelector('.message[data-number]')`)
		tab.Eval(listed, nil)
		tab.Until(`(window.began ??= messages().seen.at(-1)) + 6 < messages().seen.at(-1) && scrollY + innerHeight > document.documentElement.scrollHeight - 60`)
		tab.Eval(`window.scrollBy(0, -500), true`, nil)
		var stayed struct {
			Before, After, Grew float64
			There               bool
		}
		tab.Eval(`(async () => {
			await still();
			const row = [...document.querySelectorAll('.message[data-number]')].find((e) => e.getBoundingClientRect().top > 100), before = row.getBoundingClientRect().top, high = document.documentElement.scrollHeight;
			while (document.documentElement.scrollHeight < high + 200) await new Promise((done) => setTimeout(done, 30));
			return { Before: before, After: row.getBoundingClientRect().top, Grew: document.documentElement.scrollHeight - high, There: row.isConnected };
		})()`, &stayed)
		if d := stayed.After - stayed.Before; d > 2 || d < -2 || !stayed.There {
			t.Errorf("while %.0f px came below, what somebody reads moved by %.0f px; it is still there: %v", stayed.Grew, d, stayed.There)
		}
		tab.Until(`document.querySelector('.questbar .badge')?.innerText === 'finished'`)
		tab.Click("button", "Newest")
		tab.Until(fmt.Sprintf(`messages().seen.at(-1) === %d`, said(tab, "live")-1))
		if page := tab.Text(".message"); strings.Count(page, "Enough said.") != 1 {
			t.Errorf("the answer is not there once:\n%.600s", page)
		}
		tab.Sound()
	})
}

// talk is a quest of so many turns, whose words take little room or much.
func talk(t testing.TB, name string, turns int, delay string) string {
	t.Helper()
	if delay != "" {
		delay = "\n    delay: " + delay
	}
	rule := func(every int, say string) string {
		return fmt.Sprintf("  - on: {until_turn: %d, every: %d}%s\n    think: %s\n    say: %s\n    call: [{tool: calculate, args: {code: 'print(${turn})'}}]\n", turns, every, delay, yaml("A thought of some length."), say)
	}
	return folder(t, map[string]string{
		"quest.yaml": "name: " + name + "\nproblem: What else is there?\nmodel: script:plan.yaml\ntools: [calculate]\n",
		"plan.yaml": "rules:\n" + rule(7, `"Turn ${turn}.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n- one\n- two\n\n`+strings.Repeat("Much is said here. ", 60)+`"`) +
			rule(3, `"Turn ${turn}: `+strings.Repeat("a few words more, ", 12)+`"`) + rule(1, `"Turn ${turn}."`) + "  - say: Enough said.\n",
	})
}
