// Package mcp lets agents use the tools of MCP servers.
//
// A server is a stranger: it may hang, flood, lie, change its tools between two calls, or
// die. A Client is one connection to one server. All that comes from it is bounded before
// it is kept, and made plain before anybody reads it. What a tool is, is pinned by hash when
// it is listed (Tool.Hash); whoever connects again, or hears that the list has changed,
// compares before the next call.
//
// The official SDK speaks the wire. Elicitation is declined unless somebody is there to ask,
// sampling is off unless somebody does it, and links are never followed. The package has no state beyond a
// connection, and no rule of its own about who may call what.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"lyceum/internal/plain"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long things may take.
const (
	// ConnectTime is for a connection and its first list.
	ConnectTime = time.Minute
	// CallTime is how long a call may take without a sign of progress, LongestCall with.
	CallTime    = time.Minute
	LongestCall = 10 * time.Minute
	// closeTime is for a server to hear that nobody wants it any more.
	closeTime = 5 * time.Second
)

// maxMessage is how many bytes one message of a server may have.
const maxMessage = 8 << 20

// oldRevision is the one in which servers can ask for roots and have models asked: later ones give
// both up.
const oldRevision = "2025-11-25"

// ErrLost says that the connection broke while a call was under way. Whether the server did
// what it was asked for, nobody knows.
var ErrLost = errors.New("the connection to the server was lost")

// ErrLate says that a call took too long. It was cancelled there too.
var ErrLate = errors.New("the call took too long and was cancelled")

// LoginError says that a server wants a login, and what a person can do.
type LoginError struct{ Why string }

func (e *LoginError) Error() string { return e.Why }

// Options are what can be said about a connection. The zero value works.
type Options struct {
	// Version is Lyceum's own.
	Version string
	// Root is the folder that the server is told to work in, as a path of the agent's
	// computer; empty tells it of none. A server of a revision after 2025-11-25 is told of none.
	Root string
	// Changed is told that the list of tools is another one. It must return soon.
	Changed func()
	// Updated is told that a resource is another one. It must return soon.
	Updated func(uri string)
	// Log is how grave what the server logs must be for Logged to hear it: a level of the
	// protocol; empty wants none of it.
	Log    string
	Logged func(level, text string)
	// Pages is how many pages a list may have; 0 is 50.
	Pages int
	// Ask asks a person what the server wants to know; nil declines.
	Ask func(ctx context.Context, f *Form) (*Reply, error)
	// Sample has a model asked what the server wants to know; nil offers no sampling.
	Sample func(ctx context.Context, s *Sample) (*Sampled, error)
	// Login gets tokens for a server that wants one.
	Login auth.OAuthHandler
}

// Info is what a server says of itself.
type Info struct{ Name, Version, Protocol string }

// Client is a connection to a server. Its methods may be called at the same time.
type Client struct {
	session *sdk.ClientSession
	info    Info
	// over ends when the connection has.
	over   context.Context
	meter  *meter
	pages  int
	alive  progress
	closed sync.Once
}

// Pipe speaks with a server over its input and output, one message a line. It closes rw
// when it is done with it, whatever becomes of the connection.
func Pipe(ctx context.Context, rw io.ReadWriteCloser, o Options) (*Client, error) {
	m := &meter{}
	t := &sdk.IOTransport{Reader: &metered{rw, m}, Writer: rw, MaxLineLength: maxMessage}
	c, err := connect(ctx, t, m, o)
	if err != nil {
		_ = rw.Close()
	}
	return c, err
}

