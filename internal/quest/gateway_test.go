package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// asker begins a quest of an outside agent with a gateway.
func asker(t *testing.T, policies string, limits event.Limits) *questtest.Story {
	t.Helper()
	b := questtest.Created(solo.Society{}, 1, "look")
	b.Agents[0].Model, b.Agents[0].Executor, b.Agents[0].Gateway = "m", "acp:somebody", &event.GatewaySpec{Models: []string{"large"}}
	b.Agents[0].Price = &event.Price{Input: 1_000_000, Output: 1_000_000} // a nanodollar for a token
	b.Limits = limits
	if policies != "" {
		chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
		must(t, err)
		b.Policies, err = policy.Complete(chosen)
		must(t, err)
	}
	s := questtest.Begin(t, solo.Society{}, b)
	if got := kinds(s.Start()); strings.Contains(got, "call") {
		t.Fatalf("an outside agent is asked for nothing, and yet: %s", got)
	}
	return s
}

func request(id, model string) *event.GatewayAsked {
	return &event.GatewayAsked{ID: id, Model: model, Wire: event.WireChat, Path: "/v1/chat/completions", Size: 10, Most: event.Usage{Input: 100, Output: 50}}
}

func TestARequestIsJudgedCountedAndPaid(t *testing.T) {
	s := asker(t, "- name: small\n  steps:\n    - block: {type: gateway.call, where: {model: large}, reason: Too large.}\n", event.Limits{})
	if got := kinds(s.Take("agent-0", request("a", "m"))); got != "gateway.call" {
		t.Fatalf("a request leads to %s", got)
	}
	blocked := s.Take("agent-0", request("b", "large"))
	if got := kinds(blocked); got != "policy.blocked" || blocked[0].Body.(*event.PolicyBlocked).ID != "b" {
		t.Fatalf("a request that a policy is against leads to %s", got)
	}
	count := request("c", "m")
	count.Count = true
	if got := kinds(s.Take("agent-0", count)); got != "gateway.call" {
		t.Fatalf("counting leads to %s", got)
	}
	a := s.State.Agent("agent-0")
	if s.State.Spent.Turns != 1 || a.Requested != 1 || a.Turns != 0 || len(a.Requests) != 2 {
		t.Errorf("there are %d turns, %d requests went out, %d are open", s.State.Spent.Turns, a.Requested, len(a.Requests))
	}
	for _, call := range s.Open("gateway.call", "") {
		if got := kinds(s.Take("agent-0", &event.GatewayResult{Call: call, Cost: 7, Usage: event.Usage{Input: 5, Output: 2}, Estimated: true, Unpriced: true, Duration: 3})); got != "" {
			t.Errorf("a result leads to %s", got)
		}
	}
	if sp := s.State.Spent; sp.Cost != 14 || sp.Usage.Input != 10 || sp.Estimated != 2 || sp.Unpriced != 2 || a.Cost != 14 || a.Tokens != 14 || a.Duration != 6 || len(a.Requests) != 0 {
		t.Errorf("it has cost %+v, the agent %+v", sp, a)
	}
	s.Sound()
}

func TestWhoMayAsk(t *testing.T) {
	s := asker(t, "", event.Limits{})
	for _, b := range []*event.GatewayAsked{request("", "m"), request("x", "other"), request("x", "")} {
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("%+v is taken", b)
		}
	}
	for i := range agent.MaxRequests {
		s.Take("agent-0", request(fmt.Sprint(i), "m"))
	}
	if _, err := s.Try("agent-0", request("0", "m")); err == nil {
		t.Error("one request is taken twice")
	}
	if _, err := s.Try("agent-0", request("more", "m")); err == nil {
		t.Error("there is no bound to what is open")
	}
	if _, err := s.Try("agent-7", request("x", "m")); err == nil {
		t.Error("nobody asks")
	}
	f := s.Fork(len(s.Events), nil)
	if a := f.State.Agent("agent-0"); len(a.Requests) != 0 || a.Requested != 0 || f.State.Spent.Turns != 0 {
		t.Errorf("a fork has %d requests of the origin's agent, and %d turns", len(a.Requests), f.State.Spent.Turns)
	}
	s.Take("person", &event.QuestPaused{})
	if _, err := s.Try("agent-0", request("x", "m")); err == nil {
		t.Error("a paused quest takes a request")
	}
	own := asked(t, solo.Society{}, 1, "", event.Limits{})
	if _, err := own.Try("agent-0", request("x", "m")); err == nil {
		t.Error("an agent with a model asks by the gateway")
	}
}

