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

// The levels of an audit.
const (
	Lite     = "lite"
	Standard = "standard"
	Strict   = "strict"
)

// Levels are all of them.
var Levels = []string{Lite, Standard, Strict}

// demand is what a level asks for: so many sources, so relevant (billionths), and
// claims so sure (thousandths).
type demand struct{ anchors, relevance, confidence int64 }

func level(n *tender.Net) demand {
	switch n.Spec.Audit {
	case Lite:
		return demand{1, 700_000_000, 450}
	case Strict:
		return demand{3, 850_000_000, 700}
	}
	return demand{2, 800_000_000, 650}
}

// The rules of the audit.
const (
	ruleEvidence   = "enough-evidence"
	ruleRelevance  = "relevance"
	ruleConfidence = "confidence"
	ruleCited      = "cited"
	ruleNumbers    = "numbers"
	ruleRelated    = "related"
	ruleOpposite   = "opposite"
	ruleNeeds      = "needs-met"
	ruleRecomputed = "recomputed"
)

// weakness is something that a rule finds. Claim 0 is the answer as a whole.
type weakness struct {
	claim  int64
	rule   string
	reason string
}

// weaknesses are what is wrong with the claims as they stand.
func weaknesses(s *quest.State) (out []weakness) {
	n, want := Net(s), level(Net(s))
	var cited []int64
	stands := weigh(n, false).Stand
	for _, c := range active(n) {
		out = append(out, weakClaim(n, c, want)...)
		if !slices.Contains(stands, c.Claim) {
			continue // what another claim has defeated supports nothing
		}
		cited = append(cited, c.Sources...)
	}
	cited = distinct(n, cited)
	relevant := int64(0)
	for _, number := range cited {
		if relevance(n.Source(number)) >= want.relevance {
			relevant++
		}
	}
	switch {
	case int64(len(cited)) < want.anchors:
		out = append(out, weakness{0, ruleEvidence, fmt.Sprintf("the claims rest on %s; the level %s asks for %d", countedSources(len(cited)), n.Spec.Audit, want.anchors)})
	case relevant < want.anchors:
		out = append(out, weakness{0, ruleRelevance, fmt.Sprintf("%d of the sources have a relevance of %s or more; the level %s asks for %d", relevant, billionths(want.relevance), n.Spec.Audit, want.anchors)})
	}
	return append(out, unmet(s)...)
}

func weakClaim(n *tender.Net, c *tender.Claim, want demand) (out []weakness) {
	weak := func(rule, format string, args ...any) {
		out = append(out, weakness{c.Claim, rule, fmt.Sprintf(format, args...)})
	}
	var from, texts []string
	for _, number := range c.Sources {
		if src := n.Source(number); src != nil {
			from = append(from, src.Text())
			if src.Anchor != nil {
				texts = append(texts, src.Text())
			}
		}
	}
	if len(from) == 0 {
		weak(ruleCited, "it names no source that there is")
		return out
	}
	if missing := evidence.Missing(c.Text, from); len(missing) > 0 {
		weak(ruleNumbers, "%s is in none of the sources that it names, nor does it follow from them", strings.Join(missing[:min(len(missing), 5)], ", "))
	}
	if !related(c.Text, from) {
		weak(ruleRelated, "it has no word in common with the sources that it names")
	}
	if why := opposite(c.Text, texts); why != "" {
		weak(ruleOpposite, "%s", why)
	}
	if sure := confidence(n, c.Sources); sure < want.confidence {
		weak(ruleConfidence, "its confidence is %s; the level %s asks for %s", thousandths(sure), n.Spec.Audit, thousandths(want.confidence))
	}
	return out
}

// unmet are the kinds of work that the task asks for and that brought nothing.
func unmet(s *quest.State) (out []weakness) {
	n := Net(s)
	if m := n.Minds[Planner]; m != nil && n.Tasks[0].Place.Answer == 0 {
		for _, i := range m.Intentions {
			if i.Dropped && len(i.Words) > 0 {
				out = append(out, weakness{0, ruleNeeds, fmt.Sprintf("the task asks for it (%s), but %s", strings.Join(i.Words, ", "), i.Reason)})
			}
		}
	}
	for _, kind := range []string{research, compute} {
		if t := last(n, kind); t != nil && t.Failed != "" && t.Done && !anyDone(n, kind) {
			out = append(out, weakness{0, ruleNeeds, fmt.Sprintf("%s brought nothing: %s", t.Task, t.Failed)})
		}
	}
	if t := last(n, audit); t != nil && t.Worker == Recompute {
		out = append(out, recomputed(n)...)
	}
	return out
}

