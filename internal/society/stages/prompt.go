package stages

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// blockSitting is the last block before the mail: which sitting it is, and what is wanted.
const blockSitting = "sitting"

// Blocks implements quest.Prompter.
func (Society) Blocks(s *quest.State, a *agent.Agent, b *event.SittingBegun) []quest.Block {
	var out []quest.Block
	return append(out, quest.Block{Name: blockSitting, Text: opening(s, b)})
}

// opening says which sitting begins, and why. Its words are others each time, so that they are
// always said.
func opening(s *quest.State, b *event.SittingBegun) string {
	text := "alone"
	switch {
	case len(b.Mail) > 0:
		text = "mail"
	case b.Recovers:
		text = "recovers"
	}
	return quest.Fill(s.Texts[text], "NUMBER", fmt.Sprint(b.Number), "ANCHOR", b.Anchor, "SKILL", b.Skill)
}
