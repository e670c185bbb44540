// Package connector lets people talk with quests from elsewhere: by webhooks, e-mail and chats.
package connector

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Driver speaks with one service, for one connector of config.yaml.
type Driver interface {
	// Run receives until the context ends, or an error that another try may mend. A message is
	// acknowledged to the service only after take has returned nil: then it is durable. One that
	// is not proven is counted, and nothing comes of it.
	Run(ctx context.Context, take func(context.Context, Message) error) error
	// Send delivers. It returns nil when the service has taken it, a *Refused if no other try
	// will help, and any other error if one may.
	Send(ctx context.Context, o Outgoing) error
}

// Message is what somebody said there. Nothing in it is trusted.
type Message struct {
	// ID is the service's own, the same however often it is told of it.
	ID           string
	Conversation string
	// Mark is what a reply names to answer it, empty where the service has no such thing.
	Mark string
	// Sender is who the service says that it is.
	Sender string
	Text   string
	Files  []File
	// Group says that others hear it; Mentioned, that we were named in it.
	Group, Mentioned bool
	// Proven says that the service vouches for the sender. Without it nothing is done.
	Proven bool
	Time   time.Time
	// Signature is what proved it, empty where the service itself vouches; Arrival tells one arrival
	// of it from another, empty if each time that it is told of is another. The same signature that
	// arrives anew was copied by somebody: it is refused, and counted.
	Signature, Arrival string
}

// File is one that came with a message, or goes with one.
type File struct {
	Name, Type string
	Data       []byte
}

// Outgoing is what is said there.
type Outgoing struct {
	Conversation string
	// Key is the same for every try.
	Key string
	// Text is Markdown of an agent, and hostile.
	Text    string
	Options []string
	Files   []File
	// Reply is the Mark of the message that it answers, empty of one that answers none.
	Reply string
	Quest string
	Kind  string
	Time  time.Time
}

// Refused is an error that no other try mends.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

// Later is an error of a service that says when to come again.
type Later struct {
	After time.Duration
	Err   error
}

func (e *Later) Error() string { return fmt.Sprintf("%v (again in %v)", e.Err, e.After) }
func (e *Later) Unwrap() error { return e.Err }

// ErrSignature is one of a message whose signature is forged, or that was said before.
var ErrSignature = errors.New("the signature does not hold")

// ErrReplayed is what take returns for a message that was taken before, and whose signature came
// anew. To the service it is acknowledged: no other try will help.
var ErrReplayed = fmt.Errorf("%w: this very message was here before", ErrSignature)
