package agent

import (
	"crypto/sha256"
	"encoding/binary"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// Part is a piece of a message; long texts are references.
type Part struct {
	Kind   string
	ID     string     `json:",omitzero"`
	Name   string     `json:",omitzero"`
	Args   event.Text `json:",omitzero"`
	Opaque event.Text `json:",omitzero"`
	Text   event.Text `json:",omitzero"`
	Error  bool       `json:",omitzero"`
	// Attached are pictures and files that came with a text or a result: their types
	// and where they are, never their bytes.
	Attached []event.Attachment `json:",omitempty"`
}

func partOf(p event.Part) Part {
	out := Part{Kind: p.Kind, ID: p.ID, Name: p.Name}
	for _, t := range []struct {
		from *event.Text
		to   *event.Text
	}{{p.Args, &out.Args}, {p.Opaque, &out.Opaque}, {p.Text, &out.Text}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	return out
}

// Message is one entry of a transcript.
type Message struct {
	Role  model.Role
	Parts []Part
	// Tokens is an estimate; what counts in the end is what the provider says.
	Tokens int64
	// Sum is the hash of role and parts.
	Sum event.Hash
	// Aside says that the rules said it by the way: no work begins with it, and a result
	// before it is still the last thing that happened.
	Aside bool `json:",omitzero"`
}

// Transcript is what an agent and its surroundings have said, numbered from 0.
// Of all messages it holds those from First on, and the message Head, which is
// the user's message that the work in the window began with.
type Transcript struct {
	Head, First int64
	// Lead is the message Head when it is not in Messages.
	Lead *Message `json:",omitzero"`
	// Summary is what the model itself said of the messages before First, shown behind
	// Lead.
	Summary  *Message `json:",omitzero"`
	Messages []Message
	// Size is the estimate for all of these together.
	Size int64

	// Reported is how many tokens the provider counted for everything up to, but
	// not including, message Counted.
	Reported, Counted int64
	// Most is a number that the tokens up to there do not exceed, 0 if no provider has
	// counted yet.
	Most int64 `json:",omitzero"`

	// chain is the hash of the rendering up to message chained-1, for the window
	// and settings in shown. It only saves work: a fold need not have it.
	chain   event.Hash
	chained int64
	shown   setting
}

// setting is what a rendering depends on besides its messages.
type setting struct {
	model         string
	system, tools event.Hash
	thinking      bool
	head, first   int64
	effort        string
	maxTokens     int64
	summary       event.Hash
}

// End returns the number that the next message will have.
func (t *Transcript) End() int64 { return t.First + int64(len(t.Messages)) }

func (t *Transcript) at(i int64) *Message {
	if i == t.Head && t.Lead != nil {
		return t.Lead
	}
	return &t.Messages[i-t.First]
}

func (t *Transcript) lastRole() model.Role {
	if len(t.Messages) == 0 {
		return model.User
	}
	return t.Messages[len(t.Messages)-1].Role
}

func (t *Transcript) add(role model.Role, parts []Part) {
	m := message(role, parts)
	t.Messages = append(t.Messages, m)
	t.Size += m.Tokens
}

// addAside adds a word of the rules that no work begins with.
func (t *Transcript) addAside(text event.Text) {
	t.add(model.User, []Part{{Kind: event.PartText, Text: text}})
	t.Messages[len(t.Messages)-1].Aside = true
}

func message(role model.Role, parts []Part) Message {
	m := Message{Role: role, Parts: parts, Tokens: 4}
	for _, p := range parts {
		m.Tokens += 4 + (p.Text.Len()+p.Args.Len()+p.Opaque.Len()+3)/4
		for _, a := range p.Attached {
			m.Tokens += Weigh(a)
		}
	}
	m.Sum = m.sum()
	return m
}

// Weigh estimates the tokens of a file: what it is said to be, and the picture or the
// beginning of the text.
func Weigh(a event.Attachment) int64 {
	const line = 40
	switch {
	case media.Showable(a.Media, a.Ref.Size):
		return line + media.PictureTokens
	case a.Media == media.Text:
		return line + min(max(a.Ref.Size, 0), media.MaxQuote)/4
	}
	return line
}

// sum hashes what a model is shown of m. References stand for their content.
// Every field is written with its length before it, so that no two messages are
// the same bytes. What is attached is hashed only where something is, so that
// messages of before there were attachments have the sums they had: the byte that
// tells whether a part failed then tells this as well.
func (m *Message) sum() event.Hash {
	b := make([]byte, 0, 1024)
	field := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text := func(t event.Text) {
		field(t.Text)
		if t.Ref == nil {
			b = append(b, 0)
			return
		}
		b = append(append(b, 1), t.Ref.Hash[:]...)
	}
	field(string(m.Role))
	for _, p := range m.Parts {
		field(p.Kind)
		field(p.ID)
		field(p.Name)
		text(p.Args)
		text(p.Opaque)
		text(p.Text)
		mark := byte(0)
		if p.Error {
			mark = 1
		}
		if len(p.Attached) == 0 {
			b = append(b, mark)
			continue
		}
		b = binary.AppendUvarint(append(b, mark|2), uint64(len(p.Attached)))
		for _, a := range p.Attached {
			field(a.Media)
			field(a.Name)
			b = binary.AppendUvarint(append(b, a.Ref.Hash[:]...), uint64(a.Ref.Size))
		}
	}
	return event.HashOf(b)
}

// measured takes the provider's count for everything said so far.
func (t *Transcript) measured(u event.Usage) {
	if u.Input > 0 {
		// A count far above any estimate is not believed either.
		t.Reported, t.Counted, t.Most = min(u.Input+u.Output, 16*t.Size+maxUnseen), t.End(), u.Input+u.Output
	}
}

// maxUnseen is how many tokens a system prompt and tools may have, at most.
const maxUnseen = 1_000_000

// estimate adds up the messages a window holds from number from on.
func (t *Transcript) estimate(head, first, from int64) (sum int64) {
	if head < first && head >= from {
		sum += t.at(head).Tokens
	}
	if from == 0 {
		sum += t.summed()
	}
	for i := max(first, from); i < t.End(); i++ {
		sum += t.at(i).Tokens
	}
	return sum
}

// tokens is the size of the next request: what the provider counted, and an
// estimate of what is new since. Without a count all is estimated; extra is the
// bytes of the system prompt and the tools. A count far below any estimate is
// not believed: a window must not grow without end because a provider miscounts.
func (t *Transcript) tokens(extra int64) int64 {
	if t.Reported == 0 {
		return extra/4 + t.Size
	}
	return max(t.Reported+t.estimate(t.Head, t.First, t.Counted), t.Size/4)
}

// summed is the estimate for the summary alone.
func (t *Transcript) summed() int64 {
	if t.Summary == nil {
		return 0
	}
	return t.Summary.Tokens
}

// moveTo cuts the window to begin at first, led by head, and lets go of the
// rest. The provider's count shrinks in proportion.
func (t *Transcript) moveTo(head, first int64) {
	if head == t.Head && first == t.First {
		return
	}
	size := t.estimate(head, first, 0)
	if t.Reported > 0 {
		t.Most += t.weight(t.Counted) // what is left of it is no more
		t.Reported, t.Counted = scaled(size, t.tokens(0), t.Size), t.End()
	}
	var lead *Message
	if head < first {
		m := *t.at(head)
		lead = &m
	}
	kept := append([]Message(nil), t.Messages[first-t.First:]...)
	t.Head, t.First, t.Lead, t.Messages, t.Size = head, first, lead, kept, size
}

// rendering is the hash of what c shows the model: its settings, then each
// message chained to those before. While the window only grows, a call costs as
// much as what is new.
func (t *Transcript) rendering(c *event.ModelCall) event.Hash {
	if c.Compact != nil { // it stops before the last one did, and ends otherwise
		bare, rest := *c, *t
		bare.Compact, rest.shown = nil, setting{}
		ask := asked(c.Compact)
		return link(rest.rendering(&bare), ask.Sum)
	}
	show := setting{c.Model, c.System, c.Tools, c.Thinking, c.Head, c.First, c.Effort, c.MaxTokens, event.Hash{}}
	if t.Summary != nil {
		show.summary = t.Summary.Sum
	}
	if show != t.shown || t.chained <= c.First {
		t.shown, t.chain, t.chained = show, show.sum(), c.First
		if c.Head < c.First {
			t.chain = link(t.chain, t.at(c.Head).Sum)
		}
		if t.Summary != nil {
			t.chain = link(t.chain, t.Summary.Sum)
		}
	}
	for ; t.chained <= c.Last; t.chained++ {
		t.chain = link(t.chain, t.at(t.chained).Sum)
	}
	return t.chain
}

func (s setting) sum() event.Hash {
	all := []any{"lyceum rendering 1", s.model, s.system, s.tools, s.thinking, s.head, s.first}
	if s.effort != "" || s.maxTokens != 0 {
		all = append(all, s.effort, s.maxTokens)
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic("agent: settings cannot be encoded: " + err.Error())
	}
	return event.HashOf(data)
}

func link(chain, sum event.Hash) event.Hash {
	var both [2 * sha256.Size]byte
	copy(both[:], chain[:])
	copy(both[sha256.Size:], sum[:])
	return event.HashOf(both[:])
}
