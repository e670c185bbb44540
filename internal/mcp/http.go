package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lyceum/internal/computer/proxy"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// refusedError says that Lyceum itself does not connect to something.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// Address is a server that is reached from outside.
type Address struct {
	URL string
	// Header is sent with each request, to the host of URL and to no other.
	Header http.Header
	// Private are addresses that are not of the public internet and may be connected to
	// all the same, as entries of network.allow are written.
	Private []string
	// Retry is how often a connection that broke is made again, -1 for never; 0 is twice.
	Retry int
}

// Dial connects to a server by streamable HTTP.
func Dial(ctx context.Context, a Address, o Options) (*Client, error) {
	m := &meter{}
	client, err := a.client(m)
	if err != nil {
		return nil, err
	}
	t := &sdk.StreamableClientTransport{Endpoint: a.URL, HTTPClient: client, MaxRetries: cmp.Or(a.Retry, 2), OAuthHandler: o.Login, MaxEventSize: maxMessage}
	c, err := connect(ctx, t, m, o)
	if err != nil {
		client.CloseIdleConnections()
		return nil, err
	}
	context.AfterFunc(c.over, client.CloseIdleConnections)
	return c, nil
}

// client is what requests to a server go through: to its host alone, and to no address that
// is not of the public internet unless that is listed.
func (a Address) client(m *meter) (*http.Client, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &refusedError{"its address is none of a server"}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	rules, err := a.rules(port)
	if err != nil {
		return nil, err
	}
	t := transport(func(ctx context.Context, address string) (net.Conn, error) {
		conn, err := (&proxy.Proxy{Rules: rules}).Connect(ctx, address)
		if err != nil {
			return nil, m.refuse("%w", unreachable(address, err))
		}
		m.reached()
		return conn, nil
	})
	return &http.Client{Transport: &guard{next: t, host: u.Host, scheme: u.Scheme, header: a.Header, m: m}, CheckRedirect: sameHost(u, m)}, nil
}

// rules open a port of the public internet, and what is listed besides.
func (a Address) rules(port string) (*proxy.Rules, error) {
	rules, err := proxy.Parse(append([]string{"*:" + port, "0.0.0.0/0:" + port, "[::/0]:" + port}, a.Private...))
	if err != nil {
		return nil, &refusedError{fmt.Sprintf("private_addresses in config.yaml: %v", err)}
	}
	return rules, nil
}

// transport speaks HTTP over connections that dial makes. It asks no proxy of the
// environment: addresses would be looked up by it.
func transport(dial func(ctx context.Context, address string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			// Not every machine looks this name up, and it means nothing else.
			return dial(ctx, strings.Replace(address, "localhost:", "127.0.0.1:", 1))
		},
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 20 * time.Second, IdleConnTimeout: time.Minute, MaxConnsPerHost: 32,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// unreachable says why there is no connection.
func unreachable(address string, err error) error {
	if refused, ok := errors.AsType[*proxy.Refused](err); ok {
		return &refusedError{fmt.Sprintf("%s port %d is refused: %s; if it is meant, list it under private_addresses in config.yaml", refused.Host, refused.Port, refused.Why)}
	}
	return fmt.Errorf("%s cannot be reached: %w", line(address, 100), err)
}

// Bounds on what a server only points at.
const (
	outsideTime  = 30 * time.Second
	outsideBytes = 1 << 20
)

// Outside is a client for what a server only points at, such as the place where people log
// in: any host of the public internet, or what Private lists. None of the headers are sent
// there, no redirect leads to another host, and an answer has its bounds in bytes and time.
func (a Address) Outside() *http.Client {
	t := transport(func(ctx context.Context, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		rules, err := a.rules(port)
		if err != nil {
			return nil, err
		}
		conn, err := (&proxy.Proxy{Rules: rules}).Connect(ctx, address)
		if err != nil {
			return nil, unreachable(address, err)
		}
		return conn, nil
	})
	return &http.Client{Transport: bounded{t}, Timeout: outsideTime, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		return sameHost(via[0].URL, &meter{})(r, via)
	}}
}

// bounded is for answers of which nobody wants more than outsideBytes.
type bounded struct{ *http.Transport }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(r)
	if err == nil {
		resp.Body = &limited{resp.Body, outsideBytes, outsideBytes}
	}
	return resp, err
}

// sameHost follows redirects to the host that was asked, and to no other.
func sameHost(asked *url.URL, m *meter) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != asked.Scheme || !strings.EqualFold(r.URL.Host, asked.Host) {
			return m.refuse("the server redirects to another host, %s: that is not followed", line(r.URL.Host, 100))
		}
		if len(via) >= 3 {
			return m.refuse("the server redirects again and again")
		}
		return nil
	}
}

// guard adds the headers of the server, and bounds what comes back. Requests to another host,
// those of a login for instance, have none of the headers.
type guard struct {
	next         http.RoundTripper
	host, scheme string
	header       http.Header
	m            *meter
}

func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.EqualFold(r.URL.Host, g.host) && r.URL.Scheme == g.scheme && len(g.header) > 0 {
		r = r.Clone(r.Context())
		for name, values := range g.header {
			r.Header[name] = values
		}
	}
	resp, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body := io.ReadCloser(&metered{resp.Body, g.m})
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body = &limited{body, maxMessage, maxMessage}
	}
	resp.Body = body
	return resp, nil
}

// CloseIdleConnections is what http.Client asks for.
func (g *guard) CloseIdleConnections() {
	if t, ok := g.next.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// limited is a body that may not have more than so many bytes.
type limited struct {
	io.ReadCloser
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("a message has more than %d MiB", l.most>>20)
	}
	return n, err
}
