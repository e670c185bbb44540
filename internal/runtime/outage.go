package runtime

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// DefaultPatience is how long a quest waits for a provider that is away.
const DefaultPatience = 6 * time.Hour

// The pauses between tries when a provider is away: each twice as long as the one before,
// and never shorter than what the provider asks for. What a driver tries by itself comes
// in between.
const (
	firstAwayPause = time.Second
	lastAwayPause  = time.Minute
)

// waiter asks a model until it answers, or the quest has come to rest. As long as its
// provider is away the call stays open, and the ledger knows why.
type waiter struct {
	l        *live
	provider string // empty if the model is nobody's
	models   []string

	mu    sync.Mutex
	away  event.Time // how much of the call's time nobody was there, in microseconds
	until event.Time // up to when that is known
}

// newWaiter is called by the owner, who knows which models the quest has.
func (l *live) newWaiter(m model.Model, name string) *waiter {
	w := &waiter{l: l}
	p, ok := m.(model.Provided)
	if !ok {
		return w
	}
	w.provider = p.Provider()
	for _, a := range l.state.Agents {
		if a.Mind() != agent.ByModel || slices.Contains(w.models, a.Model) {
			continue
		}
		if same, ok := l.models[a.Model].(model.Provided); a.Model == name || ok && same.Provider() == w.provider {
			w.models = append(w.models, a.Model)
		}
	}
	slices.Sort(w.models)
	return w
}

// ask has the model answer. An error is Away if the quest came to rest before anybody was
// there to ask: then the turn was not taken.
func (w *waiter) ask(ctx context.Context, m model.Model, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if w.provider == "" {
		return generate(ctx, m, r, emit)
	}
	ctx = model.WithTrouble(ctx, w.lost)
	var before *model.Answer // what earlier tries cost
	for pause := firstAwayPause; ; pause = min(2*pause, lastAwayPause) {
		answer, err := generate(ctx, m, r, emit)
		answer = joined(before, answer)
		before = answer
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Retryable() || ctx.Err() != nil {
			return answer, err
		}
		if model.Wanted(ctx).Err() != nil {
			return answer, &model.Error{Kind: model.Away, Text: e.Text, Usage: e.Usage}
		}
		if e.Kind != model.Away {
			return answer, err
		}
		wait := max(pause, e.After)
		w.lost(e.Text, wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-model.Wanted(ctx).Done():
			timer.Stop()
			return answer, &model.Error{Kind: model.Away, Text: e.Text, Usage: e.Usage}
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// joined is an answer that costs what the tries before it did, too. Either may be nil.
func joined(before, answer *model.Answer) *model.Answer {
	if before == nil || answer == nil {
		return cmp.Or(answer, before)
	}
	out := *answer
	out.Wasted.Add(before.Wasted)
	out.Cost += before.Cost
	out.Unpriced, out.Estimated = out.Unpriced || before.Unpriced, out.Estimated || before.Estimated
	out.Price = cmp.Or(out.Price, before.Price)
	return &out
}

// lost tells the ledger that the provider is away. Where that is known already, the rules
// leave it out.
func (w *waiter) lost(why string, pause time.Duration) {
	now := w.l.rt.Clock()
	end := now + event.Time(pause.Microseconds())
	w.mu.Lock()
	if w.until == 0 {
		w.until = now
	}
	if end > w.until {
		w.away, w.until = w.away+end-w.until, end
	}
	w.mu.Unlock()
	patience := w.l.rt.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	w.l.mail.put(w.l.input("core", &event.ProviderLost{
		Models: w.models, Patience: patience.Microseconds(), Provider: AtMost(w.provider, 64), Reason: AtMost(w.l.rt.Redact(why), 500),
	}))
}

// worked is how much of a time is the call's own, in microseconds.
func (w *waiter) worked(all event.Time) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(max(all-w.away, 0))
}

// back tells the ledger, before the result, that the provider is there. The rules leave
// that out where nobody missed it.
func (w *waiter) back(result event.Draft) []event.Draft {
	if w.provider == "" || result.Body.(*event.ModelResult).Untaken() {
		return []event.Draft{result}
	}
	return []event.Draft{{Time: result.Time, Actor: "core", Body: &event.ProviderBack{Provider: AtMost(w.provider, 64)}}, result}
}
