package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// looked is what a witness finds about a result, without anything being run.
func looked(ctx context.Context, q *runtime.Quest, set world.Settings, call, result event.Body) (string, error) {
	created := &event.QuestCreated{Name: "q"}
	if err := quest.Record(created, set); err != nil {
		return "", err
	}
	w := service.World{}.Witness(q.Runtime, event.Event{}, created, func(event.Event, string, ...any) {})
	defer w.Close()
	d, err := w.Looks()[call.Type()].At(ctx, event.Event{Body: call}, event.Event{Seq: 7, Body: result})
	if d == nil || err != nil {
		return "", err
	}
	return d.What, nil
}

// TestStoriesAreRunAgain: what a program did is done again, and whoever has forged the record of the
// runs, with verdicts that follow from it, is found by that and by nothing else.
func TestStoriesAreRunAgain(t *testing.T) {
	t.Parallel()
	step := func(args ...string) []event.WorldStep {
		return []event.WorldStep{{Do: "run", Args: args, Input: "b\na\n"}}
	}
	wrong := event.WorldStory{Name: "wrong", Steps: step(), Expect: []event.WorldCondition{{Kind: "output", Text: "b a"}}}
	right := event.WorldStory{Name: "right", Steps: step(), Expect: []event.WorldCondition{{Kind: "output", Text: "a b"}}}
	chance := event.WorldStory{Name: "chance", Steps: step("count"), Expect: []event.WorldCondition{{Kind: "output", Text: "1"}}}
	dies := event.WorldStory{Name: "dies", Steps: step("die"), Expect: []event.WorldCondition{{Kind: "exit"}}}
	lie := func(name string) func(int, int, *trial.Sight, *string) {
		return func(story, _ int, s *trial.Sight, end *string) {
			if fmt.Sprint(story) == name {
				s.Output, s.Exit, *end = "b\na\n", 0, trial.Done
			}
		}
	}
	cases := []struct {
		name    string
		stories []event.WorldStory
		forge   func(int, int, *trial.Sight, *string)
		change  func(*event.AnalysisResult)
		want    string
		why     string
	}{
		{"Same", []event.WorldStory{right, wrong, dies}, nil, nil, audit.ExecSame, ""},
		{"Forged", []event.WorldStory{right, wrong}, lie("1"), nil, audit.ExecDifferent, `story "wrong": run 1 saw something else: output`},
		{"ForgedACrash", []event.WorldStory{dies}, lie("0"), nil, audit.ExecDifferent, "ended as crash, not as done"},
		{"OneRunForged", []event.WorldStory{wrong}, func(_, run int, s *trial.Sight, _ *string) {
			if run == 1 {
				s.Output = "b a"
			}
		}, nil, audit.ExecNotCheckable, "two runs differed then"},
		{"ByChance", []event.WorldStory{chance}, nil, nil, audit.ExecNotCheckable, "two runs differ here, too"},
		{"ForgedBesideChance", []event.WorldStory{chance, wrong}, lie("1"), nil, audit.ExecDifferent, `story "wrong"`},
		{"TooLong", []event.WorldStory{right}, func(_, _ int, _ *trial.Sight, end *string) { *end = trial.Timeout }, nil, audit.ExecNotCheckable, "one took too long"},
		{"AnotherComputer", []event.WorldStory{wrong}, lie("0"), func(r *event.AnalysisResult) { r.Fingerprint[0]++ }, audit.ExecNotCheckable, "another computer"},
		{"NoComputerTold", []event.WorldStory{wrong}, lie("0"), func(r *event.AnalysisResult) { r.Fingerprint = event.Hash{} }, audit.ExecNotCheckable, "in which computer it ran is not recorded"},
		{"NothingKept", []event.WorldStory{wrong}, nil, func(r *event.AnalysisResult) { r.Runs = nil }, audit.ExecNotCheckable, "nothing was kept"},
	}
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"main.sh": sorting})
		if err != nil {
			return err
		}
		for i, c := range cases {
			set := world.Settings{Kind: trial.Program}
			w, seq := service.WorldOf(q, set, nil), uint64(10+i)
			call := &event.AnalysisCall{Tier: 3, Tree: tree, Stories: c.stories}
			body, err := w.Answer(ctx, seq, call)
			if err != nil {
				return err
			}
			r := body.(*event.AnalysisResult)
			if r.Fingerprint.IsZero() {
				t.Errorf("%s: the result does not say in which computer it was", c.name)
			}
			if c.forge != nil {
				if err := w.Forged(ctx, call, r, c.forge); err != nil {
					return err
				}
				if what, err := looked(ctx, q, set, call, r); what != "" || err != nil {
					t.Errorf("%s: it is found without anything being run (%s, %v): the forgery is careless", c.name, what, err)
				}
			}
			if c.change != nil {
				c.change(r)
			}
			got, err := w.Again(ctx, seq, call, r)
			if err != nil || got.Status != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: got %s because of %q, %v; want %s and %q", c.name, got.Status, got.Why, err, c.want, c.why)
			}
		}
		return nil
	})
}

