package contract

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/evidence"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// maxRounds is how often the work may be planned again.
const maxRounds = 2

// conclude says what follows when all parts of the plan are over.
func conclude(s *quest.State, e event.Event) []event.Draft {
	n := Net(s)
	done := last(n, audit)
	if thinking(s) {
		if done == nil || writing(s) || s.Ended > done.Award {
			return nil // the model has more to say
		}
	} else {
		if done == nil {
			// The model left without an answer of its own.
			return one(e, Planner, &event.PlanMade{Steps: []event.PlanStep{{Kind: audit, Task: audit + "-1"}}})
		}
		if open := openDoubts(n); len(open) > 0 && n.Round < maxRounds && hope(s) {
			return replan(n, open, e)
		}
	}
	if n.Weighed == nil {
		return one(e, Planner, weigh(n, true))
	}
	return one(e, Planner, &event.QuestFinished{Answer: event.Text{Text: answer(s)}, Warnings: warnings(n)})
}

// writing reports whether the planner is about to hear of its draft, or has been asked
// for another one.
func writing(s *quest.State) bool {
	if slices.ContainsFunc(s.Agent(Planner).Open, func(u agent.Use) bool { return !u.Done }) {
		return true
	}
	since := lastAudit(Net(s)).Cfp
	return slices.ContainsFunc(Net(s).Doubts, func(d tender.Doubt) bool { return d.Seq > since && d.Replanned })
}

// hope reports whether another round could find something: there is a corpus to search
// in another way, or another engine to compute by.
func hope(s *quest.State) bool {
	n := Net(s)
	for _, d := range openDoubts(n) {
		switch d.Rule {
		case ruleEvidence, ruleRelevance, ruleConfidence:
			if n.Spec.Corpus != nil {
				return true
			}
		case ruleNeeds:
			if t := last(n, research); t != nil && !anyDone(n, research) {
				return true
			}
		case ruleRecomputed:
			for _, program := range once(n) {
				if n.Round == 0 && len(capable(s, &tender.Task{PlanStep: event.PlanStep{Kind: compute, Text: program}})) > 1 {
					return true
				}
			}
		}
	}
	return false
}

func replan(n *tender.Net, open []*tender.Doubt, e event.Event) []event.Draft {
	b := &event.ReplanTriggered{Reason: "nobody could answer the challenges", Round: n.Round + 1}
	for _, d := range open {
		b.Challenges = append(b.Challenges, d.Challenge)
	}
	return one(e, Planner, b)
}

// unsettled are the challenges of the last audit that nothing has answered.
func unsettled(n *tender.Net) (out []*tender.Doubt) {
	since := lastAudit(n).Cfp
	for i := range n.Doubts {
		if d := &n.Doubts[i]; d.Seq > since && d.Justified == "" && !d.Retracted {
			out = append(out, d)
		}
	}
	return out
}

// weigh finds which claims stand: the grounded extension of claims and, if they are
// wanted, the challenges of them and the justifications of those.
func weigh(n *tender.Net, challenges bool) *event.ArgumentsWeighed {
	claims := active(n)
	names := make([]string, 0, len(claims))
	at := map[int64]int{}
	for i, c := range claims {
		names, at[c.Claim] = append(names, fmt.Sprintf("claim %d", c.Claim)), i
	}
	var attacks []evidence.Attack
	for _, a := range n.Attacks {
		from, ok1 := at[a.From]
		to, ok2 := at[a.To]
		if ok1 && ok2 {
			attacks = append(attacks, evidence.Attack{From: from, To: to})
		}
	}
	for _, d := range n.Doubts {
		to, ok := at[d.Claim]
		if !ok || !challenges {
			continue
		}
		names = append(names, fmt.Sprintf("challenge %d (%s)", d.Challenge, d.Rule))
		attacks = append(attacks, evidence.Attack{From: len(names) - 1, To: to})
		if d.Justified != "" {
			names = append(names, fmt.Sprintf("the justification of challenge %d", d.Challenge))
			attacks = append(attacks, evidence.Attack{From: len(names) - 1, To: len(names) - 2})
		}
	}
	labels, by := evidence.Grounded(len(names), attacks)
	out := &event.ArgumentsWeighed{}
	for i, c := range claims {
		switch labels[i] {
		case evidence.In:
			out.Stand = append(out.Stand, c.Claim)
		case evidence.Out:
			out.Defeated = append(out.Defeated, event.Defeat{By: names[by[i]], Claim: c.Claim})
		default:
			out.Undecided = append(out.Undecided, c.Claim)
		}
	}
	return out
}

