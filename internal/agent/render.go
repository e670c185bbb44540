package agent

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Blobs reads what a text refers to.
type Blobs func(event.Ref) ([]byte, error)

// Rendering is the messages of an agent's window as a model gets them. It
// follows the transcript: what has been rendered once is kept, so that a turn
// costs as much as what is new in it.
type Rendering struct {
	head, first, next int64
	messages          []model.Message
}

// Messages renders what c asks for. The result may share memory with later
// ones; nobody may change it.
func (r *Rendering) Messages(t *Transcript, c *event.ModelCall, blobs Blobs) ([]model.Message, error) {
	if c.Head != t.Head || c.First != t.First || c.Last >= t.End() {
		return nil, fmt.Errorf("the transcript has moved on from messages %d to %d", c.First, c.Last)
	}
	if r.messages == nil || r.head != c.Head || r.first != c.First {
		*r = Rendering{head: c.Head, first: c.First, next: c.First, messages: make([]model.Message, 0, c.Last-c.First+16)}
		if c.Head < c.First {
			if err := r.add(t.at(c.Head), blobs); err != nil {
				return nil, err
			}
		}
	}
	for ; r.next <= c.Last; r.next++ {
		if err := r.add(t.at(r.next), blobs); err != nil {
			return nil, err
		}
	}
	n := len(r.messages)
	return r.messages[:n:n], nil
}

func (r *Rendering) add(m *Message, blobs Blobs) error {
	out := model.Message{Role: m.Role, Parts: make([]model.Part, len(m.Parts))}
	for i, p := range m.Parts {
		out.Parts[i] = model.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Error: p.Error}
		for _, t := range []struct {
			from event.Text
			to   *string
		}{{p.Text, &out.Parts[i].Text}, {p.Args, &out.Parts[i].Args}, {p.Opaque, &out.Parts[i].Opaque}} {
			s, err := Read(t.from, blobs)
			if err != nil {
				return err
			}
			*t.to = s
		}
	}
	r.messages = append(r.messages, out)
	return nil
}

// Read returns what a model is shown of t.
func Read(t event.Text, blobs Blobs) (string, error) {
	if t.Text != "" || t.Ref == nil {
		return t.Text, nil
	}
	data, err := blobs(*t.Ref)
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	return string(data), nil
}
