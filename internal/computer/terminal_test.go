package computer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer/link"
)

// stranger is a helper that answers as a test wants. It notes what it is asked.
type stranger struct {
	place Place
	run   func(conn net.Conn, r *link.Reader, s *stranger)

	mu     sync.Mutex
	asked  []string
	killed chan struct{} // closed when a command is to be killed
}

// newStranger listens in a place of its own.
func newStranger(t *testing.T, run func(conn net.Conn, r *link.Reader, s *stranger)) *stranger {
	t.Helper()
	dir := t.TempDir()
	s := &stranger{place: Place{Home: dir, Dir: dir}, run: run, killed: make(chan struct{})}
	f, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	data, _ := json.Marshal(saved{Driver: "stranger", Handle: "h"})
	if err := os.WriteFile(filepath.Join(dir, "computer.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() { defer c.Close(); s.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); work.Wait() })
	return s
}

func (s *stranger) serve(c net.Conn) {
	r := &link.Reader{R: c}
	var q link.Request
	if r.JSON(link.KindRequest, &q) != nil {
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, q.Op)
	s.mu.Unlock()
	if q.Op == link.OpInput {
		for n := int64(0); n < q.Size; {
			_, b, err := r.Next()
			if err != nil {
				return
			}
			n += int64(len(b))
		}
	}
	if link.WriteJSON(c, link.KindAnswer, link.Answer{}) != nil {
		return
	}
	switch q.Op {
	case link.OpRun:
		s.run(c, r, s)
	case link.OpKill:
		close(s.killed)
	case link.OpHold:
		_, _ = io.Copy(io.Discard, c)
	}
}

func (s *stranger) was(op string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.asked {
		if o == op {
			return true
		}
	}
	return false
}

// lost is a driver that must not be asked for anything.
type lost struct {
	Driver
	t *testing.T
}

func (lost) Name() string { return "stranger" }
func (d lost) Kill(context.Context, string) error {
	d.t.Error("the computer was killed")
	return nil
}

func (s *stranger) join(t *testing.T) *Computer {
	t.Helper()
	c, err := Join(t.Context(), s.place, lost{t: t})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var sh = Command{ID: "sh", Args: []string{"sh"}, Terminal: &Size{Rows: 24, Cols: 80}}

func TestAttachPassesOnWhatACommandWrites(t *testing.T) {
	t.Parallel()
	sized := make(chan string, 1)
	s := newStranger(t, func(c net.Conn, r *link.Reader, _ *stranger) {
		_ = link.WriteData(c, link.KindStdout, 0, []byte("one "))
		_ = link.WriteData(c, link.KindStderr, 0, []byte("bad"))
		_ = link.WriteData(c, link.KindStdout, 4, []byte("two"))
		acked := int64(0)
		for acked < 7 || len(sized) == 0 {
			k, b, err := r.Next()
			if err != nil {
				return
			}
			switch k {
			case link.KindAck:
				if stream, at, _ := link.Ack(b); stream == link.KindStdout {
					acked = at
				}
			case link.KindResize:
				sized <- string(b)
			}
		}
		_ = link.WriteJSON(c, link.KindExit, link.Exit{Code: 3, Out: 7, Err: 3})
	})
	var out, errs bytes.Buffer
	resize := make(chan Size, 1)
	resize <- Size{Rows: 40, Cols: 120}
	r, err := s.join(t).Attach(t.Context(), sh, Streams{Out: &out, Err: &errs, Resize: resize})
	if err != nil || r.Exit != 3 || out.String() != "one two" || errs.String() != "bad" {
		t.Errorf("the session: got %+v %v %q %q, want exit 3 and both streams", r, err, &out, &errs)
	}
	if got := <-sized; got != `{"rows":40,"cols":120}` {
		t.Errorf("the new size came as %s", got)
	}
	if !s.was(link.OpForget) {
		t.Error("the command is not forgotten")
	}
}

func TestAttachBelievesNothingThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send func(c net.Conn)
		want string
	}{
		"AGap":            {func(c net.Conn) { _ = link.WriteData(c, link.KindStdout, 5, []byte("x")) }, "output at 5 instead of 0"},
		"NoOffset":        {func(c net.Conn) { _ = link.WriteFrame(c, link.KindStderr, []byte("x")) }, "no offset"},
		"AnUnknownKind":   {func(c net.Conn) { _ = link.WriteFrame(c, link.KindAnswer) }, "a frame of kind 'A'"},
		"AnEndOfMore":     {func(c net.Conn) { _ = link.WriteJSON(c, link.KindExit, link.Exit{Out: 9}) }, "says it was 9 and 0"},
		"AnEndOfNonsense": {func(c net.Conn) { _ = link.WriteFrame(c, link.KindExit, []byte("x")) }, "how a command ended"},
		"AFrameTooLong":   {func(c net.Conn) { _, _ = c.Write([]byte{255, 255, 255, 255, 1}) }, "the computer has stopped"},
		"Silence":         {func(net.Conn) {}, "the computer has stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStranger(t, func(conn net.Conn, _ *link.Reader, _ *stranger) { c.send(conn) })
			r, err := s.join(t).Attach(t.Context(), sh, Streams{Out: io.Discard, Err: io.Discard})
			if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v %v, want %q", r, err, c.want)
			}
		})
	}
}

