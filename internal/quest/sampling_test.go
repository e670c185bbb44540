package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// sampling begins a quest whose agent has called a tool of a server that may have models asked.
func sampling(t *testing.T, policies string, limits event.Limits) (s *questtest.Story, call uint64) {
	t.Helper()
	c := questtest.Created(solo.Society{}, 1, "one__a", "two__a")
	c.Servers = []event.ServerPin{{Kind: "http", Name: "one", Sampling: true, Settings: event.RefOf([]byte("one"))}, {Kind: "http", Name: "two", Settings: event.RefOf([]byte("two"))}}
	c.Limits = limits
	chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
	must(t, err)
	c.Policies, err = policy.Complete(chosen)
	must(t, err)
	s = questtest.Begin(t, solo.Society{}, c)
	s.Start()
	for _, name := range []string{"one", "two"} {
		s.Take("agent-0", listed(s.Open("mcp.call", "")[0], name, pin(name+"__a", "")))
	}
	s.Answer("agent-0", questtest.Calls(questtest.Call{Tool: "one__a", Args: `{}`}))
	return s, s.Open("tool.call", "")[0]
}

// samples is a request of a server.
func samples(id string, call uint64) *event.GatewayAsked {
	return &event.GatewayAsked{ID: id, Model: "m", Server: "one", For: call, Text: "user: What is\x1b[2J the capital?", Wire: event.WireMCP, Path: "sampling/createMessage", Size: 10, Most: event.Usage{Input: 100, Output: 50}}
}

// TestAServersRequestIsAPersonsToLet: whatever policies say, only a yes lets it go out; it counts in
// the agent's limits.
func TestAServersRequestIsAPersonsToLet(t *testing.T) {
	for choice, want := range map[string]string{"yes": "gateway.call", "no": "policy.blocked"} {
		s, call := sampling(t, "[]", event.Limits{})
		if got := kinds(s.Take("agent-0", samples("a", call))); got != "interaction.opened timer.set" {
			t.Fatalf("a server's request leads to %s", got)
		}
		q := one(t, s)
		for _, says := range []string{"the server one", "a stranger's", "the capital?", "one__a", "50 tokens", "limits of agent-0"} {
			if !strings.Contains(q.Body.Question.Text, says) {
				t.Errorf("a person is not told %q: %s", says, q.Body.Question.Text)
			}
		}
		if strings.Contains(q.Body.Question.Text, "\x1b") {
			t.Errorf("a person is shown what a terminal obeys: %q", q.Body.Question.Text)
		}
		var weighed []string
		for _, p := range s.State.Explain().Agents[0].Proposals {
			if p.Proposal == "gateway.call" {
				weighed = append(weighed, p.Verdict+" by "+p.By[0].Thread)
			}
		}
		if got := strings.Join(weighed, ", "); got != "asks by sampling" {
			t.Errorf("it is explained as %q, want that a person is asked", got)
		}
		if got := kinds(s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: choice})); got != want {
			t.Errorf("%s leads to %s, want %s", choice, got, want)
		}
		if choice == "yes" {
			before := s.State.Spent
			s.Take("agent-0", &event.GatewayResult{Call: s.Open("gateway.call", "")[0], Cost: 7, Usage: event.Usage{Input: 5, Output: 2}})
			if a := s.State.Agent("agent-0"); a.Requested != 1 || s.State.Spent.Cost-before.Cost != 7 || before.Turns != 2 || a.Cost != s.State.Spent.Cost || len(a.Requests) != 0 {
				t.Errorf("it has cost the agent %d, and the quest %+v, before %+v", a.Cost, s.State.Spent, before)
			}
		}
		if got := kinds(s.Take("agent-0", &event.ToolResult{Call: call, Output: event.Text{Text: "done"}})); got != "model.call" {
			t.Errorf("the end of the call leads to %s", got)
		}
		s.Sound()
	}
}

// TestNobodyAnswersAServersRequest: it is refused when its time is up, and when its call is over.
func TestNobodyAnswersAServersRequest(t *testing.T) {
	s, call := sampling(t, "[]", event.Limits{})
	s.Take("agent-0", samples("a", call))
	got := kinds(s.Take("agent-0", &event.ToolResult{Call: call, Output: event.Text{Text: "done"}}))
	if !strings.Contains(got, "policy.blocked") || !strings.Contains(got, "interaction.withdrawn") || len(s.State.Open()) != 0 || strings.Contains(got, "gateway.call") {
		t.Errorf("a call that is over leads to %s, want its request refused and the question withdrawn", got)
	}
	s.Sound()
	s, call = sampling(t, "[]", event.Limits{})
	s.Take("agent-0", samples("a", call))
	q, timers := one(t, s), s.Open("timer.set", "")
	if q.Body.Expires == 0 || q.Body.Default != "no" || len(timers) != 1 {
		t.Fatalf("the question is %+v with the timers %v, want a time after which it is a no", q.Body, timers)
	}
	s.Now = q.Body.Expires
	if got := kinds(s.Take("core", &event.TimerFired{Call: timers[0]})); got != "interaction.expired policy.blocked" {
		t.Errorf("its time being up leads to %s", got)
	}
	s.Sound()
}

