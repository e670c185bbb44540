package runtime

import (
	"bytes"
	"context"
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// check looks at what is new in the ledger, and at the state that stands for it.
func (w *world) check() error {
	prev := event.Hash{}
	if w.checked > 0 {
		prev = w.log.events[w.checked-1].Hash
	}
	for _, e := range w.log.events[w.checked:] {
		if err := e.Follows(uint64(w.checked), prev); err != nil {
			return fmt.Errorf("the chain is broken: %w", err)
		}
		if err := w.count(e); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if err := w.books.count(e, w); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if err := w.guard.watch(e); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		prev = e.Hash
		w.checked++
	}
	if w.owner == nil {
		return nil
	}
	return w.checkState()
}

// count keeps the books: every call has at most one result, every command comes
// once and in order, and what was answered has its cost.
func (w *world) count(e event.Event) error {
	answered := func(call uint64) error {
		if w.results[call]++; w.results[call] > 1 || !w.calls[call] {
			return fmt.Errorf("call %d has %d results", call, w.results[call])
		}
		return nil
	}
	switch b := e.Body.(type) {
	case *event.PolicyBlocked:
		w.refused(e, b)
	case *event.MessageSent:
		if b.Policy != "" {
			w.report.Warned++
		}
	case *event.ModelCall:
		w.calls[e.Seq] = true
		if b.First > 0 && b.Head != b.First {
			w.report.Cuts++
		}
	case *event.ToolCall, *event.TimerSet:
		w.calls[e.Seq] = true
	case *event.ModelResult:
		w.cost += b.Cost
		return answered(b.Call)
	case *event.ToolResult:
		return answered(b.Call)
	case *event.ToolAnswered:
		return answered(b.Call)
	case *event.TimerFired:
		return answered(b.Call)
	}
	if inbox := numberOf(e.Body); inbox != 0 {
		if inbox != w.taken+1 {
			return fmt.Errorf("command %d was taken after command %d", inbox, w.taken)
		}
		w.taken = inbox
	}
	return nil
}

func (w *world) checkState() error {
	s := w.owner.state
	folded, err := fold(context.Background(), w.log, "sim", nil, w.opts.Societies)
	if err != nil {
		return err
	}
	want, err := folded.Encode()
	if err != nil {
		return err
	}
	got, err := s.Encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("the live state is not the fold of the ledger:\nlive: %s\nfold: %s", got, want)
	}
	if s.Spent.Cost != w.cost {
		return fmt.Errorf("the cost is %d, but answers worth %d came", s.Spent.Cost, w.cost)
	}
	for seq, c := range s.Calls {
		if w.results[seq] > 0 {
			return fmt.Errorf("call %d is open and has a result", seq)
		}
		if _, ok := w.flying[seq]; !ok && (c.Tool != "" || c.Kind != "tool.call") {
			return fmt.Errorf("call %d is open, and nobody makes it", seq)
		}
	}
	for seq, n := range w.begun {
		if n > 1 {
			return fmt.Errorf("the command of call %d, which is not safe to repeat, was begun %d times", seq, n)
		}
	}
	for seq := range w.calls {
		if _, open := s.Calls[seq]; !open && w.results[seq] == 0 && w.log.events[seq-1].Type != "timer.set" {
			return fmt.Errorf("call %d is closed without a result", seq)
		}
	}
	if err := w.books.check(s, w.machine); err != nil {
		return err
	}
	for _, a := range s.Agents {
		for _, u := range a.Open {
			if u.Call == 0 && s.Status == quest.Running && len(s.Calls) > 0 {
				w.report.Waited++
			}
		}
		if s.Status == quest.Running && len(w.flying) == 0 {
			return fmt.Errorf("the quest runs, and nothing is under way")
		}
		if err := checkTranscript(&a.Transcript); err != nil {
			return err
		}
	}
	return nil
}

// simBooks keep account of computers, from the events alone.
type simBooks struct {
	// ran are the commands that have begun, by id; exits counts their ends.
	ran   map[string]*event.CliRun
	exits map[string]int
	// tree and computer are what the last file.diff and computer.started say.
	tree     *event.TreeRef
	computer event.Hash
}

