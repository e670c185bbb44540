package runtimetest

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"

	"github.com/go-json-experiment/json"
)

// madeBooks hold a ledger of a world against what was promised, by events alone: one result for
// each call, one verdict for each story, no tier skipped, no prediction after its observation.
type madeBooks struct {
	set      world.Settings
	attempts int64
	trees    map[int64]event.TreeRef
	passed   map[int64][]int64 // tiers of an attempt that let the next begin
	judged   map[int64][]int64 // tiers of an attempt that were judged
	rewarded map[int64]bool
	calls    map[uint64]event.Event // those without result
	stories  map[uint64]int         // of an analysis.call
	results  map[uint64]string      // what an analysis.call came to
	foreseen map[uint64]int         // conditions of a prediction
	used     map[uint64]uint64      // the observation of a prediction
	answered map[uint64]uint64      // the prediction of a world.observed
}

func newMadeBooks() madeBooks {
	return madeBooks{trees: map[int64]event.TreeRef{}, passed: map[int64][]int64{}, judged: map[int64][]int64{}, rewarded: map[int64]bool{}, calls: map[uint64]event.Event{}, stories: map[uint64]int{},
		results: map[uint64]string{}, foreseen: map[uint64]int{}, used: map[uint64]uint64{}, answered: map[uint64]uint64{}}
}

func (b *madeBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		return json.Unmarshal([]byte(x.Settings), &b.set)
	case *event.QuestForked: // what was under way is the origin's
		clear(b.calls)
	case *event.AttemptProposed:
		if x.Attempt != b.attempts+1 || x.Attempt > b.set.Attempts || x.Attempt > 1 && !b.rewarded[b.attempts] {
			return fmt.Errorf("attempt %d after %d", x.Attempt, b.attempts)
		}
		b.attempts, b.trees[x.Attempt] = x.Attempt, x.Tree
	case *event.AnalysisCall:
		return b.looks(e, x)
	case *event.AnalysisResult:
		return b.looked(x)
	case *event.TierJudged:
		return b.tier(w, x)
	case *event.RewardGiven:
		if b.rewarded[x.Attempt] || x.Attempt != b.attempts {
			return fmt.Errorf("attempt %d is rewarded twice, or too late", x.Attempt)
		}
		b.rewarded[x.Attempt] = true
		w.Saw("rewards")
	case *event.QuestFinished:
		if !x.NotFound && !slices.Contains(b.passed[b.best()], b.last()) {
			return fmt.Errorf("the quest ends with something, and nothing passed every tier")
		}
	default:
		return b.trial(w, e)
	}
	return nil
}

// best is any attempt that passed every tier, 0 if none did.
func (b *madeBooks) best() int64 {
	for n := range b.attempts {
		if slices.Contains(b.passed[n+1], b.last()) {
			return n + 1
		}
	}
	return 0
}

func (b *madeBooks) last() int64 {
	if len(b.set.HeldOut) > 0 {
		return 4
	}
	return 3
}

// allowed says why something may not run now.
func (b *madeBooks) allowed(attempt int64, tree event.TreeRef, tiers ...int64) error {
	for seq, c := range b.calls {
		if c.Type != "marks.call" {
			return fmt.Errorf("something runs while %s %d does", c.Type, seq)
		}
	}
	if b.trees[attempt] != tree {
		return fmt.Errorf("another tree runs than attempt %d proposed", attempt)
	}
	for _, n := range tiers {
		if !slices.Contains(b.passed[attempt], n) {
			return fmt.Errorf("something of attempt %d runs, and has not passed tier %d", attempt, n)
		}
	}
	return nil
}

