package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
)

// side is a Peer made of functions; those that are missing know nothing.
type side struct {
	request func(method string, params json.RawMessage) (func(context.Context) (any, error), error)
	notify  func(method string, params json.RawMessage)
}

func (s *side) Request(method string, params json.RawMessage) (func(context.Context) (any, error), error) {
	if s.request == nil {
		return nil, &acp.Error{Code: acp.NoMethod, Message: "no " + method}
	}
	return s.request(method, params)
}

func (s *side) Notify(method string, params json.RawMessage) {
	if s.notify != nil {
		s.notify(method, params)
	}
}

// wire is a connection under test, and its other end as lines.
type wire struct {
	t    *testing.T
	conn *acp.Conn
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

func connect(t *testing.T, peer acp.Peer, opts acp.Options) *wire {
	t.Helper()
	theirs, in := io.Pipe()
	read, out := io.Pipe()
	w := &wire{t: t, conn: acp.NewConn(t.Context(), peer, theirs, out, opts), in: in, out: bufio.NewScanner(read), done: make(chan error, 1)}
	w.out.Buffer(nil, 64<<20)
	go func() {
		w.done <- w.conn.Serve()
		out.Close()
	}()
	t.Cleanup(func() { in.Close(); read.Close(); theirs.Close() })
	return w
}

func (w *wire) say(line string) {
	w.t.Helper()
	_, err := io.WriteString(w.in, line+"\n")
	must(w.t, err)
}

func (w *wire) hear() string {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatalf("the connection is silent: %v", w.out.Err())
	}
	return w.out.Text()
}

func (w *wire) wants(line string) {
	w.t.Helper()
	if got := w.hear(); got != line {
		w.t.Errorf("the connection says\n%s\nwant\n%s", got, line)
	}
}

// end ends what the other side says, and returns what the connection says of it.
func (w *wire) end() error {
	w.in.Close()
	go func() {
		for w.out.Scan() {
		}
	}()
	return <-w.done
}

func TestRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{request: func(method string, params json.RawMessage) (func(context.Context) (any, error), error) {
		switch method {
		case "echo":
			return func(context.Context) (any, error) { return params, nil }, nil
		case "nothing":
			return func(context.Context) (any, error) { return nil, nil }, nil
		case "break":
			return func(context.Context) (any, error) { return nil, errors.New("it broke") }, nil
		}
		return nil, &acp.Error{Code: acp.NoMethod, Message: "there is no method " + method}
	}}, acp.Options{})
	for _, c := range []struct{ in, out string }{
		{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1]}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}`},
		{`{"jsonrpc":"2.0","id":"one","method":"nothing","unknown":true}`, `{"jsonrpc":"2.0","id":"one","result":{}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"break"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"it broke"}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"craft/drain"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"there is no method craft/drain"}}`},
		{"{", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON: want one JSON-RPC 2.0 message a line"}}`},
		{"\r\n\n[]", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message: want one JSON-RPC 2.0 message a line"}}`},
		{`{"jsonrpc":"1.0","id":4,"method":"echo"}`, `{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"the message is not of JSON-RPC 2.0: want one JSON-RPC 2.0 message a line"}}`},
		{`{"jsonrpc":"2.0","id":{},"method":"echo"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id is neither a number nor a short text: want one JSON-RPC 2.0 message a line"}}`},
		{`{"jsonrpc":"2.0","id":5}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"the message is no request, no notification and no answer: want one JSON-RPC 2.0 message a line"}}`},
	} {
		w.say(c.in)
		w.wants(c.out)
	}
	// Notifications that nobody knows are no reason to say anything.
	w.say(`{"jsonrpc":"2.0","method":"_auth/status_update","params":{}}`)
	w.say(`{"jsonrpc":"2.0","id":6,"method":"nothing"}`)
	w.wants(`{"jsonrpc":"2.0","id":6,"result":{}}`)
	if err := w.end(); err != nil {
		t.Errorf("the end of the input: %v", err)
	}
}

