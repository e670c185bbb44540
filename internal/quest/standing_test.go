package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// stands has an agent work until it is told where it stands, and returns that with its turn.
func stands(t *testing.T, s *questtest.Story, each func(call uint64)) (text string, turn int64) {
	t.Helper()
	for n := range 30 {
		for _, e := range s.Answer("agent-0", questtest.Calls(questtest.Call{Tool: "exec", Args: fmt.Sprintf(`{"command":"%d"}`, n)})) {
			if call, ok := e.Body.(*event.ToolCall); ok && call != nil {
				each(e.Seq)
				for _, e := range s.Take("agent-0", &event.ToolResult{Call: e.Seq, Output: event.Text{Text: "done"}}) {
					switch b := e.Body.(type) {
					case *event.StandingShown:
						text = b.Text.Text
					case *event.ModelCall:
						turn = b.Turn
					}
				}
			}
		}
		if text != "" {
			return text, turn
		}
	}
	t.Fatal("the agent was never told where it stands")
	return "", 0
}

func TestAnAgentIsToldWhatItHasAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	b := questtest.Created(solo.Society{}, 1, "exec", "start", "write_file")
	b.Agents[0].Count, b.Agents[0].Name = 0, "agent-0"
	b.Computer = &event.ComputerSpec{Limits: event.ComputerLimits{CPUs: 1500, Memory: 2 << 30, Disk: 10 << 30, Wall: 3600e6}, Network: event.ComputerNetwork{Allow: []string{"example.org"}}}
	b.Limits = event.Limits{Turns: new(int64(100)), Cost: new(int64(5e9)), Duration: new(int64(7200e6))}
	s := questtest.Begin(t, solo.Society{}, b)
	s.Start()
	first := true
	text, turn := stands(t, s, func(call uint64) {
		if !first {
			return
		}
		first = false
		s.Take("agent-0", described(t))
		s.Take("agent-0", &event.CliRun{Args: event.Text{Text: `["sh"]`}, Call: call, Command: "c7-server", Keep: true})
		s.Take("agent-0", &event.FileDiff{Call: call, Cause: event.CauseTool, Changes: []event.Change{{Kind: event.Added, Path: "notes.md", Size: 321}}})
	})
	if turn != 2 {
		t.Errorf("the computer is known after the first turn, and the agent is told at turn %d: want 2", turn)
	}
	for _, want := range []string{
		"- You are agent-0.\n", "- Turns: 1 of 100, 99 left.\n", "- Time: the work has taken 0s of 2h0m0s, 1h59m59s left.\n", "- Money: $0.0001 of $5.00, $5.00 left.\n",
		"- Your commands that run in the background: c7-server.\n", "- Keep notes in notes.md of what you found", "They have 321 bytes now", "- Your computer: Debian; 1.5 CPUs, 2 GB memory for all programs, 10 GB disk; a command may take 1h0m0s at most",
		"the network reaches these hosts alone, by HTTP and HTTPS: example.org.", "- Programs in it: python3 3.11, gcc.\n", "- Python packages in it: numpy 2.0, and 3 more.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent is told\n%s\nwhich has no %q", text, want)
		}
	}
	if _, turn = stands(t, s, func(uint64) {}); turn != 22 {
		t.Errorf("it is told again at turn %d: want 20 turns later, 22", turn)
	}
	s.Sound()
}

func described(t *testing.T) *event.ComputerStarted {
	t.Helper()
	b := &event.ComputerStarted{Arch: "amd64", Base: "b", Driver: "d", Kernel: "k", Network: event.ComputerNetwork{Allow: []string{"example.org"}}, Holds: &event.ComputerHolds{
		System: "Debian", Programs: []string{"python3 3.11", "gcc"}, Packages: []string{"numpy 2.0"}, More: 3,
	}}
	sum, err := b.Sum()
	if err != nil {
		t.Fatal(err)
	}
	b.Fingerprint = sum
	return b
}
