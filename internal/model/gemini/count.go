package gemini

import (
	"bytes"

	"lyceum/internal/event"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
)

// counter reads what an answer used while it passes.
type counter struct {
	usage event.Usage
	ended bool
}

// NewCounter returns a wire.Counter of generateContent.
func NewCounter() wire.Counter { return &counter{} }

// counted is what of a chunk tells the usage.
type counted struct {
	Candidates []struct {
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		Blocked string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage counts `json:"usageMetadata"`
}

// Event implements wire.Counter. In a text the words that are looked for have a backslash
// before the quotation mark.
func (c *counter) Event(data []byte) {
	if !bytes.Contains(data, []byte(`"usageMetadata"`)) && !bytes.Contains(data, []byte(`"finishReason"`)) && !bytes.Contains(data, []byte(`"blockReason"`)) {
		return
	}
	var e counted
	if json.Unmarshal(data, &e) != nil {
		return
	}
	e.Usage.add(&c.usage)
	c.ended = c.ended || e.Feedback.Blocked != ""
	for _, one := range e.Candidates {
		c.ended = c.ended || one.Finish != "" && one.Finish != "FINISH_REASON_UNSPECIFIED"
	}
}

// Whole implements wire.Counter.
func (c *counter) Whole(body []byte) {
	c.Event(body)
	c.ended = true
}

// Usage implements wire.Counter.
func (c *counter) Usage() (event.Usage, bool) { return c.usage, c.ended && c.usage.Input > 0 }

// Ended implements wire.Counter.
func (c *counter) Ended() bool { return c.ended }