func anyDone(n *tender.Net, kind string) bool {
	return slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool { return t.Kind == kind && t.Done && t.Worker != "" })
}

// recomputed asks for every computation that the claims rest on to have been made
// twice, by two engines, with the same output.
func recomputed(n *tender.Net) (out []weakness) {
	for _, c := range active(n) {
		for _, number := range c.Sources {
			src := n.Source(number)
			if src == nil || src.Compute == nil {
				continue
			}
			if src.Asked.Code == nil {
				return []weakness{{0, ruleRecomputed, fmt.Sprintf("[%d] is of a program that was written for this quest and ran once", number)}}
			}
			other := slices.IndexFunc(n.Sources, func(o tender.Source) bool {
				return o.Asked != nil && o.Asked.Code != nil && *o.Asked.Code == *src.Asked.Code && o.Asked.Engine != src.Asked.Engine
			})
			switch {
			case other < 0:
				return []weakness{{0, ruleRecomputed, fmt.Sprintf("[%d] was computed by one engine only; the level %s asks for two", number, n.Spec.Audit)}}
			case n.Sources[other].Text() != src.Text():
				return []weakness{{0, ruleRecomputed, fmt.Sprintf("[%d] and [%d] are of the same program and data, and differ", number, n.Sources[other].Number)}}
			}
		}
	}
	return nil
}

// relevance is a source's, in billionths. A computation is about what was asked.
func relevance(src *tender.Source) int64 {
	if src.Anchor != nil {
		return src.Anchor.Cover
	}
	return 1_000_000_000
}

// confidence is how sure a claim can be that rests on some sources, in thousandths: by
// the best of them, and a little more for each further one.
func confidence(n *tender.Net, sources []int64) (sure int64) {
	all := distinct(n, sources)
	for _, number := range all {
		src := n.Source(number)
		one := int64(900)
		if src.Anchor != nil {
			one = 500 + 350*src.Anchor.Cover/1_000_000_000
		}
		sure = max(sure, one)
	}
	if len(all) == 0 {
		return 0
	}
	return min(sure+50*int64(len(all)-1), 970)
}

// distinct are the sources that say something of their own: the same paragraph in two
// files is one, and so is a program that two engines have run.
func distinct(n *tender.Net, numbers []int64) (out []int64) {
	var seen []event.Hash
	for _, number := range numbers {
		src := n.Source(number)
		if src == nil {
			continue
		}
		var is event.Hash
		switch {
		case src.Anchor != nil:
			is = src.Anchor.Hash
		case src.Asked.Code != nil:
			is = src.Asked.Code.Hash
		case src.Asked.Tree != nil:
			is = src.Asked.Tree.Hash
		}
		if !slices.Contains(seen, is) {
			seen, out = append(seen, is), append(out, number)
		}
	}
	return out
}

// related reports whether a claim shares a word that says something with a source, or
// its beginning. Who writes in another script than the sources cannot be judged by that.
func related(claim string, sources []string) bool {
	words := content(wordsOf(claim))
	all := wordsOf(strings.Join(sources, " "))
	foreign := strings.ContainsFunc(claim, spaceless) != strings.ContainsFunc(strings.Join(sources, ""), spaceless)
	return foreign || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(all, func(o string) bool {
			return w == o || len(w) > stem && len(o) > stem && w[:stem] == o[:stem]
		})
	})
}

// stem is how much of a word counts: energies are energy.
const stem = 5

// active are the claims that count: of those a model made, the ones of its last draft
// that came before an auditor; and those of the rules.
func active(n *tender.Net) (out []*tender.Claim) {
	draft := draft(n)
	for i := range n.Claims {
		if c := &n.Claims[i]; c.Retracted == "" && (c.Place() == draft || c.Answer == 0) {
			out = append(out, c)
		}
	}
	return out
}

