package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// TestForgeriesInAWorld: what is recorded of a world is judged again, and whoever changed it is
// found.
func TestForgeriesInAWorld(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		other, err := q.Blobs.Put(ctx, []byte("another picture"))
		if err != nil {
			return err
		}
		see := func(v browser.Visit) (*browser.Seen, error) {
			s := seenAs(trial.Done, "0")
			s.Before = seenAs(trial.Done, "00").After
			return s, nil
		}
		zero := counted
		zero.Text = "0"
		list := []event.WorldStory{{Name: "one", Expect: []event.WorldCondition{counted}}, {Name: "zero", Expect: []event.WorldCondition{zero}}}
		set := world.Settings{Kind: trial.Web, HeldOut: list, Checks: []world.Check{{Name: "no", Run: "false"}}}
		created := &event.QuestCreated{Name: "q"}
		if err := quest.Record(created, set); err != nil {
			return err
		}
		text, err := q.Blobs.Put(ctx, []byte("what was made"))
		if err != nil {
			return err
		}
		rules := func(b event.Body) *event.AnalysisResult { return b.(*event.AnalysisResult) }
		seen := func(b event.Body) *event.WorldObserved { return b.(*event.WorldObserved) }
		tier1 := &event.AnalysisCall{Attempt: 1, Tier: 1, Tree: tree}
		tier3 := &event.AnalysisCall{Attempt: 1, Tier: 3, Tree: tree, Stories: list}
		tier4 := &event.AnalysisCall{Attempt: 1, Tier: 4, Tree: tree, HeldOut: true}
		try := &event.WorldCall{Attempt: 1, Tree: tree, Expect: []event.WorldCondition{counted, zero}}
		marks := &event.MarksCall{Text: text, Marks: []event.WorldMark{{Criterion: "a", Quotation: "was made"}, {Criterion: "b", Quotation: "x"}}}
		for i, c := range []struct {
			name  string
			call  event.Body
			forge func(event.Body)
			want  string // a part of what is found, or noted after a colon
		}{
			{"Rules", tier1, func(event.Body) {}, ":the author's checks are not run again"},
			{"RulesAndAnotherVersion", tier1, func(b event.Body) { rules(b).Analyser = "lyceum rules 0" }, ":not checkable"},
			{"RulesAndAFindingMore", tier1, func(b event.Body) {
				rules(b).Findings = append(rules(b).Findings, event.WorldFinding{Check: "name", Kind: "told"})
			}, "the rules say something else"},
			{"RulesAndAnotherVerdict", tier1, func(b event.Body) { rules(b).Verdict = "failed" }, "the rules say something else"},
			{"RulesAndAnotherText", tier1, func(b event.Body) { rules(b).Text = &text }, "judges were shown something else"},
			{"Stories", tier3, func(event.Body) {}, ""},
			{"StoriesThatPassed", tier3, func(b event.Body) {
				for i := range rules(b).Stories {
					rules(b).Stories[i].Verdict, rules(b).Stories[i].Met, rules(b).Stories[i].Findings = trial.Passed, 1, nil
				}
				rules(b).Verdict = trial.Passed
			}, "comes to failed"},
			{"AStoryThatFailedOtherwise", tier3, func(b event.Body) { rules(b).Stories[0].Verdict = trial.Crash }, `story "one" is recorded as crash`},
			{"AConditionMore", tier3, func(b event.Body) { rules(b).Stories[0].Met = 1 }, `story "one" is recorded as assertion, 1 of 1`},
			{"AnotherFinding", tier3, func(b event.Body) { rules(b).Stories[0].Findings[0].Observed = "x" }, `story "one"`},
			{"NoRuns", tier3, func(b event.Body) { rules(b).Runs, rules(b).Text = nil, &text }, "nothing of what was seen"},
			{"OtherRuns", tier3, func(b event.Body) { rules(b).Runs = &other }, "cannot be read"},
			{"AnotherSight", tier3, func(b event.Body) { rules(b).Stories[1].After.Title = "x" }, "is not what its first run saw"},
			{"PictureThatIsGone", tier3, func(b event.Body) {
				rules(b).Stories[1].After.Picture = &event.Ref{Hash: event.HashOf([]byte("gone")), Size: 4}
			}, "blob"},
			{"PictureOfAnotherSize", tier3, func(b event.Body) { other := other; other.Size++; rules(b).Stories[1].After.Picture = &other }, "its reference says"},
			{"StoriesWithoutRoom", tier3, func(b event.Body) {
				*rules(b) = event.AnalysisResult{Verdict: trial.Passed, Stories: rules(b).Stories, Full: &event.Full{}}
			}, "nothing of what was seen"},
			{"TryWithoutRoom", try, func(b event.Body) { seen(b).Held, seen(b).Full = []bool{true, true}, &event.Full{} }, "is not what the recorded sights say"},
			{"HeldOut", tier4, func(event.Body) {}, ""},
			{"HeldOutThatPassed", tier4, func(b event.Body) { rules(b).Verdict = trial.Passed }, "comes to failed"},
			{"Nothing", tier3, func(b event.Body) { *rules(b) = event.AnalysisResult{Verdict: trial.Unavailable} }, ":nothing was kept"},
			{"Try", try, func(event.Body) {}, ""},
			{"TryThatHeld", try, func(b event.Body) { seen(b).Held = []bool{true, true} }, "is not what the recorded sights say"},
			{"TryThatForesaw", try, func(b event.Body) { seen(b).Unforeseen++ }, "is not what the recorded sights say"},
			{"TryWithAnotherSight", try, func(b event.Body) { seen(b).After.Accessibility.Text = "status \"1\"\n" }, "is not what the recorded sights say"},
			{"TryWithoutItsPicture", try, func(b event.Body) {
				seen(b).Before.Picture = &event.Ref{Hash: event.HashOf([]byte("gone")), Size: 4}
			}, "blob"},
			{"Marks", marks, func(event.Body) {}, ""},
			{"MarksThatAreThere", marks, func(b event.Body) { b.(*event.MarksResult).Missing = nil }, "0 quotations are recorded as missing, and 1 are not"},
		} {
			body, err := service.WorldOf(q, set, see).Answer(ctx, uint64(100+i), c.call)
			if err != nil {
				return err
			}
			c.forge(body)
			var noted []string
			w := service.World{}.Witness(q.Runtime, event.Event{}, created, func(_ event.Event, format string, args ...any) {
				noted = append(noted, ":"+fmt.Sprintf(format, args...))
			})
			d, err := w.Looks()[c.call.Type()].At(ctx, event.Event{Body: c.call}, event.Event{Seq: 7, Body: body})
			w.Close()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if d != nil {
				noted = append(noted, d.What)
			}
			found := slices.ContainsFunc(noted, func(s string) bool {
				return strings.HasPrefix(s, ":") == strings.HasPrefix(c.want, ":") && strings.Contains(s, strings.TrimPrefix(c.want, ":"))
			})
			if c.want == "" && d != nil || c.want != "" && !found || strings.HasPrefix(c.want, ":") && d != nil {
				t.Errorf("%s: got %q, want %q", c.name, noted, c.want)
			}
		}
		return nil
	})
}

