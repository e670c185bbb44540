//lint:file-ignore SA1019 roots are deprecated, and there for servers of 2025-11-25

package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/mcp"
	"lyceum/internal/need"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// duplex is one end of a line between two programs.
type duplex struct {
	io.ReadCloser
	io.WriteCloser
}

func (d duplex) Close() error { return errors.Join(d.ReadCloser.Close(), d.WriteCloser.Close()) }

func line() (ours, theirs duplex) {
	ar, aw := io.Pipe()
	br, bw := io.Pipe()
	return duplex{ar, bw}, duplex{br, aw}
}

// stdio connects to a server of the SDK over a line.
func stdio(t *testing.T, s *sdk.Server, o mcp.Options) *mcp.Client {
	t.Helper()
	ours, theirs := line()
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = s.Run(ctx, &sdk.IOTransport{Reader: theirs, Writer: theirs}) })
	c, err := mcp.Pipe(t.Context(), ours, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); stop(); theirs.Close(); done.Wait() })
	return c
}

func newServer() *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "peer\x1b[2J", Version: "1"}, nil)
}

const anyArgs = `{"type":"object"}`

func add(s *sdk.Server, name, description string, do func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
	s.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: json.RawMessage(anyArgs)}, do)
}

func says(text string) func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
}

// overHTTP serves a server, and lets connections to it pass the filter.
func overHTTP(t *testing.T, h http.Handler) (address string, private []string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return srv.URL, []string{u.Host}
}

func dial(t *testing.T, a mcp.Address, o mcp.Options) *mcp.Client {
	t.Helper()
	c, err := mcp.Dial(t.Context(), a, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCallsOverBothTransports(t *testing.T) {
	s := newServer()
	add(s, "hello", "says hello", says("hello"))
	address, private := overHTTP(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	for name, c := range map[string]*mcp.Client{
		"stdio": stdio(t, s, mcp.Options{}), "http": dial(t, mcp.Address{URL: address, Private: private}, mcp.Options{}),
	} {
		list, err := c.List(t.Context())
		if err != nil || len(list) != 1 || list[0].Name != "hello" || list[0].Description != "says hello" {
			t.Fatalf("%s: the list is %+v, %v", name, list, err)
		}
		r, err := c.Call(t.Context(), "hello", []byte(`{}`), 0)
		if err != nil || r.Text != "hello" || r.Failed {
			t.Errorf("%s: it says %+v, %v", name, r, err)
		}
		if i := c.Info(); strings.Contains(i.Name, "\x1b") || !strings.HasPrefix(i.Name, "peer") || i.Protocol == "" {
			t.Errorf("%s: it is %+v: want its name without what a terminal obeys", name, i)
		}
	}
}

func TestAnAddressThatIsNotPublicIsRefusedUnlessItIsListed(t *testing.T) {
	var asked atomic.Int64
	s := newServer()
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	address, _ := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); next.ServeHTTP(w, r) }))
	local := strings.Replace(address, "127.0.0.1", "localhost", 1)
	for _, a := range []mcp.Address{
		{URL: address}, {URL: local}, {URL: address, Private: []string{"127.0.0.1:1"}}, {URL: "http://169.254.169.254/mcp"}, {URL: "http://[::1]:80/"}, {URL: "http://2130706433/"},
	} {
		if c, err := mcp.Dial(t.Context(), a, mcp.Options{}); err == nil {
			c.Close()
			t.Errorf("%+v is connected to", a)
		} else if !strings.Contains(err.Error(), "private_addresses") {
			t.Errorf("%+v: %v: want what to do about it", a, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestARedirectToAnotherHostIsNotFollowed(t *testing.T) {
	var stolen atomic.Value
	other, private := overHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen.Store(r.Header.Get("Authorization") + "!") }))
	address, mine := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other, http.StatusTemporaryRedirect)
	}))
	c, err := mcp.Dial(t.Context(), mcp.Address{URL: address, Private: append(mine, private...), Header: http.Header{"Authorization": {"Bearer x"}}}, mcp.Options{})
	if err == nil {
		c.Close()
		t.Fatal("it was followed")
	}
	if !strings.Contains(err.Error(), "another host") || stolen.Load() != nil {
		t.Errorf("the other host got %v: %v", stolen.Load(), err)
	}
}

