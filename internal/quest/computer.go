package quest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Machine is a computer that belongs to no agent: its owner is a name, such as
// server/github.
type Machine struct {
	Fingerprint event.Hash
	// Commands are those that have begun in it and not ended. The value says whether one
	// is to be kept.
	Commands map[string]bool `json:",omitempty"`
}

// maxMachines is how many owners of computers a quest keeps account of.
const maxMachines = 256

// applyComputer keeps account of what happens in computers. Output and connections are
// for readers of the ledger: nothing is kept of them.
func (s *State) applyComputer(e event.Event) {
	if b, ok := e.Body.(*event.ComputerStarted); ok && s.Driver == "" {
		s.Driver = b.Driver
	}
	a := s.Agent(e.Actor)
	if a == nil {
		s.applyMachine(e)
		return
	}
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		a.Computer, a.Has, a.Network = b.Fingerprint, b.Holds, nil
		if asked := s.Computer; asked != nil && (asked.Network.Open != b.Network.Open || !slices.Equal(asked.Network.Allow, b.Network.Allow)) {
			a.Network = &b.Network
		}
	case *event.CliRun:
		a.Ran(b)
	case *event.CliExit:
		s.stored(a.Name, b.Stored)
		a.Exited(b)
	case *event.FileDiff:
		a.Wrote(b)
	}
}

func (s *State) applyMachine(e event.Event) {
	m := s.Machines[e.Actor]
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		if m == nil {
			if s.Machines == nil {
				s.Machines = map[string]*Machine{}
			}
			m = &Machine{Commands: map[string]bool{}}
			s.Machines[e.Actor] = m
		}
		m.Fingerprint = b.Fingerprint
	case *event.CliRun:
		if m == nil {
			return
		}
		if m.Commands == nil { // as a saved state without any has it
			m.Commands = map[string]bool{}
		}
		m.Commands[b.Command] = b.Keep
	case *event.CliExit:
		s.stored(nobody, b.Stored)
		if m != nil {
			delete(m.Commands, b.Command)
		}
	}
}

// checkComputer tells whether what a computer says may come now: it is an agent's,
// of a call that is open, or of a command that has begun and not ended; or another
// owner's, and of no call.
func (s *State) checkComputer(actor string, b event.Body) error {
	switch b := b.(type) {
	case *event.ComputerStarted:
		sum, err := b.Sum()
		if err == nil && sum != b.Fingerprint {
			err = fmt.Errorf("the computer of %s is not what its fingerprint says", actor)
		}
		if err != nil {
			return err
		}
		if b.Owner != "" {
			return s.checkOwner(actor, b.Owner)
		}
		return s.has(actor)
	case *event.NetConnection:
		if s.Machines[actor] != nil {
			return nil
		}
		return s.has(actor)
	case *event.FileDiff:
		return s.checkDiff(actor, b)
	case *event.CliRun:
		return s.checkRun(actor, b)
	case *event.CliStdout:
		return s.running(actor, b.Call, b.Command)
	case *event.CliStderr:
		return s.running(actor, b.Call, b.Command)
	case *event.CliExit:
		return s.running(actor, b.Call, b.Command)
	}
	return nil
}

// checkOwner tells whether a computer can belong to what is no agent.
func (s *State) checkOwner(actor, owner string) error {
	switch {
	case actor != owner || !event.ValidOwner(owner):
		return fmt.Errorf("a computer of quest %s belongs to %.80q and is told of by %.80q", s.Name, owner, actor)
	case s.Agent(owner) != nil:
		return fmt.Errorf("%s is an agent of quest %s, and its computer has no other owner", owner, s.Name)
	case s.Computer == nil:
		return fmt.Errorf("quest %s has no computers", s.Name)
	case s.Machines[owner] == nil && len(s.Machines) >= maxMachines:
		return fmt.Errorf("quest %s has computers of %d owners, and of no more", s.Name, maxMachines)
	}
	return nil
}

func (s *State) has(name string) error {
	if s.Agent(name) == nil {
		return fmt.Errorf("quest %s has no agent %s", s.Name, name)
	}
	return nil
}

