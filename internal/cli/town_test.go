package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"strings"
	"testing"
)

// TestTown runs the example with 200 tools: an agent finds two of them, calls them, and all of it is
// made again without the server.
func TestTown(t *testing.T) {
	t.Parallel()
	h := architects(t, "town")
	h.run("run", "q/quest.yaml").want(t, 0, "4.2 metres deep at low tide")
	// An agent begins without a server that is slow, as this one is on a busy machine; the next has a quicker one.
	for range 10 {
		if len(h.told("town", "mcp.slow")) == 0 {
			break
		}
		h.ok("clean", "town", "--data", "--yes")
		h.run("run", "q/quest.yaml").want(t, 0, "4.2 metres deep at low tide")
	}
	listed := h.told("town", "mcp.listed")
	if len(listed) != 1 || !strings.Contains(listed[0].line, `"count":200`) {
		t.Errorf("the server listed %v, want 200 tools", listed)
	}
	results := h.told("town", "tool.result")
	if len(results) != 2 || !strings.Contains(results[0].line, "from 11 to 17 on Sundays") || !strings.Contains(results[1].line, "4.2 metres") {
		t.Errorf("its tools gave %v", results)
	}
	h.run("tools", "town").want(t, 0, "server town (stdio): 200 tools", "town__get_library_hours", "place 1 of those that fit the question")
	h.sound("town")
}

// TestServersComeAndGo gives a quest a server and takes it away again, by the command line.
func TestServersComeAndGo(t *testing.T) {
	t.Parallel()
	h := architects(t, "demo-number")
	h.run("create", "q/quest.yaml").want(t, 0)
	h.run("mcp", "add", "demo-number", "far").want(t, 2, "config.yaml has no server")
	h.run("mcp", "add", "demo-number", "Far", "--url", "https://mcp.example.org").want(t, 2, "no name of a server")
	h.run("mcp", "add", "demo-number", "far", "--url", "https://mcp.example.org", "--header", "Authorization").want(t, 2, "want Name=VARIABLE")
	h.run("mcp", "add", "demo-number", "far", "--url", "https://mcp.example.org", "--header", "Authorization=FAR_TOKEN").want(t, 0, "Recorded")
	h.run("mcp", "add", "demo-number", "far", "--url", "https://mcp.example.org").want(t, 2, "has a server", "already")
	h.run("mcp", "remove", "demo-number", "near").want(t, 2, "has no server")
	h.run("mcp", "remove", "demo-number", "far").want(t, 0, "Recorded")
	if added := h.told("demo-number", "mcp.added"); len(added) != 1 || !strings.Contains(added[0].line, "FAR_TOKEN") {
		t.Errorf("added are %v", added)
	}
	h.run("verify", "demo-number").want(t, 0)
}
