package audit

import (
	"context"
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/knowledge/answers"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/search"
)

// recalled looks at an answer that is said to have been given before: whether it stands where it
// says, word for word, and answered this question. Elsewhere than in the home that took it, the
// quest it came from may not be there; then it is what it is, and a note says so.
func (w *witnesses) recalled(ctx context.Context, s *quest.State, call, e event.Event, b *event.ModelResult) (*Difference, error) {
	r, asks := b.Recalled, call.Body.(*event.ModelCall)
	wrong := func(format string, args ...any) (*Difference, error) {
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("it says that its answer was given before, by seq %d of quest %s: ", r.Seq, r.Quest) + fmt.Sprintf(format, args...)}, nil
	}
	asked := ""
	if r.Asked != nil {
		var err error
		if asked, err = agent.Read(*r.Asked, func(ref event.Ref) ([]byte, error) { return w.rt.Blob(ctx, ref) }); err != nil {
			return nil, err
		}
		why, err := w.near(ctx, s, e, asks, asked, r)
		if why != "" || err != nil {
			d, _ := wrong("%s", why)
			return d, err
		}
	}
	from, err := w.rt.EventAt(ctx, r.Quest, r.Seq)
	if err != nil && !runtime.Gone(err) {
		return nil, err
	}
	if err != nil || from.Hash != r.Hash {
		older, otherErr := w.foreign(ctx, e, r.Quest)
		if otherErr != nil {
			return nil, otherErr
		}
		if older {
			return wrong("that event is another one")
		}
		w.note(e, "the answer was given before, by seq %d of quest %s, which is not here: nobody can look whether it is the same", r.Seq, r.Quest)
		return nil, nil
	}
	first, ok := from.Body.(*event.ModelResult)
	if !ok || first.Recalled != nil || first.Error != nil {
		return wrong("that event is no answer of a model")
	}
	if call.Time-from.Time >= answers.Limit {
		return wrong("that was more than a day before")
	}
	again := *b
	again.Parts, again.Stop = first.Parts, first.Stop
	if d, err := CompareBodies(e, &again, fmt.Sprintf("the answer is not that of seq %d of quest %s, from where it says that it comes", r.Seq, r.Quest)); d != nil || err != nil {
		return d, err
	}
	question, err := w.rt.EventAt(ctx, r.Quest, first.Call)
	if err != nil {
		return nil, err
	}
	if then, ok := question.Body.(*event.ModelCall); !ok || question.Actor != call.Actor || !runtime.SameQuestion(asks, then, asked) {
		return wrong("the model was asked something else then, or with other settings")
	}
	return nil, nil
}

// foreign reports whether a quest of that name was there when the answer was taken: then the
// event should be in it. Of a quest that was made elsewhere, or whose origin was removed and its
// name given to another, nothing can be said.
func (w *witnesses) foreign(ctx context.Context, e event.Event, name string) (older bool, err error) {
	first, err := w.rt.EventAt(ctx, name, 1)
	if runtime.Gone(err) {
		return false, nil
	}
	if err != nil || first.Time >= e.Time {
		return false, err
	}
	im, err := w.rt.Imported(ctx, w.key)
	return im == nil, err
}

// near says why a question is not near the one that was asked before.
func (w *witnesses) near(ctx context.Context, s *quest.State, e event.Event, c *event.ModelCall, asked string, r *event.Recalled) (why string, err error) {
	q, ok := s.Agent(e.Actor).Transcript.Question(c)
	switch {
	case !ok:
		return "what was asked now is no single question", nil
	case !answers.Alike(q, asked):
		return "the questions have other words that count", nil
	case r.Cosine < answers.Near:
		return "the questions are too far from each other", nil
	}
	by, ok := w.rt.Embedder.(interface{ Repeats() bool })
	if !ok || !by.Repeats() || w.rt.Embedder.Name() != r.Embedder {
		w.note(e, "how near the question is to the one that was answered before is not measured again: the vectors of %s are not to be had here, or differ from machine to machine", r.Embedder)
		return "", nil
	}
	v, err := search.Directions(ctx, w.rt.Embedder, answers.Counting(q), answers.Counting(asked))
	if err != nil {
		return "", err
	}
	if search.Cosine(v[0], v[1]) != r.Cosine {
		return "the questions are not as near each other as it says", nil
	}
	return "", nil
}