// TestPagesAndTriesAreRunAgain: pages, pictures and tries are compared as programs are.
func TestPagesAndTriesAreRunAgain(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		visits, shown := 0, func(int) string { return "0" }
		see := func(v browser.Visit) (*browser.Seen, error) {
			visits++
			s := seenAs(trial.Done, shown(visits))
			if v.NoScripts {
				s = seenAs(trial.Done, "none")
			}
			s.Before = seenAs(trial.Done, "00").After
			return s, nil
		}
		set := world.Settings{Kind: trial.Web}
		list := []event.WorldStory{{Name: "one", Expect: []event.WorldCondition{counted}}}
		stories, try := &event.AnalysisCall{Tier: 3, Tree: tree, Stories: list}, &event.WorldCall{Tree: tree, Expect: list[0].Expect}
		seen := func(b event.Body) *event.WorldObserved { return b.(*event.WorldObserved) }
		told := func(b event.Body) *event.AnalysisResult { return b.(*event.AnalysisResult) }
		w := service.WorldOf(q, set, see)
		zero, chance := func(int) string { return "0" }, func(n int) string { return fmt.Sprint("x", n) }
		for i, c := range []struct {
			name      string
			call      event.Body
			forge     func(event.Body) error
			now       func(int) string
			want, why string
		}{
			{"Same", stories, nil, zero, audit.ExecSame, ""},
			{"Forged", stories, func(b event.Body) error {
				return w.Forged(ctx, stories, told(b), func(_, _ int, s *trial.Sight, _ *string) { s.Nodes[2].Name, s.Text = "1", "1" })
			}, zero, audit.ExecDifferent, `story "one": run 1 saw something else: accessibility tree, text`},
			{"AnotherPicture", stories, func(b event.Body) error {
				told(b).Stories[0].After.Picture = new(event.RefOf([]byte("png 1")))
				return nil
			}, zero, audit.ExecDifferent, "the picture of its end differs"},
			{"AnotherBrowser", stories, func(b event.Body) error {
				told(b).Analyser = "Chrome/1"
				return w.Forged(ctx, stories, told(b), func(_, _ int, s *trial.Sight, _ *string) { s.Text = "1" })
			}, zero, audit.ExecNotCheckable, "different environment: a fake, then Chrome/1"},
			{"Chance", stories, nil, chance, audit.ExecNotCheckable, "two runs differ here, too"},
			{"Try", try, nil, zero, audit.ExecSame, ""},
			{"TryThatSawAnother", try, func(b event.Body) error {
				seen(b).After.Accessibility.Text = "status \"1\"\n"
				return nil
			}, zero, audit.ExecDifferent, "what is seen after differs: accessibility tree"},
			{"TryThatSawAnotherBefore", try, func(b event.Body) error { seen(b).Before.Title = "x"; return nil }, zero, audit.ExecDifferent, "what is seen before differs: text"},
			{"TryWithAnotherPicture", try, func(b event.Body) error { seen(b).After.Picture = seen(b).Before.Picture; return nil }, zero, audit.ExecDifferent, "the picture after differs"},
			{"TryThatEndedOtherwise", try, func(b event.Body) error { seen(b).End = trial.Missing; return nil }, zero, audit.ExecDifferent, "ended as done, not as missing"},
			{"TryByChance", try, nil, chance, audit.ExecNotCheckable, "two runs differ here, too"},
			{"TryThatCouldNotBe", try, func(b event.Body) error { seen(b).End = trial.Unavailable; return nil }, zero, audit.ExecNotCheckable, "it could not be tried then"},
			{"TryInAnotherComputer", try, func(b event.Body) error { seen(b).After.Title, seen(b).Fingerprint[0] = "x", 1; return nil }, zero, audit.ExecNotCheckable, "another computer"},
		} {
			shown, visits = zero, 0
			body, err := w.Answer(ctx, uint64(10+i), c.call)
			if err == nil && c.forge != nil {
				err = c.forge(body)
			}
			if err != nil {
				return err
			}
			shown, visits = c.now, 10
			got, err := w.Again(ctx, uint64(10+i), c.call, body)
			if err != nil || got.Status != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: got %s because of %q, %v; want %s and %q", c.name, got.Status, got.Why, err, c.want, c.why)
			}
		}
		body, err := w.Answer(ctx, 50, stories)
		if err != nil {
			return err
		}
		if got, err := w.WithoutBrowser().Again(ctx, 50, stories, body); err != nil || got.Status != audit.ExecNotCheckable || !strings.Contains(got.Why, "install chromium") {
			t.Errorf("without a browser: got %+v, %v, want it not checkable and what to do", got, err)
		}
		return nil
	})
}

