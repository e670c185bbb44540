package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// tunnel connects a client to a host and carries bytes both ways. accept and refuse
// tell the client.
func (p *Proxy) tunnel(c *conn, hostname string, port int, accept func() error, refuse func(error)) {
	a := p.begin(hostname, port)
	if r := p.Registries.at(hostname, port); r != nil {
		switch err := p.Rules.Allows(hostname, port); {
		case err != nil:
			p.refuse(c, a, err, func() { refuse(err) })
		case accept() == nil:
			p.serveRegistry(c, r)
		}
		return
	}
	up, err := p.open(c, a, hostname)
	if err != nil {
		p.refuse(c, a, err, func() { refuse(err) })
		return
	}
	defer up.Close()
	if err := accept(); err != nil {
		p.done(a, up)
		return
	}
	p.relay(c, up, a, hostname)
}

// relay carries bytes until both sides are done or one fails. The answers flow at
// once, since some servers speak first.
func (p *Proxy) relay(c *conn, up *upstream, a *attempt, hostname string) {
	c.flow()
	var back sync.WaitGroup
	back.Go(func() {
		if _, err := io.Copy(c, up); err != nil || !c.closeWrite() {
			c.cancel()
		}
	})
	refused, err := p.checkStart(c, up, hostname, a.Port)
	if refused != nil {
		p.refuse(c, a, refused, func() {
			// A client of TLS can tell its user this much: unrecognized_name.
			_, _ = c.Write([]byte{recordAlert, 3, 3, 0, 2, 2, 112})
			c.cancel()
			back.Wait()
			a.Sent, a.Received = up.sent.Load(), up.received.Load()
		})
		return
	}
	if err == nil {
		_, err = io.Copy(up, c.r)
	}
	if err != nil || up.closeWrite() != nil {
		c.cancel()
	}
	back.Wait()
	p.done(a, up)
}

// The kinds of TLS records that matter here.
const (
	recordAlert     = 0x15
	recordHandshake = 0x16
)

// checkStart holds back the first bytes of a client until they are known to be no
// TLS, or to be for a host that is listed.
func (p *Proxy) checkStart(c *conn, up *upstream, hostname string, port int) (*Refused, error) {
	first, err := c.r.Peek(1)
	if err != nil {
		// A client that has nothing to say may still listen.
		if err == io.EOF {
			err = nil
		}
		return nil, err
	}
	if first[0] != recordHandshake {
		if port == 443 {
			return &Refused{hostname, port, "a connection to port 443 must be TLS"}, nil
		}
		return nil, nil
	}
	c.awaitHead()
	name, hello, err := readHello(c.r)
	c.flow()
	if err != nil {
		return &Refused{hostname, port, "it begins like TLS, and has no ClientHello that can be read"}, nil
	}
	asked, _ := parseHost(hostname)
	if name == "" && asked.name != "" {
		return &Refused{hostname, port, "the TLS client does not say the name of the server it wants"}, nil
	}
	if name != "" && p.Rules.Allows(name, port) != nil {
		return &Refused{hostname, port, "the TLS client wants the server " + clean(name) + ", which is not listed with this port"}, nil
	}
	_, err = up.Write(hello)
	return nil, err
}

var errHello = errors.New("that was the ClientHello")

// readHello reads a ClientHello, however it is cut into records, and gives the
// server's name in it and all bytes that it took from r. It lets crypto/tls begin to
// serve, and stops it as soon as it knows.
func readHello(r io.Reader) (name string, taken []byte, err error) {
	var buf bytes.Buffer
	server := tls.Server(deaf{Reader: io.TeeReader(r, &buf)}, &tls.Config{
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name = hello.ServerName
			return nil, errHello
		},
	})
	if err := server.Handshake(); !errors.Is(err, errHello) {
		return "", nil, errors.New("no ClientHello")
	}
	return name, buf.Bytes(), nil
}

// deaf is a connection that can be read from and forgets what is written to it.
type deaf struct {
	net.Conn
	io.Reader
}

func (d deaf) Read(b []byte) (int, error)     { return d.Reader.Read(b) }
func (deaf) Write(b []byte) (int, error)      { return len(b), nil }
func (deaf) SetWriteDeadline(time.Time) error { return nil }
func (deaf) Close() error                     { return nil }
