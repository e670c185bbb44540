package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// liar is a browser at the other end that says what it likes. What it is told it answers with the
// next of its results, as long as there are any.
type liar struct {
	out     *io.PipeWriter
	results [][]byte
}

func (l *liar) tell(_ context.Context, data []byte) error {
	for line := range bytes.SplitSeq(data, []byte{0}) {
		var q struct {
			ID int64 `json:"id"`
		}
		if json.Unmarshal(line, &q) != nil || len(l.results) == 0 {
			continue
		}
		_, err := fmt.Fprintf(l.out, "{\"id\":%d,\"result\":%s}\x00", q.ID, l.results[0])
		if l.results = l.results[1:]; len(l.results) == 0 {
			l.out.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *liar) end(context.Context) error              { return l.out.Close() }
func (l *liar) why(_ context.Context, err error) error { return err }

// against visits a page with a browser that says something, answers with results, and ends.
func against(t testing.TB, says []byte, results [][]byte) *Seen {
	in, out := io.Pipe()
	k := makeConn(t.Context(), &liar{out: out, results: results})
	k.begin(in)
	done := make(chan *Seen, 1)
	go func() {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, &ending{Timeout, "it took too long"})
		defer cancel()
		done <- visit(ctx, k, Visit{Files: func(string) ([]byte, string, error) { return nil, "", os.ErrNotExist }, Entry: "index.html", Steps: []event.WorldStep{{Do: "wait"}}})
	}()
	_, _ = out.Write(says)
	if len(results) == 0 {
		out.Close()
	}
	s := <-done
	if err := k.end(t.Context()); err != nil {
		t.Errorf("end: %v", err)
	}
	return s
}

// FuzzPipe: whatever a browser says, a visit comes to an end with a reason.
func FuzzPipe(f *testing.F) {
	answer := `{"browserContextId":"C","targetId":"T","sessionId":"S","frameId":"F","executionContextId":3,"result":{"value":{"elements":3}},"nodes":[{"nodeId":"1","childIds":["1","2"]},{"nodeId":"2","parentId":"1","childIds":["1"]}]}`
	expired := `{"method":"Emulation.virtualTimeBudgetExpired","sessionId":"S"}` + "\x00" + `{"method":"Page.loadEventFired","sessionId":"S"}` + "\x00"
	f.Add([]byte(expired), strings.Repeat(answer+"\n", 40))
	f.Add([]byte(expired), strings.Repeat("{}\n", 40))
	f.Add([]byte(expired), strings.Repeat(`{"value":[[[`+"\n", 5))
	for _, s := range []string{
		"", "\x00", "\x00\x00\x00", "{}\x00", `{"id":1}` + "\x00", `{"id":1,"error":{"message":"no"}}` + "\x00", `{"method":"Inspector.targetCrashed","sessionId":"S"}` + "\x00",
		`{"method":"Fetch.requestPaused","sessionId":"S","params":{"requestId":"1","request":{"url":"https://artifact.test/%zz","method":"GET"}}}` + "\x00",
		`{"method":"Target.attachedToTarget","sessionId":"S","params":{"sessionId":"W","targetInfo":{"type":"worker"}}}` + "\x00",
		`{"method":"Runtime.consoleAPICalled","params":{"args":[{"value":{"a":[1,"\ud800"]}},{"type":"undefined"}]}}` + "\x00",
		`{"method":"Page.javascriptDialogOpening","params":[]}` + "\x00", "not JSON\x00", strings.Repeat("[", 100000) + "\x00",
		`{"id":1,"result":{"browserContextId":"C"}}` + "\x00" + `{"id":2,"result":{"targetId":7}}` + "\x00",
	} {
		f.Add([]byte(s), "")
	}
	f.Fuzz(func(t *testing.T, says []byte, results string) {
		var all [][]byte
		for r := range strings.SplitSeq(results, "\n") {
			if r != "" {
				all = append(all, []byte(r))
			}
		}
		s := against(t, says, all)
		if s.End == Done || s.Why == "" {
			t.Errorf("a browser that ends: %s, %q; want a reason", s.End, s.Why)
		}
	})
}

// FuzzTree: whatever tree a browser tells, it is bounded, and no node comes twice.
func FuzzTree(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(3))
	f.Add([]byte{0, 0, 0, 0}, uint8(1))
	f.Fuzz(func(t *testing.T, links []byte, roots uint8) {
		var all []axNode
		name := func(b byte) string { return string(rune('a' + b%16)) }
		for i, b := range links {
			n := axNode{ID: name(byte(i)), Role: axValue{"button"}, Name: axValue{name(b)}, Children: []string{name(b), name(b >> 4)}}
			if i >= int(roots) {
				n.Parent = name(b)
			}
			all = append(all, n)
		}
		nodes, _ := order(all, nil)
		if len(nodes) > 16 {
			t.Errorf("%d nodes of 16", len(nodes))
		}
	})
}

// endless says one thing for ever.
type endless struct {
	what []byte
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.what) <= len(p) {
		n += copy(p[n:], e.what)
	}
	e.n += int64(n)
	return n, nil
}

// TestEndlessWordsAreCutOff: a message without an end, and messages that are none, cost what they
// may and no more.
func TestEndlessWordsAreCutOff(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"x", "garbage\x00", "\x00", `{"id":0}` + "\x00"} {
		k := makeConn(t.Context(), &liar{})
		in := &endless{what: []byte(what)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := frames(in, maxMessage, k.take)
		runtime.ReadMemStats(&after)
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q for ever: %v", what, err)
		}
		if in.n > maxMessage+1<<20 || after.TotalAlloc-before.TotalAlloc > 20*maxMessage {
			t.Errorf("%q for ever: %d bytes were read, %d taken", what, in.n, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

// TestFrames: a message is whole wherever reads end.
func TestFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 200_000)
	var got []string
	err := frames(io.MultiReader(strings.NewReader("on"), strings.NewReader("e\x00two\x00\x00thr"), strings.NewReader("ee\x00"+long), strings.NewReader("\x00rest")), 1<<20, func(b []byte) error {
		got = append(got, string(bytes.Clone(b)))
		return nil
	})
	if want := []string{"one", "two", "", "three", long}; !errors.Is(err, io.EOF) || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %.100q, %v", got, err)
	}
	if err := frames(strings.NewReader(long), 1000, func([]byte) error { return nil }); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a message that is too long: %v", err)
	}
}

// TestABrowserThatDoesNotRead is given up, however much it asks for.
func TestABrowserThatDoesNotRead(t *testing.T) {
	t.Parallel()
	k := makeConn(t.Context(), &liar{})
	for range maxQueue / (1 << 20) * 2 {
		if _, err := k.say("", "X", params{"data": strings.Repeat("x", 1<<20)}, nil); err != nil {
			if k.ctx.Err() == nil {
				t.Error("the connection goes on")
			}
			return
		}
	}
	t.Error("everything is queued")
}