// draft is the place of the last draft of a model that an auditor has, or has seen. If none
// has, it is that of the last one, and zero if there is none at all.
func draft(n *tender.Net) (last agent.Place) {
	for i := range n.Claims {
		if p := n.Claims[i].Place(); p.Answer != 0 && (audited(n, p) || !audited(n, last)) {
			last = p
		}
	}
	return last
}

func audited(n *tender.Net, at agent.Place) bool {
	return at.Answer != 0 && slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool { return t.Kind == audit && t.Place == at })
}

// examine is the work of the auditor: it raises what is weak, hears what the workers
// say to it, and gives its verdict.
func examine(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	n := Net(s)
	raised := func(w weakness) bool {
		return slices.ContainsFunc(n.Doubts, func(d tender.Doubt) bool { return d.Seq > t.Cfp && d.Claim == w.claim && d.Rule == w.rule })
	}
	for _, w := range weaknesses(s) {
		if !raised(w) {
			return one(e, t.Worker, &event.ChallengeRaised{
				Challenge: int64(len(n.Doubts)) + 1, Claim: w.claim, Reason: event.Shorten(w.reason, 1000), Rule: w.rule,
			})
		}
	}
	if !thinking(s) {
		for i := range n.Doubts {
			if d := &n.Doubts[i]; d.Open() && d.Seq > t.Cfp {
				if reply := reply(s, d, e); reply != nil {
					return reply
				}
			}
		}
	}
	if !t.Informed {
		open := openDoubts(n)
		if len(open) == 0 {
			return tell(e, t.Worker, event.Confirm, t.Award, "The answer holds.")
		}
		return tell(e, t.Worker, event.Disconfirm, t.Award, fmt.Sprintf("%d challenges are open.", len(open)))
	}
	return one(e, t.Worker, &event.TaskCompleted{Award: t.Award, Task: t.Task})
}

// reply is what the worker of a claim says to a challenge: it names further sources
// that settle it, or takes the claim back. Nothing, if it has no answer.
func reply(s *quest.State, d *tender.Doubt, e event.Event) []event.Draft {
	n := Net(s)
	c := n.Claim(d.Claim)
	if c == nil || c.Retracted != "" {
		return nil
	}
	if d.Rule == ruleNumbers || d.Rule == ruleConfidence {
		for i := range n.Sources {
			src := &n.Sources[i]
			if slices.Contains(c.Sources, src.Number) || !supports(src, c) {
				continue
			}
			more := *c
			more.Sources = append(slices.Clone(c.Sources), src.Number)
			if !slices.ContainsFunc(weakClaim(n, &more, level(n)), func(w weakness) bool { return w.rule == d.Rule }) {
				return one(e, c.By, &event.JustificationGiven{Challenge: d.Challenge, Reason: fmt.Sprintf("[%d] settles it.", src.Number), Sources: []int64{src.Number}})
			}
		}
	}
	return one(e, c.By, &event.ClaimRetracted{Challenge: d.Challenge, Claim: c.Claim, Reason: d.Reason})
}

// supports reports whether a source can settle a challenge of a claim: it has a value
// that the claim has, unit and all. A bare number says nothing.
func supports(src *tender.Source, c *tender.Claim) bool {
	theirs := evidence.Values(src.Text())
	return slices.ContainsFunc(evidence.Values(c.Text), func(v evidence.Value) bool {
		return v.Unit != "" && slices.ContainsFunc(theirs, func(o evidence.Value) bool { return o.Unit != "" && evidence.Agree(v, o, 0) })
	})
}

// openDoubts are the challenges that nobody has answered, of the last audit.
func openDoubts(n *tender.Net) (out []*tender.Doubt) {
	since := lastAudit(n).Cfp
	for i := range n.Doubts {
		if d := &n.Doubts[i]; d.Open() && d.Seq > since {
			out = append(out, d)
		}
	}
	return out
}

func thousandths(n int64) string { return fmt.Sprintf("%d.%03d", n/1000, n%1000) }
func billionths(n int64) string {
	return fmt.Sprintf("%d.%02d", n/1_000_000_000, n%1_000_000_000/10_000_000)
}

func countedSources(n int) string {
	if n == 1 {
		return "1 source"
	}
	return fmt.Sprintf("%d sources", n)
}
