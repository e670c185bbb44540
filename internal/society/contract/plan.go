package contract

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// begin says what the planner thinks before any work is done, and makes the plan,
// unless a model does.
func begin(s *quest.State, e event.Event) []event.Draft {
	n, m := Net(s), Net(s).Minds[Planner]
	if m == nil {
		m = &tender.Mind{}
	}
	beliefs := beliefs(s)
	switch {
	case len(m.Beliefs) < len(beliefs):
		return one(e, Planner, &beliefs[len(m.Beliefs)])
	case len(m.Desires) == 0:
		return one(e, Planner, &event.DesireSet{Desire: "answer the task with claims that rest on evidence", Reason: "that is what the quest was made for"})
	}
	if thinking(s) {
		return intend(n, m, e)
	}
	if n.Plans == 0 {
		need := needs(s)
		if len(m.Intentions) < len(need) {
			return one(e, Planner, &need[len(m.Intentions)])
		}
		return one(e, Planner, &event.PlanMade{Steps: steps(s, need)})
	}
	if n.Planned < n.Round && draft(n).Answer == 0 {
		return again(s, e)
	}
	return nil
}

// beliefs are what the planner holds to be so when it begins.
func beliefs(s *quest.State) []event.BeliefUpdated {
	has := func(name string, is bool, yes, no string) event.BeliefUpdated {
		if is {
			return event.BeliefUpdated{Belief: name, Value: "yes", Reason: yes}
		}
		return event.BeliefUpdated{Belief: name, Value: "no", Reason: no}
	}
	return []event.BeliefUpdated{
		{Belief: "task", Value: event.Shorten(s.Problem.Text, 4000), Reason: "the quest names it"},
		has("corpus", Net(s).Spec.Corpus != nil, "the quest names a corpus", "the quest names no corpus"),
		has("data", s.Data != nil, "the quest names data", "the quest names no data"),
		has("computers", s.Computer != nil, "the quest has computers for its agents", "the quest has no computers"),
		{Belief: "audit", Value: Net(s).Spec.Audit, Reason: "the quest names the level"},
	}
}

// intend says why the planner's model wants each part of its plans.
func intend(n *tender.Net, m *tender.Mind, e event.Event) []event.Draft {
	i := 0
	for _, t := range n.Tasks {
		if t.Place.Answer == 0 || t.Kind == audit {
			continue
		}
		if i == len(m.Intentions) {
			return one(e, Planner, &event.IntentionFormed{Intention: t.Kind, Reason: "the planner's model asks for it: " + event.Shorten(quote(t.Text), 500)})
		}
		i++
	}
	return nil
}

// needs decides which kinds of work the task needs, and says why.
func needs(s *quest.State) []event.IntentionFormed {
	words := wordsOf(s.Problem.Text)
	looks, counts, checks := among(words, researchWords), computing(words), among(words, auditWords)
	out := []event.IntentionFormed{needResearch(s, looks, counts), needCompute(s, words, counts)}
	why := fmt.Sprintf("every answer is audited; this quest's level is %s", Net(s).Spec.Audit)
	out = append(out, event.IntentionFormed{Intention: audit, Reason: why, Words: checks})
	if until := Net(s).Spec.WaitUntil; until > 0 {
		first := event.IntentionFormed{Intention: wait, Reason: "the quest is to wait until " + until.String()}
		out = append([]event.IntentionFormed{first}, out...)
	}
	return out
}

// computing are the words of a task that ask for a computation.
func computing(words []string) []string {
	strong := among(words, computeWords)
	if len(strong) == 0 && len(among(words, dataWords)) == 0 {
		return nil
	}
	return among(words, slices.Concat(computeWords, weakWords))
}

func needResearch(s *quest.State, looks, counts []string) event.IntentionFormed {
	i := event.IntentionFormed{Intention: research, Words: looks}
	switch {
	case Net(s).Spec.Corpus == nil:
		i.Dropped, i.Reason = true, "there is no corpus to search"
	case len(looks) > 0:
		i.Reason = "words of the task ask for what is written somewhere"
	case len(counts) == 0:
		i.Reason = "no word of the task names a kind of work, and there is a corpus"
	default:
		i.Reason = fmt.Sprintf("an audit of level %s wants %d sources, and a computation is one", Net(s).Spec.Audit, level(Net(s)).anchors)
	}
	return i
}

func needCompute(s *quest.State, words, counts []string) event.IntentionFormed {
	i := event.IntentionFormed{Intention: compute, Words: counts}
	programs := methodsOf(words)
	switch {
	case len(counts) == 0:
		i.Dropped, i.Reason = true, "no word of the task asks for a computation"
	case s.Data == nil:
		i.Dropped, i.Reason = true, "words of the task ask for a computation, but there is no data to compute with"
	case len(programs) == 0 && s.Agent(Coder) == nil:
		i.Dropped, i.Reason = true, "words of the task ask for a computation, but none of the programs here is named by them, and there is no model to write one"
	case len(programs) == 0:
		i.Reason = "words of the task ask for a computation; a program has to be written for it"
	default:
		i.Reason = "words of the task ask for a computation; the program for it is " + strings.Join(programs, ", ")
	}
	return i
}

