package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// sayRoute is where a person's word is brought.
const sayRoute = "POST /api/quests/{quest}/messages"

// maxMessage is what fits into an inbox.
const maxMessage = 8 << 10

// NewMessage is what a person says to the agents of a quest.
type NewMessage struct {
	Text string `json:"text,omitempty"`
	// To is one agent; empty means all.
	To string `json:"to,omitempty"`
	// Attachments go with the text, or stand for it.
	Attachments []NewAttachment `json:"attachments,omitempty"`
	// Source is the way that it came, Sender who said it there, Conversation where; all are
	// empty for what was said here.
	Source       string `json:"source,omitempty"`
	Sender       string `json:"sender,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	// Reply is what it answers: the number of something that an agent said.
	Reply uint64 `json:"reply,omitempty"`
	// Key tells the message from every other to this quest: one that is sent again with it,
	// since its answer was lost, is the same.
	Key string `json:"key,omitempty"`
}

// NewAttachment is a file that goes with a message. What it is, its bytes say.
type NewAttachment struct {
	Name string `json:"name,omitempty"`
	// Data is base64 in JSON.
	Data []byte `json:"data"`
}

// Posted is what became of something that was put into an inbox, or of a command.
type Posted struct {
	// ID is the number in the inbox, 0 of a command that was answered.
	ID int64 `json:"id,omitempty"`
	// Running says that somebody has the quest, and has taken it or takes it soon.
	Running bool `json:"running"`
	// Message is the event that a message has become, 0 if it was not taken yet; Delivery is
	// how far it came.
	Message  uint64 `json:"message,omitempty"`
	Delivery string `json:"delivery,omitempty"`
	// Reply is what there is to say to a command.
	Reply string `json:"reply,omitempty"`
}

// How far a message came.
const (
	inInbox   = "posted"    // nobody has taken it yet
	queued    = "queued"    // it is recorded, and waits to be heard
	delivered = "delivered" // an agent has it
)

// maxOrigin is how many bytes there may be of each word about where a message comes from.
const maxOrigin = 200

// check finds what cannot be in a message, and makes its text one.
func (m *NewMessage) check() error {
	m.Text = strings.ToValidUTF8(strings.TrimSpace(m.Text), "\uFFFD")
	if m.Text == "" && len(m.Attachments) == 0 || len(m.Text) > maxMessage {
		return badParameter("text", "a message has 1 to %d bytes; this one has %d", maxMessage, len(m.Text))
	}
	for _, w := range []struct {
		name string
		text *string
	}{{"source", &m.Source}, {"sender", &m.Sender}, {"conversation", &m.Conversation}, {"key", &m.Key}} {
		*w.text = strings.ToValidUTF8(strings.TrimSpace(*w.text), "\uFFFD")
		if len(*w.text) > maxOrigin {
			return badParameter(w.name, "at most %d bytes; this has %d", maxOrigin, len(*w.text))
		}
	}
	if m.Source == "" && m.Sender+m.Conversation != "" {
		return badParameter("source", "say by which way it came, if somebody else said it, or elsewhere")
	}
	if m.Reply > maxSeq {
		return badParameter("reply", "%d: want the number of an event", m.Reply)
	}
	return nil
}

// attach stores the files of a message.
func (s *Server) attach(ctx context.Context, given []NewAttachment) ([]event.Attachment, error) {
	var files []media.File
	for _, f := range given {
		files = append(files, media.File(f))
	}
	out, err := s.rt.Attach(ctx, files)
	if fault, ok := errors.AsType[*runtime.PlanError](err); ok {
		return nil, badParameter("attachments", "%v", fault)
	}
	return out, err
}

// say puts a person's word into a quest's inbox, or does what a command says.
func (s *Server) say(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var m NewMessage
	if err := decode(r, &m); err != nil {
		return err
	}
	out, err := s.Say(r.Context(), r.PathValue("quest"), m)
	if err != nil {
		return err
	}
	return s.send(w, http.StatusAccepted, out)
}

// Say puts a word of a person's into a quest's inbox, or does what a command says: once, if it has
// a key. It is the way of connectors, which know who may say what.
func (s *Server) Say(ctx context.Context, name string, m NewMessage) (out Posted, err error) {
	if err := m.check(); err != nil {
		return out, err
	}
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return out, err
	}
	unknown, commanded, latest, reply := m.To != "" && b.state.Agent(m.To) == nil, chat.Commanded(b.state), b.state.Seq, b.state.MayReply(m.Reply)
	inbox := b.state.Inbox
	done()
	if unknown {
		return out, badParameter("to", "quest %s has no agent %.80q", name, m.To)
	}
	if m.Reply > latest {
		return out, badParameter("reply", "quest %s has no event %d yet", name, m.Reply)
	}
	if reply != nil {
		return out, badParameter("reply", "%v", reply)
	}
	st, err := s.stateOf(ctx, name)
	if err != nil {
		return out, err
	}
	if commanded && len(m.Attachments) == 0 {
		cmd, words, err := chat.Parse(m.Text)
		if err != nil {
			return out, badParameter("text", "%v", err)
		}
		if cmd != nil {
			return s.command(ctx, &ordered{s: s, name: name, st: st, key: m.Key}, cmd)
		}
		m.Text = words
	}
	said := &event.UserMessage{Text: event.Text{Text: m.Text}, To: m.To, Source: m.Source, Sender: m.Sender, Conversation: m.Conversation, Reply: m.Reply}
	if err := st.check(said); err != nil {
		return out, err // before anything is stored that nobody would refer to
	}
	if said.Attachments, err = s.attach(ctx, m.Attachments); err != nil {
		return out, err
	}
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return out, err
	}
	key := rand.Text()
	if m.Key != "" {
		key = "said " + m.Key
	}
	id, told, err := s.tellOnce(ctx, name, st, key, said)
	if err != nil {
		return out, err
	}
	if m.Key != "" && id <= inbox {
		head.Seq = 0 // it was sent before, and has been taken
	}
	out = Posted{ID: id, Running: told}
	out.Message, out.Delivery, err = s.receipt(ctx, name, head.Seq, id)
	return out, err
}

// Bind tells a quest of a conversation elsewhere that is bound to it: once for each key.
func (s *Server) Bind(ctx context.Context, name, key string, b *event.ConversationBound) error {
	q, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return err
	}
	known := q.state.Bound(b)
	done()
	if known {
		return nil
	}
	st, err := s.stateOf(ctx, name)
	if err == nil {
		_, _, err = s.tellOnce(ctx, name, st, key, b)
	}
	return err
}

// receipt says what has become of the message of a number in the inbox by now; before is the
// last event from before it was posted.
func (s *Server) receipt(ctx context.Context, name string, before uint64, id int64) (message uint64, how string, err error) {
	for e, err := range s.rt.Ledger.Read(ctx, name, before+1) {
		if err != nil {
			return 0, "", err
		}
		if m, ok := e.Body.(*event.UserMessage); ok && m.Inbox == id {
			message = e.Seq
			break
		}
	}
	if message == 0 {
		return 0, inInbox, nil
	}
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return 0, "", err
	}
	defer done()
	if b.Talk.Queued(message) {
		return message, queued, nil
	}
	return message, delivered, nil
}

// withdraw takes back a message that was not delivered.
func (s *Server) withdraw(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	ctx, name := r.Context(), r.PathValue("quest")
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return err
	}
	number, err := strconv.ParseUint(r.PathValue("message"), 10, 53)
	waits, commanded := err == nil && b.Talk.Queued(number), chat.Commanded(b.state)
	done()
	switch {
	case !commanded:
		return conflict("quest %s has no mail: what is said to its agents cannot be taken back", name)
	case !waits:
		return missing("quest %s has no message %.20q that waits: it may have been delivered", name, r.PathValue("message"))
	}
	st, err := s.stateOf(ctx, name)
	if err != nil {
		return err
	}
	order, err := chat.Withdrawal(r.PathValue("message"))
	if err != nil {
		return err
	}
	id, told, err := s.tell(ctx, name, st, order)
	if err != nil {
		return err
	}
	return s.send(w, http.StatusAccepted, Posted{ID: id, Running: told})
}

// command carries out what begins with a slash.
func (s *Server) command(ctx context.Context, q *ordered, c *chat.Command) (Posted, error) {
	text, err := chat.Do(ctx, q, c)
	if _, known := errors.AsType[*problem](err); err != nil && !known && ctx.Err() == nil && !q.looked {
		err = badParameter("text", "%v", err)
	}
	if err != nil {
		return Posted{}, err
	}
	return Posted{ID: q.id, Running: q.told, Reply: text}, nil
}

// ordered is a quest that is given a command.
type ordered struct {
	s    *Server
	name string
	st   *standingOf
	// key tells the command from others, if somebody may give it again.
	key string
	// id and told are what became of an order; looked says that the quest could not be read.
	id     int64
	told   bool
	looked bool
}

// Look implements chat.Quest.
func (q *ordered) Look(ctx context.Context, read func(*quest.State, *view.Views) error) error {
	b, done, err := q.s.shelf.open(ctx, q.name)
	if err != nil {
		q.looked = true
		return err
	}
	defer done()
	return read(b.state, &b.Views)
}

// Text implements chat.Quest.
func (q *ordered) Text(ctx context.Context, t event.Text) (string, error) {
	if t.Ref == nil || t.Text != "" {
		return t.Text, nil
	}
	data, err := q.s.rt.Blob(ctx, *t.Ref)
	return event.Cut(string(data), maxReply), err
}

// maxReply is how much of a text is in the answer to a command.
const maxReply = 64 << 10

// Order implements chat.Quest.
func (q *ordered) Order(ctx context.Context, order event.Body) (text string, err error) {
	key := rand.Text()
	if q.key != "" {
		key = "ordered " + q.key
	}
	if q.id, q.told, err = q.s.tellOnce(ctx, q.name, q.st, key, order); err != nil {
		return "", err
	}
	if !q.told {
		return "Recorded. It counts when the quest runs.", nil
	}
	return fmt.Sprintf("Told %s.", q.name), nil
}

// Resume implements chat.Quest.
func (q *ordered) Resume(ctx context.Context) (text string, err error) {
	if q.told, err = q.s.start(ctx, q.name, q.st, &Control{Action: "resume"}, event.Limits{}); err != nil {
		return "", err
	}
	return q.name + " goes on.", nil
}