// TestARequestOfAServerThatIsGone: no model is asked for a server that a person removed meanwhile, though its call is open.
func TestARequestOfAServerThatIsGone(t *testing.T) {
	s, call := sampling(t, "[]", event.Limits{})
	s.Take("agent-0", samples("a", call))
	got := kinds(s.Take("person", &event.McpRemoved{Server: "one"}))
	if !strings.Contains(got, "policy.blocked") || !strings.Contains(got, "interaction.withdrawn") || len(s.State.Open()) != 0 || strings.Contains(got, "gateway.call") {
		t.Errorf("a server that is removed leads to %s, want its request refused and the question withdrawn", got)
	}
	s.Sound()
}

// TestAPolicyIsAgainstAServersRequest: nobody is asked then; nor is a person twice whom a policy asks.
func TestAPolicyIsAgainstAServersRequest(t *testing.T) {
	s, call := sampling(t, "- name: none\n  steps:\n    - block: {type: gateway.call, where: {source: one}, reason: No.}\n", event.Limits{})
	if got := kinds(s.Take("agent-0", samples("a", call))); got != "policy.blocked" {
		t.Errorf("a request that a policy is against leads to %s", got)
	}
	s, call = sampling(t, "- name: ask\n  steps:\n    - ask: {type: gateway.call, reason: It costs.}\n", event.Limits{})
	s.Take("agent-0", samples("a", call))
	if got := kinds(s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Choice: "yes"})); got != "gateway.call" {
		t.Errorf("a yes to the policy leads to %s", got)
	}
	s, call = sampling(t, "[]", event.Limits{Turns: new(int64(1))})
	if got := kinds(s.Take("agent-0", samples("a", call))); !strings.HasPrefix(got, "policy.blocked") {
		t.Errorf("a request beyond the limit leads to %s", got)
	}
}

// TestWhichServersRequestsAreTaken: of a server that may, for a call that is open, with words to show.
func TestWhichServersRequestsAreTaken(t *testing.T) {
	s, call := sampling(t, "[]", event.Limits{})
	for name, change := range map[string]func(*event.GatewayAsked){
		"a server that may not":  func(b *event.GatewayAsked) { b.Server = "two" },
		"no server of the quest": func(b *event.GatewayAsked) { b.Server = "three" },
		"no call":                func(b *event.GatewayAsked) { b.For = 0 },
		"another event":          func(b *event.GatewayAsked) { b.For = 1 },
		"another model":          func(b *event.GatewayAsked) { b.Model = "large" },
		"no words":               func(b *event.GatewayAsked) { b.Text = "" },
		"too many words":         func(b *event.GatewayAsked) { b.Text = strings.Repeat("x", 3<<10) },
		"only counting":          func(b *event.GatewayAsked) { b.Count = true },
		"no id":                  func(b *event.GatewayAsked) { b.ID = "" },
		"smaller than nothing":   func(b *event.GatewayAsked) { b.Most.Output = -1 },
		"a call, and no server":  func(b *event.GatewayAsked) { b.Server = "" },
	} {
		b := samples("x", call)
		change(b)
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("a request of %s is taken", name)
		}
	}
	s.Take("agent-0", samples("x", call))
	if _, err := s.Try("agent-0", samples("x", call)); err == nil {
		t.Error("one request is taken twice")
	}
	// A forged ledger has one go out that nobody has let.
	a := s.State.Agent("agent-0")
	e, err := event.Seal("q", s.State.Seq+1, s.State.Hash, event.Draft{Parent: a.Requests[0].Asked, Actor: "agent-0", Body: &event.GatewayCall{Asked: a.Requests[0].Asked, ID: "x", Model: "m"}})
	must(t, err)
	if err := s.State.Fold(e); err == nil || !strings.Contains(fmt.Sprint(err), "no person has let it") {
		t.Errorf("a request that nobody has let folds: %v", err)
	}
	if s.State.Status != quest.Running {
		t.Errorf("the quest is %s", s.State.Status)
	}
}
