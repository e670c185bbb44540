package service_test

// Servers inside an agent's computer are tried here, where a test can be the server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/script"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveWord has this binary be an MCP server, in the place of its tests.
const serveWord = "serve-mcp"

// serveTools is the server: it works in the folder that it stands in.
func serveTools() {
	s := mcp.NewServer(&mcp.Implementation{Name: "inside", Version: "1"}, nil)
	var calls atomic.Int64
	for name, do := range map[string]func() string{
		"count": func() string { return fmt.Sprintf("call %d of this server", calls.Add(1)) },
		"write": func() string { return errorWord(os.WriteFile("made.txt", []byte("by the server"), 0o600)) },
		"where": func() string {
			dir, err := os.Getwd()
			return dir + errorWord(err) + "\n" + strings.Join(os.Environ(), "\n")
		},
		"die":   func() string { os.Exit(3); return "" },
		"flood": func() string { _, err := io.CopyN(os.Stdout, endless{}, 1<<30); return errorWord(err) },
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: do()}}}, nil
		})
	}
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

func errorWord(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// endless has no end and no line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestAServerInsideAComputer(t *testing.T) {
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	home := t.TempDir()
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), nil)
	must(t, err)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(store.Close(), blobs.Close())) })
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Computers: []computer.Driver{d}, Clock: runtime.SystemClock, Home: home, Version: "test",
		Models: func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
			data, err := pin(name)
			if err != nil {
				return nil, err
			}
			return script.Parse(name, data)
		},
	}
	t.Cleanup(func() { _ = rt.Clean(context.Background(), "q", false) })
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(`
rules:
  - on: {turn: 1}
    call: [{tool: tools__where, args: {}}, {tool: processes, args: {}}]
  - on: {turn: 2}
    call: [{tool: tools__write, args: {}}]
  - on: {turn: 3}
    call: [{tool: read_file, args: {path: made.txt}}]
  - on: {turn: 4}
    call: [{tool: tools__die, args: {}}]
  - on: {turn: 5}
    call: [{tool: tools__write, args: {}}]
  - on: {turn: 6}
    call: [{tool: tools__flood, args: {}}]
  - on: {turn: 7}
    say: "Done."
`), 0o600))
	source := []byte("name: q\nproblem: What does it say?\nmodel: script:plan.yaml\ncomputer: {driver: namespaces, memory: 512MiB}\nmcp:\n  tools: {run: exec ./server " + serveWord + "}\n  broken: {run: \"echo no such thing >&2; exit 7\"}\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: dir})
	must(t, err)
	own, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, need.Write(filepath.Join(rt.Place("q", "agent-0").Home, "server"), own))
	t.Setenv("CANARY_OF_THE_HOST", "seen")
	run(t, rt)

	var results []string
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		switch b := e.Body.(type) {
		case *event.ToolResult:
			results = append(results, b.Output.Text)
		case *event.McpListed:
			if b.Server == "tools" && len(b.Pins) != 5 || b.Server == "broken" && !strings.Contains(b.Error.Text, "no such thing") {
				t.Errorf("it was listed as %+v", b)
			}
		}
	}
	if len(results) != 7 {
		t.Fatalf("%d results: %q", len(results), results)
	}
	for i, want := range map[int]string{0: computer.HomeDir, 2: "ok", 3: "by the server", 4: "the connection to the server was lost", 5: "ok", 6: "the connection to the server was lost"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d is %.500q, want %q", i, results[i], want)
		}
	}
	if strings.Contains(results[0], "CANARY_OF_THE_HOST") || strings.Contains(results[1], runtime.ServerPrefix) {
		t.Errorf("the server sees the host's environment, or the agent its program: %q", results[:2])
	}
	rep, err := audit.Replay(t.Context(), rt, "q", nil)
	must(t, err)
	if rep.Difference != nil {
		t.Errorf("replay: %v", rep.Difference)
	}
}

// counting is a model that calls a tool twice, in its first turn.
type counting struct{}

func (counting) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	out := &model.Answer{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "hm"}}}
	for i := range 2 {
		if r.Turn == 1 {
			out.Stop = model.StopTools
			out.Parts = append(out.Parts, model.Part{Kind: event.PartToolCall, ID: fmt.Sprint("c", i), Name: "tools__count", Args: fmt.Sprintf(`{"n":%d}`, i)})
		}
	}
	return out, nil
}

// TestEachAgentHasAServerOfItsOwn: a server that is run is one for each agent, in that agent's computer, and stays the same
// from call to call.
func TestEachAgentHasAServerOfItsOwn(t *testing.T) {
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	home, dir := t.TempDir(), t.TempDir()
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), nil)
	must(t, err)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(store.Close(), blobs.Close())) })
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{lab.Society{}}, Computers: []computer.Driver{d}, Clock: runtime.SystemClock, Home: home, Version: "test",
		Models: func(string, func(string) ([]byte, error)) (model.Model, error) { return counting{}, nil },
	}
	t.Cleanup(func() { _ = rt.Clean(context.Background(), "q", false) })
	source := []byte("name: q\nproblem: What does it say?\nmodel: counting\nsociety: lab\nagents: 2\ncomputer: namespaces\nlimits: {turns: 8}\nmcp:\n  tools: {run: exec ./server " + serveWord + "}\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: dir})
	must(t, err)
	own, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	for _, agent := range []string{"agent-0", "agent-1"} {
		must(t, need.Write(filepath.Join(rt.Place("q", agent).Home, "server"), own))
	}
	_, err = rt.Run(t.Context(), "q", runtime.RunOptions{})
	must(t, err)
	said := map[string][]string{}
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		if b, ok := e.Body.(*event.ToolResult); ok {
			_, words, _ := strings.Cut(b.Output.Text, "call ")
			words, _, _ = strings.Cut(words, " of this server")
			said[e.Actor] = append(said[e.Actor], words)
		}
	}
	for _, agent := range []string{"agent-0", "agent-1"} {
		if got := said[agent]; !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("the server of %s counted its calls as %v, want 1 and 2", agent, got)
		}
	}
}
