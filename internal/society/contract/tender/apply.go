package tender

import (
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Apply takes the next event in.
func (n *Net) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.BeliefUpdated:
		n.believe(e.Actor, *b)
	case *event.DesireSet:
		m := n.mind(e.Actor)
		m.Desires = append(m.Desires, *b)
	case *event.IntentionFormed:
		m := n.mind(e.Actor)
		m.Intentions = append(m.Intentions, *b)
	case *event.PlanMade:
		n.plan(b)
	case *event.CfpIssued:
		t := n.task(b.Task)
		must(t.Cfp == 0, "bids for %s are called for twice", b.Task)
		t.Cfp, t.To = e.Seq, b.To
		n.Messages[e.Seq] = Message{e.Actor, b.To, event.Cfp}
	case *event.BidSubmitted:
		n.bid(e, b)
	case *event.ContractAwarded:
		n.award(e, b)
	case *event.TaskCompleted:
		t := n.task(b.Task)
		must(t.Award == b.Award && (b.Award == 0 || t.Worker == e.Actor), "%s has not been given %s", e.Actor, b.Task)
		t.Done, t.Found = true, b.Sources
	case *event.TaskFailed:
		n.fail(e, b)
	case *event.SearchCall:
		n.asked(e, b.Task)
	case *event.ComputeCall:
		n.asked(e, b.Task)
		n.did(b.Answer, b.Part)
		n.Task(b.Task).Compute = b
	case *event.SearchResult:
		n.found(e, b)
	case *event.ComputeResult:
		n.computed(e, b)
	case *event.MessageSent:
		n.said(e, b)
	default:
		n.applyClaims(e)
	}
}

// Itself is the net. A memory of rules that are nearly these embeds one, and is known by it.
func (n *Net) Itself() *Net { return n }

func (n *Net) task(name string) *Task {
	t := n.Task(name)
	must(t != nil && !t.Done, "there is no part %s of the plan to be done", name)
	return t
}

func (n *Net) believe(name string, b event.BeliefUpdated) {
	m := n.mind(name)
	if i := slices.IndexFunc(m.Beliefs, func(o event.BeliefUpdated) bool { return o.Belief == b.Belief }); i >= 0 {
		m.Beliefs[i] = b
		return
	}
	m.Beliefs = append(m.Beliefs, b)
}

func (n *Net) plan(b *event.PlanMade) {
	n.Plans++
	n.Planned = n.Round
	n.did(b.Answer, b.Part)
	for _, step := range b.Steps {
		must(n.Task(step.Task) == nil, "two parts of the plan are called %s", step.Task)
		n.Tasks = append(n.Tasks, &Task{PlanStep: step, Plan: n.Plans, Place: agent.Place{Answer: b.Answer, Part: b.Part}})
	}
}

func (n *Net) bid(e event.Event, b *event.BidSubmitted) {
	t := n.task(b.Task)
	must(t.Cfp == b.Cfp && b.Cfp != 0 && slices.Contains(t.To, e.Actor), "%s bids for %s, for which it was not asked", e.Actor, b.Task)
	must(!slices.ContainsFunc(t.Bids, func(o Bid) bool { return o.Worker == e.Actor }), "%s bids for %s twice", e.Actor, b.Task)
	t.Bids = append(t.Bids, Bid{Worker: e.Actor, Seq: e.Seq, Score: b.Score})
	n.Messages[e.Seq] = Message{e.Actor, []string{n.Messages[b.Cfp].From}, event.Bid}
}

func (n *Net) award(e event.Event, b *event.ContractAwarded) {
	t := n.task(b.Task)
	i := slices.IndexFunc(t.Bids, func(o Bid) bool { return o.Seq == b.Bid })
	must(i >= 0 && t.Bids[i].Worker == b.To && t.Bids[i].Failed == "" && t.Worker == "", "the award of %s answers no bid of %s", b.Task, b.To)
	t.Award, t.Worker, t.Told, t.Call, t.Open, t.Result, t.Tries = e.Seq, b.To, false, 0, false, nil, 0
	n.Messages[e.Seq] = Message{e.Actor, []string{b.To}, event.Award}
}

// fail takes the award back. When nobody is left who bid, the part is over.
func (n *Net) fail(e event.Event, b *event.TaskFailed) {
	t := n.task(b.Task)
	must(t.Award == b.Award && (t.Worker == "" || t.Worker == e.Actor), "%s has not been given %s", e.Actor, b.Task)
	left := 0
	for i := range t.Bids {
		if t.Bids[i].Worker == t.Worker {
			t.Bids[i].Failed = b.Reason
		}
		if t.Bids[i].Failed == "" {
			left++
		}
	}
	t.Award, t.Worker, t.Result, t.Call, t.Open = 0, "", nil, 0, false
	t.Done, t.Failed = left == 0, b.Reason
}

func (n *Net) asked(e event.Event, task string) {
	t := n.task(task)
	again := t.Result == nil || len(t.Result.Sources) == 0 // what went wrong may be tried again
	must(t.Worker == e.Actor && !t.Open && again, "%s does not work at %s", e.Actor, task)
	t.Call, t.Open, t.Result = e.Seq, true, nil
	t.Tries++
}

// calls finds the part of the plan that a result is for.
func (n *Net) calls(call uint64) *Task {
	for _, t := range n.Tasks {
		if t.Open && t.Call == call {
			return t
		}
	}
	return nil
}

