package scoped_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// box is an agent's part of a quest as these tests need it. It makes each call once.
type box struct {
	mu    sync.Mutex
	tools []model.Tool
	// made are the calls by their names, in order in calls.
	made  map[string]scoped.Result
	calls []scoped.Call
	// use answers; nil says what it was asked.
	use func(ctx context.Context, c scoped.Call) (scoped.Result, error)
}

func newBox() *box {
	return &box{made: map[string]scoped.Result{}, tools: []model.Tool{
		{Name: "publish", Description: "Publishes a paper.", Schema: `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}`},
		{Name: "odd", Schema: `{}`},
	}}
}

func (b *box) Tools(context.Context) ([]model.Tool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tools, nil
}

func (b *box) Use(ctx context.Context, c scoped.Call) (scoped.Result, error) {
	b.mu.Lock()
	if r, ok := b.made[c.ID]; ok {
		b.mu.Unlock()
		return r, nil
	}
	b.calls = append(b.calls, c)
	use, r := b.use, scoped.Result{Text: fmt.Sprintf("%s(%s) is call %d", c.Tool, c.Args, len(b.calls))}
	b.mu.Unlock()
	var err error
	if use != nil {
		r, err = use(ctx, c)
	}
	if err == nil {
		b.mu.Lock()
		b.made[c.ID] = r
		b.mu.Unlock()
	}
	return r, err
}

func (b *box) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls)
}

// serve has a handler answer as at a port, where who has come is known.
func serve(t *testing.T, h http.Handler, who string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), who)))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func start(t *testing.T, b *box, opts scoped.Options) (*scoped.Handler, string) {
	t.Helper()
	h := scoped.New("agent-1", b, opts)
	t.Cleanup(h.Close)
	return h, serve(t, h, "agent-1/task-3")
}

// connect is a client by the SDK, of one revision or of the newest.
func connect(t *testing.T, url, revision string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, opts)
	transport := &mcp.StreamableClientTransport{Endpoint: url + scoped.Path}
	s, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("connect by %q: %v", revision, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// revisions are the newest with sessions and the first without.
var revisions = []string{"2025-11-25", "2026-07-28"}

func textOf(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	var out []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			out = append(out, text.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestAgentsListAndUseTheirTools(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			b := newBox()
			_, url := start(t, b, scoped.Options{Version: "1.2"})
			s := connect(t, url, revision, nil)
			if got := s.InitializeResult(); got.ProtocolVersion != revision || got.ServerInfo.Name != "lyceum" {
				t.Errorf("connected to %+v by %s, want lyceum by %s", got.ServerInfo, got.ProtocolVersion, revision)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if m, ok := tool.InputSchema.(map[string]any); !ok || m["type"] != "object" {
					t.Errorf("the schema of %s is %v, want one of an object", tool.Name, tool.InputSchema)
				}
			}
			if diff := cmp.Diff([]string{"publish", "odd"}, names); diff != "" {
				t.Errorf("the tools: %s", diff)
			}
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "publish", Arguments: map[string]any{"title": "On owls"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := textOf(t, r); r.IsError || got != `publish({"title":"On owls"}) is call 1` {
				t.Errorf("a call: got %q, error %v", got, r.IsError)
			}
			// The same again is another call: its number is another.
			if r, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "publish", Arguments: map[string]any{"title": "On owls"}}); err != nil || !strings.HasSuffix(textOf(t, r), "call 2") {
				t.Errorf("a second call like the first: %v, %v", r, err)
			}
			for _, c := range b.calls {
				if len(c.ID) > 128 || !strings.HasPrefix(c.ID, "mcp.") {
					t.Errorf("the call has the name %q", c.ID)
				}
			}
		})
	}
}

func TestAToolListThatChangesIsTold(t *testing.T) {
	t.Parallel()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			b, heard := newBox(), make(chan struct{}, 10)
			h, url := start(t, b, scoped.Options{})
			s := connect(t, url, revision, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} }})
			b.mu.Lock()
			b.tools = b.tools[:1]
			b.mu.Unlock()
			// The stream may not be up yet, so it is said until it is heard.
			for told := false; !told; {
				h.Changed()
				select {
				case <-heard:
					told = true
				case <-time.After(100 * time.Millisecond):
				case <-t.Context().Done():
					t.Fatal("nobody heard that the list of tools has changed")
				}
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 1 {
				t.Errorf("the list after the change: %+v, %v, want one tool", list, err)
			}
		})
	}
}

