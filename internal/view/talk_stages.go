package view

import (
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Conversation is what was said in a study: the events that say it, the oldest first.
type Conversation struct {
	Said []uint64 `json:"said,omitempty"`
	// Back are messages that were taken back before anybody heard them.
	Back []uint64 `json:"back,omitempty"`
	// Asks is the last word that wants an answer: its question is not said again.
	Asks uint64 `json:"asks,omitzero"`
}

// Anchors are the stages of a study, in order.
var Anchors = []string{"scout", "baseline", "idea", "experiment", "analysis-campaign", "write", "finalize"}

// move takes a study to another stage.
func (t *Talk) move(e event.Event, b *event.AnchorMoved) {
	t.Anchor = b.To
	t.Moves = append(t.Moves, Move{Seq: e.Seq, By: e.Actor, From: b.From, To: b.To, Reason: b.Reason, Because: b.Because, Person: b.By == "person"})
}

// said is what a researcher says to people by a tool.
func (t *Talk) said(e event.Event, b *event.InteractSaid) {
	t.Last = &Saying{e.Seq, e.Actor, b.Kind, b.Text}
}

// conversing adds it to the views of a study.
type conversing struct {
	agents
	Conversation
	Trail
}

func (studies) begin() part { return &conversing{} }

func (c *conversing) take(v *Views, e event.Event, s *quest.State) {
	c.agents.take(v, e, s)
	drawn := len(c.Trail.Things)
	c.Trail.take(e, studyOf(s))
	c.Trail.draw(&v.Canvas, e, studyOf(s), drawn)
	switch b := e.Body.(type) {
	case *event.StudyOrder:
		if b.Action == event.SteerWithdraw {
			c.Back = append(c.Back, b.Message)
		}
		return
	case *event.InteractSaid:
		if c.Asks = 0; b.Reply == "blocking" {
			c.Asks = e.Seq
		}
	case *event.InteractionOpened:
		if c.Asks != 0 && c.Asks+1 == e.Seq {
			return
		}
	case *event.ModelResult:
		if aside(e, s) || !slices.ContainsFunc(b.Parts, func(p event.Part) bool { return p.Kind == event.PartText && p.Text != nil }) {
			return
		}
	case *event.QuestCreated, *event.UserMessage, *event.InteractionAnswered, *event.AnchorMoved, *event.AgentParked, *event.QuestRested, *event.QuestFinished, *event.ReviewBegun, *event.ReviewGiven:
	default:
		return
	}
	c.Said = append(c.Said, e.Seq)
}

// Conversation is that of a study, empty where the quest's society has none.
func (v *Views) Conversation() *Conversation {
	if c, ok := v.society.(*conversing); ok {
		return &c.Conversation
	}
	return &Conversation{}
}

// aside reports whether an agent speaks to nobody: it works beside the sittings, as who reviews a
// paper does.
func aside(e event.Event, s *quest.State) bool {
	return s.HasMail() && (s.Sitting == nil || s.Sitting.Agent != e.Actor)
}
