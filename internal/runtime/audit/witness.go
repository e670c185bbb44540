package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"lyceum/internal/blob"
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
	// Looks say of each call that a service of the workshop answers what is done with its results.
	Looks() map[event.Type]Look
	Close()
}

// Look is what is done with the results of one type of call: Find or Nothing.
type Look struct {
	// Find finds what does not hold about a result.
	Find func(ctx context.Context, call, result event.Event) (*Difference, error)
	// Again says that Find makes the result again: one in which it finds nothing is nobody's word.
	Again bool
	// Nothing says why nobody can look at a result without running or asking something.
	Nothing string
}

// At looks at a result.
func (l Look) At(ctx context.Context, call, result event.Event) (*Difference, error) {
	if l.Find == nil {
		return nil, nil
	}
	return l.Find(ctx, call, result)
}

// ownLooks are what is done with the results of those calls that the runtime answers for quests of any society. What
// tools said, and what a search of the catalogue found, is looked at from the call on: see repeats, shelves and finds.
var ownLooks = map[event.Type]func(w *witnesses, ctx context.Context, s *quest.State, call, e event.Event) (*Difference, error){
	"model.call":         (*witnesses).answered,
	"prompt.call":        (*witnesses).prompted,
	"tool.call":          fromTheCall,
	"catalogue.call":     fromTheCall,
	"timer.set":          nobodys,
	"mcp.call":           nobodys,
	"gateway.call":       nobodys,
	"executor.call":      nobodys,
	"interaction.opened": nobodys,
	"prepare.call":       nobodys,
	"home.call":          nobodys,
}

// fromTheCall is a result that has been looked at already.
func fromTheCall(*witnesses, context.Context, *quest.State, event.Event, event.Event) (*Difference, error) {
	return nil, nil
}

// nobodys is a result about which nobody can know more than was said.
func nobodys(*witnesses, context.Context, *quest.State, event.Event, event.Event) (*Difference, error) {
	return nil, nil
}

// answered looks at a model's answer: nobody knows what a model would say, but where one stands that was given before.
func (w *witnesses) answered(ctx context.Context, s *quest.State, call, e event.Event) (*Difference, error) {
	r := e.Body.(*event.ModelResult)
	if r.Recalled == nil {
		return nil, nil
	}
	w.made = true // that is one answer, and counted there
	return w.recalled(ctx, s, call, e, r)
}

// witnesses look at what the world is recorded to have said, and at what can be known
// of it again: that nothing took longer than there was time, and what the society's own
// witness knows.
type witnesses struct {
	rt  *runtime.Runtime
	key string  // the quest's name in this home
	own Witness // nil if there is none
	// looks are what own does.
	looks map[event.Type]Look
	open  map[uint64]event.Event
	// reports are what executors reported in prompts that are open.
	reports map[uint64][]event.Event
	// notes are what could not be looked at, or nobody vouches for.
	notes []string
	finds *finds
	reads *shelves
	again *repeats
	// made says that what the last event says was made again and is the same; noted, that there
	// is a note about it.
	made, noted bool
}

func newWitnesses(rt *runtime.Runtime) *witnesses {
	return &witnesses{rt: rt, finds: newFinds(rt), reads: &shelves{rt, map[uint64]event.Text{}}, again: newRepeats(rt), open: map[uint64]event.Event{}, reports: map[uint64][]event.Event{}}
}

// maxNotes is how many notes are kept.
const maxNotes = 50

func (w *witnesses) note(e event.Event, format string, args ...any) {
	w.noted = true
	if len(w.notes) < maxNotes {
		w.notes = append(w.notes, fmt.Sprintf("seq %d: ", e.Seq)+fmt.Sprintf(format, args...))
	}
}

func (w *witnesses) close() {
	w.finds.close()
	_ = w.again.homes.close() // what is left is swept by the next
	if w.own != nil {
		w.own.Close()
	}
}

// look finds what does not hold about an event, which has been applied to s.
func (w *witnesses) look(ctx context.Context, s *quest.State, e event.Event) (*Difference, error) {
	w.made, w.noted = false, false
	var call *event.Event
	if b, ok := e.Body.(event.Result); ok {
		if c, ok := w.open[b.Answers()]; ok {
			call = &c
		}
	}
	d, err := w.looked(ctx, s, e)
	if d != nil && (w.cut(ctx, &e) || w.cut(ctx, call)) {
		w.note(e, "what it says, or was asked, was redacted or is lost, and cannot be made again")
		d = nil
	}
	w.made = w.made && !w.noted && d == nil
	return d, err
}

// cut reports whether a text that an event names is not there.
func (w *witnesses) cut(ctx context.Context, e *event.Event) bool {
	if e == nil {
		return false
	}
	for _, ref := range event.Passages(e.Body) {
		if _, err := w.rt.Whole(ctx, ref); errors.Is(err, blob.ErrNotFound) {
			return true
		}
	}
	return false
}

func (w *witnesses) looked(ctx context.Context, s *quest.State, e event.Event) (*Difference, error) {
	if d, err := w.finds.look(ctx, s, e, w.note); d != nil || err != nil {
		return d, err
	}
	if b, ok := e.Body.(*event.ToolsShown); ok && b.Call != 0 {
		w.made = true
	}
	if d, made, err := w.reads.look(ctx, s, e); made || d != nil || err != nil {
		w.made = made
		return d, err
	}
	if d, made, err := w.again.look(ctx, s, e, w.note); made || d != nil || err != nil {
		w.made = made
		return d, err
	}
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		if shop, ok := w.rt.Workshop(b.Rules).(Witnessed); ok {
			w.own = shop.Witness(w.rt, e, b, w.note)
			w.looks = w.own.Looks()
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
		if look := ownLooks[call.Type]; look != nil {
			return look(w, ctx, s, call, e)
		}
		look := w.looks[call.Type]
		w.made = look.Again
		return look.At(ctx, call, e)
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
