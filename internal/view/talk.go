package view

import (
	"slices"

	"lyceum/internal/event"
)

// Talk is where a conversation with a quest stands: what people said that no agent has heard
// yet, what was said to them last, and the stage of a study.
type Talk struct {
	// Mail are messages that wait, the oldest first.
	Mail []Letter
	// Anchor is the stage of a study, empty where there are none; Moves are how it came there.
	Anchor string
	Moves  []Move
	// Sitting is the number of the last one, 0 if there was none; Sits says that it goes on.
	// Skill is what it works by.
	Sitting int64
	Sits    bool
	Skill   string
	// Last is what an agent said last.
	Last *Saying
	// sitter is who works in sittings. Whoever works beside them speaks to nobody.
	sitter string
}

// Letter is a message that waits. To is the agent that it is for, empty for all.
type Letter struct {
	Seq uint64
	To  string
}

// Move is how a study came to a stage.
type Move struct {
	Seq    uint64 `json:"seq"`
	By     string `json:"by"`
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason"`
	// Because are what it rests on.
	Because []string `json:"because,omitempty"`
	// Person says that one has ordered it.
	Person bool `json:"person,omitempty"`
}

// Saying is what an agent said to people. Kind is empty for what it said by the way.
type Saying struct {
	Seq  uint64
	By   string
	Kind string
	Text event.Text
}

// Take adds the next event of the ledger. What an event of one society changes stands beside its words.
func (t *Talk) Take(e event.Event) {
	switch b := e.Body.(type) {
	case *event.UserMessage:
		t.Mail = append(t.Mail, Letter{e.Seq, b.To})
	case *event.ModelCall, *event.PromptCall:
		if t.Sitting == 0 { // who has no sittings hears with its next turn
			t.Mail = slices.DeleteFunc(t.Mail, func(l Letter) bool { return l.To == "" || l.To == e.Actor })
		}
	case *event.MailDelivered:
		t.gone(b.Messages...)
	case *event.MailWithdrawn:
		t.gone(b.Message)
	case *event.StudyOrder:
		if b.Action == event.SteerWithdraw { // nothing is delivered before it is obeyed
			t.gone(b.Message)
		}
	case *event.SittingBegun:
		t.gone(b.Mail...)
		t.sitter = e.Actor
		t.Sitting, t.Sits, t.Skill, t.Anchor = b.Number, true, b.Skill, b.Anchor
	case *event.SittingEnded:
		t.Sits = false
	case *event.ModelResult:
		for _, p := range b.Parts {
			if (t.sitter == "" || t.sitter == e.Actor) && p.Kind == event.PartText && p.Text != nil {
				t.Last = &Saying{Seq: e.Seq, By: e.Actor, Text: *p.Text}
			}
		}
	case *event.QuestFinished:
		t.Last = &Saying{e.Seq, e.Actor, "answer", b.Answer}
	case nil:
	default:
		if talk := vocabulary[b.Type()].talk; talk != nil {
			talk(t, e)
		}
	}
}

// gone takes messages out that wait no longer.
func (t *Talk) gone(messages ...uint64) {
	t.Mail = slices.DeleteFunc(t.Mail, func(l Letter) bool { return slices.Contains(messages, l.Seq) })
}

// Queued reports whether a message waits to be heard.
func (t *Talk) Queued(message uint64) bool {
	return slices.ContainsFunc(t.Mail, func(l Letter) bool { return l.Seq == message })
}