func TestCallsAreAnsweredAfterTheNotificationsBefore(t *testing.T) {
	t.Parallel()
	var seen []string
	w := connect(t, &side{notify: func(method string, _ json.RawMessage) { seen = append(seen, method) }}, acp.Options{})
	answers := make(chan string, 1)
	go func() {
		var out struct{ Is string }
		err := w.conn.Call(t.Context(), "ask", map[string]int{"n": 1}, &out)
		answers <- fmt.Sprint(out.Is, err, len(seen))
	}()
	w.wants(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{"n":1}}`)
	for i := range 100 {
		w.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n%d"}`, i))
	}
	w.say(`{"jsonrpc":"2.0","id":1,"result":{"Is":"here"}}`)
	if got := <-answers; got != "here<nil> 100" {
		t.Errorf("the call gave %s, want its answer after 100 notifications", got)
	}
	must(t, w.end())
}

func TestAnAnswerThatSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{}, acp.Options{})
	for id, line := range []string{`{"code":-32002,"message":"no such file","data":{"path":"/x"}}`, `"broken"`, `null`} {
		got := make(chan error, 1)
		go func() { got <- w.conn.Call(t.Context(), "ask", nil, nil) }()
		w.wants(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask","params":{}}`, id+1))
		w.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":%s}`, id+1, line))
		if e, ok := errors.AsType[*acp.Error](<-got); !ok || id == 0 && e.Code != -32002 || id > 0 && e.Code != acp.Internal {
			t.Errorf("the error %s is %+v", line, e)
		}
	}
	must(t, w.end())
}

// TestAnswersToNothing: they are recorded, and end the connection only when they are many.
func TestAnswersToNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var faults []string
	w := connect(t, &side{}, acp.Options{MaxFaults: 2, Tap: func(f acp.Frame) {
		mu.Lock()
		defer mu.Unlock()
		if f.Fault != "" {
			faults = append(faults, f.Fault)
		}
	}})
	got := make(chan error, 1)
	go func() { got <- w.conn.Call(t.Context(), "ask", nil, nil) }()
	w.hear()
	w.say(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := <-got; err != nil {
		t.Errorf("the call beside an answer to nothing: %v", err)
	}
	w.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	w.say(`{"jsonrpc":"2.0","id":1,"error":{}}`)
	if err := <-w.done; err == nil {
		t.Error("a third fault of two that are allowed did not end the connection")
	}
	want := []string{"an answer to 7, which was not asked or has its answer", "an answer to 1, which was not asked or has its answer", "an answer to 1, which was not asked or has its answer"}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Errorf("what was recorded is not what was said: %s", diff)
	}
}

func TestRequestsAreTakenBack(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{request: func(string, json.RawMessage) (func(context.Context) (any, error), error) {
		return func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }, nil
	}}, acp.Options{Linger: time.Millisecond})
	w.say(`{"jsonrpc":"2.0","id":"a","method":"wait"}`)
	w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"b"}}`)
	w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":7}`)
	w.say(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`)
	w.wants(`{"jsonrpc":"2.0","id":"a","error":{"code":-32800,"message":"the request was taken back"}}`)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() { got <- w.conn.Call(ctx, "ask", nil, nil) }()
	w.hear()
	cancel()
	w.wants(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is taken back: %v", err)
	}
	// That the other side answers it nevertheless is no fault of its.
	w.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"taken back"}}`)
	w.say(`{"jsonrpc":"2.0","id":"c","method":"wait"}`) // the end takes it back
	if err := w.end(); err != nil {
		t.Errorf("the end: %v", err)
	}
	if err := w.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, acp.ErrClosed) {
		t.Errorf("a call after the end: %v", err)
	}
}

func TestTheEndOfTheOtherSideEndsCalls(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{}, acp.Options{})
	got := make(chan error, 1)
	go func() { got <- w.conn.Call(t.Context(), "ask", nil, nil) }()
	w.hear()
	must(t, w.end())
	if err := <-got; !errors.Is(err, acp.ErrClosed) {
		t.Errorf("a call whose answer cannot come: %v", err)
	}
}

