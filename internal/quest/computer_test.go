package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	"github.com/google/go-cmp/cmp"
)

// working is a story in which agent-0 has called look and write, and the open calls.
func working(t *testing.T, policies string) (s *story, look, write uint64) {
	t.Helper()
	s = tell(t, policies, event.Limits{}, nil)
	s.start()
	s.calls("look", `write{"parallel":true}`)
	open := s.open("tool.call")
	return s, open[0], open[1]
}

func run(call uint64, id string, keep bool) *event.CliRun {
	return &event.CliRun{Args: event.Text{Text: `["true"]`}, Call: call, Command: id, Keep: keep}
}

func exit(call uint64, id string) *event.CliExit { return &event.CliExit{Call: call, Command: id} }

func tree(s string) event.TreeRef { return event.TreeRef{Hash: event.HashOf([]byte(s)), Size: 1} }

func started(t *testing.T) *event.ComputerStarted {
	t.Helper()
	b := &event.ComputerStarted{Arch: "amd64", Driver: "bubblewrap"}
	sum, err := b.Sum()
	must(t, err)
	b.Fingerprint = sum
	return b
}

func TestWhatComputersSayIsKeptAndWakesNobody(t *testing.T) {
	t.Parallel()
	s, look, write := working(t, "[]")
	after := tree("after")
	for _, b := range []event.Body{
		started(t), run(look, "a", false), &event.CliStdout{Call: look, Command: "a", Text: event.Text{Text: "x"}},
		&event.CliStderr{Call: look, Command: "a"}, exit(look, "a"), run(write, "b", true), run(write, "c", false),
		&event.FileDiff{After: after, Call: write, Cause: event.CauseTool}, &event.NetConnection{Host: "example.org"},
		&event.FileDiff{After: after, Cause: event.CauseOutside},
	} {
		s.expect(s.take("agent-0", b))
	}
	a := s.state.Agents[0]
	if a.Computer != started(t).Fingerprint {
		t.Errorf("the computer is %s", a.Computer)
	}
	if a.Tree == nil || *a.Tree != after {
		t.Errorf("the tree is %v", a.Tree)
	}
	want := []quest.Process{{Agent: "agent-0", Command: "b", Call: write, Tool: "write", Keep: true}, {Agent: "agent-0", Command: "c", Call: write, Tool: "write"}}
	if d := cmp.Diff(want, s.state.Processes()); d != "" {
		t.Errorf("what runs (-want +got):\n%s", d)
	}
	s.expect(s.take("agent-0", exit(write, "c")))
	s.gives(0, "seen", false)
	s.expect(s.gives(0, "written", false), "ask 2")
	want = []quest.Process{{Agent: "agent-0", Command: "b", Call: write, Keep: true}}
	if d := cmp.Diff(want, s.state.Processes()); d != "" || len(s.state.Agents[0].Commands) != 1 {
		t.Errorf("what has outlived its call (-want +got):\n%s%v", d, s.state.Agents[0].Commands)
	}
	s.expect(s.take("agent-0", exit(write, "b")))
	if got := s.state.Agents[0].Commands; len(got) != 0 {
		t.Errorf("at the end %v is left", got)
	}
}

