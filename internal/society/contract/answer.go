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
		if rest := left(s); rest != nil {
			return one(e, Planner, &event.PlanMade{Steps: rest})
		}
		if open := openDoubts(n); len(open) > 0 && n.Round < maxRounds && hope(s) && draft(n).Answer == 0 {
			return replan(n, open, e)
		}
	}
	if n.Weighed == nil {
		return one(e, Planner, weigh(n, true))
	}
	return one(e, Planner, &event.QuestFinished{Answer: event.Text{Text: answer(s)}, NotFound: notFound(n), Warnings: warnings(n)})
}

// notFound reports whether the corpus was searched and has no answer: nothing was claimed,
// or nothing that could be kept, and nothing was computed. A search that could not be made
// tells nothing about the corpus.
func notFound(n *tender.Net) bool {
	computed := slices.ContainsFunc(n.Sources, func(src tender.Source) bool { return src.Compute != nil })
	searched := slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool {
		return t.Kind == research && t.Done && (t.Worker != "" || t.Failed == nothingFound)
	})
	return searched && !computed && len(active(n)) == 0
}

// left are the parts of a plan for what a model has left behind that stopped, nil if
// nothing is to be done. What it has claimed stands as far as the audit lets it: the rules
// answer challenges of it, and add what was computed. Where it has claimed nothing, they
// search for the task as they would have without it.
func left(s *quest.State) []event.PlanStep {
	n := Net(s)
	own := slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool { return t.Kind == audit && t.Place.Answer == 0 })
	at := draft(n)
	if own || audited(n, at) && !uncited(n) && len(unsettled(n)) == 0 {
		return nil
	}
	check := event.PlanStep{Kind: audit, Task: unused(n, nil, audit)}
	if n.Spec.Corpus == nil || at.Answer != 0 {
		return []event.PlanStep{check}
	}
	return []event.PlanStep{{Kind: research, Limit: searchLimit, Task: unused(n, nil, research), Text: query(s)}, check}
}

// uncited reports whether something was computed that no claim rests on.
func uncited(n *tender.Net) bool {
	return slices.ContainsFunc(n.Sources, func(src tender.Source) bool {
		return src.Compute != nil && !slices.ContainsFunc(weigh(n, true).Stand, func(number int64) bool { return slices.Contains(n.Claim(number).Sources, src.Number) })
	})
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
			if untried(s) {
				return true
			}
		case ruleNeeds:
			if t := last(n, research); t != nil && !anyDone(n, research) && untried(s) {
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

// untried reports whether somebody could search the corpus who has not: the same search
// by the same worker finds the same.
func untried(s *quest.State) bool {
	n := Net(s)
	if n.Spec.Corpus == nil {
		return false
	}
	return slices.ContainsFunc(capable(s, &tender.Task{PlanStep: event.PlanStep{Kind: research}}), func(worker string) bool {
		return !slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool {
			return t.Kind == research && (t.Worker == worker || slices.ContainsFunc(t.Bids, func(b tender.Bid) bool { return b.Worker == worker && b.Failed != "" }))
		})
	})
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
	since := lastAudit(n).Cfp
	for _, d := range n.Doubts {
		to, ok := at[d.Claim]
		if !ok || !challenges || d.Seq < since {
			continue // the last audit looked at every claim that counts
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
	if notFound(n) {
		return []string{"not found in the corpus"}
	}
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
	switch {
	case notFound(n):
		line("Not found in the corpus: no passage of it answers the task.%s", unknown(n))
	case len(n.Weighed.Stand) == 0 && len(n.Weighed.Undecided) > 0:
		line("The sources contradict each other; what each says is below.")
	case len(n.Weighed.Stand) == 0:
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
	if open := warnings(n); len(open) > 0 && !notFound(n) {
		line("\n## Open points\n")
		for _, w := range open {
			line("- %s", text(w))
		}
	}
	sources(n, line)
	nearest(n, line)
	whole := b.String()
	if event.Weight(whole) > maxAnswer {
		whole = event.Shorten(whole, maxAnswer) + "\n\nThe rest is shown by: lyceum show --evidence\n"
	}
	return strings.TrimRight(whole, "\n")
}

// maxShown is how many passages an answer shows, those it rests on included; maxNear how
// much of each that it only shows.
const (
	maxShown = 5
	maxNear  = 400
)

// nearest shows the passages that come nearest to the task besides those that claims rest
// on: for a reader to look at, not as claims. Where something was computed, there are
// none.
func nearest(n *tender.Net, line func(string, ...any)) {
	shown := 0
	var rest []*tender.Source
	for i := range n.Sources {
		src := &n.Sources[i]
		switch {
		case src.Compute != nil:
			return
		case slices.ContainsFunc(active(n), func(c *tender.Claim) bool { return slices.Contains(c.Sources, src.Number) }):
			shown++
		default:
			rest = append(rest, src)
		}
	}
	rest = rest[:min(len(rest), max(maxShown-shown, 0))]
	if len(rest) == 0 {
		return
	}
	line("\n## Nearest passages\n\nWhat the search found besides. These are passages, not claims.\n")
	for _, src := range rest {
		line("- (%d) %s, paragraph %d: “%s”", src.Number, text(src.Anchor.Doc), src.Anchor.Paragraph, text(event.Shorten(strings.Join(strings.Fields(src.Anchor.Snippet), " "), maxNear)))
	}
}

// unknown says which words of the task the corpus does not have.
func unknown(n *tender.Net) string {
	var words []string
	for _, w := range n.Words {
		if w.Unknown {
			words = append(words, quote(w.Word))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " It does not have " + text(strings.Join(words[:min(len(words), 8)], ", ")) + "."
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
		return fmt.Sprintf("%s (%s), paragraph %d, sha256 %s, covers %s of what was asked", text(a.Doc), text(a.Title), a.Paragraph, a.Hash, billionths(a.Cover))
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
