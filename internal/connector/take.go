package connector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// heard is a message that was heard: to which quest it goes was decided once, when it first came.
type heard struct {
	Quest string     `json:"quest,omitzero"`
	Time  event.Time `json:"time"`
	Done  bool       `json:"done,omitzero"`
	// Signatures are the last that it came with, and Arrival is the first of it, so that the next
	// process knows a copy.
	Signatures []string `json:"signatures,omitempty"`
	Arrival    string   `json:"arrival,omitzero"`
}

// maxSigned is how many signatures of a message are known: who signs anew so often has the secret.
const maxSigned = 8

// replayed reports whether a message that was taken is a copy that somebody made of it. Who says it
// once more with a new signature has the secret, and only repeats itself.
func (h *heard) replayed(m Message) bool {
	return h.Done && slices.Contains(h.Signatures, m.Signature) && (m.Arrival == "" || m.Arrival != h.Arrival)
}

// signed notes the signature of a message, and reports whether it was new.
func (h *heard) signed(m Message) bool {
	if m.Signature == "" || slices.Contains(h.Signatures, m.Signature) {
		return false
	}
	h.Signatures = append(h.Signatures, m.Signature)
	h.Signatures = h.Signatures[max(len(h.Signatures)-maxSigned, 0):]
	return true
}

// take takes a message in. When it returns nil the message is durable, or nothing will ever come
// of it; otherwise the service tells of it again.
//
// The steps are: note that it was heard, and for which quest; say it there; put what is replied
// into the outbox; note that all is done. Each has a key that is made of the message's id, so that
// whoever was killed between two steps, and hears it again, does only what was not done.
func (o *Office) take(ctx context.Context, c *Connector, m Message) error {
	m.Text = strings.TrimSpace(strings.ToValidUTF8(m.Text, "\uFFFD"))
	switch {
	case m.ID == "" || !m.Proven || !fits(m.Sender) || !fits(m.Conversation):
		o.refusals.add(c.Name, 1)
		return nil
	case m.Group && !m.Mentioned:
		return nil // it was said to others
	}
	if code := codeIn(m.Text); code != "" {
		if done, err := o.pair(ctx, c, m, code); err != nil {
			return err
		} else if done {
			return o.done(ctx, c, m)
		}
	}
	right, err := o.Right(ctx, c, m.Sender)
	if err != nil {
		return err
	}
	if right == Nothing {
		o.refusals.add(c.Name, 1) // and told nothing: whoever writes to us learns not even that we are here
		return nil
	}
	h, body, err := o.hear(ctx, c, m)
	if err != nil || h.Done {
		return err
	}
	if err := o.Box.heardLast(ctx, c.Name, m); err != nil {
		return err
	}
	reply, err := o.answer(ctx, c, m, h.Quest, right)
	if err == nil && reply != "" {
		err = o.reply(ctx, c, m, h.Quest, reply)
	}
	if err != nil {
		return err
	}
	return o.noteDone(ctx, c, m, h, body)
}

// done notes that a message was heard, and that nothing more will come of it.
func (o *Office) done(ctx context.Context, c *Connector, m Message) error {
	h, body, err := o.hear(ctx, c, m)
	if err != nil || h.Done {
		return err
	}
	return o.noteDone(ctx, c, m, h, body)
}

func (o *Office) noteDone(ctx context.Context, c *Connector, m Message, h heard, body []byte) error {
	h.Done = true
	_, err := o.Box.put(ctx, kindHeard, name(c.Name, m.ID), h.Time+event.Time(kept.Microseconds()), h, body)
	return err
}

// Right is what a sender may do.
func (o *Office) Right(ctx context.Context, c *Connector, sender string) (Right, error) {
	var p Paired
	if _, err := o.Box.get(ctx, kindPaired, name(c.Name, sender), &p); err != nil {
		return Nothing, err
	}
	return min(max(c.Allow[sender], p.Right), c.Most), nil
}

// hear notes that a message was heard, or finds that it was.
func (o *Office) hear(ctx context.Context, c *Connector, m Message) (h heard, body []byte, err error) {
	key := name(c.Name, m.ID)
	for {
		h = heard{}
		if body, err = o.Box.get(ctx, kindHeard, key, &h); err != nil {
			return h, nil, err
		}
		if body == nil {
			bound, err := o.Box.Bound(ctx, c.Name, m.Conversation)
			if err != nil {
				return h, nil, err
			}
			h = heard{Time: o.Box.Clock(), Arrival: m.Arrival}
			if bound != nil {
				h.Quest = bound.Quest
			}
		} else if h.replayed(m) {
			o.refusals.add(c.Name, 1)
			return h, body, ErrReplayed
		}
		if anew := h.signed(m); body != nil && !anew {
			return h, body, nil
		}
		// What is noted is read again, as whoever changes it next must have read it.
		ok, err := o.Box.put(ctx, kindHeard, key, h.Time+event.Time(kept.Microseconds()), h, body)
		if err != nil {
			return h, nil, err
		}
		if ok {
			body, err = o.Box.get(ctx, kindHeard, key, &h)
			return h, body, err
		}
	}
}