func TestWhatNoComputerCanHaveSaidIsRefused(t *testing.T) {
	t.Parallel()
	s, look, write := working(t, "[]")
	s.take("agent-0", run(look, "gone", false))
	s.take("agent-0", exit(look, "gone"))
	s.take("agent-0", run(write, "kept", true))
	model := uint64(3)
	if s.events[model-1].Type != "model.call" {
		t.Fatalf("event %d is a %s", model, s.events[model-1].Type)
	}
	forged := started(t)
	forged.Kernel = "6.1"
	for name, c := range map[string]struct {
		actor string
		body  event.Body
	}{
		"AStrangersComputer":         {"agent-1", started(t)},
		"APersonsComputer":           {"person", started(t)},
		"AForgedFingerprint":         {"agent-0", forged},
		"NoFingerprint":              {"agent-0", &event.ComputerStarted{}},
		"AStrangersConnection":       {"agent-1", &event.NetConnection{}},
		"AStrangersCommand":          {"agent-1", run(look, "x", false)},
		"ACommandForNoCall":          {"agent-0", run(0, "x", false)},
		"ACommandForAnotherCall":     {"agent-0", run(99, "x", false)},
		"ACommandForAModel":          {"agent-0", run(model, "x", false)},
		"ACommandWithoutAnID":        {"agent-0", run(look, "", false)},
		"ACommandWithALongID":        {"agent-0", run(look, strings.Repeat("x", 65), false)},
		"ACommandThatRuns":           {"agent-0", run(write, "kept", false)},
		"ACommandThatRunsElsewhere":  {"agent-0", run(look, "kept", false)},
		"ACommandThatHasEnded":       {"agent-0", run(look, "gone", false)},
		"ASecondEnd":                 {"agent-0", exit(look, "gone")},
		"OutputAfterTheEnd":          {"agent-0", &event.CliStdout{Call: look, Command: "gone"}},
		"ErrorsAfterTheEnd":          {"agent-0", &event.CliStderr{Call: look, Command: "gone"}},
		"AnEndWithoutABeginning":     {"agent-0", exit(look, "x")},
		"OutputWithoutABeginning":    {"agent-0", &event.CliStdout{Call: look, Command: "x"}},
		"AnEndForAnotherCall":        {"agent-0", exit(look, "kept")},
		"OutputForAnotherCall":       {"agent-0", &event.CliStderr{Call: look, Command: "kept"}},
		"AStrangersEnd":              {"agent-1", exit(write, "kept")},
		"AStrangersFiles":            {"agent-1", &event.FileDiff{Cause: event.CauseOutside}},
		"AStrangersCallChangesFiles": {"agent-1", &event.FileDiff{Call: look, Cause: event.CauseTool}},
		"ACallFromOutside":           {"agent-0", &event.FileDiff{Call: look, Cause: event.CauseOutside}},
		"AToolWithoutACall":          {"agent-0", &event.FileDiff{Cause: event.CauseTool}},
		"AnotherCause":               {"agent-0", &event.FileDiff{Call: look, Cause: "weather"}},
		"NoCause":                    {"agent-0", &event.FileDiff{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s.state.Check(c.actor, c.body) == nil {
				t.Error("it may come")
			}
			folded := s.foldTo(len(s.events))
			e, err := event.Seal("q", folded.Seq+1, folded.Hash, event.Draft{Time: folded.Time, Actor: c.actor, Body: c.body})
			must(t, err)
			if folded.Fold(e) == nil {
				t.Error("a ledger with it folds")
			}
		})
	}
	must(t, s.state.Check("agent-0", exit(write, "kept")))
	must(t, s.state.Check("agent-0", run(look, "new", false)))
}

func TestAfterItsResultACallRunsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s, look, _ := working(t, "[]")
	s.take("agent-0", run(look, "a", true))
	s.gives(0, "seen", false)
	for _, b := range []event.Body{run(look, "b", false), run(look, "a", false), &event.FileDiff{Call: look, Cause: event.CauseTool}} {
		if s.state.Check("agent-0", b) == nil {
			t.Errorf("%s may come", b.Type())
		}
	}
	must(t, s.state.Check("agent-0", &event.CliStdout{Call: look, Command: "a"}))
	// Its end is the last word, though another call of the same turn is still open.
	s.take("agent-0", exit(look, "a"))
	if got := s.state.Agents[0].Commands; len(got) != 0 || s.state.Check("agent-0", exit(look, "a")) == nil {
		t.Errorf("%v is left", got)
	}
}

func TestAnAgentCannotHaveCommandsWithoutEnd(t *testing.T) {
	t.Parallel()
	s, look, _ := working(t, "[]")
	for i := range agent.MaxCommands {
		b := run(look, fmt.Sprint("c", i), true)
		must(t, s.state.Check("agent-0", b))
		e, err := event.Seal("q", s.state.Seq+1, s.state.Hash, event.Draft{Time: s.now, Actor: "agent-0", Body: b})
		must(t, err)
		s.record(e)
	}
	if err := s.state.Check("agent-0", run(look, "more", true)); err == nil || !strings.Contains(err.Error(), "end some first") {
		t.Errorf("one more: %v", err)
	}
	must(t, s.state.Check("agent-0", exit(look, "c0")))
}

func TestAForkHasNothingOfTheOriginsComputer(t *testing.T) {
	t.Parallel()
	s, look, write := working(t, "[]")
	s.take("agent-0", started(t))
	s.take("agent-0", run(look, "a", true))
	after := tree("after")
	s.take("agent-0", &event.FileDiff{After: after, Call: write, Cause: event.CauseTool})
	e, err := event.Seal("f", s.state.Seq+1, s.state.Hash, event.Draft{Actor: "person", Time: s.now, Body: &event.QuestForked{At: s.state.Seq, From: "q", Hash: s.state.Hash, Name: "f"}})
	must(t, err)
	s.record(e)
	a := s.state.Agents[0]
	if len(s.state.Processes()) != 0 || !a.Computer.IsZero() {
		t.Errorf("the fork runs %v in %s", s.state.Processes(), a.Computer)
	}
	if a.Tree == nil || *a.Tree != after {
		t.Errorf("the fork's files are %v", a.Tree)
	}
	if a.Open[1].Changed {
		t.Error("a call that the fork makes again has changed files")
	}
}

