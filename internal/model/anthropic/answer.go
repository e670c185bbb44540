package anthropic

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads what servers write, which is not always quite JSON.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// streamed is an event, with the fields of every type.
type streamed struct {
	Message struct {
		ID    jsontext.Value `json:"id"`
		Usage usage          `json:"usage"`
	} `json:"message"`
	Index   int `json:"index"`
	Content struct {
		Type      string         `json:"type"`
		Text      string         `json:"text"`
		Thinking  string         `json:"thinking"`
		Signature string         `json:"signature"`
		Data      string         `json:"data"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Input     jsontext.Value `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage is what the API tells: fresh input, cached and written apart. It tells it
// more than once; what is told later is the truth.
type usage struct {
	Input   *int64 `json:"input_tokens"`
	Cached  *int64 `json:"cache_read_input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Output  *int64 `json:"output_tokens"`
	Details struct {
		Thinking *int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) update(now usage) {
	for _, x := range []struct{ old, now **int64 }{
		{&u.Input, &now.Input}, {&u.Cached, &now.Cached}, {&u.Written, &now.Written}, {&u.Output, &now.Output}, {&u.Details.Thinking, &now.Details.Thinking},
	} {
		if *x.now != nil {
			*x.old = *x.now
		}
	}
}

// sum is the usage as a ledger has it.
func (u *usage) sum() event.Usage {
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return min(max(*p, 0), 1<<50)
	}
	out := event.Usage{Cached: n(u.Cached), CacheWrites: n(u.Written), Output: n(u.Output)}
	out.Input = n(u.Input) + out.Cached + out.CacheWrites
	out.Thinking = min(n(u.Details.Thinking), out.Output)
	return out
}

// answer is one that is being made.
type answer struct {
	model  *Model
	emit   func(model.Delta)
	blocks []*made
	room   wire.Room
	usage  usage
	stop   string
	id     string
	begun  bool
	// stopped says that nothing is missing.
	stopped bool
}

// made is a block so far.
type made struct {
	kind, id, name  string
	text, signature strings.Builder
	// input is what the block began with.
	input jsontext.Value
	ended bool
}

// event takes what the server sent. Types it does not know are from the future and
// mean nothing.
func (a *answer) event(_ string, data []byte) error {
	var kind struct {
		Type string `json:"type"`
	}
	c := a.model.client
	if err := json.Unmarshal(data, &kind, lenient); err != nil {
		return c.Garbled("%v", err)
	}
	switch kind.Type {
	case "error":
		return a.failed(data)
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
	default:
		return nil
	}
	var e streamed
	if err := json.Unmarshal(data, &e, lenient); err != nil {
		return c.Garbled("in %s: %v", kind.Type, err)
	}
	if a.begun == (kind.Type == "message_start") {
		return c.Garbled("%s out of place", kind.Type)
	}
	switch kind.Type {
	case "message_start":
		a.begun, a.id = true, wire.Word(e.Message.ID)
		a.usage.update(e.Message.Usage)
	case "content_block_start":
		return a.start(&e)
	case "content_block_delta":
		return a.delta(&e)
	case "content_block_stop":
		b, err := a.open(e.Index)
		if err != nil {
			return err
		}
		b.ended = true
	case "message_delta":
		a.usage.update(e.Usage)
		if e.Delta.Stop != "" {
			a.stop = e.Delta.Stop
		}
	case "message_stop":
		return a.end()
	}
	return nil
}

func (a *answer) failed(data []byte) error {
	var f failure
	if err := json.Unmarshal(data, &f, lenient); err != nil {
		return a.model.client.Garbled("in an error: %v", err)
	}
	c := a.model.client
	return &model.Error{Kind: f.kind(), Text: wire.Redact(c.Provider+" broke off: "+f.Error.Type+": "+f.Error.Message, c.Secrets)}
}

// open returns a block that has begun and not ended.
func (a *answer) open(index int) (*made, error) {
	if index < 0 || index >= len(a.blocks) || a.blocks[index].ended {
		return nil, a.model.client.Garbled("more of block %d, which is not there", index)
	}
	return a.blocks[index], nil
}

func (a *answer) start(e *streamed) error {
	if e.Index != len(a.blocks) {
		return a.model.client.Garbled("block %d, where block %d comes next", e.Index, len(a.blocks))
	}
	c := &e.Content
	if err := a.room.Part(a.model.client); err != nil {
		return err
	}
	if err := a.room.Take(a.model.client, len(c.Type), len(c.ID), len(c.Name), len(c.Input), len(c.Text), len(c.Thinking), len(c.Signature), len(c.Data)); err != nil {
		return err
	}
	b := &made{kind: c.Type, id: c.ID, name: c.Name, input: c.Input}
	a.blocks = append(a.blocks, b)
	switch b.kind {
	case typeText:
		a.say(b, event.PartText, e.Content.Text)
	case typeThinking:
		a.say(b, event.PartThinking, e.Content.Thinking)
		b.signature.WriteString(e.Content.Signature)
	case typeRedacted:
		b.signature.WriteString(redacted + e.Content.Data)
	}
	return nil
}

func (a *answer) delta(e *streamed) error {
	b, err := a.open(e.Index)
	if err != nil {
		return err
	}
	d := &e.Delta
	if err := a.room.Take(a.model.client, len(d.Text), len(d.Thinking), len(d.Signature), len(d.JSON)); err != nil {
		return err
	}
	switch {
	case d.Type == "text_delta" && b.kind == typeText:
		a.say(b, event.PartText, d.Text)
	case d.Type == "thinking_delta" && b.kind == typeThinking:
		a.say(b, event.PartThinking, d.Thinking)
	case d.Type == "signature_delta" && b.kind == typeThinking:
		b.signature.WriteString(d.Signature)
	case d.Type == "input_json_delta" && b.kind == typeCall:
		b.text.WriteString(d.JSON)
	}
	return nil
}

func (a *answer) say(b *made, kind, text string) {
	b.text.WriteString(text)
	if a.emit != nil && text != "" {
		a.emit(model.Delta{Kind: kind, Text: text})
	}
}

func (a *answer) end() error {
	for i, b := range a.blocks {
		if !b.ended {
			return a.model.client.Garbled("an end before that of block %d", i)
		}
	}
	if a.stop == "" {
		return a.model.client.Garbled("an end without a reason")
	}
	a.stopped = true
	return wire.ErrEnough
}

// whole is the answer once it has come.
func (a *answer) whole() *model.Answer {
	out := &model.Answer{Usage: a.usage.sum()}
	calls := false
	for _, b := range a.blocks {
		text, opaque := b.text.String(), model.Mark(a.model.opts.Provider, b.signature.String())
		switch {
		case b.kind == typeText && text != "":
			out.Parts = append(out.Parts, model.Part{Kind: event.PartText, Text: text})
		case b.kind == typeThinking && (text != "" || b.signature.Len() > 0), b.kind == typeRedacted:
			out.Parts = append(out.Parts, model.Part{Kind: event.PartThinking, Text: text, Opaque: opaque})
		case b.kind == typeCall:
			calls = true
			out.Parts = append(out.Parts, model.Part{Kind: event.PartToolCall, ID: b.id, Name: b.name, Args: b.args()})
		}
	}
	out.Stop = reason(a.stop, calls)
	return out
}

// args are what the model wrote, even where it is no JSON: whoever runs the tool
// tells it so.
func (b *made) args() string {
	switch {
	case strings.TrimSpace(b.text.String()) != "":
		return b.text.String()
	case b.input.Kind() == '{':
		return string(b.input)
	}
	return "{}"
}

// reason says why the model stopped. Those that are not known yet are taken by what
// was said.
func reason(stop string, calls bool) string {
	switch stop {
	case "max_tokens", "model_context_window_exceeded":
		return model.StopLength
	case "refusal":
		return model.StopRefusal
	}
	if calls {
		return model.StopTools
	}
	return model.StopEnd
}
