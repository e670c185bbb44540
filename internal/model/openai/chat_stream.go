package openai

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatStream puts the chunks of a completion together.
type chatStream struct {
	client   *wire.Client
	provider string
	emit     func(model.Delta)

	room          wire.Room
	text, thought strings.Builder
	details       details
	calls         []*partialCall
	refused       bool
	// What says that the answer is whole: why it stopped, what it cost, [DONE].
	finish     string
	usage      event.Usage
	id         string
	told, done bool
	// err is why the stream is not read on.
	err error
}

// whole reports whether an answer has come to its end. Not every server says
// [DONE], but each says why it stopped; the usage comes after that, if it comes.
func (s *chatStream) whole(noUsage bool) bool {
	return s.finish != "" && (s.done || s.told || noUsage)
}

// maxName is from where on a name that comes in pieces is long enough: no tool's is longer.
const maxName = 256

// perDetail is what a piece of reasoning_details takes besides its texts.
const perDetail = 128

// partialCall is a call whose arguments are still coming.
type partialCall struct {
	index    int64 // -1 if the server does not count
	id, name string
	args     strings.Builder
}

type chunk struct {
	Choices []struct {
		Index  int64      `json:"index"`
		Delta  chunkDelta `json:"delta"`
		Finish string     `json:"finish_reason"`
		// Kimi tells the usage here.
		Usage *chatUsage `json:"usage"`
	} `json:"choices"`
	ID    jsontext.Value `json:"id"`
	Usage *chatUsage     `json:"usage"`
	Error jsontext.Value `json:"error"`
}

type chunkDelta struct {
	// Content is a string, or with Mistral a list of pieces.
	Content          jsontext.Value   `json:"content"`
	Refusal          string           `json:"refusal"`
	Reasoning        string           `json:"reasoning"`
	ReasoningContent string           `json:"reasoning_content"`
	Details          []jsontext.Value `json:"reasoning_details"`
	Calls            []chunkCall      `json:"tool_calls"`
}