// TestChecksAreRunAgain: the author's commands, too.
func TestChecksAreRunAgain(t *testing.T) {
	t.Parallel()
	forged := func(b *event.AnalysisResult) {
		b.Findings = slices.DeleteFunc(b.Findings, func(f event.WorldFinding) bool { return f.Check == "check no" })
	}
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		no, date, lint := world.Check{Name: "no", Run: "echo x; exit 3"}, world.Check{Name: "date", Run: "date +%N; exit 3"}, world.Check{Name: "lint", Run: "no-such-program"}
		for i, c := range []struct {
			name      string
			checks    []world.Check
			forge     func(*event.AnalysisResult)
			want, why string
		}{
			{"Same", []world.Check{no, lint}, func(*event.AnalysisResult) {}, audit.ExecSame, ""},
			{"Forged", []world.Check{no}, forged, audit.ExecDifferent, "check no says failed, not passed"},
			{"ForgedWords", []world.Check{no}, func(b *event.AnalysisResult) { b.Findings[0].Observed = "exit code 3: y" }, audit.ExecDifferent, "check no prints something else"},
			{"ByChance", []world.Check{date}, func(*event.AnalysisResult) {}, audit.ExecNotCheckable, "two runs differ here, too"},
			{"ForgedBesideChance", []world.Check{date, no}, forged, audit.ExecDifferent, "check no says failed"},
			{"NoProgram", []world.Check{lint}, func(b *event.AnalysisResult) { b.Findings = nil }, audit.ExecNotCheckable, "one could not be run"},
		} {
			w, call := service.WorldOf(q, world.Settings{Kind: trial.Web, Checks: c.checks}, nil), &event.AnalysisCall{Tier: 1, Tree: tree}
			body, err := w.Answer(ctx, uint64(10+i), call)
			if err != nil {
				return err
			}
			c.forge(body.(*event.AnalysisResult))
			got, err := w.Again(ctx, uint64(10+i), call, body)
			if err != nil || got.Status != c.want || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: got %s because of %q, %v; want %s and %q", c.name, got.Status, got.Why, err, c.want, c.why)
			}
		}
		return nil
	})
}
