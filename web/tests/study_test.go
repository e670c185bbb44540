package tests

import (
	"strconv"
	"strings"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// grown has the page get a study of some size: branches, artifacts on them, cards, documents, settings; and hostile text.
func grown(tab *browsertest.Tab, branches, events int) {
	before(tab, `window.branches = `+strconv.Itoa(branches)+`; window.events = `+strconv.Itoa(events)+`;
	window.instead = (url) => (/\/(branches|node-traces|memory|documents|compare|diff|trees)\b|\/artifacts\/|\/events\/(49|50)$/.test(String(url)) ? '/api/quests/demo-number/artifacts' : /\/api\/(settings|doctor)/.test(String(url)) ? '/api/examples' : undefined);`)
	before(tab, `(() => { const real = window.fetch; window.fetch = async (...args) => /blobs\/e{64}/.test(String(args[0])) ? new Response('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="window.__pwned=1"><script>window.__pwned=1</script></svg>') : /blobs\/c{64}/.test(String(args[0])) ? new Response('# A paper\n\nIt says **so** <img src=x onerror=alert(1)>.\n\n![One](figures/one.svg)\n') : real(...args) })()`)
	altered(tab, `
		const time = '2026-01-02T03:04:05Z', evil = '<img src=x onerror=alert(1)> \u202e';
		const stages = ['scout', 'baseline', 'idea', 'experiment', 'analysis-campaign', 'write', 'finalize'];
		const metric = (i) => ({ name: 'mae', unit: 'kWh', direction: 'lower', tolerance: '0.05', data: 'a'.repeat(64), value: (2.1 - (i * 37 % 11) / 20 + (i * 17 % 7) / 10).toFixed(2) });
		const verdicts = ['verified', 'verified', 'differs', 'verified', 'unchecked', 'failed'];
		const kindOf = (i) => i === 0 ? 'main' : i % 4 === 1 ? 'idea' : i % 4 === 3 ? 'analysis' : 'run';
		const parent = (i) => i === 0 ? undefined : i % 4 === 1 ? 'main' : ref(i - 1);
		const ref = (i) => i === 0 ? 'main' : kindOf(i) === 'idea' ? 'idea/i' + i : kindOf(i) === 'run' ? 'run/r' + i : 'analysis/r' + i + '/campaign-1-noise';
		const nodes = Array.from({ length: window.branches }, (_, i) => ({ ref: ref(i), label: ref(i), branch_kind: kindOf(i), tier: 1, mode: 'idea', parent_ref: parent(i), run_kind: kindOf(i) === 'run' ? (ref(i) === 'run/r2' ? 'baseline' : 'main') : undefined,
			current: i === window.branches - 1, seq: i + 1, head: i + 5, closed: kindOf(i) === 'run' ? i + 9 : undefined, updated_at: time, subject: i === 1 ? 'Holt with damping ' + evil : 'What comes of number ' + i, commit_count: i % 5, ahead: 1, behind: i % 3, worktree_root: 'work/' + ref(i), recent_artifacts: ['result-' + i],
			latest_metric: kindOf(i) === 'run' ? { ...metric(i), result: 'result-' + i, verdict: verdicts[i % 6], outcome: i > 2 ? ['better', 'worse', 'tie', 'not comparable'][i % 4 === 2 ? (i >> 2) % 4 : 0] : undefined } : undefined }));
		const kinds = ['idea', 'run', 'decision', 'progress', 'milestone', 'report'];
		const list = Array.from({ length: window.events }, (_, i) => ({ selection_ref: 'event:a' + i, title: (i === 3 ? evil : 'Artifact ' + i), kind: kinds[i % 6], branch: ref(i % window.branches), stage: stages[i % 7], path: 'work', artifact: { id: 'a' + i, kind: kinds[i % 6], verdict: i % 6 === 1 ? 'verified' : undefined },
			actions: [], summary: 'Said of it: ' + i, counts: { actions: 3, files: 1, commands: 2 }, seq: 100 + i, last: 100 + i, updated_at: time, changed_files: ['work/x.py'], open: i === window.events - 1 }));
		const edges = list.flatMap((e, i) => [...(i >= window.branches ? [{ id: 's' + i, from: 'event:a' + (i - window.branches), to: e.selection_ref, kind: 'sequence', seq: e.seq }] : []), ...(i > 3 && i % 3 === 0 ? [{ id: 'e' + i, from: 'event:a' + (i - 3), to: e.selection_ref, kind: ['evidence', 'decision', 'compares', 'supersedes'][i / 3 % 4], seq: e.seq }] : [])]);
		const recorded = [
			{ id: 'result-1', kind: 'baseline', title: 'The month before', verdict: 'verified', value: '2.10' }, { id: 'result-2', kind: 'run', title: 'Drift', verdict: 'verified', value: '2.31' },
			{ id: 'result-3', kind: 'run', title: 'Holt ' + evil, verdict: 'differs', value: '1.20' }, { id: 'result-4', kind: 'run', title: 'Holt with damping', verdict: 'verified', value: '1.87' },
			{ id: 'result-5', kind: 'run', title: 'Seasonal', verdict: 'unchecked', value: '2.07' }, { id: 'result-6', kind: 'run', title: 'Twice', verdict: 'failed', value: '1.95' },
		].map((r, i) => ({ ...r, stage: 'experiment', branch: 'run/' + ['naive', 'drift', 'holt', 'damped', 'season', 'twice'][i], seq: 10 + i, last: 10 + i, time, because: ['idea-1', '7'], summary: 'It was measured.', metrics: [{ ...metric(0), value: r.value }] }));
		const card = { id: 'c1', kind: 'ideas', title: 'Damping helps ' + evil, stage: 'idea', tags: ['holt'], summary: 'The trend does not last.', revision: 2, made: time, changed: time, seq: 310, offered: 2, approved: false };
		const doc = { name: 'brief.md', title: 'Brief', revision: 'a'.repeat(64), size: 40, editable: false, reason: 'it follows from what has happened', truncated: path.endsWith('/plan.md'), revisions: [] };
		if (/\/quests\/demo-number$/.test(path)) return { ...body, society: 'stages', rules: 'stages/1' };
		if (path.endsWith('/branches')) return { head: 9, current: 'main', nodes, edges: [], views: { ideas: [], analysis: [] } };
		if (path.endsWith('/node-traces')) return { head: 9, truncated: false, events: list, edges, stages: nodes.flatMap((n, i) => stages.slice(1, 3 + i % 4).map((s, k) => ({ selection_ref: 'stage:' + n.ref + ':' + s, title: s + ' on ' + n.ref, branch: n.ref, stage: s, first: 1, last: 9, updated_at: time, events: ['event:a1'], decisions: k ? ['event:a2'] : [], summary: 'What it came to', counts: { actions: 1, files: 1, commands: 1 }, changed_files: [], current: false }))) };
		const paper = { id: 'paper-1', kind: 'paper', title: 'On damping', stage: 'write', branch: 'paper/p1', seq: 50, last: 50, time, because: [], summary: '' };
		if (path.endsWith('/artifacts')) return { artifacts: [], recorded: query.has('papers') ? [] : [...recorded, ...(location.hash.includes('paper-1') ? [paper, { ...paper, id: 'outline-1', kind: 'outline', seq: 49 }] : [])] };
		if (path.endsWith('/artifacts/paper-1')) return { ...paper, text: '', files: [], against: [], questions: [] };
		if (path.endsWith('/events/50')) return { ...body, event: { body: { outline: 'outline-1', tree: { hash: 'f'.repeat(64), size: 9 }, checklist: [{ item: 'evidence', holds: true }, { item: 'limits', holds: false, findings: ['no limits are stated'] }] } } };
		if (path.endsWith('/events/49')) return { ...body, event: { body: { claims: [{ id: 'c1', text: 'Damping beats the month before ' + evil, results: ['result-4', 'result-1'] }, { id: 'c2', text: 'The drift loses.', results: ['result-2'] }] } } };
		if (path.includes('/trees/')) return { tree: 'f'.repeat(64), path: '', entries: query.get('path') ? [{ name: 'one.svg', kind: 'file', size: 9, executable: false, hash: 'e'.repeat(64) }] : [{ name: 'figures', kind: 'dir', size: 0, executable: false }, { name: 'paper.html', kind: 'file', size: 9, executable: false, hash: 'd'.repeat(64) }, { name: 'paper.md', kind: 'file', size: 90, executable: false, hash: 'c'.repeat(64) }] };
		if (/\/artifacts\/[^/]+$/.test(path)) return { ...recorded[2], text: 'Text of **it** ' + evil, files: [], against: ['It is held against result-1.'], questions: [] };
		if (path.endsWith('/memory')) return { kinds: ['ideas', 'papers'], total: 1, cards: query.get('kind') === 'papers' ? [] : [card] };
		if (path.endsWith('/memory/c1')) return { ...card, text: '# Damping\n\nIt helps ' + evil, revisions: [{ revision: 1, seq: 200, time, title: 'Damping' }, { revision: 2, seq: 310, time, title: 'Damping helps' }] };
		if (path.endsWith('/documents')) return { documents: [doc, { ...doc, name: 'plan.md', title: 'Plan', editable: false }, { ...doc, name: 'status.md', title: 'Status', editable: false }] };
		if (path.endsWith('/documents/brief.md')) return { ...doc, text: 'The brief, with <b>tags</b>.' };
		if (path.endsWith('/documents/plan.md')) return { ...doc, name: 'plan.md', title: 'Plan', editable: false, text: '# Plan\n\n- first this' };
		if (path.endsWith('/documents/status.md')) return { ...doc, name: 'status.md', title: 'Status', editable: false, text: 'It waits.' };
		if (path.endsWith('/compare')) return { base: { name: 'a' }, head: { name: 'b' }, ahead: 1, behind: 0, added: 2, removed: 1, more: 0, files: [{ path: 'holt.py', kind: 'modified', added: 2, removed: 1, binary: false }], metrics: [], lines: ['b beats a'] };
		if (path.endsWith('/diff')) return { path: 'holt.py', kind: 'modified', binary: false, added: 2, removed: 1, truncated: false, patch: 'diff --git a/holt.py b/holt.py\n--- a/holt.py\n+++ b/holt.py\n@@ -1,2 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n+c = 4\n' };
		if (path.endsWith('/api/settings')) return { file: '/home/x/config.yaml', exists: true, settings: [{ key: 'model', value: 'demo', set: true, secret: false, source: 'file', about: 'what a spec without a model gets', reader: 'lyceum run' }, { key: 'providers.openai.key', set: true, secret: true, source: 'environment', about: 'the key', reader: 'the provider openai' }, { key: 'providers.other.key', set: false, secret: true, source: 'default', about: 'the key', reader: 'the provider other' }] };
		if (path.endsWith('/api/doctor')) return { healthy: false, home: '/home/x', driver: 'bubblewrap', findings: [{ section: 'git', name: 'git', status: 'ok', text: 'git 2.47' }, { section: 'tex', name: 'TeX', status: 'warning', text: 'there is none', fix: 'install texlive' }] };
	`)
}

func TestAStudyAtAGlance(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	grown(tab, 9, 40)
	tab.Fresh("#/q/demo-number")
	tab.Until(`document.querySelectorAll('.plot a.spot').length === 6`)
	t.Run("DrawsItsFiguresAgainstTheBaselineWithoutColour", func(t *testing.T) {
		tab.In(t)
		if !tab.Is(`document.querySelectorAll('.plot-box .band').length === 1 && document.querySelectorAll('.plot-box .level').length === 1
			&& ['full', 'hollow', 'cross', 'square'].every((s) => document.querySelector('.plot-box .spot.' + s)) && document.querySelectorAll('.plot-box .ring').length === 1`) {
			t.Error("the level, its tolerance, the shapes or the best are missing")
		}
		// What differs has the lowest figure, and is not the best.
		reads(t, tab, ".plot-key", "verified", "not checked", "differs", "failed", "± 0.05")
		if !tab.Is(`document.querySelector('.plot-box .ring').closest('a').getAttribute('aria-label').includes('1.87')`) {
			t.Error("the best is not the lowest that was verified")
		}
	})
	t.Run("IsReadByPointerKeyboardAndTable", func(t *testing.T) {
		tab.In(t)
		tab.Eval(`(() => { const r = document.querySelector('[data-point="3"] .ink').getBoundingClientRect(); document.querySelector('.plot-box').dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: r.x + 4, clientY: r.y })); return true })()`, nil)
		tab.Until(`document.querySelector('.plot-tip')?.innerText.includes('1.87 kWh')`)
		pictures(tab, "study-overview")
		tab.Eval(`document.querySelector('[data-point="5"]').focus(), true`, nil)
		tab.Until(`document.querySelector('.plot-tip')?.innerText.includes('1.95')`)
		tab.Eval(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true })), true`, nil)
		tab.Until(`document.activeElement.dataset.point === '4' && document.querySelector('.plot-tip')?.innerText.includes('2.07')`)
		reads(t, tab, ".plot-table", "baseline run/naive", "2.10", "tolerance 0.05", "Holt with damping")
		if tab.Is(`document.querySelector('.plot img')`) {
			t.Error("a title became an element")
		}
	})
	tab.In(t).Sound()
}

func TestTheCanvasOfAStudy(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	grown(tab, 61, 600)
	tab.Fresh("#/q/demo-number/canvas")
	tab.Until(`document.querySelector('.lane-head')`)
	t.Run("BeginsFoldedWhereThereAreMany", func(t *testing.T) {
		tab.In(t)
		if n := tab.Text(".lane-head .fold"); !strings.Contains(n, "+") {
			t.Errorf("sixty branches are not folded: %q", n)
		}
		reads(t, tab, ".branch-axis", "mae in kWh, lower is better")
		pictures(tab, "canvas-branches-folded")
		tab.Click(".canvas-bar button", "Unfold")
		tab.Until(`!document.querySelector('.lane-head .fold')?.innerText.includes('+') && document.querySelectorAll('.dot').length > 2 && document.querySelector('.level-line')`)
		pictures(tab, "canvas-branches")
	})
	t.Run("IsSearched", func(t *testing.T) {
		tab.In(t)
		search(tab, "number 58")
		tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.startsWith('1 found')`)
		tab.Do(chromedp.Focus("main input[type=search]"), chromedp.KeyEvent(kb.Enter))
		tab.Until(`document.querySelector('.lane-head.chosen')?.innerText.includes('run/r58') && document.querySelector('.canvas-panel h2')?.innerText === 'run/r58'`)
		tab.Until(`(() => { const b = document.querySelector('.sheet').getBoundingClientRect(), r = document.querySelector('.lane-head.chosen').getBoundingClientRect(); return r.top >= b.top && r.bottom <= b.bottom })()`)
	})
	t.Run("ShowsWhatABranchChanged", func(t *testing.T) {
		tab.In(t)
		tab.Click(".canvas-panel button", "holt.py")
		tab.Until(`document.querySelector('.canvas-panel .dv-line.plus')`)
		reads(t, tab, ".canvas-panel", "b beats a")
		pictures(tab, "canvas-diff")
	})
	t.Run("IsFocusedOnOne", func(t *testing.T) {
		tab.In(t)
		search(tab, "")
		tab.Click(".canvas-bar button", "Focus")
		tab.Until(`document.querySelectorAll('.lane-head').length === 5`) // main, its idea, itself, and two below it
		tab.Click(".canvas-bar button", "Focus")
		tab.Until(`document.querySelectorAll('.lane-head').length > 8`)
	})
	tab.In(t).Sound()
}