// untilKilled is a command that writes once, and ends when it is killed.
func untilKilled(c net.Conn, _ *link.Reader, s *stranger) {
	_ = link.WriteData(c, link.KindStdout, 0, []byte("x"))
	<-s.killed
	_ = link.WriteJSON(c, link.KindExit, link.Exit{Code: 137, Signal: "SIGKILL", End: EndKilled, Out: 1})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAttachKillsACommandThatNobodyIsLeftFor(t *testing.T) {
	t.Parallel()
	t.Run("BecauseItsOutputGoesNowhere", func(t *testing.T) {
		t.Parallel()
		s := newStranger(t, untilKilled)
		_, err := s.join(t).Attach(t.Context(), sh, Streams{Out: broken{}})
		if !errors.Is(err, io.ErrClosedPipe) || !s.was(link.OpForget) {
			t.Errorf("a writer that fails: got %v %v, want its error and the command forgotten", err, s.asked)
		}
	})
	t.Run("BecauseTheTerminalIsGone", func(t *testing.T) {
		t.Parallel()
		s := newStranger(t, untilKilled)
		r, err := s.join(t).Attach(t.Context(), sh, Streams{In: strings.NewReader(""), Out: io.Discard})
		if err != nil || r.End != EndKilled {
			t.Errorf("a killed session: got %+v %v, want that it was killed", r, err)
		}
	})
	t.Run("BecauseItIsGivenUp", func(t *testing.T) {
		t.Parallel()
		s := newStranger(t, untilKilled)
		ctx, cancel := context.WithCancel(t.Context())
		in, keys := io.Pipe()
		defer keys.Close()
		_, err := s.join(t).Attach(ctx, sh, Streams{In: in, Out: writer(func([]byte) { cancel() })})
		if !errors.Is(err, context.Canceled) || !s.was(link.OpKill) {
			t.Errorf("a session whose caller left: got %v %v, want it killed", err, s.asked)
		}
	})
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestJoinFindsOnlyWhatIsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Join(t.Context(), Place{Home: dir, Dir: filepath.Join(dir, "never")}, lost{t: t}); !errors.Is(err, ErrStopped) {
		t.Errorf("of one that never was: %v", err)
	}
	s := newStranger(t, nil)
	if _, err := Join(t.Context(), s.place); err == nil || errors.Is(err, ErrStopped) {
		t.Errorf("of one whose driver is not there: %v", err)
	}
	if err := s.join(t).Close(); err != nil {
		t.Error(err)
	}
	f, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(saved{Driver: "stranger"})
	if err := errors.Join(f.Close(), os.WriteFile(filepath.Join(dir, "computer.json"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(t.Context(), Place{Home: dir, Dir: dir}, lost{t: t}); !errors.Is(err, ErrStopped) {
		t.Errorf("of one that has died: %v", err)
	}
}

// TestJoinDoesNotTakeASlowComputerForADeadOne: whoever did would boot another, and so
// end the one that somebody works in.
func TestJoinDoesNotTakeASlowComputerForADeadOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it listens, and nobody accepts
	data, _ := json.Marshal(saved{Driver: "stranger"})
	if err := os.WriteFile(filepath.Join(dir, "computer.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Join(t.Context(), Place{Home: dir, Dir: dir}, lost{t: t})
	if err == nil || errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a computer that is silent: got %v, want that it does not answer", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err = Join(soon, Place{Home: dir, Dir: dir}, lost{t: t}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("of who does not wait: %v", err)
	}
}

// late is a context whose time is over, and which has not heard of it.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return now(), true }

// TestAConnectionMayKnowFirstThatTheTimeIsOver: then it is that, and no word about the computer.
func TestAConnectionMayKnowFirstThatTheTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, timeout := range []error{os.ErrDeadlineExceeded, context.DeadlineExceeded} {
		wrapped := fmt.Errorf("%w: dial: %w", ErrStopped, timeout)
		if err := absent(late{t.Context()}, wrapped); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of one whose time is over: got %v", err)
		}
		if err := absent(t.Context(), wrapped); err == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrStopped) {
			t.Errorf("of one who has time: got %v, want that the computer does not answer", err)
		}
	}
}
