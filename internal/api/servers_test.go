package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is given to a quest that runs, and taken from it, by the API: agents find it in the same
// run, and are refused afterwards. What cannot be is refused with its reason and changes nothing.
func TestAServerComesAndGoesWhileAQuestRuns(t *testing.T) {
	t.Parallel()
	peer := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	var opened atomic.Int64
	mcp.AddTool(peer, &mcp.Tool{Name: "open_gate", Description: "Opens the gate of the garden."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		opened.Add(1)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "it is open"}}}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return peer }, nil))
	t.Cleanup(web.Close)

	h := newHome(t)
	h.gate = newGate()
	h.gate.says = func(r *model.Request) *model.Answer {
		switch r.Turn {
		case 1: // the server is asked before the next turn
			return call("calculate", `{"code":"print(1)"}`, r.Turn)
		case 2:
			return call("search_tools", `{"intent":"open the gate"}`, r.Turn)
		case 3, 4:
			return call("peer__open_gate", `{}`, r.Turn)
		}
		return said("Done.")
	}
	s := h.serve(api.Options{})
	s.rt.Servers.Private = append(s.rt.Servers.Private, strings.TrimPrefix(web.URL, "http://"))
	s.create("q", map[string]any{"discover": true})
	s.control("q", map[string]any{"action": "start"}).want(t, 200)
	asked := func(turn int) {
		t.Helper()
		until(t, s.rt, "q", func(e event.Event) bool {
			if e.Type == "model.call" {
				turn--
			}
			return turn == 0
		})
	}
	asked(1)
	add := map[string]any{"action": "add_server", "server": "peer", "settings": map[string]any{"url": web.URL}}
	for what, order := range map[string]map[string]any{
		"settings": {"action": "add_server", "server": "peer"},
		"url":      {"action": "add_server", "server": "peer", "settings": map[string]any{"url": "ftp://example.org"}},
		"name":     {"action": "add_server", "server": "A b", "settings": map[string]any{"url": web.URL}},
	} {
		if got := s.control("q", order); got.code != 400 && got.code != 422 {
			t.Errorf("a server with a wrong %s: got %d %s", what, got.code, got.body)
		}
	}
	if got := s.control("q", map[string]any{"action": "remove_server", "server": "peer"}); got.code < 400 || got.code >= 500 {
		t.Errorf("a server that is not there is removed: got %d %s", got.code, got.body)
	}
	s.control("q", add).want(t, 200)
	until(t, s.rt, "q", isType("mcp.added"))
	if got := s.control("q", add); got.code < 400 || got.code >= 500 {
		t.Errorf("it is added twice: got %d %s", got.code, got.body)
	}
	h.gate.let(3)
	asked(4)
	if opened.Load() != 1 {
		t.Fatalf("the tool of the server that came was called %d times, want once: %s", opened.Load(), strings.Join(lines(t, s.rt, "q"), "\n"))
	}
	s.control("q", map[string]any{"action": "remove_server", "server": "peer"}).want(t, 200)
	until(t, s.rt, "q", isType("mcp.removed"))
	h.gate.let(2)
	until(t, s.rt, "q", isType("quest.finished"))
	s.released("q")
	refused, added := 0, 0
	for e, err := range s.rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		switch b := e.Body.(type) {
		case *event.ToolResult:
			if strings.Contains(b.Output.Text, "removed this server") {
				refused++
			}
		case *event.McpAdded, *event.McpRemoved:
			added++
		}
	}
	if opened.Load() != 1 || refused != 1 || added != 2 {
		t.Errorf("the tool was called %d times and refused %d times, with %d changes of servers; want 1, 1 and 2", opened.Load(), refused, added)
	}
}

// Whoever may steer a quest takes servers from it, and gives it none: that lets agents reach further.
func TestOnlyTheOwnerAddsAServer(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	for name, want := range map[string]int{"read": 403, "other": 403, "mine": 403, "steer": 403} {
		got := g.ask("POST", "/api/quests/mine/control", `{"action":"add_server","server":"peer","settings":{"url":"https://example.org/mcp"}}`, g.bearer(name)...)
		if got.code != want {
			t.Errorf("%s adds a server: got %d %s, want %d", name, got.code, got.body.String(), want)
		}
	}
	if got := g.ask("POST", "/api/quests/mine/control", `{"action":"add_server","server":"peer","settings":{"url":"https://example.org/mcp"}}`, g.bearer("owner")...); got.code != 200 {
		t.Errorf("the owner adds a server: got %d %s", got.code, got.body.String())
	}
}
