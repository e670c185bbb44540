package builtin

import (
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/model"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func newServer() *mcpsdk.Server {
	return mcpsdk.NewServer(&mcpsdk.Implementation{Name: "peer", Version: "1"}, nil)
}

func byHTTP(srv *httptest.Server, token string) map[string]any {
	return map[string]any{"type": "http", "name": "lab tools", "url": srv.URL, "headers": []any{map[string]any{"name": "Authorization", "value": "Bearer " + token}}}
}

func names(tools []model.Tool) string {
	var out []string
	for _, x := range tools {
		out = append(out, x.Name)
	}
	return strings.Join(out, " ")
}

func TestServers(t *testing.T) {
	t.Parallel()
	t.Run("ByHTTP", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int64
		peer := newServer()
		addTool(peer, "vote", func() string { calls.Add(1); return "voted" })
		s := newScene(t, use("lab_tools__vote", `{"x":"yes"}`), use("lab_tools__vote", `[`), say("done"))
		srv := serve(t, peer, "secret")
		s.start(Options{})
		s.wants(s.open(byHTTP(srv, "secret")), "vote", "end_turn")
		r := s.brain.results(t)
		if len(r) != 2 || r[0].Text != "voted" || r[0].Error || !r[1].Error || calls.Load() != 1 {
			t.Errorf("the model was told %+v after %d calls", r, calls.Load())
		}
		if n := s.did("session/request_permission"); n != 0 {
			t.Errorf("%d permissions were asked for: a server judges its calls itself", n)
		}
		if got := s.ended("call-1")["status"]; got != "completed" {
			t.Errorf("the call ended as %v", got)
		}
	})
	t.Run("AsAChild", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, use("child__whoami", `{}`), say("done"))
		s.process(t.TempDir())
		s.wants(s.open(map[string]any{
			"name": "child", "command": os.Args[0], "args": []string{roleServer}, "env": []any{map[string]any{"name": "GIVEN", "value": "this"}},
		}), "ask", "end_turn")
		if r := s.brain.results(t); len(r) != 1 || r[0].Text != "token  given this" {
			t.Errorf("the model was told %+v: a child gets what it is given, and no token", r)
		}
	})
	t.Run("ThatChange", func(t *testing.T) {
		t.Parallel()
		peer := newServer()
		addTool(peer, "first", func() string { addTool(peer, "second", func() string { return "2" }); return "1" })
		s := newScene(t, use("lab_tools__first", `{}`))
		srv := serve(t, peer, "t")
		s.start(Options{MaxRequests: 5})
		id := s.open(byHTTP(srv, "t"))
		for range 50 { // when the news comes, nobody knows
			s.wants(id, "go", "max_turn_requests")
			asked := s.brain.asked()
			if strings.Contains(names(asked[len(asked)-1].Tools), "lab_tools__second") {
				return
			}
		}
		t.Error("the model was never told of a tool that came later")
	})
	t.Run("ThatCannotBeReached", func(t *testing.T) {
		t.Parallel()
		peer := newServer()
		addTool(peer, "vote", func() string { return "voted" })
		s := newScene(t, say("without"))
		srv := serve(t, peer, "secret")
		s.start(Options{})
		id := s.open(byHTTP(srv, "wrong"))
		s.wants(id, "vote", "end_turn")
		if seen := s.brain.asked()[0]; !strings.Contains(seen.System, "The tools of the server lab_tools are missing") || strings.Contains(names(seen.Tools), "vote") {
			t.Errorf("the model was told %q, with %s", seen.System, names(seen.Tools))
		}
	})
	t.Run("OfOtherKinds", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, say("hi"))
		s.start(Options{})
		for _, x := range []any{map[string]any{"type": "sse", "name": "a", "url": "http://x", "headers": []any{}}, "a text"} {
			if err := s.conn.Call(t.Context(), "session/new", map[string]any{"cwd": s.cwd, "mcpServers": []any{x}}, nil); err == nil {
				t.Errorf("a session has the server %v", x)
			}
		}
	})
}