func TestResultsAreShown(t *testing.T) {
	t.Parallel()
	b := newBox()
	b.use = func(_ context.Context, c scoped.Call) (scoped.Result, error) {
		switch c.Tool {
		case "picture":
			return scoped.Result{Text: "a plot", Structured: []byte(`{"n":3}`), Files: []scoped.File{{Name: "a.png", Media: "image/png", Data: []byte("PNG")}, {Name: "a.bin", Media: "application/x", Data: []byte("12")}}}, nil
		case "wrong":
			return scoped.Result{Text: "no such file", Error: true}, nil
		case "away":
			return scoped.Result{}, fmt.Errorf("the run: %w", context.Canceled)
		}
		return scoped.Result{}, errors.New("the call is not taken: quest owls is paused: it takes no calls")
	}
	_, url := start(t, b, scoped.Options{})
	s := connect(t, url, revisions[0], nil)
	use := func(name string) *mcp.CallToolResult {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		if err != nil {
			t.Fatalf("call %s: %v", name, err)
		}
		return r
	}
	r := use("picture")
	if got, _ := json.Marshal(r.Content); string(got) != `[{"type":"text","text":"a plot"},{"type":"image","mimeType":"image/png","data":"UE5H"},{"type":"text","text":"A file that is not shown: a.bin, application/x, 2 bytes."}]` {
		t.Errorf("a result with files: %s", got)
	}
	if got, _ := json.Marshal(r.StructuredContent); string(got) != `{"n":3}` {
		t.Errorf("a structured result: %s", got)
	}
	if r := use("wrong"); !r.IsError || textOf(t, r) != "no such file" {
		t.Errorf("a tool's error: %+v", r)
	}
	if r := use("publish"); !r.IsError || !strings.Contains(textOf(t, r), "quest owls is paused") {
		t.Errorf("a call of a quest that is paused: %+v, want an error that says so", r)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "away"}); err == nil || !strings.Contains(err.Error(), "goes away") {
		t.Errorf("a call that Lyceum does not wait for: %v, want an error of the protocol", err)
	}
}

// raw sends one request and returns its status, its session and its body.
func raw(t *testing.T, method, url, session, body string, head ...string) (int, string, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i+1 < len(head); i += 2 {
		if head[i] == "Host" {
			r.Host = head[i+1]
		}
		r.Header.Set(head[i], head[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("send %s %s: %v", method, url, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), string(text)
}

const greeting = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

func begin(t *testing.T, url string) string {
	t.Helper()
	status, session, text := raw(t, "POST", url+scoped.Path, "", greeting)
	if status != 200 || session == "" {
		t.Fatalf("initialize: %d, session %q: %s", status, session, text)
	}
	return session
}

func callOf(number, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + number + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `}}`
}

func TestARepeatedCallIsTheSameCall(t *testing.T) {
	t.Parallel()
	b := newBox()
	_, url := start(t, b, scoped.Options{})
	one, two := begin(t, url), begin(t, url)
	if one == two {
		t.Fatalf("two sessions are called %s", one)
	}
	// The next Lyceum: another handler, of which nobody has said anything.
	_, next := start(t, b, scoped.Options{})
	for i, c := range []struct{ url, session, number, args, want string }{
		{url, one, "1", `{"title":"a"}`, "call 1"},
		{url, one, "1", `{"title":"a"}`, "call 1"},
		{next, one, "1", `{"title":"a"}`, "call 1"},
		{next, one, "2", `{"title":"a"}`, "call 2"},
		{url, two, "1", `{"title":"a"}`, "call 3"},
		{url, one, `"1"`, `{"title":"a"}`, "call 4"},
		// A client that counts wrongly.
		{url, one, "1", `{"title":"b"}`, "call 5"},
		{url, "", "1", `{"title":"a"}`, "call 6"},
		{url, "", "1", `{"title":"a"}`, "call 7"},
	} {
		status, _, text := raw(t, "POST", c.url+scoped.Path, c.session, callOf(c.number, "publish", c.args))
		if status != 200 || !strings.Contains(text, c.want+`"`) {
			t.Errorf("request %d: got %d %s, want %s", i+1, status, text, c.want)
		}
	}
}

func TestACallThatIsUnderWayAndSentAgainIsTheSame(t *testing.T) {
	t.Parallel()
	b, inside, release := newBox(), make(chan scoped.Call, 2), make(chan struct{})
	b.use = func(_ context.Context, c scoped.Call) (scoped.Result, error) {
		inside <- c
		<-release
		return scoped.Result{Text: "done"}, nil
	}
	_, url := start(t, b, scoped.Options{})
	session := begin(t, url)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if status, _, text := raw(t, "POST", url+scoped.Path, session, callOf("7", "publish", "{}")); status != 200 || !strings.Contains(text, "done") {
				t.Errorf("one of two: %d %s", status, text)
			}
		})
	}
	if one, two := <-inside, <-inside; one.ID != two.ID {
		t.Errorf("the same request, sent twice, is %s and %s", one.ID, two.ID)
	}
	close(release)
	all.Wait()
}

