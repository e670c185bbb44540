package runtime

import (
	"context"
	"fmt"
	"time"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// For each quest a server runs in the background there is a row in the store (ledger.Wants). The
// next server reads the rows to know which quests to resume. Of a quest that waits for a person
// a row also says how the quest stands, so that the next server need not read a thousand ledgers
// of which nobody wants anything. A process that runs a quest without a server takes its row away.

// mark notes that a server runs a quest, or forgets it. The caller has claimed the quest. What was
// noted of it before is left as it is: that it rests holds only as long as its head stands.
func (r *Runtime) mark(ctx context.Context, name string, served bool) error {
	if !served {
		return r.unmark(ctx, name)
	}
	w, err := r.Ledger.Wanted(ctx, name)
	if err != nil || w != nil {
		return err
	}
	return r.Ledger.Want(ctx, ledger.Wanted{Quest: name})
}

func (r *Runtime) unmark(ctx context.Context, name string) error { return r.Ledger.Unwant(ctx, name) }

// Unmark has no server go on with a quest any more, unless somebody runs the quest now. If that fails
// it is looked at again.
func (r *Runtime) Unmark(ctx context.Context, name string) {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return
	}
	defer claim.Release()
	_ = r.unmark(ctx, name)
}

// IsMarked reports whether a server runs a quest, or goes on with it when it is back. Where the store
// cannot say, it is taken to.
func (r *Runtime) IsMarked(ctx context.Context, name string) bool {
	w, err := r.Ledger.Wanted(ctx, name)
	return err != nil || w != nil
}

// RestOf is how a quest stands that waits for a person.
func RestOf(s *quest.State) *ledger.Rest {
	return &ledger.Rest{Seq: s.Seq, Hash: s.Hash, Inbox: s.Inbox, Due: s.Due()}
}

// noteTime is how long a run that has ended waits for the store to note it.
const noteTime = 5 * time.Second

// served notes what becomes of a quest whose run, for a server, has ended: whether it is kept, and how
// it stands if it waits. It does so though ctx has ended: a server that goes away is no reason to
// forget. If it fails, the quest is looked at again, and left alone if it rests. The caller has
// claimed the quest.
func (r *Runtime) served(ctx context.Context, name string, s *quest.State, failed error, keep bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	switch {
	case !keep:
		_ = r.unmark(ctx, name)
	case failed == nil && s.Waiting():
		_ = r.Ledger.Want(ctx, ledger.Wanted{Quest: name, Rest: RestOf(s)})
	}
}

// Marked are the quests that a server ran when it ended. Rest is nil of those whose ledger must be
// read to know how they stand.
func (r *Runtime) Marked(ctx context.Context) ([]ledger.Wanted, error) {
	list, err := r.Ledger.AllWanted(ctx)
	if err != nil {
		return nil, fmt.Errorf("look which quests the last server ran: %w", err)
	}
	for i := range list {
		r.check(ctx, &list[i])
	}
	return list, nil
}

// MarkOf is what is noted of a quest that is to run, nil of any other.
func (r *Runtime) MarkOf(ctx context.Context, name string) *ledger.Wanted {
	w, err := r.Ledger.Wanted(ctx, name)
	if err != nil || w == nil {
		return nil
	}
	r.check(ctx, w)
	return w
}

// check forgets how a quest stood that has moved on.
func (r *Runtime) check(ctx context.Context, w *ledger.Wanted) {
	if w.Rest == nil {
		return
	}
	if head, err := r.Ledger.Head(ctx, w.Quest); err != nil || !w.Rest.At(head) {
		w.Rest = nil
	}
}
