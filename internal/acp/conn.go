package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"lyceum/internal/acp/wire"

	sdk "github.com/coder/acp-go-sdk"
)

// Error is an answer that says why there is none.
type Error = wire.Error

// The codes of errors.
const (
	ParseError     = wire.ParseError
	InvalidRequest = wire.InvalidRequest
	NoMethod       = wire.NoMethod
	InvalidParams  = wire.InvalidParams
	Internal       = wire.Internal
	AuthRequired   = wire.AuthRequired
	NotFound       = wire.NotFound
	Cancelled      = wire.Cancelled
)

// Errorf makes an error with a code.
func Errorf(code int, format string, args ...any) *Error { return wire.Errorf(code, format, args...) }

// ErrClosed says that the connection is over, and that no answer comes any more.
var ErrClosed = errors.New("the connection to the other side is closed")

// Peer is what one side of a connection does with what the other side sends.
type Peer interface {
	// Request begins what a request asks for, and returns the work that answers it. Requests
	// are begun one at a time, in the order of the wire, and between the notifications that
	// came before and after; Request must return soon, and never wait for the other side.
	// Works run at the same time. The context of a work ends when the other side takes its
	// request back, or has been gone for a while. A result of nil is sent as {}.
	Request(method string, params json.RawMessage) (work func(context.Context) (any, error), err error)
	// Notify takes a notification, under the same conditions as Request. One that nobody
	// knows is left alone.
	Notify(method string, params json.RawMessage)
}

// Followed is a result with something to do as soon as its answer is sent: what a client can
// only take once it has the answer.
type Followed struct {
	Result any
	Then   func()
}

// Frame is one line of a connection, as a tap sees it.
type Frame struct {
	// Sent says that it went out.
	Sent bool
	Line []byte
	// Fault is what is wrong with a line that came in, empty if nothing is.
	Fault string
}

// Options are the bounds of a connection. The zero value is good.
type Options struct {
	// MaxLine is how many bytes a line may have, either way; 10 MiB if zero.
	MaxLine int
	// MaxRequests is how many requests of the other side are worked on at the same time; 64 if
	// zero. Those beyond are refused.
	MaxRequests int
	// MaxQueued is how many messages wait to be taken by the Peer, 1024 if zero, and MaxBytes how
	// long their lines may be in all, 32 MiB if zero; one that is longer waits alone. While so many
	// wait, nothing more is read: the other side has to wait, too.
	MaxQueued, MaxBytes int
	// MaxFaults is how many lines that are no messages a connection survives; 100 if zero.
	MaxFaults int
	// Linger is how long what the other side asked for before it ended is still worked on; 5
	// seconds if zero. It may have closed its side and still listen.
	Linger time.Duration
	// Tap is told of every line, in order for each direction. It is called by several
	// goroutines, must return soon, and may keep the line.
	Tap func(Frame)
}

// Conn is one side of a connection of the Agent Client Protocol: JSON-RPC 2.0, a message a
// line.
//
// One goroutine reads lines and another takes them in order, so that an answer is never
// heard before the notifications in front of it. Writers wait while the other side does not
// read. Nothing that the other side sends is a reason to fall over: what is no message is
// answered and counted, an answer that nobody waits for is noted as a fault, and what is
// too much is refused or waits.
type Conn struct {
	peer Peer
	opts Options
	in   *wire.Lines
	out  io.Writer

	ctx   context.Context
	stop  context.CancelCauseFunc
	queue chan queued
	// taken has a token when there may be room again for another line.
	taken chan struct{}
	works sync.WaitGroup

	writing sync.Mutex // held while a line is written

	mu sync.Mutex
	// next is the number of the last request that was sent; waiting are those without an
	// answer; open are the requests of the other side, by their ids.
	next    int64
	waiting map[string]chan wire.Message
	open    map[string]context.CancelFunc
	faults  int
	// deaf says that the other side has ended, so that nothing is answered any more.
	deaf bool
	// bytes is how long the lines are that wait or are just taken.
	bytes int
}

// queued is a message that waits, and how long its line is.
type queued struct {
	wire.Message
	size int
}

