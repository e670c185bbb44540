// Package model is how Lyceum speaks with language models: one request, one
// answer, whoever the provider is.
//
// A model is part of the world. It is asked once for each model.call of a
// ledger, and what it says comes back as one model.result; nothing it does in
// between is true. So a driver keeps no state that an answer depends on: asked
// again after a crash, it must not need to remember.
package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/event"
)

// Model answers requests. Drivers are safe for use by many agents at once.
type Model interface {
	// Generate returns the answer to r. While it works it hands what has come so
	// far to emit, which may be nil; watchers see it, the ledger does not.
	// It returns soon after ctx ends. A failure is an *Error where the kind is
	// known. Generate must not change r or what it points to.
	Generate(ctx context.Context, r *Request, emit func(Delta)) (*Answer, error)
}

// Request is a conversation that waits for the model's next word.
type Request struct {
	// Quest and Agent say who asks. They are not sent.
	Quest, Agent string
	// Model is the name as the quest gives it, such as script:plan.yaml.
	Model string
	// Turn counts the agent's model calls, from 1.
	Turn     int64
	System   string
	Tools    []Tool
	Messages []Message
	Thinking bool
	// Effort is how much to think, if Thinking is set; "" leaves it to the driver.
	Effort Effort
	// MaxTokens is how many tokens the answer may have; 0 leaves it to the driver.
	MaxTokens int64
	// Once says that no second attempt is made after one that cost something.
	Once bool
	// Pictureless says that no message has a picture, so that nobody need look; false says nothing.
	Pictureless bool
	// Memo is where a driver keeps what it has written of the conversation, for the next request of
	// the same agent; nil keeps nothing. What is sent does not depend on it.
	Memo *Memo
}

// Tool is what a model is told of a tool.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schema is a JSON Schema of the arguments, an object.
	Schema string `json:"schema"`
}

// Role says who spoke.
type Role string

// The roles. Results of tools are the user's words.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one side's word.
type Message struct {
	Role  Role
	Parts []Part
}

// PartToolResult is the kind of a part that answers a tool call, PartImage that
// of a picture; the other kinds are those of event.Part.
const (
	PartToolResult = "tool_result"
	PartImage      = "image"
)

// Part is a piece of a message, with its text in full.
type Part struct {
	Kind string
	// Text is what was said, thought, or put out by a tool.
	Text string
	// ID joins a tool call and its result; Name is the tool's, Args the call's
	// arguments as JSON.
	ID, Name, Args string
	// Opaque is the provider's own, such as a signature. See Mark.
	Opaque string
	// Media and Data are a picture's type, such as image/png, and its bytes.
	Media string
	Data  []byte
	// Pictures came with the result of a tool: parts of kind PartImage.
	Pictures []Part
	// Error marks the result of a tool that failed.
	Error bool
}

// Restart is the kind of a Delta that says: what came so far of this answer is
// void, it begins anew.
const Restart = "restart"

// Retry is the kind of a Delta that tells of trouble: an attempt has failed, and
// another will be made.
const Retry = "retry"

// hurry is the key of what WithHurry adds.
type hurry struct{}

// WithHurry returns a context for a call that is not to be tried again once wanted
// has ended: the quest rests, and nobody waits for more than what is under way.
func WithHurry(ctx, wanted context.Context) context.Context {
	return context.WithValue(ctx, hurry{}, wanted)
}

// Wanted returns the context that WithHurry was given, and ctx itself without one.
func Wanted(ctx context.Context) context.Context {
	if wanted, ok := ctx.Value(hurry{}).(context.Context); ok {
		return wanted
	}
	return ctx
}

// Provided is a model that a provider has, whose failures may be an outage of that.
type Provided interface {
	// Provider is its name, the same for all models that go away together.
	Provider() string
}

// trouble is the key of what WithTrouble adds.
type trouble struct{}

// WithTrouble returns a context for a call that tells when its provider has answered
// nobody for a while: why, and after which pause it tries again. It tells it before each
// pause.
func WithTrouble(ctx context.Context, tell func(why string, pause time.Duration)) context.Context {
	return context.WithValue(ctx, trouble{}, tell)
}

// Troubled tells whoever asked for it by WithTrouble.
func Troubled(ctx context.Context, why string, pause time.Duration) {
	if tell, ok := ctx.Value(trouble{}).(func(string, time.Duration)); ok {
		tell(why, pause)
	}
}

// Delta is a piece of an answer that is still being made.
type Delta struct {
	Kind string
	Text string
}

// Answer is what a model said, whole.
type Answer struct {
	Parts []Part
	Usage event.Usage
	// Stop is why it stopped: StopEnd, StopTools, StopLength or StopRefusal.
	Stop string
	// Wasted is what attempts that failed used besides.
	Wasted event.Usage
	// Estimated says that the provider did not tell all of it: Usage and Wasted are an
	// upper bound.
	Estimated bool
	// Cost in nanodollars, of all attempts. Unpriced says that nobody knows it;
	// otherwise Price is what it was reckoned by.
	Cost     int64
	Unpriced bool
	Price    *event.Price
	// Request is what the provider calls the request by, in its own logs; empty if it says nothing.
	Request string
}

// The reasons to stop.
const (
	StopEnd     = "end"
	StopTools   = "tools"
	StopLength  = "length"
	StopRefusal = "refusal"
)

// Kind says what sort of failure an Error is.
type Kind string

// The kinds of failure. Unavailable and Away are worth trying again as they are;
// ContextTooLong is after the window was cut.
//
// What decides is whose failure it is. A server that cannot be reached, is too busy (429),
// breaks down (5xx), falls silent or sends what nobody can read is Unavailable, and once
// it answers nobody at all, Away: an outage, which is a state of the world. A request that
// it does not take (400), a key that it does not know (401, 403), an account without money
// (402) and a refusal are the request's own.
const (
	ContextTooLong Kind = "context"
	Refused        Kind = "refused"
	Unavailable    Kind = "unavailable"
	Invalid        Kind = "invalid"
	Away           Kind = event.ErrorAway
)

// Error is a failure whose kind is known.
type Error struct {
	Kind Kind
	Text string
	// After is how long the provider asks to wait before the next attempt.
	After time.Duration
	// Usage is what the attempt cost all the same.
	Usage event.Usage
	// Garbled says that the provider did answer, with something that cannot be read. That may be
	// better the next time; it is no outage.
	Garbled bool
}

func (e *Error) Error() string { return fmt.Sprintf("model: %s (%s)", e.Text, e.Kind) }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.Kind == Unavailable || e.Kind == Away }

// KindOf returns the kind of err, Unavailable if it has none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unavailable
}

// Mark makes an opaque part of what a provider sent, so that it goes back to that
// provider alone.
func Mark(provider, payload string) string { return provider + ":" + payload }

// Own returns what a provider sent, if the opaque part is its own.
func Own(provider, opaque string) (string, bool) { return strings.CutPrefix(opaque, provider+":") }
