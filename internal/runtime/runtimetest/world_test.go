package runtimetest_test

import (
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/runtimetest"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/contract/tender"
	"lyceum/internal/society/solo"

	"github.com/go-json-experiment/json"
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

// restless is a contract net whose rules have something to say to whatever happens, what they
// said themselves included.
type restless struct{ contract.Society }

func (restless) Tend(_ *quest.State, e event.Event) []event.Draft {
	return []event.Draft{{Parent: e.Seq, Time: e.Time, Actor: "core", Body: &event.MessageSent{Performative: event.Inform, Text: event.Text{Text: "?"}, To: contract.Planner}}}
}

// noting is a contract net whose rules note the same twice, by a call that nobody made.
type noting struct{ contract.Society }

func (n noting) Tend(s *quest.State, e event.Event) []event.Draft {
	if s.Related != nil && len(s.Related.Effects) > 1 {
		return n.Society.Tend(s, e)
	}
	return []event.Draft{{Parent: e.Seq, Time: e.Time, Actor: contract.Planner, Body: &event.RelationSet{ID: "a", Kind: "step", Status: "pending"}}}
}

// mistaken is a contract net whose fold makes a mistake.
type mistaken struct {
	contract.Society
	apply func(n *tender.Net, e event.Event)
	save  func(n *tender.Net)
}

func (m mistaken) Begin(s *quest.State, b *event.QuestCreated) quest.Memory {
	return &mistakenNet{m.Society.Begin(s, b).(*tender.Net), &m}
}

func (m mistaken) Blank() quest.Memory { return &mistakenNet{&tender.Net{}, &m} }

type mistakenNet struct {
	*tender.Net
	by *mistaken
}

// Apply implements quest.Memory.
func (m *mistakenNet) Apply(e event.Event) {
	if m.by.apply != nil {
		m.by.apply(m.Net, e)
		return
	}
	m.Net.Apply(e)
}

// MarshalJSON is the saved form.
func (m *mistakenNet) MarshalJSON() ([]byte, error) {
	n := *m.Net
	if m.by.save != nil {
		m.by.save(&n)
	}
	return json.Marshal(&n, json.Deterministic(true))
}

// UnmarshalJSON reads one that was saved.
func (m *mistakenNet) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, m.Net) }

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
	fold := func(m mistaken) func() runtimetest.Part {
		return func() runtimetest.Part { return other{runtimetest.NewContract(3), m} }
	}
	forgets := func(kind event.Type) func() runtimetest.Part {
		return fold(mistaken{apply: func(n *tender.Net, e event.Event) {
			if e.Type != kind || e.Seq%2 == 0 {
				n.Apply(e)
			}
		}})
	}
	twice := fold(mistaken{apply: func(n *tender.Net, e event.Event) {
		n.Apply(e)
		if r, ok := e.Body.(*event.ComputeResult); ok {
			for _, t := range n.Tasks {
				t.Open = t.Open || t.Call == r.Call
			}
			n.Apply(e)
		}
	}})
	for name, c := range map[string]struct {
		part func() runtimetest.Part
		want string
	}{
		"a fold that forgets a result":         {forgets("search.result"), "nothing is under way"},
		"a fold that forgets a computation":    {forgets("compute.result"), "nothing is under way"},
		"a fold that forgets a bid":            {forgets("bid.submitted"), "or has bid"},
		"a fold that forgets a claim":          {forgets("claim.made"), "comes after"},
		"a fold that forgets a challenge":      {forgets("challenge.raised"), "or there is no such claim"},
		"a saved fold that forgets the claims": {fold(mistaken{save: func(n *tender.Net) { n.Claims = nil }}), "0 claims"},
		"a result that is taken twice":         {twice, "and brought"},

		"a quest that stands still":     {func() runtimetest.Part { return of{runtimetest.NewSolo(), idle{}} }, "nothing is under way"},
		"rules that never come to rest": {func() runtimetest.Part { return other{runtimetest.NewContract(3), restless{}} }, "the rules do not come to rest: 50000 events followed from quest.started"},
		"a note that is made twice":     {func() runtimetest.Part { return other{runtimetest.NewContract(3), noting{}} }, "has its effect twice"},
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

// TestAFoldWithoutAMistakeIsNoFault: what is found above is the mistake, and not that the fold is another.
func TestAFoldWithoutAMistakeIsNoFault(t *testing.T) {
	t.Parallel()
	part := func() runtimetest.Part { return other{runtimetest.NewContract(3), mistaken{}} }
	runtimetest.Exercise(t, part, 1, 40, runtimetest.Once(40))
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