func newBooks() *simBooks { return &simBooks{ran: map[string]*event.CliRun{}, exits: map[string]int{}} }

// count checks that a command begins once, for a call that is open, and ends at most
// once, after it has begun.
func (s *simBooks) count(e event.Event, w *world) error {
	open := func(call uint64, command string) error {
		if r := s.ran[command]; r == nil || r.Call != call || s.exits[command] > 0 {
			return fmt.Errorf("command %s of call %d is not running", command, call)
		}
		return nil
	}
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		s.computer = b.Fingerprint
	case *event.CliRun:
		if s.ran[b.Command] != nil || !w.calls[b.Call] || w.results[b.Call] > 0 {
			return fmt.Errorf("command %s begins a second time, or for call %d, which is not open", b.Command, b.Call)
		}
		s.ran[b.Command] = b
		w.report.Ran++
	case *event.CliStdout:
		return open(b.Call, b.Command)
	case *event.CliStderr:
		return open(b.Call, b.Command)
	case *event.CliExit:
		err := open(b.Call, b.Command)
		s.exits[b.Command]++
		return err
	case *event.FileDiff:
		if b.Call != 0 && (!w.calls[b.Call] || w.results[b.Call] > 0) {
			return fmt.Errorf("call %d changed files after its result", b.Call)
		}
		s.tree = &b.After
		w.report.Diffs++
	}
	return nil
}

// check holds a state against the books: it knows the commands that run, and none
// other; somebody looks after each; and only what may be kept outlives its call.
func (s *simBooks) check(state *quest.State, m *simMachine) error {
	a := state.Agents[0]
	if (a.Tree == nil) != (s.tree == nil) || a.Tree != nil && *a.Tree != *s.tree {
		return fmt.Errorf("the state's tree is %v, but %v was recorded last", a.Tree, s.tree)
	}
	if a.Computer != s.computer {
		return fmt.Errorf("the state's computer is %s, but %s was started last", a.Computer, s.computer)
	}
	running := 0
	for command := range s.ran {
		running += 1 - s.exits[command]
	}
	list := state.Processes()
	if len(list) != running {
		return fmt.Errorf("%d commands run, and the state knows %d", running, len(list))
	}
	for _, p := range list {
		_, open := state.Calls[p.Call]
		switch {
		case !m.knows(p.Command):
			return fmt.Errorf("command %s runs, and nobody looks after it", p.Command)
		case !p.Keep && !open:
			return fmt.Errorf("command %s has outlived its call %d", p.Command, p.Call)
		}
	}
	for id, c := range a.Commands {
		if _, open := state.Calls[c.Call]; c.Ended && !open {
			return fmt.Errorf("command %s has ended, and so has its call, and it is still known", id)
		}
	}
	return nil
}

// checkTranscript holds a window against what every provider asks of one: a user
// begins, and each result of a tool follows the call it answers.
func checkTranscript(t *agent.Transcript) error {
	if len(t.Messages) == 0 {
		return nil
	}
	first := &t.Messages[0]
	if t.Lead != nil {
		first = t.Lead
	}
	if first.Role != model.User {
		return fmt.Errorf("the window begins with the %s", first.Role)
	}
	var before *agent.Message
	for i := range t.Messages {
		m := &t.Messages[i]
		for _, p := range m.Parts {
			if p.Kind == model.PartToolResult && !calls(before, p.ID) {
				return fmt.Errorf("message %d answers tool call %s, which is not before it", t.First+int64(i), p.ID)
			}
		}
		before = m
	}
	return nil
}

func calls(m *agent.Message, id string) bool {
	if m == nil {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind == event.PartToolCall && p.ID == id {
			return true
		}
	}
	return false
}

// replay derives the whole ledger again.
func (w *world) replay() error {
	p := NewReplayer(w.opts.Societies)
	for _, e := range w.log.events {
		d, err := p.Begin(e)
		if err != nil {
			return err
		}
		if d == nil {
			d = p.Replay(e)
		}
		if d != nil {
			return fmt.Errorf("replay: %w\nrecorded %s\ncomputed %s", d, d.Recorded, d.Computed)
		}
	}
	if d := p.End(); d != nil {
		return fmt.Errorf("replay: %w", d)
	}
	return nil
}