func TestWhatCameOfAStudyAndWhy(t *testing.T) {
	t.Parallel()
	chromium(t)
	canvas := func(t *testing.T, at string) *browsertest.Tab {
		t.Parallel()
		tab := chromium(t).Tab(t, readers(t))
		grown(tab, 9, 60)
		tab.Fresh("#/q/demo-number/canvas" + at)
		tab.Until(`document.querySelector('.lane-head')`)
		return tab
	}
	t.Run("IsDrawnAsArtifacts", func(t *testing.T) {
		tab := canvas(t, "")
		tab.Click(".canvas-bar button", "Artifacts")
		tab.Until(`document.querySelector('.chip .mark') && document.querySelector('.trace')`)
		tab.Click(".chip", "")
		tab.Until(`document.querySelector('.chip.chosen') && document.querySelector('.canvas-panel')`)
		pictures(tab, "canvas-events")
		tab.Eval(`document.querySelector('.chip.chosen').focus(), document.querySelector('.chip.chosen').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true })), true`, nil)
		tab.Until(`document.querySelector('.chip.chosen') === document.activeElement && document.activeElement.dataset.id !== 'event:a0'`)
		tab.Click(".canvas-bar .kinds button", "progress")
		tab.Until(`![...document.querySelectorAll('.chip .small')].some((e) => e.innerText.startsWith('progress'))`)
		if tab.Is(`document.querySelector('.sheet img')`) {
			t.Error("a title became an element")
		}
		tab.Sound()
	})
}

