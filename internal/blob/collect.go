package blob

import (
	"context"

	"lyceum/internal/event"
)

// Collector is a store that can forget.
//
// Whoever names a blob in an event has put it, or seen by Held that it is there, shortly before.
// A Collector spares such a blob although no event names it yet, in one of two ways: it has the
// store for itself, and nobody is about to name anything; or it takes only what nobody has put
// for a time, its grace, so that it can work beside everybody. Then the event must follow within
// a quarter of the grace.
type Collector interface {
	// Collect removes blobs that keep does not yield, and returns how many and how large they
	// were. keep reads what events name after Collect has begun. Collect removes nothing when
	// keep returns an error. A store that must be alone returns ErrBusy if it is not, one that
	// need not be if somebody else collects. When Collect fails midway the numbers tell what is
	// gone by then.
	Collect(ctx context.Context, keep func(yield func(event.Hash) error) error) (removed int, bytes int64, err error)
}

// Holder is a store that others may collect while it is open.
type Holder interface {
	// Held is Has for whoever is about to name a blob without putting it: it reports whether the
	// blob is there and stays long enough for that. If not, it is to be put again.
	Held(ctx context.Context, h event.Hash) (bool, error)
}

// Held asks a store, by Held if it is a Holder and by Has otherwise.
func Held(ctx context.Context, s Store, h event.Hash) (bool, error) {
	if s, ok := s.(Holder); ok {
		return s.Held(ctx, h)
	}
	return s.Has(ctx, h)
}
