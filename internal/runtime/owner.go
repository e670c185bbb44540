package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// An owner is the one that moves a quest: it takes inputs, has the rules decide,
// and makes inputs and decisions durable together. It knows nothing of
// goroutines or clocks, so that the simulator can drive the very same code.
//
// The state runs ahead of the ledger within step. If the append fails, the state
// is of a quest that never was: the owner is dead, and whoever wants to go on
// must load the quest again.
type owner struct {
	key   string
	log   appender
	state *quest.State
	batch ledger.Batch
	queue []event.Draft
	dead  bool
	// brief, if it is not nil, gives results of the calls among events that nobody need make
	// outside. They are taken in the same batch.
	brief func(ctx context.Context, events []event.Event) []event.Draft
}

// appender and reader are what an owner and a fold need of a ledger.
type appender interface {
	Append(ctx context.Context, b ledger.Batch) error
}

type reader interface {
	Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error]
}

// errUnfit says that a command cannot become an event. Nothing has come of it,
// and it must not keep the quest from going on.
var errUnfit = errors.New("the command does not fit an event")

// maxFollowing is how many events can follow from one input. Rules that never come to rest would
// otherwise take all memory there is, and the disk after that, for a quest that nobody can open
// again. A lab of 256 agents that all hear of one paper derives some hundreds.
const maxFollowing = 50_000

var errDead = errors.New("an append has failed before; load the quest again")

// step takes inputs, in order, and returns the events they became and led to,
// once they are durable; the slice is good until the next step. An input that cannot come now is left out, and named
// in refused: a result that comes twice is no reason to stop.
func (o *owner) step(ctx context.Context, inputs []event.Draft) (done []event.Event, refused []error, err error) {
	if o.dead {
		return nil, nil, errDead
	}
	// The last step's events have been told and acted on: their place is free.
	o.batch = ledger.Batch{Quest: o.key, Events: o.batch.Events[:0]}
	refused, err = o.feedAll(inputs)
	if err == nil && o.brief != nil && len(o.batch.Events) > 0 {
		var more []error
		more, err = o.feedAll(o.brief(ctx, o.batch.Events))
		refused = append(refused, more...)
	}
	if err != nil {
		o.dead = true
		return nil, refused, err
	}
	if len(o.batch.Events) == 0 {
		return nil, refused, nil
	}
	if err := o.log.Append(ctx, o.batch); err != nil {
		o.dead = true
		return nil, refused, err
	}
	return o.batch.Events, refused, nil
}

// feedAll applies inputs, but for those that cannot come now.
func (o *owner) feedAll(inputs []event.Draft) (refused []error, err error) {
	for _, in := range inputs {
		if err := o.state.Accepts(in.Actor, in.Body); err != nil {
			refused = append(refused, err)
			continue
		}
		if err := o.feed(in); errors.Is(err, errUnfit) {
			refused = append(refused, err)
		} else if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// feed applies one input and everything that follows from it, breadth first.
func (o *owner) feed(in event.Draft) error {
	in.Time = max(in.Time, o.state.Time) // a clock set back does not reorder history
	o.queue = append(o.queue[:0], in)
	for i := 0; i < len(o.queue); i++ {
		e, err := o.seal(o.queue[i])
		if err != nil {
			if i == 0 && numberOf(in.Body) > 0 {
				return fmt.Errorf("%w: %w", errUnfit, err)
			}
			return err
		}
		o.batch.Events = append(o.batch.Events, e)
		o.batch.Blobs = append(o.batch.Blobs, o.queue[i].Blobs...)
		// What the rules derived may not fit what they know: that is the quest's failure, and
		// nobody else's.
		if err := o.state.Fold(e); err != nil {
			return err
		}
		more, err := Decide(o.state, e)
		if err != nil {
			return err
		}
		if o.queue = append(o.queue, more...); i >= maxFollowing {
			return fmt.Errorf("the rules do not come to rest: %d events followed from %s after event %d, the last of them %s; nothing was appended, report this with the ledger", i, in.Body.Type(), o.batch.Events[0].Seq-1, tail(o.batch.Events, 8))
		}
	}
	return nil
}

// tail names the types of the last events.
func tail(events []event.Event, n int) string {
	var names []string
	for _, e := range events[max(0, len(events)-n):] {
		names = append(names, e.Actor+" "+string(e.Type))
	}
	return strings.Join(names, ", ")
}

// Decide has the rules decide. A ledger may be a stranger's, and made to have them
// fall over: that is the quest's failure, and nobody else's.
func Decide(s *quest.State, e event.Event) (drafts []event.Draft, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the rules cannot decide what follows from event %d (%s): %v", e.Seq, e.Type, p)
		}
	}()
	return quest.Decide(s, e), nil
}

