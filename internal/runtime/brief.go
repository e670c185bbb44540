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
	waiting, err := r.Ledger.Commands(ctx, name, s.Inbox)
	if err != nil {
		return nil, err
	}
	now, hash := s.BriefRevision(), quest.HashOfText(said)
	made := s.SavedBrief(base, hash) != 0
	for _, c := range waiting {
		if w, ok := c.Body.(*event.UserMessage); ok && w.Document != nil && w.Document.Base == now {
			now = quest.HashOfText(w.Text)
			made = made || w.Document.Base == base && now == hash
		}
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
