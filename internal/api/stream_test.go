package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
)

// writer appends events to a quest as fast as it is told, without any rules: messages of
// a person.
type writer struct {
	t    testing.TB
	rt   *runtime.Runtime
	name string
	seq  uint64
	hash event.Hash
}

func (s *server) writer(name string) *writer {
	s.t.Helper()
	s.create(name, map[string]any{"model": "demo"})
	return s.writes(name)
}

// write appends n events in one batch; pad makes them longer.
func (w *writer) write(n, pad int) {
	w.t.Helper()
	b := ledger.Batch{Quest: w.name}
	for range n {
		e, err := event.Seal(w.name, w.seq+1, w.hash, event.Draft{
			Time: w.rt.Clock(), Actor: "person", Body: &event.UserMessage{Text: event.Text{Text: fmt.Sprint(w.seq, strings.Repeat("x", pad))}},
		})
		must(w.t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
	}
	must(w.t, w.rt.Ledger.Append(context.Background(), b))
}

// seqs follows a quest until an event, and returns what came. Where it is cut off it
// goes on from there, as a browser does.
func seqs(t *testing.T, c *client.Client, name string, after, last uint64) (out []uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for cut := true; cut; {
		cut = false
		for s, err := range c.Follow(ctx, name, after) {
			switch {
			case err != nil:
				t.Errorf("follow %s after %d: %v", name, after, err)
				return out
			case s.Kind == "cut":
				cut = true
			case s.Kind == "message":
				out, after = append(out, s.Seq), s.Seq
				if s.Seq == last {
					return out
				}
			}
		}
	}
	t.Errorf("the stream of %s ends after %d of %d events", name, len(out), last)
	return out
}

func upTo(from, to uint64) (out []uint64) {
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

func TestStream(t *testing.T) {
	t.Parallel()
	t.Run("IsTheBytesOfTheLedger", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("demo-number", "q", "")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var got []string
		for sig, err := range s.client.Follow(ctx, "q", 0) {
			must(t, err)
			if sig.Kind == "message" {
				got = append(got, string(sig.Data))
			}
		}
		if want := lines(t, s.rt, "q"); !slices.Equal(got, want) {
			t.Errorf("the stream has %d lines, the ledger %d, or they differ", len(got), len(want))
		}
	})
	t.Run("GoesOnAfterTheLastEventID", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		w := s.writer("q")
		w.write(2000, 0)
		for _, after := range []uint64{0, 1, 7, 1999, 2000} {
			if got := seqs(t, s.client, "q", after, 2001); !slices.Equal(got, upTo(after+1, 2001)) {
				t.Errorf("after %d come %d events", after, len(got))
			}
		}
	})
	t.Run("LosesNothingWhileItCatchesUp", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{Buffer: 64 << 10}) // far less than what is written meanwhile
		w := s.writer("q")
		w.write(2000, 50)
		done := make(chan []uint64)
		for range 4 {
			go func() { done <- seqs(t, s.client, "q", 0, 3001) }()
		}
		for range 20 {
			w.write(50, 50)
		}
		for range 4 {
			if got := <-done; !slices.Equal(got, upTo(1, 3001)) {
				t.Errorf("%d events, want 3001 in order", len(got))
			}
		}
	})
	t.Run("GoesOnAcrossARestartOfTheServer", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		first := h.serve(api.Options{})
		w := first.writer("q")
		w.write(10, 0)
		got := seqs(t, first.client, "q", 0, 11)
		first.stop()
		second := h.serve(api.Options{})
		w.rt = second.rt
		w.write(10, 0)
		got = append(got, seqs(t, second.client, "q", got[len(got)-1], 21)...)
		if !slices.Equal(got, upTo(1, 21)) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("EndsWithTheQuest", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("thermal", "q", "")
		a := s.do("GET", "/api/quests/q/events", nil, streaming).want(t, 200)
		at := strings.LastIndex(string(a.body), "event: end\ndata: ")
		if at < 0 {
			t.Fatalf("no end: %.300s", a.body[max(0, len(a.body)-300):])
		}
		var end struct {
			Status string
			Head   int
		}
		must(t, json.Unmarshal(a.body[at+len("event: end\ndata: "):], &end))
		if end.Status != "finished" || end.Head != len(lines(t, s.rt, "q")) {
			t.Errorf("it ends with %+v", end)
		}
	})
	t.Run("HoldsOnWhileTheQuestRests", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		s := h.serve(api.Options{Heartbeat: 5 * time.Millisecond})
		s.create("q", nil)
		r := s.stream("/api/quests/q/events")
		r.until(": heartbeat")
		r.until(": heartbeat")
	})
	t.Run("SendsWhatAModelSaysWithoutANumber", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		s := h.serve(api.Options{})
		s.create("q", nil)
		r := s.stream("/api/quests/q/events")
		r.until("id: 1")
		s.control("q", map[string]any{"action": "start"}).want(t, 200)
		r.until("event: delta")
		if line := r.next(); line != `data: {"agent":"agent-0","call":3,"first":true,"kind":"text","text":"turn 1"}` {
			t.Errorf("the delta is %s", line)
		}
		if line := r.next(); line != "" {
			t.Errorf("the delta goes on with %s", line)
		}
	})
	t.Run("HonoursFilters", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.finish("demo-number", "q", "")
		a := s.do("GET", "/api/quests/q/events?type=model.result,tool.&actor=agent-0", nil, streaming).want(t, 200)
		n := 0
		for sig, err := range client.Read(strings.NewReader(string(a.body))) {
			must(t, err)
			if sig.Kind == "message" {
				n++
				if k := sig.Event.Type; k != "model.result" && !strings.HasPrefix(string(k), "tool.") {
					t.Errorf("%s came through", k)
				}
			}
		}
		if n == 0 {
			t.Error("nothing came through")
		}
	})
	t.Run("EndsWithTheServer", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.writer("q")
		r := s.stream("/api/quests/q/events")
		r.until("id: 1")
		s.EndStreams()
		if _, err := io.ReadAll(r.in); err != nil {
			t.Error(err)
		}
	})
	t.Run("SaysWhenTheQuestIsRemoved", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{})
		s.writer("q")
		r := s.stream("/api/quests/q/events")
		r.until("id: 1")
		s.do("DELETE", "/api/quests/q", nil).want(t, 204)
		r.until("event: cut")
		if line := r.next(); !strings.Contains(line, "removed") {
			t.Errorf("it says %s", line)
		}
	})
	t.Run("LetsGoOfTheQuestWithTheLastReader", func(t *testing.T) {
		t.Parallel()
		s := newHome(t).serve(api.Options{Heartbeat: time.Millisecond})
		s.writer("q")
		r := s.stream("/api/quests/q/events")
		r.until("id: 1")
		if s.Feeds() != 1 || s.Readers() != 1 {
			t.Errorf("%d feeds and %d readers", s.Feeds(), s.Readers())
		}
		r.cancel()
		wait(t, func() bool { return s.Feeds() == 0 && s.Readers() == 0 })
	})
}

