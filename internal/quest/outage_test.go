package quest_test

import (
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
)

// outage says that the provider of the models of a story is away.
func outage(patience event.Time, models ...string) *event.ProviderLost {
	return &event.ProviderLost{Models: models, Patience: int64(patience), Provider: "far", Reason: "connection refused"}
}

func TestAnOutageStopsTheClockAndNothingElse(t *testing.T) {
	limit := int64(10 * minute)
	s := asked(t, lab.Society{}, 2, "", event.Limits{Duration: &limit})
	open := s.Open("model.call", "")
	if len(open) != 2 {
		t.Fatalf("%d agents think, want 2", len(open))
	}
	s.Now += minute
	followed := s.Take("core", outage(360*minute, "m"))
	if got := kinds(followed); got != "timer.set" {
		t.Errorf("an outage leads to %s, want the timer of patience", got)
	}
	if !s.State.Stalled() || s.State.Waiting() || s.State.Status != quest.Running {
		t.Errorf("in an outage: stalled %v, waiting %v, %s; want stalled and running", s.State.Stalled(), s.State.Waiting(), s.State.Status)
	}
	before := s.State.Elapsed(s.Now)
	s.Now += 300 * minute
	if got := s.State.Elapsed(s.Now); got != before {
		t.Errorf("the quest ran %s in the outage, want %s", quest.Duration(got), quest.Duration(before))
	}
	s.Sound()
	// The limit's own timer fires meanwhile: nothing has been used up.
	for seq, c := range s.State.Calls {
		if c.Timer == "duration" {
			if got := kinds(s.Take("core", &event.TimerFired{Call: seq})); got != "" {
				t.Errorf("the limit's timer in an outage leads to %s", got)
			}
		}
	}
	if got := kinds(s.Take("core", &event.ProviderBack{Provider: "far"})); got != "timer.set" {
		t.Errorf("a provider that is back leads to %s, want the limit's timer", got)
	}
	if s.State.Stalled() || len(s.State.Outages) != 0 {
		t.Error("the provider is back, and still missed")
	}
	if got := s.State.Elapsed(s.Now); got > before+10_000 {
		t.Errorf("after the outage the quest has run %s, want %s", quest.Duration(got), quest.Duration(before))
	}
	for seq, c := range s.State.Calls {
		if c.Timer == "outage/far" {
			t.Errorf("the timer %d of an outage that is over is open", seq)
		}
	}
	if got := s.Open("model.call", ""); !slices.Equal(got, open) {
		t.Errorf("the open calls are %v, want those of before, %v", got, open)
	}
	s.Sound()
}

func TestOutagesComeAndGoOnce(t *testing.T) {
	s := asked(t, solo.Society{}, 1, "", event.Limits{})
	if _, err := s.Try("core", &event.ProviderBack{Provider: "far"}); err == nil {
		t.Error("a provider comes back that was there")
	}
	if _, err := s.Try("core", outage(minute, "another")); err == nil {
		t.Error("a provider is lost of which the quest has no model")
	}
	s.Take("core", outage(minute, "m"))
	if _, err := s.Try("core", outage(minute, "m")); err == nil {
		t.Error("a provider is lost twice")
	}
	s.Take("person", &event.QuestPaused{})
	if len(s.State.Outages) != 0 {
		t.Error("a paused quest waits for a provider")
	}
	if _, err := s.Try("core", outage(minute, "m")); err == nil {
		t.Error("a paused quest loses a provider")
	}
	s.Sound()
}

// TestAgentsOfOtherProvidersGoOn: only who asked the provider that is away waits, and the
// clock goes on.
func TestAgentsOfOtherProvidersGoOn(t *testing.T) {
	b := questtest.Created(lab.Society{}, 1, "look")
	b.Agents = append(b.Agents, event.AgentSpec{Name: "near", Model: "n", System: b.Agents[0].System, Tools: b.Agents[0].Tools, ToolNames: []string{"look"}, Window: 200_000})
	s := questtest.Begin(t, lab.Society{}, b)
	s.Start()
	s.Take("core", outage(minute, "m"))
	if s.State.Stalled() {
		t.Error("the quest stands still though near thinks")
	}
	s.Now += 5 * minute
	followed := s.Answer("near", call("look", `{}`))
	if got := kinds(followed); got != "tool.call" {
		t.Errorf("the other agent's answer leads to %s, want its tool", got)
	}
	if s.State.Status != quest.Running {
		t.Errorf("the quest is %s though one of its agents works", s.State.Status)
	}
	if got := s.State.Elapsed(s.Now); got < int64(5*minute) {
		t.Errorf("the quest ran for %s, want the five minutes of the one that works", quest.Duration(got))
	}
}