// NewConn returns a connection that reads and writes lines, until ctx ends. It does nothing
// before Serve.
func NewConn(ctx context.Context, peer Peer, in io.Reader, out io.Writer, opts Options) *Conn {
	for _, n := range []struct {
		value *int
		zero  int
	}{{&opts.MaxLine, 10 << 20}, {&opts.MaxRequests, 64}, {&opts.MaxQueued, 1024}, {&opts.MaxBytes, 32 << 20}, {&opts.MaxFaults, 100}} {
		if *n.value == 0 {
			*n.value = n.zero
		}
	}
	if opts.Linger == 0 {
		opts.Linger = 5 * time.Second
	}
	c := &Conn{
		peer: peer, opts: opts, in: wire.NewLines(in, opts.MaxLine), out: out,
		queue: make(chan queued, opts.MaxQueued), taken: make(chan struct{}, 1), waiting: map[string]chan wire.Message{}, open: map[string]context.CancelFunc{},
	}
	c.ctx, c.stop = context.WithCancelCause(ctx)
	return c
}

// Serve reads until the other side ends, the context of the connection does, or there are too
// many faults; only the last is an error. What was asked for before the other side ended is
// answered, if that does not take too long. When Serve returns, all works have. A reader that
// no context interrupts, such as standard input, is left to the caller to close.
func (c *Conn) Serve() error {
	read := make(chan error, 1)
	go func() { read <- c.read() }()
	err := c.take(read)
	c.mu.Lock()
	c.deaf = true
	for id, w := range c.waiting {
		delete(c.waiting, id)
		close(w)
	}
	c.mu.Unlock()
	if err == nil {
		c.linger()
	}
	c.stop(ErrClosed)
	c.works.Wait()
	return err
}

// linger waits for the works that are under way, for a while.
func (c *Conn) linger() {
	over := make(chan struct{})
	go func() { defer close(over); c.works.Wait() }()
	timer := time.NewTimer(c.opts.Linger)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// Done is closed when the connection is over.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// read puts messages into the queue until there are no more.
func (c *Conn) read() error {
	for {
		line, err := c.in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var m wire.Message
		switch {
		case errors.Is(err, wire.ErrTooLong):
			m = wire.Message{Fault: fmt.Sprintf("the line has more than %d bytes", c.opts.MaxLine)}
		case err != nil:
			return fmt.Errorf("read what the other side says: %w", err)
		default:
			m = wire.Parse(line)
		}
		c.tap(Frame{Line: line, Fault: m.Fault})
		if !c.enter(len(line)) {
			return nil
		}
		select {
		case c.queue <- queued{m, len(line)}:
		case <-c.ctx.Done():
			return nil
		}
	}
}

// enter waits until a line may wait beside the others. Only read calls it.
func (c *Conn) enter(size int) bool {
	for {
		c.mu.Lock()
		room := c.bytes == 0 || c.bytes+size <= c.opts.MaxBytes
		if room {
			c.bytes += size
		}
		c.mu.Unlock()
		if room {
			return true
		}
		select {
		case <-c.taken:
		case <-c.ctx.Done():
			return false
		}
	}
}

// leave gives room to other lines.
func (c *Conn) leave(size int) {
	c.mu.Lock()
	c.bytes -= size
	c.mu.Unlock()
	select {
	case c.taken <- struct{}{}:
	default:
	}
}

// take gives messages to the peer, in order.
func (c *Conn) take(read <-chan error) error {
	for {
		select {
		case m := <-c.queue:
			if err := c.message(m); err != nil {
				return err
			}
		case err := <-read:
			for len(c.queue) > 0 { // what came before the end counts
				if err := c.message(<-c.queue); err != nil {
					return err
				}
			}
			return err
		case <-c.ctx.Done():
			return nil
		}
	}
}

func (c *Conn) message(m queued) error {
	defer c.leave(m.size)
	switch {
	case m.Fault != "":
		if m.ID == nil {
			m.ID = json.RawMessage("null")
		}
		code := ParseError
		if m.JSON {
			code = InvalidRequest
		}
		c.answer(m.ID, nil, Errorf(code, "%s: want one JSON-RPC 2.0 message a line", m.Fault))
		return c.fault()
	case m.Method == "":
		return c.answered(m.Message)
	case m.ID != nil:
		return c.request(m.Message)
	case m.Method == cancelRequest:
		c.takenBack(m.Params)
	default:
		c.peer.Notify(m.Method, m.Params)
	}
	return nil
}

// fault counts what is wrong with the other side.
func (c *Conn) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults++; c.faults > c.opts.MaxFaults {
		return fmt.Errorf("the other side has sent %d lines that are no messages, or answers to nothing: that is no peer", c.faults)
	}
	return nil
}

// answered hands an answer to whoever waits for it. One that nobody waits for, or comes a
// second time, is a fault of the other side; there is nobody to tell.
func (c *Conn) answered(m wire.Message) error {
	c.mu.Lock()
	w, ok := c.waiting[string(m.ID)]
	delete(c.waiting, string(m.ID))
	c.mu.Unlock()
	if !ok {
		c.tap(Frame{Fault: fmt.Sprintf("an answer to %.40s, which was not asked or has its answer", m.ID)})
		return c.fault()
	}
	w <- m
	return nil
}

