package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"

	"github.com/google/go-cmp/cmp"
)

// serving is a story in which a server has a computer, and runs a command in it.
func serving(t *testing.T) *story {
	t.Helper()
	policies, err := policy.Complete(nil)
	must(t, err)
	ref := event.RefOf([]byte("pinned"))
	s := &story{t: t, society: guarded{}}
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &event.QuestCreated{
		Name: "q", Rules: "solo/4", Problem: event.Text{Text: "?"}, Spec: ref, Computer: &event.ComputerSpec{Driver: "bubblewrap"}, Policies: policies,
		Agents: []event.AgentSpec{{Name: "agent-0", Model: "m", System: ref, Tools: ref, ToolNames: []string{"look", "write"}, Window: 200_000}},
		Tools:  []event.ToolTraits{{Name: "look", Paths: []string{"path"}, Reads: true}, {Name: "write", Parallel: true, Paths: []string{"path"}}},
	}})
	must(t, err)
	s.state, err = quest.New(e, []quest.Society{s.society})
	must(t, err)
	s.record(e)
	s.start()
	s.calls("look", "write")
	s.expect(s.take("server/echo", ownedBy(t, "server/echo")))
	s.expect(s.take("server/echo", run(0, "serve", true)))
	return s
}

func ownedBy(t *testing.T, owner string) *event.ComputerStarted {
	t.Helper()
	b := started(t)
	b.Owner = owner
	return b
}

func TestAComputerMayBelongToNoAgent(t *testing.T) {
	t.Parallel()
	s := serving(t)
	for _, b := range []event.Body{
		&event.CliStdout{Command: "serve"}, &event.CliStderr{Command: "serve"}, &event.NetConnection{Host: "example.org"},
		run(0, "short", false), exit(0, "short"), run(0, "short", false),
	} {
		s.expect(s.take("server/echo", b))
	}
	want := []quest.Process{{Owner: "server/echo", Command: "serve", Keep: true}, {Owner: "server/echo", Command: "short"}}
	if d := cmp.Diff(want, s.state.Processes()); d != "" {
		t.Errorf("what runs (-want +got):\n%s", d)
	}
	if got := s.state.Machines["server/echo"].Fingerprint; got != started(t).Fingerprint {
		t.Errorf("the computer is %s, want the fingerprint of one that is the same but for its owner", got)
	}
	data, err := s.state.Encode()
	must(t, err)
	saved, err := quest.Decode(data, []quest.Society{s.society})
	must(t, err)
	if d := cmp.Diff(want, saved.Processes()); d != "" {
		t.Errorf("what runs in a state that was saved (-want +got):\n%s", d)
	}
	s.take("server/echo", exit(0, "serve"))
	s.take("server/echo", exit(0, "short"))
	if got := s.state.Processes(); len(got) != 0 {
		t.Errorf("at the end %v is left", got)
	}
}

func TestAForkHasNothingOfTheOriginsServers(t *testing.T) {
	t.Parallel()
	s := serving(t)
	e, err := event.Seal("f", s.state.Seq+1, s.state.Hash, event.Draft{Actor: "person", Time: s.now, Body: &event.QuestForked{At: s.state.Seq, From: "q", Hash: s.state.Hash, Name: "f"}})
	must(t, err)
	s.record(e)
	if len(s.state.Processes()) != 0 || len(s.state.Machines) != 0 {
		t.Errorf("the fork has %v and runs %v, want nothing", s.state.Machines, s.state.Processes())
	}
}

func TestWhatNoOwnerCanHaveSaidIsRefused(t *testing.T) {
	t.Parallel()
	s := serving(t)
	look := s.open("tool.call")[0]
	for name, c := range map[string]struct {
		actor string
		body  event.Body
	}{
		"AnAgentsComputer":        {"agent-0", ownedBy(t, "agent-0")},
		"AnothersComputer":        {"server/echo", ownedBy(t, "server/other")},
		"AComputerOfTheCore":      {"core", ownedBy(t, "core")},
		"AComputerOfAPerson":      {"person", ownedBy(t, "person")},
		"AComputerOutside":        {"server/../x", ownedBy(t, "server/../x")},
		"AComputerWithoutAnOwner": {"server/other", started(t)},
		"AStrangersCommand":       {"server/other", run(0, "x", false)},
		"ACommandForAnAgentsCall": {"server/echo", run(look, "x", false)},
		"ACommandThatRuns":        {"server/echo", run(0, "serve", false)},
		"ACommandWithoutAnID":     {"server/echo", run(0, "", false)},
		"AnEndWithoutABeginning":  {"server/echo", exit(0, "x")},
		"AnEndForAnAgentsCall":    {"server/echo", exit(look, "serve")},
		"OutputOfAnother":         {"server/other", &event.CliStdout{Command: "serve"}},
		"AStrangersConnection":    {"server/other", &event.NetConnection{}},
		"Files":                   {"server/echo", &event.FileDiff{Cause: event.CauseOutside}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s.state.Check(c.actor, c.body) == nil {
				t.Errorf("%s may say %+v, want it refused", c.actor, c.body)
			}
		})
	}
	plain, _, _ := working(t, "[]")
	if plain.state.Check("server/echo", ownedBy(t, "server/echo")) == nil {
		t.Error("a server has a computer in a quest without any")
	}
}

func TestOwnersAreBounded(t *testing.T) {
	t.Parallel()
	s := serving(t)
	for i := range 255 {
		name := fmt.Sprint("check/", i)
		s.take(name, ownedBy(t, name))
	}
	if s.state.Check("check/x", ownedBy(t, "check/x")) == nil {
		t.Error("there is no bound to how many owners have computers")
	}
	must(t, s.state.Check("server/echo", ownedBy(t, "server/echo")))
}

func TestNamesOfOwners(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"browser": true, "server/github": true, "check/7": true, "server/a.b_c-D/2": true, strings.Repeat("a", 64): true,
		"": false, "core": false, "person": false, "Server": false, "/x": false, "x/": false, "x//y": false, "x/../y": false, "x/.y": false, "x y": false,
		"@x": false, "x/@": false, strings.Repeat("a", 65): false, "1x": false,
	} {
		if got := event.ValidOwner(name); got != want {
			t.Errorf("%q can own a computer: %v, want %v", name, got, want)
		}
	}
}
