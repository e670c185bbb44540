package agent

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// What an executor is told. It keeps what was said in its session by itself, so that a prompt
// is what is new. A session that is new is told everything that is still known: the system
// prompt first, then what was said before, the executor's own words marked as such.

// heard is what stands before words of the agent itself, and left where messages are no more.
const (
	heard = "[What you said then:]\n"
	left  = "[What was said here is left out.]"
)

// prompting is the hash of what c tells the executor.
func (a *Agent) prompting(c *event.PromptCall) event.Hash {
	sum := event.HashOf([]byte("lyceum prompt 1"))
	if c.First == 0 {
		sum = link(sum, a.System.Hash)
	}
	for _, m := range a.Transcript.between(c) {
		sum = link(sum, m.Sum)
	}
	return sum
}

// between are the messages that c tells, as far as they are still there.
func (t *Transcript) between(c *event.PromptCall) (out []*Message) {
	if c.First <= t.Head && t.Lead != nil {
		out = append(out, t.Lead)
	}
	for i := max(c.First, t.First); i <= c.Last && i < t.End(); i++ {
		out = append(out, &t.Messages[i-t.First])
	}
	return out
}

// Prompt is the text of a prompt. Pictures are only told of.
func (a *Agent) Prompt(c *event.PromptCall, blobs Blobs) (string, error) {
	t := &a.Transcript
	if c.Last >= t.End() || c.Rendering != a.prompting(c) {
		return "", fmt.Errorf("the transcript has moved on from messages %d to %d", c.First, c.Last)
	}
	var words []string
	if c.First == 0 {
		system, err := Read(event.Text{Ref: &a.System}, blobs)
		if err != nil {
			return "", err
		}
		words = append(words, system)
	}
	for _, m := range t.between(c) {
		text, err := m.spoken(blobs)
		if err != nil {
			return "", err
		}
		words = append(words, text)
		if m == t.Lead && t.Head+1 < t.First {
			words = append(words, left)
		}
	}
	return strings.Join(words, "\n\n"), nil
}

// spoken is a message as one text.
func (m *Message) spoken(blobs Blobs) (string, error) {
	var words []string
	for _, p := range m.Parts {
		text, err := Read(p.Text, blobs)
		if err != nil {
			return "", err
		}
		shown := model.Part{Kind: p.Kind, Text: text}
		rest, _, err := attach(&shown, p.Attached, blobs)
		if err != nil {
			return "", err
		}
		words = append(words, shown.Text)
		for _, r := range rest {
			if r.Kind == event.PartText {
				words = append(words, r.Text)
			}
		}
	}
	text := strings.Join(words, "\n")
	if m.Role == model.Assistant {
		text = heard + text
	}
	return text, nil
}
