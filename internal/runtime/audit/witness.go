package audit

import (
	"bytes"
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// Note notes what could not be looked at about an event, or nobody vouches for.
type Note func(e event.Event, format string, args ...any)

// Witnessed is a workshop of whose services can be known again what they are recorded
// to have said.
type Witnessed interface {
	// Witness looks at a quest from its first event on.
	Witness(rt *runtime.Runtime, e event.Event, b *event.QuestCreated, note Note) Witness
}

// Witness looks at results of a society's calls.
type Witness interface {
	// Look finds what does not hold about a result.
	Look(ctx context.Context, call, result event.Event) (*Difference, error)
	Close()
}

// witnesses look at what the world is recorded to have said, and at what can be known
// of it again: that nothing took longer than there was time, and what the society's own
// witness knows.
type witnesses struct {
	rt   *runtime.Runtime
	key  string  // the quest's name in this home
	own  Witness // nil if there is none
	open map[uint64]event.Event
	// reports are what executors reported in prompts that are open.
	reports map[uint64][]event.Event
	// notes are what could not be looked at, or nobody vouches for.
	notes []string
	finds *finds
	reads *shelves
}

func newWitnesses(rt *runtime.Runtime) *witnesses {
	return &witnesses{rt: rt, finds: newFinds(rt), reads: &shelves{rt, map[uint64]event.Text{}}, open: map[uint64]event.Event{}, reports: map[uint64][]event.Event{}}
}

// maxNotes is how many notes are kept.
const maxNotes = 50

func (w *witnesses) note(e event.Event, format string, args ...any) {
	if len(w.notes) < maxNotes {
		w.notes = append(w.notes, fmt.Sprintf("seq %d: ", e.Seq)+fmt.Sprintf(format, args...))
	}
}

func (w *witnesses) close() {
	w.finds.close()
	if w.own != nil {
		w.own.Close()
	}
}

// look finds what does not hold about an event, which has been applied to s.
func (w *witnesses) look(ctx context.Context, s *quest.State, e event.Event) (*Difference, error) {
	if d, err := w.finds.look(ctx, s, e, w.note); d != nil || err != nil {
		return d, err
	}
	if d, err := w.reads.look(ctx, s, e); d != nil || err != nil {
		return d, err
	}
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		if shop, ok := w.rt.Workshop(b.Rules).(Witnessed); ok {
			w.own = shop.Witness(w.rt, e, b, w.note)
		}
	case *event.QuestForked:
		clear(w.open)
		clear(w.reports)
	case event.Result:
		call, ok := w.open[b.Answers()]
		delete(w.open, b.Answers())
		if !ok {
			return nil, nil
		}
		if t, is := b.(event.Timed); is {
			if d := timed(call, e, t.Took()); d != nil {
				return d, nil
			}
		}
		if r, is := b.(*event.ModelResult); is && r.Recalled != nil {
			return w.recalled(ctx, s, call, e, r)
		}
		if r, is := b.(*event.PromptResult); is {
			return w.prompted(ctx, e, r)
		}
		if w.own != nil {
			return w.own.Look(ctx, call, e)
		}
	default:
		if r, is := e.Body.(event.Report); is {
			prompt, _ := r.Reported()
			w.reports[prompt] = append(w.reports[prompt], e)
		}
		if e.Type.Call() {
			w.open[e.Seq] = e
		}
	}
	return nil, nil
}

// timed compares how long something is said to have taken with the time there was.
func timed(call, e event.Event, took int64) *Difference {
	if there := int64(e.Time - call.Time); took < 0 || there > 0 && took > there {
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("it says that it took %d µs, but %d µs passed between the call and the result: it was altered, or the clock was set back", took, there)}
	}
	return nil
}

// CompareBodies says what does not hold if a result that was made again is not the recorded one.
func CompareBodies(e event.Event, again event.Body, what string) (*Difference, error) {
	have, err := event.EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	want, err := event.EncodeBody(again)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(have, want) {
		return nil, nil
	}
	return &Difference{Seq: e.Seq, What: what, Recorded: string(have), Computed: string(want)}, nil
}
