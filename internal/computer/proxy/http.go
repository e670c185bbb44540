package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// serveHTTP answers the requests of one connection, each by a connection of its
// own to the host that it names. What is sent on is what package http understood
// and writes again, never the client's bytes: there are no two ways to read it.
func (p *Proxy) serveHTTP(c *conn) {
	for more := true; more; c.awaitHead() {
		if _, err := c.r.Peek(1); err != nil {
			return
		}
		req, err := http.ReadRequest(c.r)
		if err != nil {
			err := headError(c)
			c.flow()
			p.reject(c, nil, "", err)
			return
		}
		c.flow()
		more = p.serveRequest(c, req)
	}
}

// invalid is a request that nobody could answer.
type invalid struct {
	status int
	why    string
}

func (i *invalid) Error() string { return i.why }

func headError(c *conn) *invalid {
	if c.left.Load() <= 0 {
		return &invalid{http.StatusRequestHeaderFieldsTooLarge, errTooLong.Error()}
	}
	return &invalid{http.StatusBadRequest, "it is not a whole and valid request of HTTP/1.1"}
}

// serveRequest reports whether another request may follow.
func (p *Proxy) serveRequest(c *conn, req *http.Request) (more bool) {
	hostname, port, err := target(req)
	if err != nil {
		p.reject(c, req, hostname, err)
		return false
	}
	if req.Method != http.MethodConnect {
		return p.forward(c, req, hostname, port, nil)
	}
	p.tunnel(c, hostname, port, func() error {
		_, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		return err
	}, func(err error) { answer(c, req, err) })
	return false
}

// target is the host that a request is for. The Host header has no say in it.
func target(req *http.Request) (hostname string, port int, err error) {
	authority, standard := req.URL.Host, "80"
	switch {
	case req.ProtoMajor != 1:
		err = &invalid{http.StatusHTTPVersionNotSupported, "this proxy speaks HTTP/1.1"}
	case req.Method == http.MethodConnect:
		authority, standard = req.RequestURI, ""
		if req.ContentLength != 0 {
			err = &invalid{http.StatusBadRequest, "CONNECT has no body"}
		}
	case req.URL.Scheme == "https":
		err = &invalid{http.StatusBadRequest, "https goes through this proxy by CONNECT"}
	case req.URL.Scheme != "http" || authority == "":
		err = &invalid{http.StatusBadRequest, "this is a proxy: it takes CONNECT host:port, and requests for a whole http:// URL"}
	case req.URL.User != nil:
		err = &invalid{http.StatusBadRequest, "the URL has a user in it; send an Authorization header"}
	}
	if err == nil {
		err = oddHeader(req)
	}
	if err != nil {
		return authority, 0, err
	}
	hostname, portText := split(authority)
	if portText == "" {
		// Without a port, brackets around IPv6 are still there.
		hostname, portText = split(authority + ":" + standard)
	}
	port, ok := parsePort(portText)
	if !ok {
		return authority, 0, &invalid{http.StatusBadRequest, "it names no port from 1 to 65535"}
	}
	return hostname, port, nil
}

// oddHeader refuses the one thing that ReadRequest lets pass.
func oddHeader(req *http.Request) error {
	for name := range req.Header {
		if strings.Contains(name, " ") {
			return &invalid{http.StatusBadRequest, "the name of a header has a space in it"}
		}
	}
	return nil
}

// forward sends a request on, and its answer back: in plain, or to a registry with what it
// wants to see. A request with a body is the last one of its connection: there is then no
// doubt where the next begins.
func (p *Proxy) forward(c *conn, req *http.Request, hostname string, port int, to *Registry) (more bool) {
	a := p.begin(hostname, port)
	up, err := p.open(c, a, hostname)
	if err != nil {
		p.refuse(c, a, err, func() { answer(c, req, err) })
		return false
	}
	defer p.done(a, up)
	defer up.Close()

	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	last := req.ContentLength != 0 || req.Close || !req.ProtoAtLeast(1, 1)
	if req.ContentLength != 0 {
		body := &watched{ReadCloser: req.Body, closed: make(chan struct{})}
		req.Body = body
		// The transport may still be reading from the client when the answer is over.
		defer func() { up.Close(); c.sayLast(); <-body.closed }()
	}
	resp, err := p.exchange(c, up, req, to)
	if err != nil {
		a.Refused = unsaid(err)
		answer(c, req, err)
		return false
	}
	defer resp.Body.Close()
	if resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
		last = true
	}
	resp.Close, resp.ProtoMajor, resp.ProtoMinor = last, 1, req.ProtoMinor
	err = resp.Write(c)
	a.Refused = unsaid(err)
	return err == nil && !last
}

// unsaid is for the log: a host that was reached, and whose answer was held back.
func unsaid(err error) string {
	if errors.Is(err, errEchoed) {
		return errEchoed.Error()
	}
	return ""
}

// exchange sends a request over a connection that is there, and reads the head of
// the answer.
func (p *Proxy) exchange(c *conn, up *upstream, req *http.Request, to *Registry) (*http.Response, error) {
	dropHopByHop(req.Header)
	req.Header.Del("Expect")
	if _, ok := req.Header["User-Agent"]; !ok {
		req.Header["User-Agent"] = nil // or package http adds its own
	}
	req.RequestURI, req.Host = "", req.URL.Host
	way := net.Conn(up)
	if to != nil {
		ctx, cancel := context.WithTimeout(c.ctx, c.limits.Dial)
		secured, err := p.Registries.secure(ctx, up, to)
		cancel()
		if err != nil {
			_ = req.Body.Close() // a watched one tells
			return nil, err
		}
		way = secured
		to.credit(req)
	}
	t := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: c.limits.HeaderBytes,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return way, nil },
	}
	resp, err := t.RoundTrip(req.WithContext(c.ctx))
	if err != nil {
		return nil, errors.New("it was reached, but did not answer with HTTP that can be passed on")
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		return nil, errors.New("it wants to speak something else than HTTP, which goes through this proxy by CONNECT")
	}
	dropHopByHop(resp.Header)
	if to != nil {
		if err := to.keep(resp); err != nil {
			resp.Body.Close()
			return nil, err
		}
	}
	return resp, nil
}

// watched tells when the transport has let go of a request's body.
type watched struct {
	io.ReadCloser
	once   sync.Once
	closed chan struct{}
}

// Close leaves the body alone: closing that would read the rest of it.
func (w *watched) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func dropHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

func (p *Proxy) reject(c *conn, req *http.Request, hostname string, err error) {
	p.refuse(c, p.begin(hostname, 0), err, func() { answer(c, req, err) })
}

// answer tells the client why there is nothing else to tell.
func answer(c *conn, req *http.Request, err error) {
	status, phrase, text := http.StatusBadGateway, "Host cannot be reached", fmt.Sprintf("This host cannot be reached: %s.\n", clean(err.Error()))
	if refused, ok := errors.AsType[*Refused](err); ok {
		// Many clients show the phrase only.
		status, phrase, text = http.StatusForbidden, "Refused by network.allow of the quest", refused.Error()+".\n"
	}
	if bad, ok := errors.AsType[*invalid](err); ok {
		status, phrase, text = bad.status, http.StatusText(bad.status), fmt.Sprintf("This request cannot be answered: %s.\n", bad.why)
	}
	resp := &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, phrase), ProtoMajor: 1, ProtoMinor: 1, Request: req, Close: true,
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}},
		Body:   io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
	_ = resp.Write(c)
}
