package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
)

// outside begins a quest of an agent that is none of ours.
func outside(t *testing.T, policies string) *questtest.Story {
	t.Helper()
	b := questtest.Created(solo.Society{}, 1, "ask_person", "look", "write")
	b.Agents[0].Model, b.Agents[0].Executor = "", "acp:somebody"
	if policies != "" {
		chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
		must(t, err)
		b.Policies, err = policy.Complete(chosen)
		must(t, err)
	}
	s := questtest.Begin(t, solo.Society{}, b)
	if got := kinds(s.Start()); got != "" {
		t.Fatalf("an outside agent is asked for nothing, and yet: %s", got)
	}
	return s
}

func proposed(id, tool, args string) *event.ToolProposed {
	return &event.ToolProposed{ID: id, Name: tool, Args: event.Text{Text: args}}
}

func TestAnOutsideAgentsCallsAreCallsLikeAny(t *testing.T) {
	s := outside(t, "- {use: allowed-tools, role: agent, tools: [look, ask_person]}\n")
	if s.State.Agent("agent-0").Mind() != agent.ByOutside || !s.State.Thinks() {
		t.Fatal("it is not taken for an outside agent")
	}
	if got := kinds(s.Take("agent-0", proposed("a", "look", `{}`))); got != "tool.call" {
		t.Fatalf("a proposal leads to %s", got)
	}
	first := s.Open("tool.call", "")[0]
	// Others come while the first is under way, and are answered by themselves.
	blocked := s.Take("agent-0", proposed("b", "write", `{}`))
	if got := kinds(blocked); got != "policy.blocked tool.answered" || !strings.Contains(output(t, blocked), "Refused by the policy allowed-tools") {
		t.Fatalf("a call that is not allowed leads to %s", got)
	}
	unknown := s.Take("agent-0", proposed("c", "nonsense", `{}`))
	if got := output(t, unknown); !strings.Contains(got, "may not use a tool that does not exist") {
		t.Errorf("an unknown tool answers %q", got)
	}
	s.Sound()
	if _, err := s.Try("agent-0", proposed("a", "look", `{}`)); err == nil {
		t.Error("the same call is taken twice while it is open")
	}
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "Hurry."}})
	if got := kinds(s.Take("agent-0", &event.ToolResult{Call: first, Output: event.Text{Text: "seen"}})); got != "" {
		t.Errorf("a result leads to %s", got)
	}
	if _, err := s.Try("agent-0", proposed("a", "look", `{}`)); err == nil {
		t.Error("the same call is taken twice after it was answered")
	}
	a := s.State.Agent("agent-0")
	if len(a.Queue) != 0 {
		t.Error("what was said to it while it was busy waits for ever")
	}
	if len(a.Open) != 0 || len(a.Proposed) != 3 || len(a.Transcript.Messages) != 2 {
		t.Errorf("it has %d open calls, remembers %d, and its transcript %d messages", len(a.Open), len(a.Proposed), len(a.Transcript.Messages))
	}
	// It may ask as any agent may.
	if got := kinds(s.Take("agent-0", proposed("d", "ask_person", `{"question":"Which?"}`))); got != "tool.call interaction.opened" || !s.State.Waiting() {
		t.Errorf("its question leads to %s", got)
	}
	got := output(t, s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Text: "This."}))
	if got != "A person answers: This." {
		t.Errorf("it is told %q", got)
	}
	s.Sound()
}

func TestWhoMayPropose(t *testing.T) {
	s := outside(t, "")
	for range agent.MaxProposed {
		s.Take("agent-0", proposed(fmt.Sprint(s.State.Seq), "look", `{}`))
	}
	if _, err := s.Try("agent-0", proposed("more", "look", `{}`)); err == nil {
		t.Error("there is no bound to what is open")
	}
	if _, err := s.Try("agent-7", proposed("x", "look", `{}`)); err == nil {
		t.Error("nobody proposes")
	}
	s.Take("person", &event.QuestPaused{})
	if _, err := s.Try("agent-0", proposed("x", "look", `{}`)); err == nil {
		t.Error("a paused quest takes a call")
	}
	f := s.Fork(len(s.Events), nil)
	if a := f.State.Agent("agent-0"); len(a.Open)+len(a.Proposed) != 0 {
		t.Error("a fork has the calls of the origin's agent")
	}
	own := asked(t, solo.Society{}, 1, "", event.Limits{})
	if _, err := own.Try("agent-0", proposed("x", "look", `{}`)); err == nil {
		t.Error("an agent with a model gets calls from elsewhere")
	}
}

func shown(names ...string) *event.ToolsShown {
	b := &event.ToolsShown{Tools: event.RefOf([]byte(strings.Join(names, " ")))}
	for _, n := range names {
		t := event.ShownTool{Name: n}
		if source, name, ok := strings.Cut(n, ":"); ok {
			t = event.ShownTool{Name: name, Source: "mcp:" + source, Trust: event.TrustStranger}
		}
		b.Shown = append(b.Shown, t)
	}
	return b
}

func TestToolsChangeWhileAnAgentWorks(t *testing.T) {
	s := asked(t, solo.Society{}, 1, `
- name: strangers
  steps:
    - block: {type: tool.call, where: {trust: stranger, args.deep: true}, reason: "Not so deep."}
- name: web
  steps:
    - ask: {type: tool.call, where: {source: "mcp:web"}}
`, event.Limits{})
	before := s.Events[len(s.Events)-1].Body.(*event.ModelCall)
	if got := kinds(s.Take("agent-0", shown("ask_person", "look", "write", "files:search", "web:fetch"))); got != "" {
		t.Errorf("other tools lead to %s while a model thinks", got)
	}
	s.Sound()
	s.Answer("agent-0", call("search", `{"deep":true}`))
	call1 := s.Events[len(s.Events)-1].Body.(*event.ModelCall)
	if call1.Tools == before.Tools || call1.Rendering == before.Rendering {
		t.Error("the new list is not in the next rendering")
	}
	if msgs := s.State.Agent("agent-0").Transcript.Messages; !strings.Contains(msgs[len(msgs)-1].Parts[0].Text.Text, "Not so deep.") {
		t.Error("a policy does not see that the tool is a stranger's")
	}
	if got := kinds(s.Answer("agent-0", call("fetch", `{}`))); got != "interaction.opened" {
		t.Errorf("a policy does not see the source: %s", got)
	}
	s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Choice: "yes"})
	for name, bad := range map[string]*event.ToolsShown{
		"without a tool of the core": shown("look", "write", "web:fetch"),
		"without one in use":         shown("ask_person", "look"),
		"a stranger as ask_person":   shown("look", "web:fetch", "web:ask_person"),
		"twice":                      shown("ask_person", "look", "look", "web:fetch"),
		"without trust":              {Shown: []event.ShownTool{{Name: "ask_person"}, {Name: "fetch", Source: "mcp:web"}}},
	} {
		if _, err := s.Try("agent-0", bad); err == nil {
			t.Errorf("a list %s is taken", name)
		}
	}
	s.Take("agent-0", shown("ask_person", "web:fetch"))
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "ok"}})
	if got := output(t, s.Answer("agent-0", call("look", `{}`))); !strings.Contains(got, "There is no tool") {
		t.Errorf("a tool that was taken away answers %q", got)
	}
	s.Sound()
	l := asked(t, lab.Society{}, 2, "", event.Limits{})
	if _, err := l.Try("agent-0", shown("ask_person", "look")); err != nil {
		t.Errorf("a lab whose agents were made without its tools: %v", err)
	}
}