func TestAQuestKeepsTheDriverOfItsFirstComputer(t *testing.T) {
	t.Parallel()
	s, _, _ := working(t, "[]")
	if s.state.Driver != "" {
		t.Errorf("the driver of a quest that had no computer yet: got %q, want none", s.state.Driver)
	}
	s.take("agent-0", started(t))
	later := &event.ComputerStarted{Arch: "amd64", Driver: "docker"}
	var err error
	later.Fingerprint, err = later.Sum()
	must(t, err)
	s.take("agent-0", later)
	if s.state.Driver != "bubblewrap" {
		t.Errorf("the driver after a second computer: got %q, want that of the first, bubblewrap", s.state.Driver)
	}
	data, err := s.state.Encode()
	must(t, err)
	saved, err := quest.Decode(data, []quest.Society{s.society})
	must(t, err)
	if saved.Driver != "bubblewrap" {
		t.Errorf("the driver in a state that was saved: got %q, want bubblewrap", saved.Driver)
	}
	e, err := event.Seal("f", s.state.Seq+1, s.state.Hash, event.Draft{Actor: "person", Time: s.now, Body: &event.QuestForked{At: s.state.Seq, From: "q", Hash: s.state.Hash, Name: "f"}})
	must(t, err)
	s.record(e)
	if s.state.Driver != "" {
		t.Errorf("the driver of a fork: got %q, want none, for it chooses anew", s.state.Driver)
	}
}

func TestAResultSaysWhetherItsCallChangedFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by      func(look, write uint64) *event.FileDiff
		message bool
	}{
		"ItDid":      {func(_, write uint64) *event.FileDiff { return &event.FileDiff{Call: write, Cause: event.CauseTool} }, true},
		"AnotherDid": {func(look, _ uint64) *event.FileDiff { return &event.FileDiff{Call: look, Cause: event.CauseTool} }, false},
		"NobodyDid":  {func(_, _ uint64) *event.FileDiff { return &event.FileDiff{Cause: event.CauseOutside} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, look, write := working(t, `
- name: note
  steps:
    - wait: {type: tool.result, where: {tool: write, changed: true}}
    - request: {type: message.sent, with: {text: Noted.}}`)
			s.take("agent-0", c.by(look, write))
			got := s.gives(1, "written", false)
			if c.message {
				s.expect(got, "say: Noted.")
			} else {
				s.expect(got)
			}
		})
	}
}

func TestAPolicyHearsOfComputersAndIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	s, _, write := working(t, `
- name: ended
  steps:
    - wait: {type: cli.exit, where: {tool: write, error: true}}
    - request: {type: message.sent, with: {text: It failed.}}
- name: wrote
  steps:
    - wait: {type: file.diff, where: {tool: write}}
    - request: {type: message.sent, with: {text: It wrote.}}`)
	s.expect(s.take("agent-0", run(write, "a", false)))
	failed := exit(write, "a")
	failed.Exit = 1
	s.expect(s.take("agent-0", failed), "say: It failed.")
	s.expect(s.take("agent-0", &event.FileDiff{Cause: event.CauseOutside}))
	s.expect(s.take("agent-0", &event.FileDiff{Call: write, Cause: event.CauseTool}), "say: It wrote.")
}

func TestAnyChangeOfFilesTakesAPassBack(t *testing.T) {
	t.Parallel()
	for _, diff := range []*event.FileDiff{nil, {Cause: event.CauseOutside}} {
		s := tell(t, "[{use: analysis-first, analysis: [look], execution: [write]}]", event.Limits{}, nil)
		s.start()
		s.expect(s.calls(`look{"path":"a"}`), "use look")
		s.expect(s.gives(0, "fine", false), "ask 2")
		if diff == nil {
			s.expect(s.calls(`write{"path":"a"}`), "use write")
			continue
		}
		s.expect(s.take("agent-0", diff))
		got := s.calls(`write{"path":"a"}`)
		if len(got) == 0 || got[0] != "block tool.call by analysis-first" {
			t.Errorf("after a change: %q", got)
		}
	}
}

func TestAComputerSpeaksOnlyForItsOwnAgent(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	created := *s.events[0].Body.(*event.QuestCreated)
	second := created.Agents[0]
	second.Name = "agent-1"
	created.Agents = append(created.Agents, second)
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &created})
	must(t, err)
	s.state, err = quest.New(e, []quest.Society{s.society})
	must(t, err)
	s.events = nil
	s.record(e)
	s.start()
	s.calls("look", "write")
	call := s.open("tool.call")[0]
	s.take("agent-0", run(call, "a", false))
	for _, b := range []event.Body{run(call, "b", false), exit(call, "a"), &event.FileDiff{Call: call, Cause: event.CauseTool}} {
		if s.state.Check("agent-1", b) == nil {
			t.Errorf("agent-1 may say %s of a call of agent-0", b.Type())
		}
		if _, ok := b.(*event.CliRun); !ok {
			must(t, s.state.Check("agent-0", b))
		}
	}
	must(t, s.state.Check("agent-1", &event.FileDiff{Cause: event.CauseOutside}))
	after := tree("after")
	s.take("agent-1", &event.FileDiff{After: after, Cause: event.CauseOutside})
	if s.state.Agents[0].Tree != nil || *s.state.Agents[1].Tree != after {
		t.Error("the files of another agent have changed")
	}
}
