package proxy

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"lyceum/internal/plain"
)

// A Registry is a host that wants a credential of whoever reads from it. The proxy puts the
// credential into requests on their way out; no program of a computer ever has it.
type Registry struct {
	// Host is a name or an address, Port 443 if it is zero.
	Host string
	Port int
	// Header is the one that Value is sent in.
	Header, Value string
}

// authority is how URLs of the registry name it.
func (r *Registry) authority() string {
	if r.Port == 443 {
		if strings.Contains(r.Host, ":") {
			return "[" + r.Host + "]"
		}
		return r.Host
	}
	return net.JoinHostPort(r.Host, strconv.Itoa(r.Port))
}

// minSecret is how long a text is at least that is looked for in what comes back: a shorter
// one would be found everywhere.
const minSecret = 8

// Secrets are the texts that give a registry's credential away: the value, its words without
// the name of the scheme, and what stands in the last of them in base64.
func (r *Registry) Secrets() (out []string) {
	add := func(s string) {
		if len(s) >= minSecret {
			out = append(out, s)
		}
	}
	add(r.Value)
	words := strings.Fields(r.Value)
	if len(words) < 2 {
		return out
	}
	for _, w := range words[1:] {
		add(w)
	}
	if both, err := base64.StdEncoding.DecodeString(words[len(words)-1]); err == nil && strings.EqualFold(words[0], "Basic") {
		_, password, _ := strings.Cut(string(both), ":")
		add(string(both))
		add(password)
	}
	return out
}

// check makes a registry as requests for it are compared.
func (r Registry) check() (*Registry, error) {
	h, err := parseHost(r.Host)
	switch {
	case err != nil:
		return nil, err
	case len(r.Value) < minSecret || !plain.Printable(r.Value):
		return nil, fmt.Errorf("its credential is shorter than %d bytes, or nothing that a header can hold", minSecret)
	case r.Header == "":
		return nil, errors.New("it names no header")
	}
	if r.Host = h.name; h.addr.IsValid() {
		r.Host = h.addr.String()
	}
	r.Port = either(r.Port, 443)
	return &r, nil
}

// serveRegistry answers the requests of a tunnel to a registry. Towards the program the proxy
// is the registry, by a certificate of its own; each request goes on to the real one.
func (p *Proxy) serveRegistry(outer *conn, r *Registry) {
	outer.flow()
	shown := p.Registries.show(outer, r)
	c := newConn(outer.ctx, shown, outer.limits)
	defer c.end()
	c.awaitHead()
	if err := shown.HandshakeContext(c.ctx); err != nil {
		a := p.begin(r.Host, r.Port)
		p.refuse(c, a, &Refused{r.Host, r.Port, "the program speaks no TLS that this registry is shown by, or does not trust the certificate in the file that SSL_CERT_FILE names"}, func() {})
		return
	}
	for more := true; more; c.awaitHead() {
		if _, err := c.r.Peek(1); err != nil {
			return
		}
		req, err := http.ReadRequest(c.r)
		if err == nil {
			c.flow()
			err = aimed(req, r)
		} else {
			err = headError(c)
			c.flow()
		}
		if err != nil {
			p.reject(c, req, r.Host, err)
			break
		}
		more = p.forward(c, req, r.Host, r.Port, r)
	}
	c.linger()
}

// aimed makes the request one for the registry, and refuses one that is for anybody else: the
// same server may keep other hosts.
func aimed(req *http.Request, r *Registry) error {
	switch {
	case req.ProtoMajor != 1:
		return &invalid{http.StatusHTTPVersionNotSupported, "this proxy speaks HTTP/1.1"}
	case req.Method == http.MethodConnect || req.URL.Host != "" || req.URL.Opaque != "" || !strings.HasPrefix(req.URL.Path, "/"):
		return &invalid{http.StatusBadRequest, "it is not a request for a path of the registry"}
	case !strings.EqualFold(req.Host, r.authority()) && !strings.EqualFold(req.Host, net.JoinHostPort(r.Host, strconv.Itoa(r.Port))):
		return &invalid{http.StatusMisdirectedRequest, "its Host is not the registry"}
	}
	// The connection below is TLS already.
	req.URL.Scheme, req.URL.Host = "http", r.authority()
	return oddHeader(req)
}

// reads reports whether a request changes nothing: only such get the credential, so that
// nobody publishes by it.
func reads(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Method == http.MethodHead ||
		req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/git-upload-pack") // git's way of reading
}

// credit puts the credential into a request, if it is one that reads.
func (r *Registry) credit(req *http.Request) {
	if !reads(req) {
		return
	}
	req.Header.Set(r.Header, r.Value)
	// What comes back is looked through, and so must not be packed.
	req.Header.Set("Accept-Encoding", "identity")
}

var errEchoed = errors.New("the registry's answer has the credential in it")

// keep looks for the credential in an answer. In the head it is found now, in the body as it
// is read: no part of the credential is passed on.
func (r *Registry) keep(resp *http.Response) error {
	secrets := r.Secrets()
	var head bytes.Buffer
	_ = resp.Header.Write(&head) // to memory
	if holds(head.Bytes(), secrets) || holds([]byte(resp.Status), secrets) {
		return errEchoed
	}
	longest := 0
	for _, s := range secrets {
		longest = max(longest, len(s))
	}
	resp.Body = &keeper{ReadCloser: resp.Body, secrets: secrets, longest: longest}
	resp.Trailer = nil
	return nil
}

func holds(data []byte, secrets []string) bool {
	for _, s := range secrets {
		if bytes.Contains(data, []byte(s)) {
			return true
		}
	}
	return false
}

// keeper is a body that ends where a secret begins. It gives bytes away once no secret can
// begin in them.
type keeper struct {
	io.ReadCloser
	secrets []string
	longest int
	held    []byte
	ready   int // how much of held may go
	err     error
}

func (k *keeper) Read(b []byte) (int, error) {
	for k.ready == 0 && k.err == nil {
		chunk := make([]byte, 32<<10)
		var n int
		n, k.err = k.ReadCloser.Read(chunk)
		k.held = append(k.held, chunk[:n]...)
		switch {
		case holds(k.held, k.secrets):
			k.held, k.err = nil, errEchoed
		case k.err != nil:
			k.ready = len(k.held)
		default:
			k.ready = max(0, len(k.held)-k.longest+1)
		}
	}
	if k.ready == 0 {
		return 0, k.err
	}
	n := copy(b, k.held[:k.ready])
	k.held, k.ready = k.held[n:], k.ready-n
	return n, nil
}