// calledBy tells whether an agent has an open tool call.
func (s *State) calledBy(name string, call uint64) error {
	if err := s.has(name); err != nil {
		return err
	}
	if c, ok := s.Calls[call]; !ok || c.Kind != "tool.call" || c.Agent != name {
		return fmt.Errorf("agent %s of quest %s has no open tool.call %d", name, s.Name, call)
	}
	return nil
}

func (s *State) checkDiff(name string, b *event.FileDiff) error {
	switch {
	case b.Cause == event.CauseTool:
		return s.calledBy(name, b.Call)
	case b.Cause == event.CausePrompt:
		return s.promptedBy(name, b.Call)
	case b.Cause == event.CauseOutside && b.Call == 0:
		return s.has(name)
	}
	return fmt.Errorf("files of %s changed by %.40q and call %d: a call changes them as a tool, and nobody's call from outside", name, b.Cause, b.Call)
}

func (s *State) checkRun(name string, b *event.CliRun) error {
	var ran bool
	var known int
	most := agent.MaxCommands
	if m := s.Machines[name]; m != nil {
		if b.Call != 0 {
			return fmt.Errorf("%s of quest %s is no agent, and runs command %.80q for call %d", name, s.Name, b.Command, b.Call)
		}
		_, ran = m.Commands[b.Command]
		known = len(m.Commands)
	} else {
		if b.Prompt != 0 && b.Call == 0 {
			most = agent.MaxRuns
			if err := cmp.Or(s.promptedBy(name, b.Prompt), s.mayRun(s.Agent(name), true)); err != nil {
				return err
			}
		} else if err := s.calledBy(name, b.Call); err != nil {
			return err
		}
		a := s.Agent(name)
		_, ran = a.Commands[b.Command]
		known = len(a.Commands)
	}
	switch {
	case b.Command == "" || len(b.Command) > 64:
		return fmt.Errorf("a command of %s has the id %.80q: want 1 to 64 bytes", name, b.Command)
	case ran:
		return fmt.Errorf("%s of quest %s has run command %s already", name, s.Name, b.Command)
	case known >= most:
		return fmt.Errorf("%s of quest %s has %d commands that have not ended: end some first", name, s.Name, known)
	}
	return nil
}

// promptedBy tells whether an executor works for an agent, by its prompt or because it is made
// ready.
func (s *State) promptedBy(name string, call uint64) error {
	a, err := s.executor(name)
	if err != nil {
		return err
	}
	if call == 0 || a.Asked != call && a.Session.Call != call {
		return fmt.Errorf("agent %s of quest %s has no open prompt.call %d", name, s.Name, call)
	}
	return nil
}

// running tells whether a command has begun, for that call, and not ended.
func (s *State) running(name string, call uint64, command string) error {
	if m := s.Machines[name]; m != nil {
		if _, ok := m.Commands[command]; !ok || call != 0 {
			return fmt.Errorf("%s of quest %s runs no command %.80q for call %d", name, s.Name, command, call)
		}
		return nil
	}
	if err := s.has(name); err != nil {
		return err
	}
	if c, ok := s.Agent(name).Commands[command]; !ok || c.Ended || c.Call != call {
		return fmt.Errorf("agent %s of quest %s runs no command %.80q for call %d", name, s.Name, command, call)
	}
	return nil
}

// Process is a command that has begun and not ended.
type Process struct {
	// Agent is whose it is; Owner, if that is no agent.
	Agent, Owner string
	Command      string
	// Call is the tool.call it was run for, Tool that call's tool while it is open; Prompt is
	// the prompt.call of an executor.
	Call   uint64
	Tool   string
	Prompt uint64
	Keep   bool
}

// Processes are the commands that have begun and not ended, by agent and id, and then by
// owner. Whoever takes a quest up must find out what became of them, and say so.
func (s *State) Processes() (out []Process) {
	for _, a := range s.Agents {
		for _, id := range slices.Sorted(maps.Keys(a.Commands)) {
			if c := a.Commands[id]; !c.Ended {
				out = append(out, Process{Agent: a.Name, Command: id, Call: c.Call, Tool: s.Calls[c.Call].Tool, Prompt: c.Prompt, Keep: c.Keep})
			}
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(s.Machines)) {
		for _, id := range slices.Sorted(maps.Keys(s.Machines[owner].Commands)) {
			out = append(out, Process{Owner: owner, Command: id, Keep: s.Machines[owner].Commands[id]})
		}
	}
	return out
}
