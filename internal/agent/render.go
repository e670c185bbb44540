package agent

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
)

// Blobs reads what a text refers to.
type Blobs func(event.Ref) ([]byte, error)

// Rendering is the messages of an agent's window as a model gets them. It
// follows the transcript: what has been rendered once is kept, so that a turn
// costs as much as what is new in it. Only the bytes of pictures are not kept: there
// may be much of that, and it is read again for each request.
type Rendering struct {
	head, first, next int64
	messages          []model.Message
	// given is how many of them others have by now, who must not see them change.
	given int
	// pictures are where those in messages are kept, in the order in which they stand.
	pictures []event.Ref
	// Memo is for the driver of the agent's model, which writes most of this only once.
	Memo *model.Memo
}

// Messages renders what c asks for. The result may share memory with later
// ones; nobody may change it.
func (r *Rendering) Messages(t *Transcript, c *event.ModelCall, blobs Blobs) ([]model.Message, error) {
	if c.Head != t.Head || c.First != t.First || c.Last >= t.End() {
		return nil, fmt.Errorf("the transcript has moved on from messages %d to %d", c.First, c.Last)
	}
	if c.Compact != nil {
		bare := *c
		bare.Compact = nil
		once := Rendering{}
		if _, err := once.Messages(t, &bare, blobs); err != nil {
			return nil, err
		}
		ask := asked(c.Compact)
		if err := once.add(&ask, blobs); err != nil {
			return nil, err
		}
		return once.develop(once.messages, blobs)
	}
	if r.messages == nil || r.head != c.Head || r.first != c.First {
		*r = Rendering{Memo: r.Memo, head: c.Head, first: c.First, next: c.First, messages: make([]model.Message, 0, c.Last-c.First+16)}
		if c.Head < c.First {
			if err := r.add(t.at(c.Head), blobs); err != nil {
				return nil, err
			}
		}
		if t.Summary != nil {
			if err := r.add(t.Summary, blobs); err != nil {
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
	r.given = n
	return r.develop(r.messages[:n:n], blobs)
}

// Pictureless reports whether none of the messages has a picture.
func (r *Rendering) Pictureless() bool { return len(r.pictures) == 0 }

func (r *Rendering) add(m *Message, blobs Blobs) error {
	out := model.Message{Role: m.Role, Parts: make([]model.Part, 0, len(m.Parts))}
	var pictures []event.Ref
	for i := range m.Parts { // in place, both: they are large
		p := &m.Parts[i]
		out.Parts = append(out.Parts, model.Part{Kind: p.Kind, ID: p.ID, Name: p.Name, Error: p.Error})
		shown := &out.Parts[len(out.Parts)-1]
		for _, t := range []struct {
			from event.Text
			to   *string
		}{{p.Text, &shown.Text}, {p.Args, &shown.Args}, {p.Opaque, &shown.Opaque}} {
			s, err := Read(t.from, blobs)
			if err != nil {
				return err
			}
			*t.to = s
		}
		rest, refs, err := attach(shown, p.Attached, blobs)
		if err != nil {
			return err
		}
		out.Parts = append(out.Parts, rest...)
		pictures = append(pictures, refs...)
	}
	if n := len(r.messages) - 1; m.Aside && n >= 0 && r.messages[n].Role == m.Role {
		// It is said with the message before it. Renderings that were given out keep theirs.
		out.Parts = slices.Concat(r.messages[n].Parts, out.Parts)
		if n < r.given {
			r.messages, r.given = slices.Clone(r.messages), 0
		}
		r.messages[n] = out
	} else {
		r.messages = append(r.messages, out)
	}
	r.pictures = append(r.pictures, pictures...)
	return nil
}

// attach shows files with the part that they came with: a line about each of them, then
// what is in it. Of a result they are part; behind a text they are parts of their own,
// which attach returns. Pictures have no bytes yet, only places.
func attach(p *model.Part, files []event.Attachment, blobs Blobs) (rest []model.Part, pictures []event.Ref, err error) {
	for _, f := range files {
		line := media.Line(f.Name, f.Media, f.Ref.Size)
		if f.Media == media.Text {
			if line, err = quote(line, f.Ref, blobs); err != nil {
				return nil, nil, err
			}
		}
		picture := model.Part{Kind: model.PartImage, Media: f.Media}
		shown := media.Showable(f.Media, f.Ref.Size)
		if shown {
			pictures = append(pictures, f.Ref)
		}
		if p.Kind == model.PartToolResult {
			p.Text = model.Below(p.Text, line)
			if shown {
				p.Pictures = append(p.Pictures, picture)
			}
			continue
		}
		rest = append(rest, model.Part{Kind: event.PartText, Text: line})
		if shown {
			rest = append(rest, picture)
		}
	}
	return rest, pictures, nil
}

// quote puts the beginning of a text behind the line about it.
func quote(line string, ref event.Ref, blobs Blobs) (string, error) {
	if ref.Size > media.MaxBytes {
		return line, nil // it would be read whole for a few lines, with each request
	}
	data, err := blobs(ref)
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	return line + "\n" + media.Quote(data) + "\n[end of file]", nil
}

// develop puts the bytes into the pictures that are shown. Those that came before are
// only told of: a request has no room for more. The place from which on they are shown
// moves in steps, so that most requests begin like the one before, which providers make
// cheaper.
func (r *Rendering) develop(messages []model.Message, blobs Blobs) ([]model.Message, error) {
	if len(r.pictures) == 0 {
		return messages, nil
	}
	first, i := firstShown(r.pictures), -1
	var failed error
	out := model.EachPicture(messages, func(p *model.Part) string {
		if i++; i < first {
			return "(This picture came long ago and is no longer shown.)"
		}
		if failed != nil {
			return model.Unseen
		}
		data, err := blobs(r.pictures[i])
		if err != nil {
			failed = fmt.Errorf("read picture: %w", err)
			return model.Unseen
		}
		// What a ledger says that came from elsewhere is not believed either.
		if media.Sniff(data) != p.Media {
			return model.Unseen
		}
		p.Data = data
		return ""
	})
	return out, failed
}

// firstShown is the number of the first picture that is shown.
func firstShown(pictures []event.Ref) int {
	const step = media.MaxShown / 2
	var size int64
	for _, p := range pictures {
		size += p.Size
	}
	first := 0
	for size > media.MaxShownBytes || len(pictures)-first > media.MaxShown {
		n := 1
		if len(pictures)-first > step {
			n = step
		}
		for _, p := range pictures[first : first+n] {
			size -= p.Size
		}
		first += n
	}
	return first
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

// Question is what c asks, if that is one question and nothing else: a text without files, no
// answer before it, no tool's result.
func (t *Transcript) Question(c *event.ModelCall) (q string, ok bool) {
	if c.Compact != nil || t.Summary != nil || c.First != c.Last || c.Head != c.First || c.First < t.First || c.First >= t.End() {
		return "", false
	}
	m := t.at(c.First)
	if m.Role != model.User || m.Aside || len(m.Parts) != 1 || m.Parts[0].Kind != event.PartText || len(m.Parts[0].Attached) > 0 || m.Parts[0].Text.Ref != nil {
		return "", false
	}
	return m.Parts[0].Text.Text, m.Parts[0].Text.Text != ""
}

// Renders is the hash of what c shows a model if it asks this question and nothing else.
func Renders(c *event.ModelCall, question string) event.Hash {
	show := setting{c.Model, c.System, c.Tools, c.Thinking, c.Head, c.First, c.Effort, c.MaxTokens, event.Hash{}}
	m := message(model.User, []Part{{Kind: event.PartText, Text: event.Text{Text: question}}})
	return link(show.sum(), m.Sum)
}

// Shows reports whether what t shows a model for c, message by message, comes to the hash that c
// has.
func (t *Transcript) Shows(c *event.ModelCall) bool {
	if c.Head != t.Head || c.First != t.First || c.Last >= t.End() {
		return false
	}
	again := *t
	again.shown, again.chained = setting{}, 0
	return again.rendering(c) == c.Rendering
}