// maxWarnings and maxAnswer bound what the last event has to hold, in bytes of JSON.
const (
	maxWarnings = 20
	maxAnswer   = 10 << 10
)

// warnings are what stayed open.
func warnings(n *tender.Net) (out []string) {
	for _, d := range unsettled(n) {
		about := "the answer"
		if d.Claim != 0 {
			about = fmt.Sprintf("claim %d", d.Claim)
		}
		out = append(out, event.Shorten(fmt.Sprintf("%s (%s): %s", about, d.Rule, d.Reason), 200))
	}
	if len(n.Weighed.Undecided) > 0 {
		out = append(out, fmt.Sprintf("%d claims contradict each other, and nothing decides between them", len(n.Weighed.Undecided)))
	}
	if len(n.Weighed.Stand) == 0 {
		out = append([]string{"no claim stands"}, out...)
	}
	return out[:min(len(out), maxWarnings)]
}

// answer is the quest's answer, in Markdown.
func answer(s *quest.State) string {
	n := Net(s)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("## Answer\n")
	if len(n.Weighed.Stand) == 0 {
		line("No claim could be made that holds.")
	}
	for _, number := range n.Weighed.Stand {
		c := n.Claim(number)
		line("- %s %s", text(c.Text), cite(c.Sources))
	}
	if len(n.Weighed.Defeated)+len(n.Weighed.Undecided) > 0 {
		line("\n## Claims that do not stand\n")
		for _, d := range n.Weighed.Defeated {
			c := n.Claim(d.Claim)
			line("- %s %s Defeated by %s%s.", text(c.Text), cite(c.Sources), d.By, because(n, d))
		}
		for _, number := range n.Weighed.Undecided {
			c := n.Claim(number)
			line("- %s %s Undecided: it and another claim attack each other.", text(c.Text), cite(c.Sources))
		}
	}
	if open := warnings(n); len(open) > 0 {
		line("\n## Open points\n")
		for _, w := range open {
			line("- %s", text(w))
		}
	}
	sources(n, line)
	whole := b.String()
	if event.Weight(whole) > maxAnswer {
		whole = event.Shorten(whole, maxAnswer) + "\n\nThe rest is shown by: lyceum show --evidence\n"
	}
	return strings.TrimRight(whole, "\n")
}

// because says why a claim attacked another.
func because(n *tender.Net, d event.Defeat) string {
	for _, a := range n.Attacks {
		if a.To == d.Claim && d.By == fmt.Sprintf("claim %d", a.From) {
			return ": " + a.Reason
		}
	}
	return ""
}

// sources lists what the claims rest on.
func sources(n *tender.Net, line func(string, ...any)) {
	var cited []int64
	for _, c := range active(n) {
		for _, number := range c.Sources {
			if n.Source(number) != nil && !slices.Contains(cited, number) {
				cited = append(cited, number)
			}
		}
	}
	if len(cited) == 0 {
		return
	}
	slices.Sort(cited)
	line("\n## Sources\n")
	for _, number := range cited {
		line("- [%d] %s", number, describe(n.Source(number)))
	}
}

// describe says what a source is.
func describe(src *tender.Source) string {
	if a := src.Anchor; a != nil {
		return fmt.Sprintf("%s (%s), paragraph %d, sha256 %s, relevance %s", text(a.Doc), text(a.Title), a.Paragraph, a.Hash, billionths(a.Relevance))
	}
	c := src.Compute
	code := ""
	switch {
	case src.Asked.Code != nil:
		code = ", code sha256 " + src.Asked.Code.Hash.String()
	case src.Asked.Tree != nil:
		code = ", code in the tree sha256 " + src.Asked.Tree.Hash.String()
	}
	out := ""
	if c.Printed != nil {
		out = ", output sha256 " + c.Printed.Hash.String()
	}
	// Versions and machines are left to lyceum show --evidence: the same work on another
	// machine has the same answer.
	engine := "Python"
	if src.Asked.Engine == "builtin" {
		engine = "the built-in interpreter"
	}
	return fmt.Sprintf("computation %s, ran by %s%s%s", text(src.Asked.Program), engine, code, out)
}

// cite names sources as the answer does: [1][2].
func cite(sources []int64) string {
	var b strings.Builder
	for _, number := range sources {
		fmt.Fprintf(&b, "[%d]", number)
	}
	return b.String()
}

// text is somebody's words on one line of Markdown, in which nothing is markup: they
// are others' and may be hostile.
func text(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("<", "&lt;", "[", "(", "]", ")", "`", "'").Replace(s)
}
