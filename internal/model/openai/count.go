package openai

import (
	"bytes"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// chatCounter reads what a completion used while it passes.
type chatCounter struct {
	usage       event.Usage
	told, ended bool
}

// NewChatCounter returns a wire.Counter of Chat Completions.
func NewChatCounter() wire.Counter { return &chatCounter{} }

// chatCounted is what of a chunk, or of a whole completion, tells the usage.
type chatCounted struct {
	Choices []struct {
		Finish string     `json:"finish_reason"`
		Usage  *chatUsage `json:"usage"`
	} `json:"choices"`
	Usage *chatUsage `json:"usage"`
}

// Event implements wire.Counter. In a text the words that are looked for have a backslash
// before the quotation mark.
func (c *chatCounter) Event(data []byte) {
	switch {
	case string(data) == "[DONE]":
		c.ended = true
		return
	case !bytes.Contains(data, []byte(`"usage":{`)) && !bytes.Contains(data, []byte(`"finish_reason":"`)) && !bytes.Contains(data, []byte(`" :`)) && !bytes.Contains(data, []byte(`": `)):
		return // most chunks; those that are written with spaces are read
	}
	c.read(data)
}

func (c *chatCounter) read(data []byte) {
	var e chatCounted
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	c.count(e.Usage)
	for _, choice := range e.Choices {
		c.count(choice.Usage)
		c.ended = c.ended || choice.Finish != ""
	}
}

func (c *chatCounter) count(u *chatUsage) {
	if u != nil {
		c.usage, c.told = u.usage(), true
	}
}

// Whole implements wire.Counter.
func (c *chatCounter) Whole(body []byte) {
	c.read(body)
	c.ended = true
}

// Usage implements wire.Counter. Some servers tell the usage so far with each chunk: what
// is told before the end is not all.
func (c *chatCounter) Usage() (event.Usage, bool) { return c.usage, c.told && c.ended }

// Ended implements wire.Counter.
func (c *chatCounter) Ended() bool { return c.ended }

// responsesCounter reads what a response used while it passes.
type responsesCounter struct {
	usage       event.Usage
	told, ended bool
}

// NewResponsesCounter returns a wire.Counter of Responses.
func NewResponsesCounter() wire.Counter { return &responsesCounter{} }

// Event implements wire.Counter: the last event alone has the usage.
func (c *responsesCounter) Event(data []byte) {
	head := data[:min(len(data), 4<<10)]
	if !bytes.Contains(head, []byte("response.completed")) && !bytes.Contains(head, []byte("response.incomplete")) && !bytes.Contains(head, []byte("response.failed")) &&
		!bytes.Contains(data, []byte(`"usage"`)) {
		return
	}
	var e struct {
		Type     string         `json:"type"`
		Response jsontext.Value `json:"response"`
	}
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	switch kind := strings.TrimPrefix(e.Type, "response."); kind {
	case "completed", "incomplete", "failed":
		c.Whole(e.Response)
	}
}

// Whole implements wire.Counter.
func (c *responsesCounter) Whole(body []byte) {
	c.ended = true
	var r response
	if json.Unmarshal(body, &r, lenient) == nil && r.Usage.Input+r.Usage.Output > 0 {
		c.usage, c.told = r.usage(), true
	}
}

// Usage implements wire.Counter.
func (c *responsesCounter) Usage() (event.Usage, bool) { return c.usage, c.told }

// Ended implements wire.Counter.
func (c *responsesCounter) Ended() bool { return c.ended }
