package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// maxAddresses is how many addresses of a name are tried.
const maxAddresses = 8

// upstream is a connection to a host, and how much it carried.
type upstream struct {
	net.Conn
	client         *conn
	sent, received atomic.Int64
	// stop ends the watch over the context.
	stop func() bool
}

func (u *upstream) Read(b []byte) (int, error) {
	n, err := u.Conn.Read(b)
	u.received.Add(int64(n))
	u.client.touch()
	return n, err
}

func (u *upstream) Write(b []byte) (int, error) {
	// Counted first: the answer may be there, and logged, before Write returns.
	u.sent.Add(int64(len(b)))
	n, err := u.Conn.Write(b)
	u.sent.Add(int64(n - len(b)))
	u.client.touch()
	return n, err
}

func (u *upstream) Close() error {
	u.stop()
	return u.Conn.Close()
}

func (u *upstream) closeWrite() error { return u.Conn.(*net.TCPConn).CloseWrite() }

// open connects to a host if the rules allow it. The error is a *Refused, or says
// why the host cannot be reached in words that tell nothing of this one.
func (p *Proxy) open(c *conn, a *attempt, hostname string) (*upstream, error) {
	if err := p.Rules.Allows(hostname, a.Port); err != nil {
		return nil, err
	}
	h, err := parseHost(hostname)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.limits.Dial)
	defer cancel()
	addrs, err := p.resolve(ctx, h, a.Port)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		var made net.Conn
		target := netip.AddrPortFrom(addr, uint16(a.Port))
		made, err = p.dial(ctx, h, target, c.limits.Dial/time.Duration(len(addrs)))
		if err == nil {
			a.Address = target.String()
			stop := context.AfterFunc(c.ctx, func() { _ = made.Close() })
			return &upstream{Conn: made, client: c, stop: stop}, nil
		}
	}
	return nil, err
}

// resolve gives the addresses of a host that may be connected to. If a name has
// both such and others, the others are left out.
func (p *Proxy) resolve(ctx context.Context, h host, port int) ([]netip.Addr, error) {
	if h.addr.IsValid() {
		return []netip.Addr{h.addr}, nil
	}
	lookup := p.Resolver
	if lookup == nil {
		lookup = net.DefaultResolver
	}
	// The dot keeps the host's search domains out of it.
	found, err := lookup.LookupNetIP(ctx, "ip", h.name+".")
	if err != nil {
		return nil, errors.New(reason(err))
	}
	var addrs []netip.Addr
	err = errors.New("the name has no address")
	for _, a := range found {
		if refused := p.Rules.reaches(h, a, port); refused != nil {
			err = refused
		} else if len(addrs) < maxAddresses {
			addrs = append(addrs, a.Unmap())
		}
	}
	if len(addrs) == 0 {
		return nil, err
	}
	return addrs, nil
}

// dial connects to an address. What the socket is really about to connect to is
// checked again, so that it does not matter how the address came here.
func (p *Proxy) dial(ctx context.Context, h host, target netip.AddrPort, within time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: within, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		real, err := netip.ParseAddrPort(address)
		if err != nil {
			return &Refused{address, int(target.Port()), "it is no address"}
		}
		return p.Rules.reaches(h, real.Addr(), int(real.Port()))
	}}
	made, err := d.DialContext(ctx, "tcp", target.String())
	if refused, ok := errors.AsType[*Refused](err); ok {
		return nil, refused
	}
	if err != nil {
		return nil, errors.New(reason(err))
	}
	return made, nil
}

// reason says why there is no connection. The errors of package net also name the
// addresses of this host and of its DNS server, which are nobody's business.
func reason(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return "there is no such name"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return "it took too long"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return fmt.Sprintf("connecting failed: %s", strings.ToLower(errno.Error()))
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name cannot be looked up now"
	}
	return "the connection broke"
}

// Connect connects to a host and port from here, as a program of a computer would be let: by
// the rules, and to no address that they do not open. The error is as that of open.
func (p *Proxy) Connect(ctx context.Context, address string) (net.Conn, error) {
	name, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &Refused{address, 0, "it is no address"}
	}
	port, ok := parsePort(text)
	if !ok {
		return nil, &Refused{name, 0, "its port is not a number from 1 to 65535"}
	}
	h, err := parseHost(name)
	if err != nil {
		return nil, &Refused{name, port, err.Error()}
	}
	if err := p.Rules.Allows(name, port); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Limits.orDefault().Dial)
	defer cancel()
	addrs, err := p.resolve(ctx, h, port)
	if err != nil {
		return nil, err
	}
	var made net.Conn
	for _, addr := range addrs {
		target := netip.AddrPortFrom(addr, uint16(port))
		if made, err = p.dial(ctx, h, target, p.Limits.orDefault().Dial/time.Duration(len(addrs))); err == nil {
			return made, nil
		}
	}
	return nil, err
}
