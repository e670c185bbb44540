package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"
)

// kept gives the result of the open tool call, with what it stored.
func (s *story) kept(stored int64, full *event.Full) []string {
	s.t.Helper()
	return s.take("agent-0", &event.ToolResult{Call: s.open("tool.call")[0], Output: event.Text{Text: "x"}, Stored: stored, Full: full})
}

func TestAnAgentWithoutStorageHearsSoAndIsParkedIfItGoesOn(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	full := &event.Full{Max: 2 << 20, Of: event.FullAgent, Used: 1 << 20}
	turn := func(n int, stored int64, full *event.Full) []string {
		s.calls(`look{"n":` + strings.Repeat("1", n) + `}`)
		return s.kept(stored, full)
	}
	s.expect(turn(1, 1<<20, nil), "ask 2")
	s.expect(turn(2, 0, full), "ask 3")
	s.expect(turn(3, 4096, full), "ask 4")
	s.expect(turn(4, 4096, nil), "ask 5") // it has found room, and begins anew
	s.expect(turn(5, 0, full), "ask 6")
	s.expect(turn(6, 0, full), "ask 7")
	if got := turn(7, 0, full); len(got) != 2 || got[0] != "block model.call by budget" || !strings.Contains(got[1], "agent-0 has used 1 MiB of 2 MiB of storage") {
		t.Errorf("the third time in a row: got %q, want that the agent is parked", got)
	}
	if a := s.state.Agents[0]; a.Stored != 1<<20+2*4096 || s.state.Spent.Stored != a.Stored {
		t.Errorf("the agent has stored %d, the quest %d", a.Stored, s.state.Spent.Stored)
	}
	s.expect(s.take("person", &event.QuestResumed{Limits: event.Limits{Agent: &event.Share{Storage: new(int64(4 << 20))}}}), "ask 8")
}

func TestMoreStorageWakesAParkedAgent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most int64
		held bool
	}{"More": {3 << 20, false}, "NoMore": {2 << 20, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, "[]", event.Limits{}, nil)
			s.start()
			for n := range quest.MaxUnkept {
				s.calls(`look{"n":` + strings.Repeat("1", n+1) + `}`)
				s.kept(0, &event.Full{Max: 2 << 20, Of: event.FullAgent, Used: 1 << 20})
			}
			s.take("person", &event.BudgetRaised{Limits: event.Limits{Agent: &event.Share{Storage: &c.most}}})
			if held := s.state.Agents[0].Held; held != c.held {
				t.Errorf("with a limit of %d the agent is held: %v, want %v", c.most, held, c.held)
			}
		})
	}
}

func TestTheQuestsLimitOnStorageBringsItToRest(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	s.calls(`look{"n":1}`)
	s.kept(1<<20, &event.Full{Max: 2 << 20, Of: event.FullQuest, Used: 1 << 20})
	if s.state.Status != quest.Exceeded || s.state.Reason != "storage" {
		t.Errorf("the quest is %s (%s), want that its storage is exceeded", s.state.Status, s.state.Reason)
	}
	if o := s.state.OverWith(event.Limits{}); o == nil || o.Limit != "storage" {
		t.Errorf("without a higher limit: %v, want that storage keeps it from going on", o)
	}
	more := event.Limits{Storage: new(int64(3 << 20))}
	if o := s.state.OverWith(more); o != nil {
		t.Errorf("with a higher limit: %v, want that nothing keeps it from going on", o)
	}
	s.expect(s.take("person", &event.QuestResumed{Limits: more}), "ask 2")
}

func TestALimitOnStorageBelowWhatIsUsedBinds(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	s.calls(`look{"n":1}`)
	s.kept(5<<20, nil)
	s.take("person", &event.BudgetRaised{Limits: event.Limits{Storage: new(int64(4 << 20))}})
	s.calls(`look{"n":11}`)
	s.kept(0, nil)
	if s.state.Status != quest.Exceeded || s.state.Reason != "storage" {
		t.Errorf("the quest is %s (%s), want that its storage is exceeded", s.state.Status, s.state.Reason)
	}
}

func TestStorageInASpec(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"limits: {storage: 3GiB, agent: {storage: 500MiB}}": "",
		"limits: {storage: 1048576}":                        "",
		"limits: {storage: 1KiB}":                           "limits.storage",
		"limits: {agent: {storage: lots}}":                  "limits.agent.storage",
		"limits: {storage: -1}":                             "limits.storage",
	} {
		spec, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\n"+text+"\n"))
		if got := quest.FieldOf(err); got != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v, want a fault of %q", text, err, want)
		}
		if err != nil || !strings.Contains(text, "agent") {
			continue
		}
		l := spec.Limits.Limits()
		if *l.Storage != 3<<30 || *l.Agent.Storage != 500<<20 {
			t.Errorf("%s: got %v and %v", text, *l.Storage, *l.Agent.Storage)
		}
	}
}

func TestWhatIsStoredForNoAgentCountsForTheQuest(t *testing.T) {
	t.Parallel()
	s := serving(t)
	s.take("server/echo", &event.CliExit{Command: "serve", Stored: 4096})
	if s.state.Spent.Stored != 4096 || s.state.Agents[0].Stored != 0 {
		t.Errorf("a server's last words took 4096 bytes: %d are the quest's, %d the agent's", s.state.Spent.Stored, s.state.Agents[0].Stored)
	}
}
