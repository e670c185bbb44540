package tests

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/web/tests/browsertest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// copilot is a home in which the example of a study has gone from scouting to its answer, played by the
// demo model. Tests of it only look.
var copilot = sync.OnceValues(func() (browsertest.Home, error) {
	bin, err := program()
	h := browsertest.Home{Bin: bin, Dir: filepath.Join(shared, "copilot")}
	if err == nil {
		_, err = h.Lyceum("run", root+"/examples/copilot/quest.yaml")
	}
	return h, err
})

// researchers serves it.
func researchers(t testing.TB) *browsertest.Server {
	t.Helper()
	chromium(t)
	sandboxed(t)
	h, err := copilot()
	must(t, err)
	return serve(t, h)
}

// recorded is what the server says of something that a study has come to.
type recorded struct {
	ID, Kind, Title, Branch, Stage, Verdict, Value, Slice string
	Because                                               []string
}

// records are all of them, as the page gets them.
func records(tab *browsertest.Tab) (out []recorded) {
	tab.T().Helper()
	answer(tab, "/quests/copilot/artifacts", `a.recorded.map((r) => ({ ID: r.id, Kind: r.kind, Title: r.title, Branch: r.branch, Stage: r.stage, Verdict: r.verdict ?? '', Value: r.metrics?.[0]?.value ?? '', Slice: r.slice ?? '', Because: r.because }))`, &out)
	return out
}

// the one of a kind whose title has some words.
func the(t testing.TB, all []recorded, kind, words string) recorded {
	t.Helper()
	i := slices.IndexFunc(all, func(r recorded) bool { return r.Kind == kind && strings.Contains(r.Title, words) })
	if i < 0 {
		t.Fatalf("the study has no %s of %q among %d things", kind, words, len(all))
	}
	return all[i]
}

// copilotPlaces are the pages of a study. Each is held against the rules in every size and colour.
var copilotPlaces = map[string][]place{
	"OfTheCanvas": {
		{"Branches", "#/q/copilot/canvas"}, {"ABranch", "#/q/copilot/canvas?node=run/season"}, {"Artifacts", "#/q/copilot/canvas?view=events"},
		{"AnArtifact", "#/q/copilot/canvas?view=events&node=event:result-3"}, {"Stages", "#/q/copilot/canvas?view=stages"},
		{"AStage", "#/q/copilot/canvas?view=stages&node=stage:run/season:experiment"},
	},
	"OfTheRecords": {
		{"Overview", "#/q/copilot"}, {"Records", "#/q/copilot/records"}, {"AResult", "#/q/copilot/records?artifact=result-3"}, {"ADecision", "#/q/copilot/records?artifact=decision-2"},
		{"APaper", "#/q/copilot/records?artifact=paper-1"}, {"AnOutline", "#/q/copilot/records?artifact=outline-1"},
	},
	"OfTheRest": {
		{"Memory", "#/q/copilot/records?part=memory"}, {"Documents", "#/q/copilot/records?part=documents"}, {"Plan", "#/q/copilot/records?document=plan.md"},
		{"ToldAndAsked", "#/q/copilot/records?part=threads"}, {"Conversation", "#/q/copilot/talk"}, {"Settings", "#/settings"},
	},
}

func TestEveryPageOfAStudy(t *testing.T) {
	t.Parallel()
	rules, s := rules(t), researchers(t)
	for group, list := range copilotPlaces {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			tab := chromium(t).Tab(t, s)
			sound(t, tab, list, rules)
			for _, p := range list {
				tab.Go(p.at)
				pictures(tab, "real-"+strings.ToLower(p.name))
			}
		})
	}
}

