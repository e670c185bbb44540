package quest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
)

// Domain is a society with tools of its own: papers, votes, bids. The rules answer
// them; the world is asked only for what rules cannot see or do.
type Domain interface {
	Society
	// Own are the society's tools.
	Own() []OwnTool
	// Use says what follows from a call of one of them that is open: its effect
	// first, and once that is in the state its tool.answered. It follows from the
	// state: asked again, it goes on from there. Nothing means that it waits.
	Use(s *State, a *agent.Agent, u *agent.Use, e event.Event) []event.Draft
	// Before says what is to be done about an agent before its next turn, or because
	// it has been parked: what it has left undone. Asked again, it goes on from there.
	Before(s *State, a *agent.Agent, e event.Event) []event.Draft
	// Tend says the next thing that the rules have to do by themselves, if there is
	// something: asking reviewers, deciding, ending the quest. It is asked after
	// every event, so it must not cost more the longer the quest is. It says one thing
	// at a time: the next it says when that is in the state.
	Tend(s *State, e event.Event) []event.Draft
	// Scan finds in a text what Use will need to know of it, such as citations. The
	// runtime calls it, where the text can be read.
	Scan(tool, text string) []string
	// Deliver says which files the call of a Delivered tool puts into the agent's
	// home, or why it does not, in words for the agent.
	Deliver(s *State, a *agent.Agent, u *agent.Use) (*Delivery, error)
}

// OwnTool is a tool that the rules answer.
type OwnTool struct {
	model.Tool
	Step Step
	// Content is the argument that may be long; Files the one that lists files of the
	// agent's home. They are for Prepared tools, and empty if there is none.
	Content, Files string
}

// Step is what the world has to do with a call of an own tool.
type Step int

// The steps.
const (
	// Answered: nothing; its arguments are short.
	AnsweredTool Step = iota
	// Prepared: it reads what the rules cannot, and says so with a tool.prepared.
	PreparedTool
	// Delivered: it puts files into the agent's home, and answers the call itself.
	DeliveredTool
)

// Delivery is a folder to be put into an agent's home.
type Delivery struct {
	// Path is where, relative to the home. What is there is replaced.
	Path string
	// Tree are the files to begin with, if any; Texts further ones by name.
	Tree  *event.TreeRef
	Texts []DeliveredText
	// Diff are two texts; what has changed from the first to the second is put into
	// changes.diff, as a unified diff.
	Diff *[2]event.Text
	// Said is what the agent is told.
	Said string
}

// DeliveredText is a file that is put together from texts.
type DeliveredText struct {
	Name  string
	Parts []event.Text
}

// Own returns the society's own tool of that name, nil if it has none.
func (s *State) Own(name string) (Domain, *OwnTool) {
	d, ok := s.society.(Domain)
	if !ok || name == "" {
		return nil, nil
	}
	tools := d.Own()
	for i := range tools {
		if tools[i].Name == name {
			return d, &tools[i]
		}
	}
	return nil, nil
}

// Moving is the agent that the last input was about, nil if it was about none.
func (s *State) Moving() *agent.Agent { return s.Agent(s.moving) }

// tend asks the society what it has to do by itself. An answer must pass the gate,
// like one that an agent gives.
func (s *State) tend(e event.Event) []event.Draft {
	d, ok := s.society.(Domain)
	if !ok {
		return nil
	}
	return s.pass(e, d.Tend(s, e), s.unfinished)
}

// unfinished is what follows when policies do not let a quest end. Whose answer it is
// hears why and goes on. If it cannot, nobody can.
func (s *State) unfinished(d event.Draft, b *event.PolicyBlocked) []event.Draft {
	if a := s.Agent(d.Actor); a != nil && !a.Held && a.Model != "" {
		d.Body = b
	} else {
		d.Actor, d.Body = "core", &event.QuestFailed{Reason: "The quest has an answer that it may not give. " + refusal(b)}
	}
	return []event.Draft{d}
}