// cancelRequest takes a request back.
const cancelRequest = "$/cancel_request"

func (c *Conn) takenBack(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	cancel := c.open[string(p.RequestID)]
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// request begins the work of a request.
func (c *Conn) request(m wire.Message) error {
	id := string(m.ID)
	c.mu.Lock()
	_, twice := c.open[id]
	full := len(c.open) >= c.opts.MaxRequests
	var ctx context.Context
	if !twice && !full {
		ctx, c.open[id] = context.WithCancel(c.ctx)
	}
	c.mu.Unlock()
	if twice {
		c.answer(m.ID, nil, Errorf(InvalidRequest, "the request %.40s is still being worked on: give each its own id", id))
		return c.fault()
	}
	if full {
		c.answer(m.ID, nil, Errorf(InvalidRequest, "%d requests are being worked on already: wait for their answers", c.opts.MaxRequests))
		return c.fault()
	}
	work, err := c.peer.Request(m.Method, m.Params)
	c.works.Go(func() {
		var result any
		if err == nil && work != nil {
			result, err = work(ctx)
		}
		// The id is free before the answer is out: who has the answer may use it again.
		c.mu.Lock()
		c.open[id]()
		delete(c.open, id)
		c.mu.Unlock()
		followed, ok := result.(Followed)
		if ok {
			result = followed.Result
		}
		c.answer(m.ID, result, err)
		if ok && err == nil {
			followed.Then()
		}
	})
	return nil
}

// answer sends an answer. When nobody is there to hear it, it is lost.
func (c *Conn) answer(id json.RawMessage, result any, err error) {
	out := wire.Outgoing{ID: id}
	if err == nil {
		out.Result, err = wire.Encode(result)
	}
	if err != nil {
		out.Result, out.Error = nil, asError(err)
	}
	if err := c.send(out); errors.Is(err, wire.ErrTooLong) {
		_ = c.send(wire.Outgoing{ID: id, Error: Errorf(Internal, "the answer is %v", err)})
	}
}

func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return Errorf(Cancelled, "the request was taken back")
	}
	return Errorf(Internal, "%v", err)
}

// Notify sends a notification. It waits while the other side does not read.
func (c *Conn) Notify(method string, params any) error {
	data, err := wire.Encode(params)
	if err != nil {
		return err
	}
	return c.send(wire.Outgoing{Method: method, Params: data})
}

// Update sends a session/update.
func (c *Conn) Update(n sdk.SessionNotification) error {
	return c.Notify(sdk.ClientMethodSessionUpdate, n)
}

// Call asks the other side, and waits for its answer, which it puts into result. When ctx
// ends the request is taken back, and what may be answered nevertheless is left alone. An
// answer that says why there is none is an *Error.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	data, err := wire.Encode(params)
	if err != nil {
		return err
	}
	w := make(chan wire.Message, 1)
	c.mu.Lock()
	if c.deaf || c.ctx.Err() != nil {
		c.mu.Unlock()
		return ErrClosed
	}
	c.next++
	id := strconv.FormatInt(c.next, 10)
	c.waiting[id] = w
	c.mu.Unlock()
	if err := c.send(wire.Outgoing{ID: json.RawMessage(id), Method: method, Params: data}); err != nil {
		c.forget(id)
		return err
	}
	select {
	case m, ok := <-w:
		switch {
		case !ok:
			return ErrClosed
		case m.Err != nil:
			return m.Err
		case result == nil:
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("read the answer to %s: %w", method, err)
		}
		return nil
	case <-c.ctx.Done():
		return ErrClosed
	case <-ctx.Done():
		_ = c.Notify(cancelRequest, map[string]json.RawMessage{"requestId": json.RawMessage(id)})
		return ctx.Err() // the answer is still waited for, so that it is no fault, and then forgotten
	}
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
}

// send writes a line. A line that is too long is not sent.
func (c *Conn) send(out wire.Outgoing) error {
	out.Version = "2.0"
	line, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if len(line) > c.opts.MaxLine {
		return fmt.Errorf("%w: %d bytes, and at most %d are sent", wire.ErrTooLong, len(line), c.opts.MaxLine)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ctx.Err(); err != nil {
		return ErrClosed
	}
	c.tap(Frame{Sent: true, Line: line})
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.stop(ErrClosed)
		return fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return nil
}

func (c *Conn) tap(f Frame) {
	if c.opts.Tap != nil {
		c.opts.Tap(f)
	}
}
