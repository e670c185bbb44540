package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/mcp/bridge"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"
	"lyceum/internal/need"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMain has the test binary be what lyceum is inside computers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == bridge.Role {
		os.Exit(bridge.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	computertest.Main(m)
}

// box makes each call once, and says how many there were.
type box struct {
	mu   sync.Mutex
	made map[string]scoped.Result
	use  func(ctx context.Context, c scoped.Call) (scoped.Result, error)
}

func (b *box) Tools(context.Context) ([]model.Tool, error) {
	return []model.Tool{{Name: "publish", Schema: `{"type":"object"}`}}, nil
}

func (b *box) Use(ctx context.Context, c scoped.Call) (scoped.Result, error) {
	if b.use != nil {
		return b.use(ctx, c)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made == nil {
		b.made = map[string]scoped.Result{}
	}
	if _, ok := b.made[c.ID]; !ok {
		b.made[c.ID] = scoped.Result{Text: fmt.Sprintf("%s is call %d", c.Args, len(b.made)+1)}
	}
	return b.made[c.ID], nil
}

// port is one of the loopback behind which Lyceum can go and come.
type port struct {
	t       *testing.T
	address string
	mu      sync.Mutex
	server  *http.Server
}

// hosts is how many addresses of the loopback are in use.
var hosts atomic.Int64

// newPort takes a port of an address of its own: nobody else gets it while it is free.
func newPort(t *testing.T) *port {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:0", hosts.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	p := &port{t: t, address: l.Addr().String()}
	l.Close()
	t.Cleanup(p.leave)
	return p
}

// come has a handler answer at the port, for whoever has the token.
func (p *port) come(h http.Handler) {
	p.t.Helper()
	l, err := net.Listen("tcp", p.address)
	for tries := 0; errors.Is(err, syscall.EADDRINUSE) && tries < 100; tries++ {
		time.Sleep(50 * time.Millisecond) // whoever dials it in vain may hold it for a moment
		l, err = net.Listen("tcp", p.address)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r.WithContext(computer.As(r.Context(), "agent-1")))
	})}
	p.mu.Lock()
	p.server = s
	p.mu.Unlock()
	go func() { _ = s.Serve(l) }()
}

// leave is Lyceum's death: connections break.
func (p *port) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		_ = p.server.Close()
	}
}

// connect has a client of the SDK speak to a bridge.
func connect(t *testing.T, address, token, revision string, opts *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- bridge.Run(context.WithoutCancel(t.Context()), address, token, "", in, out)
		out.Close()
	}()
	t.Cleanup(func() {
		toBridge.Close()
		fromBridge.Close()
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the bridge: %v", err)
		}
	})
	c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, opts)
	return c.Connect(t.Context(), &mcp.IOTransport{Reader: fromBridge, Writer: toBridge}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("a result of %d parts", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func TestMessagesPassBothWays(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			p, heard := newPort(t), make(chan struct{}, 10)
			h := scoped.New("agent-1", &box{}, scoped.Options{})
			t.Cleanup(h.Close)
			p.come(h)
			s, err := connect(t, p.address, "right", revision, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { heard <- struct{}{} }})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the bridge speaks %s, want %s", got, revision)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 1 {
				t.Fatalf("the tools: %+v, %v", list, err)
			}
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "publish", Arguments: map[string]any{"n": i}})
					if err != nil || !strings.HasPrefix(text(t, r), fmt.Sprintf(`{"n":%d} is call`, i)) {
						t.Errorf("call %d of many: %+v, %v", i, r, err)
					}
				})
			}
			all.Wait()
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
		})
	}
}

// TestACallOutlivesLyceum has Lyceum go away in the middle of a call: by a word, and without one.
func TestACallOutlivesLyceum(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for what, kill := range map[string]bool{"ThatSaysSo": false, "ThatIsKilled": true} {
			t.Run(revision+what, func(t *testing.T) {
				t.Parallel()
				p, begun, away := newPort(t), make(chan scoped.Call, 1), make(chan struct{})
				p.come(scoped.New("agent-1", &box{use: func(ctx context.Context, c scoped.Call) (scoped.Result, error) {
					begun <- c
					select {
					case <-away:
					case <-ctx.Done():
					}
					return scoped.Result{}, context.Canceled
				}}, scoped.Options{}))
				s, err := connect(t, p.address, "right", revision, nil)
				if err != nil {
					t.Fatal(err)
				}
				type outcome struct {
					r   *mcp.CallToolResult
					err error
				}
				done := make(chan outcome, 1)
				go func() {
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "publish", Arguments: map[string]any{"n": 1}})
					done <- outcome{r, err}
				}()
				first := <-begun
				if !kill {
					close(away)
				}
				p.leave()
				again := make(chan scoped.Call, 1)
				p.come(scoped.New("agent-1", &box{use: func(_ context.Context, c scoped.Call) (scoped.Result, error) {
					again <- c
					return scoped.Result{Text: "it was made"}, nil
				}}, scoped.Options{}))
				o := <-done
				if o.err != nil || text(t, o.r) != "it was made" {
					t.Fatalf("a call over a restart: %+v, %v", o.r, o.err)
				}
				if second := <-again; second != first {
					t.Errorf("after a restart the call is %+v, before it was %+v", second, first)
				}
			})
		}
	}
}

func TestWhatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	p := newPort(t)
	p.come(scoped.New("agent-1", &box{}, scoped.Options{}))
	if _, err := connect(t, p.address, "wrong", "2025-11-25", nil); err == nil || !strings.Contains(err.Error(), "the task is over") {
		t.Errorf("a token that does not hold: %v", err)
	}
	in := strings.NewReader("no message\n" + `{"jsonrpc":"2.0","id":"a","method":"quests/delete"}` + "\n\n")
	var out strings.Builder
	if err := bridge.Run(t.Context(), p.address, "right", "", in, &out); err != nil {
		t.Errorf("the bridge: %v", err)
	}
	if got := out.String(); !strings.Contains(got, `"id":null,"error":{"code":-32700`) || !strings.Contains(got, `"id":"a","error":{"code":-32051`) {
		t.Errorf("answers to what makes no sense: %s", got)
	}
	if err := bridge.Run(t.Context(), p.address, "right", "", io.LimitReader(endless{}, 20<<20), io.Discard); err == nil || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("a line without an end: %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestInAComputer starts the bridge as an agent does: the program that the computer shows,
// told by its variables alone.
func TestInAComputer(t *testing.T) {
	t.Parallel()
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	t.Cleanup(func() { _ = d.Close() })
	dir := t.TempDir()
	place := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	h := scoped.New("agent-1", &box{}, scoped.Options{})
	c, err := computer.Open(t.Context(), d, place, computer.Spec{Program: true, Ports: []string{"tools"}}, computer.Options{Ports: map[string]computer.Port{"tools": {Handler: h}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.WithoutCancel(t.Context())) })
	token, err := c.Token("tools", "agent-1/task-1")
	if err != nil {
		t.Fatal(err)
	}
	args, env := bridge.Command(c.Address("tools"), token, "")
	r, err := c.Run(t.Context(), computer.Command{
		ID: "bridge", Args: []string{"sh", "-c", `echo "$0" | ` + strings.Join(args, " "), `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"publish","arguments":{"n":2}}}`},
		Env: env, Timeout: time.Minute,
	})
	if err != nil || r.Exit != 0 {
		t.Fatalf("the bridge in a computer: %+v, %v: %s", r, err, r.Stderr.Head)
	}
	if got := string(r.Stdout.Head); !strings.Contains(got, `"id":4`) || !strings.Contains(got, `{\"n\":2} is call 1`) {
		t.Errorf("a call from a computer by the bridge: %s", got)
	}
}

// TestAnAnswerThatEndsTooEarlyIsAskedForAgain has a stream that ends as if all had been said.
func TestAnAnswerThatEndsTooEarlyIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p, n := newPort(t), 0
	h := scoped.New("agent-1", &box{}, scoped.Options{})
	p.come(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 { // the bridge has one message under way here
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": \n\n")
			return
		}
		h.ServeHTTP(w, r)
	}))
	var out strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish","arguments":{"n":1}}}` + "\n")
	if err := bridge.Run(t.Context(), p.address, "right", "", in, &out); err != nil || n != 2 || !strings.Contains(out.String(), "is call 1") {
		t.Errorf("after %d requests: %v, %s, want the answer to the second", n, err, out.String())
	}
}

// TestAWordThatLyceumGoesIsNoAnswer has the word come through, and the next Lyceum be there at
// once.
func TestAWordThatLyceumGoesIsNoAnswer(t *testing.T) {
	t.Parallel()
	p, calls := newPort(t), []scoped.Call(nil)
	p.come(scoped.New("agent-1", &box{use: func(_ context.Context, c scoped.Call) (scoped.Result, error) {
		if calls = append(calls, c); len(calls) == 1 { // one after the other
			return scoped.Result{}, context.Canceled
		}
		return scoped.Result{Text: "it was made"}, nil
	}}, scoped.Options{}))
	var out strings.Builder
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish","arguments":{"n":1}}}` + "\n")
	err := bridge.Run(t.Context(), p.address, "right", "", in, &out)
	if err != nil || len(calls) != 2 || calls[0] != calls[1] || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "it was made") {
		t.Errorf("the calls %v: %v, %s, want the same call twice and one answer", calls, err, out.String())
	}
}