func TestTheRecordsOfAStudy(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	grown(tab, 3, 9)
	tab.Fresh("#/q/demo-number/records")
	tab.Until(`document.querySelectorAll('.record').length === 6`)
	pictures(tab, "records")
	search(tab, "damping")
	tab.Until(`document.querySelectorAll('.record').length === 1`)
	search(tab, "holt")
	tab.Until(`document.querySelectorAll('.record').length === 2`)
	tab.Click(".record a", "Holt <img")
	tab.Until(`document.querySelector('.paper-heading')?.innerText.includes('onerror')`)
	reads(t, tab, "main", "It is held against result-1.", "rests on", "idea-1", "1.20 kWh")
	harmless(t, tab)
	pictures(tab, "record")

	tab.Click(".records .tabs a", "Memory")
	tab.Until(`document.querySelectorAll('.record').length === 1`)
	reads(t, tab, ".record", "Damping helps", "wants approval", "2 revisions", "#holt")
	tab.Eval(`(() => { const e = document.querySelector('[aria-label=Kind]'); Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(e, 'papers'); e.dispatchEvent(new Event('change', { bubbles: true })); return true })()`, nil)
	tab.Until(`document.querySelector('main').innerText.includes('None is like that')`)
	tab.Go("#/q/demo-number/records?card=c1")
	reads(t, tab, "main", "/approve c1", "It helps")
	harmless(t, tab)
	pictures(tab, "card")

	tab.Click(".records .tabs a", "Documents")
	reads(t, tab, "main", "The brief, with <b>tags</b>.")
	tab.Click(".documents a", "Plan")
	reads(t, tab, "main", "first this")
	reads(t, tab, ".records .card", "People do not write it: it follows from what has happened.", "This is its beginning")
	if strings.Contains(tab.Text(".records .card"), "Edit") {
		t.Error("a document that follows from the ledger can be edited")
	}
	pictures(tab, "documents")
	tab.Sound()
}

