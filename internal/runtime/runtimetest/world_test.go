package runtimetest_test

import (
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/runtimetest"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/solo"
)

// idle is rules by which nothing follows from what a model says without a tool.
type idle struct{ solo.Society }

func (idle) Answered(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }

// altered is a contract net that changes what its rules say.
type altered struct {
	contract.Society
	change func(event.Body)
}

func (a altered) Tend(s *quest.State, e event.Event) []event.Draft {
	drafts := a.Society.Tend(s, e)
	for _, d := range drafts {
		a.change(d.Body)
	}
	return drafts
}

// other is a part with other rules than its own.
type other struct {
	*runtimetest.Contract
	rules quest.Society
}

func (o other) Society() quest.Society { return o.rules }

// of is a part of which the world knows nothing but what every part has.
type of struct {
	runtimetest.Part
	rules quest.Society
}

func (o of) Society() quest.Society { return o.rules }

// TestWhatMustNotBeIsFound: books that find nothing would be of no use.
func TestWhatMustNotBeIsFound(t *testing.T) {
	t.Parallel()
	net := func(change func(event.Body)) func() runtimetest.Part {
		return func() runtimetest.Part { return other{runtimetest.NewContract(3), altered{change: change}} }
	}
	for name, c := range map[string]struct {
		part func() runtimetest.Part
		want string
	}{
		"a quest that stands still": {func() runtimetest.Part { return of{runtimetest.NewSolo(), idle{}} }, "nothing is under way"},
		"a call that nobody simulates": {
			func() runtimetest.Part { return of{runtimetest.NewContract(3), contract.Society{}} }, "call: give the part of contract/2 a row",
		},
		"a bid that is not worth its score": {net(func(b event.Body) {
			if bid, ok := b.(*event.BidSubmitted); ok {
				bid.Score += 10
			}
		}), "is worth"},
		"a worker that could not bid": {net(func(b event.Body) {
			if cfp, ok := b.(*event.CfpIssued); ok && cfp.Kind == "audit" {
				cfp.To[0] = contract.Lexical
			}
		}), "is asked to bid"},
		"a claim that is too sure": {net(func(b event.Body) {
			if claim, ok := b.(*event.ClaimMade); ok {
				claim.Confidence = 1000
			}
		}), "with the confidence"},
		"a weak claim that is said to stand": {net(func(b event.Body) {
			if w, ok := b.(*event.ArgumentsWeighed); ok && len(w.Defeated) > 0 {
				w.Stand, w.Defeated = append(w.Stand, w.Defeated[0].Claim), w.Defeated[1:]
			}
		}), "stand"},
		"warnings that are kept back": {net(func(b event.Body) {
			if f, ok := b.(*event.QuestFinished); ok {
				f.Warnings = nil
			}
		}), "warns of nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			for seed := uint64(1); seed <= 300 && err == nil; seed++ {
				_, err = runtimetest.Simulate(t.Context(), seed, c.part, runtimetest.Options{})
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("300 seeds end with %v, want one in which it is said: %q", err, c.want)
			}
		})
	}
}

// TestASocietyOfATestIsSimulated: a part need not be one of the table.
func TestASocietyOfATestIsSimulated(t *testing.T) {
	t.Parallel()
	part := func() runtimetest.Part { return of{runtimetest.NewSolo(), solo.Society{}} }
	r := runtimetest.Exercise(t, part, 1, 20, runtimetest.Once(40))
	if r.Runs != 25 {
		t.Errorf("20 seeds had %d runs, want one each, and five forks", r.Runs)
	}
}
