package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// openaiServer answers at once, or after a tenth of a second, as a server of Chat Completions does. It keeps nothing of a
// conversation: which step it is, the result of the last tool call says. It also sees how long
// a trip takes, and what the process that asks uses.
type openaiServer struct {
	mu       sync.Mutex
	watching chan struct{} // closed once somebody has said who asks
	pid      int
	left     int // conversations that have not ended
	begun    time.Time
	before   float64
	over     chan struct{}
	seen     span
	first    []byte // the first request of the last conversation that began
}

// serveOpenAI is the server as a process of its own.
func serveOpenAI() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &openaiServer{watching: make(chan struct{}), over: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/watch", s.watch)
	mux.HandleFunc("/seen", s.tell)
	mux.HandleFunc("/first", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = w.Write(s.first)
	})
	mux.HandleFunc("/v1/chat/completions", s.complete)
	srv := &http.Server{Handler: mux}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); _ = srv.Close() }()
	fmt.Printf("http://%s/\n", l.Addr())
	if err := srv.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// watch says who asks, and in how many conversations.
func (s *openaiServer) watch(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid, _ = strconv.Atoi(r.FormValue("pid"))
	s.left, _ = strconv.Atoi(r.FormValue("n"))
	s.begun, s.seen, s.over = time.Time{}, span{}, make(chan struct{})
	select {
	case <-s.watching:
	default:
		close(s.watching)
	}
}

// tell waits for the end of the last conversation.
func (s *openaiServer) tell(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	select {
	case <-over:
	case <-r.Context().Done():
		return
	case <-time.After(2 * patience):
		http.Error(w, "the conversations do not end", http.StatusGatewayTimeout)
		return
	}
	_ = json.NewEncoder(w).Encode(s.seen)
}

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (s *openaiServer) complete(w http.ResponseWriter, r *http.Request) {
	<-s.watching
	body := bodies.Get().(*bytes.Buffer)
	defer bodies.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(r.Body); err != nil {
		return
	}
	step, steps := stepOf(body.Bytes())
	if step == 0 {
		s.start(body.Bytes())
	}
	if bytes.Contains(body.Bytes(), fmt.Appendf(nil, `"model":"k%dslow"`, steps)) {
		time.Sleep(100 * time.Millisecond)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if step < steps {
		_, _ = fmt.Fprintf(w, chunks, words[0], words[1], words[2], step, step)
		return
	}
	// It is counted before it is sent: whoever waits for it may be gone a moment later.
	s.end()
	_, _ = io.WriteString(w, lastChunks)
}

// words are what the model says in each step, in three pieces; a call and the usage follow.
var words = [3]string{said[:30], said[30:60], said[60:]}

const chunks = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":%q},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"calculate","arguments":"{\"code\":\"%d + 1\"}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130}}

data: [DONE]

`

const lastChunks = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"It holds."},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105}}

data: [DONE]

`

// stepOf finds how many steps a conversation has taken, and how many it is to take: the first is
// what the last tool call gave, the second stands in the model's name.
func stepOf(body []byte) (step, steps int) {
	if i := bytes.LastIndex(body, []byte(`"model":"k`)); i >= 0 {
		steps = number(body[i+len(`"model":"k`):])
	}
	i := bytes.LastIndex(body, []byte(`{"role":"tool"`))
	if i < 0 {
		return 0, steps
	}
	if j := bytes.Index(body[i:], []byte(`"content":"`)); j >= 0 {
		step = number(body[i+j+len(`"content":"`):])
	}
	return step, steps
}

// number reads the digits at the beginning of a text.
func number(b []byte) (n int) {
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

func (s *openaiServer) start(first []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = append(s.first[:0], first...)
	if s.begun.IsZero() {
		s.begun, s.before = time.Now(), cpuOf(s.pid)
	}
}

func (s *openaiServer) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == 0 {
		s.seen = span{Wall: time.Since(s.begun).Seconds(), CPU: cpuOf(s.pid) - s.before}
		close(s.over)
	}
}

// cpuOf is the processor time of a process so far, in seconds. The kernel counts it by thread and
// nanosecond; a process of Go ends hardly any of its threads.
func cpuOf(pid int) (seconds float64) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if word := strings.Fields(string(data)); err == nil && len(word) > 0 {
			n, _ := strconv.ParseFloat(word[0], 64)
			seconds += n / 1e9
		}
	}
	return seconds
}