// TestTheFiguresOfAStudy are drawn against its baseline, and read by keyboard and as a table.
func TestTheFiguresOfAStudy(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, researchers(t))
	// The demo model states no tolerance: the page is given one with what it is served.
	altered(tab, `if (path.endsWith('/artifacts')) for (const r of body.recorded) for (const m of r.metrics ?? []) m.tolerance = '5';`)
	tab.Fresh("#/q/copilot")
	all := slices.DeleteFunc(records(tab), func(r recorded) bool { return r.Value == "" })
	if len(all) < 5 {
		t.Fatalf("the study has %d results, want a baseline, one that lost, one that won, and two slices", len(all))
	}
	tab.Until(fmt.Sprintf(`document.querySelectorAll('.plot a.spot').length === %d`, len(all)))
	base, won := the(t, all, "baseline", "month before"), the(t, all, "run", "same month a year before")
	if !tab.Is(`document.querySelectorAll('.plot-box .level').length === 1 && document.querySelectorAll('.plot-box .band').length === 1 && document.querySelectorAll('.plot-box .ring').length === 1`) {
		t.Error("the level, its tolerance or the best is missing")
	}
	reads(t, tab, ".plot-key", "verified", "baseline "+base.Branch, "± 5")
	reads(t, tab, ".plot-table", "baseline "+base.Branch, base.Value, "tolerance 5", strings.TrimPrefix(won.Branch, "run/"), won.Value, "the best")
	for i, r := range all {
		if label := tab.Text(fmt.Sprintf(".plot-table tbody tr:nth-child(%d)", i+2)); !strings.Contains(label, r.Value) {
			t.Errorf("row %d of the table is %q, want the %s of %s as it was written", i, label, r.Value, r.ID)
		}
	}
	if !tab.Is(`document.querySelector('.plot-box .ring').closest('a').getAttribute('aria-label').includes(` + browsertest.Quote(won.Value) + `)`) {
		t.Errorf("the best is not %s with %s", won.ID, won.Value)
	}
	tab.Eval(`document.querySelector('[data-point="0"]').focus(), true`, nil)
	for i := range all {
		tab.Until(fmt.Sprintf(`document.activeElement.dataset.point === '%d' && document.querySelector('.plot-tip')?.innerText.includes(%s)`, i, browsertest.Quote(all[i].Value)))
		tab.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	tab.Do(chromedp.KeyEvent(kb.Home))
	tab.Until(`document.activeElement.dataset.point === '0'`)
	tab.Do(chromedp.KeyEvent(kb.Enter)) // a point leads to its record
	tab.Until(`document.querySelector('.paper-heading')?.innerText === ` + browsertest.Quote(base.Title))
	tab.Sound()
}

func TestTheCanvasOfARealStudy(t *testing.T) {
	t.Parallel()
	s := researchers(t)
	t.Run("HasItsLinesOfWorkAndWhatEachChanged", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/canvas")
		var branches []struct{ Name, Value, Outcome string }
		answer(tab, "/quests/copilot/branches", `a.nodes.map((n) => ({ Name: n.branch_kind === 'analysis' ? n.label : n.ref, Value: n.latest_metric?.value ?? '', Outcome: n.latest_metric?.outcome ?? '' }))`, &branches)
		tab.Until(fmt.Sprintf(`document.querySelectorAll('.lane-head').length === %d`, len(branches)))
		for _, b := range branches {
			reads(t, tab, ".heads", b.Name)
			reads(t, tab, ".cells", b.Value, b.Outcome)
		}
		if tab.Is(`[...document.querySelectorAll('.lane-head')].some((e) => [...e.querySelectorAll('span')].some((s) => s.getBoundingClientRect().right > e.getBoundingClientRect().right))`) {
			t.Error("a name runs out of its place")
		}
		reads(t, tab, ".branch-axis", "mae in visitors, lower is better")
		// Folded, its analyses are gone; a search finds them all the same.
		fold := `[...document.querySelectorAll('.lane-head')].find((e) => e.innerText.startsWith('run/season')).querySelector('.fold')`
		tab.Eval(fold+`.click(), true`, nil)
		tab.Until(fmt.Sprintf(`document.querySelectorAll('.lane-head').length === %d`, len(branches)-2))
		search(tab, "growth")
		tab.Until(`[...document.querySelectorAll('.lane-head:not(.faint)')].some((e) => e.innerText.includes('growth'))`)
		search(tab, "")
		tab.Eval(fold+`.click(), true`, nil)
		tab.Click(".lane-name", "run/season")
		tab.Until(`document.querySelector('.canvas-panel h2')?.innerText === 'run/season'`)
		tab.Click(".canvas-bar button", "Focus")
		tab.Until(`document.querySelectorAll('.lane-head').length === 4`) // main, itself, and what asks about it
		tab.Click(".canvas-panel button", "evaluate.sh")
		tab.Until(`document.querySelector('.canvas-panel .dv-line.plus') && document.querySelector('.canvas-panel .dv-line.minus')`)
		// It is held against the baseline: the one forecasts by the month before, the other by the year before.
		reads(t, tab, ".canvas-panel", "Against run/baseline", "result-3 beats", "f = y[t-1]", "f = y[t-12] + a - b")
		pictures(tab, "real-diff")
		tab.Sound()
	})
	t.Run("SaysWhyOneThingFollowsFromAnother", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/canvas?view=events")
		all := records(tab)
		lost, dropped := the(t, all, "run", "mean of the twelve months"), the(t, all, "decision", "is dropped")
		tab.Until(`document.querySelector('.chip') && document.querySelector('.trace.evidence') && document.querySelector('.trace.compares')`)
		search(tab, "is dropped")
		tab.Until(`document.querySelector('.canvas-bar [role=status]')?.innerText.startsWith('1 found')`)
		tab.Do(chromedp.Focus("main input[type=search]"), chromedp.KeyEvent(kb.Enter))
		tab.Until(`document.querySelector('.canvas-panel h2')?.innerText === ` + browsertest.Quote(dropped.Title))
		search(tab, "")
		tab.Until(`[...document.querySelectorAll('.traces text')].some((e) => e.textContent === 'evidence')`)
		reads(t, tab, ".canvas-panel .edges", "rests on", lost.Title)
		tab.Click(".canvas-panel .edges button", lost.Title)
		tab.Until(`document.querySelector('.canvas-panel h2')?.innerText === ` + browsertest.Quote(lost.Title))
		tab.Until(`[...document.querySelectorAll('.traces text')].some((e) => e.textContent === 'compares')`)
		reads(t, tab, ".canvas-panel", "verified", "is compared with", "is evidence for", dropped.Title)
		// What is chosen is in the window, and the arrow keys go on from it.
		tab.Until(`(() => { const b = document.querySelector('.sheet').getBoundingClientRect(), r = document.querySelector('.chip.chosen').getBoundingClientRect(); return r.left >= b.left && r.right <= b.right && r.top >= b.top && r.bottom <= b.bottom })()`)
		tab.Eval(`document.querySelector('.chip.chosen').focus(), true`, nil)
		tab.Do(chromedp.KeyEvent(kb.ArrowUp))
		tab.Until(`document.activeElement?.classList.contains('chosen') && document.activeElement.dataset.id !== ` + browsertest.Quote("event:"+lost.ID))
		tab.Sound()
	})
	t.Run("GoesThroughTheStages", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/canvas?view=stages")
		reads(t, tab, ".stage-tops", "scout", "baseline", "idea", "experiment", "analysis-campaign", "write", "finalize")
		var stages []string
		answer(tab, "/quests/copilot/node-traces?view=stage", `a.stages.map((s) => s.selection_ref)`, &stages)
		tab.Until(fmt.Sprintf(`document.querySelectorAll('.chip.stage').length === %d`, len(stages)))
		tab.Eval(`document.querySelector('[data-id="stage:run/season:experiment"]').click(), true`, nil)
		tab.Until(`document.querySelector('.canvas-panel .edges a')`)
		reads(t, tab, ".canvas-panel", "experiment on", "run/season", "The season is kept")
		tab.Sound()
	})
}

