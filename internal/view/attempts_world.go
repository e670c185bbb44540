package view

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// Making is the work of a maker, folded from the events alone: what it declared, what it made,
// what each tier said of that, what it predicted and what was seen. Its JSON is what the API
// sends and what is saved.
type Making struct {
	// Structure is what was declared last.
	Structure *Declared  `json:"structure,omitempty"`
	Attempts  []*Attempt `json:"attempts"`
	// Calls says what an analysis or a try that is under way is about.
	Calls map[uint64]makingCall `json:"calls,omitempty"`
}

// makingCall is what a call of the workshop is about.
type makingCall struct {
	Attempt int64 `json:"attempt"`
	// Tier is the tier that it asks, Try the prediction that it puts to the test.
	Tier int64  `json:"tier,omitempty"`
	Try  uint64 `json:"try,omitempty"`
}

// Declared is what a work is said to consist of, each part in a line.
type Declared struct {
	Seq   uint64   `json:"seq"`
	Parts []string `json:"parts"`
}

// Attempt is something that the maker made, and all that has come of it.
type Attempt struct {
	Number int64  `json:"attempt"`
	Seq    uint64 `json:"seq"`
	// Last is the latest event about it.
	Last   uint64 `json:"last"`
	Maker  string `json:"maker"`
	Intent string `json:"intent"`
	Path   string `json:"path"`
	Tree   string `json:"tree"`
	// State is where it stands: judging, rejected, unavailable, passed.
	State string `json:"state"`
	// Picture is the last that was taken of it.
	Picture *event.Ref   `json:"picture,omitempty"`
	Stories []StoryTold  `json:"stories"`
	Tiers   []*TierTold  `json:"tiers"`
	Marks   []MarksTold  `json:"marks"`
	Tries   []*Try       `json:"tries"`
	Reward  *RewardsTold `json:"reward,omitempty"`
}

// RewardsTold is what an attempt earned, in thousandths; nil is that it cannot be told.
type RewardsTold struct {
	Seq           uint64 `json:"seq"`
	Sum           *int64 `json:"sum"`
	Stories       int64  `json:"stories"`
	Accessibility int64  `json:"accessibility"`
	Conditions    int64  `json:"conditions"`
	HeldOut       *int64 `json:"held_out"`
}

// StoryTold is a story in words.
type StoryTold struct {
	Name   string   `json:"name"`
	Intent string   `json:"intent"`
	Steps  []string `json:"steps"`
	Expect []string `json:"expect"`
}

