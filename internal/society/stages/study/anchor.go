package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// The anchors, in the order in which a study usually goes.
const (
	Scout      = "scout"
	Baseline   = "baseline"
	Idea       = "idea"
	Experiment = "experiment"
	Campaign   = "analysis-campaign"
	Write      = "write"
	Finalize   = "finalize"
)

// Anchors are all of them, the first first.
var Anchors = []string{Scout, Baseline, Idea, Experiment, Campaign, Write, Finalize}

// The forward policies: what has to be there before a study goes on.
const (
	BaselineFirst = "baseline-first"
	IdeaFirst     = "idea-first"
	ResultFirst   = "result-first"
	CheckedPaper  = "checked-paper"
)

// Gates are the forward policies with the first anchor that each keeps from a study.
var Gates = []Gate{
	{BaselineFirst, Idea, "a baseline that was accepted"},
	{IdeaFirst, Experiment, "an idea that was submitted"},
	{ResultFirst, Campaign, "a result that was recorded"},
	{CheckedPaper, Finalize, "a paper whose checklist holds"},
}

// Gate is a forward policy.
type Gate struct {
	Name string
	// Before is the first anchor that needs what it wants, Needs says what that is.
	Before, Needs string
}

// Move is a step from an anchor to another.
type Move struct {
	Seq      uint64
	Time     event.Time
	Actor    string
	By       string
	From, To string
	Reason   string
	Because  []string `json:",omitempty"`
}

// Waiver is a forward policy, or an item of a paper, that a person lets pass, with the reason.
type Waiver struct {
	Policy, Reason string
	Seq            uint64
	Actor          string
}

// rank is where an anchor stands, -1 if there is none of that name.
func rank(anchor string) int { return slices.Index(Anchors, anchor) }

// IsAnchor reports whether there is an anchor of that name.
func IsAnchor(name string) bool { return rank(name) >= 0 }

// Forward reports whether going from an anchor to another passes gates.
func Forward(from, to string) bool { return rank(to) > rank(from) }

// Lacks are the forward policies that a move passes and that do not let it, in their order.
// Back is always allowed.
func (s *Study) Lacks(to string) (out []Gate) {
	for _, g := range Gates {
		if rank(s.Anchor) < rank(g.Before) && rank(to) >= rank(g.Before) && !s.passes(g.Name) {
			out = append(out, g)
		}
	}
	return out
}

// passes reports whether what a policy wants is there, or a person has waived it.
func (s *Study) passes(policy string) bool {
	switch policy {
	case BaselineFirst:
		return len(s.Accepted) > 0 || s.isWaived(policy)
	case IdeaFirst:
		return s.Counts[KindIdea] > 0 || s.isWaived(policy)
	case ResultFirst:
		return slices.ContainsFunc(s.Results, func(r *Result) bool { return r.Kind == ResultMain }) || s.isWaived(policy)
	case CheckedPaper:
		return s.Paperless && s.Counts[KindReport] > 0 || !s.Paperless && s.checked() || s.isWaived(policy)
	}
	return false
}

func (s *Study) isWaived(policy string) bool {
	return s.Waiver(policy) != nil
}

// Waiver is how a policy or an item was waived, nil if it was not.
func (s *Study) Waiver(policy string) *Waiver {
	for i := range s.Waived {
		if s.Waived[i].Policy == policy {
			return &s.Waived[i]
		}
	}
	return nil
}

// waive notes that a person lets a policy pass.
func (s *Study) waive(w Waiver) {
	if !s.isWaived(w.Policy) {
		s.Waived = append(s.Waived, w)
	}
}

// MayMove says why a study cannot go to an anchor, in words for whoever wants it.
func (s *Study) MayMove(to string) error {
	switch lacks := s.Lacks(to); {
	case !IsAnchor(to):
		return fmt.Errorf("there is no stage %.40q: there are %s", to, strings.Join(Anchors, ", "))
	case to == s.Anchor:
		return fmt.Errorf("the study is at %s already", to)
	case len(lacks) > 0:
		g := lacks[0]
		why := ""
		if lines := s.WhyNot(); g.Name == CheckedPaper && len(lines) > 0 {
			why = " (" + event.Shorten(strings.Join(lines, "; "), maxWhy) + ")"
		}
		return fmt.Errorf("%s keeps the study from %s: it needs %s%s, or a person who waives it with a reason", g.Name, to, g.Needs, why)
	}
	return nil
}

// MayWaive says why a policy, or an item that a paper must have, cannot be waived.
func (s *Study) MayWaive(policy, reason string) error {
	switch {
	case !slices.ContainsFunc(Gates, func(g Gate) bool { return g.Name == policy }) && !slices.Contains(Items, policy):
		return fmt.Errorf("there is no forward policy %.40q: there are %s, %s, %s and %s; and of a paper %s", policy, BaselineFirst, IdeaFirst, ResultFirst, CheckedPaper, strings.Join(Items, ", "))
	case strings.TrimSpace(reason) == "":
		return fmt.Errorf("%s is waived with a reason, or not at all", policy)
	}
	return nil
}

// ordered takes in a person's word. What follows from one about the stage or a message is an
// event of its own.
func (s *Study) ordered(e event.Event, b *event.StudyOrder) {
	switch b.Action {
	case event.SteerWaive:
		if err := s.MayWaive(b.What, b.Reason); err != nil {
			panic(err.Error())
		}
		s.waive(Waiver{Policy: b.What, Reason: b.Reason, Seq: e.Seq, Actor: e.Actor})
	case event.SteerUse:
		s.Skill = b.What
	}
}

// moved takes in a move. A person's passes the gates like a tool's: who wants to go on without
// what they need waives it first, and says why.
func (s *Study) moved(e event.Event, b *event.AnchorMoved) {
	if b.From != s.Anchor {
		panic(fmt.Sprintf("anchor.moved goes from %.40q, and the study is at %s", b.From, s.Anchor))
	}
	if err := s.MayMove(b.To); err != nil {
		panic("anchor.moved: " + err.Error())
	}
	s.Anchor = b.To
	s.Moved++
	s.Moves = append(s.Moves, Move{Seq: e.Seq, Time: e.Time, Actor: e.Actor, By: b.By, From: b.From, To: b.To, Reason: b.Reason, Because: b.Because})
	if n := len(s.Moves) - maxMoves; n > 0 {
		s.Moves = slices.Delete(s.Moves, 0, n)
	}
	if b.Answer != 0 {
		s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	}
}
