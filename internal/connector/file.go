package connector

import (
	"context"
	"fmt"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// Attached is a file of a delivery. What is in it stands beside the delivery in the box.
type Attached struct {
	Name string `json:"name"`
	Type string `json:"type,omitzero"`
}

// How much a file of a delivery may have, and all of them together.
const (
	MaxFile  = 5 << 20
	MaxFiles = 10 << 20
)

// kindFile is that of notes with what is in a file.
const kindFile = "outfile"

// content is such a note.
type content struct {
	Data []byte `json:"data"`
}

func fileKey(delivery string, n int) string { return delivery + " " + strconv.Itoa(n) }

// attach puts the files of a delivery into the box, before the delivery itself: who finds that finds
// them. They are kept as long as what was sent is.
func (b *Box) attach(ctx context.Context, d *Delivery, files []File) error {
	due := b.Clock() + event.Time(kept.Microseconds())
	for i, f := range files {
		if _, err := b.put(ctx, kindFile, fileKey(d.Key, i), due, content{f.Data}, nil); err != nil {
			return err
		}
		d.Files = append(d.Files, Attached{Name: f.Name, Type: f.Type})
	}
	return nil
}

// files are those of a delivery, and a line for each that is not kept any more.
func (b *Box) files(ctx context.Context, d Delivery) (out []File, gone string, err error) {
	for i, f := range d.Files {
		var c content
		body, err := b.get(ctx, kindFile, fileKey(d.Key, i), &c)
		if err != nil {
			return nil, "", err
		}
		if body == nil {
			gone += fmt.Sprintf("\n\n[the file %s is not kept any more]", f.Name)
			continue
		}
		out = append(out, File{Name: f.Name, Type: f.Type, Data: c.Data})
	}
	return out, gone, nil
}

// forget takes the files of a delivery that was sent out of the box.
func (b *Box) forget(ctx context.Context, d Delivery) error {
	for i := range d.Files {
		var c content
		body, err := b.get(ctx, kindFile, fileKey(d.Key, i), &c)
		if err != nil {
			return err
		}
		if body == nil {
			continue
		}
		if _, err := b.Notes.SwapNote(ctx, ledger.Note{Kind: kindFile, Key: fileKey(d.Key, i)}, body); err != nil {
			return err
		}
	}
	return nil
}

// kindLast is that of notes on what was heard last in a conversation.
const kindLast = "last"

// last is the message that was heard last in a conversation, as a reply names it.
type last struct {
	Mark string `json:"mark"`
}

// Last is what a reply names that answers what was heard last in a conversation, empty if nothing was.
func (b *Box) Last(ctx context.Context, connector, conversation string) (string, error) {
	var l last
	_, err := b.get(ctx, kindLast, name(connector, conversation), &l)
	return l.Mark, err
}

// heardLast notes what was heard last. Whoever is late leaves it as it is.
func (b *Box) heardLast(ctx context.Context, connector string, m Message) error {
	if m.Mark == "" || !fits(m.Mark) {
		return nil
	}
	var old last
	body, err := b.get(ctx, kindLast, name(connector, m.Conversation), &old)
	if err != nil || old.Mark == m.Mark {
		return err
	}
	_, err = b.put(ctx, kindLast, name(connector, m.Conversation), 0, last{m.Mark}, body)
	return err
}
