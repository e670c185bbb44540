package builtin

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/model"
	"lyceum/internal/need"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// host keeps what an executor in a computer was allowed and did.
type host struct {
	c *computer.Computer

	mu   sync.Mutex
	told []string
}

func (h *host) note(words ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, strings.Join(words, " "))
}

func (h *host) Report(_ context.Context, b event.Body) error {
	if r, ok := b.(*event.ToolReported); ok {
		h.note("tool", r.ID, r.Status)
	}
	return nil
}

func (h *host) Live(string, string) {}

func (h *host) Ask(context.Context, executor.Question) ([]byte, error) { return nil, nil }
func (h *host) Permit(_ context.Context, b *event.PermissionAsked) (string, error) {
	h.note("permit", b.Kind, b.Title.Text)
	return b.Options[0].ID, nil
}

func (h *host) Write(_ context.Context, path string) error { h.note("write", path); return nil }

func (h *host) Run(ctx context.Context, cmd computer.Command) error {
	h.note("run", strings.Join(cmd.Args, " "))
	return h.c.Start(ctx, cmd)
}

// TestInsideAComputer has the agent where it is meant to be: in a sandbox without a network,
// this binary shown inside, its model and its tools at ports, its files and commands through
// Lyceum's side of the protocol.
func TestInsideAComputer(t *testing.T) {
	t.Parallel()
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	b := newBrain(t,
		use("write_file", `{"path":"sub/hello.sh","content":"echo hello from $(pwd)\n"}`),
		use("run_command", `{"command":"sh sub/hello.sh; exit 3"}`),
		use("lyceum__vote", `{"x":"yes"}`),
		reply(model.StopTools, called("1", "list_files", `{}`), called("2", "edit_file", `{"path":"sub/hello.sh","old":"hello","new":"bye"}`), called("3", "read_file", `{"path":"sub/hello.sh"}`)),
		say("It is there."), say("And so am I."))
	peer := newServer()
	addTool(peer, "vote", func() string { return "voted" })
	t.Cleanup(func() {
		for x := range peer.Sessions() { // a process that is killed says no goodbye
			_ = x.Close()
		}
	})
	dir := t.TempDir()
	place := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	must(t, os.Mkdir(place.Home, 0o700))
	c, err := computer.Open(t.Context(), d, place, computer.Spec{Ports: []string{"gateway", "tools"}, Program: true}, computer.Options{Ports: map[string]computer.Port{
		"gateway": {Handler: tokened(b.Config.Handler)},
		"tools":   {Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return peer }, &mcp.StreamableHTTPOptions{DisableLocalhostProtection: true})},
	}})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := errors.Join(computer.StopAt(ctx, place, d), c.Close()); err != nil {
			t.Errorf("stop the computer: %v", err)
		}
	})
	models, err := c.Token("gateway", "agent-0")
	must(t, err)
	tools, err := c.Token("tools", "agent-0")
	must(t, err)
	words := strings.NewReplacer("{gateway}", "http://"+c.Address("gateway"), "{token}", models, "{model}", "best", "{settings}", computer.HomeDir+"/"+executor.SettingsDir)
	set := executor.Builtin()
	for name, value := range set.Variables {
		set.Variables[name] = words.Replace(value)
	}
	h := &host{c: c}
	open := func() executor.Executor {
		x, err := executor.New(t.Context(), executor.Agent{
			Computer: c, ID: "exec-a", Settings: set, Journal: filepath.Join(dir, "journal"), Host: h, Version: "1",
			Servers: []executor.Server{{Name: "lyceum", URL: "http://" + c.Address("tools"), Headers: map[string]string{"Authorization": "Bearer " + tools}}},
		})
		must(t, err)
		info, err := x.Ready(t.Context())
		must(t, err)
		if info.Name != "lyceum-builtin" || info.Protocol != 1 {
			t.Errorf("the agent is %+v", info)
		}
		return x
	}
	prompt := func(x executor.Executor, seq uint64, text, want string) {
		t.Helper()
		turn, err := x.Prompt(t.Context(), executor.Prompt{Seq: seq, Text: text, Begin: func(context.Context, string) error { return nil }})
		if err != nil || turn.Stop != "end_turn" || turn.Text != want {
			t.Fatalf("the turn is %q %q, error %v, want %q", turn.Stop, turn.Text, err, want)
		}
	}
	x := open()
	s, err := x.Open(t.Context(), "")
	must(t, err)
	prompt(x, 7, "greet", "It is there.")
	text, err := os.ReadFile(filepath.Join(place.Home, "sub", "hello.sh"))
	if err != nil || string(text) != "echo bye from $(pwd)\n" {
		t.Errorf("the file is %q, error %v", text, err)
	}
	var said []string
	for _, r := range b.results(t) {
		said = append(said, r.Text)
	}
	if all := strings.Join(said, "|"); !strings.Contains(all, "hello from /home/agent\nerror: exit code 3|voted|") || !strings.HasSuffix(all, "|echo bye from $(pwd)\n") {
		t.Errorf("the model was told %q", all)
	}
	h.mu.Lock()
	told := strings.Join(h.told, "\n")
	h.mu.Unlock()
	for _, want := range []string{"permit edit Write sub/hello.sh", "write ", "permit execute sh sub/hello.sh; exit 3", "run sh -c sh sub/hello.sh; exit 3", "tool call-3 completed"} {
		if !strings.Contains(told, want) {
			t.Errorf("Lyceum did not witness %q:\n%s", want, told)
		}
	}
	// Another process goes on with the session.
	must(t, x.Close())
	x = open()
	again, err := x.Open(t.Context(), s.ID)
	if err != nil || again.ID != s.ID || again.How == event.SessionNew {
		t.Fatalf("the session of before is opened as %+v, error %v", again, err)
	}
	prompt(x, 8, "are you there?", "And so am I.")
	if asked := b.asked(); asked[len(asked)-1].Messages[0].Parts[0].Text != "greet" {
		t.Error("the new process does not know what was said before")
	}
	must(t, x.Close())
}

// tokened puts a key in place of the one that the port has taken off, as the gateway does.
func tokened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Api-Key", "a key of outside")
		next.ServeHTTP(w, r)
	})
}
