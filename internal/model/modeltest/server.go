package modeltest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/model"
)

// canary is a key that every escape would show, and that must be seen nowhere.
const canary = `sk-canary/+"<&%\k=ey?y$8.ÿ-Zq7Xw2Vt9Lm4`

// server is a provider on this machine.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*Seen
}

// play answers one request that was read.
type play func(w http.ResponseWriter, r *http.Request, seen *Seen)

// serve starts a provider that answers each request with the next play, and all
// that come after with the last.
func serve(t *testing.T, d Driver, plays ...play) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the driver has given up
		}
		seen, err := d.Wire.Read(r, body)
		if err != nil {
			t.Errorf("the server refuses the request: %v\n%s %s\n%.3000s", err, r.Method, r.URL.Path, body)
			d.Wire.Refuse(w, BadRequest)
			return
		}
		s.mu.Lock()
		s.seen = append(s.seen, seen)
		n := min(len(s.seen), len(plays))
		s.mu.Unlock()
		plays[n-1](w, r, seen)
	}))
	t.Cleanup(s.Close)
	return s
}

// last returns what the server understood of the latest request.
func (s *server) last(t *testing.T) *Seen {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		t.Fatal("the server has seen no request")
	}
	return s.seen[len(s.seen)-1]
}

// all returns what the server understood of each request.
func (s *server) all() []*Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// stream is the body of an answer as it is written.
type stream struct {
	w http.ResponseWriter
	// sent counts the events, beats the comments between them.
	sent  int
	beats time.Duration
}

func (s *stream) send(name, data string) bool {
	s.sent++
	return s.raw(sse(name, data))
}

func (s *stream) raw(text string) bool {
	if _, err := io.WriteString(s.w, text); err != nil {
		return false
	}
	return http.NewResponseController(s.w).Flush() == nil
}

func sse(name, data string) string {
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	for line := range strings.SplitSeq(data, "\n") {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	return b.String() + "\n"
}

// meddle comes between an answer and the connection.
type meddle func(s *stream, name, data string) bool

// answer plays a reply, through a meddler if there is one.
func (d Driver) answer(r Reply, m meddle) play {
	return func(w http.ResponseWriter, _ *http.Request, _ *Seen) {
		w.Header().Set("Content-Type", "text/event-stream")
		s := &stream{w: w}
		send := s.send
		if m != nil {
			send = func(name, data string) bool { return m(s, name, data) }
		}
		d.Wire.Answer(send, w.Header(), r)
	}
}

// fail plays a failure.
func (d Driver) fail(f Failure) play {
	return func(w http.ResponseWriter, _ *http.Request, _ *Seen) { d.Wire.Refuse(w, f) }
}

// events counts the events of a reply.
func (d Driver) events(r Reply) int {
	n := 0
	d.Wire.Answer(func(string, string) bool { n++; return true }, http.Header{}, r)
	return n
}

// cutAfter lets n events through, then what is given of the next one, and ends the
// connection: in order, or in the middle of a chunk.
func cutAfter(n int, abrupt bool, part func(event string) string) meddle {
	return func(s *stream, name, data string) bool {
		if s.sent < n {
			return s.send(name, data)
		}
		if part != nil {
			s.raw(part(sse(name, data)))
		}
		if abrupt {
			panic(http.ErrAbortHandler)
		}
		return false
	}
}

// reset breaks the connection so that the other side is told of it.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// hang waits until the driver has gone.
func hang(r *http.Request) { <-r.Context().Done() }

// page writes a body of some type with status 200.
func page(media, body string) play {
	return func(w http.ResponseWriter, _ *http.Request, _ *Seen) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, body)
	}
}

func say(parts ...model.Part) Reply { return Reply{Parts: parts, Stop: model.StopEnd} }
