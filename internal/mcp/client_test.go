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
	"time"

	"lyceum/internal/mcp"

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

// raw is a server that answers line by line: to each request what answer says, and nothing to
// what it says nothing about.
func raw(t *testing.T, answer func(method string, id json.RawMessage, params json.RawMessage, say func(string))) duplex {
	t.Helper()
	ours, theirs := line()
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
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}}`, m.ID))
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
	return ours
}

func rawClient(t *testing.T, answer func(method string, id json.RawMessage, params json.RawMessage, say func(string))) *mcp.Client {
	t.Helper()
	c, err := mcp.Pipe(t.Context(), raw(t, answer), mcp.Options{})
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

func TestAFloodEndsTheConnection(t *testing.T) {
	stop := make(chan struct{})
	c := rawClient(t, func(_ string, _, _ json.RawMessage, say func(string)) {
		go func() {
			for range 200_000 {
				select {
				case <-stop:
					return
				default:
					say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
				}
			}
		}()
	})
	_, err := c.Call(t.Context(), "a", nil, time.Minute)
	close(stop)
	if !errors.Is(err, mcp.ErrLost) || !strings.Contains(err.Error(), "lines at once") || !c.Lost() {
		t.Errorf("got %v, want that the server sent too much", err)
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

func TestProgressGivesACallTime(t *testing.T) {
	s := newServer()
	add(s, "slow", "takes its time", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 20 {
			time.Sleep(100 * time.Millisecond)
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return says("done")(ctx, r)
	})
	// Twenty times a tenth of a second is more than one and a half, each is less.
	r, err := stdio(t, s, mcp.Options{}).Call(t.Context(), "slow", nil, 1500*time.Millisecond)
	if err != nil || r.Text != "done" {
		t.Errorf("got %+v, %v", r, err)
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
