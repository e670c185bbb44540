package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answer is what the scripted model does when it is asked.
type answer func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure)

func say(text string) answer {
	return reply(model.StopEnd, model.Part{Kind: event.PartText, Text: text})
}

func use(name, args string) answer { return reply(model.StopTools, called("x", name, args)) }

func called(id, name, args string) model.Part {
	return model.Part{Kind: event.PartToolCall, ID: id, Name: name, Args: args}
}

func reply(stop string, parts ...model.Part) answer {
	return func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		return modeltest.Reply{Parts: parts, Stop: stop}, ""
	}
}

func fail(f modeltest.Failure) answer {
	return func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) { return modeltest.Reply{}, f }
}

// brain is a model's server that plays answers in order, the last for ever.
type brain struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	seen    []*modeltest.Seen
}

func newBrain(t *testing.T, answers ...answer) *brain {
	t.Helper()
	b := &brain{answers: answers}
	b.Server = httptest.NewServer(modeltest.Handler(&modeltest.AnthropicWire{}, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		b.mu.Lock()
		b.seen = append(b.seen, seen)
		next := b.answers[0]
		if len(b.answers) > 1 {
			b.answers = b.answers[1:]
		}
		b.mu.Unlock()
		return next(seen)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *brain) asked() []*modeltest.Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

// results are what tools said, as the model saw it in its last request.
func (b *brain) results(t *testing.T) (out []model.Part) {
	t.Helper()
	asked := b.asked()
	if len(asked) == 0 {
		t.Fatal("the model was not asked")
	}
	for _, m := range asked[len(asked)-1].Messages {
		for _, p := range m.Parts {
			if p.Kind == model.PartToolResult {
				out = append(out, p)
			}
		}
	}
	return out
}

// scene is a client, with files and terminals of its own, and an agent.
type scene struct {
	t     *testing.T
	brain *brain
	cwd   string
	conn  *acp.Conn
	// can is what the client says that it can do.
	can string

	mu      sync.Mutex
	files   map[string]string
	updates []map[string]any
	methods []string
	// permit answers requests for permission, run runs commands.
	permit func(params json.RawMessage) any
	run    func(ctx context.Context, command string) (output string, code int)
	outs   map[string]string
	codes  map[string]int
	ends   map[string]context.CancelFunc
	// answer, if there is one, is closed before it is said that a command has begun.
	answer chan struct{}
}

const canAll = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`

func newScene(t *testing.T, answers ...answer) *scene {
	t.Helper()
	return &scene{
		t: t, brain: newBrain(t, answers...), cwd: t.TempDir(), can: canAll, files: map[string]string{},
		permit: choose(allowOnce), outs: map[string]string{}, codes: map[string]int{}, ends: map[string]context.CancelFunc{},
		run: func(context.Context, string) (string, int) { return "", 0 },
	}
}

func choose(option string) func(json.RawMessage) any {
	return func(json.RawMessage) any {
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": option}}
	}
}

// start has an agent in this process work for the client.
func (s *scene) start(opts Options) {
	s.t.Helper()
	if opts.Gateway == "" {
		opts.Gateway = s.brain.URL
	}
	if opts.Dir == "" {
		opts.Dir = s.t.TempDir()
	}
	if opts.Pause == nil {
		opts.Pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	opts.Token, opts.Model, opts.Version = "token-of-the-task", cmp.Or(opts.Model, "best"), "1"
	theirs, ours := io.Pipe()
	hear, speak := io.Pipe()
	a := New(context.Background(), opts)
	ended := make(chan error, 1)
	go func() {
		ended <- a.Serve(acp.NewConn(context.Background(), a, theirs, speak, acp.Options{}))
		speak.Close()
		theirs.Close()
	}()
	s.attach(hear, ours, func() { ours.Close(); <-ended })
}

// attach has the client speak with an agent.
func (s *scene) attach(in io.Reader, out io.Writer, end func()) {
	s.t.Helper()
	s.conn = acp.NewConn(context.Background(), s, in, out, acp.Options{})
	conn, over := s.conn, make(chan struct{})
	go func() { defer close(over); _ = conn.Serve() }()
	s.t.Cleanup(func() { end(); <-over })
	var hello struct {
		ProtocolVersion int
	}
	must(s.t, s.conn.Call(s.t.Context(), "initialize", json.RawMessage(`{"protocolVersion":1,"clientCapabilities":`+s.can+`}`), &hello))
	if hello.ProtocolVersion != 1 {
		s.t.Fatalf("the agent speaks version %d, want 1", hello.ProtocolVersion)
	}
}

func (s *scene) open(servers ...any) (id string) {
	s.t.Helper()
	if servers == nil {
		servers = []any{}
	}
	var out struct {
		SessionID string `json:"sessionId"`
	}
	must(s.t, s.conn.Call(s.t.Context(), "session/new", map[string]any{"cwd": s.cwd, "mcpServers": servers}, &out))
	return out.SessionID
}

func (s *scene) again(method, id string, servers ...any) error {
	if servers == nil {
		servers = []any{}
	}
	return s.conn.Call(s.t.Context(), method, map[string]any{"sessionId": id, "cwd": s.cwd, "mcpServers": servers}, nil)
}

func (s *scene) mode(id, mode string) {
	s.t.Helper()
	must(s.t, s.conn.Call(s.t.Context(), "session/set_mode", map[string]any{"sessionId": id, "modeId": mode}, nil))
}

func (s *scene) ask(id, text string) (stop string, err error) {
	var out struct {
		StopReason string `json:"stopReason"`
	}
	err = s.conn.Call(s.t.Context(), "session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": text}}}, &out)
	return out.StopReason, err
}

// wants asks, and wants the prompt to end in a way.
func (s *scene) wants(id, text, stop string) {
	s.t.Helper()
	got, err := s.ask(id, text)
	if err != nil || got != stop {
		s.t.Fatalf("the prompt ended with %q and error %v, want %q", got, err, stop)
	}
}

func (s *scene) cancel(id string) {
	s.t.Helper()
	must(s.t, s.conn.Notify("session/cancel", map[string]any{"sessionId": id}))
}

// Notify implements acp.Peer.
func (s *scene) Notify(method string, params json.RawMessage) {
	var n struct {
		Update map[string]any `json:"update"`
	}
	if method == "session/update" && json.Unmarshal(params, &n) == nil {
		s.mu.Lock()
		s.updates = append(s.updates, n.Update)
		s.mu.Unlock()
	}
}

// Request implements acp.Peer.
func (s *scene) Request(method string, params json.RawMessage) (func(context.Context) (any, error), error) {
	s.mu.Lock()
	s.methods = append(s.methods, method)
	permit := s.permit
	s.mu.Unlock()
	var p struct {
		Path, Content, Command, TerminalID string
		Args                               []string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		switch method {
		case "session/request_permission":
			return permit(params), nil
		case "fs/read_text_file":
			s.mu.Lock()
			defer s.mu.Unlock()
			text, ok := s.files[p.Path]
			if !ok {
				return nil, acp.Errorf(acp.NotFound, "there is no %s", p.Path)
			}
			return map[string]any{"content": text}, nil
		case "fs/write_text_file":
			s.mu.Lock()
			defer s.mu.Unlock()
			s.files[p.Path] = p.Content
			return nil, nil
		case "terminal/create":
			return s.create(p.Args)
		case "terminal/wait_for_exit":
			return s.wait(ctx, p.TerminalID)
		case "terminal/output":
			s.mu.Lock()
			defer s.mu.Unlock()
			return map[string]any{"output": s.outs[p.TerminalID], "truncated": false}, nil
		case "terminal/kill":
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ends[p.TerminalID]()
			return nil, nil
		case "terminal/release":
			return nil, nil
		}
		return nil, acp.Errorf(acp.NoMethod, "no %s", method)
	}, nil
}

// endless has the one command run until it is killed, and tells of both.
func (s *scene) endless() (runs, killed chan struct{}) {
	runs, killed = make(chan struct{}), make(chan struct{})
	s.run = func(ctx context.Context, _ string) (string, int) {
		close(runs)
		<-ctx.Done()
		close(killed)
		return "", 137
	}
	return runs, killed
}

func (s *scene) create(args []string) (any, error) {
	if len(args) != 2 || args[0] != "-c" {
		return nil, fmt.Errorf("the arguments of sh are %q", args)
	}
	if s.answer != nil {
		defer func() { <-s.answer }()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprint("terminal-", len(s.ends))
	ctx, end := context.WithCancel(context.Background())
	s.t.Cleanup(end)
	s.ends[id] = end
	s.outs[id] = args[1]
	s.codes[id] = -1
	run := s.run
	go func() {
		out, code := run(ctx, args[1])
		s.mu.Lock()
		s.outs[id], s.codes[id] = out, code
		s.mu.Unlock()
		end()
	}()
	s.codes["ctx-"+id] = 0
	return map[string]any{"terminalId": id}, nil
}

func (s *scene) wait(ctx context.Context, id string) (any, error) {
	for {
		s.mu.Lock()
		code := s.codes[id]
		s.mu.Unlock()
		if code >= 0 {
			return map[string]any{"exitCode": code}, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// did are the methods that the agent has asked the client for.
func (s *scene) did(method string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.methods {
		if m == method {
			n++
		}
	}
	return n
}

// told are the updates of a kind.
func (s *scene) told(kind string) (out []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.updates {
		if u["sessionUpdate"] == kind {
			out = append(out, u)
		}
	}
	return out
}

// said is all text of a kind of chunks.
func (s *scene) said(kind string) string {
	var out strings.Builder
	for _, u := range s.told(kind) {
		content, _ := u["content"].(map[string]any)
		text, _ := content["text"].(string)
		out.WriteString(text)
	}
	return out.String()
}

// ended is the last update of a call.
func (s *scene) ended(call string) (last map[string]any) {
	for _, u := range s.told("tool_call_update") {
		if u["toolCallId"] == call {
			last = u
		}
	}
	return last
}

func (s *scene) file(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.files[s.cwd+"/"+name]
	return text, ok
}

// addTool adds a tool to a server.
func addTool(s *mcpsdk.Server, name string, do func() string) {
	s.AddTool(&mcpsdk.Tool{Name: name, Description: "it does " + name, InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)},
		func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
			return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: do()}}}, nil
		})
}

// serve is a server by HTTP that wants a token.
func serve(t *testing.T, s *mcpsdk.Server, token string) *httptest.Server {
	t.Helper()
	h := mcpsdk.NewStreamableHTTPHandler(func(*http.Request) *mcpsdk.Server { return s }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

var _ acp.Peer = (*scene)(nil)
