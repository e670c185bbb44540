package world

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"

	json "github.com/go-json-experiment/json"
)

// The policies of every world.
const (
	TiersInOrder    = "world-tiers-in-order"
	TryWhatPassed   = "world-try-what-passed"
	PredictFirst    = "world-predict-first"
	OneAtATime      = "world-one-at-a-time"
	NothingElseRuns = "world-nothing-else-runs"
)

// The tiers. The held-out stories are the last.
const (
	byRules   = 1
	byJudges  = 2
	byStories = 3
	heldOut   = 4
)

// gating is what the threads go by. It is data, so that tests can put a wrong one in its place
// and see that the checker finds it.
type gating struct {
	// needs are the tiers that a proposal needs behind it: of an analysis.call by the tier that
	// it asks for, of a world.call by 0.
	needs map[int64][]int64
	// counts says whether a tier's verdict opens the next.
	counts func(tier int64, verdict string) bool
	// of tells what was made from other things.
	of func(*policy.Facts) string
	// again says that a prediction serves for more than one call.
	again bool
	// guarded are the proposals of which one is under way at a time, ended what ends them.
	guarded, ended []string
	// allowed are the tools of makers and judges.
	allowed func(agent, tool string) bool
}

var gated = gating{
	needs: map[int64][]int64{byRules: nil, byStories: {byRules, byJudges}, heldOut: {byRules, byJudges, byStories}, 0: {byRules, byJudges}},
	counts: func(tier int64, verdict string) bool {
		return verdict == passed || verdict == waived && tier == byJudges
	},
	of:      func(f *policy.Facts) string { return f.To + " " + f.Ref },
	guarded: []string{"analysis.call", "world.call"},
	ended:   []string{"analysis.result", "world.observed"},
	allowed: mayUse,
}

func policies() []behavior.Thread { return gated.threads() }

// threads are those that let something run, or not.
func (g gating) threads() []behavior.Thread {
	runs := behavior.Of("analysis.call", "world.call")
	return []behavior.Thread{
		{
			Name: TiersInOrder, Text: "A tier looks at what was made only after the tiers before it have passed the same tree.",
			Scope: behavior.Of("analysis.call"),
			Start: func() behavior.Behavior { return &ordered{g: g, call: "analysis.call", Passed: map[string][]int64{}} },
		},
		{
			Name: TryWhatPassed, Text: "Something is tried only after tiers 1 and 2 have passed the same tree.",
			Scope: behavior.Of("world.call"),
			Start: func() behavior.Behavior { return &ordered{g: g, call: "world.call", Passed: map[string][]int64{}} },
		},
		{
			Name: PredictFirst, Text: "Nothing is tried without a prediction of its own, made before.",
			Scope: behavior.Of("world.call"),
			Start: func() behavior.Behavior { return &predicted{g: g} },
		},
		{
			Name: OneAtATime, Text: "One thing at a time is looked at or tried.",
			Scope: runs,
			Start: func() behavior.Behavior { return &single{g: g} },
		},
		{
			Name: NothingElseRuns, Text: "Agents of a world run nothing: the maker has its own tools and those for files, judges have theirs.",
			Scope: others{g},
			Start: func() behavior.Behavior { return still{g} },
		},
	}
}

// ordered knows which tiers have passed what. It forgets nothing, so that no failure, restart or
// fork opens anything.
type ordered struct {
	g      gating
	call   string
	Passed map[string][]int64
}

// Bids implements behavior.Behavior.
func (o *ordered) Bids() behavior.Bids {
	return behavior.Bids{
		Wait:  behavior.Of("tier.judged"),
		Block: []behavior.Ban{{Match: skips{o.g, o.call, maps.Clone(o.Passed)}, Reason: "Nothing runs that has not passed the tiers before."}},
	}
}

// Next implements behavior.Behavior.
func (o *ordered) Next(e behavior.Event) bool {
	f, ok := e.Detail.(*policy.Facts)
	if !ok {
		return true
	}
	tier, verdict, _ := strings.Cut(f.Status, " ")
	n, err := strconv.ParseInt(tier, 10, 64)
	key := o.g.of(f)
	if err == nil && o.g.counts(n, verdict) && holdsAll(o.Passed[key], before(n)) && !slices.Contains(o.Passed[key], n) {
		o.Passed[key] = append(slices.Clone(o.Passed[key]), n)
	}
	return true
}