// applyDomain takes in what societies with tools of their own do.
func (s *State) applyDomain(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ToolPrepared:
		if a := s.Agent(e.Actor); a != nil {
			a.Prepared(b)
		}
	case *event.ReproductionCall, *event.SearchCall, *event.ComputeCall:
		s.Calls[e.Seq] = Call{Kind: e.Type}
	case *event.ReproductionResult:
		delete(s.Calls, b.Call)
	case *event.SearchResult:
		delete(s.Calls, b.Call)
	case *event.ComputeResult:
		delete(s.Calls, b.Call)
	case *event.AgentParked:
		s.Agent(e.Actor).Parked = b.Reason
	case *event.AdvisorySent:
		s.advise(b)
	}
	if s.Net != nil {
		s.Net.Apply(e)
		return
	}
	s.Papers.Apply(e)
}

// advise tells agents what happened, and wakes those that were parked. That a
// request has expired is no reason to.
func (s *State) advise(b *event.AdvisorySent) {
	tell := func(a *agent.Agent) {
		// Who is not parked is not given another chance: a model that answers nothing
		// would be asked without end where much happens.
		if a.Parked != "" && b.Kind != event.AdviseExpired {
			a.Wake()
		}
		a.Told(b.Text)
		if a.Parked == "" && a.Phase() == agent.Ready {
			s.woken = append(s.woken, a)
		}
	}
	for _, name := range b.To {
		if a := s.Agent(name); a != nil {
			tell(a)
		}
	}
	if len(b.To) > 0 {
		return
	}
	for _, a := range s.Agents {
		if a.Name != b.Except {
			tell(a)
		}
	}
}

// domainFacts is what policies are told of the events of a society's own.
func (s *State) domainFacts(e event.Event) *policy.Facts {
	f := &policy.Facts{}
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		f.Ref, f.Author, f.Status = b.Ref, e.Actor, event.Submitted
	case *event.ReviewRequested:
		s.about(f, b.Ref)
		f.To = b.Reviewer
	case *event.ReviewExpired:
		s.about(f, b.Ref)
		f.To = b.Reviewer
	case *event.ReviewSubmitted:
		s.about(f, b.Ref)
	case *event.PublicationDecided:
		s.about(f, b.Ref)
		f.Status = b.Status
	case *event.CitationMade:
		s.about(f, b.Ref)
	case *event.VoteCast:
		s.about(f, b.Ref)
	case *event.CfpIssued:
		f.Ref = b.Task
	case *event.BidSubmitted:
		f.Ref = b.Task
	case *event.ContractAwarded:
		f.Ref, f.To = b.Task, b.To
	case *event.TaskCompleted:
		f.Ref = b.Task
	case *event.TaskFailed:
		f.Ref, f.Text = b.Task, b.Reason
	case *event.ClaimMade:
		f.Text = b.Text
	case *event.ChallengeRaised:
		f.Ref, f.Text = b.Rule, b.Reason
	case *event.AdvisorySent:
		s.about(f, b.Ref)
		f.Text, f.Hidden = b.Text.Text, b.Text.Ref != nil
		if len(b.To) == 1 {
			f.To = b.To[0]
		}
	}
	return f
}

// checkDomain tells whether what the world says of an own tool may come now.
func (s *State) checkDomain(actor string, b event.Body) error {
	switch b := b.(type) {
	case *event.ToolPrepared:
		if err := s.calledBy(actor, b.Call); err != nil {
			return err
		}
		if _, own := s.Own(s.Calls[b.Call].Tool); own == nil || own.Step != PreparedTool {
			return fmt.Errorf("tool.call %d of quest %s is of no tool that is prepared", b.Call, s.Name)
		}
		if u, err := s.Agent(actor).Use(b.Call); err != nil || u.Prepared != nil {
			return fmt.Errorf("tool.call %d of quest %s has been prepared already", b.Call, s.Name)
		}
	case *event.SearchResult:
		return s.answers(b.Call, "search.call")
	case *event.ComputeResult:
		return s.answers(b.Call, "compute.call")
	case *event.ReproductionResult:
		if b.Status != event.Reproduced && b.Status != event.Differs && b.Status != event.NotRun {
			return fmt.Errorf("a reproduction of quest %s came out as %.40q: want %s, %s or %s", s.Name, b.Status, event.Reproduced, event.Differs, event.NotRun)
		}
		return s.answers(b.Call, "reproduction.call")
	}
	return nil
}