func (b *madeBooks) looks(e event.Event, x *event.AnalysisCall) error {
	needs := map[int64][]int64{1: {}, 3: {1, 2}, 4: {1, 2, 3}}[x.Tier]
	if needs == nil || x.HeldOut != (x.Tier == 4) {
		return fmt.Errorf("tier %d is asked", x.Tier)
	}
	if b.stories[e.Seq] = len(x.Stories); x.HeldOut {
		b.stories[e.Seq] = len(b.set.HeldOut)
	}
	err := b.allowed(x.Attempt, x.Tree, needs...)
	b.calls[e.Seq] = e
	return err
}

func (b *madeBooks) looked(x *event.AnalysisResult) error {
	if _, open := b.calls[x.Call]; !open {
		return fmt.Errorf("analysis.call %d has two results, or none was asked", x.Call)
	}
	delete(b.calls, x.Call)
	if n := b.stories[x.Call]; len(x.Stories) != n && (x.Verdict != trial.Unavailable || len(x.Stories) != 0) {
		return fmt.Errorf("%d stories have %d verdicts", n, len(x.Stories))
	}
	b.results[x.Call] = x.Verdict
	return nil
}

func (b *madeBooks) tier(w *World, x *event.TierJudged) error {
	switch {
	case slices.Contains(b.judged[x.Attempt], x.Tier) || int64(len(b.judged[x.Attempt])) != x.Tier-1 || int64(len(b.passed[x.Attempt])) != x.Tier-1:
		return fmt.Errorf("tier %d of attempt %d after %v", x.Tier, x.Attempt, b.judged[x.Attempt])
	case x.Call != 0 && b.results[x.Call] != x.Verdict, x.Call == 0 && x.Tier != 2 && x.Verdict != trial.Unavailable, x.Verdict == trial.Waived && (x.Tier != 2 || b.set.Judges > 0):
		return fmt.Errorf("tier %d of attempt %d is %s, and nobody said so", x.Tier, x.Attempt, x.Verdict)
	}
	b.judged[x.Attempt] = append(b.judged[x.Attempt], x.Tier)
	if x.Verdict == trial.Passed || x.Verdict == trial.Waived {
		b.passed[x.Attempt] = append(b.passed[x.Attempt], x.Tier)
	}
	w.Saw(fmt.Sprintf("tier %d %s", x.Tier, x.Verdict))
	return nil
}

// trial holds trials and marks to their order.
func (b *madeBooks) trial(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.PredictionMade:
		b.foreseen[e.Seq] = len(x.Expect)
	case *event.WorldCall:
		if _, made := b.foreseen[x.Prediction]; !made || b.used[x.Prediction] != 0 {
			return fmt.Errorf("something is tried without a prediction of its own")
		}
		err := b.allowed(x.Attempt, x.Tree, 1, 2)
		b.calls[e.Seq] = e
		return err
	case *event.WorldObserved:
		c, open := b.calls[x.Call]
		if !open {
			return fmt.Errorf("world.call %d has two results, or none was asked", x.Call)
		}
		delete(b.calls, x.Call)
		p := c.Body.(*event.WorldCall).Prediction
		if b.used[p] = e.Seq; p >= e.Seq || len(x.Held) > 0 && len(x.Held) != b.foreseen[p] {
			return fmt.Errorf("what was seen at %d was predicted at %d, with %d conditions", e.Seq, p, b.foreseen[p])
		}
		b.answered[e.Seq] = p
		w.Saw("observed " + x.End)
	case *event.SurpriseMeasured:
		if b.answered[x.Observed] != x.Prediction || len(x.Conditions) != b.foreseen[x.Prediction] {
			return fmt.Errorf("a surprise is measured at something else")
		}
		delete(b.answered, x.Observed)
		w.Saw("surprises")
	case *event.MarksCall:
		b.calls[e.Seq] = e
	case *event.MarksResult:
		if _, open := b.calls[x.Call]; !open {
			return fmt.Errorf("marks.call %d has two results, or none was asked", x.Call)
		}
		delete(b.calls, x.Call)
	case *event.MarksGiven:
		w.Saw("marks")
	}
	return nil
}