func TestPatienceEnds(t *testing.T) {
	s := asked(t, lab.Society{}, 2, "", event.Limits{})
	turns := s.State.Spent.Turns
	s.Take("core", outage(10*minute, "m"))
	fire := func() []event.Event {
		for seq, c := range s.State.Calls {
			if c.Timer == "outage/far" {
				return s.Take("core", &event.TimerFired{Call: seq})
			}
		}
		t.Fatal("nobody asked to be woken when patience is over")
		return nil
	}
	if got := kinds(fire()); got != "timer.set" {
		t.Errorf("a timer that fires early leads to %s, want another", got)
	}
	s.Now += 10 * minute
	if got := kinds(fire()); got != "quest.rested" {
		t.Errorf("the end of patience leads to %s, want quest.rested", got)
	}
	if s.State.Status != quest.Paused || s.State.Rested != event.RestOutage || s.State.Answer != nil {
		t.Errorf("after that the quest is %s, %q", s.State.Status, s.State.Rested)
	}
	s.Sound()
	for _, call := range s.Open("model.call", "") {
		s.Take(s.State.Calls[call].Agent, &event.ModelResult{Call: call, Error: &event.ModelError{Kind: event.ErrorAway, Text: "nobody there"}})
	}
	if s.State.Spent.Turns != turns-2 || s.State.Agents[0].Turns != 0 {
		t.Errorf("turns that nobody took count: %d of the quest, %d of an agent", s.State.Spent.Turns, s.State.Agents[0].Turns)
	}
	s.Sound()
	if got := kinds(s.Take("person", &event.QuestResumed{})); got != "model.call model.call" {
		t.Errorf("resumed, it leads to %s, want both agents asked again", got)
	}
	if s.State.Rested != "" || s.State.Agents[0].Turns != 1 {
		t.Errorf("resumed, it rests by %q, and the agent has %d turns", s.State.Rested, s.State.Agents[0].Turns)
	}
	s.Sound()
}

// TestLimitsAreRaisedWhereTheyAreMet: of a quest that runs, that rests at one, and of an
// agent that its share has kept from its turn.
func TestLimitsAreRaisedWhereTheyAreMet(t *testing.T) {
	s := asked(t, solo.Society{}, 1, "", event.Limits{Turns: new(int64(1))})
	s.Take("person", &event.BudgetRaised{Inbox: 3, Limits: event.Limits{Turns: new(int64(2)), Duration: new(int64(minute))}})
	if s.State.Inbox != 3 || s.State.Status != quest.Running {
		t.Errorf("raised, it has taken %d and is %s", s.State.Inbox, s.State.Status)
	}
	s.Answer("agent-0", call("look", `{}`))
	followed := s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})
	if got := kinds(followed); got != "model.call" {
		t.Errorf("with a turn more it leads to %s, want model.call", got)
	}
	s.Answer("agent-0", call("look", `{}`))
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})
	if s.State.Status != quest.Exceeded || s.State.OverWith(event.Limits{Duration: new(int64(2 * minute))}) == nil {
		t.Fatalf("after two turns it is %s", s.State.Status)
	}
	if got := kinds(s.Take("person", &event.BudgetRaised{Limits: event.Limits{Turns: new(int64(3))}})); got != "" {
		t.Errorf("at rest, a raise leads to %s, want nothing", got)
	}
	if s.State.OverWith(event.Limits{}) != nil {
		t.Error("the limit is raised, and still reached")
	}
	if got := kinds(s.Take("person", &event.QuestResumed{})); got != "timer.set model.call" {
		t.Errorf("resumed, it leads to %s", got)
	}
	s.Sound()
}

func TestAShareIsRaised(t *testing.T) {
	s := asked(t, lab.Society{}, 2, "", event.Limits{Agent: &event.Share{Turns: new(int64(1))}})
	s.Answer("agent-0", call("look", `{}`))
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "agent-0")[0]})
	if a := s.State.Agent("agent-0"); !a.Held {
		t.Fatal("the agent goes on beyond its share")
	}
	followed := s.Take("person", &event.BudgetRaised{Limits: event.Limits{Agent: &event.Share{Turns: new(int64(5))}}})
	if got := kinds(followed); got != "model.call" {
		t.Errorf("with a larger share it leads to %s, want the agent's turn", got)
	}
	s.Sound()
}
