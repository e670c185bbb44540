package world

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"
)

// must panics unless an event can follow from those before: only a forged ledger has one that
// cannot.
func must(ok bool, e event.Event, format string, args ...any) {
	if !ok {
		panic(fmt.Errorf("event %d, %s: %s", e.Seq, e.Type, fmt.Sprintf(format, args...)))
	}
}

// Apply implements quest.Memory.
func (m *Memory) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.StructureDeclared:
		must(e.Actor == Maker && trial.CheckStructure(b.Structure) == nil, e, "it is no structure")
		m.Structure, m.Declared = &b.Structure, e.Seq
		m.did(b.Answer, b.Part)
	case *event.AttemptProposed:
		m.proposed(e, b)
	case *event.AnalysisCall:
		m.looking(e, b)
	case *event.AnalysisResult:
		a := m.current()
		must(a != nil, e, "nothing is looked at")
		err := m.Check(b)
		must(err == nil, e, "%v", err)
		a.Looks[len(a.Looks)-1].Result = b
	case *event.TierJudged:
		a := m.current()
		must(a != nil && a.Number == b.Attempt, e, "attempt %d is not looked at", b.Attempt)
		want := m.judged(a)
		must(want != nil && same(want, b), e, "tier %d of attempt %d cannot come to that", b.Tier, b.Attempt)
		a.Tiers, a.Refused = append(a.Tiers, Tier{Tier: b.Tier, Seq: e.Seq, Verdict: b.Verdict, Reason: b.Reason, Criteria: b.Criteria}), ""
	case *event.RewardGiven:
		a := m.current()
		must(a != nil && a.next(m) == 0 && same(m.reward(a), b), e, "attempt %d has not earned that", b.Attempt)
		a.Reward = b
	case *event.PolicyBlocked:
		m.refused(b)
	case *event.ToolAnswered:
		m.answered(e, b)
	case *event.QuestFinished:
		if m.Answer != nil {
			m.Final = m.Answer.Attempt
		}
		m.Answer = nil
	default:
		m.applyTrial(e)
	}
}

// applyTrial takes in what judges say, and what is tried.
func (m *Memory) applyTrial(e event.Event) {
	switch b := e.Body.(type) {
	case *event.MessageSent:
		m.sent(e, b)
	case *event.AgentParked:
		if j := m.judging(e.Actor); j != nil && j.Told {
			j.Out = event.Shorten(b.Reason, 300)
		}
	case *event.ToolCall:
		if j := m.judging(e.Actor); j != nil {
			j.Use = e.Seq
		}
	case *event.MarksCall:
		j := m.judging(e.Actor)
		must(j != nil && j.Told && j.Call == 0 && m.current().Number == b.Attempt, e, "%s has nothing to judge", e.Actor)
		must(m.faults(b.Marks) == "", e, "they are no marks")
		j.Call, j.Marks, j.Result, j.Place = e.Seq, b.Marks, nil, agent.Place{Answer: b.Answer, Part: b.Part}
	case *event.MarksResult:
		j := m.marked(b.Call)
		must(j != nil, e, "nobody waits for it")
		j.Result = b
	case *event.MarksGiven:
		j := m.judging(e.Actor)
		must(j != nil && j.good() && m.current().Number == b.Attempt && same(&event.MarksGiven{Marks: j.Marks}, &event.MarksGiven{Marks: b.Marks}), e, "the quotations of %s were not found", e.Actor)
		j.Given = true
		m.did(b.Answer, b.Part)
	case *event.PredictionMade:
		a := m.Attempt(b.Attempt)
		must(a != nil && a.runnable() && m.trying() == nil && len(b.Expect) > 0, e, "attempt %d may not be tried", b.Attempt)
		m.Tries = append(m.Tries, &Try{Seq: e.Seq, Attempt: b.Attempt, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Expect: b.Expect, Steps: b.Steps})
		m.did(b.Answer, b.Part)
	case *event.WorldCall:
		t := m.trying()
		must(t != nil && t.Call == 0 && t.Seen == nil && same(m.call(t), b), e, "nothing was predicted for it")
		t.Call = e.Seq
	case *event.WorldObserved:
		err := m.Check(b)
		must(err == nil, e, "%v", err)
		t := m.trying()
		t.Seen, t.Observed = b, e.Seq
	case *event.SurpriseMeasured:
		t := m.trying()
		must(t != nil && t.Seen != nil && same(surprise(t), b), e, "that is not how far it was from what was seen")
		t.Surprise = b
	}
}