// numberOf returns the number of the command that an input was made of, 0 if it
// was made of none.
func numberOf(b event.Body) int64 {
	if order, ok := b.(event.Order); ok {
		return order.Number()
	}
	return 0
}

func (o *owner) seal(d event.Draft) (event.Event, error) {
	name := o.state.Name
	switch b := d.Body.(type) {
	case *event.QuestCreated:
		name = b.Name
	case *event.QuestForked:
		name = b.Name
	}
	return event.Seal(name, o.state.Seq+1, o.state.Hash, d)
}

// settle says how to go on after the last owner has gone, with calls open: those
// to start again, and results for those whose outcome nobody knows. lostCall gives the
// result of a call that cannot be made again without harm.
func settle(s *quest.State, lostCall func(seq uint64, c quest.Call) (event.Draft, bool)) (again []uint64, lost []event.Draft) {
	for _, seq := range sortedCalls(s) {
		if d, gone := lostCall(seq, s.Calls[seq]); gone {
			lost = append(lost, d)
			continue
		}
		again = append(again, seq)
	}
	return again, lost
}

// takeUp says what a new owner feeds in, in which batches: the input that makes
// the quest run, results for calls whose outcome is lost, and the commands that
// wait.
//
// A quest whose owner died still counts as running: it goes on first, and then
// hears what has been posted since. One that rested hears first what was posted
// to it before the run began, and then goes on all the same: that is what running
// it means. What was posted after that is for the run.
func takeUp(s *quest.State, wake func() event.Draft, lost, waiting []event.Draft, before int64) []func() []event.Draft {
	first := 0
	for s.Status != quest.Running && first < len(waiting) && numberOf(waiting[first].Body) <= before {
		first++
	}
	return []func() []event.Draft{
		func() []event.Draft { return waiting[:first] },
		func() []event.Draft { return slices.Concat([]event.Draft{wake()}, lost, waiting[first:]) },
	}
}

// wakeBody is the input that makes a quest run.
func wakeBody(s *quest.State, limits event.Limits, version string) event.Body {
	if s.Status == quest.Created {
		return &event.QuestStarted{Limits: limits, Version: version}
	}
	return &event.QuestResumed{Limits: limits, Version: version}
}

func sortedCalls(s *quest.State) []uint64 {
	var out []uint64
	for seq := range s.Calls {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out
}

// fold reads a quest's ledger into a state, from the given one on, or from the
// beginning if it is nil. read is how many bytes of events that took.
func fold(ctx context.Context, log reader, key string, s *quest.State, societies []quest.Society) (_ *quest.State, read int, _ error) {
	from := uint64(1)
	if s != nil {
		from = s.Seq + 1
	}
	for e, err := range log.Read(ctx, key, from) {
		if err != nil {
			return nil, read, err
		}
		if s == nil {
			if s, err = quest.New(e, societies); err != nil {
				return nil, read, fmt.Errorf("open quest %s: %w", key, err)
			}
		}
		if err := s.Fold(e); err != nil {
			return nil, read, &ledger.DamageError{Quest: key, Seq: e.Seq, Err: err}
		}
		read += len(e.Line())
	}
	return s, read, nil
}
