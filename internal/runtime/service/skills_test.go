package service_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const runsPrograms = `
rules:
  - on: {turn: 1}
    call:
      - {tool: greet__hello, args: {args: ["you there", "$$(id)"], stdin: "in"}}
      - {tool: write_file, args: {path: .skills/greet/scripts/hello.sh, content: "x"}}
  - on: {turn: 2}
    call: [{tool: greet__sleeps, args: {timeout_seconds: 1}}]
  - on: {turn: 3}
    say: "Done."
`

// skilled is a home with a quest of an agent that has skills and a computer, run to its end. The files lie beside its
// quest.yaml, which says more.
func skilled(t *testing.T, more string, files map[string]string, private ...string) *runtime.Runtime {
	t.Helper()
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
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Computers: []computer.Driver{d}, Clock: runtime.SystemClock, Home: home, Version: "test",
		Models: func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
			data, err := pin(name)
			if err != nil {
				return nil, err
			}
			return script.Parse(name, data)
		},
	}
	rt.Servers.Private = private
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	source := []byte("name: q\nproblem: What is six times seven?\nmodel: script:plan.yaml\ndiscover: true\ntools: [read_file, write_file]\ncomputer: namespaces\n" + more)
	spec, err := quest.Societies(rt.Societies).ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: dir})
	must(t, err)
	s, err := rt.Run(t.Context(), "q", runtime.RunOptions{})
	must(t, err)
	if s.Status != quest.Finished {
		t.Fatalf("it is %s: %s", s.Status, s.Reason)
	}
	return rt
}

// TestAProgramThatHasTheNameOfAServersTool: the server's tool keeps the name, the program is refused it, and that is told
// before the first turn.
func TestAProgramThatHasTheNameOfAServersTool(t *testing.T) {
	srv := mcp.NewServer(&mcp.Implementation{Name: "greet", Version: "1"}, nil)
	srv.AddTool(&mcp.Tool{Name: "hello", Description: "Says what is six times seven.", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "said by the server"}}}, nil
	})
	at := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil))
	defer at.Close()
	rt := skilled(t, fmt.Sprintf("mcp: {greet: {url: %q}}\n", at.URL), map[string]string{
		"plan.yaml":                     "rules:\n  - on: {turn: 1}\n    call: [{tool: greet__hello, args: {}}]\n  - say: \"Done.\"\n",
		"skills/greet/SKILL.md":         "---\nname: greet\ndescription: \"Greets: what is six times seven\"\n---\nRun it.\n",
		"skills/greet/scripts/hello.sh": "#!/bin/sh\necho said by the program\n",
	}, strings.TrimPrefix(at.URL, "http://"))
	var told []string
	said := ""
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		switch b := e.Body.(type) {
		case *event.ToolResult:
			said += b.Output.Text
		case *event.ToolsShown:
			for _, l := range b.LeftOut {
				told = append(told, l.Name+": "+l.Why)
			}
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "greet__hello: ") || !strings.Contains(told[0], "mcp:greet") || !strings.Contains(told[0], "skill:greet") {
		t.Errorf("of the clash it is told %q, want the name and both sources", told)
	}
	if !strings.Contains(said, "said by the server") || strings.Contains(said, "program") {
		t.Errorf("a call of that name was answered with %q", said)
	}
	if rep, err := audit.Verify(t.Context(), rt, "q", nil); err != nil || rep.Difference != nil {
		t.Errorf("verify: %v, %v", rep, err)
	}
}

// TestAProgramOfASkillIsATool: by its own interpreter, in the agent's computer, with a time limit;
// nobody writes over it, and no text of the skill lies beside it.
func TestAProgramOfASkillIsATool(t *testing.T) {
	rt := skilled(t, "", map[string]string{
		"plan.yaml":                      runsPrograms,
		"skills/greet/SKILL.md":          "---\nname: greet\ndescription: \"Greets: what is six times seven\"\n---\nRun it. See [more](more.md).\n",
		"skills/greet/more.md":           "more\n",
		"skills/greet/scripts/hello.sh":  "#!/bin/sh -e\n# Says hello to people.\nprintf 'hello %s, %s; ' \"$1\" \"$2\"; cat; ls .skills/greet; echo made > made.txt\n",
		"skills/greet/scripts/sleeps.sh": "#!/bin/sh\nsleep 600\n",
	})
	out := map[string]string{}
	var found []string
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		switch b := e.Body.(type) {
		case *event.ToolResult:
			out[e.Tool] = b.Output.Text
		case *event.ToolsShown:
			for _, f := range b.Found {
				found = append(found, f.Name)
			}
		}
	}
	if !slices.Contains(found, "greet__hello") || !slices.Contains(found, "greet__sleeps") {
		t.Errorf("it found %v, want the programs of its skill", found)
	}
	if got := out["greet__hello"]; !strings.Contains(got, "hello you there, $(id); in") || !strings.Contains(got, "scripts") || strings.Contains(got, "more.md") {
		t.Errorf("the program said %q", got)
	}
	if got := out["greet__sleeps"]; !strings.Contains(got, "longer than 1 s") {
		t.Errorf("a program without an end was answered with %q", got)
	}
	if got := out["write_file"]; !strings.HasPrefix(got, "error:") {
		t.Errorf("writing over a program was answered with %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(rt.QuestDir("q"), "agents", "agent-0", "made.txt")); err != nil || string(got) != "made\n" {
		t.Errorf("what the program made: %q, %v", got, err)
	}
	if rep, err := audit.Verify(t.Context(), rt, "q", nil); err != nil || rep.Difference != nil {
		t.Errorf("verify: %v, %v", rep, err)
	}
}
