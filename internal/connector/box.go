package connector

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/go-json-experiment/json"
)

// Box is what a home keeps of connectors, in its ledger's database: the outbox, which messages
// were heard, which conversations are bound to which quests, who was paired, and codes to pair by.
// All processes of the home share it. Each change is one step that is durable or did not happen.
type Box struct {
	Notes ledger.Notes
	Clock func() event.Time
}

// The kinds of notes.
const (
	kindOutbox  = "outbox"
	kindHeard   = "heard"
	kindBound   = "bound"
	kindRefused = "refused"
	kindPaired  = ledger.Grant + "paired"
	kindCode    = ledger.Grant + "code"
)

// maxListed is how many notes are read at once.
const maxListed = 10_000

// Faults of a person's orders.
var (
	ErrBound   = errors.New("the conversation is bound to another quest")
	ErrNoEntry = errors.New("there is no such delivery")
)

// entry is a delivery as it stands in the box.
type entry struct {
	Delivery
	note ledger.Note
}

// put makes a note of a value, in the place of an old one; nil for none.
func (b *Box) put(ctx context.Context, kind, key string, due event.Time, value any, old []byte) (bool, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return false, err
	}
	return b.Notes.SwapNote(ctx, ledger.Note{Kind: kind, Key: key, Due: due, Body: body}, old)
}

// get reads a note into a value, and returns its body, nil if there is none.
func (b *Box) get(ctx context.Context, kind, key string, value any) ([]byte, error) {
	n, err := b.Notes.Note(ctx, kind, key)
	if err != nil || n.Body == nil {
		return nil, err
	}
	if err := json.Unmarshal(n.Body, value); err != nil {
		return nil, fmt.Errorf("the note %s of %s: %w", key, kind, err)
	}
	return n.Body, nil
}

// name is the key of something of a connector. What a service calls it may be long, or anything.
func name(connector, theirs string) string {
	if len(theirs) > 200 {
		sum := sha256.Sum256([]byte(theirs))
		theirs = "sha256:" + hex.EncodeToString(sum[:])
	}
	return connector + " " + theirs
}

// Put puts a delivery into the outbox, with its files. One that is there already, by its key, stays
// as it is.
func (b *Box) Put(ctx context.Context, d Delivery, files ...File) error {
	now := b.Clock()
	d.State, d.Created = Waiting, now
	if d.Key == "" || d.Connector == "" || d.Conversation == "" {
		return errors.New("a delivery needs a key, a connector and a conversation")
	}
	if err := b.attach(ctx, &d, files); err != nil {
		return err
	}
	_, err := b.put(ctx, kindOutbox, d.Key, now, d, nil)
	return err
}

