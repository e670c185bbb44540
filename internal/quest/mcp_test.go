package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// served begins a quest with two servers.
func served(t *testing.T) *questtest.Story {
	t.Helper()
	b := questtest.Created(solo.Society{}, 1, "look")
	for _, name := range []string{"one", "two"} {
		b.Servers = append(b.Servers, event.ServerPin{Kind: "http", Name: name, Settings: event.RefOf([]byte(name))})
	}
	return questtest.Begin(t, solo.Society{}, b)
}

func pin(name, form string) event.ToolPin {
	return event.ToolPin{Hash: event.HashOf([]byte(name + form)), Name: name}
}

func listed(call uint64, server string, pins ...event.ToolPin) *event.McpListed {
	return &event.McpListed{Call: call, Server: server, List: new(event.RefOf([]byte(server))), Pins: pins}
}

func changed(server, form string, names ...string) *event.McpChanged {
	b := &event.McpChanged{Server: server}
	for _, name := range names {
		b.Changed = append(b.Changed, event.ToolChange{Hash: pin(name, form).Hash, Name: name, What: []string{"description"}})
	}
	return b
}

// offered begins one whose agent has the tools of server one, and none of server two.
func offered(t *testing.T) *questtest.Story {
	t.Helper()
	s := served(t)
	if got := kinds(s.Start()); got != "mcp.call mcp.call" {
		t.Fatalf("a quest with two servers begins with %s", got)
	}
	calls := s.Open("mcp.call", "")
	if got := kinds(s.Take("agent-0", listed(calls[0], "one", pin("one__a", ""), pin("one__b", "")))); got != "" {
		t.Fatalf("while a server has not answered, the agent has %s", got)
	}
	if got := kinds(s.Take("agent-0", &event.McpListed{Call: calls[1], Server: "two", Error: event.Text{Text: "it is away"}})); !strings.HasSuffix(got, "model.call") {
		t.Fatalf("when all servers have answered: %s", got)
	}
	return s
}

func TestServersAreAskedBeforeTheFirstTurn(t *testing.T) {
	s := offered(t)
	a := s.State.Agent("agent-0")
	said := ""
	for _, m := range a.Transcript.Messages {
		for _, p := range m.Parts {
			said += p.Text.Text
		}
	}
	if !strings.Contains(said, "no tools of the server two") || !strings.Contains(said, "it is away") {
		t.Errorf("the agent is told %q", said)
	}
	// A quest that is resumed asks again what was away, and nothing else.
	s.Answer("agent-0", questtest.Calls(questtest.Call{Tool: "look", Args: `{}`}))
	s.Take("person", &event.QuestPaused{})
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})
	got := s.Take("person", &event.QuestResumed{})
	if kinds(got) != "mcp.call" || got[0].Body.(*event.McpCall).Server != "two" {
		t.Errorf("when it goes on: %s", kinds(got))
	}
	s.Sound()
}

func TestWhatAServerMaySay(t *testing.T) {
	s := served(t)
	s.Start()
	calls := s.Open("mcp.call", "")
	var many []event.ToolPin
	for range event.MaxPins + 1 {
		many = append(many, pin("one__"+strings.Repeat("x", len(many)), ""))
	}
	for what, b := range map[string]event.Body{
		"another server's call": listed(calls[0], "two"), "a tool of another": listed(calls[0], "one", pin("two__a", "")),
		"a tool twice": listed(calls[0], "one", pin("one__a", ""), pin("one__a", "")), "too many": listed(calls[0], "one", many...),
		"a call that is none": listed(99, "one"), "pins without a list": &event.McpListed{Call: calls[0], Server: "one", Pins: many[:1]},
		"a change of nothing": changed("one", "2", "one__a"),
	} {
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	s = offered(t)
	for what, b := range map[string]event.Body{
		"a change of what it never had": changed("one", "2", "one__c"), "a server that has nothing": changed("two", "2", "two__a"), "none at all": changed("three", "2"),
		"missing what it never had": &event.McpChanged{Server: "one", Missing: []string{"one__c"}},
	} {
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

func TestAPersonDecidesAboutChangedTools(t *testing.T) {
	begin := func() (*questtest.Story, uint64) {
		s := offered(t)
		if got := kinds(s.Take("agent-0", changed("one", "2", "one__a"))); got != "interaction.opened" {
			t.Fatalf("a changed tool leads to %s", got)
		}
		return s, s.State.Open()[0].Seq
	}
	s, q := begin()
	if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q, Text: "perhaps"}); err == nil {
		t.Error("neither yes nor no is taken")
	}
	// The agent is in its turn; the tools are taken before the next.
	s.Take("person", &event.InteractionAnswered{Interaction: q, Choice: "yes"})
	got := s.Answer("agent-0", questtest.Calls(questtest.Call{Tool: "look", Args: `{}`}))
	if kinds(got) != "tool.call" {
		t.Fatalf("the turn goes on with %s", kinds(got))
	}
	got = s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})
	if kinds(got) != "mcp.call" || got[0].Body.(*event.McpCall).Take[0] != "one__a" {
		t.Fatalf("before the next turn: %s", kinds(got))
	}
	s.Take("agent-0", listed(got[0].Seq, "one", pin("one__a", "2"), pin("one__b", "")))
	if o := s.State.Offer("agent-0", "one"); len(o.Closed) != 0 || o.Pins[0].Hash != pin("one__a", "2").Hash || len(s.State.Open()) != 0 {
		t.Errorf("after it was taken the offer is %+v", o)
	}
	s.Sound()

	s, q = begin()
	s.Take("person", &event.InteractionAnswered{Interaction: q, Choice: "no"})
	if got := kinds(s.Take("agent-0", changed("one", "2", "one__a"))); got != "" {
		t.Errorf("somebody who said no is asked again: %s", got)
	}
	if got := kinds(s.Take("agent-0", changed("one", "3", "one__a"))); got != "interaction.opened" {
		t.Errorf("about another change nobody is asked: %s", got)
	}
	s.Sound()

	// What changes again is another question, and what is as it was is none.
	s, q = begin()
	if got := kinds(s.Take("agent-0", changed("one", "3", "one__a"))); got != "interaction.withdrawn interaction.opened" {
		t.Errorf("a second change leads to %s", got)
	}
	if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q, Choice: "yes"}); err == nil {
		t.Error("a yes to what is no more is taken")
	}
	if got := kinds(s.Take("agent-0", changed("one", ""))); got != "interaction.withdrawn" {
		t.Errorf("when all is as it was: %s", got)
	}
	s.Sound()

	// A fork asks anew.
	s, _ = begin()
	f := s.Fork(len(s.Events), nil)
	if got := kinds(f.Take("person", &event.QuestResumed{})); !strings.Contains(got, "interaction.opened") {
		t.Errorf("a fork goes on with %s", got)
	}
	f.Sound()
}
