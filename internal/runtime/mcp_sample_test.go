//lint:file-ignore SA1019 sampling is deprecated, and there for servers of 2025-11-25

package runtime_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// samples adds a tool that has the agent's model asked, and says what it was told. It waits no
// longer than the test: nobody answers who was killed.
func (p *peer) samples(t *testing.T, name string, times int, params *mcp.CreateMessageParams) {
	p.AddTool(&mcp.Tool{Name: name, Description: "asks a model", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(t.Context(), cancel)()
			var told []string
			for range times {
				res, err := r.Session.CreateMessage(ctx, params)
				if err != nil {
					told = append(told, "error: "+err.Error())
					continue
				}
				told = append(told, string(res.Role)+" "+res.Content.(*mcp.TextContent).Text+" "+res.StopReason)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "told: " + strings.Join(told, "; ")}}}, nil
		})
}

const samplePlan = `
rules:
  - on: {last: "capital"}
    say: "Paris."
    cost: "0.25"
  - on: {turn: 1}
    call: [{tool: peer__book, args: {}}]
  - on: {turn: 2}
    say: "Done."
`

func wanted(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, SystemPrompt: "You know\x1b[2J maps.", Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}

// TestAServerHasAModelAsked: where quest.yaml lets it, and a person does each time, as a call of
// the agent's within its limits. In any other case the server is refused.
func TestAServerHasAModelAsked(t *testing.T) {
	picture := wanted("capital")
	picture.Messages[0].Content = &mcp.ImageContent{MIMEType: "image/png", Data: []byte("x")}
	many := make([]string, 3)
	for i := range many {
		many[i] = "yes"
	}
	const on, refused = "    sampling: true\n", "error: "
	for _, c := range []struct {
		name, set, more string
		times           int
		params          *mcp.CreateMessageParams
		answers         []string
		want            string
		calls           int
	}{
		{"a person says yes", on, "", 1, wanted("What is the capital of France?"), []string{"yes"}, "told: assistant Paris. endTurn", 1},
		{"a person says no", on, "", 1, wanted("What is the capital of France?"), []string{"no"}, refused + `calling "sampling/createMessage": the model was not asked`, 0},
		{"nobody has let it", "", "", 1, wanted("What is the capital of France?"), nil, refused, 0},
		{"a policy is against it", on, "policies: [{name: p, steps: [{block: {type: gateway.call, where: {source: peer}, reason: No.}}]}]\n", 1, wanted("What is the capital?"), nil, "the model was not asked", 0},
		{"a policy asks", on, "policies: [{name: p, steps: [{ask: {type: gateway.call, reason: Hm.}}]}]\n", 1, wanted("What is the capital?"), []string{"yes"}, "told: assistant Paris. endTurn", 1},
		{"the budget is spent", on, "limits: {agent: {turns: 1}}\n", 1, wanted("What is the capital?"), nil, "the model was not asked", 0},
		{"too often", on, "", 4, wanted("What is the capital?"), many, "Paris. endTurn; " + refused, 3},
		{"a picture", on, "", 1, picture, nil, "only texts are passed on", 0},
		{"no room for an answer", on, "", 1, &mcp.CreateMessageParams{Messages: wanted("capital").Messages}, nil, "maxTokens must be at least 1", 0},
		{"a long text", on, "", 1, wanted(strings.Repeat("long ", 5000) + "capital"), []string{"yes"}, "told: assistant Paris.", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p := newLab(t), newPeer(t)
			p.old()
			p.samples(t, "book", c.times, c.params)
			name := l.create(plan(t, "q", p.with(l, c.set)+c.more, samplePlan))
			s := l.plays(name, c.answers...)
			if got := l.results(name); len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Fatalf("it is %s, the tool says %q, want %q: %s", s.Status, got, c.want, types(l.events(name)))
			}
			var cost int64
			calls := 0
			for _, e := range l.events(name) {
				switch b := e.Body.(type) {
				case *event.InteractionOpened:
					if q := b.Question.Text; strings.Contains(q, "\x1b") || !strings.Contains(q, "for the server peer") || !strings.Contains(q, "maps") && !strings.Contains(q, "event") {
						t.Errorf("a person is asked %q", q)
					}
				case *event.GatewayAsked:
					if b.Server != "peer" || b.Wire != event.WireMCP || (b.Whole != nil) != (c.name == "a long text") {
						t.Errorf("asked %+v", b)
					}
				case *event.GatewayResult:
					calls++
					cost += b.Cost
				}
			}
			if calls != c.calls || cost != int64(calls)*250_000_000 || s.Spent.Cost != cost {
				t.Errorf("%d calls for %d, the quest has spent %d: want %d calls", calls, cost, s.Spent.Cost, c.calls)
			}
			l.sound(name)
		})
	}
}

// A server of the newer revision has no model asked, whoever lets it: that gives sampling up.
func TestAServerOfTheNewRevisionHasNoModelAsked(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.http.Config.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.Server }, &mcp.StreamableHTTPOptions{Stateless: true})
	p.AddTool(&mcp.Tool{Name: "book", Description: "asks", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(r.Params.InputResponses) == 0 {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": wanted("What is the capital?")}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "told"}}}, nil
		})
	name := l.create(plan(t, "q", p.with(l, "    sampling: true\n"), samplePlan))
	s := l.run(name)
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.McpListed); ok && b.Protocol != "2026-07-28" {
			t.Fatalf("the server speaks %s, which this is not about", b.Protocol)
		}
	}
	if got := l.results(name); s.Status != quest.Finished || len(got) != 1 || strings.Contains(got[0], "told") || l.count(name, "gateway.asked") != 0 {
		t.Errorf("it is %s, the tool says %q: %s", s.Status, got, types(l.events(name)))
	}
}

// A pause while a server waits for a person's yes has it told no, and a kill leaves nothing open.
func TestARestWhileAServerWantsAModel(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Logf("kill %v", kill)
		l, p := newLab(t), newPeer(t)
		p.old()
		p.samples(t, "book", 1, wanted("What is the capital?"))
		name := l.create(plan(t, "q", p.with(l, "    sampling: true\n"), samplePlan))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stop := make(chan struct{})
		if _, err := l.Run(ctx, name, runtime.RunOptions{Interrupt: stop, OnEvent: func(e event.Event, _ *quest.State) {
			switch {
			case e.Type != "interaction.opened":
			case kill:
				cancel()
			default:
				close(stop)
			}
		}}); err == nil {
			t.Fatal("the run was not broken off")
		}
		s := l.run(name)
		if all := types(l.events(name)); s.Status != quest.Finished || len(s.Open()) != 0 || len(s.Agents[0].Requests) != 0 || !strings.Contains(all, "interaction.withdrawn") || l.count(name, "gateway.call") != 0 {
			t.Errorf("kill %v: it is %s, with %d questions: %s", kill, s.Status, len(s.Open()), all)
		}
		l.sound(name)
	}
}
