package world_test

import (
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// whole is a quest in which everything happened that can.
func whole(t *testing.T) *made {
	t.Helper()
	set := judged(1)
	set.HeldOut = []event.WorldStory{story("hidden")}
	w := start(t, set)
	w.does("propose", proposal("count", story("mine")))
	w.does("try", trying1)
	return w
}

// at is where the first event of a type stands, from a place on.
func (w *made) at(kind event.Type, from int) int {
	w.t.Helper()
	i := slices.IndexFunc(w.Events[from:], func(e event.Event) bool { return e.Type == kind })
	if i < 0 {
		w.t.Fatalf("there is no %s", kind)
	}
	return from + i
}

// follows folds a ledger up to an event, and then another in its place.
func (w *made) follows(n int, e event.Event, b event.Body) error {
	s := w.Fold(n)
	e.Seq, e.Body = uint64(n)+1, b
	return s.Fold(e)
}

// TestALedgerThatLeavesSomethingOutDoesNotFold is 28 and 30: no tier is skipped, no verdict stands
// without what was looked at, nothing is observed that was not predicted.
func TestALedgerThatLeavesSomethingOutDoesNotFold(t *testing.T) {
	t.Parallel()
	w := whole(t)
	for _, c := range []struct{ gone, next event.Type }{
		{"attempt.proposed", "analysis.call"}, {"analysis.call", "analysis.result"}, {"analysis.result", "tier.judged"},
		{"marks.call", "marks.result"}, {"marks.result", "marks.given"}, {"tier.judged", "reward.given"},
		{"prediction.made", "world.call"}, {"world.call", "world.observed"}, {"world.observed", "surprise.measured"},
	} {
		i := w.at(c.gone, 0)
		next := w.Events[w.at(c.next, i)]
		if err := w.follows(i, next, next.Body); err == nil {
			t.Errorf("without its %s, %s folds", c.gone, c.next)
		}
		if err := w.follows(i, w.Events[i], w.Events[i].Body); err != nil {
			t.Errorf("%s as it was does not fold: %v", c.gone, err)
		}
	}
	// The next tier, right after the proposal, and after each tier but the one before it.
	for i, e := range w.Events {
		b, ok := e.Body.(*event.AnalysisCall)
		if !ok || b.Tier == 1 {
			continue
		}
		for n := w.at("attempt.proposed", 0) + 1; n < i-1; n++ {
			if err := w.follows(n, e, b); err == nil {
				t.Errorf("the call of tier %d folds after event %d, %s", b.Tier, n, w.Events[n-1].Type)
			}
		}
	}
}

// TestAForgedWordDoesNotFold: what follows from what was said is what stands there.
func TestAForgedWordDoesNotFold(t *testing.T) {
	t.Parallel()
	w := whole(t)
	for name, forge := range map[string]func(event.Body) bool{
		"Verdict": func(b event.Body) bool { x, ok := b.(*event.TierJudged); return ok && set(&x.Verdict, trial.Failed) },
		"Median": func(b event.Body) bool {
			x, ok := b.(*event.TierJudged)
			return ok && len(x.Criteria) > 0 && set(&x.Criteria[0].Mark, 999)
		},
		"Reward":  func(b event.Body) bool { x, ok := b.(*event.RewardGiven); return ok && set(&x.Sum, 999) },
		"HeldOut": func(b event.Body) bool { x, ok := b.(*event.RewardGiven); return ok && set(&x.HeldOut, nil) },
		"Tree":    func(b event.Body) bool { x, ok := b.(*event.AnalysisCall); return ok && set(&x.Tree, *tree("other")) },
		"Stories": func(b event.Body) bool {
			x, ok := b.(*event.AnalysisCall)
			return ok && x.Tier == 3 && set(&x.Stories, nil)
		},
		"Marks":      func(b event.Body) bool { x, ok := b.(*event.MarksGiven); return ok && set(&x.Marks, nil) },
		"Prediction": func(b event.Body) bool { x, ok := b.(*event.WorldCall); return ok && set(&x.Prediction, 1) },
		"Expected":   func(b event.Body) bool { x, ok := b.(*event.WorldCall); return ok && set(&x.Expect, nil) },
		"Surprise":   func(b event.Body) bool { x, ok := b.(*event.SurpriseMeasured); return ok && set(&x.Mean, 0) },
		"Passed": func(b event.Body) bool {
			x, ok := b.(*event.AnalysisResult)
			return ok && len(x.Stories) > 0 && set(&x.Stories[0].Verdict, trial.Assertion)
		},
	} {
		found := false
		for i, e := range w.Events {
			b, err := copied(e.Body)
			if err != nil {
				t.Fatal(err)
			}
			if !forge(b) {
				continue
			}
			if found = true; w.follows(i, e, b) == nil {
				t.Errorf("%s: a forged %s folds", name, e.Type)
			}
			break
		}
		if !found {
			t.Errorf("%s: there was nothing to forge", name)
		}
	}
}

func set[T any](to *T, v T) bool {
	*to = v
	return true
}

// copied is a body of its own.
func copied(b event.Body) (event.Body, error) {
	data, err := event.EncodeBody(b)
	if err != nil {
		return nil, err
	}
	return event.DecodeBody(b.Type(), data)
}

// TestWhatUsesUpTheRoomStillPasses: a result says that there is no more room; what it says of the
// attempt holds.
func TestWhatUsesUpTheRoomStillPasses(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult {
		r := w.says(c, trial.Passed)
		if c.Tier == 3 {
			r.Stored, r.Full = 100, &event.Full{Max: 100, Of: event.FullQuest, Used: 100}
		}
		return r
	}
	w.Answer(world.Maker, questtest.Calls(questtest.Call{Tool: "propose", Args: proposal("count", story("mine"))}))
	for range 20 {
		if !w.step() {
			break
		}
	}
	if got := world.Of(w.State).Attempts[0]; len(got.Tiers) < 3 || got.Tiers[2].Verdict != trial.Passed {
		t.Errorf("the tiers are %+v", got.Tiers)
	}
	if w.State.Status == quest.Failed {
		t.Error("the quest failed by a full disk")
	}
}
