package runtime

import (
	"cmp"
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// TidyUp does what the last process of a finished quest did not come to, because it was
// killed between the answer and its own end: calls that it left open get their one
// result, what it said is put into the outbox, its computers are stopped, and the papers
// and the summary are written and committed, with what somebody has removed of the folder. It asks no model and runs no command, so that it works without a key, and
// for a quest that came from elsewhere; where nothing is left to do it changes nothing.
//
// A quest that is not finished is left as it is, and one that somebody runs is refused
// with ledger.ErrClaimed.
func (r *Runtime) TidyUp(ctx context.Context, name string, say func(line string)) (*quest.State, error) {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	s, err := r.Load(ctx, name)
	if err != nil || s.Status != quest.Finished {
		return s, err
	}
	l := &live{owner: owner{key: name, log: r.Ledger, state: s}, rt: r, opts: RunOptions{OnProgress: say}}
	if err := r.stopComputers(ctx, name, 0); err != nil {
		// Where docker has gone, say, so have they. Clean tries again.
		l.progress("The quest's computers could not be stopped: " + err.Error())
	}
	inputs, folder := l.unanswered(), r.folder(s)
	if late, ok := folder.(Late); ok {
		var more []event.Draft
		more, err = late.Late(ctx, r.look(name, s, l.progress))
		inputs = append(inputs, more...)
	}
	if err == nil {
		_, _, err = l.step(ctx, inputs)
	}
	if err == nil {
		err = r.restoreGiven(ctx, name, s)
	}
	if err == nil && folder != nil {
		err = folder.Finish(ctx, r.look(name, s, l.progress))
	}
	if err == nil {
		err = r.writeSummary(ctx, name, s)
	}
	if err != nil {
		return s, fmt.Errorf("tidy up after quest %s: %w", name, err)
	}
	return s, nil
}

// unanswered are results for the calls that a finished quest has open, and ends for the
// commands. Nobody waits for an answer any more, so none is asked for; whoever goes on
// with the quest finds that it did not come. What the rules answer themselves they do
// only while the quest runs: it waits until then.
func (l *live) unanswered() (out []event.Draft) {
	_, lost := settle(l.state, func(seq uint64, c quest.Call) (event.Draft, bool) {
		own := l.state.Own(c.Tool)
		ruled := own != nil && own.Step != quest.DeliveredTool
		return lostTool(seq, c), c.Kind == "tool.call" && !ruled
	})
	for _, p := range l.state.Processes() {
		d := l.input(cmp.Or(p.Agent, p.Owner), lostCommand(p.Call, p.Command))
		d.Parent = p.Call
		out = append(out, d)
	}
	for _, d := range lost {
		d.Time = l.rt.Clock()
		out = append(out, d)
	}
	for _, seq := range sortedCalls(l.state) {
		c := l.state.Calls[seq]
		if c.Kind == "gateway.call" {
			d := gatewayService{}.lost(seq, c, l.rt.known)
			d.Time = l.rt.Clock()
			out = append(out, d)
		}
		if c.Kind == "prompt.call" {
			d := lostPrompt(seq, c, "interrupted, outcome unknown: the process that asked ended, and the quest was finished")
			d.Time = l.rt.Clock()
			out = append(out, d)
		}
		if c.Kind == "model.call" {
			d := l.input(c.Agent, &event.ModelResult{Call: seq, Error: &event.ModelError{
				Kind: string(model.Unavailable), Text: "interrupted, outcome unknown: the process that asked ended, and the quest was finished",
			}})
			d.Parent = seq
			out = append(out, d)
		}
	}
	return out
}
