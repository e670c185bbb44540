package gemini

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chunk is one event of a stream: what the model added, and counts so far.
type chunk struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	ID    jsontext.Value `json:"responseId"`
	Usage counts         `json:"usageMetadata"`
	Error *failure       `json:"error"`
}

// counts are what was used so far.
type counts struct {
	Prompt     int64 `json:"promptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

// add takes the counts of a chunk into a usage. They only grow, and not every chunk has all.
func (c *counts) add(u *event.Usage) {
	u.Input = max(u.Input, c.Prompt)
	u.Cached = max(u.Cached, c.Cached)
	u.Thinking = max(u.Thinking, c.Thoughts)
	u.Output = max(u.Output, c.Candidates+c.Thoughts)
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

// answer is an answer as it comes.
type answer struct {
	client   *wire.Client
	provider string
	emit     func(model.Delta)
	turn     int64
	// taken are the ids of calls that there are.
	taken map[string]bool

	room  wire.Room
	parts []model.Part
	calls int
	// text is that of the last part while that is open to more.
	text strings.Builder
	open bool

	usage           event.Usage
	finish, message string
	request         string
}

// listen returns an answer to r that has nothing yet.
func (m *Model) listen(r *model.Request, emit func(model.Delta)) *answer {
	a := &answer{client: m.client, provider: m.opts.Provider, emit: emit, turn: r.Turn, taken: map[string]bool{}}
	for _, message := range r.Messages {
		for _, p := range message.Parts {
			if p.Kind == event.PartToolCall {
				a.taken[p.ID] = true
			}
		}
	}
	return a
}

// take takes one event in.
func (a *answer) take(_ string, data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return a.client.Garbled("%v", err)
	}
	c.Usage.add(&a.usage)
	a.request = cmp.Or(a.request, wire.Word(c.ID))
	if c.Error != nil {
		return c.Error.inStream(a.client)
	}
	if c.Feedback.BlockReason != "" {
		a.finish = blocked
		a.message = c.Feedback.BlockReason
	}
	for _, one := range c.Candidates {
		if one.Index != 0 {
			continue
		}
		for _, p := range one.Content.Parts {
			if err := a.add(p); err != nil {
				return err
			}
		}
		if one.FinishReason != "" && one.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			a.finish, a.message = one.FinishReason, one.FinishMessage
		}
	}
	return nil
}

// add takes a part in. Text goes on in the last part if that is of the same kind
// and has no signature yet: a signature is the last that comes of a part, maybe
// with no text at all.
func (a *answer) add(p part) error {
	if p.Call != nil {
		return a.addCall(p)
	}
	text := ""
	if p.Text != nil {
		text = *p.Text
	}
	if text == "" && p.Signature == "" {
		return nil
	}
	if err := a.room.Take(a.client, len(text), len(p.Signature)); err != nil {
		return err
	}
	kind := event.PartText
	if p.Thought {
		kind = event.PartThinking
	}
	if !a.open || a.parts[len(a.parts)-1].Kind != kind {
		if err := a.room.Part(a.client); err != nil {
			return err
		}
		a.close()
		a.parts, a.open = append(a.parts, model.Part{Kind: kind}), true
	}
	a.text.WriteString(text)
	if a.emit != nil && text != "" {
		a.emit(model.Delta{Kind: kind, Text: text})
	}
	if p.Signature != "" {
		a.parts[len(a.parts)-1].Opaque = model.Mark(a.provider, p.Signature)
		a.close()
	}
	return nil
}

func (a *answer) close() {
	if a.open {
		a.parts[len(a.parts)-1].Text = a.text.String()
		a.text.Reset()
		a.open = false
	}
}

func (a *answer) addCall(p part) error {
	if p.Call.Name == "" {
		return a.client.Garbled("a function call without a name")
	}
	if err := a.room.Part(a.client); err != nil {
		return err
	}
	if err := a.room.Take(a.client, len(p.Call.ID), len(p.Call.Name), len(p.Call.Args), len(p.Signature)); err != nil {
		return err
	}
	a.close()
	out := model.Part{Kind: event.PartToolCall, ID: a.id(p.Call.ID), Name: p.Call.Name, Args: string(p.Call.Args)}
	if out.Args == "" || out.Args == "null" {
		out.Args = "{}"
	}
	if p.Signature != "" {
		out.Opaque = model.Mark(a.provider, p.Signature)
	}
	a.parts = append(a.parts, out)
	a.calls++
	return nil
}

// maxID is how long an id may be without being cut in an event.
const maxID = 128

// id is the id of the next call: the API's if it gives one that can be told from
// all others, and else one made of the turn and the call's place in it.
func (a *answer) id(given string) string {
	id := given
	for n := 0; id == "" || len(id) > maxID || a.taken[id]; n++ {
		id = fmt.Sprintf("call_%d_%d", a.turn, a.calls)
		if n > 0 {
			id = fmt.Sprintf("call_%d_%d_%d", a.turn, a.calls, n)
		}
	}
	a.taken[id] = true
	return id
}

// blocked is our reason for an answer to a prompt that the API did not let pass.
const blocked = "blocked"

// whole returns the answer once the stream has ended.
func (a *answer) whole() (*model.Answer, error) {
	a.close()
	out := &model.Answer{Parts: a.parts, Usage: a.usage}
	switch a.finish {
	case "":
		return nil, a.failed(model.Unavailable, "ended its answer in the middle")
	case "STOP":
		out.Stop = model.StopEnd
		if a.calls > 0 {
			out.Stop = model.StopTools
		}
	case "MAX_TOKENS":
		out.Stop = model.StopLength
	case blocked, "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		out.Stop = model.StopRefusal
		if len(a.parts) == 0 {
			// An answer without a word would only be asked for again.
			return nil, a.failed(model.Refused, fmt.Sprintf("refuses to answer: %s %s", a.finish, a.message))
		}
	default:
		// Among these are MALFORMED_FUNCTION_CALL and UNEXPECTED_TOOL_CALL: the model
		// tripped over its own words, and mostly does not the next time.
		return nil, a.failed(model.Unavailable, fmt.Sprintf("ended its answer with %s. %s", a.finish, a.message))
	}
	return out, nil
}

func (a *answer) failed(kind model.Kind, what string) error {
	text := strings.TrimSpace(a.client.Provider + " " + what)
	return &model.Error{Kind: kind, Text: short(wire.Redact(text, a.client.Secrets)), Usage: a.usage}
}
