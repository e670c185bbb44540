package runtimetest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// computerBooks keep account of computers, from the events alone.
type computerBooks struct {
	// begun are the commands that there were, by id; running those that have not ended.
	begun   map[string]bool
	running map[string]*event.CliRun
	// trees and fingerprints are what the last file.diff and computer.started of each agent
	// say.
	trees        map[string]*event.TreeRef
	fingerprints map[string]event.Hash
}

// count checks that a command begins once, for a call that is open, and ends at most once,
// after it has begun.
func (s *computerBooks) count(w *World, e event.Event) error {
	isOpen := func(call uint64) bool { return w.books.open[call] == "tool.call" }
	works := func(prompt uint64) bool {
		return w.books.open[prompt] == "prompt.call" || w.books.open[prompt] == "executor.call"
	}
	runs := func(call uint64, command string) error {
		if r := s.running[command]; r == nil || r.Call != call {
			return fmt.Errorf("command %s of call %d is not running", command, call)
		}
		return nil
	}
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		s.fingerprints[e.Actor] = b.Fingerprint
	case *event.CliRun:
		if s.begun[b.Command] || !isOpen(b.Call) && !works(b.Prompt) {
			return fmt.Errorf("command %s begins a second time, or for call %d, which is not open", b.Command, b.Call)
		}
		s.begun[b.Command], s.running[b.Command] = true, b
		w.Saw("commands ran")
	case *event.CliStdout:
		return runs(b.Call, b.Command)
	case *event.CliStderr:
		return runs(b.Call, b.Command)
	case *event.CliExit:
		err := runs(b.Call, b.Command)
		delete(s.running, b.Command)
		return err
	case *event.FileDiff:
		if b.Call != 0 && !isOpen(b.Call) && !works(b.Call) {
			return fmt.Errorf("call %d changed files after its result", b.Call)
		}
		s.trees[e.Actor] = &b.After
		w.Saw("diffs")
	}
	return nil
}

// check holds an agent against the books: it has the commands that run, and none other;
// somebody looks after each; and only what may be kept outlives its call.
func (s *computerBooks) check(state *quest.State, a *agent.Agent, m *machine) error {
	tree := s.trees[a.Name]
	if (a.Tree == nil) != (tree == nil) || a.Tree != nil && *a.Tree != *tree {
		return fmt.Errorf("the state's tree is %v, but %v was recorded last", a.Tree, tree)
	}
	if a.Computer != s.fingerprints[a.Name] {
		return fmt.Errorf("the state's computer is %s, but %s was started last", a.Computer, s.fingerprints[a.Name])
	}
	list := state.Processes()
	if len(list) != len(s.running) {
		return fmt.Errorf("%d commands run, and the state knows %d", len(s.running), len(list))
	}
	for _, p := range list {
		_, open := state.Calls[max(p.Call, p.Prompt)]
		switch {
		case !m.knows(p.Command):
			return fmt.Errorf("command %s runs, and nobody looks after it", p.Command)
		case !p.Keep && !open:
			return fmt.Errorf("command %s has outlived its call %d", p.Command, p.Call)
		}
	}
	for id, c := range a.Commands {
		if _, open := state.Calls[max(c.Call, c.Prompt)]; c.Ended && !open {
			return fmt.Errorf("command %s has ended, and so has its call, and it is still known", id)
		}
	}
	return nil
}