func TestTheRecordsOfARealStudy(t *testing.T) {
	t.Parallel()
	s := researchers(t)
	t.Run("AreReadAsCards", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/records")
		all := records(tab)
		tab.Until(`document.querySelectorAll('.record').length > 8`)
		search(tab, "is dropped")
		tab.Until(`document.querySelectorAll('.record').length === 1`)
		dropped := the(t, all, "decision", "is dropped")
		reads(t, tab, ".record", "decision", "bad", dropped.Title, dropped.ID)
		tab.Click(".record a", dropped.Title)
		tab.Until(`document.querySelector('.paper-heading')?.innerText === ` + browsertest.Quote(dropped.Title))
		reads(t, tab, "main .facts", "rests on", dropped.Because[0], "Keep the branch as it is")
		tab.Click("main .facts a", dropped.Because[0])
		tab.Until(`document.querySelector('.paper-heading')?.innerText.includes('mean of the twelve months')`)
		reads(t, tab, "main article", "verified", "mae", "visitors", "evaluate.sh")

		tab.Click(".records .tabs a", "Memory")
		tab.Until(`document.querySelector('.record')`)
		tab.Click(".record a", "What is to be forecast")
		reads(t, tab, "main article", "knowledge", "without gaps", "1 revision")

		tab.Click(".records .tabs a", "Documents")
		tab.Click(".documents a", "Summary")
		reads(t, tab, "main article", "result-3")

		tab.Click(".records .tabs a", "Told and asked")
		tab.Until(`document.querySelector('.thread')`) // only those near the window exist, and the first is long
		reads(t, tab, ".threads", "researcher", "answer", "Visitors is forecast one month ahead")
		tab.Sound()
	})
	// What a paper claims stands beside what it rests on: on a phone below it.
	t.Run("HaveThePaperWithItsClaimsBesideTheirEvidence", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/records")
		all := records(tab)
		won, base := the(t, all, "run", "same month a year before"), the(t, all, "baseline", "month before")
		paper := the(t, all, "paper", "forecasts the next one")
		tab.Go("#/q/copilot/records?artifact=" + paper.ID)
		tab.Until(`document.querySelectorAll('.claims .card').length === 4 && document.querySelector('.paper-view .prose table')`)
		reads(t, tab, ".claims li:first-child", "has a smaller error than", won.Title, won.Value, base.Title, base.Value, "verified")
		reads(t, tab, ".paper-view", "evidence", "baselines", "losers", "limits", "references", "figures", "paper.html", "claims.json")
		if strings.Contains(tab.Text(".paper-view aside"), "fails") {
			t.Errorf("the checklist of the example's paper does not hold: %q", tab.Text(".paper-view aside"))
		}
		tab.Until(`(() => { const i = document.querySelector('.paper-view .figure img'); return i?.complete && i.naturalWidth > 100 })()`)
		beside := `(() => { const text = document.querySelector('.paper-view .prose').getBoundingClientRect(), claims = document.querySelector('.claims').getBoundingClientRect(); return %s })()`
		if !tab.Is(fmt.Sprintf(beside, `claims.left >= text.right && claims.top < text.bottom`)) {
			t.Error("the claims do not stand beside the paper")
		}
		tab.Do(chromedp.EmulateViewport(390, 844), browsertest.Resized())
		if !tab.Is(fmt.Sprintf(beside, `claims.left < text.right && claims.width > 250`)) {
			t.Error("on a phone the claims are squeezed beside the paper")
		}
		tab.Do(chromedp.EmulateViewport(1280, 800), browsertest.Resized())
		tab.Click(".claims a", won.Title)
		tab.Until(`document.querySelector('.paper-heading')?.innerText === ` + browsertest.Quote(won.Title))
		tab.Sound()
	})
	t.Run("HaveTheStagesItCameThroughAndWhy", func(t *testing.T) {
		t.Parallel()
		tab := chromium(t).Tab(t, s)
		tab.Go("#/q/copilot/talk")
		tab.Until(`document.querySelectorAll('.track li').length === 7`)
		if !tab.Is(`[...document.querySelectorAll('.track li')].every((e) => e.matches('.been')) && document.querySelector('.track [aria-current]').innerText === 'finalize'`) {
			t.Errorf("the track is %q, want all seven stages behind it, and finalize", tab.Text(".track"))
		}
		reads(t, tab, ".stages", "Came here because: The paper is written and was reviewed.")
		tab.Click(".stages summary", "How it came here")
		tab.Until(`document.querySelectorAll('.moves li').length >= 6`)
		reads(t, tab, ".moves", "There is a baseline that was run twice.", "rests on result-1", "One idea lost and one won")
		tab.Sound()
	})
}

