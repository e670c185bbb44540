package audit

import (
	"bytes"
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// What an executor reported follows from the frames of its prompt, and is derived again.

// redacted is what stands for a secret. Of a text in which one was, the frames may have less.
var redacted = []byte("[key]")

// prompted looks at a prompt that has ended: what was reported must stand in its frames, in that
// order. There may be more in them, of a process whose place another took.
func (w *witnesses) prompted(ctx context.Context, _ *quest.State, _, e event.Event) (*Difference, error) {
	b := e.Body.(*event.PromptResult)
	reports := w.reports[b.Call]
	delete(w.reports, b.Call)
	if b.Frames == nil {
		if len(reports) > 0 {
			w.note(e, "the frames of prompt %d are not there, and what the executor reported is not derived again", b.Call)
		}
		return nil, nil
	}
	frames, err := w.rt.Blob(ctx, *b.Frames)
	if err != nil {
		return nil, err
	}
	bodies, turn, failed := w.rt.DeriveReports(ctx, frames, b.Call)
	at := 0
	for _, r := range reports {
		want, err := event.EncodeBody(r.Body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(want, redacted) {
			continue
		}
		found := false
		for ; at < len(bodies) && !found; at++ {
			have, err := event.EncodeBody(bodies[at])
			if err != nil {
				return nil, err
			}
			found = bytes.Equal(have, want)
		}
		if !found {
			return &Difference{Seq: r.Seq, What: fmt.Sprintf("the frames of prompt %d do not say that the executor reported this", b.Call), Recorded: string(r.Line())}, nil
		}
	}
	switch {
	case failed != nil || b.Stop == "" || b.Stop == event.StopInterrupted && turn.Stop != b.Stop:
		return nil, nil // it was ended, which frames do not say
	case b.Stop != turn.Stop:
		return &Difference{Seq: e.Seq, What: "the frames of the prompt say that it stopped for another reason", Recorded: b.Stop, Computed: turn.Stop}, nil
	}
	for _, c := range []said{{b.Text, turn.Text}, {b.Thought, turn.Thought}} {
		if d := c.differs(e); d != nil {
			return d, nil
		}
	}
	return nil, nil
}

// said is what an executor said last, as it is recorded and as its frames say.
type said struct {
	recorded event.Text
	derived  string
}

func (s said) differs(e event.Event) *Difference {
	text := runtime.Clean(s.derived)
	same := s.recorded.Text == text
	if s.recorded.Ref != nil {
		same = *s.recorded.Ref == event.RefOf([]byte(text))
	}
	if same || bytes.Contains([]byte(s.recorded.Text), redacted) {
		return nil
	}
	return &Difference{Seq: e.Seq, What: "the frames of the prompt say that it ended in other words", Recorded: s.recorded.Text, Computed: text}
}
