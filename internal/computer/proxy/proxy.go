// Package proxy is the only way out of a computer whose network is a list of hosts.
//
// Each connection that a program makes to the proxy arrives here as a stream of
// bytes. The program asks, as a client of an HTTP proxy or of SOCKS5, for a host;
// if the quest lists it, Lyceum looks its name up, connects, and carries the bytes.
// A name that is not listed is never looked up, so that questions to the DNS carry
// nothing out. The address is checked once more by the socket that connects, so
// that a name cannot mean one thing when it is checked and another when it is used.
//
// Where a tunnel begins with TLS, the name that the client sends to the server must
// be listed too, with that port; a tunnel to port 443 must begin with TLS. A client
// that asked for a name must send one: all do, unless they have something to hide.
// One that asked for an address need not.
//
// Nothing is decrypted, and that is where the checks end. With an encrypted
// ClientHello only the outer name is seen and checked. Within TLS, or within a
// tunnel that is not TLS, a program can name another host that the same server
// keeps, and a listed host can pass on whatever it likes: list those you trust.
//
// Registries are the exception, where the owner of the machine has said so: towards a program
// the proxy passes for such a host, by a certificate that only this computer trusts, adds a
// header that no program may see, and passes the requests on to the real host. The
// credential goes to no other host, is given only to requests that read, and an answer that
// repeats it is cut off.
//
// What is not connected costs a turn: after some refusals in a row each waits for
// its answer, all of one computer in one line. Those that do not get a turn in time
// are counted, and the next entry of the log tells how many there were.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/computer"
)

// Proxy serves the connections of one computer. It must not be copied.
type Proxy struct {
	Rules *Rules
	// Log is told of each connection that was tried, when it is over; for plain
	// HTTP that is each request. Several goroutines may call it at once.
	Log    func(computer.Connection)
	Limits Limits
	// Resolver looks up names, each with a dot at its end. Without one it is the
	// host's. It is here for tests.
	Resolver interface {
		LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error)
	}
	// Registries get credentials on the way. nil are none.
	Registries *Registries

	once    sync.Once
	slots   chan struct{}
	waiting atomic.Int64
	turns   turns
}

// Limits of a proxy. One that is zero is the default.
type Limits struct {
	// HeaderBytes is how long the head of a request or an answer may be: 64 KiB.
	HeaderBytes int64
	// Connections are served at one time: 64. Four times as many may wait.
	Connections int
	// Header is the time in which a request must be there, from when the connection
	// is made or the request before it is done, and in which a connection must be
	// served at all: 30 seconds.
	Header time.Duration
	// Dial is the time for looking a name up and connecting: 20 seconds.
	Dial time.Duration
	// Idle ends a connection on which no byte moves: 5 minutes.
	Idle time.Duration
	// Refusal is the time between two refusals, after the first twenty: 250 ms.
	Refusal time.Duration
}

func (l Limits) orDefault() Limits {
	return Limits{
		HeaderBytes: either(l.HeaderBytes, 64<<10), Connections: either(l.Connections, 64),
		Header: either(l.Header, 30*time.Second), Dial: either(l.Dial, 20*time.Second),
		Idle: either(l.Idle, 5*time.Minute), Refusal: either(l.Refusal, 250*time.Millisecond),
	}
}

func either[N int | int64 | time.Duration](given, standard N) N {
	if given > 0 {
		return given
	}
	return standard
}

// Serve serves one connection and closes it. It returns when all that it started is
// over: when both sides are done, a limit is met, or ctx ends. Closing client must
// end a Read and a Write that are under way. If client has CloseWrite() error, a
// server that has said all can still be written to.
func (p *Proxy) Serve(ctx context.Context, client io.ReadWriteCloser) {
	c := newConn(ctx, client, p.Limits.orDefault())
	defer c.end()
	c.awaitHead()
	if !p.enter(ctx, c) {
		return
	}
	defer func() { <-p.slots }()
	c.awaitHead()
	switch first, err := c.r.Peek(1); {
	case err != nil: // it never asked for anything
	case first[0] == socksVersion:
		p.serveSOCKS(c)
	default:
		p.serveHTTP(c)
	}
	c.linger()
}

// enter waits for one of the slots.
func (p *Proxy) enter(ctx context.Context, c *conn) bool {
	p.once.Do(func() { p.slots = make(chan struct{}, c.limits.Connections) })
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) <= int64(4*cap(p.slots)) {
		select {
		case p.slots <- struct{}{}:
			return true
		case <-c.ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return false
	}
	a := p.begin("", 0)
	a.Refused = fmt.Sprintf("more than %d connections at one time", cap(p.slots))
	// There is nobody to keep waiting for a turn: no slot, no answer.
	if _, unlogged, ok := p.turns.take(a.start, c.limits.Refusal, 0); ok {
		p.log(a, unlogged)
	}
	return false
}

// attempt is a connection on its way to becoming an entry of the log.
type attempt struct {
	computer.Connection
	start time.Time
}

func (p *Proxy) begin(host string, port int) *attempt {
	return &attempt{computer.Connection{Host: clean(host), Port: port}, now()}
}

// done tells the log of a connection that was made.
func (p *Proxy) done(a *attempt, up *upstream) {
	a.Sent, a.Received = up.sent.Load(), up.received.Load()
	p.log(a, 0)
}

// refuse tells the log of one that was not, when its turn has come and answer has
// told the client.
func (p *Proxy) refuse(c *conn, a *attempt, err error, answer func()) {
	a.Refused = err.Error()
	if r, ok := errors.AsType[*Refused](err); ok {
		a.Refused = r.Why
	}
	wait, unlogged, ok := p.turns.take(now(), c.limits.Refusal, maxTurn)
	if wait > 0 {
		turn := time.NewTimer(wait)
		defer turn.Stop()
		select {
		case <-turn.C:
		case <-c.ctx.Done():
		}
	}
	answer()
	if ok {
		p.log(a, unlogged)
	}
}

func (p *Proxy) log(a *attempt, unlogged int) {
	if p.Log == nil {
		return
	}
	a.Duration = now().Sub(a.start)
	a.Refused = clean(a.Refused)
	if unlogged > 0 {
		a.Refused += fmt.Sprintf(" (and %d others refused before it, not listed one by one)", unlogged)
	}
	p.Log(a.Connection)
}
