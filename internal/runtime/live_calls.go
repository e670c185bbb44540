package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// start begins the call that e asks for, if it asks for one that is still open.
func (l *live) start(ctx context.Context, e event.Event) error {
	if _, open := l.state.Calls[e.Seq]; !open {
		return nil
	}
	if l.handing {
		l.unbegun = append(l.unbegun, e.Seq)
		return nil
	}
	s := l.services[e.Type]
	if s == nil {
		return fmt.Errorf("nothing here answers a %s: the workshop of %s is missing", e.Type, l.state.Rules)
	}
	return s.start(ctx, l, e)
}

// restart begins a call again that was open when the last owner went.
func (l *live) restart(ctx context.Context, seq uint64) error {
	for e, err := range l.rt.Ledger.Read(ctx, l.key, seq) {
		if err != nil {
			return err
		}
		return l.start(ctx, e)
	}
	return nil
}

// launch runs a call in its own goroutine. Its result goes into the mailbox,
// unless the call was given up.
func (l *live) launch(ctx context.Context, seq uint64, call func(context.Context) ([]event.Draft, error)) {
	l.running[seq] = true
	l.mail.start(func() {
		err := l.sure(ctx)
		var ds []event.Draft
		if err == nil {
			ds, err = call(ctx)
		}
		if err == nil {
			l.mail.put(ds...)
		} else if ctx.Err() == nil && !errors.Is(err, ledger.ErrLost) { // then the run ends by itself
			l.failed(seq, err)
		}
	})
}

// maxWait is how long a timer waits at most, in microseconds.
const maxWait = 30 * 24 * 3600 * 1_000_000

func (l *live) startTimer(ctx context.Context, seq uint64, at event.Time) {
	// A ledger may ask for more than a timer can wait: then it fires early, and the rules
	// see by the clock that it is not time yet.
	wait := time.Duration(min(max(at-l.rt.Clock(), 0), maxWait)) * time.Microsecond
	l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
			d := l.input("core", &event.TimerFired{Call: seq})
			d.Parent = seq
			return []event.Draft{d}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}