func (m *Memory) did(answer uint64, part int64) {
	m.Done = append(m.Done, agent.Place{Answer: answer, Part: part})
}

func (m *Memory) proposed(e event.Event, b *event.AttemptProposed) {
	n := int64(len(m.Attempts)) + 1
	must(e.Actor == Maker && b.Attempt == n && n <= m.Settings.Attempts && m.current() == nil && b.Structure == m.Declared, e, "attempt %d cannot be proposed", b.Attempt)
	must(trial.CheckStories(m.Settings.Kind, b.Stories) == nil, e, "its stories are none")
	m.Attempts = append(m.Attempts, &Attempt{Number: n, Seq: e.Seq, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Path: b.Path, Intent: b.Intent, Stories: b.Stories, Structure: m.Structure, Tree: b.Tree})
	m.did(b.Answer, b.Part)
}

func (m *Memory) looking(e event.Event, b *event.AnalysisCall) {
	a := m.current()
	must(a != nil && a.Number == b.Attempt, e, "attempt %d is not looked at", b.Attempt)
	next := a.next(m)
	must(next == b.Tier && next != byJudges && a.look(next) == nil, e, "tier %d is not next", b.Tier)
	must(same(m.ask(a, next), b), e, "that is not what tier %d looks at", b.Tier)
	a.Looks = append(a.Looks, &Look{Call: e.Seq, Tier: b.Tier})
}

// refused takes in that policies did not let something run.
func (m *Memory) refused(b *event.PolicyBlocked) {
	var why []string
	for _, by := range b.By {
		why = append(why, by.Policy+": "+by.Reason)
	}
	text := event.Shorten("refused by policy "+strings.Join(why, "; "), 1000)
	switch b.Proposal {
	case "analysis.call":
		if a := m.current(); a != nil {
			a.Refused = text
		}
	case "world.call":
		if t := m.trying(); t != nil {
			t.Refused = text
		}
	case "quest.finished":
		m.Answer = nil
	}
}

// sent takes in what somebody was told: a judge what it judges, or the maker's own answer.
func (m *Memory) sent(e event.Event, b *event.MessageSent) {
	if e.Actor == Maker && e.Tool == finish {
		n := b.Reply
		must(m.Attempt(int64(n)) != nil && m.Passed(m.Attempt(int64(n))), e, "attempt %d has not passed", n)
		m.Answer = &Answer{Attempt: int64(n), Text: b.Text.Text}
		m.did(b.Answer, b.Part)
		return
	}
	a := m.current()
	if a == nil || e.Actor != "core" || b.Performative != event.Inform || b.Reply != a.Seq || a.next(m) != byJudges {
		return
	}
	if len(a.Judges) == 0 {
		for i := range m.Settings.Judges {
			a.Judges = append(a.Judges, &Judge{Name: judgeName(i)})
		}
	}
	for _, j := range a.Judges {
		if j.Name == b.To {
			j.Begun, j.Told = true, b.Text.Ref != nil
		}
	}
}

// maxBad is how often marks of a judge may be wrong before they are left out.
const maxBad = 2

// answered takes in what agents were answered.
func (m *Memory) answered(e event.Event, b *event.ToolAnswered) {
	if e.Actor == Maker {
		if m.Wrong++; !b.Error {
			m.Wrong = 0
		}
		return
	}
	j := m.judging(e.Actor)
	if j == nil || b.Call != j.Use || !b.Error {
		return // it is about another call, such as one that was not made
	}
	if j.Call, j.Marks, j.Result, j.Place = 0, nil, nil, (agent.Place{}); j.Told {
		if j.Wrong++; j.Wrong >= maxBad {
			j.Out = "its marks could not be taken, twice"
		}
	}
}

// good reports whether the marks of a judge can be taken.
func (j *Judge) good() bool {
	return j.Call != 0 && j.Result != nil && j.Result.Error == "" && len(j.Result.Missing) == 0
}