// TestTheReviewsOfAStudy: the conversation has what the reviewer said of the paper, each point with what was done
// about it, and which round it was.
func TestTheReviewsOfAStudy(t *testing.T) {
	t.Parallel()
	tab := chromium(t).Tab(t, researchers(t))
	tab.Go("#/q/copilot/talk")
	var said []struct {
		Text   string
		Review struct {
			Points []struct{ Text, How, Answer string }
		}
	}
	answer(tab, "/quests/copilot/conversation?limit=500", `a.utterances.filter((u) => u.kind === 'review').map((u) => ({ Text: u.text, Review: { Points: u.review.points.map((p) => ({ Text: p.text, How: p.how ?? '', Answer: p.answer ?? '' })) } }))`, &said)
	if len(said) != 2 || len(said[0].Review.Points) == 0 || len(said[1].Review.Points) != 0 {
		t.Fatalf("the reviews are %+v, want one with points and one without", said)
	}
	// Only what is near the window exists: one looks back for it.
	back := func(words string) string {
		return `(() => { const found = [...document.querySelectorAll('.talk .utterance:has(.review)')].find((e) => e.innerText.includes(` + browsertest.Quote(words) + `));
			if (found) { found.scrollIntoView({ block: 'start' }); return true; }
			document.querySelector('.talk .said').scrollTop -= 200; return false })()`
	}
	tab.Until(back("round 2 of 2"))
	reads(t, tab, ".talk .review", "no points")
	tab.Until(back("round 1 of 2"))
	const first = `.talk .utterance:has(.points)`
	tab.Until(fmt.Sprintf(`document.querySelectorAll('%s .points > li').length === %d`, first, len(said[0].Review.Points)))
	reads(t, tab, first, "reviewer", "review", "paper-1, revision 1", "answered", said[0].Review.Points[0].Text, said[0].Review.Points[0].How, said[0].Review.Points[0].Answer)
	pictures(tab, "real-review")
	// A point that nothing was done about is open.
	altered(tab, `if (path.endsWith('/conversation')) for (const u of body.utterances) for (const p of u.review?.points.slice(0, 1) ?? []) { delete p.how; delete p.answer; }`)
	tab.Fresh("#/q/copilot/talk")
	tab.Until(back(fmt.Sprintf("1 of %d points open", len(said[0].Review.Points))))
	tab.Sound()
}