// TestWhatWasAskedBeforeTheEndIsAnswered: who says all it has to say and closes its side gets its
// answers. What takes too long ends, and so does what waits for the side that is closed.
func TestWhatWasAskedBeforeTheEndIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var conn *acp.Conn
		calls := make(chan error, 2)
		w := connect(t, &side{request: func(method string, _ json.RawMessage) (func(context.Context) (any, error), error) {
			return func(ctx context.Context) (any, error) {
				switch method {
				case "call":
					calls <- conn.Call(ctx, "ask", nil, nil) // under way when the side ends
					calls <- conn.Call(ctx, "ask", nil, nil) // and after it
				case "long":
					<-ctx.Done()
					return nil, ctx.Err()
				default:
					time.Sleep(3 * time.Second)
				}
				return nil, nil
			}, nil
		}}, acp.Options{})
		conn = w.conn
		begun := time.Now()
		w.say(`{"jsonrpc":"2.0","id":1,"method":"call"}`)
		w.hear() // the call
		w.say(`{"jsonrpc":"2.0","id":2,"method":"short"}`)
		w.say(`{"jsonrpc":"2.0","id":3,"method":"long"}`)
		w.in.Close()
		w.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		for range 2 {
			if err := <-calls; !errors.Is(err, acp.ErrClosed) {
				t.Errorf("a call to a side that has ended: %v", err)
			}
		}
		w.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the answer came after %s, want 3s", took)
		}
		must(t, <-w.done)
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("what takes too long ended after %s, want 5s", took)
		}
		if w.out.Scan() {
			t.Errorf("after the end it says %s", w.out.Text())
		}
	})
}

// TestTheEndOfTheContextIsTheEnd: what this side ends itself is over at once.
func TestTheEndOfTheContextIsTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		in, theirs := io.Pipe()
		long := &side{request: func(string, json.RawMessage) (func(context.Context) (any, error), error) {
			return func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }, nil
		}}
		conn := acp.NewConn(ctx, long, in, io.Discard, acp.Options{})
		done := make(chan error, 1)
		begun := time.Now()
		go func() { done <- conn.Serve() }()
		_, err := io.WriteString(theirs, `{"jsonrpc":"2.0","id":1,"method":"long"}`+"\n")
		must(t, err)
		theirs.Close()
		synctest.Wait() // it lingers
		end()
		must(t, <-done)
		if took := time.Since(begun); took != 0 {
			t.Errorf("it ended after %s, want at once", took)
		}
	})
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	w := connect(t, &side{request: func(string, json.RawMessage) (func(context.Context) (any, error), error) {
		return func(ctx context.Context) (any, error) { <-free; return nil, nil }, nil
	}}, acp.Options{MaxRequests: 2})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
	w.say(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
	w.wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the request 1 is still being worked on: give each its own id"}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"method":"wait"}`)
	w.say(`{"jsonrpc":"2.0","id":3,"method":"wait"}`)
	w.wants(`{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"2 requests are being worked on already: wait for their answers"}}`)
	close(free)
	if one, other := w.hear(), w.hear(); !strings.Contains(one+other, `"id":1,"result"`) || !strings.Contains(one+other, `"id":2,"result"`) {
		t.Errorf("the first two are answered %s and %s", one, other)
	}
	w.say(`{"jsonrpc":"2.0","id":3,"method":"wait"}`)
	w.wants(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	must(t, w.end())
}

// TestAFloodWaits: what the peer does not take is not read, and nothing of it is lost.
func TestAFloodWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const all = 200
		turn, taken := make(chan struct{}), make(chan string, all)
		w := connect(t, &side{notify: func(method string, _ json.RawMessage) { <-turn; taken <- method }}, acp.Options{MaxQueued: 8})
		// A flood of lines of 32 KiB each, of which the connection's buffer holds two.
		said := make(chan int, all)
		go func() {
			defer w.in.Close()
			pad := strings.Repeat("x", 32<<10)
			for i := range all {
				if _, err := fmt.Fprintf(w.in, `{"jsonrpc":"2.0","method":"n%d","params":{"pad":%q}}`+"\n", i, pad); err != nil {
					return
				}
				said <- i
			}
		}()
		synctest.Wait()
		if n := len(said); n < 9 || n > 16 {
			t.Errorf("%d lines were read of which none was taken, want what may wait and what is at hand", n)
		}
		for i := range all {
			turn <- struct{}{}
			if got, want := <-taken, fmt.Sprintf("n%d", i); got != want {
				t.Fatalf("notification %d is %s", i, got)
			}
		}
		must(t, w.end())
	})
}