// before are the tiers in front of one.
func before(tier int64) (out []int64) {
	for n := int64(byRules); n < tier; n++ {
		out = append(out, n)
	}
	return out
}

func holdsAll(have, want []int64) bool {
	return !slices.ContainsFunc(want, func(n int64) bool { return !slices.Contains(have, n) })
}

// Save implements behavior.Saver.
func (o *ordered) Save() string { return saved(o.Passed) }

// Restore implements behavior.Saver.
func (o *ordered) Restore(text string) error {
	o.Passed = map[string][]int64{}
	return json.Unmarshal([]byte(text), &o.Passed)
}

func saved(v any) string {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic("world: a thread cannot be saved: " + err.Error())
	}
	return string(raw)
}

// skips matches a proposal whose tiers have not all passed. One of a tier that nobody knows
// needs what nobody has.
type skips struct {
	g      gating
	call   string
	passed map[string][]int64
}

func (skips) String() string { return "what has not passed the tiers before" }

// Match implements behavior.Matcher.
func (s skips) Match(e behavior.Event) behavior.Truth {
	if e.Type != s.call {
		return behavior.No
	}
	f, ok := e.Detail.(*policy.Facts)
	if !ok {
		return behavior.Yes
	}
	tier := int64(0)
	if s.call == "analysis.call" {
		n, err := strconv.ParseInt(f.Status, 10, 64)
		if err != nil || n == 0 {
			return behavior.Yes
		}
		tier = n
	}
	needs, known := s.g.needs[tier]
	if known && holdsAll(s.passed[s.g.of(f)], needs) {
		return behavior.No
	}
	return behavior.Yes
}

// predicted knows the last prediction that nothing was tried for. What a fork finds tried and not
// seen, it tries again for the same prediction: the observation is still to come.
type predicted struct {
	g         gating
	open      uint64
	of        string
	used      uint64
	unwatched string
}

// Bids implements behavior.Behavior.
func (p *predicted) Bids() behavior.Bids {
	return behavior.Bids{
		Wait:  behavior.Of("prediction.made", "world.call", "world.observed", "quest.forked"),
		Block: []behavior.Ban{{Match: unforeseen{p.open, p.of}, Reason: "There is no prediction: say what you expect before you try."}},
	}
}

// Next implements behavior.Behavior.
func (p *predicted) Next(e behavior.Event) bool {
	f, ok := e.Detail.(*policy.Facts)
	switch {
	case ok && e.Type == "prediction.made":
		p.open, p.of, p.used, p.unwatched = f.Call, f.To, 0, ""
	case e.Type == "world.call" && !p.g.again:
		p.open, p.of, p.used, p.unwatched = 0, "", p.open, p.of
	case e.Type == "world.observed":
		p.used, p.unwatched = 0, ""
	case e.Type == "quest.forked" && p.used != 0:
		p.open, p.of, p.used, p.unwatched = p.used, p.unwatched, 0, ""
	}
	return true
}

// standing is where a prediction stands.
type standing struct {
	Open      uint64
	Of        string
	Used      uint64
	Unwatched string
}

// Save implements behavior.Saver.
func (p *predicted) Save() string { return saved(standing{p.open, p.of, p.used, p.unwatched}) }

// Restore implements behavior.Saver.
func (p *predicted) Restore(text string) error {
	var s standing
	err := json.Unmarshal([]byte(text), &s)
	p.open, p.of, p.used, p.unwatched = s.Open, s.Of, s.Used, s.Unwatched
	return err
}

// unforeseen matches a world.call that is for no open prediction.
type unforeseen struct {
	open uint64
	of   string
}

func (unforeseen) String() string { return "a trial without a prediction" }

// Match implements behavior.Matcher.
func (u unforeseen) Match(e behavior.Event) behavior.Truth {
	if e.Type != "world.call" {
		return behavior.No
	}
	if f, ok := e.Detail.(*policy.Facts); ok && u.open != 0 && f.Call == u.open && f.To == u.of {
		return behavior.No
	}
	return behavior.Yes
}

