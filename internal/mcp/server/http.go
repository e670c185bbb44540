package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves MCP over streamable HTTP, in two kinds of revisions. Those up to 2025-11-25
// have sessions; from 2026-07-28 on each request stands alone. The SDK has a handler for each,
// and what a request says of itself decides which gets it.
//
// Credentials, Host and Origin were looked at before. A session belongs to whoever began it:
// with another's credentials its id is worth nothing.
type Handler struct {
	opts                HandlerOptions
	stateful, stateless http.Handler
	// blank answers for sessions that have their server already.
	blank *mcp.Server
	mu    sync.Mutex
	// servers are those of sessions and of requests under way, with whose they are.
	servers map[*mcp.Server]string
	closed  bool
	work    sync.WaitGroup
}

// HandlerOptions are what a handler needs to know of the server that it is part of.
type HandlerOptions struct {
	// Pick returns the server of a new session, or of a request that stands alone, and what
	// to call when that has ended.
	Pick func(*http.Request) (*mcp.Server, func())
	// Who tells callers apart.
	Who func(*http.Request) string
	// MaxBody is how many bytes a request may bring.
	MaxBody int64
	// Stall is how long a write may wait for its reader; Now is the time that this is counted from.
	Stall time.Duration
	Now   func() time.Time
}

const (
	// sessionless is the first revision without sessions.
	sessionless   = "2026-07-28"
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	// versionKey is where the body of a request of such a revision says which it is of.
	versionKey = "io.modelcontextprotocol/protocolVersion"
)

// Bounds on sessions: how long one lasts of which nothing is heard, and how many one caller
// has, requests that stand alone included.
const (
	idle        = 30 * time.Minute
	maxSessions = 64
)

// ErrSessions says that a caller has too many sessions.
var ErrSessions = errors.New("too many MCP sessions of this token are open: end one with DELETE, or wait until one has been idle for half an hour")

// ErrClosed says that the handler goes away.
var ErrClosed = errors.New("the server is shutting down: try again when it is back")

// ErrNested says that a body is not to be parsed.
var ErrNested = errors.New("the body is nested too deep: no request of MCP is like that")

// NewHandler returns a handler. Close ends its sessions.
func NewHandler(opts HandlerOptions) *Handler {
	h := &Handler{opts: opts, servers: map[*mcp.Server]string{}, blank: mcp.NewServer(&mcp.Implementation{Name: "lyceum"}, nil)}
	// The SDK looks at Host on loopback alone; the server that this is part of knows its names.
	bearer := auth.RequireBearerToken(func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: opts.Who(r)}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	h.stateful = bearer(mcp.NewStreamableHTTPHandler(h.server, &mcp.StreamableHTTPOptions{SessionTimeout: idle, MaxRequestBodyBytes: opts.MaxBody, DisableLocalhostProtection: true}))
	h.stateless = bearer(mcp.NewStreamableHTTPHandler(h.server, &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: opts.MaxBody, DisableLocalhostProtection: true, PropagateRequestCancellation: true}))
	return h
}

// serverKey is where a request's context has the server that was picked for it.
type serverKey struct{}

func (h *Handler) server(r *http.Request) *mcp.Server {
	if s, ok := r.Context().Value(serverKey{}).(*mcp.Server); ok {
		return s
	}
	return h.blank
}

// Serve answers a request, or says why it does not.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if Deep(body) {
		return ErrNested
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w = h.pace(w)
	alone := standsAlone(r, body)
	if !alone && (r.Header.Get(sessionHeader) != "" || r.Method != http.MethodPost) {
		h.stateful.ServeHTTP(w, r)
		return nil
	}
	s, end := h.opts.Pick(r)
	if err := h.admit(s, h.opts.Who(r)); err != nil {
		end()
		return err
	}
	r = r.WithContext(context.WithValue(r.Context(), serverKey{}, s))
	if alone {
		defer h.drop(s, end)
		h.stateless.ServeHTTP(w, r)
		return nil
	}
	defer h.keep(s, end)
	h.stateful.ServeHTTP(w, r)
	return nil
}

// standsAlone reports whether a request is of a revision without sessions. One that does not
// say so in its head may do so in its body; what is wrong with it then, the SDK says.
func standsAlone(r *http.Request, body []byte) bool {
	if v := r.Header.Get(versionHeader); v != "" {
		return v >= sessionless
	}
	var msg struct {
		Params struct {
			Meta map[string]any `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &msg) != nil {
		return false
	}
	v, _ := msg.Params.Meta[versionKey].(string)
	return v >= sessionless
}

// maxDepth is how deep a body may be nested.
const maxDepth = 200

// Deep reports whether JSON is nested deeper than anybody needs. It need not be JSON.
func Deep(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

func (h *Handler) admit(s *mcp.Server, who string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, other := range h.servers {
		if other == who {
			n++
		}
	}
	switch {
	case h.closed:
		return ErrClosed
	case n >= maxSessions:
		return ErrSessions
	}
	h.servers[s] = who
	return nil
}

func (h *Handler) drop(s *mcp.Server, end func()) {
	h.mu.Lock()
	delete(h.servers, s)
	h.mu.Unlock()
	end()
}

// keep remembers a server for as long as it has a session.
func (h *Handler) keep(s *mcp.Server, end func()) {
	for session := range s.Sessions() {
		h.work.Go(func() {
			_ = session.Wait()
			h.drop(s, end)
		})
		return
	}
	h.drop(s, end)
}

// Close ends all sessions.
func (h *Handler) Close() {
	h.mu.Lock()
	h.closed = true
	var all []*mcp.Server
	for s := range h.servers {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	}
	h.work.Wait()
}

// paced gives each write of an answer its time: a stream has no end, and a reader that does not
// read must not be waited for.
type paced struct {
	http.ResponseWriter
	rc   *http.ResponseController
	opts *HandlerOptions
}

func (h *Handler) pace(w http.ResponseWriter) http.ResponseWriter {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // a stream is read for as long as it lasts
	_ = rc.SetWriteDeadline(time.Time{})
	return &paced{w, rc, &h.opts}
}

func (p *paced) Write(data []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(p.opts.Now().Add(p.opts.Stall)) // what has no deadline has none
	n, err := p.ResponseWriter.Write(data)
	return n, err
}

// FlushError implements what http.ResponseController looks for.
func (p *paced) FlushError() error { return p.rc.Flush() }

// Unwrap lets http.ResponseController find the rest.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
