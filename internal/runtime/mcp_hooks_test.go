package runtime_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	sdk "lyceum/internal/mcp"
	"lyceum/internal/mcp/login"
	"lyceum/internal/mcp/login/logintest"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a quest says of a server's pages holds for agents that find their tools, too: one page too many costs the server its
// entries, and is named; as many as are allowed are all read.
func TestPagesOfAServer(t *testing.T) {
	for pages, want := range map[int]string{2: "has more than 2 pages", 3: "worked"} {
		for _, discover := range []string{"", "discover: true\n"} {
			l, p := newLab(t), newPeerWith(t, &mcp.ServerOptions{PageSize: 1})
			for _, name := range []string{"first", "second", "work"} {
				p.tool(name, "Does the "+name+" thing of six times seven.", says("worked"))
			}
			name := l.create(plan(t, "q", p.with(l, fmt.Sprintf("    pages: %d\n%s", pages, discover)), "rules:\n  - on: {turn: 1}\n    call: [{tool: peer__work, args: {}}]\n  - say: \"Done.\"\n"))
			l.run(name)
			got := strings.Join(l.results(name), "; ")
			for _, b := range collect[*event.McpListed](l.events(name)) {
				got += b.Error.Text
			}
			if !strings.Contains(got, want) || strings.Contains(got, "worked") != (pages == 3) {
				t.Errorf("with %d pages for three, discover %q: got %q, want %q", pages, discover, got, want)
			}
			l.sound(name)
		}
	}
}

// A connection that breaks while a tool works is made again as often as retry says, and the call has its one result; with
// -1 it is not, and the call fails in words. For a tool that was found it is the same.
func TestABrokenConnectionIsMadeAgainAsOftenAsRetrySays(t *testing.T) {
	for retry, survives := range map[string]bool{"": true, "    retry: 1\n": true, "    retry: -1\n": false} {
		for _, discover := range []bool{false, true} {
			l, p := newLab(t), newFaltering(t)
			yaml, rules := retry, "rules:\n  - on: {turn: 1}\n    call: [{tool: peer__work, args: {}}]\n  - say: \"Done.\"\n"
			if discover {
				yaml += "discover: true\n"
				rules = "rules:\n  - on: {turn: 1}\n    call: [{tool: search_tools, args: {intent: \"dig in the garden\"}}]\n  - on: {turn: 2}\n    call: [{tool: peer__work, args: {}}]\n  - say: \"Done.\"\n"
			}
			name := l.create(plan(t, "q", p.with(l, yaml), rules))
			s := l.run(name)
			p.worked.Wait()
			if lists := l.shownLists(name); discover && (len(lists) != 2 || slices.Contains(found(lists[0]), "peer__work") || !slices.Contains(found(lists[1]), "peer__work")) {
				t.Errorf("%q: the tool was not found by the search, but otherwise: %v", retry, lists)
			}
			results := collect[*event.ToolResult](l.events(name))
			if s.Status != quest.Finished || len(results) != 1 || strings.Contains(results[0].Output.Text, "worked") != survives || results[0].Error == survives {
				t.Errorf("%q, found: %v: it is %s, and the call came to %+v, want it to survive: %v", retry, discover, s.Status, results, survives)
			}
			l.sound(name)
		}
	}
}

// faltering is a peer whose connections break while its tool works; whoever comes back hears what it said.
type faltering struct {
	peer
	worked sync.WaitGroup
}

func newFaltering(t *testing.T) *faltering {
	p := &faltering{peer: peer{Server: mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)}}
	p.heard.L = &p.mu
	p.AddTool(&mcp.Tool{Name: "work", Description: "Digs in the garden.", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p.worked.Add(1)
		defer p.worked.Done()
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		p.http.CloseClientConnections()
		return says("worked")(ctx), nil
	})
	p.http = httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.Server }, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}))
	t.Cleanup(p.http.Close)
	return p
}

// A server takes the token no more when an agent has found its tool: the token is renewed, the call made once more, and the
// agent sees nothing of it.
func TestAFoundToolWhoseTokenHasEnded(t *testing.T) {
	l, p := newLab(t), logintest.New(t)
	var mu sync.Mutex
	kept := map[string]string{}
	store := login.Store{
		Get: func(_ context.Context, account string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			return kept[account], nil
		},
		Put: func(_ context.Context, account, secret string) error {
			mu.Lock()
			defer mu.Unlock()
			kept[account] = secret
			return nil
		},
	}
	browser := &login.Browser{Open: func(page, _ string) { go func() { _ = logintest.Agree(page) }() }}
	made, _, err := browser.Login(t.Context(), login.Server{Address: sdk.Address{URL: p.URL(), Private: p.Private()}})
	must(t, err)
	must(t, store.Save(t.Context(), made))
	l.Servers.Private, l.Servers.Logins = p.Private(), &store
	name := l.create(plan(t, "q", fmt.Sprintf("tools: [calculate]\ndiscover: true\nmcp: {behind: {url: %q}}\n", p.URL()), `
rules:
  - on: {turn: 1}
    call: [{tool: search_tools, args: {intent: "secret"}}]
  - on: {turn: 2}
    call: [{tool: behind__secret, args: {}}]
  - say: "Done."
`))
	asked := len(p.Asked())
	_, err = l.Run(t.Context(), name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "tool.call" && e.Tool == quest.SearchTools {
			p.Void()
		}
	}})
	must(t, err)
	results := collect[*event.ToolResult](l.events(name))
	if len(results) != 1 || results[0].Error || !strings.Contains(results[0].Output.Text, p.Word) {
		t.Errorf("the call came to %+v, want what is behind the login", results)
	}
	if got := p.Asked()[asked:]; len(got) != 1 || got[0].Get("grant_type") != "refresh_token" {
		t.Errorf("tokens were asked for with %v, want one refresh", got)
	}
	l.sound(name)
}
