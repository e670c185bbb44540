package runtime

import (
	"context"
	"sync"

	"lyceum/internal/event"
)

// Voucher signs checkpoints of quests. Nothing that goes wrong with it is an error of a quest.
type Voucher interface {
	// Begun is told that a run begins, by a goroutine of its own: it may take its time.
	Begun(ctx context.Context)
	// Every is after how many events of a run Grown is told.
	Every() uint64
	// Grown is told that a quest has grown by so many durable events, and the hashes of those after
	// the event after, if they are at hand: then nobody need read them. It must not wait.
	Grown(quest string, after uint64, hashes []event.Hash)
	// Rested is told that a run has ended; what it led to is durable. It returns when that is
	// signed, or cannot be.
	Rested(ctx context.Context, quest string)
}

// begun has the voucher get ready while a quest does.
func (r *Runtime) begun(ctx context.Context) (wait func()) {
	if r.Vouch == nil {
		return func() {}
	}
	var ready sync.WaitGroup
	ready.Go(func() { r.Vouch.Begun(ctx) })
	return ready.Wait
}

// rested has a quest that nobody runs any more signed.
func (r *Runtime) rested(ctx context.Context, name string) {
	if r.Vouch != nil {
		r.Vouch.Rested(context.WithoutCancel(ctx), name)
	}
}

// mostHashes is how many hashes of events a run holds for its next checkpoint. Those of more are read.
const mostHashes = 10_000

// vouch asks for a checkpoint, if the quest has grown by enough with these events.
func (l *live) vouch(done []event.Event) {
	v := l.rt.Vouch
	if v == nil {
		return
	}
	if uint64(len(l.hashes)) == l.state.Seq-uint64(len(done))-l.vouched && len(l.hashes)+len(done) <= mostHashes {
		for _, e := range done {
			l.hashes = append(l.hashes, e.Hash)
		}
	}
	if l.state.Seq-l.vouched < v.Every() {
		return
	}
	hashes := l.hashes
	if uint64(len(hashes)) != l.state.Seq-l.vouched {
		hashes = nil
	}
	v.Grown(l.key, l.vouched, hashes)
	l.vouched, l.hashes = l.state.Seq, nil
}