func TestHeadersAreSentWithEachRequest(t *testing.T) {
	s := newServer()
	add(s, "hello", "says hello", says("hello"))
	next := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	address, private := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "value" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
	c := dial(t, mcp.Address{URL: address, Private: private, Header: http.Header{"X-Key": {"value"}}}, mcp.Options{})
	if _, err := c.Call(t.Context(), "hello", nil, 0); err != nil {
		t.Error(err)
	}
	if c, err := mcp.Dial(t.Context(), mcp.Address{URL: address, Private: private}, mcp.Options{}); err == nil {
		c.Close()
		t.Error("without the header it is let in")
	}
}

func TestEveryPageIsRead(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"}, &sdk.ServerOptions{PageSize: 3})
	for i := range 10 {
		add(s, fmt.Sprint("tool-", i), "x", says(""))
	}
	if list, err := stdio(t, s, mcp.Options{}).List(t.Context()); err != nil || len(list) != 10 {
		t.Errorf("there are %d tools, %v", len(list), err)
	}
}

// raw is a server that says that it speaks a revision, and answers line by line: to each request what
// answer says, and nothing to what it says nothing about.
func raw(t *testing.T, revision string, answer func(method string, id json.RawMessage, params json.RawMessage, say func(string))) (ours, theirs duplex) {
	t.Helper()
	ours, theirs = line()
	var done sync.WaitGroup
	done.Go(func() {
		var writing sync.Mutex
		say := func(text string) {
			writing.Lock()
			defer writing.Unlock()
			_, _ = io.WriteString(theirs, text+"\n")
		}
		in := bufio.NewReader(theirs)
		for {
			text, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				Method     string
				ID, Params json.RawMessage
			}
			_ = json.Unmarshal(text, &m)
			switch m.Method {
			case "initialize":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}}`, m.ID, revision))
			case "server/discover":
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
			default:
				if len(m.ID) > 0 {
					answer(m.Method, m.ID, m.Params, say)
				}
			}
		}
	})
	t.Cleanup(func() { theirs.Close(); done.Wait() })
	return ours, theirs
}

func rawClient(t *testing.T, answer func(method string, id json.RawMessage, params json.RawMessage, say func(string))) *mcp.Client {
	t.Helper()
	ours, _ := raw(t, "2025-11-25", answer)
	c, err := mcp.Pipe(t.Context(), ours, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func page(id json.RawMessage, next string, tools ...string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"nextCursor":%q,"tools":[%s]}}`, id, next, strings.Join(tools, ","))
}

func TestHostileLists(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		answer func(n int, id json.RawMessage) string
		want   string
	}{
		"pages in a circle": {func(_ int, id json.RawMessage) string { return page(id, "again") }, "circle"},
		"pages without end": {func(n int, id json.RawMessage) string { return page(id, fmt.Sprint("p", n)) }, "more than 50 pages"},
		"too many tools": {func(n int, id json.RawMessage) string {
			return page(id, fmt.Sprint("p", n), strings.Split(strings.TrimSuffix(strings.Repeat(`{"name":"a","inputSchema":{}};`, 200), ";"), ";")...)
		}, "more than 1000 tools"},
		"too long": {func(_ int, id json.RawMessage) string {
			return page(id, "", `{"name":"a","description":"`+long+`","inputSchema":{}}`)
		}, "2 MiB"},
		"an error": {func(_ int, id json.RawMessage) string {
			return `{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":-1,"message":"b\u001b[2Jad"}}`
		}, "error -1: b"},
		"a line of 10 MiB":    {func(_ int, id json.RawMessage) string { return strings.Repeat("a", 10<<20) }, "lost"},
		"what is no JSON":     {func(_ int, id json.RawMessage) string { return "hello" }, "lost"},
		"a result of nothing": {func(_ int, id json.RawMessage) string { return `{"jsonrpc":"2.0","id":` + string(id) + `,"result":7}` }, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			client := rawClient(t, func(_ string, id, _ json.RawMessage, say func(string)) { n++; say(c.answer(n, id)) })
			list, err := client.List(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || list != nil {
				t.Fatalf("the list has %d tools, and the error is %v; want %q", len(list), err, c.want)
			}
			if strings.ContainsRune(err.Error(), '\x1b') || len(err.Error()) > 2000 {
				t.Errorf("the error is not plain: %q", err)
			}
		})
	}
}