func connect(ctx context.Context, t sdk.Transport, m *meter, o Options) (*Client, error) {
	c := &Client{meter: m, pages: cmp.Or(o.Pages, maxPages)}
	client := sdk.NewClient(&sdk.Implementation{Name: "lyceum", Version: o.Version}, c.options(o))
	//lint:ignore SA1019 servers of 2025-11-25 ask for them
	root := &sdk.Root{Name: "home", URI: "file://" + o.Root}
	if o.Root != "" {
		//lint:ignore SA1019 servers of 2025-11-25 ask for them
		client.AddRoots(root)
	}
	type made struct {
		session *sdk.ClientSession
		err     error
	}
	done := make(chan made, 1)
	go func() {
		s, err := client.Connect(ctx, t, nil)
		done <- made{s, err}
	}()
	// A server that does not even read can hold up the SDK beyond its context.
	select {
	case d := <-done:
		if d.err != nil {
			return nil, c.fault("connect", d.err)
		}
		c.session = d.session
	case <-ctx.Done():
		go func() {
			if d := <-done; d.err == nil {
				_ = d.session.Close()
			}
		}()
		return nil, fmt.Errorf("connect: %w", ctx.Err())
	}
	if i := c.session.InitializeResult(); i != nil {
		c.info.Protocol = line(i.ProtocolVersion, 40)
		if i.ServerInfo != nil {
			c.info.Name, c.info.Version = line(i.ServerInfo.Name, 100), line(i.ServerInfo.Version, 100)
		}
	}
	if c.info.Protocol > oldRevision {
		//lint:ignore SA1019 later revisions give them up: such a server is told of none
		client.RemoveRoots(root.URI)
	}
	c.setLevel(ctx, o)
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	c.over = over
	go func() {
		_ = c.session.Wait()
		end()
	}()
	return c, nil
}

func (c *Client) options(o Options) *sdk.ClientOptions {
	caps := &sdk.ClientCapabilities{}
	if o.Root != "" {
		//lint:ignore SA1019 servers of 2025-11-25 ask for them
		caps.RootsV2 = &sdk.RootCapabilities{}
	}
	if o.Ask != nil {
		caps.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	out := &sdk.ClientOptions{
		Capabilities: caps,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			if o.Changed != nil {
				o.Changed()
			}
		},
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
			if o.Updated != nil && r.Params != nil && fitting(r.Params.URI) {
				o.Updated(r.Params.URI)
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			c.alive.sign(r.Params.ProgressToken)
		},
		ElicitationHandler: func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if o.Ask != nil {
				defer c.alive.hold()()
			}
			return elicit(ctx, r.Params, o.Ask)
		},
	}
	hearLog(out, o)
	if o.Sample != nil {
		//lint:ignore SA1019 servers of 2025-11-25 ask for them
		caps.Sampling = &sdk.SamplingCapabilities{}
		//lint:ignore SA1019 servers of 2025-11-25 ask for them
		out.CreateMessageHandler = func(ctx context.Context, r *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			defer c.alive.hold()()
			return sample(ctx, r, o.Sample)
		}
	}
	return out
}

// Info is what the server says of itself.
func (c *Client) Info() Info { return c.info }

// Lost reports whether the connection is over.
func (c *Client) Lost() bool { return c.over.Err() != nil || c.meter.broken() }

// Close ends the connection. It does not wait for a server that does not let go.
func (c *Client) Close() {
	c.closed.Do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.session.Close()
		}()
		select {
		case <-done:
		case <-time.After(closeTime):
		}
	})
}

// fault says what went wrong in words for an agent. A server's own words are a stranger's.
func (c *Client) fault(doing string, err error) error {
	if flood := c.meter.err(); flood != nil {
		return fmt.Errorf("%s: %w: %w", doing, ErrLost, flood)
	}
	if wanted, ok := errors.AsType[*LoginError](err); ok {
		return fmt.Errorf("%s: %w", doing, wanted)
	}
	if refused := c.meter.refusal(); refused != nil {
		return fmt.Errorf("%s: %w", doing, refused)
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok && wire.Code != rejected {
		return fmt.Errorf("%s: the server answered with error %d: %s", doing, wire.Code, line(wire.Message, 500))
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	why := err.Error()
	if _, ok := errors.AsType[net.Error](err); ok {
		why = "it cannot be reached" // the error would name addresses of this machine
	}
	return fmt.Errorf("%s: %w: %s", doing, ErrLost, line(why, 300))
}

// rejected is the code of the SDK's own for what the transport did not take; what that was
// stands around it.
const rejected = -32005

// line is a stranger's text on one line, for whoever reads it.
func line(s string, most int) string { return plain.Brief(strings.ToValidUTF8(s, "\uFFFD"), most) }

// Over is closed when the connection is.
func (c *Client) Over() <-chan struct{} { return c.over.Done() }