// TestLongLinesWaitByTheirLength: few of them are read while none is taken. One that is longer than all
// that may wait is taken alone.
func TestLongLinesWaitByTheirLength(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := make(chan struct{})
		w := connect(t, &side{notify: func(string, json.RawMessage) { <-turn }}, acp.Options{MaxBytes: 1 << 20})
		sizes := []int{400 << 10, 400 << 10, 400 << 10, 3 << 20, 400 << 10}
		said := make(chan int, len(sizes))
		go func() {
			defer w.in.Close()
			for _, n := range sizes {
				fmt.Fprintf(w.in, `{"jsonrpc":"2.0","method":"n","params":%q}`+"\n", strings.Repeat("x", n))
				said <- n
			}
		}()
		synctest.Wait()
		if n := len(said); n != 3 {
			t.Errorf("%d lines of 400 KiB were read while none is taken, want the two that may wait and the one at hand", n)
		}
		for range sizes {
			turn <- struct{}{}
		}
		must(t, w.end())
	})
}

// TestFloodsAreBounded: whatever the other side pours out, and however slow it is taken, the heap has
// its bound. It is not parallel: it measures.
func TestFloodsAreBounded(t *testing.T) {
	need.NoDetector(t)
	const most = 128 << 20
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		pours string
		mib   int // so much, if anybody reads it
		// over says that the connection ends by itself.
		over bool
	}{
		"notifications that nobody takes": {`{"jsonrpc":"2.0","method":"held","params":"` + long + `"}` + "\n", 256, false},
		"requests without an end":         {`{"jsonrpc":"2.0","id":1,"method":"held","params":"` + long + `"}` + "\n", 256, true},
		"answers to nothing":              {`{"jsonrpc":"2.0","id":1,"result":"` + long + `"}` + "\n", 256, true},
		"a line without an end":           {long, 256, false},
		"lines that are none":             {long + "\n", 256, true},
		"lines that are empty":            {strings.Repeat("\n", 1<<20), 32, false},
		"many objects":                    {`{"jsonrpc":"2.0","method":"held","params":[{}` + strings.Repeat(",{}", 3<<20) + "]}\n", 32, false},
		"deep lines":                      {`{"jsonrpc":"2.0","method":"held","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n", 32, false},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			peak := need.Heap(t, func() {
				synctest.Test(t, func(t *testing.T) {
					free := make(chan struct{})
					w := connect(t, &side{
						notify: func(string, json.RawMessage) { <-free },
						request: func(string, json.RawMessage) (func(context.Context) (any, error), error) {
							return func(context.Context) (any, error) { <-free; return nil, nil }, nil
						},
					}, acp.Options{})
					go func() {
						for w.out.Scan() { // somebody has to hear it
						}
					}()
					go func() {
						defer w.in.Close()
						for left, data := c.mib<<20, []byte(c.pours); left > 0; left -= len(data) {
							if _, err := w.in.Write(data); err != nil {
								return
							}
						}
					}()
					synctest.Wait() // all is read that is read while nothing is taken
					close(free)
					err = <-w.done
				})
			})
			if (err != nil) != c.over {
				t.Errorf("the connection ends with %v, want an error: %v", err, c.over)
			}
			if peak > most {
				t.Errorf("it took %d MiB of the heap, want at most %d", peak>>20, most>>20)
			}
			t.Logf("%d MiB at most: %v", peak>>20, err)
		})
	}
}

// TestLinesOfAnyLength: one that is too long is answered and costs no memory, and the next
// one counts.
func TestLinesOfAnyLength(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{request: func(_ string, p json.RawMessage) (func(context.Context) (any, error), error) {
		return func(context.Context) (any, error) { return map[string]int{"n": len(p)}, nil }, nil
	}}, acp.Options{})
	line := func(n int) string {
		head, tail := `{"jsonrpc":"2.0","id":1,"method":"m","params":"`, `"}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	for _, n := range []int{10<<20 + 1, 32 << 20} {
		go w.say(line(n))
		w.wants(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line has more than 10485760 bytes: want one JSON-RPC 2.0 message a line"}}`)
	}
	w.say(line(10 << 20))
	w.wants(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"n":%d}}`, 10<<20-47))
	if err := w.conn.Notify("m", strings.Repeat("x", 10<<20)); err == nil {
		t.Error("a line of more than 10 MiB was sent")
	}
	must(t, w.end())
}

func TestAnAnswerThatIsTooLongIsAnError(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{request: func(string, json.RawMessage) (func(context.Context) (any, error), error) {
		return func(context.Context) (any, error) { return strings.Repeat("x", 2000), nil }, nil
	}}, acp.Options{MaxLine: 1000})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if got := w.hear(); !strings.Contains(got, `"id":1,"error":{"code":-32603`) {
		t.Errorf("an answer that is too long: %s", got)
	}
	must(t, w.end())
}

func TestManyLinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	w := connect(t, &side{}, acp.Options{MaxFaults: 5})
	go func() {
		for range 100 {
			if _, err := io.WriteString(w.in, "Hello, I am a log\n"); err != nil {
				return
			}
		}
	}()
	for range 6 {
		if got := w.hear(); !strings.Contains(got, `"code":-32700`) {
			t.Errorf("a line that is no message: %s", got)
		}
	}
	if err := <-w.done; err == nil {
		t.Error("100 lines that are no messages did not end the connection")
	}
}

// TestASideThatDoesNotRead: writers wait for it, and its end lets them go.
func TestASideThatDoesNotRead(t *testing.T) {
	t.Parallel()
	in, theirs := io.Pipe()
	out, ours := io.Pipe()
	conn := acp.NewConn(t.Context(), &side{}, in, ours, acp.Options{})
	done := make(chan error, 1)
	go func() { done <- conn.Serve() }()
	sent := make(chan error, 1)
	go func() { sent <- conn.Notify("n", nil) }()
	select {
	case err := <-sent:
		t.Errorf("a notification was sent to who does not read: %v", err)
	case <-done:
		t.Error("the connection ended")
	default:
	}
	out.Close()
	if err := <-sent; !errors.Is(err, acp.ErrClosed) {
		t.Errorf("a notification to who is gone: %v", err)
	}
	must(t, <-done)
	theirs.Close()
	in.Close()
}

func TestTheTapSeesEveryLine(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	w := connect(t, &side{}, acp.Options{Tap: func(f acp.Frame) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(f.Sent, " ", string(f.Line), " ", f.Fault))
	}})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	w.hear()
	w.say(`nonsense`)
	w.hear()
	must(t, w.end())
	want := []string{
		`false {"jsonrpc":"2.0","id":1,"method":"m"} `,
		`true {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no m"}} `,
		`false nonsense the line is not JSON`,
		`true {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON: want one JSON-RPC 2.0 message a line"}} `,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("what was recorded is not what was said: %s", diff)
	}
}

// FuzzConn: whatever comes in, the connection answers in whole messages and comes to an end.
func FuzzConn(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}`, `{"jsonrpc":"2.0","method":"n"}`, `{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":"\u0061","error":{"code":"x"}}`, "{", "null\n[]\n\"x\"", `{"jsonrpc":"2.0","id":-1.5e3,"method":"echo"}` + "\r\n\r\n{}",
		`{"id":1,"ID":2,"jsonrpc":"2.0","method":"echo"}`, "\xff\xfe", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var out strings.Builder
		echo := &side{request: func(_ string, p json.RawMessage) (func(context.Context) (any, error), error) {
			return func(context.Context) (any, error) { return p, nil }, nil
		}}
		conn := acp.NewConn(t.Context(), echo, strings.NewReader(in), &out, acp.Options{MaxLine: 4096})
		_ = conn.Serve()
		for line := range strings.Lines(out.String()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Result  json.RawMessage `json:"result"`
				Error   *acp.Error      `json:"error"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" || m.ID == nil || (m.Result == nil) == (m.Error == nil) {
				t.Errorf("%q is answered with %q: %v", in, line, err)
			}
		}
	})
}

// TestWhatFollowsAnAnswer comes after it, and not after an answer that says why there is none.
func TestWhatFollowsAnAnswer(t *testing.T) {
	var w *wire
	w = connect(t, &side{request: func(method string, _ json.RawMessage) (func(context.Context) (any, error), error) {
		return func(context.Context) (any, error) {
			out := acp.Followed{Result: map[string]any{"n": 1}, Then: func() { must(t, w.conn.Notify("next", nil)) }}
			if method == "fails" {
				return out, &acp.Error{Code: acp.Internal, Message: "no"}
			}
			return out, nil
		}, nil
	}}, acp.Options{})
	w.say(`{"jsonrpc":"2.0","id":1,"method":"fails"}`)
	w.wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`)
	w.say(`{"jsonrpc":"2.0","id":2,"method":"works"}`)
	w.wants(`{"jsonrpc":"2.0","id":2,"result":{"n":1}}`)
	w.wants(`{"jsonrpc":"2.0","method":"next","params":{}}`)
}