// TierTold is what a tier said of an attempt.
type TierTold struct {
	Tier int64 `json:"tier"`
	// Call is the event that asked, Seq the one that judged; 0 until then.
	Call uint64 `json:"call,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	// Verdict is passed, failed, waived or unavailable; empty until then.
	Verdict  string              `json:"verdict,omitempty"`
	Reason   string              `json:"reason,omitempty"`
	Analyser string              `json:"analyser,omitempty"`
	Findings []FindingTold       `json:"findings"`
	More     int64               `json:"more,omitempty"`
	Stories  []StoryRun          `json:"stories"`
	Criteria []event.WorldMedian `json:"criteria"`
	Duration int64               `json:"duration_us,omitempty"`
}

// FindingTold is something that a tier has to say, with where it is.
type FindingTold struct {
	Check    string `json:"check"`
	Kind     string `json:"kind"`
	Where    string `json:"where,omitempty"`
	Expected string `json:"expected,omitempty"`
	Observed string `json:"observed,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// StoryRun is how a story went.
type StoryRun struct {
	Name     string        `json:"name"`
	Verdict  string        `json:"verdict"`
	Met      int64         `json:"met"`
	Of       int64         `json:"of"`
	Findings []FindingTold `json:"findings"`
	Seen     *Seen         `json:"seen,omitempty"`
}

// MarksTold is what a judge gave.
type MarksTold struct {
	Seq   uint64            `json:"seq"`
	Judge string            `json:"judge"`
	Marks []event.WorldMark `json:"marks"`
}

// Try is a prediction and what was seen.
type Try struct {
	// Seq is the prediction, Call the event that put it to the test, Observed what was seen; 0
	// until then.
	Seq      uint64   `json:"seq"`
	Call     uint64   `json:"call,omitempty"`
	Observed uint64   `json:"observed,omitempty"`
	Steps    []string `json:"steps"`
	Expect   []Bet    `json:"expect"`
	End      string   `json:"end,omitempty"`
	Error    string   `json:"error,omitempty"`
	Before   *Seen    `json:"before,omitempty"`
	After    *Seen    `json:"after,omitempty"`
	// Unforeseen counts changes that nobody predicted, Changes are the first.
	Unforeseen int64    `json:"unforeseen"`
	Changes    []string `json:"changes"`
	// Surprise is the mean over what was predicted, in millionths; nil until it is measured.
	Surprise *int64 `json:"surprise,omitempty"`
}

// Bet is a condition, how probable it was said to be in thousandths, and what was seen.
type Bet struct {
	Condition   string `json:"condition"`
	Loop        string `json:"loop,omitempty"`
	Probability int64  `json:"probability"`
	// Held is nil where nothing was seen.
	Held     *bool  `json:"held,omitempty"`
	Surprise *int64 `json:"surprise,omitempty"`
}

// Seen is what was seen of a thing at one time.
type Seen struct {
	Title         string     `json:"title,omitempty"`
	Picture       *event.Ref `json:"picture,omitempty"`
	Text          event.Text `json:"text"`
	Accessibility event.Text `json:"accessibility"`
	Output        event.Text `json:"output"`
	Errors        event.Text `json:"errors"`
	Exit          int64      `json:"exit"`
	// Lines are the console, dialogs and requests, each in a line.
	Lines []string `json:"lines"`
	Files []string `json:"files"`
}

// The states of an attempt.
const (
	AttemptJudging     = "judging"
	AttemptRejected    = "rejected"
	AttemptUnavailable = "unavailable"
	AttemptPassed      = "passed"
)

// NewMaking is one in which nothing was made yet.
func NewMaking() *Making {
	return &Making{Attempts: []*Attempt{}, Calls: map[uint64]makingCall{}}
}

// Making is the work of a quest's maker, an empty one if its society has none.
func (v *Views) Making() *Making {
	if t, ok := v.society.(*worldTrail); ok {
		return &t.Making
	}
	return NewMaking()
}

// Attempt finds an attempt, nil if there is none of that number.
func (m *Making) Attempt(n int64) *Attempt {
	if i := slices.IndexFunc(m.Attempts, func(a *Attempt) bool { return a.Number == n }); i >= 0 {
		return m.Attempts[i]
	}
	return nil
}

// Take folds the next event.
func (m *Making) Take(e event.Event) {
	switch b := e.Body.(type) {
	case *event.StructureDeclared:
		m.Structure = &Declared{Seq: e.Seq, Parts: structureLines(&b.Structure)}
	case *event.AttemptProposed:
		m.propose(e, b)
	case *event.AnalysisCall:
		tier := b.Tier
		if b.HeldOut {
			tier = heldOutTier
		}
		m.Calls[e.Seq] = makingCall{Attempt: b.Attempt, Tier: tier}
		m.tier(e, b.Attempt, tier).Call = e.Seq
	case *event.AnalysisResult:
		m.analysed(e, b)
	case *event.MarksGiven:
		if a := m.about(e, b.Attempt); a != nil {
			a.Marks = append(a.Marks, MarksTold{e.Seq, e.Actor, b.Marks})
		}
	case *event.TierJudged:
		m.judged(e, b)
	case *event.RewardGiven:
		if a := m.about(e, b.Attempt); a != nil {
			a.Reward = &RewardsTold{Seq: e.Seq, Sum: &b.Sum, Stories: b.Stories, Accessibility: b.Accessibility, Conditions: b.Conditions, HeldOut: b.HeldOut}
			if b.None {
				a.Reward.Sum = nil
			}
			if a.State == AttemptJudging && len(a.Tiers) > 0 {
				a.State = AttemptPassed
			}
		}
	case *event.PredictionMade, *event.WorldCall, *event.WorldObserved, *event.SurpriseMeasured:
		m.tried(e)
	}
}

// heldOutTier is that of the author's held-out stories.
const heldOutTier = 4

// about is the attempt that an event is about.
func (m *Making) about(e event.Event, n int64) *Attempt {
	a := m.Attempt(n)
	if a != nil {
		a.Last = e.Seq
	}
	return a
}

func (m *Making) propose(e event.Event, b *event.AttemptProposed) {
	a := &Attempt{
		Number: b.Attempt, Seq: e.Seq, Last: e.Seq, Maker: e.Actor, Intent: b.Intent, Path: b.Path, Tree: b.Tree.Hash.String(), State: AttemptJudging,
		Stories: []StoryTold{}, Tiers: []*TierTold{}, Marks: []MarksTold{}, Tries: []*Try{},
	}
	for i := range b.Stories {
		s := &b.Stories[i]
		a.Stories = append(a.Stories, StoryTold{s.Name, s.Intent, stepLines(s.Steps), conditionLines(s.Expect)})
	}
	m.Attempts = append(m.Attempts, a)
}

// tier is what a tier says of an attempt; one of nothing is forgotten at once.
func (m *Making) tier(e event.Event, attempt, tier int64) *TierTold {
	t := &TierTold{Tier: tier, Findings: []FindingTold{}, Stories: []StoryRun{}, Criteria: []event.WorldMedian{}}
	a := m.about(e, attempt)
	if a == nil {
		return t
	}
	if i := slices.IndexFunc(a.Tiers, func(t *TierTold) bool { return t.Tier == tier }); i >= 0 {
		return a.Tiers[i]
	}
	a.Tiers = append(a.Tiers, t)
	return t
}

func (m *Making) analysed(e event.Event, b *event.AnalysisResult) {
	c := m.Calls[b.Call]
	delete(m.Calls, b.Call)
	t := m.tier(e, c.Attempt, c.Tier)
	t.Analyser, t.More, t.Duration, t.Findings = b.Analyser, b.More, b.Duration, findings(b.Findings)
	if b.Error.Len() > 0 {
		t.Reason = b.Error.Text
	}
	t.Stories = []StoryRun{}
	for i := range b.Stories {
		s := &b.Stories[i]
		t.Stories = append(t.Stories, StoryRun{s.Name, s.Verdict, s.Met, s.Conditions, findings(s.Findings), seenOf(s.After)})
		if a := m.Attempt(c.Attempt); a != nil && s.After != nil && s.After.Picture != nil {
			a.Picture = s.After.Picture
		}
	}
}

func (m *Making) judged(e event.Event, b *event.TierJudged) {
	t := m.tier(e, b.Attempt, b.Tier)
	t.Seq, t.Verdict = e.Seq, b.Verdict
	if b.Reason != "" {
		t.Reason = b.Reason
	}
	if b.Criteria != nil {
		t.Criteria = b.Criteria
	}
	a := m.Attempt(b.Attempt)
	switch {
	case a == nil:
	case b.Verdict == "failed":
		a.State = AttemptRejected
	case b.Verdict == "unavailable":
		a.State = AttemptUnavailable
	}
}

// tried folds what is about a prediction.
func (m *Making) tried(e event.Event) {
	switch b := e.Body.(type) {
	case *event.PredictionMade:
		a := m.about(e, b.Attempt)
		if a == nil {
			return
		}
		t := &Try{Seq: e.Seq, Steps: stepLines(b.Steps), Expect: []Bet{}, Changes: []string{}}
		for i := range b.Expect {
			x := &b.Expect[i]
			t.Expect = append(t.Expect, Bet{Condition: conditionLine(&x.Condition), Loop: x.Loop, Probability: x.Probability})
		}
		a.Tries = append(a.Tries, t)
	case *event.WorldCall:
		m.Calls[e.Seq] = makingCall{Attempt: b.Attempt, Try: b.Prediction}
		if t := m.try(e, b.Attempt, b.Prediction); t != nil {
			t.Call = e.Seq
		}
	case *event.WorldObserved:
		c := m.Calls[b.Call]
		delete(m.Calls, b.Call)
		t := m.try(e, c.Attempt, c.Try)
		if t == nil {
			return
		}
		t.Observed, t.End, t.Error, t.Before, t.After = e.Seq, b.End, b.Error.Text, seenOf(&b.Before), seenOf(&b.After)
		t.Unforeseen, t.Changes = b.Unforeseen, append([]string{}, b.Changes...)
		for i := range t.Expect {
			if i < len(b.Held) {
				t.Expect[i].Held = &b.Held[i]
			}
		}
		if a := m.Attempt(c.Attempt); b.After.Picture != nil {
			a.Picture = b.After.Picture
		}
	case *event.SurpriseMeasured:
		t := m.try(e, b.Attempt, b.Prediction)
		if t == nil {
			return
		}
		t.Surprise = &b.Mean
		for i := range t.Expect {
			if i < len(b.Conditions) {
				t.Expect[i].Surprise = &b.Conditions[i]
			}
		}
	}
}

func (m *Making) try(e event.Event, attempt int64, prediction uint64) *Try {
	a := m.about(e, attempt)
	if a == nil {
		return nil
	}
	if i := slices.IndexFunc(a.Tries, func(t *Try) bool { return t.Seq == prediction }); i >= 0 {
		return a.Tries[i]
	}
	return nil
}

func findings(list []event.WorldFinding) []FindingTold {
	out := []FindingTold{}
	for _, f := range list {
		where := f.Path
		if f.Line > 0 {
			where = fmt.Sprintf("%s:%d", f.Path, f.Line)
		}
		out = append(out, FindingTold{f.Check, f.Kind, where, f.Expected, f.Observed, f.Required})
	}
	return out
}

// seenOf is a sight with its lists as lines.
func seenOf(s *event.WorldSight) *Seen {
	if s == nil {
		return nil
	}
	out := &Seen{Title: s.Title, Picture: s.Picture, Text: s.Text, Accessibility: s.Accessibility, Output: s.Output, Errors: s.Errors, Exit: s.Exit, Lines: []string{}, Files: []string{}}
	for _, l := range s.Console {
		out.Lines = append(out.Lines, "console: "+l)
	}
	for _, l := range s.Dialogs {
		out.Lines = append(out.Lines, "dialog: "+l)
	}
	for _, r := range s.Requests {
		how := "refused"
		if r.Given {
			how = "given"
		}
		out.Lines = append(out.Lines, fmt.Sprintf("%s: %s %s", how, r.Method, r.URL))
	}
	if s.Left > 0 {
		out.Lines = append(out.Lines, fmt.Sprintf("and %d more", s.Left))
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, f.Path)
	}
	return out
}