// single knows whether something is under way. A fork has nothing under way that is the
// origin's.
type single struct {
	g    gating
	Busy bool
}

// Bids implements behavior.Behavior.
func (s *single) Bids() behavior.Bids {
	b := behavior.Bids{Wait: behavior.Of(slices.Concat(s.g.guarded, s.g.ended, []string{"quest.forked"})...)}
	if s.Busy {
		b.Block = []behavior.Ban{{Match: behavior.Of("analysis.call", "world.call"), Reason: "Something else is looked at or tried.", Later: true}}
	}
	return b
}

// Next implements behavior.Behavior.
func (s *single) Next(e behavior.Event) bool {
	s.Busy = slices.Contains(s.g.guarded, e.Type)
	return true
}

// Save implements behavior.Saver.
func (s *single) Save() string { return strconv.FormatBool(s.Busy) }

// Restore implements behavior.Saver.
func (s *single) Restore(text string) (err error) {
	s.Busy, err = strconv.ParseBool(text)
	return err
}

// still stands still: what it asks, the facts tell.
type still struct{ g gating }

func (s still) Bids() behavior.Bids {
	return behavior.Bids{Block: []behavior.Ban{{Match: others(s), Reason: "You run nothing: use your own tools, and those for files. What you made runs when it has passed."}}}
}
func (still) Next(behavior.Event) bool { return true }
func (still) Save() string             { return "" }
func (still) Restore(string) error     { return nil }

// others matches calls of tools that are not an agent's, and what only outside agents do.
type others struct{ g gating }

func (others) String() string {
	return "whatever agents do but with their own tools and those for files"
}

// Match implements behavior.Matcher.
func (o others) Match(e behavior.Event) behavior.Truth {
	switch e.Type {
	case "tool.call":
		if f, ok := e.Detail.(*policy.Facts); ok && o.g.allowed(f.Agent, f.Tool) {
			return behavior.No
		}
		return behavior.Yes
	case "prompt.call", "permission.decided", "gateway.call":
		return behavior.Yes
	}
	return behavior.No
}

// mayUse says which tools an agent has. None of them runs anything.
func mayUse(agent, tool string) bool {
	switch {
	case agent == Maker:
		return slices.Contains(makerTools, tool) || slices.Contains(fileTools, tool) || slices.Contains(coreTools, tool)
	case policy.Role(agent) == "judge":
		return slices.Contains(judgeTools, tool)
	}
	return false
}

// Facts implements quest.Memory: what the threads go by. Ref is the tree, To the attempt, Status
// the tier, and with tier.judged its verdict; Call is the prediction.
func (m *Memory) Facts(e event.Event, f *policy.Facts) {
	switch b := e.Body.(type) {
	case *event.AttemptProposed:
		f.Ref, f.To = b.Tree.Hash.String(), attemptWord(b.Attempt)
	case *event.AnalysisCall:
		f.Ref, f.To, f.Status = b.Tree.Hash.String(), attemptWord(b.Attempt), strconv.FormatInt(b.Tier, 10)
	case *event.TierJudged:
		f.Ref, f.To, f.Status = b.Tree.Hash.String(), attemptWord(b.Attempt), strconv.FormatInt(b.Tier, 10)+" "+b.Verdict
	case *event.PredictionMade:
		f.To, f.Call = attemptWord(b.Attempt), e.Seq
	case *event.WorldCall:
		f.Ref, f.To, f.Call = b.Tree.Hash.String(), attemptWord(b.Attempt), b.Prediction
	}
}

func attemptWord(n int64) string { return "attempt-" + strconv.FormatInt(n, 10) }

// CallFacts implements quest.Memory.
func (m *Memory) CallFacts(f *policy.Facts) {
	n, err := strconv.ParseInt(f.Field([]string{"args", "attempt"}).Text, 10, 64)
	if a := m.Attempt(n); err == nil && a != nil {
		f.Ref, f.To = a.Tree.Hash.String(), attemptWord(n)
	}
}
