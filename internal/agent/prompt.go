package agent

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/media"
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

// Prompt is the text of a prompt, and the pictures that go with it, in the order in which the
// text names them. most is how many bytes all of it may take, the pictures as base64: the last
// ones are shown. Without it there are none. Of each that is not shown the text says so.
func (a *Agent) Prompt(c *event.PromptCall, most int64, blobs Blobs) (text string, pictures []model.Part, err error) {
	if c.Last >= a.Transcript.End() || c.Rendering != a.prompting(c) {
		return "", nil, fmt.Errorf("the transcript has moved on from messages %d to %d", c.First, c.Last)
	}
	var all []event.Ref
	text, err = a.words(c, blobs, func(_ string, ref event.Ref) (bool, error) {
		all = append(all, ref)
		return false, nil
	})
	if err != nil || most <= 0 || len(all) == 0 {
		return text, nil, err
	}
	first, n := lastFit(all, most-2*int64(len(text))), -1
	text, err = a.words(c, blobs, func(kind string, ref event.Ref) (bool, error) {
		if n++; n < first {
			return false, nil
		}
		data, err := blobs(ref)
		if err != nil {
			return false, fmt.Errorf("read picture: %w", err)
		}
		// What a ledger says that came from elsewhere is not believed either.
		if media.Sniff(data) != kind {
			return false, nil
		}
		pictures = append(pictures, model.Part{Kind: model.PartImage, Media: kind, Data: data})
		return true, nil
	})
	return text, pictures, err
}

// lastFit is the number of the first picture from which on all fit into so many bytes.
func lastFit(pictures []event.Ref, room int64) int {
	first := len(pictures)
	for first > 0 && len(pictures)-first < media.MaxShown {
		const around = 200 // what stands beside a picture
		if room -= pictures[first-1].Size/3*4 + around; room < 0 {
			break
		}
		first--
	}
	return first
}

// words are the text of a prompt. show is asked of each picture whether it goes along.
func (a *Agent) words(c *event.PromptCall, blobs Blobs, show func(kind string, ref event.Ref) (bool, error)) (string, error) {
	t := &a.Transcript
	var words []string
	if c.First == 0 {
		system, err := Read(event.Text{Ref: &a.System}, blobs)
		if err != nil {
			return "", err
		}
		words = append(words, system)
	}
	for _, m := range t.between(c) {
		text, err := m.spoken(blobs, show)
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
func (m *Message) spoken(blobs Blobs, show func(kind string, ref event.Ref) (bool, error)) (string, error) {
	var words []string
	for _, p := range m.Parts {
		text, err := Read(p.Text, blobs)
		if err != nil {
			return "", err
		}
		shown := model.Part{Kind: p.Kind, Text: text}
		rest, refs, err := attach(&shown, p.Attached, blobs)
		if err != nil {
			return "", err
		}
		words = append(words, shown.Text)
		for _, r := range rest {
			if r.Kind == event.PartText {
				words = append(words, r.Text)
				continue
			}
			seen, err := show(r.Media, refs[0])
			if err != nil {
				return "", err
			}
			if refs = refs[1:]; !seen {
				words = append(words, model.Unseen)
			}
		}
	}
	text := strings.Join(words, "\n")
	if m.Role == model.Assistant {
		text = heard + text
	}
	return text, nil
}