// AttemptCard is an attempt at a glance.
type AttemptCard struct {
	Number int64  `json:"attempt"`
	State  string `json:"state"`
	Intent string `json:"intent"`
	// Tier is the last that said something, Verdict what.
	Tier    int64  `json:"tier,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// Why is the first thing that stood in the way.
	Why    string `json:"why,omitempty"`
	Reward *int64 `json:"reward,omitempty"`
	Tries  int    `json:"tries"`
	// Surprise is the mean over its tries, in millionths.
	Surprise *int64 `json:"surprise,omitempty"`
}

// Cards are the attempts at a glance, in their order.
func (m *Making) Cards() []AttemptCard {
	out := []AttemptCard{}
	for _, a := range m.Attempts {
		out = append(out, a.Card())
	}
	return out
}

// Card is an attempt at a glance.
func (a *Attempt) Card() AttemptCard {
	c := AttemptCard{Number: a.Number, State: a.State, Intent: a.Intent, Tries: len(a.Tries)}
	for _, t := range a.Tiers {
		if t.Verdict != "" {
			c.Tier, c.Verdict = t.Tier, t.Verdict
		}
		if c.Why == "" && (t.Verdict == "failed" || t.Verdict == "unavailable") {
			c.Why = t.why()
		}
	}
	if a.Reward != nil {
		c.Reward = a.Reward.Sum
	}
	var sum, n int64
	for _, t := range a.Tries {
		if t.Surprise != nil {
			sum, n = sum+*t.Surprise, n+1
		}
	}
	if n > 0 {
		mean := sum / n
		c.Surprise = &mean
	}
	return c
}

// why is what stood in the way: the first finding that blocks, or the first story that did not
// pass, else the reason.
func (t *TierTold) why() string {
	told := func(f FindingTold) string {
		s := f.Check
		if f.Where != "" {
			s += " at " + f.Where
		}
		if f.Expected != "" || f.Observed != "" {
			s += fmt.Sprintf(": expected %s, saw %s", f.Expected, f.Observed)
		}
		return s
	}
	for _, f := range t.Findings {
		if f.Required || f.Kind == "failed" {
			return told(f)
		}
	}
	for _, s := range t.Stories {
		if s.Verdict == "passed" {
			continue
		}
		if len(s.Findings) > 0 {
			return s.Name + " (" + s.Verdict + "): " + told(s.Findings[0])
		}
		return s.Name + " (" + s.Verdict + ")"
	}
	return t.Reason
}