// wait looks again and again until something is so.
func wait(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it does not come about")
		}
	}
}

func streaming(r *http.Request) { r.Header.Set("Accept", "text/event-stream") }

// reading is a stream that is read line by line.
type reading struct {
	t      *testing.T
	in     *bufio.Reader
	cancel context.CancelFunc
	// last is the line that until came to.
	last string
}

func (s *server) stream(path string) *reading {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", s.web.URL+path, nil)
	must(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	streaming(r)
	resp, err := s.web.Client().Do(r)
	must(s.t, err)
	s.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 {
		s.t.Fatalf("the stream: got %s, want 200", resp.Status)
	}
	return &reading{t: s.t, in: bufio.NewReader(resp.Body), cancel: cancel}
}

func (r *reading) next() string {
	r.t.Helper()
	line, err := r.in.ReadString('\n')
	must(r.t, err)
	return strings.TrimSuffix(line, "\n")
}

func (r *reading) until(prefix string) {
	r.t.Helper()
	for r.last = r.next(); !strings.HasPrefix(r.last, prefix); r.last = r.next() {
	}
}

// TestASlowReader stalls on a bare connection, with as little room in between as the
// system allows, while another reads on.
func TestASlowReader(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Buffer: 2 << 20})
	w := s.writer("q")
	addr := strings.TrimPrefix(s.web.URL, "http://")
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	defer conn.Close()
	must(t, conn.(*net.TCPConn).SetReadBuffer(256<<10))
	fmt.Fprintf(conn, "GET /api/quests/q/events HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n", addr, token)
	must(t, conn.SetReadDeadline(time.Now().Add(patience)))
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	defer resp.Body.Close()
	stalled := bufio.NewReader(resp.Body)
	read := func() string {
		line, err := stalled.ReadString('\n')
		must(t, err)
		return line
	}
	for read() != "id: 1\n" {
	}
	other := s.stream("/api/quests/q/events")
	const n = 1500 // of 8 KB each: more than all buffers on the way, a socket's 4 MiB included
	for got := uint64(0); got < n+1; {
		if got == w.seq || got == 0 {
			w.write(50, 8<<10)
		}
		other.until("id: ")
		if got++; other.last != fmt.Sprint("id: ", got) {
			t.Fatalf("%s comes to the other reader, want %d", other.last, got)
		}
	}
	var last uint64
	for {
		line := read()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			var seq uint64
			fmt.Sscan(id, &seq)
			if seq != last+1 && last != 0 {
				t.Fatalf("%d comes after %d", seq, last)
			}
			last = seq
		}
		if line == "event: cut\n" {
			break
		}
	}
	var cut struct {
		Reason string
		After  uint64
	}
	must(t, json.Unmarshal([]byte(strings.TrimPrefix(read(), "data: ")), &cut))
	if cut.After != last || !strings.Contains(cut.Reason, "slow") || last == n+1 {
		t.Errorf("cut off after %d with %+v", last, cut)
	}
	if got := seqs(t, s.client, "q", cut.After, n+1); !slices.Equal(got, upTo(last+1, n+1)) {
		t.Errorf("it goes on with %d events", len(got))
	}
}

// TestManyReaders is the load test of bench in small: everybody gets everything, in
// order.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	w := s.writer("q")
	const readers, batches = 50, 40
	done := make(chan []uint64)
	for range readers {
		go func() { done <- seqs(t, s.client, "q", 0, 1+batches*25) }()
	}
	wait(t, func() bool { return s.Readers() == readers })
	for range batches {
		w.write(25, 100)
	}
	for range readers {
		if got := <-done; !slices.Equal(got, upTo(1, 1+batches*25)) {
			t.Errorf("a reader got %d events", len(got))
		}
	}
}
