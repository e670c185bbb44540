// Package anthropic speaks the Messages API of Anthropic, and of the servers that
// have taken it over.
//
// The API keeps nothing: each request holds the whole conversation, of which only what is new
// is written anew. What costs is
// kept low by cache points, which move with the conversation, so that a turn pays
// in full only for what is new. A thought goes back with its signature, to the
// provider that signed it and to no other.
//
// The API refuses conversations that are not quite in order: a message without
// content, a call without its result, an id it does not like. An agent could never
// take such a thing back, so it is mended on the way out, in the same way each time.
//
// An answer is whole, or it is an error. Pieces are only shown.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
)

// Thinking is a way to ask for thoughts.
type Thinking string

// The ways to think. Models before Claude 4.6 need a budget, those after it refuse
// one.
const (
	ByVersion Thinking = ""
	Adaptive  Thinking = "adaptive"
	Budget    Thinking = "budget"
)

// Options says what a server is like. The zero value suits Anthropic's own.
type Options struct {
	// Provider is the mark of opaque parts; "" means anthropic.
	Provider string
	// MaxTokens is how many tokens an answer may have, thoughts included, where the
	// request does not say; 0 means 16,000.
	MaxTokens int64
	// Thinking is how thoughts are asked for; the version in the model's name
	// decides by default.
	Thinking Thinking
	// ThinkingBudget is how many of these tokens may be thoughts, where a budget is
	// given; 0 means half of them. It is never more.
	ThinkingBudget int64
	// Effort is how hard to think, such as low or high; "" leaves it to the server.
	Effort string
}

// Model asks a server.
type Model struct {
	client *wire.Client
	opts   Options
}

var _ model.Model = (*Model)(nil)

// New returns a driver that speaks through c, whose base is such as
// https://api.anthropic.com and whose header has the key as X-Api-Key. What a
// failure means, the driver knows itself: c.Classify is not asked.
func New(c *wire.Client, opts Options) *Model {
	if opts.Provider == "" {
		opts.Provider = "anthropic"
	}
	if opts.MaxTokens == 0 {
		opts.MaxTokens = 16_000
	}
	own := *c
	if own.Header = c.Header.Clone(); own.Header == nil {
		own.Header = http.Header{}
	}
	if own.Header.Get("Anthropic-Version") == "" {
		own.Header.Set("Anthropic-Version", "2023-06-01")
	}
	own.Classify = classify
	return &Model{client: &own, opts: opts}
}

// Generate asks once.
func (m *Model) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	a := &answer{model: m, emit: emit}
	body, err := m.write(r)
	if err != nil {
		return nil, err
	}
	request, err := m.client.Stream(ctx, "/v1/messages", body, a.event)
	if err == nil && !a.stopped {
		err = m.client.Cut()
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		e.Usage = a.usage.sum()
	}
	if err != nil {
		return nil, err
	}
	out := a.whole()
	out.Request = cmp.Or(request, a.id)
	return out, nil
}

var version = regexp.MustCompile(`claude\D*(\d{1,3})(?:[-.](\d{1,3}))?(?:\D|$)`)

// adapts reports whether a model decides by itself how much to think: all do from
// 4.6 on. The number of a version is before or after the name of its family.
func (m *Model) adapts(name string) bool {
	if m.opts.Thinking != ByVersion {
		return m.opts.Thinking == Adaptive
	}
	v := version.FindStringSubmatch(name)
	if v == nil {
		return false
	}
	major, _ := strconv.Atoi(v[1]) // at most three digits, or none
	minor, _ := strconv.Atoi(v[2])
	return major > 4 || major == 4 && minor >= 6
}

// failure is how the API says what went wrong.
type failure struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// classify knows the failures that look like bad requests and are not.
func classify(_ int, body []byte) model.Kind {
	var f failure
	if json.Unmarshal(body, &f, lenient) != nil {
		return ""
	}
	if f.tooLong() {
		return model.ContextTooLong
	}
	return ""
}

func (f *failure) tooLong() bool {
	if f.Error.Type == "request_too_large" {
		return true
	}
	for _, words := range []string{"prompt is too long", "exceed context limit", "exceeds the context window", "input is too long"} {
		if strings.Contains(strings.ToLower(f.Error.Message), words) {
			return true
		}
	}
	return false
}

// kind is that of a failure in the middle of a stream, where there is no status.
func (f *failure) kind() model.Kind {
	if f.tooLong() {
		return model.ContextTooLong
	}
	switch f.Error.Type {
	case "invalid_request_error", "authentication_error", "permission_error", "not_found_error", "billing_error":
		return model.Invalid
	}
	return model.Unavailable
}
