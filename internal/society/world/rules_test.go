package world_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// TestTheTiersFollowEachOther is 27 and 30: each judges the same hash, in order.
func TestTheTiersFollowEachOther(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Stories, set.HeldOut = []event.WorldStory{story("open")}, []event.WorldStory{story("hidden")}
	w := start(t, set)
	has(t, w.does("propose", proposal("count", story("mine"))), "passed every tier", "reward 1000", "held-out 1000")
	want := "attempt.proposed, call 1, tier 1 passed, tier 2 waived, call 3, tier 3 passed, call 4, tier 4 passed, reward.given"
	if got := strings.Join(w.order(), ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	hash := all[*event.AttemptProposed](w)[0].Tree
	for _, c := range all[*event.AnalysisCall](w) {
		if c.Tree != hash {
			t.Errorf("tier %d looks at another tree", c.Tier)
		}
	}
	if c := all[*event.AnalysisCall](w)[1]; len(c.Stories) != 2 || c.Stories[0].Name != "mine" || c.Stories[1].Name != "open" {
		t.Errorf("tier 3 has %v, want the maker's and the author's", c.Stories)
	}
}

// TestTheFirstFailureStops: what did not pass is not looked at further.
func TestTheFirstFailureStops(t *testing.T) {
	t.Parallel()
	for _, tier := range []int64{1, 3, 4} {
		set := usual()
		set.HeldOut = []event.WorldStory{story("hidden")}
		w := start(t, set)
		w.look = func(c *event.AnalysisCall) *event.AnalysisResult {
			if c.Tier == tier {
				return w.says(c, trial.Failed)
			}
			return w.says(c, trial.Passed)
		}
		w.does("propose", proposal("count", story("mine")))
		for _, c := range all[*event.AnalysisCall](w) {
			if c.Tier > tier {
				t.Errorf("tier %d failed, and %d was asked", tier, c.Tier)
			}
		}
		has(t, w.does("finish", `{"attempt":1,"text":"done"}`), "not passed every tier")
	}
}

// TestFeedbackHasPlaceExpectedAndObserved is 36, and what is held out is 35.
func TestFeedbackHasPlaceExpectedAndObserved(t *testing.T) {
	t.Parallel()
	set := usual()
	set.HeldOut = []event.WorldStory{story("hidden")}
	w := start(t, set)
	fails := int64(1)
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult {
		if c.Tier == fails {
			r := w.says(c, trial.Failed)
			for range 40 {
				r.Findings = append(r.Findings, event.WorldFinding{Check: "more", Kind: "failed", Required: true})
			}
			return r
		}
		return w.says(c, trial.Passed)
	}
	text := w.does("propose", proposal("one", story("mine")))
	has(t, text, "names at index.html:3", "expected a name", "observed none")
	if n := strings.Count(text, "\n- "); n > 20 {
		t.Errorf("%d findings are told, want 20 at most", n)
	}
	fails = 3
	has(t, w.does("propose", proposal("two", story("mine"))), "mine: assertion", "expected Count: 1", "observed Count: 0")
	last := all[*event.ToolAnswered](w)
	if a := last[len(last)-1].Attachments; len(a) != 1 || a[0].Media != "image/png" {
		t.Errorf("a failed story has %v, want its picture", a)
	}
	fails = 4
	text = w.does("propose", proposal("three", story("mine")))
	has(t, text, "hidden: assertion")
	lacks(t, text, "secret", "expected", "observed")
}

// TestWhatIsHeldOutStandsInNoPrompt is 35: neither prompts nor calls have its text.
func TestWhatIsHeldOutStandsInNoPrompt(t *testing.T) {
	t.Parallel()
	set := judged(2)
	set.HeldOut = []event.WorldStory{story("hidden")}
	w := start(t, set)
	w.does("propose", proposal("count", event.WorldStory{Name: "mine", Intent: "x", Expect: []event.WorldCondition{{Kind: "title", Text: "y"}}}))
	for _, e := range w.Events[1:] {
		data, err := event.EncodeBody(e.Body)
		if err != nil {
			t.Fatal(err)
		}
		lacks(t, string(data), "secret of hidden")
	}
	if c := all[*event.AnalysisCall](w); !c[len(c)-1].HeldOut || len(c[len(c)-1].Stories) > 0 {
		t.Errorf("the last call is %+v, want what is held out, without its text", c[len(c)-1])
	}
}

// TestAPredictionStandsBeforeItsObservation is 28 and 29.
func TestAPredictionStandsBeforeItsObservation(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.does("declare_structure", `{"channels":[{"name":"count","kind":"text","at":{"role":"status"}}],"levers":[{"name":"add","kind":"affordance","when":"instant","at":{"role":"button","name":"Add"}}],"loops":[{"name":"adding","lever":"add","channel":"count","response":"1"}]}`)
	has(t, w.does("try", trying1), "no attempt 1")
	w.does("propose", proposal("count", story("mine")))
	w.seen = func(c *event.WorldCall) *event.WorldObserved {
		return &event.WorldObserved{End: trial.Done, Held: []bool{true, false}, Unforeseen: 2, Changes: []string{"new alert"}}
	}
	text := w.does("try", trying1)
	has(t, text, "predicted 900 of 1000, seen: true, surprise 10000", "declared loop adding", "predicted 1000 of 1000, seen: false, surprise 1000000", "foresaw: 2", "new alert")
	got := w.order()
	if tail := strings.Join(got[len(got)-4:], ", "); tail != "prediction.made, world.call, world.observed, surprise.measured" {
		t.Errorf("the order is %s", tail)
	}
	if s := all[*event.SurpriseMeasured](w)[0]; s.Mean != 505_000 || s.Unforeseen != 2 {
		t.Errorf("surprise: %+v", s)
	}
	w.seen = func(*event.WorldCall) *event.WorldObserved {
		return &event.WorldObserved{End: trial.Unavailable, Error: event.Text{Text: "no browser"}}
	}
	has(t, w.does("try", trying1), "Nothing could be seen")
	if n := len(all[*event.SurpriseMeasured](w)); n != 1 {
		t.Errorf("nothing was seen, and there are %d surprises", n)
	}
	has(t, w.does("try", strings.Replace(trying1, `[{"condition":{"kind":"title","text":"x"},"probability":900}]`, `[]`, 1)), "nothing is expected")
}

// TestOnlyWhatPassedTiersOneAndTwoIsTried is 30, whatever tier 3 says.
func TestOnlyWhatPassedTiersOneAndTwoIsTried(t *testing.T) {
	t.Parallel()
	for _, fails := range []int64{1, 3} {
		w := start(t, usual())
		w.look = func(c *event.AnalysisCall) *event.AnalysisResult {
			if c.Tier == fails {
				return w.says(c, trial.Failed)
			}
			return w.says(c, trial.Passed)
		}
		w.does("propose", proposal("count", story("mine")))
		text := w.does("try", trying1)
		if tried := len(all[*event.WorldCall](w)) == 1; tried != (fails == 3) {
			t.Errorf("tier %d failed, tried: %v, %s", fails, tried, text)
		}
	}
}

// TestTheMakerRunsNothing is 30.
func TestTheMakerRunsNothing(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	if by := w.does("exec", `{"command":"sh app/run"}`); by != world.NothingElseRuns {
		t.Errorf("exec was answered %q, want it refused by %s", by, world.NothingElseRuns)
	}
	for _, r := range (world.Society{}).Roles(&quest.Spec{}, true, true) {
		if r.World || slices.ContainsFunc(r.Uses, func(name string) bool {
			return slices.Contains([]string{"exec", "start", "open_shell", "write_input", "kill", "await"}, name)
		}) {
			t.Errorf("the role %+v runs something", r)
		}
	}
}

// TestJudges is 32: they see the artifact, the rubric and tier 1, and nothing of the maker's or
// each other's; the lower median must reach 700.
func TestJudges(t *testing.T) {
	t.Parallel()
	w := start(t, judged(2))
	w.judge = func(name string) questtest.Call {
		return marks(map[string]int64{"judge-1": 900, "judge-2": 699}[name], 1000)
	}
	has(t, w.does("propose", proposal("words of the maker", story("mine"))), "Tier 2 (judges): failed", "purpose: 699")
	if len(all[*event.AnalysisCall](w)) != 1 {
		t.Error("the judges were not satisfied, and something ran")
	}
	heard := map[string]int{}
	for _, b := range all[*event.MessageSent](w) {
		if !strings.HasPrefix(b.To, "judge-") {
			continue
		}
		heard[b.To]++
		lacks(t, b.Text.Text, "words of the maker", "mine", "899", "699")
		if b.Text.Ref != nil && *b.Text.Ref != ref("the text of it") {
			t.Error("a judge is shown something else")
		}
		if b.Text.Ref == nil {
			has(t, b.Text.Text, "untrusted", "purpose: it does it", "nothing")
		}
	}
	if heard["judge-1"] != 2 || heard["judge-2"] != 2 {
		t.Errorf("the judges heard %v, want two messages each", heard)
	}
	w.judge = func(string) questtest.Call { return marks(700, 700) }
	has(t, w.does("propose", proposal("again", story("mine"))), "passed every tier")
	if !(world.Society{}).Samples(w.State, &agent.Agent{Name: "judge-1"}) || (world.Society{}).Samples(w.State, &agent.Agent{Name: world.Maker}) {
		t.Error("what judges say must be a new sample each time, and what the maker says need not")
	}
}

// TestQuotationsMustBeThere: a judge whose quotations are not is left out after two tries, and
// without any judge tier 2 is unavailable, never passed.
func TestQuotationsMustBeThere(t *testing.T) {
	t.Parallel()
	w := start(t, judged(2))
	w.find = func(c *event.MarksCall) *event.MarksResult {
		if c.Marks[0].Mark == 1000 {
			return &event.MarksResult{Missing: []string{"x"}}
		}
		return &event.MarksResult{}
	}
	w.judge = func(name string) questtest.Call {
		return marks(map[string]int64{"judge-1": 1000, "judge-2": 750}[name], 800)
	}
	has(t, w.does("propose", proposal("count", story("mine"))), "passed every tier")
	if b := all[*event.TierJudged](w)[1]; b.Criteria[0].Mark != 750 || len(all[*event.MarksCall](w)) != 3 {
		t.Errorf("tier 2 came to %+v after %d looks for quotations, want 750 after 3", b, len(all[*event.MarksCall](w)))
	}
	w.judge = func(string) questtest.Call { return marks(1000, 1000) }
	has(t, w.does("propose", proposal("more", story("mine"))), "Tier 2 (judges): unavailable", "no reward")
	if n := len(all[*event.AnalysisCall](w)); n != 3 {
		t.Errorf("there were %d looks, want none after judges that could not be heard", n)
	}
}

// TestUnavailableIsNoReward is 37 and 40: no reward, not zero; twice in a row ends the quest.
func TestUnavailableIsNoReward(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult {
		if c.Tier == 3 {
			return &event.AnalysisResult{Analyser: "x", Verdict: trial.Unavailable, Error: event.Text{Text: "There is no Chromium: apt install chromium."}}
		}
		return w.says(c, trial.Passed)
	}
	has(t, w.does("propose", proposal("one", story("mine"))), "unavailable", "apt install chromium", "no reward")
	if r := all[*event.RewardGiven](w)[0]; !r.None || r.Sum != 0 {
		t.Errorf("the reward is %+v, want none", r)
	}
	w.does("propose", proposal("two", story("mine")))
	if b := all[*event.QuestFailed](w); len(b) != 1 || !strings.Contains(b[0].Reason, "apt install chromium") {
		t.Errorf("the quest is %s, %+v; want it failed with how to get it", w.State.Status, b)
	}
}

// TestFinishTellsTheBest is 37: held-out, reward, least surprise, earliest.
func TestFinishTellsTheBest(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.does("propose", proposal("one", story("mine")))
	w.does("propose", proposal("two", story("mine")))
	m := world.Of(w.State)
	if m.Best().Number != 1 {
		t.Errorf("of two alike the best is %d, want the earliest", m.Best().Number)
	}
	w.does("try", strings.Replace(trying1, `"attempt":1`, `"attempt":2`, 1))
	if world.Of(w.State).Best().Number != 2 {
		t.Error("what was tried without much surprise is better than what nobody tried")
	}
	w.tries("finish", `{"attempt":1,"text":"a counter"}`)
	b := all[*event.QuestFinished](w)
	if len(b) != 1 || w.State.Status != quest.Finished {
		t.Fatalf("the quest is %s:\n%s", w.State.Status, w.tail())
	}
	has(t, b[0].Answer.Text, "a counter", "The best attempt is 2")
	has(t, strings.Join(b[0].Warnings, " "), "Attempt 2 is the best")
	if got := w.State.Produced(); got == nil || *got != world.Of(w.State).Attempts[0].Tree {
		t.Errorf("it delivers %v, want what the maker ended with", got)
	}
}

// TestAMakerThatStopsEndsTheQuest with what there is.
func TestAMakerThatStopsEndsTheQuest(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult { return w.says(c, trial.Failed) }
	w.does("propose", proposal("one", story("mine")))
	for range 3 {
		w.Answer(world.Maker, questtest.Says("I give up."))
	}
	if b := all[*event.QuestFinished](w); len(b) != 1 || !b[0].NotFound || len(b[0].Warnings) != 1 {
		t.Errorf("the quest is %s, %+v", w.State.Status, b)
	}
}

// TestAttemptsAndTrialsAreLimited.
func TestAttemptsAndTrialsAreLimited(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Attempts, set.Tries = 1, 1
	w := start(t, set)
	w.does("propose", proposal("one", story("mine")))
	has(t, w.does("propose", proposal("two", story("mine"))), "all there can be", "Finish with attempt 1")
	w.does("try", trying1)
	has(t, w.does("try", trying1), "all there can be")
	has(t, w.does("declare_structure", `{"objects":[{"name":"a","kind":"list"}]}`), "all there can be")
	w = start(t, set)
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult { return w.says(c, trial.Failed) }
	w.does("propose", proposal("one", story("mine")))
	if b := all[*event.QuestFinished](w); len(b) != 1 || !b[0].NotFound {
		t.Errorf("nothing passed and nothing more can be proposed: the quest is %s, want it over", w.State.Status)
	}
}

// TestAForkAnywhereComesToTheSameEnd: guards outlive forks, and what was asked is asked again.
func TestAForkAnywhereComesToTheSameEnd(t *testing.T) {
	t.Parallel()
	set := judged(1)
	set.HeldOut = []event.WorldStory{story("hidden")}
	w := start(t, set)
	w.does("propose", proposal("one", story("mine")))
	w.does("try", trying1)
	for n := 3; n <= len(w.Events); n++ {
		f := &made{Story: w.Fork(n, nil), t: t}
		f.usual()
		f.Take("person", &event.QuestResumed{})
		f.settle()
		for range 6 {
			if f.State.Status != quest.Running {
				break
			}
			switch m := world.Of(f.State); {
			case len(f.Open("model.call", world.Maker)) == 0:
				t.Fatalf("fork at %d (%s): nobody is asked:\n%s", n, w.Events[n-1].Type, f.tail())
			case len(m.Attempts) == 0:
				f.does("propose", proposal("one", story("mine")))
			case len(m.Tries) == 0:
				f.does("try", trying1)
			default:
				f.tries("finish", `{"attempt":1,"text":"done"}`)
			}
		}
		if f.State.Status != quest.Finished || len(all[*event.RewardGiven](f)) != 1 {
			t.Fatalf("fork at %d (%s): it is %s:\n%s", n, w.Events[n-1].Type, f.State.Status, f.tail())
		}
	}
}
