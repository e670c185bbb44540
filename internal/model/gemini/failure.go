package gemini

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
)

// failure is how the API words that something went wrong.
type failure struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details"`
}

// detail is one of several kinds; those that matter are told apart by their
// fields.
type detail struct {
	RetryDelay string `json:"retryDelay"`
}

// readFailure reads the body of a failed request. What is not in the API's words
// says nothing.
func readFailure(body []byte) *failure {
	var shape struct {
		Error failure `json:"error"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return &failure{}
	}
	return &shape.Error
}

// after is how long the API asks to wait.
func (f *failure) after() time.Duration {
	for _, d := range f.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

// tooLong are the ways to say that a conversation does not fit, all of them an
// INVALID_ARGUMENT like any other.
var tooLong = []string{"exceeds the maximum number of tokens", "request payload size exceeds the limit"}

// kind is what the words say beyond the status, "" if nothing.
func (f *failure) kind() model.Kind {
	text := strings.ToLower(f.Message)
	for _, phrase := range tooLong {
		if strings.Contains(text, phrase) {
			return model.ContextTooLong
		}
	}
	return ""
}

// inStream makes an error of a failure that came after the answer had begun.
func (f *failure) inStream(c *wire.Client) error {
	kind := f.kind()
	if kind == "" {
		kind = model.Unavailable
		if f.Code >= 400 && f.Code < 500 && f.Code != http.StatusTooManyRequests && f.Code != http.StatusRequestTimeout && f.Code != http.StatusConflict {
			kind = model.Invalid
		}
	}
	text := fmt.Sprintf("%s broke its answer off with %d %s: %s", c.Provider, f.Code, f.Status, f.Message)
	return &model.Error{Kind: kind, Text: short(wire.Redact(text, c.Secrets)), After: f.after()}
}

// short is enough of a text that a server made.
func short(text string) string {
	if r := []rune(text); len(r) > 500 {
		return string(r[:500]) + "…"
	}
	return text
}
