package runtime

import (
	"context"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Log is what an owner needs of a ledger.
type Log interface {
	appender
	reader
}

// Driven is a quest whose world somebody else plays, step by step: the owner that moves a
// live quest, without its clock, its goroutines and its disk. A simulation drives one.
type Driven struct{ owner owner }

// Drive takes up a quest as a process does that begins to run it: from a saved state, if
// there is one, and the events since.
func Drive(ctx context.Context, log Log, key string, saved *quest.State, societies []quest.Society) (*Driven, error) {
	s, _, err := fold(ctx, log, key, saved, societies)
	if err != nil {
		return nil, err
	}
	return &Driven{owner{key: key, log: log, state: s}}, nil
}

// State is the quest as it is. It belongs to the driven quest: whoever looks at it changes
// nothing.
func (d *Driven) State() *quest.State { return d.owner.state }

// Step takes inputs, and returns the events that they became and led to, which are good
// until the next step, and why some were not taken. After an error the quest is to be
// taken up again.
func (d *Driven) Step(ctx context.Context, inputs []event.Draft) (done []event.Event, refused []error, err error) {
	return d.owner.step(ctx, inputs)
}

// Settle says what becomes of the calls that the last owner left open: those that are made
// again, and results of those whose outcome nobody knows. Which calls may do harm if they
// are made twice is for the table of services to say; of each of those, again tells
// whether it can be made again all the same.
func (d *Driven) Settle(again func(seq uint64, c quest.Call) bool) (made []uint64, lost []event.Draft) {
	return settle(d.owner.state, func(seq uint64, c quest.Call) (event.Draft, bool) {
		s, ok := ownServices[c.Kind].(careful)
		if !ok || again(seq, c) {
			return event.Draft{}, false
		}
		return s.lost(seq, c, func(string) Known { return Known{Priced: true} }), true
	})
}

// TakeUp says what a new owner feeds in, in which batches: what makes the quest run, the
// results of calls that are lost, and the commands that wait. Those up to the number
// before were posted when the run had not begun.
func (d *Driven) TakeUp(now event.Time, limits event.Limits, version string, lost, waiting []event.Draft, before int64) []func() []event.Draft {
	wake := func() event.Draft {
		return event.Draft{Time: now, Actor: "person", Body: wakeBody(d.owner.state, limits, version)}
	}
	return takeUp(d.owner.state, wake, lost, waiting, before)
}
