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
	if inbox := inboxOf(e.Body); inbox != 0 {
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
	p := &replayer{societies: w.opts.Societies}
	for _, e := range w.log.events {
		d, err := p.begin(e)
		if err != nil {
			return err
		}
		if d == nil {
			d = p.replay(e)
		}
		if d != nil {
			return fmt.Errorf("replay: %w\nrecorded %s\ncomputed %s", d, d.Recorded, d.Computed)
		}
	}
	if d := p.end(); d != nil {
		return fmt.Errorf("replay: %w", d)
	}
	return nil
}
