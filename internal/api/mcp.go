package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	mcpserver "lyceum/internal/mcp/server"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newMCP serves MCP. Each session speaks to this server's own routes, with the credentials of
// whoever began it.
func (s *Server) newMCP(cost string) *mcpserver.Handler {
	return mcpserver.NewHandler(mcpserver.HandlerOptions{
		Pick: func(r *http.Request) (*mcp.Server, func()) {
			m := mcpserver.New(s.ctx, s.Inside(r.Header.Get("Authorization")), mcpserver.Options{
				Access: accessOf(callerOf(r)), Version: s.rt.Version, Cost: cost, Redact: s.rt.Redact,
			})
			return m.MCP(), m.Close
		},
		Who: func(r *http.Request) string { return callerOf(r).key() }, MaxBody: s.body, Stall: s.opts.Stall,
		Now: func() time.Time { return s.rt.Clock().Time() },
	})
}

// accessOf is which tools a caller can use. For which quests, the routes say.
func accessOf(who caller) mcpserver.Access {
	switch {
	case who.Scope == owner:
		return mcpserver.Own
	case who.word == "steer" || who.word == "quest":
		return mcpserver.Steer
	}
	return mcpserver.Read
}

// Inside is this server as programs in its process use it, without a network. authorization is
// the header that they would send; whoever sends it is let in like everybody else.
func (s *Server) Inside(authorization string) *Inside { return &Inside{s, authorization} }

// Inside sends requests to a server of the same process.
type Inside struct {
	server        *Server
	authorization string
}

// Do answers a request whose address is a path. Its body is a stream, if the route is one: it
// ends when the body is closed, or the request's context ends.
func (i *Inside) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(i.server.ctx, cancel) // the server ends
	r = r.Clone(ctx)
	r.Host, r.RemoteAddr, r.RequestURI = "localhost", "127.0.0.1:0", r.URL.RequestURI()
	r.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	r.Header.Set("Authorization", i.authorization)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	out, in := io.Pipe()
	w := &inner{header: http.Header{}, body: in, began: make(chan struct{})}
	i.server.work.Go(func() {
		defer cancel()
		defer stop()
		defer w.end()
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		i.server.ServeHTTP(w, r)
	})
	select {
	case <-w.began:
	case <-ctx.Done():
		// It ends by itself, and nobody reads what it has to say.
		_ = out.Close()
		return nil, context.Cause(ctx)
	}
	return &http.Response{
		StatusCode: w.code, Status: http.StatusText(w.code), Header: w.sent, Request: r, ContentLength: -1,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: &innerBody{out, cancel},
	}, nil
}

// inner is the other end of a request in this process. The handler's goroutine alone writes it.
type inner struct {
	header http.Header
	body   *io.PipeWriter
	// began is closed when code and sent, the header as it was then, are there.
	began chan struct{}
	code  int
	sent  http.Header
}

func (w *inner) Header() http.Header { return w.header }

func (w *inner) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
		close(w.began)
	}
}

func (w *inner) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// FlushError implements what http.ResponseController looks for: nothing is held back.
func (w *inner) FlushError() error { return nil }

func (w *inner) end() {
	w.WriteHeader(http.StatusOK)
	_ = w.body.Close()
}

// innerBody ends its request when it is closed.
type innerBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *innerBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// speakMCP answers whoever speaks MCP and brings a token. A browser's session is not enough: its
// cookie goes with whatever a page sends.
func (s *Server) speakMCP(w http.ResponseWriter, r *http.Request) error {
	switch {
	case callerOf(r).Scope == Scope{}: // a session must belong to somebody
		return problemf(http.StatusForbidden, "Authorization", "nobody has looked at who you are")
	case callerOf(r).byCookie:
		return problemf(http.StatusUnauthorized, "Authorization", "MCP takes a token, as Authorization: Bearer, and no browser's session")
	case r.Method == http.MethodHead:
		return problemf(http.StatusBadRequest, "", "MCP has no HEAD")
	}
	return s.mcp.Serve(w, r)
}
