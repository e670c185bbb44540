package runtime

import (
	"bytes"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Difference is where a ledger and what should be there part.
type Difference struct {
	// Seq is the event, 0 if it is about a file.
	Seq  uint64 `json:"seq,omitempty"`
	File string `json:"file,omitempty"`
	What string `json:"what"`
	// Recorded and Computed are both sides, where there are two.
	Recorded string `json:"recorded,omitempty"`
	Computed string `json:"computed,omitempty"`
}

func (d *Difference) Error() string {
	if d.File != "" {
		return fmt.Sprintf("%s: %s", d.File, d.What)
	}
	return fmt.Sprintf("seq %d: %s", d.Seq, d.What)
}

// A Replayer stands in a quest's history and knows what must come next.
type Replayer struct {
	societies []quest.Society
	// State is the quest up to the last event, nil before the first.
	State *quest.State
	// queue is what the rules derived and the ledger must still show.
	queue []event.Draft
}

// NewReplayer returns one that stands before the first event.
func NewReplayer(societies []quest.Society) *Replayer { return &Replayer{societies: societies} }

// Begin sets the state up at the first event.
func (p *Replayer) Begin(e event.Event) (*Difference, error) {
	if p.State == nil {
		s, err := quest.New(e, p.societies)
		if err != nil {
			return nil, err
		}
		p.State = s
	}
	return p.named(e), nil
}

// named checks that an event was recorded under the name the quest had then.
func (p *Replayer) named(e event.Event) *Difference {
	want := p.State.Name
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		want = b.Name
	case *event.QuestForked:
		if b.At != p.State.Seq || b.Hash != p.State.Hash || b.From != p.State.Name {
			return &Difference{Seq: e.Seq, What: "the fork does not stand where it says it does"}
		}
		want = b.Name
	}
	if e.Quest != want {
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("the event was recorded for quest %s, not %s", e.Quest, want)}
	}
	return nil
}

// accept takes a recorded event as it is, if it may come now.
func (p *Replayer) accept(e event.Event) *Difference {
	if err := p.State.Fold(e); err != nil {
		return &Difference{Seq: e.Seq, What: err.Error()}
	}
	return nil
}

// Replay takes a recorded event: an input as it is, a derived one only if it is, to the
// byte, what the rules derive.
func (p *Replayer) Replay(e event.Event) *Difference {
	if e.Input() {
		if len(p.queue) > 0 && e.Type != "quest.forked" {
			return p.missing(e.Seq, string(e.Line()))
		}
		p.queue = nil // a fork may cut what its origin had still to record
	} else {
		if len(p.queue) == 0 {
			return &Difference{Seq: e.Seq, What: "the rules derive no such event here", Recorded: string(e.Line())}
		}
		again, err := event.Seal(p.State.Name, e.Seq, p.State.Hash, p.queue[0])
		if err != nil {
			return &Difference{Seq: e.Seq, What: err.Error(), Recorded: string(e.Line())}
		}
		if !bytes.Equal(again.Line(), e.Line()) {
			return &Difference{Seq: e.Seq, What: "the rules derive another event", Recorded: string(e.Line()), Computed: string(again.Line())}
		}
		p.queue = p.queue[1:]
	}
	if d := p.accept(e); d != nil {
		return d
	}
	more, err := Decide(p.State, e)
	if err != nil {
		return &Difference{Seq: e.Seq, What: err.Error()}
	}
	p.queue = append(p.queue, more...)
	return nil
}

func (p *Replayer) missing(seq uint64, recorded string) *Difference {
	d := &Difference{Seq: seq, What: "an event that the rules derive is missing", Recorded: recorded}
	if again, err := event.Seal(p.State.Name, p.State.Seq+1, p.State.Hash, p.queue[0]); err == nil {
		d.Computed = string(again.Line())
	}
	return d
}

// End finds what the last input led to and the ledger does not show.
func (p *Replayer) End() *Difference {
	if len(p.queue) > 0 {
		return p.missing(p.State.Seq+1, "")
	}
	return nil
}
