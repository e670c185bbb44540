package anthropic

import (
	"bytes"

	"lyceum/internal/event"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
)

// counter reads what an answer used while it passes.
type counter struct {
	usage       usage
	told, ended bool
}

// NewCounter returns a wire.Counter of the Messages API.
func NewCounter() wire.Counter { return &counter{} }

// counted is what of an event, or of an answer that is not streamed, tells the usage.
type counted struct {
	Type    string `json:"type"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Delta struct {
		Stop string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// aDelta begins almost every event: the next words of an answer, in which nothing is counted.
var aDelta = []byte(`{"type":"content_block_delta",`)

// Event implements wire.Counter. In a text the words that are looked for have a backslash
// before the quotation mark.
func (c *counter) Event(data []byte) {
	if bytes.HasPrefix(data, aDelta) {
		return
	}
	if !bytes.Contains(data, []byte(`"usage"`)) && !bytes.Contains(data, []byte(`"message_stop"`)) {
		return
	}
	var e counted
	if json.Unmarshal(data, &e, lenient) != nil {
		return
	}
	switch e.Type {
	case "message_start":
		c.usage.update(e.Message.Usage)
	case "message_delta":
		c.usage.update(e.Usage)
		c.ended = c.ended || e.Delta.Stop != ""
		c.told = c.told || e.Usage.Output != nil
	case "message_stop":
		c.ended = true
	}
}

// Whole implements wire.Counter.
func (c *counter) Whole(body []byte) {
	var e counted
	if json.Unmarshal(body, &e, lenient) == nil {
		c.usage.update(e.Usage)
		c.told = e.Usage.Output != nil
	}
	c.ended = true
}

// Usage implements wire.Counter.
func (c *counter) Usage() (event.Usage, bool) { return c.usage.sum(), c.told }

// Ended implements wire.Counter.
func (c *counter) Ended() bool { return c.ended }
