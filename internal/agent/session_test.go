package agent_test

import (
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// TestAnExecutorThatIsGoneEachTime is not prompted for ever.
func TestAnExecutorThatIsGoneEachTime(t *testing.T) {
	t.Parallel()
	interrupted := func(a *agent.Agent, times int) {
		for range times {
			a.Prompted(7, a.NextPrompt())
			a.Returned(&event.PromptResult{Call: 7, Stop: event.StopInterrupted}, event.Text{})
		}
	}
	begin := func() *agent.Agent {
		a := agent.New(event.AgentSpec{Name: "agent-0"}, false)
		a.Session = new(agent.Session)
		a.Told(event.Text{Text: "Begin."})
		return a
	}
	a := begin()
	interrupted(a, 4)
	if a.GaveUp() {
		t.Fatal("it is given up before five prompts were interrupted")
	}
	a.Prompted(8, a.NextPrompt())
	a.Session.Used = 1 // it did something
	a.Returned(&event.PromptResult{Call: 8, Stop: event.StopInterrupted}, event.Text{})
	interrupted(a, 4)
	if a.GaveUp() {
		t.Fatal("it is given up though something came of a prompt in between")
	}
	interrupted(a, 1)
	if !a.GaveUp() {
		t.Fatal("it is prompted for ever")
	}
	if a.Heed(); a.GaveUp() {
		t.Error("it does not go on when somebody says something to it")
	}
	interrupted(a, 5)
	if a.Retry(); a.GaveUp() || a.Session.Cut != 0 {
		t.Error("it does not go on with the quest that is resumed")
	}
}