// found gives what a search brought its numbers. A paragraph that is known keeps its
// own; if it is more relevant to this search, that counts.
func (n *Net) found(e event.Event, b *event.SearchResult) {
	t := n.calls(b.Call)
	if t == nil {
		return
	}
	t.Open, t.Result = false, &Result{Seq: e.Seq, Error: b.Error}
	if len(b.Words) > 0 {
		n.Words = b.Words
	}
	for i := range b.Anchors {
		a := &b.Anchors[i]
		if from := n.Source(t.Around); from != nil && from.Anchor != nil {
			a = opened(a, from.Anchor)
		}
		known := slices.IndexFunc(n.Sources, func(s Source) bool {
			return s.Anchor != nil && s.Anchor.Doc == a.Doc && s.Anchor.Paragraph == a.Paragraph && s.Anchor.Hash == a.Hash
		})
		if known < 0 {
			known = len(n.Sources)
			n.Sources = append(n.Sources, Source{Number: int64(known) + 1, Seq: e.Seq, Task: t.Task, Anchor: a})
		} else if old := *n.Sources[known].Anchor; a.Relevance > old.Relevance || a.Cover > old.Cover || t.Place.Answer == 0 || t.Around != 0 {
			// What was quoted of it stays; that it is about what was asked is new. What it
			// covers of the task is what a search for the task says.
			old.Relevance, old.Score, old.Cover = max(a.Relevance, old.Relevance), max(a.Score, old.Score), max(a.Cover, old.Cover)
			if t.Place.Answer == 0 {
				old.Cover = a.Cover
			}
			if t.Around != 0 {
				old.Snippet = a.Snippet
			}
			n.Sources[known].Anchor = &old
		}
		t.Result.Sources = append(t.Result.Sources, int64(known)+1)
	}
}

// opened is a paragraph that was read because it stands around another. It is about what
// that one is about.
func opened(a, from *event.Anchor) *event.Anchor {
	out := *a
	out.Cover, out.Relevance = from.Cover, from.Relevance
	return &out
}

func (n *Net) computed(e event.Event, b *event.ComputeResult) {
	t := n.calls(b.Call)
	if t == nil {
		return
	}
	t.Open, t.Result = false, &Result{Seq: e.Seq, Error: b.Error}
	if b.Error != "" || b.Exit != 0 {
		return // what went wrong is no source
	}
	number := int64(len(n.Sources)) + 1
	n.Sources = append(n.Sources, Source{Number: number, Seq: e.Seq, Task: t.Task, Compute: b, Asked: t.Compute})
	t.Result.Sources = []int64{number}
}

func (n *Net) said(e event.Event, b *event.MessageSent) {
	n.did(b.Answer, b.Part)
	if b.Performative == "" {
		return
	}
	n.Messages[e.Seq] = Message{e.Actor, []string{b.To}, b.Performative}
	for _, t := range n.Tasks {
		switch {
		case t.Award == 0 || b.Reply != t.Award:
		case b.Performative == event.Commit || b.Performative == event.Request && e.Actor != t.Worker:
			t.Told = true
		case e.Actor == t.Worker && b.Quiet:
			t.Informed = true
		}
	}
}

func (n *Net) applyClaims(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ClaimMade:
		must(b.Claim == int64(len(n.Claims))+1, "claim %d is out of order", b.Claim)
		n.did(b.Answer, b.Part)
		n.Claims = append(n.Claims, Claim{ClaimMade: *b, By: e.Actor, Seq: e.Seq})
		n.Weighed = nil
	case *event.ClaimAttacked:
		must(n.Claim(b.From) != nil && n.Claim(b.To) != nil, "there is no claim %d or %d", b.From, b.To)
		n.Attacks = append(n.Attacks, *b)
	case *event.ChallengeRaised:
		must(b.Challenge == int64(len(n.Doubts))+1 && (b.Claim == 0 || n.Claim(b.Claim) != nil), "challenge %d is out of order", b.Challenge)
		n.Doubts = append(n.Doubts, Doubt{ChallengeRaised: *b, By: e.Actor, Seq: e.Seq})
		n.Messages[e.Seq] = Message{e.Actor, nil, event.Challenge}
	case *event.JustificationGiven:
		d := n.doubt(b.Challenge)
		d.Justified, d.Justifier = b.Reason, e.Seq
		if c := n.Claim(d.Claim); c != nil {
			for _, s := range b.Sources {
				if !slices.Contains(c.Sources, s) {
					c.Sources = append(slices.Clone(c.Sources), s)
				}
			}
		}
		n.Messages[e.Seq] = Message{e.Actor, []string{d.By}, event.Justify}
	case *event.ClaimRetracted:
		c := n.Claim(b.Claim)
		must(c != nil && c.Retracted == "", "there is no claim %d to be taken back", b.Claim)
		c.Retracted = b.Reason
		if b.Challenge != 0 {
			n.doubt(b.Challenge).Retracted = true
		}
		n.Messages[e.Seq] = Message{e.Actor, nil, event.Retract}
	case *event.ReplanTriggered:
		for _, c := range b.Challenges {
			n.doubt(c).Replanned = true
		}
		n.Round = b.Round
	case *event.ArgumentsWeighed:
		n.Weighed = b
	}
}

// doubt returns an open challenge.
func (n *Net) doubt(number int64) *Doubt {
	must(number >= 1 && number <= int64(len(n.Doubts)) && n.Doubts[number-1].Open(), "there is no open challenge %d", number)
	return &n.Doubts[number-1]
}