// TestARevisionThatNobodyKnows: an error that names it, and nothing is asked of the server.
func TestARevisionThatNobodyKnows(t *testing.T) {
	for _, revision := range []string{"2031-01-01", "1999-01-01", "", "2025-11-25 ", "x" + strings.Repeat("9", 1<<20)} {
		ours, _ := raw(t, revision, func(method string, _, _ json.RawMessage, _ func(string)) {
			t.Errorf("a server of the revision %.40q is asked for %s", revision, method)
		})
		c, err := mcp.Pipe(t.Context(), ours, mcp.Options{})
		if err == nil {
			c.Close()
			t.Errorf("a server of the revision %.40q is connected to", revision)
			continue
		}
		if !strings.Contains(err.Error(), "version") || !strings.Contains(err.Error(), fmt.Sprintf("%.40s", revision)) || len(err.Error()) > 500 {
			t.Errorf("a server of the revision %.40q: got %v, want a short error that names it", revision, err)
		}
		if _, err := ours.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a server of the revision %.40q: writing to it gives %v, want that the line is closed", revision, err)
		}
	}
}

// most is how much of the heap a hostile server may take, mostObjects by lines of 8 MiB that are read as
// millions of empty objects.
const most, mostObjects = 128 << 20, 768 << 20

// TestFloodsAreBounded: whatever a server pours out, the heap has its bound and the connection its
// end. It is not parallel: it measures.
func TestFloodsAreBounded(t *testing.T) {
	need.NoDetector(t)
	note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}`
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct{ pours, want string }{
		"short lines":              {fmt.Sprintf(note, "x") + "\n", "at once"},
		"long lines":               {fmt.Sprintf(note, long) + "\n", "at once"},
		"long lines that are none": {long + "\n", "lost"},
		"a line without an end":    {strings.Repeat(" ", 1<<20), "lost"},
		"answers to nothing":       {`{"jsonrpc":"2.0","id":4711,"result":{"x":"` + long + `"}}` + "\n", "at once"},
		"requests":                 {`{"jsonrpc":"2.0","id":4711,"method":"ping","params":{"x":"` + long + `"}}` + "\n", "at once"},
		"many objects":             {`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":[{}` + strings.Repeat(",{}", 2<<20) + `]}}` + "\n", "at once"},
	} {
		t.Run("stdio/"+name, func(t *testing.T) {
			bounded(t, c.want, func() (err error) {
				// In a bubble no time passes while anybody reads: all of it comes at once.
				synctest.Test(t, func(t *testing.T) {
					var ours, theirs duplex
					ours, theirs = raw(t, "2025-11-25", func(method string, _, _ json.RawMessage, _ func(string)) {
						if method == "tools/call" {
							go pour(theirs, c.pours)
						}
					})
					client, refused := mcp.Pipe(t.Context(), ours, mcp.Options{})
					must(t, refused)
					_, err = client.Call(t.Context(), "a", nil, time.Minute)
					<-client.Over() // or the bubble has a deadlock
					client.Close()
				})
				return err
			})
		})
	}
	for name, c := range map[string]struct{ kind, pours, want string }{
		"an answer without an end":  {"application/json", long, "8 MiB"},
		"an event without an end":   {"text/event-stream", "data: " + long + "\n", "lost"},
		"a line without an end":     {"text/event-stream", long, "lost"},
		"events":                    {"text/event-stream", "data: " + fmt.Sprintf(note, long) + "\n\n", "at once"},
		"nothing but comments":      {"text/event-stream", ": " + long + "\n", "lost"},
		"events that are not there": {"text/event-stream", "\n", "at once"},
	} {
		t.Run("http/"+name, func(t *testing.T) {
			bounded(t, c.want, func() error {
				address, private := overHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var m struct {
						Method string
						ID     json.RawMessage
					}
					_ = json.NewDecoder(r.Body).Decode(&m)
					switch m.Method {
					case "initialize":
						w.Header().Set("Content-Type", "application/json")
						fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}}`, m.ID)
					case "tools/call":
						w.Header().Set("Content-Type", c.kind)
						pour(w, c.pours)
					case "notifications/initialized":
						w.WriteHeader(http.StatusAccepted)
					default:
						w.WriteHeader(http.StatusMethodNotAllowed)
					}
				}))
				client := dial(t, mcp.Address{URL: address, Private: private, Retry: -1}, mcp.Options{})
				_, err := client.Call(t.Context(), "a", nil, 5*time.Second)
				if errors.Is(err, mcp.ErrLate) && name == "events" {
					return fmt.Errorf("%w: so busy a machine that it came slowly, and not at once", mcp.ErrLost)
				}
				return err
			})
		})
	}
}

// bounded calls a server that pours something out, and looks at the heap meanwhile.
func bounded(t *testing.T, want string, call func() error) {
	t.Helper()
	var err error
	peak := need.Heap(t, func() { err = call() })
	if !errors.Is(err, mcp.ErrLost) || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
		t.Errorf("the call gave %.1000v, want that the connection is lost: %q", err, want)
	}
	limit := int64(most)
	if strings.HasSuffix(t.Name(), "many_objects") {
		limit = mostObjects
	}
	if peak > limit {
		t.Errorf("it took %d MiB of the heap, want at most %d", peak>>20, limit>>20)
	}
	t.Logf("%d MiB at most: %.200v", peak>>20, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pour writes something again and again, until nobody listens.
func pour(w io.Writer, what string) {
	for data := []byte(what); ; {
		if _, err := w.Write(data); err != nil {
			return
		}
	}
}

func TestACallThatHangsIsCancelledThereToo(t *testing.T) {
	cancelled := make(chan struct{})
	s := newServer()
	add(s, "hang", "hangs", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	c := stdio(t, s, mcp.Options{})
	if _, err := c.Call(t.Context(), "hang", nil, 50*time.Millisecond); !errors.Is(err, mcp.ErrLate) {
		t.Errorf("got %v, want ErrLate", err)
	}
	<-cancelled
	if c.Lost() {
		t.Error("the connection is over, and need not be")
	}
}

// TestHowLongACallMayTake: a minute without a sign of progress, ten with, and not a second more. The
// server is told that nobody waits any more.
func TestHowLongACallMayTake(t *testing.T) {
	for name, c := range map[string]struct {
		every, done, want time.Duration
	}{
		"silent for ever":      {every: time.Hour, done: time.Hour, want: mcp.CallTime},
		"silent for too long":  {every: mcp.CallTime + time.Second, done: time.Hour, want: mcp.CallTime},
		"in progress":          {every: mcp.CallTime / 2, done: 5 * time.Minute, want: 5 * time.Minute},
		"in progress for ever": {every: mcp.CallTime / 2, done: time.Hour, want: mcp.LongestCall},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cancelled := make(chan struct{})
				s := newServer()
				add(s, "slow", "takes its time", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					for began := time.Now(); time.Since(began) < c.done; {
						select {
						case <-time.After(c.every):
							_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: time.Since(began).Seconds()})
						case <-ctx.Done():
							close(cancelled)
							return nil, ctx.Err()
						}
					}
					return says("done")(ctx, r)
				})
				client := stdio(t, s, mcp.Options{})
				began := time.Now()
				r, err := client.Call(t.Context(), "slow", nil, 0)
				if took := time.Since(began); took != c.want {
					t.Errorf("the call took %s, want %s", took, c.want)
				}
				if c.done == c.want {
					if err != nil || r.Text != "done" {
						t.Errorf("the call gave %+v, %v, want that it is done", r, err)
					}
					return
				}
				if !errors.Is(err, mcp.ErrLate) {
					t.Errorf("the call gave %+v, %v, want ErrLate", r, err)
				}
				<-cancelled // or the bubble has a deadlock
				if client.Lost() {
					t.Error("the connection is over, and need not be")
				}
			})
		})
	}
}

// TestRootsAreToldToServersThatCanAsk: the home, and no other folder; none where there is none, and
// none to a server of the revision that gives roots up.
func TestRootsAreToldToServersThatCanAsk(t *testing.T) {
	told := func(roots *sdk.ListRootsResult, err error) (*sdk.CallToolResult, error) {
		text := fmt.Sprint("error: ", err)
		if err == nil {
			text = fmt.Sprint(len(roots.Roots), " roots")
			for _, r := range roots.Roots {
				text += " " + r.Name + " " + r.URI
			}
		}
		return says(text)(nil, nil)
	}
	ask := newServer()
	add(ask, "roots", "asks for them", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return told(r.Session.ListRoots(ctx, nil))
	})
	want := newServer()
	add(want, "roots", "wants them with the next try", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if got, ok := r.Params.InputResponses["r"].(*sdk.ListRootsResult); ok {
			return told(got, nil)
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"r": &sdk.ListRootsParams{}}}, nil
	})
	for name, c := range map[string]struct {
		client         *mcp.Client
		protocol, want string
	}{
		"a home":           {stdioOld(t, ask, mcp.Options{Root: "/home/agent"}), "2025-11-25", "1 roots home file:///home/agent"},
		"no home":          {stdioOld(t, ask, mcp.Options{}), "2025-11-25", "0 roots"},
		"the new revision": {stdio(t, want, mcp.Options{Root: "/home/agent"}), "2026-07-28", "0 roots"},
	} {
		if got := c.client.Info().Protocol; got != c.protocol {
			t.Errorf("%s: the server speaks %s, and this is about %s", name, got, c.protocol)
		}
		if r, err := c.client.Call(t.Context(), "roots", nil, 0); err != nil || r.Text != c.want {
			t.Errorf("%s: the server was told %+v, %v, want %s", name, r, err, c.want)
		}
	}
}

func TestAServerThatDiesIsLost(t *testing.T) {
	ours, theirs := line()
	s := newServer()
	add(s, "die", "dies", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		theirs.Close()
		return nil, errors.New("never heard")
	})
	var done sync.WaitGroup
	done.Go(func() { _ = s.Run(t.Context(), &sdk.IOTransport{Reader: theirs, Writer: theirs}) })
	c, err := mcp.Pipe(t.Context(), ours, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "die", nil, time.Minute); !errors.Is(err, mcp.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
	<-c.Over()
	if !c.Lost() {
		t.Error("nobody noticed")
	}
	c.Close()
	done.Wait()
}

func TestAServerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	ours, theirs := line() // nobody reads
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := mcp.Pipe(ctx, ours, mcp.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	theirs.Close()
}

// While a person thinks, the time of a call stands still; afterwards it runs again.
func TestTheTimeOfACallStandsStillWhileAPersonIsAsked(t *testing.T) {
	const within = time.Second
	s := newServer()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	add(s, "ask", "asks", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		res, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Well?"})
		if err != nil {
			return nil, err
		}
		if res.Action == "accept" {
			return says("told")(ctx, r)
		}
		select {
		case <-forever:
		case <-ctx.Done():
		}
		return says("late")(ctx, r)
	})
	yes := true
	o := mcp.Options{Ask: func(context.Context, *mcp.Form) (*mcp.Reply, error) {
		<-time.After(within * 3 / 2) // longer than a call may take
		return &mcp.Reply{Accepted: yes}, nil
	}}
	c := stdioOld(t, s, o)
	if r, err := c.Call(t.Context(), "ask", []byte(`{}`), within); err != nil || r.Text != "told" {
		t.Errorf("it says %+v, %v, want that the person was waited for", r, err)
	}
	yes = false
	if r, err := c.Call(t.Context(), "ask", []byte(`{}`), within); !errors.Is(err, mcp.ErrLate) {
		t.Errorf("it says %+v, %v, want that time runs again after the person has declined", r, err)
	}
}

// stdioOld is stdio with a server that does not know the newest revision.
func stdioOld(t *testing.T, s *sdk.Server, o mcp.Options) *mcp.Client {
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "server/discover" {
				return nil, errors.New("never heard of it")
			}
			return next(ctx, method, r)
		}
	})
	return stdio(t, s, o)
}
