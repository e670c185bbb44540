package tests

import (
	"fmt"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// million makes a quest of a million events of one that the server has: the page cannot
// tell, and no test has to write them.
const million = `
	const head = 1e6;
	if (/\/quests\/demo-number$/.test(path)) { body.events = head; return body }
	if (/\/timeline$/.test(path)) { body.total = body.matching = head; return body }
	if (/\/events\/\d+$/.test(path)) { body.event.seq = Number(path.split('/').at(-1)); return body }
	if (/\/events$/.test(path)) {
		const after = Number(query.get('after') ?? 0), like = body.events[0] ?? window.like;
		if (!like) return body;
		window.like = like;
		const n = Math.min(Number(query.get('limit') ?? 100), head - after);
		return { ...body, head, next: after + n < head ? after + n : undefined, events: Array.from({ length: n }, (_, i) => ({ input: i % 3 === 0, line: like.line, event: { ...like.event, seq: after + i + 1 } })) };
	}`

// quiet keeps the page from following the quest that the server really has.
const quiet = `window.EventSource = class { addEventListener() {} close() {} };`

func TestAMillionEvents(t *testing.T) {
	t.Parallel()
	const last = 1_000_000
	h, err := examples()
	must(t, err)
	tab := chromium(t).Tab(t, serve(t, h))
	altered(tab, million)
	before(tab, quiet+`window.instead = (path) => path.replace(/events\/\d+$/, 'events/1');`)
	tab.Fresh("#/q/demo-number/timeline")
	tab.Until(`document.querySelector('.vrow .etype')`)
	at := func(seq int) string {
		return fmt.Sprintf(`(() => { const box = document.querySelector('.vlist').getBoundingClientRect(), row = document.querySelector('.vrow[aria-selected=true]');
			const r = row?.getBoundingClientRect(); return row?.querySelector('.eseq').innerText === '%d' && row.querySelector('.etype') && r.top >= box.top - 1 && r.bottom <= box.bottom + 1 })()`, seq)
	}
	t.Run("AreReachedByTheirNumberEachExactly", func(t *testing.T) {
		tab.In(t)
		for _, seq := range []int{1, 2, 399_999, 400_000, 533_334, 777_777, 999_998, 999_999, last} {
			tab.Eval(fmt.Sprintf(`(() => { const e = document.querySelector('[aria-label="Go to event"]');
				Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, '%d'); e.dispatchEvent(new Event('input', { bubbles: true })); return true })()`, seq), nil)
			tab.Eval(`document.querySelector('[aria-label="Go to event"]').form.requestSubmit(), true`, nil)
			tab.Until(at(seq))
		}
	})
	t.Run("AreWalkedByTheKeyboardOneByOne", func(t *testing.T) {
		tab.In(t).Go("#/q/demo-number/timeline?seq=654321")
		tab.Eval(`document.querySelector('.vlist').focus(), true`, nil)
		tab.Until(at(654_321))
		for i := range 40 {
			tab.Do(chromedp.KeyEvent(kb.ArrowDown))
			tab.Until(at(654_322 + i))
		}
		tab.Do(chromedp.KeyEvent(kb.End))
		tab.Until(at(last))
		tab.Do(chromedp.KeyEvent(kb.ArrowUp))
		tab.Until(at(last - 1))
		// A page up and down again is where one was.
		tab.Do(chromedp.KeyEvent(kb.PageUp))
		tab.Until(`Number(document.querySelector('.vrow[aria-selected=true] .eseq')?.innerText) < 999990`)
		tab.Do(chromedp.KeyEvent(kb.PageDown))
		tab.Until(at(last - 1))
		tab.Do(chromedp.KeyEvent(kb.Home))
		tab.Until(at(1))
	})
	t.Run("AreScrolledOverWithoutLeavingOneOut", func(t *testing.T) {
		tab.In(t).Go("#/q/demo-number/timeline")
		for _, part := range []float64{0, 0.31, 0.5, 0.999} {
			var out struct{ Gaps, Repeats, Rows int }
			tab.Eval(fmt.Sprintf(`(async () => {
				const box = document.querySelector('.vlist'), frame = () => new Promise((done) => requestAnimationFrame(done));
				box.scrollTop = %f * (box.scrollHeight - box.clientHeight);
				let until = 0, gaps = 0, repeats = 0, rows = 0;
				for (let i = 0; i < 40; i++) {
					await frame(); await frame();
					const { top, bottom } = box.getBoundingClientRect();
					const seen = [...box.querySelectorAll('.vrow')].filter((r) => { const b = r.getBoundingClientRect(); return b.bottom > top && b.top < bottom }).map((r) => Number(r.querySelector('.eseq').innerText));
					if (until && seen[0] > until + 1) gaps++;
					for (let k = 1; k < seen.length; k++) if (seen[k] !== seen[k - 1] + 1) repeats++;
					until = seen.at(-1); rows += seen.length;
					box.scrollTop += 100; // a notch of a wheel
				}
				return { Gaps: gaps, Repeats: repeats, Rows: rows };
			})()`, part), &out)
			if out.Gaps+out.Repeats > 0 || out.Rows < 400 {
				t.Errorf("at %v of a million events: %+v", part, out)
			}
		}
	})
	t.Run("AreNotAllAskedForWhenTheBarIsDragged", func(t *testing.T) {
		tab.In(t).Fresh("#/q/demo-number/timeline")
		tab.Until(`document.querySelector('.vrow .etype')`)
		var asked int
		tab.Eval(`(async () => {
			const real = window.fetch; let n = 0; window.fetch = (...a) => { n++; return real(...a) };
			const box = document.querySelector('.vlist');
			for (let i = 1; i <= 200; i++) box.scrollTop = i / 200 * (box.scrollHeight - box.clientHeight), box.dispatchEvent(new Event('scroll'));
			await new Promise((done) => { const look = () => (document.querySelector('.vlist').innerText.includes('1000000') && document.querySelectorAll('.vrow .etype').length > 10 ? done() : setTimeout(look, 30)); look() });
			return n;
		})()`, &asked)
		if asked > 20 {
			t.Errorf("%d pages were asked for on the way over two hundred places", asked)
		}
	})
	if tab.In(t).Is(`document.querySelector('.vlist > div').offsetHeight > 17e6`) {
		t.Error("the list is taller than browsers can be relied on to scroll")
	}
	tab.Sound()
}

// many makes the lists of a page long.
const many = `
	const times = (list, n, change) => Array.from({ length: n }, (_, i) => change(structuredClone(list[i % list.length]), i));
	if (/\/quests$/.test(path)) body.quests = times(body.quests, 600, (q, i) => ({ ...q, name: 'item-' + i }));
	if (/\/evidence$/.test(path)) body.claims = times(body.claims, 600, (c, i) => ({ ...c, claim: i + 1, text: 'item-' + i + ' ' + c.text }));
	if (/\/papers\/[0-9a-f]+$/.test(path)) { body.reviews = times(body.reviews, 300, (r, i) => ({ ...r, seq: i + 1, content: 'item-' + i + ' ' + 'said at length. '.repeat(i % 9) }));
		body.cited_by = times([{ ref: body.ref, title: 'x', author: 'agent-1', self: false }], 500, (l, i) => ({ ...l, ref: String(i).padStart(32, '0'), title: 'cited-' + i + ' ' + 'a long title '.repeat(i % 4) })) }
	if (/\/papers$/.test(path)) { const offset = Number(query.get('offset') ?? 0), n = Math.max(0, Math.min(Number(query.get('limit') ?? 100), 700 - offset));
		body.papers = times(window.some ??= body.papers, n, (p, i) => ({ ...p, ref: String(offset + i).padStart(32, '0'), title: 'item-' + (offset + i) })); body.total = 700; body.counts = { published: 700, submitted: 0, rejected: 0 } }
	if (/\/files$/.test(path) && body.entries) body.entries = times(body.entries, 4000, (e, i) => ({ ...e, kind: 'file', name: 'item-' + i + '.txt', hash: 'a'.repeat(64), size: i }));
	`

func TestALongList(t *testing.T) {
	t.Parallel()
	chromium(t)
	s, lab := readers(t), serve(t, scholars(t))
	t.Run("OpensItsItemsAtTheirTop", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, lab)
		ref := firstPaper(tab)
		altered(tab, many+`if (/\/papers$/.test(path)) for (const p of body.papers) p.ref = '`+ref+`'`)
		before(tab, quiet)
		tab.Fresh("#/q/scholars/papers")
		tab.Until(`document.querySelector('.paper-row .title')`)
		tab.Eval(`window.scrollTo(0, 4000), true`, nil)
		tab.Until(`scrollY > 3000 && document.querySelector('.paper-row .title') && [...document.querySelectorAll('.paper-row .title')].some((e) => e.getBoundingClientRect().top > 100)`)
		tab.Eval(`[...document.querySelectorAll('.paper-row .title')].find((e) => e.getBoundingClientRect().top > 100).click(), true`, nil)
		tab.Until(`document.querySelector('.paper-title')`)
		tab.Until(`scrollY === 0 && document.activeElement.id === 'main'`)
		tab.Sound()
	})
	for name, list := range map[string]struct {
		of     *browsertest.Server
		at     string
		box    string
		number string
		items  int
	}{
		"OfQuests":  {s, "#/", "document.scrollingElement", ".quest-card .name a", 600},
		"OfClaims":  {s, "#/q/thermal/evidence", "document.scrollingElement", ".claim-text", 600},
		"OfFiles":   {s, "#/q/demo-number/agents/agent-0?tab=files", "document.querySelector('.listing')", ".file .link", 4000},
		"OfPapers":  {lab, "#/q/scholars/papers", "document.scrollingElement", ".paper-row .title", 700},
		"OfReviews": {lab, "PAPER", "document.scrollingElement", ".review .prose", 300},
		"OfLinks":   {lab, "PAPER", "document.querySelector('.many-links')", ".many-links a", 500},
	} {
		t.Run(name+"LosesNoneAndStaysSmall", func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, list.of)
			if list.at == "PAPER" {
				list.at = "#/q/scholars/papers/" + firstPaper(tab)
			}
			altered(tab, many)
			before(tab, quiet)
			tab.Fresh(list.at)
			tab.Until(`document.querySelector('` + list.number + `')`)
			var walk struct {
				Missing, Broken []int
				Most            int
				Stalled         bool
			}
			// A browser may stop drawing one of many tabs, or draw it once a second: the walk goes on where it was once
			// the tab is in front.
			steps := fmt.Sprintf(`(async () => {
				const box = %s, list = document.querySelector('%s').closest('ul'), walk = window.walk ??= { seen: new Set(), broken: [], most: 0 }, { seen, broken } = walk;
				const began = performance.now();
				const frame = () => new Promise((done, stop) => { const late = setTimeout(() => stop('no frame'), 5000); if (performance.now() - began > 20000) stop('no frame'); requestAnimationFrame(() => { clearTimeout(late); done() }) });
				for (let i = 0; ; i++) {
					await frame(); await frame();
					// A busy machine draws later; what never covers the window is a fault.
					const bare = () => {
						const rows = list.children;
						const top = box === document.scrollingElement ? 0 : box.getBoundingClientRect().top, bottom = box === document.scrollingElement ? innerHeight : box.getBoundingClientRect().bottom;
						return (rows[0].getBoundingClientRect().top > top && list.style.paddingTop !== '0px') || (rows[rows.length - 1].getBoundingClientRect().bottom < bottom && list.style.paddingBottom !== '0px');
					};
					for (let k = 0; bare(); k++) { if (k > 200) throw new Error('rows are missing at ' + box.scrollTop); await frame() }
					for (let k = 0; k < 400 && document.querySelector('li.coming'); k++) await new Promise((done) => setTimeout(done, 25));
					const now = [...document.querySelectorAll('%s')].map((e) => Number(/(?:item|cited)-(\d+)/.exec(e.textContent)?.[1] ?? -1)).filter((n) => n >= 0);
					now.forEach((n, k) => { seen.add(n); if (k > 0 && n !== now[k - 1] + 1) broken.push(n) });
					walk.most = Math.max(walk.most, now.length);
					if (box.scrollTop + box.clientHeight >= box.scrollHeight - 2 || i > 1500) break;
					box.scrollTop += Math.min(1200, box.clientHeight + 800);
				}
				const missing = []; for (let n = 0; n < %d; n++) if (!seen.has(n)) missing.push(n);
				return { Missing: missing, Broken: broken, Most: walk.most, Stalled: false };
			})().catch((why) => { if (why !== 'no frame') throw why; return { Stalled: true } })`, list.box, list.number, list.number, list.items)
			for tab.Eval(steps, &walk); walk.Stalled; tab.Eval(steps, &walk) {
				tab.Do(page.BringToFront())
			}
			t.Logf("of %d at most %d exist at once", list.items, walk.Most)
			if len(walk.Missing)+len(walk.Broken) > 0 {
				t.Errorf("%d are never shown, such as %v; out of order are %v", len(walk.Missing), walk.Missing[:min(9, len(walk.Missing))], walk.Broken[:min(9, len(walk.Broken))])
			}
			if walk.Most > 150 {
				t.Errorf("%d of them exist at once", walk.Most)
			}
			tab.Sound()
		})
	}
}
