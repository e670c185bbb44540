package blob

import (
	"context"
	"fmt"
	"sync"

	"lyceum/internal/event"
)

// putters is how many blobs of a snapshot are put at the same time: a store waits for the disk
// with each, and the disk takes many as fast as one.
const putters = 8

// putting puts the blobs of a snapshot while it goes on. One goroutine uses it. The first blob
// that cannot be put ends the context that begin returned, and is what end returns.
type putting struct {
	store Store
	ctx   context.Context
	stop  context.CancelCauseFunc
	slots chan struct{}
	work  sync.WaitGroup
	// have are the blobs that were put, or are being put: what stands in a folder twice is
	// stored and charged for once.
	have map[event.Hash]bool
}

func (p *putting) begin(ctx context.Context, store Store) context.Context {
	p.store, p.slots, p.have = store, make(chan struct{}, putters), map[event.Hash]bool{}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	return p.ctx
}

// put begins to store data, which nobody may change any more.
func (p *putting) put(ctx context.Context, ref event.Ref, data []byte, what string) error {
	if p.have[ref.Hash] {
		return ctx.Err()
	}
	p.have[ref.Hash] = true
	p.slots <- struct{}{}
	if err := ctx.Err(); err != nil {
		<-p.slots
		return err
	}
	p.work.Go(func() {
		defer func() { <-p.slots }()
		if _, err := p.store.Put(ctx, data); err != nil {
			p.stop(&storing{fmt.Errorf("%s: %w", what, err)})
		}
	})
	return nil
}

// now stores data after all that was put before, and returns when that is done.
func (p *putting) now(ctx context.Context, ref event.Ref, data []byte, what string) error {
	p.work.Wait()
	if err := p.put(ctx, ref, data, what); err != nil {
		return err
	}
	p.work.Wait()
	return ctx.Err()
}

// end waits for all that was put, and says what went wrong.
func (p *putting) end() error {
	p.work.Wait()
	defer p.stop(nil)
	if failed, ok := context.Cause(p.ctx).(*storing); ok {
		return failed
	}
	return p.ctx.Err()
}