// steps are the parts of the first plan.
func steps(s *quest.State, need []event.IntentionFormed) (out []event.PlanStep) {
	for _, i := range need {
		if i.Dropped {
			continue
		}
		step := event.PlanStep{Kind: i.Intention, Task: i.Intention + "-1"}
		if programs := methodsOf(wordsOf(s.Problem.Text)); i.Intention == compute && len(programs) > 0 {
			for n, name := range programs {
				out = append(out, event.PlanStep{Kind: compute, Task: fmt.Sprintf("%s-%d", compute, n+1), Text: name})
			}
			continue
		}
		switch i.Intention {
		case wait:
			step.Until = Net(s).Spec.WaitUntil
		case research:
			step.Text, step.Limit = query(s), searchLimit
		case compute:
			step.Text = event.Shorten(s.Problem.Text, maxQuery)
		}
		out = append(out, step)
	}
	return out
}

// searchLimit is how many paragraphs a search may bring, maxQuery how long a query may
// be.
const (
	searchLimit = 8
	maxQuery    = 1000
)

// query is what to search for: the task as it stands. Whoever searches knows which of its
// words say something.
func query(s *quest.State) string { return event.Shorten(s.Problem.Text, maxQuery) }

// again makes the plan of another round: of what could help against the challenges
// that nobody could answer.
func again(s *quest.State, e event.Event) []event.Draft {
	n := Net(s)
	var out []event.PlanStep
	name := func(kind string) string { return unused(n, out, kind) }
	if n.Spec.Corpus != nil && doubted(n, ruleEvidence, ruleRelevance, ruleConfidence, ruleNeeds) {
		out = append(out, event.PlanStep{Kind: research, Task: name(research), Text: query(s), Limit: searchLimit * (n.Round + 1), Without: finders(n)})
	}
	if doubted(n, ruleRecomputed) {
		for _, text := range once(n) {
			out = append(out, event.PlanStep{Kind: compute, Task: name(compute), Text: text, Without: executors(n, text)})
		}
	}
	out = append(out, event.PlanStep{Kind: audit, Task: name(audit)})
	return one(e, Planner, &event.PlanMade{Steps: out})
}

// unused is the next name of a part of that kind, beside the parts of a plan that is being
// made. Parts that a model planned are numbered in another way, so it may be taken.
func unused(n *tender.Net, made []event.PlanStep, kind string) string {
	number := count(n, kind) + 1
	for _, step := range made {
		if step.Kind == kind {
			number++
		}
	}
	for {
		name := fmt.Sprintf("%s-%d", kind, number)
		if n.Task(name) == nil && !slices.ContainsFunc(made, func(step event.PlanStep) bool { return step.Task == name }) {
			return name
		}
		number++
	}
}

// doubted reports whether a rule was broken in the last round.
func doubted(n *tender.Net, rules ...string) bool {
	for _, d := range n.Doubts {
		if !d.Replanned || d.Seq < lastAudit(n).Cfp {
			continue
		}
		for _, rule := range rules {
			if d.Rule == rule {
				return true
			}
		}
	}
	return false
}

// last is the last part of the plan of a kind, nil if there is none.
func last(n *tender.Net, kind string) (out *tender.Task) {
	for _, t := range n.Tasks {
		if t.Kind == kind {
			out = t
		}
	}
	return out
}

func lastAudit(n *tender.Net) *tender.Task {
	if t := last(n, audit); t != nil {
		return t
	}
	return &tender.Task{}
}

// finders are the researchers that had their chance in the last search, if another is
// left; executors those who have computed.
func finders(n *tender.Net) []string {
	if t := last(n, research); t != nil && t.Worker != "" {
		return []string{t.Worker}
	}
	return nil
}

func executors(n *tender.Net, program string) (out []string) {
	for _, t := range n.Tasks {
		if t.Kind == compute && t.Text == program && t.Worker != "" {
			out = append(out, t.Worker)
		}
	}
	return out
}

// once are the programs that one engine alone has run.
func once(n *tender.Net) (out []string) {
	for _, t := range n.Tasks {
		if t.Kind == compute && t.Worker != "" && t.Worker != Coder && len(executors(n, t.Text)) == 1 {
			out = append(out, t.Text)
		}
	}
	return out
}

// count is how many parts of a kind there were.
func count(n *tender.Net, kind string) (c int) {
	for _, t := range n.Tasks {
		if t.Kind == kind {
			c++
		}
	}
	return c
}

// quote is a text as a word of somebody, on one line.
func quote(s string) string { return fmt.Sprintf("%q", s) }