// entries are deliveries that are due at a time, the earliest first.
func (b *Box) entries(ctx context.Context, due event.Time) (out []entry, err error) {
	notes, err := b.Notes.Notes(ctx, kindOutbox, due, maxListed)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		e := entry{note: n}
		if err := json.Unmarshal(n.Body, &e.Delivery); err != nil {
			return nil, fmt.Errorf("the delivery %s: %w", n.Key, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// waiting are the deliveries that were not sent yet.
func (b *Box) waiting(ctx context.Context) ([]entry, error) {
	all, err := b.entries(ctx, b.Clock()+event.Time((mostLater+time.Hour).Microseconds()))
	return slices.DeleteFunc(all, func(e entry) bool { return e.State != Waiting }), err
}

// move puts a delivery in the place of what it was. Whoever is late leaves it as it is.
func (b *Box) move(ctx context.Context, e entry, d Delivery, due event.Time) error {
	_, err := b.put(ctx, kindOutbox, d.Key, due, d, e.note.Body)
	return err
}

// Deliveries are all that are known, in the order in which they were put, with those of the last
// 30 days that were sent.
func (b *Box) Deliveries(ctx context.Context) (out []Delivery, err error) {
	all, err := b.entries(ctx, never)
	slices.SortFunc(all, func(x, y entry) int { return int(min(max(x.note.Number-y.note.Number, -1), 1)) })
	for _, e := range all {
		out = append(out, e.Delivery)
	}
	return out, err
}

// Retry has a dead letter sent again, or all of them if the key is empty. It returns how many.
func (b *Box) Retry(ctx context.Context, key string) (n int, err error) {
	all, err := b.entries(ctx, never)
	if err != nil {
		return 0, err
	}
	for _, e := range all {
		if e.State != Dead || key != "" && e.Key != key {
			continue
		}
		now := b.Clock()
		if err := b.move(ctx, e, again(e.Delivery, now), now); err != nil {
			return n, err
		}
		n++
	}
	if key != "" && n == 0 {
		return 0, fmt.Errorf("%w %.80q that is dead", ErrNoEntry, key)
	}
	return n, nil
}

// Binding is a conversation that is bound to a quest.
type Binding struct {
	Connector    string     `json:"connector"`
	Conversation string     `json:"conversation"`
	Quest        string     `json:"quest"`
	Primary      bool       `json:"primary,omitzero"`
	Time         event.Time `json:"time"`
	// Nonce tells this binding from others of the same conversation.
	Nonce string `json:"nonce"`
}

// Key is what the order to the quest is known by: a binding is told once, and so is its end.
func (x *Binding) Key(gone bool) string {
	if gone {
		return "unbind " + x.Nonce
	}
	return "bind " + x.Nonce
}

// Bound is the binding of a conversation, nil if it has none.
func (b *Box) Bound(ctx context.Context, connector, conversation string) (*Binding, error) {
	x := new(Binding)
	body, err := b.get(ctx, kindBound, name(connector, conversation), x)
	if body == nil {
		return nil, err
	}
	return x, nil
}

// Bind binds a conversation to a quest, or returns ErrBound. Who is bound to that quest already
// stays so. gone reports whether there is no quest of a name any more: its bindings are void.
func (b *Box) Bind(ctx context.Context, x Binding, gone func(quest string) (bool, error)) (*Binding, error) {
	if x.Conversation == "" || len(x.Conversation) > maxName || len(x.Connector) > maxName {
		return nil, fmt.Errorf("the name of a conversation has 1 to %d bytes", maxName)
	}
	x.Time, x.Nonce = b.Clock(), rand.Text()
	for {
		var old Binding
		body, err := b.get(ctx, kindBound, name(x.Connector, x.Conversation), &old)
		if err != nil {
			return nil, err
		}
		if body != nil {
			void, err := gone(old.Quest)
			switch {
			case err != nil:
				return nil, err
			case !void && old.Quest != x.Quest:
				return nil, fmt.Errorf("%w: %s", ErrBound, old.Quest)
			case !void && old.Primary == x.Primary:
				return &old, nil
			}
		}
		if ok, err := b.put(ctx, kindBound, name(x.Connector, x.Conversation), x.Time, x, body); ok || err != nil {
			return &x, err
		}
	}
}

// Unbind forgets a binding, if it is still that one.
func (b *Box) Unbind(ctx context.Context, x *Binding) error {
	var now Binding
	key := name(x.Connector, x.Conversation)
	body, err := b.get(ctx, kindBound, key, &now)
	if err != nil || body == nil || now.Nonce != x.Nonce {
		return err
	}
	_, err = b.Notes.SwapNote(ctx, ledger.Note{Kind: kindBound, Key: key}, body)
	return err
}

// Bindings are all there are.
func (b *Box) Bindings(ctx context.Context) ([]Binding, error) {
	return list[Binding](ctx, b, kindBound)
}

func list[T any](ctx context.Context, b *Box, kind string) (out []T, err error) {
	notes, err := b.Notes.Notes(ctx, kind, never, maxListed)
	for _, n := range notes {
		var v T
		if err := json.Unmarshal(n.Body, &v); err != nil {
			return nil, fmt.Errorf("the note %s of %s: %w", n.Key, kind, err)
		}
		out = append(out, v)
	}
	return out, err
}

// prune forgets what need not be known any more: what was sent and heard long ago, and codes
// whose time is over.
func (b *Box) prune(ctx context.Context) error {
	for _, kind := range []string{kindHeard, kindCode, kindOutbox, kindFile} {
		notes, err := b.Notes.Notes(ctx, kind, b.Clock(), maxListed)
		if err != nil {
			return err
		}
		for _, n := range notes {
			var d Delivery
			if kind == kindOutbox && (json.Unmarshal(n.Body, &d) != nil || d.State != Sent) {
				continue
			}
			if _, err := b.Notes.SwapNote(ctx, ledger.Note{Kind: kind, Key: n.Key}, n.Body); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxName is how many bytes a sender's or a conversation's name may have.
const maxName = 200

// fits reports whether something can be the name of a sender or a conversation.
func fits(s string) bool { return s != "" && len(s) <= maxName && strings.ToValidUTF8(s, "") == s }