func TestAClientGivesACallUp(t *testing.T) {
	t.Parallel()
	b, inside, ended := newBox(), make(chan struct{}, 1), make(chan error, 1)
	b.use = func(ctx context.Context, _ scoped.Call) (scoped.Result, error) {
		inside <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return scoped.Result{}, ctx.Err()
	}
	_, url := start(t, b, scoped.Options{})
	session, other := begin(t, url), begin(t, url)
	done := make(chan string, 1)
	go func() {
		_, _, text := raw(t, "POST", url+scoped.Path, session, callOf("7", "publish", "{}"))
		done <- text
	}()
	<-inside
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	if status, _, _ := raw(t, "POST", url+scoped.Path, other, cancel); status != 202 {
		t.Errorf("a cancellation of another session: %d", status)
	}
	select {
	case <-ended:
		t.Error("another session gave the call up")
	default:
	}
	if status, _, _ := raw(t, "POST", url+scoped.Path, session, cancel); status != 202 {
		t.Errorf("a cancellation: %d", status)
	}
	<-ended
	<-done
	// And one whose client goes away is waited for by nobody.
	ctx, leave := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "POST", url+scoped.Path, strings.NewReader(callOf("8", "publish", "{}")))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	go func() {
		<-inside
		leave()
	}()
	if resp, err := http.DefaultClient.Do(r); err == nil {
		resp.Body.Close()
	}
	<-ended
}

func TestWhoeverWaitsIsShownThatSomebodyIsThere(t *testing.T) {
	t.Parallel()
	b, release := newBox(), make(chan struct{})
	b.use = func(context.Context, scoped.Call) (scoped.Result, error) {
		<-release
		return scoped.Result{Text: "late"}, nil
	}
	_, url := start(t, b, scoped.Options{Sign: time.Millisecond})
	r, _ := http.NewRequestWithContext(t.Context(), "POST", url+scoped.Path, strings.NewReader(callOf("8", "publish", "{}")))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	close(release)
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "late") || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("an answer that took long: %q, %v", text, err)
	}
}

func TestWhatIsNoneOfItsBusinessIsRefused(t *testing.T) {
	t.Parallel()
	b := newBox()
	h, url := start(t, b, scoped.Options{})
	session := begin(t, url)
	call := callOf("1", "publish", "{}")
	elsewhere := serve(t, h, "agent-2/task-3")
	nobody := serve(t, h, "")
	like := serve(t, h, "agent-11")
	for what, c := range map[string]struct {
		method, url, session, body string
		head                       []string
		want                       int
	}{
		"another agent":            {"POST", elsewhere + "/mcp", session, call, nil, 401},
		"nobody":                   {"POST", nobody + "/mcp", session, call, nil, 401},
		"an agent of a like name":  {"POST", like + "/mcp", session, call, nil, 401},
		"another Host":             {"POST", url + "/mcp", session, call, []string{"Host", "evil.example"}, 403},
		"another Host with a port": {"POST", url + "/mcp", session, call, []string{"Host", "127.0.0.1.evil.example:80"}, 403},
		"a page from elsewhere":    {"POST", url + "/mcp", session, call, []string{"Origin", "https://evil.example"}, 403},
		"a page of a file":         {"POST", url + "/mcp", session, call, []string{"Origin", "null"}, 403},
		"another path":             {"POST", url + "/api/v1/quests", session, call, nil, 404},
		"a path that leads here":   {"POST", url + "/x/../mcp", session, call, nil, 404},
		"a path that leads on":     {"POST", url + "/mcp/../api", session, call, nil, 404},
		"a path in other letters":  {"POST", url + "/%6dcp", session, call, nil, 404},
		"another method":           {"PUT", url + "/mcp", session, call, nil, 405},
		"news without a session":   {"GET", url + "/mcp", "", "", nil, 405},
		"a session nobody gave":    {"POST", url + "/mcp", "../../etc", call, nil, 404},
		"many messages":            {"POST", url + "/mcp", session, "[" + call + "," + call + "]", nil, 400},
		"nothing":                  {"POST", url + "/mcp", session, "", nil, 400},
		"no JSON":                  {"POST", url + "/mcp", session, "call", nil, 400},
		"a number that is two":     {"POST", url + "/mcp", session, strings.Replace(call, `"id":1`, `"id":1,"id":2`, 1), nil, 400},
		"a deep one":               {"POST", url + "/mcp", session, callOf("1", "publish", strings.Repeat(`{"a":`, 300)+"1"+strings.Repeat("}", 300)), nil, 400},
		"a large one":              {"POST", url + "/mcp", session, callOf("1", "publish", `{"a":"`+strings.Repeat("x", 9<<20)+`"}`), nil, 413},
		"no type":                  {"POST", url + "/mcp", session, call, []string{"Content-Type", "text/plain"}, 415},
		"an unknown method":        {"POST", url + "/mcp", session, `{"jsonrpc":"2.0","id":1,"method":"quests/delete"}`, nil, 400},
	} {
		if got, _, text := raw(t, c.method, c.url, c.session, c.body, c.head...); got != c.want {
			t.Errorf("%s: got %d %.200s, want %d", what, got, text, c.want)
		}
	}
	if n := b.count(); n != 0 {
		t.Errorf("%d calls were made by requests that were to be refused", n)
	}
	if got, _, _ := raw(t, "DELETE", url+"/mcp", session, ""); got != 204 {
		t.Errorf("the end of a session: %d", got)
	}
}

