package study

import "lyceum/internal/event"

// MaxPrompt is how many bytes the blocks of a prompt have at most.
const MaxPrompt = 24 << 10

// The blocks of a prompt, in their order.
const (
	BlockSystem      = "system"
	BlockContext     = "context"
	BlockSurface     = "surface"
	BlockSkills      = "skills"
	BlockFiles       = "files"
	BlockRecent      = "recent"
	BlockStyle       = "style"
	BlockMemory      = "memory"
	BlockMessages    = "messages"
	BlockAttachments = "attachments"
	BlockMail        = "mail"
)

// Facts are what a prompt is made of besides the study itself: plain values, which whoever
// knows the quest fills in.
type Facts struct {
	// System is the pinned system prompt, which stands before the window.
	System event.Ref
	// Context are names with values, Surface how the people are reached, in their order.
	Context, Surface []Pair
	Skills           []SkillLine
	// Files are the quest's own, by path, and Recent lines on artifacts, runs and branches.
	Files, Recent []string
	// Style is how to write; the memory, messages and cards are the study's.
	Style string
	// Mail are the letters that the sitting begins with, the oldest first.
	Mail []Letter
}

// Pair is a name with its value.
type Pair struct{ Name, Value string }

// SkillLine is a skill as it is listed: never pasted.
type SkillLine struct{ Name, Description, Path string }

// Letter is a message that waits.
type Letter struct {
	Seq         uint64
	Text        event.Text
	Attachments []event.Attachment `json:",omitempty"`
	Sender      string             `json:",omitzero"`
	Source      string             `json:",omitzero"`
	// Conversation is where it was said, Reply what it answers.
	Conversation string `json:",omitzero"`
	Reply        uint64 `json:",omitzero"`
	Time         event.Time
}

// Block is a part of a prompt. Of the system prompt the text is empty: it is pinned.
type Block struct {
	Name, Text string
	Hash       event.Hash
	Size       int64
}

// Prompt is what a researcher is told at the beginning of a sitting. The letters follow it.
type Prompt struct {
	Blocks []Block
	// Cut says what was left out or shortened.
	Cut []string
}

// Blocks are what a sitting of that skill begins with, in their order, and what there was no
// room for. It is a function of the study and the facts alone.
func (s *Study) Blocks(skill string, f *Facts) (p Prompt) {
	return p
}

// Said are the blocks as sitting.begun lists them: in a fresh window all are said, in another
// one those that changed.
func (s *Study) Said(p *Prompt, fresh bool) (out []event.SittingBlock) {
	known := map[string]event.Hash{}
	if s.Sitting != nil && !fresh {
		for _, b := range s.Sitting.Blocks {
			known[b.Name] = b.Hash
		}
	}
	for _, b := range p.Blocks {
		out = append(out, event.SittingBlock{Name: b.Name, Hash: b.Hash, Size: b.Size, Said: b.Name != BlockSystem && known[b.Name] != b.Hash})
	}
	return out
}
