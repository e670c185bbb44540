package api_test

import (
	"context"
	"reflect"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/ledger"

	"github.com/google/go-cmp/cmp"
)

// TestTheTranscriptOfAnExecutor: what it said, the calls that it made itself, and those that it
// proposed stand in its agent's transcript, each once.
func TestTheTranscriptOfAnExecutor(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.rt.Executors = func(string) (executor.Settings, string, error) {
		return executor.Settings{Name: "mine", Command: []string{"mine"}}, "", nil
	}
	s.create("q", map[string]any{"model": "demo", "executor": "mine", "computer": "auto"})
	w := s.writes("q")
	b := ledger.Batch{Quest: "q"}
	add := func(actor string, body event.Body) uint64 {
		t.Helper()
		e, err := event.Seal("q", w.seq+1, w.hash, event.Draft{Time: s.rt.Clock(), Actor: actor, Body: body})
		must(t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
		return e.Seq
	}
	text := func(s string) event.Text { return event.Text{Text: s} }
	add("person", &event.QuestStarted{Version: "test"})
	call := add("agent-0", &event.ExecutorCall{Executor: "mine"})
	add("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s", Process: "p-1"})
	add("agent-0", &event.ExecutorReady{Call: call, Name: "mine", Protocol: 1})
	prompt := add("agent-0", &event.PromptCall{First: 0, Last: 0, Turn: 1})
	add("agent-0", &event.PromptBegun{Call: prompt, Process: "p-1", Session: "s"})
	add("agent-0", &event.SaidReported{At: 10, Prompt: prompt, Text: text("Let me see."), Thought: true})
	add("agent-0", &event.ToolReported{At: 20, ID: "c1", Kind: "execute", Prompt: prompt, Status: "pending", Title: text("ls"), Input: text("{}")})
	add("agent-0", &event.SaidReported{At: 30, Prompt: prompt, Text: text("It runs.")})
	add("agent-0", &event.ToolReported{At: 40, ID: "c1", Kind: "execute", Prompt: prompt, Status: "failed", Title: text("ls -l"), Output: text("no such file")})
	add("agent-0", &event.PromptResult{Call: prompt, Stop: event.StopEnd, Text: text("Done."), Duration: 7})
	must(t, s.rt.Ledger.Append(context.Background(), b))

	// Views that are saved in the middle of a call go on with it.
	var events []event.Event
	for e, err := range s.rt.Ledger.Read(context.Background(), "q", 1) {
		must(t, err)
		events = append(events, e)
	}
	for at := range len(events) {
		if !reflect.DeepEqual(foldViews(t, s, events, 0), foldViews(t, s, events, at+1)) {
			t.Errorf("saved after event %d of %d: the views are not those that were never saved", at+1, len(events))
		}
	}

	var team struct{ Agents []api.Agent }
	s.do("GET", "/api/quests/q/agents", nil).want(t, 200).into(t, &team)
	var one api.Agent
	s.do("GET", "/api/quests/q/agents/agent-0", nil).want(t, 200).into(t, &one)
	if len(team.Agents) != 1 || team.Agents[0].Executor != "mine" || one.Executor != "mine" || one.Model != "demo" {
		t.Errorf("the agent is %+v, in the list %+v, want the executor mine with its model", one, team.Agents)
	}
	type part struct {
		Kind, Text, Tool, Output string
		Done, Failed             bool
	}
	var got struct {
		Messages []struct {
			Role, From string
			Parts      []part
		}
	}
	s.do("GET", "/api/quests/q/agents/agent-0/transcript", nil).want(t, 200).into(t, &got)
	var said []part
	for _, m := range got.Messages {
		if m.Role == "assistant" {
			if m.From != "mine" {
				t.Errorf("somebody else says it: %s", m.From)
			}
			said = append(said, m.Parts...)
		}
	}
	want := []part{
		{Kind: "thinking", Text: "Let me see."},
		{Kind: "tool_call", Tool: "ls -l", Output: "no such file", Done: true, Failed: true},
		{Kind: "text", Text: "It runs."},
		{Kind: "text", Text: "Done."},
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("what the executor said and did (-want +got):\n%s", diff)
	}
}
