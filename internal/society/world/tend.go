package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/world/trial"
)

// Tend implements quest.Host: an attempt goes through the tiers, one step at a time.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	m := Of(s)
	if a := m.current(); a != nil {
		return m.tier(s, a, e)
	}
	return conclude(s, e)
}

// tier is the next thing to do about an attempt.
func (m *Memory) tier(s *quest.State, a *Attempt, e event.Event) []event.Draft {
	next := a.next(m)
	if next == 0 {
		return one(e, "core", m.reward(a))
	}
	if next == byJudges {
		if step := convene(s, m, a, e); step != nil {
			return step
		}
	}
	if b := m.judged(a); b != nil {
		return one(e, "core", b)
	}
	if next != byJudges && a.look(next) == nil {
		return s.Propose(e, quest.After(e, Maker, "", m.ask(a, next)))
	}
	return nil
}

// ask is what the world is asked for a tier. What is held out stands in the settings alone.
func (m *Memory) ask(a *Attempt, tier int64) *event.AnalysisCall {
	b := &event.AnalysisCall{Attempt: a.Number, Tier: tier, Tree: a.Tree}
	switch tier {
	case byRules:
		b.Structure = a.Structure
	case byStories:
		b.Stories = m.stories(a, tier)
	case heldOut:
		b.HeldOut = true
	}
	return b
}

// judged is what the next tier comes to, nil while that is not known. It follows from what was
// said, and from nothing else.
func (m *Memory) judged(a *Attempt) *event.TierJudged {
	tier := a.next(m)
	b := &event.TierJudged{Attempt: a.Number, Tier: tier, Tree: a.Tree}
	if tier == byJudges {
		return m.marks(a, b)
	}
	l := a.look(tier)
	switch {
	case tier == 0:
		return nil
	case l == nil && a.Refused != "":
		b.Verdict, b.Reason = unavailable, a.Refused
	case l == nil || l.Result == nil:
		return nil
	default:
		b.Call, b.Verdict, b.Reason = l.Call, l.Result.Verdict, event.Shorten(l.Result.Error.Text, 1000)
	}
	return b
}

// marks is what the judges come to: the lower median of each criterion must be enough.
func (m *Memory) marks(a *Attempt, b *event.TierJudged) *event.TierJudged {
	if m.Settings.Judges == 0 {
		b.Verdict, b.Reason = waived, "The quest has no judges."
		return b
	}
	if l := a.look(byRules); l == nil || l.Result == nil || l.Result.Text == nil {
		b.Verdict, b.Reason = unavailable, "There is no text that judges could read."
		return b
	}
	if len(a.Judges) == 0 || slices.ContainsFunc(a.Judges, func(j *Judge) bool { return !j.Given && j.Out == "" }) {
		return nil
	}
	b.Verdict = passed
	for _, c := range m.Settings.Rubric {
		var given []int64
		for _, j := range a.Judges {
			for _, x := range j.Marks {
				if j.Given && x.Criterion == c.Name {
					given = append(given, x.Mark)
				}
			}
		}
		if len(given) == 0 {
			return &event.TierJudged{Attempt: a.Number, Tier: b.Tier, Tree: b.Tree, Verdict: unavailable, Reason: "No judge gave marks that could be taken."}
		}
		median := trial.Median(given)
		b.Criteria = append(b.Criteria, event.WorldMedian{Criterion: c.Name, Mark: median})
		if median < enough {
			b.Verdict = failed
		}
	}
	return b
}

// convene tells the judges what they judge, each alone: the criteria first, then what was made.
func convene(s *quest.State, m *Memory, a *Attempt, e event.Event) []event.Draft {
	l := a.look(byRules)
	if m.Settings.Judges == 0 || l == nil || l.Result == nil || l.Result.Text == nil {
		return nil
	}
	for i := range m.Settings.Judges {
		name := judgeName(i)
		at := slices.IndexFunc(a.Judges, func(j *Judge) bool { return j.Name == name })
		if at >= 0 && a.Judges[at].Told || s.Agent(name) == nil {
			continue
		}
		text := event.Text{Ref: l.Result.Text}
		if at < 0 || !a.Judges[at].Begun {
			text = event.Text{Text: event.Shorten(quest.Fill(s.Texts["judge"], "ATTEMPT", fmt.Sprint(a.Number), "RUBRIC", m.rubric(), "FINDINGS", lines(l.Result.Findings, maxFindings)), maxSaid)}
		}
		return one(e, "core", &event.MessageSent{Performative: event.Inform, Reply: a.Seq, Text: text, To: name})
	}
	return nil
}

func (m *Memory) rubric() string {
	var out []string
	for _, c := range m.Settings.Rubric {
		out = append(out, "- "+c.Name+": "+c.Text)
	}
	return strings.Join(out, "\n")
}

