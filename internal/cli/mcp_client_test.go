package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAKillBetweenACallAndItsResult: lyceum is killed while an MCP server works on a call. Of
// a tool that is listed as repeatable the call is made again; of any other nobody knows.
func TestAKillBetweenACallAndItsResult(t *testing.T) {
	for more, want := range map[string]string{"": "Interrupted, outcome unknown", "\n    repeatable: [slow]": "second time"} {
		var calls atomic.Int64
		begun, release := make(chan struct{}), make(chan struct{})
		s := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "slow", Description: "x", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if calls.Add(1) == 1 {
					close(begun)
					<-release
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "second time"}}}, nil
			})
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		h := newHome(t, map[string]string{
			"quest.yaml": fmt.Sprintf("name: q\nproblem: What is it?\nmodel: script:plan.yaml\nmcp:\n  peer:\n    url: %s%s\n", srv.URL, more),
			"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: peer__slow, args: {}}]\n  - on: {turn: 2}\n    say: \"Done.\"\n",
		})
		must(t, os.MkdirAll(h.dir, 0o700))
		must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("private_addresses: [\""+strings.TrimPrefix(srv.URL, "http://")+"\"]\n"), 0o600))
		p := h.start("run", "quest.yaml")
		<-begun
		must(t, p.cmd.Process.Kill())
		if l := p.wait(); l.code != -1 {
			t.Fatalf("it was not killed: %+v", l)
		}
		h.run("run", "q").want(t, 0, "Done.")
		trace := h.ok("trace", "q", "--json")
		if !strings.Contains(trace, want) || strings.Count(trace, `"tool.result"`) != 1 {
			t.Errorf("with %q want %q: %s", more, want, trace)
		}
		if n := calls.Load(); (n == 2) != (more != "") {
			t.Errorf("with %q it was called %d times", more, n)
		}
		close(release)
		for session := range s.Sessions() { // of the process that was killed
			_ = session.Close()
		}
		srv.CloseClientConnections()
		srv.Close()
		h.ok("replay", "q") // the server is away
		h.ok("verify", "q")
	}
}