func TestFloodsAreBounded(t *testing.T) {
	t.Parallel()
	b, release := newBox(), make(chan struct{})
	inside := make(chan struct{}, 100)
	b.use = func(context.Context, scoped.Call) (scoped.Result, error) {
		inside <- struct{}{}
		<-release
		return scoped.Result{Text: "done"}, nil
	}
	_, url := start(t, b, scoped.Options{Most: 3})
	// Sessions cost nothing.
	session := ""
	for range 300 {
		session = begin(t, url)
	}
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			if status, _, text := raw(t, "POST", url+scoped.Path, session, callOf(fmt.Sprint(i), "publish", "{}")); status != 200 {
				t.Errorf("a call within the bound: %d %s", status, text)
			}
		})
		<-inside
	}
	if status, _, text := raw(t, "POST", url+scoped.Path, session, callOf("9", "publish", "{}")); status != 429 {
		t.Errorf("a call too many: %d %s", status, text)
	}
	close(release)
	all.Wait()
	if status, _, text := raw(t, "POST", url+scoped.Path, session, callOf("9", "publish", "{}")); status != 200 {
		t.Errorf("a call after the others: %d %s", status, text)
	}
}

func TestStreamsAreBoundedAndEnd(t *testing.T) {
	t.Parallel()
	h, url := start(t, newBox(), scoped.Options{})
	session := begin(t, url)
	listen := func() *http.Response {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", url+scoped.Path, nil)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Mcp-Session-Id", session)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var open []*http.Response
	for {
		resp := listen()
		if resp.StatusCode != 200 {
			resp.Body.Close()
			if resp.StatusCode != 429 || len(open) != 8 {
				t.Errorf("stream %d: %d, want 429 for the ninth", len(open)+1, resp.StatusCode)
			}
			break
		}
		open = append(open, resp)
	}
	h.Close()
	for _, resp := range open {
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Errorf("a stream of a handler that is closed: %v, want its end", err)
		}
		resp.Body.Close()
	}
}

// TestWhoeverDoesNotWriteOrReadLosesTheConnection has programs that begin a request and do
// not finish it, and that ask for much and do not read it.
func TestWhoeverDoesNotWriteOrReadLosesTheConnection(t *testing.T) {
	t.Parallel()
	b, asked := newBox(), make(chan struct{}, 1)
	b.use = func(context.Context, scoped.Call) (scoped.Result, error) {
		asked <- struct{}{}
		return scoped.Result{Text: strings.Repeat("much ", 4<<20)}, nil
	}
	_, url := start(t, b, scoped.Options{Patience: 50 * time.Millisecond, Most: 1})
	session := begin(t, url)
	send := func(text string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_, err = io.WriteString(c, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	half := send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
	if got, err := io.ReadAll(half); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 408 ") {
		t.Errorf("a request that has no end: %q, %v, want that it took too long", got, err)
	}
	call := callOf("1", "publish", "{}")
	deaf := send(fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		session, len(call), call))
	<-asked
	// Its place is free again some time, though it stays.
	for status := 0; status != 200; {
		if status, _, _ = raw(t, "POST", url+scoped.Path, session, `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`); status != 200 && status != 429 {
			t.Fatalf("a request after one whose answer nobody reads: %d", status)
		}
	}
	if got, _ := io.ReadAll(deaf); len(got) >= 20<<20 {
		t.Errorf("an answer that nobody read in time came whole, all %d bytes", len(got))
	}
}