// TestARealBrowserInAWorld: a page that counts passes, one that does not fails with what was
// predicted and seen.
func TestARealBrowserInAWorld(t *testing.T) {
	t.Parallel()
	need.Program(t, "chromium")
	story := []event.WorldStory{{Name: "count", Expect: []event.WorldCondition{counted}, Steps: []event.WorldStep{{Do: "click", At: event.WorldPlace{Role: "button", Name: "Add one"}}}}}
	rt := openRuntime(t, t.TempDir(), newShop(func(ctx context.Context, q *runtime.Quest) error {
		for i, c := range []struct{ page, want string }{{goodPage, trial.Passed}, {strings.Replace(goodPage, "++n", "n", 1), trial.Assertion}} {
			tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": c.page})
			if err != nil {
				return err
			}
			w := service.WorldOf(q, world.Settings{Kind: trial.Web}, nil)
			var b *event.AnalysisResult
			for try := 0; try < 10 && (b == nil || slices.Contains([]string{trial.Timeout, trial.Flaky}, b.Stories[0].Verdict)); try++ { // on a busy machine a run may meet its limit
				body, err := w.Answer(ctx, uint64(10+2*i), &event.AnalysisCall{Tier: 3, Tree: tree, Stories: story})
				if err != nil {
					return err
				}
				b = body.(*event.AnalysisResult)
			}
			if b.Stories[0].Verdict != c.want || b.Stories[0].After.Picture == nil || !strings.Contains(b.Analyser, "Chrome") {
				t.Errorf("got %+v, %+v by %s; want %s and a picture", b.Stories[0], b.Error, b.Analyser, c.want)
			}
			var o *event.WorldObserved
			for try := 0; try < 10 && (o == nil || o.End == trial.Timeout); try++ {
				body, err := w.Answer(ctx, uint64(11+2*i), &event.WorldCall{Tree: tree, Steps: story[0].Steps, Expect: story[0].Expect})
				if err != nil {
					return err
				}
				o = body.(*event.WorldObserved)
			}
			if !slices.Equal(o.Held, []bool{c.want == trial.Passed}) || o.Before.Picture == nil {
				t.Errorf("tried: got %+v, want that the condition held: %v", o, c.want == trial.Passed)
			}
		}
		return nil
	}))
	source := []byte("name: q\nproblem: What does it say?\nmodel: demo\ncomputer: {driver: bubblewrap, memory: 1GiB}\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: t.TempDir()})
	must(t, err)
	run(t, rt)
}