// TestAHostilePaper is shown as words, with what its claims rest on and what does not hold.
func TestAHostilePaper(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, readers(t))
	grown(tab, 3, 9)
	tab.Fresh("#/q/demo-number/records?artifact=paper-1")
	tab.Until(`document.querySelectorAll('.claims .card').length === 2 && document.querySelector('.paper-view .prose')`)
	reads(t, tab, ".claims", "Damping beats", "The month before", "mae 1.87 kWh", "verified")
	reads(t, tab, ".paper-view", "A paper", "holds", "fails", "limits", "no limits are stated", "paper.html")
	tab.Until(`document.querySelector('.paper-view img[src^="blob:"]')?.naturalWidth > 0`)
	harmless(t, tab)
}

func TestSettingsShowSecretsOnlyAsSet(t *testing.T) {
	t.Parallel()
	axe := rules(t)
	tab := chromium(t).Tab(t, readers(t))
	grown(tab, 3, 9)
	tab.Fresh("#/settings")
	tab.Until(`document.querySelectorAll('.key').length === 3`)
	reads(t, tab, ".settings", "model", "demo", "read by lyceum run", "providers.openai.key", "from environment")
	var states []string
	tab.Eval(`[...document.querySelectorAll('.key .badge')].map((b) => b.innerText)`, &states)
	if strings.Join(states, ", ") != "set, not set" {
		t.Errorf("secrets show as %v, want set and not set", states)
	}
	tab.Click(".settings button", "Try it out")
	tab.Until(`document.querySelectorAll('.findings li').length === 2`)
	reads(t, tab, ".findings", "git 2.47", "To mend it: install texlive")
	pictures(tab, "settings")
	inEverySize(t, tab, "Settings", axe)
	search(tab, "openai")
	tab.Until(`document.querySelectorAll('.key').length === 1`)
	tab.Sound()
}

// search writes into the field that a page is searched by.
func search(tab *browsertest.Tab, text string) {
	tab.Until(`document.querySelector('main input[type=search]')`)
	tab.Eval(`(() => { const e = document.querySelector('main input[type=search]'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, `+browsertest.Quote(text)+`);
		e.dispatchEvent(new Event('input', { bubbles: true })); return true })()`, nil)
}
