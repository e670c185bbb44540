package scoped

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// flow writes an answer. A program that does not take a piece in time loses its connection.
type flow struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration

	mu sync.Mutex // held while something is written, so that signs do not stand in the middle
}

func newFlow(w http.ResponseWriter, patience time.Duration) *flow {
	return &flow{w: w, control: http.NewResponseController(w), patience: patience}
}

// watch breaks the connection off unless what it returns is called in time.
func (f *flow) watch() (done func()) {
	t := time.AfterFunc(f.patience, func() {
		_ = f.control.SetWriteDeadline(time.Unix(1, 0))
		_ = f.control.SetReadDeadline(time.Unix(1, 0))
	})
	return func() { t.Stop() }
}

// Header implements http.ResponseWriter.
func (f *flow) Header() http.Header { return f.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (f *flow) WriteHeader(status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.w.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (f *flow) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.watch()()
	return f.w.Write(b)
}

// FlushError implements what http.ResponseController looks for.
func (f *flow) FlushError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.watch()()
	return f.control.Flush()
}

// Flush implements http.Flusher.
func (f *flow) Flush() { _ = f.FlushError() }

// say writes to a stream of events, at once.
func (f *flow) say(text string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.watch()()
	if _, err := io.WriteString(f.w, text); err != nil {
		return err
	}
	return f.control.Flush()
}

// sign is a comment in a stream of events: somebody is there.
const sign = ": \n\n"

// listen is the stream on which a session hears of news.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request) {
	if h.streams.Add(1) > maxStreams {
		h.streams.Add(-1)
		crowded(w)
		return
	}
	defer h.streams.Add(-1)
	h.mu.Lock()
	news := h.news
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	f := newFlow(w, h.opts.Patience)
	tick := time.NewTicker(h.opts.Sign)
	defer tick.Stop()
	for err := f.say(sign); err == nil; {
		select {
		case <-news:
			h.mu.Lock()
			news = h.news
			h.mu.Unlock()
			err = f.say("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		case <-tick.C:
			err = f.say(sign)
		case <-r.Context().Done():
			return
		case <-h.over:
			return
		}
	}
}
