// Package modeltest holds every driver of a model to the same promises, against a
// local server that speaks the provider's wire format.
//
// A Wire is that format, from the server's side: it takes requests apart, as
// strictly as the provider does, and writes answers as the provider streams them.
// Exercise plays the good answers and every kind of trouble through it, and looks
// at what the driver makes of them.
package modeltest

import (
	"net/http"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Wire is a provider's format, from the server's side.
type Wire interface {
	// Read takes a request apart. It refuses one that the provider would refuse:
	// roles out of order, a result without its call, a signature that was changed,
	// a field that does not exist, no key.
	Read(r *http.Request, body []byte) (*Seen, error)
	// Answer streams a reply, each part in several pieces where the format has
	// pieces. It stops when send returns false.
	Answer(send Send, header http.Header, r Reply)
	// Refuse writes a failure as the provider words it.
	Refuse(w http.ResponseWriter, f Failure)
}

// Send writes one server-sent event and flushes it. It returns false when the
// connection is to be given up.
type Send func(name, data string) bool

// Seen is what a server understood of a request.
type Seen struct {
	Key, Model, System string
	Tools              []model.Tool
	// Messages are as the driver was given them, as far as the format can say it.
	// The opaque parts are without their provider's mark.
	Messages  []model.Message
	Thinking  bool
	MaxTokens int64
	// CachedMessages is how many messages are before the last cache point that the
	// request sets itself; -1 if it sets none.
	CachedMessages int
	// CachePoints says, for a format where one can tell, how many blocks are before
	// each cache point of the request. The blocks are the tools, the system prompt
	// and the parts of the messages, in this order.
	CachePoints []int
}

// Reply is what the server answers. Opaque parts are without a mark.
type Reply struct {
	Parts []model.Part
	Usage event.Usage
	Stop  string
}

// Failure is a way to fail.
type Failure string

// The failures that a server can word.
const (
	Overloaded     Failure = "overloaded"   // 529 or 503
	RateLimited    Failure = "rate limited" // 429 with Retry-After: 7
	ServerError    Failure = "server error" // 500
	ContextTooLong Failure = "context too long"
	BadKey         Failure = "bad key"
	NoModel        Failure = "no such model"
	BadRequest     Failure = "bad request"
	InStream       Failure = "in the stream" // 200, then an error event
)

// Driver is what is exercised.
type Driver struct {
	Wire Wire
	// Open returns the driver for a server and a key.
	Open func(base, key string) model.Model
	// Provider is the mark of the driver's opaque parts.
	Provider string
	// Model is a name to ask for.
	Model string
	// What the format has.
	Thinking, Images, CachePoints bool
	// Unsigned says that thoughts come without a signature and do not go back.
	Unsigned bool
	// Counts is what of a usage the format can tell; nil is all of it.
	Counts func(event.Usage) event.Usage
	// OpenQuiet is Open with a limit to how long the server may say nothing; nil
	// leaves that out of the suite.
	OpenQuiet func(base, key string, silence time.Duration) model.Model
}
