// Package scoped is where an outside agent finds the tools that it has in its quest: an MCP
// server for the port tools of its computer, with nothing else behind it.
//
// A call is a proposal of that agent. Whether it may be made, and what came of it, others
// decide and record; here it gets its name. Each call has one that is made of the session it
// came in, the number that the client gave it, and what it asks for. So a call that is sent
// again, by a client that did not hear the answer, is the same call, in the next Lyceum too;
// and since a session's id is random, no two calls ever share a name by accident. A request
// that belongs to no session, as from revision 2026-07-28 on, cannot be told from another
// like it, and each is a call of its own.
//
// Nothing is kept of a session but what its client says with every request: its id. One that
// began before a restart goes on after it, and a thousand of them cost nothing. What is
// bounded is what goes on at one time: requests, the bytes of their bodies, streams that wait
// for news, and how long anybody may take to send or to read.
//
// The official SDK speaks the wire, for revisions with sessions and without; only a call of
// the former, with which nothing is wrong, is answered without it: see quick.
package scoped

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/model"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Toolbox is what an agent has in its quest, as far as this package needs to know.
type Toolbox interface {
	// Tools are those that the agent has now, in their order.
	Tools(ctx context.Context) ([]model.Tool, error)
	// Use makes a call, and waits for what comes of it. One that has the name of an earlier
	// one is that one: it is not made again. An error says, in words for the agent, why there
	// is no answer, such as that the quest is paused; context.Canceled, though ctx has not
	// ended, is that Lyceum goes away, and the same call may be sent to the next one.
	Use(ctx context.Context, c Call) (Result, error)
}

// Call is a tool call that an agent wants to make.
type Call struct {
	// ID is its name, of letters, digits and dots, at most 128.
	ID   string
	Tool string
	// Args are JSON, an object.
	Args string
}

// Result is what came of a call.
type Result struct {
	Text  string
	Error bool
	// Structured is the same as JSON, if there is such a thing.
	Structured []byte
	Files      []File
}

// File is one that a tool gave with its answer.
type File struct {
	Name, Media string
	Data        []byte
}

// Options are what can be said besides. The zero value works.
type Options struct {
	// Version is Lyceum's.
	Version string
	// Server is the name of the server where the agent has several, each with a part of its
	// tools; empty if this is the only one.
	Server string
	// Most is how many requests may be under way, 32 if zero.
	Most int64
	// Patience is how long a program may take to send a request, and to take a piece of an
	// answer: a minute if zero.
	Patience time.Duration
	// Sign is how often whoever waits is shown that somebody is there, every 15 seconds if
	// zero: clients give up on a connection that is silent for some minutes.
	Sign time.Duration
}

// Bounds of what an agent may send and get.
const (
	maxOpen    = 32
	maxStreams = 8
	maxBody    = 8 << 20
	maxHeld    = 32 << 20 // of all bodies that are held at a time
	maxShown   = 8 << 20  // of all files in one answer
	maxError   = 4000
)

// Path is where the endpoint is at its port, if it is the only one.
const Path = "/mcp"

// PathOf is where the endpoint of a server is.
func PathOf(server string) string {
	if server == "" {
		return Path
	}
	return Path + "/" + server
}

// Handler answers one agent.
type Handler struct {
	agent string
	box   Toolbox
	opts  Options
	sdk   *mcp.Server
	wire  http.Handler

	open, held, streams atomic.Int64

	mu sync.Mutex
	// under are the calls of sessions that are under way, and what gives each up, by its
	// session and number.
	under map[[2]string]*exchange
	// news is closed when the list of tools has changed, and then another.
	news chan struct{}
	// over is closed when there is no more.
	over   chan struct{}
	closed bool
}

const instructions = `These are the tools of the laboratory that you work in. Each call is checked against its rules and recorded before it is made. A call that is refused says why; do not repeat it unchanged.`

// New returns a handler for an agent. Close ends the streams that wait for news.
func New(agent string, box Toolbox, opts Options) *Handler {
	if opts.Most == 0 {
		opts.Most = maxOpen
	}
	if opts.Patience == 0 {
		opts.Patience = time.Minute
	}
	if opts.Sign == 0 {
		opts.Sign = 15 * time.Second
	}
	h := &Handler{agent: agent, box: box, opts: opts, under: map[[2]string]*exchange{}, news: make(chan struct{}), over: make(chan struct{})}
	h.sdk = mcp.NewServer(&mcp.Implementation{Name: cmp.Or(opts.Server, "lyceum"), Title: strings.TrimSpace("Lyceum " + opts.Server), Version: opts.Version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	h.sdk.AddReceivingMiddleware(h.receive)
	// Host and Origin are looked at here, for the SDK cannot see that the port is on a loopback.
	h.wire = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.sdk }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	})
	return h
}

// Changed tells the agent's programs that its tools are others than before.
func (h *Handler) Changed() {
	h.mu.Lock()
	close(h.news)
	h.news = make(chan struct{})
	h.mu.Unlock()
	// Those who wait for it by the SDK hear of it when one is added, whichever it is. Nobody
	// ever sees this one.
	h.sdk.AddTool(&mcp.Tool{Name: "none", InputSchema: &jsonschema.Schema{Type: "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
}

// Close ends the streams that wait for news. Calls under way end with their requests.
func (h *Handler) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.over)
	}
}
