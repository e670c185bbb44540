package connectortest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// web is what the servers have in common that speak HTTP.
type web struct {
	URL string

	mu       sync.Mutex // guards the rest, and what the servers have besides
	trick    Trick
	answer   Answer
	heard    []Heard
	changed  chan struct{} // closed when somebody said something
	poured   atomic.Int64
	followed atomic.Int64
}

// elsewhere is where Away sends to.
const elsewhere = "/elsewhere"

func (w *web) open(t *testing.T, serve http.HandlerFunc) {
	w.changed = make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		trick := w.trick
		w.mu.Unlock()
		switch {
		case strings.HasPrefix(r.URL.Path, elsewhere):
			w.followed.Add(1)
			http.Redirect(rw, r, elsewhere+"/on", http.StatusTemporaryRedirect)
		case trick != "":
			w.play(rw, r, trick)
		default:
			serve(rw, r)
		}
	}))
	w.URL = s.URL
	t.Cleanup(s.Close)
}

func (w *web) play(rw http.ResponseWriter, r *http.Request, trick Trick) {
	// Only when the body is read does the server notice that nobody waits any more.
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
	switch trick {
	case Endless, Deep:
		piece := strings.Repeat("a", 64<<10)
		if trick == Deep {
			piece = strings.Repeat("[", 64<<10)
		}
		for w.poured.Load() < 4*mostPoured {
			n, err := rw.Write([]byte(piece))
			w.poured.Add(int64(n))
			if err != nil {
				return
			}
		}
	case Away:
		http.Redirect(rw, r, elsewhere, http.StatusTemporaryRedirect)
	case Slow:
		_, _ = rw.Write([]byte(`{"ok":`))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	case Garbage:
		_, _ = rw.Write([]byte("\xff\x00<html>{]"))
	case HangUp:
		hangUp(rw)
	}
}

func hangUp(rw http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(rw).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// say changes something, and wakes those who wait.
func (w *web) say(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	close(w.changed)
	w.changed = make(chan struct{})
}

// Heard implements Service.
func (w *web) Heard() []Heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Heard(nil), w.heard...)
}

// Answer implements Service.
func (w *web) Answer(a Answer) { w.say(func() { w.answer = a }) }

// Turn implements Service.
func (w *web) Turn(trick Trick) { w.say(func() { w.trick = trick }) }

// Poured implements Service.
func (w *web) Poured() int64 { return w.poured.Load() }

// Followed implements Service.
func (w *web) Followed() int { return int(w.followed.Load()) }

// hear takes a delivery, unless one with its key is there.
func (w *web) hear(h Heard) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, old := range w.heard {
		if h.Key != "" && old.Key == h.Key && old.Conversation == h.Conversation {
			return
		}
	}
	w.heard = append(w.heard, h)
}

func (w *web) answers() Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answer
}
