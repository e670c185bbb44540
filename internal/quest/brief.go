package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// The brief is the document of a quest that people can change: what it is about. A new text of it
// is a message, which the agents hear like any other, and counts if nobody has changed the brief
// since its writer read it. The others of the quest's documents follow from what happens.

// BriefFile is what the brief is called in the quest's folder, MaxBrief how many bytes of it a
// person may write.
const (
	BriefFile = "brief.md"
	MaxBrief  = 64 << 10
)

// Briefing is a text of the brief that a person saved.
type Briefing struct {
	Seq    uint64
	Time   event.Time
	Sender string `json:",omitzero"`
	// Base is the hash of the text that it took the place of, Hash its own.
	Base, Hash event.Hash
	Size       int64
	// Text is that of the last one alone: the ledger has the others.
	Text event.Text `json:",omitzero"`
}

// maxBriefings is how many texts of the brief are known, the last ones.
const maxBriefings = 100

// Brief is what the quest is about, as a person last wrote it.
func (s *State) Brief() event.Text {
	if n := len(s.Briefings); n > 0 {
		return s.Briefings[n-1].Text
	}
	return s.Problem
}

// BriefRevision is the hash of the brief.
func (s *State) BriefRevision() event.Hash { return HashOfText(s.Brief()) }

// HadBrief reports whether a text of that hash is the brief, or was.
func (s *State) HadBrief(h event.Hash) bool {
	return h == HashOfText(s.Problem) || slices.ContainsFunc(s.Briefings, func(b Briefing) bool { return b.Hash == h })
}

// SavedBrief is the message that put a text in the place of another, 0 if none did.
func (s *State) SavedBrief(base, text event.Hash) uint64 {
	for _, b := range slices.Backward(s.Briefings) {
		if b.Base == base && b.Hash == text {
			return b.Seq
		}
	}
	return 0
}

// TookBrief reports whether a message became the brief.
func (s *State) TookBrief(message uint64) bool {
	return slices.ContainsFunc(s.Briefings, func(b Briefing) bool { return b.Seq == message })
}

// HashOfText is the hash of a text, wherever it stands.
func HashOfText(t event.Text) event.Hash {
	if t.Ref != nil {
		return t.Ref.Hash
	}
	return event.HashOf([]byte(t.Text))
}

// checkDocument tells whether a message may be a new text of a document. One that is late may: it
// is heard, and does not count.
func (s *State) checkDocument(b *event.UserMessage) error {
	switch d := b.Document; {
	case d == nil:
	case !s.HasMail():
		return fmt.Errorf("the brief of quest %s stands: its society is %s; say in a message what is to be different", s.Name, s.Society())
	case d.Name != BriefFile:
		return fmt.Errorf("%.80q is no document that people write: only %s is", d.Name, BriefFile)
	case b.To != "" || b.Reply != 0 || len(b.Attachments) > 0:
		return fmt.Errorf("a new text of %s goes to nobody alone, answers nothing and has no files", BriefFile)
	case b.Text.Size() == 0 || b.Text.Size() > MaxBrief:
		return fmt.Errorf("%s has 1 to %d bytes; this text has %d", BriefFile, MaxBrief, b.Text.Size())
	}
	return nil
}

// revise takes in a new text of the brief, and reports whether it counts.
func (s *State) revise(e event.Event, b *event.UserMessage) bool {
	if b.Document.Name != BriefFile || b.Document.Base != s.BriefRevision() {
		return false
	}
	if n := len(s.Briefings); n > 0 {
		s.Briefings[n-1].Text = event.Text{}
	}
	s.Briefings = append(s.Briefings, Briefing{
		Seq: e.Seq, Time: e.Time, Sender: b.Sender, Base: b.Document.Base, Hash: HashOfText(b.Text), Size: b.Text.Size(), Text: b.Text,
	})
	if n := len(s.Briefings) - maxBriefings; n > 0 {
		s.Briefings = slices.Delete(s.Briefings, 0, n)
	}
	return true
}