// answer does what a message asks for, and returns what there is to reply.
func (o *Office) answer(ctx context.Context, c *Connector, m Message, quest string, right Right) (string, error) {
	need := o.Quests.Needs(m.Text)
	if len(m.Files) > 0 {
		need = max(need, Talk)
	}
	switch {
	case quest == "":
		return fmt.Sprintf("This conversation is bound to no quest. On the machine that has it: lyceum connector bind %s %s <quest>", c.Name, quoted(m.Conversation)), nil
	case m.Text == "" && len(m.Files) == 0:
		return "", nil
	case need > right:
		return fmt.Sprintf("Not done: that takes the right to %s, and you may %s here.", need, right), nil
	}
	reply, err := o.Quests.Say(ctx, quest, "from "+digest(c, m), c.Name, m)
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return "Not done: " + refused.Reason, nil
	case errors.Is(err, ledger.ErrNoQuest):
		return "Not done: the quest of this conversation is gone.", nil
	}
	return reply, err
}

// digest is what all that comes of a message is known by.
func digest(c *Connector, m Message) string {
	sum := sha256.Sum256([]byte("lyceum message\n" + name(c.Name, m.ID)))
	return hex.EncodeToString(sum[:16])
}

// quoted is a word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// reply puts an answer to a message into the outbox.
func (o *Office) reply(ctx context.Context, c *Connector, m Message, quest, text string) error {
	if !fits(m.Mark) {
		m.Mark = ""
	}
	return o.Box.Put(ctx, Delivery{
		Key: "re-" + digest(c, m), Connector: c.Name, Conversation: m.Conversation, Quest: quest, Kind: "reply",
		Text: event.Shorten(text, maxReply), Reply: m.Mark, Time: o.Box.Clock(),
	})
}

// maxReply is how many bytes of an answer to a command are sent.
const maxReply = 8 << 10

// pair gives a sender who says a code what it is for. Words that only look like one are words.
func (o *Office) pair(ctx context.Context, c *Connector, m Message, code string) (done bool, err error) {
	p, err := o.Box.Redeem(ctx, c.Name, m.Sender, code)
	if err != nil || p == nil {
		return false, err
	}
	text := fmt.Sprintf("You may %s here.", min(p.Right, c.Most))
	if p.Quest != "" {
		if text, err = o.bind(ctx, c, m, p, text); err != nil {
			return false, err
		}
	}
	return true, o.reply(ctx, c, m, p.Quest, text)
}

// bind binds the conversation in which a code was said.
func (o *Office) bind(ctx context.Context, c *Connector, m Message, p *Pairing, text string) (string, error) {
	x, err := o.Box.Bind(ctx, Binding{Connector: c.Name, Conversation: m.Conversation, Quest: p.Quest}, func(quest string) (bool, error) { return o.Quests.Gone(ctx, quest) })
	if errors.Is(err, ErrBound) {
		return text + " The conversation stays bound to another quest.", nil
	}
	if err == nil {
		err = o.tell(ctx, x)
	}
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return text + " " + refused.Reason, nil
	case err != nil:
		return "", err
	}
	return text + fmt.Sprintf(" This conversation is bound to the quest %s: what it says comes here.", p.Quest), nil
}

// refusals counts whom nothing was done for, until the box has it.
type refusals struct {
	mu  sync.Mutex
	new map[string]int64
}

func (r *refusals) add(connector string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.new == nil {
		r.new = map[string]int64{}
	}
	r.new[connector] += n
}

func (r *refusals) take() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.new
	r.new = nil
	return out
}

// Refusal is how many messages of a connector were refused.
type Refusal struct {
	Connector string     `json:"connector"`
	Count     int64      `json:"count"`
	Last      event.Time `json:"last"`
}

// count puts what was refused into the box. A stranger who writes without end costs one note. What
// the box did not take is counted again the next time.
func (o *Office) count(ctx context.Context) (err error) {
	for connector, n := range o.refusals.take() {
		if err == nil {
			err = o.Box.refused(ctx, connector, n)
		}
		if err != nil {
			o.refusals.add(connector, n)
		}
	}
	return err
}

func (b *Box) refused(ctx context.Context, connector string, n int64) error {
	for {
		r := Refusal{Connector: connector}
		body, err := b.get(ctx, kindRefused, connector, &r)
		if err != nil {
			return err
		}
		r.Count += n
		r.Last = b.Clock()
		if ok, err := b.put(ctx, kindRefused, connector, 0, r, body); ok || err != nil {
			return err
		}
	}
}

// Refusals are those of all connectors.
func (b *Box) Refusals(ctx context.Context) ([]Refusal, error) {
	return list[Refusal](ctx, b, kindRefused)
}
