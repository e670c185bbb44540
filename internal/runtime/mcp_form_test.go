package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// old has a peer speak 2025-11-25, in which servers ask by themselves.
func (p *peer) old() {
	next := p.http.Config.Handler
	p.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"server/discover"`)) {
			http.Error(w, "never heard of it", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// asks adds a tool that asks, and says what it was told.
func (p *peer) asks(name string, ask ...*mcp.ElicitParams) {
	p.AddTool(&mcp.Tool{Name: name, Description: "asks", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var told []string
			for _, a := range ask {
				res, err := r.Session.Elicit(ctx, a)
				if err != nil {
					return nil, err
				}
				data, _ := json.Marshal(res.Content)
				told = append(told, fmt.Sprintf("%s %s", res.Action, data))
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "told: " + strings.Join(told, "; ")}}}, nil
		})
}

func schema(text string) json.RawMessage { return json.RawMessage(text) }

// plays runs a quest, and answers its questions in turn.
func (l *lab) plays(name string, answers ...string) *quest.State {
	l.t.Helper()
	asked := make(chan uint64, 10)
	done := make(chan *quest.State, 1)
	go func() {
		s, err := l.Run(l.t.Context(), name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "interaction.opened" {
				asked <- e.Seq
			}
		}})
		if err != nil {
			l.t.Error(err)
		}
		done <- s
	}()
	for _, text := range answers {
		select {
		case seq := <-asked:
			b := &event.InteractionAnswered{Interaction: seq, Text: text}
			if text == "yes" || text == "no" {
				b.Choice, b.Text = text, ""
			}
			_, err := l.Post(l.t.Context(), name, ledger.Command{Body: b})
			must(l.t, err)
		case <-done:
			l.t.Fatalf("nobody asked for %q: %s", text, types(l.events(name)))
		}
	}
	return <-done
}

const bookPlan = `
rules:
  - on: {turn: 1}
    call: [{tool: peer__book, args: {}}]
  - on: {turn: 2}
    say: "Done."
`

func TestAServerAsksAPerson(t *testing.T) {
	form := &mcp.ElicitParams{Message: "How many\x1b[2J seats?", RequestedSchema: schema(`{"type":"object","required":["seats"],"properties":{"seats":{"type":"integer"},"row":{"type":"string","enum":["a","b"]}}}`)}
	for _, c := range []struct {
		name    string
		ask     []*mcp.ElicitParams
		answers []string
		want    string
	}{
		{"a form", []*mcp.ElicitParams{form}, []string{"seats: 2\nrow: b"}, `told: accept {"row":"b","seats":2}`},
		{"a form, at the second try", []*mcp.ElicitParams{form}, []string{"two", `{"seats": 2}`}, `told: accept {"seats":2}`},
		{"a form that is never right", []*mcp.ElicitParams{form}, []string{"two", "three"}, "told: decline null"},
		{"two forms", []*mcp.ElicitParams{form, form}, []string{"seats: 1", "decline"}, `told: accept {"seats":1}; decline null`},
		{"too many forms", []*mcp.ElicitParams{form, form, form, form}, []string{"seats: 1", "seats: 2", "seats: 3"}, `{"seats":3}; decline null`},
		{"an address", []*mcp.ElicitParams{{Mode: "url", Message: "Pay", URL: "https://pay.example/x", ElicitationID: "1"}}, []string{"yes"}, "told: accept"},
		{"a password", []*mcp.ElicitParams{{Message: "Log in", RequestedSchema: schema(`{"type":"object","properties":{"password":{"type":"string"}}}`)}}, nil, "told: decline null"},
		{"an address that is none of https", []*mcp.ElicitParams{{Mode: "url", Message: "Pay", URL: "javascript:alert(1)", ElicitationID: "1"}}, nil, "told: decline null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p := newLab(t), newPeer(t)
			p.old()
			p.asks("book", c.ask...)
			name := l.create(plan(t, "q", p.with(l, ""), bookPlan))
			s := l.plays(name, c.answers...)
			if got := l.results(name); s.Status != quest.Finished || len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Fatalf("it is %s, the tool says %q, want %q: %s", s.Status, got, c.want, types(l.events(name)))
			}
			for _, e := range l.events(name) {
				if b, ok := e.Body.(*event.InteractionOpened); ok && (strings.Contains(b.Question.Text, "\x1b") || !strings.Contains(b.Question.Text, "peer__book")) {
					t.Errorf("a person is asked %q", b.Question.Text)
				}
			}
			l.sound(name)
		})
	}
}

// In the newer revision a result says what is wanted, and the call is made again with it.
func TestAServerOfTheNewRevisionAsksAPerson(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.AddTool(&mcp.Tool{Name: "book", Description: "asks", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(r.Params.InputResponses) == 0 {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"seats": &mcp.ElicitParams{Message: "How many?", RequestedSchema: schema(`{"type":"object","properties":{"seats":{"type":"integer"}}}`)}}}, nil
			}
			data, _ := json.Marshal(r.Params.InputResponses["seats"])
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "told: " + string(data)}}}, nil
		})
	name := l.create(plan(t, "q", p.with(l, ""), bookPlan))
	s := l.plays(name, "3")
	if got := l.results(name); s.Status != quest.Finished || len(got) != 1 || !strings.Contains(got[0], `"seats":3`) {
		t.Fatalf("it is %s, the tool says %q: %s", s.Status, got, types(l.events(name)))
	}
	l.sound(name)
}

// A quest that is paused while a server waits for a person tells it no, and comes to rest.
func TestAPauseWhileAServerAsks(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.old()
	p.asks("book", &mcp.ElicitParams{Message: "How many?", RequestedSchema: schema(`{"type":"object","properties":{"seats":{"type":"integer"}}}`)})
	name := l.create(plan(t, "q", p.with(l, ""), bookPlan))
	stop := make(chan struct{})
	_, err := l.Run(t.Context(), name, runtime.RunOptions{Interrupt: stop, OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "interaction.opened" {
			close(stop)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("the run ended with %v", err)
	}
	if got := l.results(name); len(got) != 1 || !strings.Contains(got[0], "told: decline") {
		t.Errorf("the tool says %q: %s", got, types(l.events(name)))
	}
	if s := l.run(name); s.Status != quest.Finished || len(s.Forms) != 0 {
		t.Errorf("it is %s with %d forms: %s", s.Status, len(s.Forms), types(l.events(name)))
	}
	l.sound(name)
}

// Whoever is killed while a server waits for a person does not know what came of the call.
func TestAKillWhileAServerAsks(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.old()
	p.asks("book", &mcp.ElicitParams{Message: "How many?", RequestedSchema: schema(`{"type":"object","properties":{"seats":{"type":"integer"}}}`)})
	name := l.create(plan(t, "q", p.with(l, ""), bookPlan))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "interaction.opened" {
			cancel()
		}
	}}); err == nil {
		t.Fatal("the run was not broken off")
	}
	s := l.run(name)
	if got := l.results(name); s.Status != quest.Finished || len(got) != 1 || !strings.Contains(got[0], "outcome unknown") {
		t.Errorf("it is %s, the tool says %q", s.Status, got)
	}
	if all := types(l.events(name)); !strings.Contains(all, "interaction.withdrawn") || len(s.Open()) != 0 || len(s.Forms) != 0 {
		t.Errorf("the question is still asked: %s", all)
	}
	l.sound(name)
}
