package runtime

import (
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Stale says that a document was changed since it was read.
type Stale struct {
	Name string
	// Now is the revision that it has.
	Now event.Hash
}

func (e *Stale) Error() string {
	return fmt.Sprintf("%s was changed since it was read: its revision is %s now", e.Name, e.Now)
}

// Brief is the brief that a quest has once it has taken what is in its inbox, and whether it has yet
// to take it: nobody runs the quest, say.
func (r *Runtime) Brief(ctx context.Context, name string, s *quest.State) (text event.Text, waits bool, err error) {
	posted, err := r.briefs(ctx, name, s)
	if n := len(posted); n > 0 {
		return posted[n-1].Text, true, err
	}
	return s.Brief(), false, err
}

// briefs are the texts for the brief in a quest's inbox that will count, in their order.
func (r *Runtime) briefs(ctx context.Context, name string, s *quest.State) (out []*event.UserMessage, err error) {
	if !s.HasMail() {
		return nil, nil
	}
	waiting, err := r.Ledger.Commands(ctx, name, s.Inbox)
	now := s.BriefRevision()
	for _, c := range waiting {
		if m, ok := c.Body.(*event.UserMessage); ok && m.Document != nil && m.Document.Base == now {
			out, now = append(out, m), quest.HashOfText(m.Text)
		}
	}
	return out, err
}

// Revise makes the message that gives the brief of a quest a new text; base is the revision that
// its writer read. What waits in the quest's inbox counts as taken. There is no message where the
// brief says that already, or the same save was made before: the caller's answer was lost, say.
// Two processes that post at once may both get one: which of them counts, the quest decides.
func (r *Runtime) Revise(ctx context.Context, name string, s *quest.State, base event.Hash, text string) (*event.UserMessage, error) {
	said := event.Text{Text: Clean(r.Redact(text))}
	if event.Weight(said.Text) > maxInline {
		said = event.Text{Ref: new(event.RefOf([]byte(said.Text))), Text: said.Text}
	}
	m := &event.UserMessage{Document: &event.Revision{Base: base, Name: quest.BriefFile}, Text: said}
	if err := s.Accepts("person", m); err != nil {
		return nil, err
	}
	posted, err := r.briefs(ctx, name, s)
	if err != nil {
		return nil, err
	}
	now, hash := s.BriefRevision(), quest.HashOfText(said)
	made := s.SavedBrief(base, hash) != 0
	for _, w := range posted {
		now = quest.HashOfText(w.Text)
		made = made || w.Document.Base == base && now == hash
	}
	switch {
	case hash == now || base != now && made:
		return nil, nil
	case base != now:
		return nil, &Stale{quest.BriefFile, now}
	}
	if said.Ref != nil { // an inbox holds no blobs
		if _, err := r.Blobs.Put(ctx, []byte(said.Text)); err != nil {
			return nil, err
		}
		m.Text = event.Text{Ref: said.Ref}
	}
	return m, nil
}