type chunkCall struct {
	Index    *int64 `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name string `json:"name"`
		// Arguments is a string, or with some servers the object itself.
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

type chatUsage struct {
	Input   int64 `json:"prompt_tokens"`
	Output  int64 `json:"completion_tokens"`
	InputOf struct {
		Cached int64 `json:"cached_tokens"`
		Writes int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputOf struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// DeepSeek's word for what was cached, and Kimi's.
	Hits   int64 `json:"prompt_cache_hit_tokens"`
	Cached int64 `json:"cached_tokens"`
}

func (u *chatUsage) usage() event.Usage {
	return event.Usage{
		CacheWrites: u.InputOf.Writes, Cached: max(u.InputOf.Cached, u.Hits, u.Cached),
		Input: u.Input, Output: u.Output, Thinking: u.OutputOf.Reasoning,
	}
}

func (s *chatStream) event(_ string, data []byte) error {
	if string(data) == "[DONE]" {
		s.done = true
		return wire.ErrEnough
	}
	s.err = s.chunk(data)
	return s.err
}

func (s *chatStream) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c, lenient); err != nil {
		return s.client.Garbled("%v", err)
	}
	if s.id == "" {
		s.id = wire.Word(c.ID)
	}
	s.count(c.Usage)
	if len(c.Error) > 0 && c.Error.Kind() != 'n' {
		return failed(s.client, problemOf(data), s.usage)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // we asked for one
		}
		if err := s.delta(&choice.Delta); err != nil {
			return err
		}
		s.count(choice.Usage)
		s.finish = cmp.Or(choice.Finish, s.finish)
	}
	return nil
}

func (s *chatStream) count(u *chatUsage) {
	if u != nil {
		s.usage, s.told = u.usage(), true
	}
}

func (s *chatStream) delta(d *chunkDelta) error {
	if err := s.room.Take(s.client, len(d.ReasoningContent), len(d.Reasoning), len(d.Content), len(d.Refusal)); err != nil {
		return err
	}
	s.think(cmp.Or(d.ReasoningContent, d.Reasoning))
	for _, raw := range d.Details {
		if err := s.room.Take(s.client, len(raw), perDetail); err != nil {
			return err
		}
		if err := s.details.add(raw); err != nil {
			return s.client.Garbled("reasoning_details: %v", err)
		}
	}
	if err := s.content(d.Content); err != nil {
		return s.client.Garbled("content: %v", err)
	}
	if d.Refusal != "" {
		s.refused = true
		s.say(d.Refusal)
	}
	for _, c := range d.Calls {
		if err := s.room.Take(s.client, len(c.ID), len(c.Function.Name), len(c.Function.Arguments)); err != nil {
			return err
		}
		if s.continued(c) == nil {
			if err := s.room.Part(s.client); err != nil {
				return err
			}
		}
		if err := s.call(c); err != nil {
			return s.client.Garbled("tool_calls: %v", err)
		}
	}
	return nil
}

func (s *chatStream) say(text string) {
	if text != "" {
		s.text.WriteString(text)
		s.emit(model.Delta{Kind: event.PartText, Text: text})
	}
}

func (s *chatStream) think(text string) {
	if text != "" {
		s.thought.WriteString(text)
		s.emit(model.Delta{Kind: event.PartThinking, Text: text})
	}
}

// piece is what Mistral's content is made of.
type piece struct {
	Type     string  `json:"type"`
	Text     string  `json:"text"`
	Thinking []piece `json:"thinking"`
}

func (s *chatStream) content(raw jsontext.Value) error {
	if raw.Kind() != '[' {
		text, err := textOf(raw)
		s.say(text)
		return err
	}
	var list []piece
	if err := json.Unmarshal(raw, &list, lenient); err != nil {
		return err
	}
	for _, p := range list {
		s.say(p.Text)
		for _, t := range p.Thinking {
			s.think(t.Text)
		}
	}
	return nil
}

// textOf reads a string; nothing and null are none.
func textOf(raw jsontext.Value) (string, error) {
	var text string
	if len(raw) == 0 {
		return "", nil
	}
	if plainly(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	err := json.Unmarshal(raw, &text, lenient)
	return text, err
}

// plainly reports whether a value is a string that stands there as it is: ASCII without escapes.
func plainly(raw jsontext.Value) bool {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return false
	}
	inner := raw[1 : len(raw)-1]
	return plain.Simple(inner) && !bytes.ContainsAny(inner, "\"\\")
}

// call adds a piece of a call to the one that it continues.
func (s *chatStream) call(c chunkCall) error {
	p := s.continued(c)
	if p == nil {
		p = &partialCall{index: -1}
		if c.Index != nil {
			p.index = *c.Index
		}
		s.calls = append(s.calls, p)
	}
	p.id = cmp.Or(p.id, c.ID)
	if name := c.Function.Name; name != p.name && len(p.name) < maxName { // some repeat the name each time
		p.name += name
	}
	if c.Function.Arguments.Kind() == '{' {
		p.args.Write(c.Function.Arguments)
		return nil
	}
	text, err := textOf(c.Function.Arguments)
	p.args.WriteString(text)
	return err
}

// continued finds the call that a piece belongs to: the one at its index, unless
// the piece has another id, since some servers count every call as the first. A
// piece without an index begins a call if it has a new id or a name.
func (s *chatStream) continued(c chunkCall) *partialCall {
	for _, p := range slices.Backward(s.calls) {
		switch {
		case c.ID != "" && p.id == c.ID && (c.Index == nil || p.index == *c.Index):
			return p
		case c.ID != "" && p.id != "" && p.id != c.ID:
		case c.Index != nil && p.index == *c.Index:
			return p
		case c.Index == nil && c.ID == "" && c.Function.Name == "":
			return p
		}
	}
	return nil
}

func (s *chatStream) answer(r *model.Request) (*model.Answer, error) {
	a := &model.Answer{Usage: s.usage}
	opaque := ""
	if own := s.details.String(); own != "" {
		opaque = model.Mark(s.provider, own)
	}
	if s.thought.Len() > 0 || opaque != "" {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartThinking, Text: s.thought.String(), Opaque: opaque})
	}
	if s.text.Len() > 0 {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartText, Text: s.text.String()})
	}
	for _, c := range s.calls {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartToolCall, ID: c.id, Name: c.name, Args: cmp.Or(c.args.String(), "{}")})
	}
	identify(a.Parts, r)
	switch {
	case s.refused, s.finish == "content_filter":
		a.Stop = model.StopRefusal
	case s.finish == "length", s.finish == "model_length":
		a.Stop = model.StopLength
	case s.finish == "error":
		return nil, failed(s.client, problem{Message: "it gives no reason"}, s.usage)
	default: // some say stop beside calls
		a.Stop = stop(a.Parts)
	}
	return a, nil
}
