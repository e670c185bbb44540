package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// speaker is a lyceum mcp, and the SDK's client of it.
type speaker struct {
	t *testing.T
	*mcp.ClientSession
	cmd    *exec.Cmd
	errOut *said
}

// mcp starts a lyceum mcp.
func (h *home) mcp(args ...string) *speaker {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h.t.Cleanup(cancel)
	s := &speaker{t: h.t, cmd: command(ctx, h.dir, h.work, append([]string{"mcp"}, args...)...), errOut: new(said)}
	s.cmd.Env = append(s.cmd.Env, h.env...)
	s.cmd.Stderr = s.errOut
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(ctx, &mcp.CommandTransport{Command: s.cmd, TerminateDuration: patience}, nil)
	if err != nil {
		h.t.Fatalf("lyceum mcp: %v: %s", err, s.errOut)
	}
	s.ClientSession = session
	h.t.Cleanup(func() { _ = session.Close() })
	return s
}

type stands struct {
	Quest, Status, Answer, Limit string
	CostLimit                    string `json:"cost_limit_usd"`
}

func (s *speaker) call(name string, args map[string]any) (out stands) {
	s.t.Helper()
	got, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Fatalf("the tool %s cannot be called: %v: %s", name, err, s.errOut)
	}
	data, err := json.Marshal(got.StructuredContent)
	must(s.t, err)
	if got.IsError {
		text, _ := json.Marshal(got.Content)
		s.t.Fatalf("the tool %s fails: %s", name, text)
	}
	must(s.t, json.Unmarshal(data, &out))
	return out
}

// slow makes the quest that takes its time.
func (s *speaker) slow() {
	s.t.Helper()
	s.call("create", map[string]any{"yaml": slowQuest, "files": []any{map[string]any{"path": "plan.yaml", "text": slowPlan}}})
}

// kinds are the types of a quest's events.
func (h *home) kinds(quest string) (out []string) {
	h.t.Helper()
	for _, e := range h.events(quest) {
		out = append(out, string(e.Type))
	}
	return out
}

// With a server and without one, the same is offered, and gives the same events.
func TestMCPOverStdio(t *testing.T) {
	t.Parallel()
	var events [2][]string
	t.Run("Group", func(t *testing.T) {
		for i, name := range []string{"Alone", "ThroughAServer"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h := newHome(t, nil)
				if name == "ThroughAServer" {
					server := h.serve()
					defer func() { server.signal(syscall.SIGTERM); server.wait() }()
				}
				s := h.mcp()
				s.call("create", map[string]any{"yaml": askQuest, "files": []any{map[string]any{"path": "plan.yaml", "text": askPlan}}})
				got := s.call("run", map[string]any{"quest": "ask", "wait": 30})
				if got.Status != "finished" || !strings.Contains(got.Answer, "42") || got.CostLimit != "5.00" {
					t.Errorf("the quest is %+v", got)
				}
				resource, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "lyceum://ask/answer"})
				if err != nil || !strings.Contains(resource.Contents[0].Text, "42") {
					t.Errorf("the answer: %v %v", resource, err)
				}
				must(t, s.Close())
				h.sound("ask")
				events[i] = h.kinds("ask")
			})
		}
	})
	if diff := cmp.Diff(events[0], events[1]); diff != "" || len(events[0]) == 0 {
		t.Errorf("events alone and through a server (-alone +server):\n%s", diff)
	}
}

// A lyceum mcp that is killed while a quest runs leaves it to the next, which goes on.
func TestMCPKilledDuringARun(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	first := h.mcp()
	first.slow()
	if got := first.call("run", map[string]any{"quest": "slow"}); got.Status != "running" {
		t.Fatalf("run returns with %+v", got)
	}
	h.await("slow", "model.call", 2)
	must(t, first.cmd.Process.Signal(syscall.SIGKILL))
	_ = first.Wait()

	look := h.mcp("--read-only")
	if got := look.call("status", map[string]any{"quest": "slow"}); got.Status != "interrupted" {
		t.Errorf("after a kill the quest is %+v, want it interrupted and not gone on with by who may only read", got)
	}
	must(t, look.Close())

	second := h.mcp()
	if got := second.call("run", map[string]any{"quest": "slow", "wait": 30}); got.Status != "finished" {
		t.Errorf("in the next process the quest is %+v", got)
	}
	must(t, second.Close())
	if !strings.Contains(second.errOut.String(), "Going on with quest slow.") {
		t.Errorf("it says %q", second.errOut)
	}
	h.sound("slow")
}

// When standard input ends, what ran here is paused, and goes on with the next.
func TestMCPEndsWithItsInput(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	first := h.mcp()
	first.slow()
	first.call("run", map[string]any{"quest": "slow"})
	h.await("slow", "model.call", 2)
	must(t, first.Close())
	if s := h.show("slow"); s.Status != "paused" {
		t.Errorf("the quest is %+v, want it paused", s)
	}
	second := h.mcp()
	if got := second.call("run", map[string]any{"quest": "slow", "wait": 30}); got.Status != "finished" {
		t.Errorf("the quest is %+v", got)
	}
	must(t, second.Close())
	h.sound("slow")
}

func TestMCPReadOnly(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": askQuest, "plan.yaml": askPlan})
	h.ok("create", "quest.yaml")
	s := h.mcp("--read-only")
	var names []string
	for tool, err := range s.Tools(t.Context(), nil) {
		must(t, err)
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s changes something", tool.Name)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"diff", "events", "evidence", "list", "paper", "papers", "replay", "search", "status", "verify"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"quest": "ask"}}); err == nil {
		t.Errorf("run: %+v", got)
	}
	must(t, s.Close())
	if got := h.kinds("ask"); len(got) != 1 {
		t.Errorf("the quest has the events %v", got)
	}
}

// Nothing but the protocol is on standard output, whatever else there is to say.
func TestMCPSaysNothingElse(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	first := h.mcp()
	first.slow()
	first.call("run", map[string]any{"quest": "slow"})
	h.await("slow", "model.call", 1)
	must(t, first.Close())

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "mcp")
	var errOut said
	cmd.Stderr = &errOut
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"quest":"slow","wait":60}}}
{"jsonrpc":"2.0","id":3,"method":"no/such"}
`)
	must(t, err)
	answered := map[float64]bool{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for len(answered) < 3 && lines.Scan() {
		var msg struct {
			JSONRPC string
			ID      float64
		}
		if err := json.Unmarshal(lines.Bytes(), &msg); err != nil || msg.JSONRPC != "2.0" {
			t.Errorf("standard output says %q", lines.Text())
		}
		if msg.ID > 0 {
			answered[msg.ID] = true
		}
	}
	must(t, in.Close())
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("in the end standard output says %q, %v", rest, err)
	}
	must(t, cmd.Wait())
	if len(answered) != 3 || !strings.Contains(errOut.String(), "Going on with quest slow.") {
		t.Errorf("answered %v, and said %q", answered, errOut.String())
	}
}

// An interrupt ends it, though its input goes on.
func TestMCPInterrupted(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	s := h.mcp()
	s.call("list", nil)
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("it goes on")
	}
}
