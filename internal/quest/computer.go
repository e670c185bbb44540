package quest

import (
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// applyComputer keeps account of what happens in agents' computers. Output and
// connections are for readers of the ledger: nothing is kept of them.
func (s *State) applyComputer(e event.Event) {
	a := s.Agent(e.Actor)
	if a == nil {
		return
	}
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		a.Computer = b.Fingerprint
	case *event.CliRun:
		a.Ran(b)
	case *event.CliExit:
		a.Exited(b)
	case *event.FileDiff:
		a.Wrote(b)
	}
}

// checkComputer tells whether what a computer says may come now: it is an agent's,
// of a call that is open, or of a command that has begun and not ended.
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
		return s.has(actor)
	case *event.NetConnection:
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
	case b.Cause == event.CauseOutside && b.Call == 0:
		return s.has(name)
	}
	return fmt.Errorf("files of %s changed by %.40q and call %d: a call changes them as a tool, and nobody's call from outside", name, b.Cause, b.Call)
}

func (s *State) checkRun(name string, b *event.CliRun) error {
	if err := s.calledBy(name, b.Call); err != nil {
		return err
	}
	known := s.Agent(name).Commands
	switch _, ok := known[b.Command]; {
	case b.Command == "" || len(b.Command) > 64:
		return fmt.Errorf("a command of %s has the id %.80q: want 1 to 64 bytes", name, b.Command)
	case ok:
		return fmt.Errorf("agent %s of quest %s has run command %s already", name, s.Name, b.Command)
	case len(known) >= agent.MaxCommands:
		return fmt.Errorf("agent %s of quest %s has %d commands that have not ended: end some first", name, s.Name, len(known))
	}
	return nil
}

// running tells whether a command has begun, for that call, and not ended.
func (s *State) running(name string, call uint64, command string) error {
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
	Agent, Command string
	// Call is the tool.call it was run for, Tool that call's tool while it is open.
	Call uint64
	Tool string
	Keep bool
}

// Processes are the commands of all agents that have begun and not ended, by agent and
// id. Whoever takes a quest up must find out what became of them, and say so.
func (s *State) Processes() (out []Process) {
	for _, a := range s.Agents {
		for _, id := range slices.Sorted(maps.Keys(a.Commands)) {
			if c := a.Commands[id]; !c.Ended {
				out = append(out, Process{Agent: a.Name, Command: id, Call: c.Call, Tool: s.Calls[c.Call].Tool, Keep: c.Keep})
			}
		}
	}
	return out
}