// reward is what an attempt earned. What could not be looked at is no reward, and not zero; what
// is held out stands apart.
func (m *Memory) reward(a *Attempt) *event.RewardGiven {
	r := event.RewardGiven{}
	if l := a.look(byStories); l != nil && l.Result != nil {
		r = trial.Reward(l.Result.Stories)
	}
	for tier := int64(byRules); tier <= byStories; tier++ {
		if a.verdict(tier) == unavailable {
			r = event.RewardGiven{None: true}
		}
	}
	if l := a.look(heldOut); l != nil && l.Result != nil {
		r.HeldOut = trial.HeldOut(l.Result.Stories)
	}
	r.Attempt = a.Number
	return &r
}

// Best is the best attempt that passed every tier: by the held-out stories, the reward, the least
// surprise, and who came first. It is nil if none did.
func (m *Memory) Best() *Attempt {
	var best *Attempt
	for _, a := range m.Attempts {
		if a.Reward != nil && m.Passed(a) && (best == nil || m.better(a, best)) {
			best = a
		}
	}
	return best
}

func (m *Memory) better(a, b *Attempt) bool {
	apart := func(x *Attempt) int64 {
		if x.Reward.HeldOut == nil {
			return -1
		}
		return *x.Reward.HeldOut
	}
	return cmp.Or(cmp.Compare(apart(a), apart(b)), cmp.Compare(a.Reward.Sum, b.Reward.Sum), cmp.Compare(m.Surprise(b), m.Surprise(a)), cmp.Compare(b.Number, a.Number)) > 0
}

// untried is the surprise of what nobody tried: more than any.
const untried = 1_000_001

// Surprise is the mean of an attempt's trials, in millionths, rounded down.
func (m *Memory) Surprise(a *Attempt) int64 {
	var sum, n int64
	for _, t := range m.Tries {
		if t.Attempt == a.Number && t.Surprise != nil {
			sum, n = sum+t.Surprise.Mean, n+1
		}
	}
	if n == 0 {
		return untried
	}
	return sum / n
}

// patience is how many attempts in a row may end because something is not available.
const patience = 2

// lacking says what has not been available again and again, empty if nothing.
func (m *Memory) lacking() string {
	n := len(m.Attempts)
	if n < patience {
		return ""
	}
	why := ""
	for _, a := range m.Attempts[n-patience:] {
		if len(a.Tiers) == 0 || a.Tiers[len(a.Tiers)-1].Verdict != unavailable {
			return ""
		}
		t := a.Tiers[len(a.Tiers)-1]
		why = fmt.Sprintf("Tier %d was unavailable for %d attempts in a row. %s", t.Tier, patience, t.Reason)
	}
	return event.Shorten(why, 2000)
}

// spent reports whether nothing more can be proposed.
func (m *Memory) spent() bool { return int64(len(m.Attempts)) >= m.Settings.Attempts }

// conclude ends a quest whose maker has finished, or does nothing more.
func conclude(s *quest.State, e event.Event) []event.Draft {
	a, m := s.Agent(Maker), Of(s)
	if a == nil || len(a.Open) > 0 {
		return nil
	}
	if m.Answer != nil {
		return one(e, Maker, m.finished(m.Attempt(m.Answer.Attempt), m.Answer.Text))
	}
	if why := m.lacking(); why != "" {
		return one(e, "core", &event.QuestFailed{Reason: why})
	}
	if m.spent() && m.Best() == nil {
		return one(e, Maker, m.finished(nil, fmt.Sprintf("There were %d attempts, which is all there can be.", len(m.Attempts))))
	}
	switch {
	case a.Parked == "" || m.trying() != nil:
		return nil
	case a.Held: // only a person can give it its turn back
		return one(e, "core", &event.QuestFailed{Reason: event.Shorten("The maker may not go on. "+a.Parked, 2000)})
	case len(m.Attempts) == 0:
		return one(e, "core", &event.QuestFailed{Reason: event.Shorten("Nothing was proposed. "+a.Parked, 2000)})
	}
	return one(e, Maker, m.finished(m.Best(), "The maker has not concluded. "+a.Parked))
}

// finished is the quest's answer: what the maker says, and what was found by the books.
func (m *Memory) finished(a *Attempt, text string) *event.QuestFinished {
	b := &event.QuestFinished{NotFound: a == nil}
	best := m.Best()
	if a == nil {
		b.Warnings = append(b.Warnings, "No attempt passed every tier.")
	} else if best != nil && best != a {
		b.Warnings = append(b.Warnings, fmt.Sprintf("Attempt %d is the best by the books, and not attempt %d.", best.Number, a.Number))
	}
	text = strings.TrimSpace(text)
	if best != nil {
		text += fmt.Sprintf("\n\nThe best attempt is %d: %s.", best.Number, earned(m, best))
	}
	b.Answer.Text = event.Shorten(text+"\n\n## Attempts\n\n"+strings.Join(board(m), "\n")+"\n", 12<<10)
	return b
}

// Produced implements quest.Producer: what the maker ended with, or the best.
func (Society) Produced(s *quest.State) *event.TreeRef {
	m := Of(s)
	a := m.Best()
	if m.Final != 0 {
		a = m.Attempt(m.Final)
	}
	if a == nil {
		return nil
	}
	return &a.Tree
}
