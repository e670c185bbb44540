package modeltest

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/need"
)

// patience is how long a driver may take to return once it is cancelled.
func patience() time.Duration {
	if need.Detector {
		return 300 * time.Millisecond
	}
	return 100 * time.Millisecond
}

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// testCancel runs one after the other, for the sake of the clock.
func testCancel(t *testing.T, d Driver) {
	reply := d.rich()
	n := d.events(reply)
	for name, events := range map[string]int{
		"ReturnsBeforeTheAnswerBegins": -1,
		"ReturnsBeforeTheFirstEvent":   0,
		"ReturnsAfterAnEvent":          1,
		"ReturnsInTheMiddle":           n / 2,
		"ReturnsBeforeTheLastEvent":    n - 1,
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // the machine may be busy; the driver must not be
				if d.cancelAfter(t, reply, events) {
					return
				}
			}
			t.Errorf("it takes more than %s to return", patience())
		})
	}
	t.Run("ReturnsAtTheDeadline", func(t *testing.T) {
		s := serve(t, d, func(_ http.ResponseWriter, r *http.Request, _ *Seen) { hang(r) })
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stop()
		if _, err := d.generate(t, ctx, d.Open(s.URL, canary), d.request(hello)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("AsksNothingWhenCancelledBefore", func(t *testing.T) {
		s := serve(t, d, d.answer(reply, nil))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := d.generate(t, ctx, d.Open(s.URL, canary), d.request(hello)); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
		if len(s.all()) > 0 {
			t.Error("the server was asked")
		}
	})
	if d.OpenQuiet != nil {
		t.Run("IsNotNeededWhenTheServerSaysNothing", func(t *testing.T) { testSilence(t, d) })
	}
}

// cancelAfter cancels a call once the server has sent some events (with -1, not
// even the header) and reports whether the driver returned in time. The server
// must see it go.
func (d Driver) cancelAfter(t *testing.T, reply Reply, events int) bool {
	t.Helper()
	reached, left := make(chan struct{}), make(chan struct{})
	s := serve(t, d, func(w http.ResponseWriter, r *http.Request, seen *Seen) {
		defer close(left)
		stop := func() {
			close(reached)
			hang(r)
		}
		if events < 0 {
			stop()
			return
		}
		d.answer(reply, func(s *stream, name, data string) bool {
			if s.sent < events {
				return s.send(name, data)
			}
			s.raw(": here\n")
			stop()
			return false
		})(w, r, seen)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := d.generate(t, ctx, d.Open(s.URL, canary), d.request(hello))
		done <- err
	}()
	select {
	case <-reached:
	case err := <-done:
		t.Fatalf("it was not cancelled yet, and returned %v", err)
	}
	cancel()
	inTime := true
	limit := time.NewTimer(patience())
	var err error
	select {
	case err = <-done:
	case <-limit.C:
		inTime = false
		err = <-done
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the connection is still open")
	}
	return inTime
}

func testSilence(t *testing.T, d Driver) {
	reply := d.rich()
	quiet := func(w http.ResponseWriter, r *http.Request, _ *Seen) { hang(r) }
	n := d.events(reply)
	half := func(w http.ResponseWriter, r *http.Request, seen *Seen) {
		d.answer(reply, func(s *stream, name, data string) bool {
			if s.sent < n/2 {
				return s.send(name, data)
			}
			hang(r)
			return false
		})(w, r, seen)
	}
	for _, p := range []play{quiet, half} {
		s := serve(t, d, p)
		_, err := d.generate(t, t.Context(), d.OpenQuiet(s.URL, canary, 50*time.Millisecond), d.request(hello))
		wantKind(t, err, model.Unavailable)
	}
	// A server that is slow but says something is not silent, nor is a watcher that
	// takes its time the server's fault. Both take longer here than the limit.
	const limit, beat = 300 * time.Millisecond, 10 * time.Millisecond
	alive := d.answer(say(text("a b c")), func(s *stream, name, data string) bool {
		for s.sent == 0 && s.beats*beat < limit*4/3 {
			s.beats++
			time.Sleep(beat)
			s.raw(": still here\n\n")
		}
		return s.send(name, data)
	})
	m := d.OpenQuiet(serve(t, d, alive).URL, canary, limit)
	waited := false
	a, err := m.Generate(t.Context(), d.request(hello), func(model.Delta) {
		if !waited {
			time.Sleep(limit * 4 / 3)
			waited = true
		}
	})
	if err != nil || len(a.Parts) != 1 {
		t.Errorf("got %+v, error %v", a, err)
	}
}