func TestALimitStopsRequests(t *testing.T) {
	for name, limits := range map[string]event.Limits{
		"turns": {Turns: new(int64(2))}, "cost": {Cost: new(int64(10))}, "tokens": {Tokens: new(int64(14))},
		"an agent's turns": {Agent: &event.Share{Turns: new(int64(2))}}, "an agent's cost": {Agent: &event.Share{Cost: new(int64(10))}},
	} {
		s := asker(t, "", limits)
		for i := range 2 {
			if got := kinds(s.Take("agent-0", request(fmt.Sprint(i), "m"))); got != "gateway.call" {
				t.Fatalf("%s: request %d leads to %s", name, i, got)
			}
			s.Take("agent-0", &event.GatewayResult{Call: s.Open("gateway.call", "")[0], Cost: 5, Usage: event.Usage{Input: 5, Output: 2}})
		}
		count := request("count", "m")
		count.Count = true
		if got := kinds(s.Take("agent-0", count)); got != "gateway.call" {
			t.Errorf("%s: counting leads to %s", name, got)
		}
		want := "policy.blocked budget.exceeded"
		if limits.Agent != nil {
			want = "policy.blocked"
		}
		out := s.Take("agent-0", request("more", "m"))
		if got := kinds(out); got != want || out[0].Body.(*event.PolicyBlocked).By[0].Policy != "budget" {
			t.Errorf("%s: one more leads to %s, want %s", name, got, want)
		}
		if limits.Agent == nil && s.State.Status != quest.Exceeded {
			t.Errorf("%s: the quest is %s", name, s.State.Status)
		}
		s.Sound()
	}
}

// Strict limits hold for what is under way as well.
func TestStrictLimitsReserveForRequests(t *testing.T) {
	s := asker(t, "", event.Limits{Strict: true, Cost: new(int64(200))})
	if got := kinds(s.Take("agent-0", request("a", "m"))); got != "gateway.call" {
		t.Fatalf("a request of 150 leads to %s", got)
	}
	if got := kinds(s.Take("agent-0", request("b", "m"))); got != "policy.blocked" {
		t.Errorf("another beside it leads to %s", got)
	}
	s.Take("agent-0", &event.GatewayResult{Call: s.Open("gateway.call", "")[0], Cost: 5})
	if got := kinds(s.Take("agent-0", request("c", "m"))); got != "gateway.call" {
		t.Errorf("one after it leads to %s", got)
	}
	if got := kinds(s.Take("agent-0", request("d", "large"))); got != "policy.blocked" {
		t.Errorf("a model of which no price is pinned leads to %s", got)
	}
	s.Sound()
}

func TestAPersonIsAskedAboutARequest(t *testing.T) {
	s := asker(t, "- name: ask\n  steps:\n    - ask: {type: gateway.call, reason: It costs.}\n", event.Limits{})
	for choice, want := range map[string]string{"yes": "gateway.call", "no": "policy.blocked"} {
		if got := kinds(s.Take("agent-0", request(choice, "m"))); got != "interaction.opened" {
			t.Fatalf("a request leads to %s", got)
		}
		q := one(t, s)
		if !strings.Contains(q.Body.Question.Text, "agent-0 wants to ask m by the gateway") {
			t.Errorf("a person reads %q", q.Body.Question.Text)
		}
		if got := kinds(s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: choice})); got != want {
			t.Errorf("%s leads to %s, want %s", choice, got, want)
		}
	}
	s.Sound()
}
