package runtime

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/policy"

	"github.com/go-json-experiment/json"
)

// Copy brings a quest as it is now to another store, while it goes on here: its events, the small blobs that they name and, if the
// other store has blobs of its own, the large ones; what was said to it and it has not taken; what was signed of it. Whether it is to run is not
// brought. Who is killed goes on where the other store ends. Of a damaged ledger all before the damage is brought, and the error is a
// *ledger.DamageError.
func (r *Runtime) Copy(ctx context.Context, to *Runtime, name string) (events uint64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy quest %s: %w", name, err)
		}
	}()
	claim, err := to.Ledger.Claim(ctx, name)
	if err != nil {
		return 0, err
	}
	defer claim.Release()
	last, inbox, err := r.lastOf(ctx, name)
	_, damaged := errors.AsType[*ledger.DamageError](err)
	if last == 0 || err != nil && !damaged {
		return 0, err
	}
	c := &carrier{from: r, to: to, name: name, last: last, inbox: inbox, seen: map[event.Hash]bool{}}
	events, failed := c.events(ctx, ledger.Head{Quest: name, Seq: last})
	if failed != nil {
		return events, failed
	}
	return events, errors.Join(err, c.commands(ctx), c.checkpoints(ctx))
}

// lastOf says which event of a quest is the last, and which command the last that it has taken by then. It can be asked of quests
// whose rules this program does not have.
func (r *Runtime) lastOf(ctx context.Context, name string) (last uint64, inbox int64, err error) {
	if s, err := r.Load(ctx, name); err == nil {
		return s.Seq, s.Inbox, nil
	}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return last, inbox, err
		}
		if _, forked := e.Body.(*event.QuestForked); forked {
			inbox = 0 // those before were the origin's
		}
		last, inbox = e.Seq, max(inbox, numberOf(e.Body))
	}
	return last, inbox, nil
}

// A ledger that was restored from a backup is a copy: the one that the backup was made of may run still, and whoever ran both would ask
// models twice and have people hear two voices of one quest. So nothing runs in a copy until somebody says that it takes the
// other's place.

// ErrCopy says that a ledger is a copy.
var ErrCopy = errors.New("this ledger is a copy, restored from a backup, and runs nothing")

// Restored says where a copy comes from, and whether all of it is there.
type Restored struct {
	From  string `json:"from"`
	Whole bool   `json:"whole"`
}

// A store has one note of this kind and key, if it is a copy.
const (
	kindRestored = "restored"
	keyRestored  = "ledger"
)

// CopyOf tells of what the ledger is a copy, nil if it is none.
func (r *Runtime) CopyOf(ctx context.Context) (*Restored, error) {
	n, err := r.Ledger.Note(ctx, kindRestored, keyRestored)
	if err != nil || len(n.Body) == 0 {
		return nil, err
	}
	c := new(Restored)
	return c, json.Unmarshal(n.Body, c)
}

// original refuses what may not be done in a copy.
func (r *Runtime) original(ctx context.Context) error {
	c, err := r.CopyOf(ctx)
	if err == nil && c != nil {
		err = fmt.Errorf("%w. When the ledger that it was made of does not run any more, and will not again, say so: lyceum take-over", ErrCopy)
	}
	return err
}

// BeginRestore marks the ledger as a copy that is being made. It must have no quests, or have been begun with the same backup.
func (r *Runtime) BeginRestore(ctx context.Context, from string) error {
	c, err := r.CopyOf(ctx)
	switch {
	case err != nil:
		return err
	case c != nil && c.Whole:
		return fmt.Errorf("all of %s is in this ledger already: lyceum verify proves each quest, lyceum take-over has it run", c.From)
	case c != nil && c.From != from:
		return fmt.Errorf("somebody began to restore this ledger from %s: go on with that one, or begin with an empty ledger", c.From)
	case c != nil:
		return nil
	}
	heads, err := r.Ledger.Quests(ctx)
	if err != nil {
		return err
	}
	if len(heads) > 0 {
		return fmt.Errorf("this ledger has %s, and a backup is restored into an empty one: name another with --ledger, or another home with --home", policy.Several(int64(len(heads)), "quest", "quests"))
	}
	return r.markRestored(ctx, Restored{From: from})
}

// EndRestore notes that all of a copy is there.
func (r *Runtime) EndRestore(ctx context.Context, from string) error {
	return r.markRestored(ctx, Restored{From: from, Whole: true})
}

func (r *Runtime) markRestored(ctx context.Context, c Restored) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return r.swapNote(ctx, kindRestored, keyRestored, body)
}

// TakeOver has a copy be the ledger that goes on.
func (r *Runtime) TakeOver(ctx context.Context) (*Restored, error) {
	c, err := r.CopyOf(ctx)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, errors.New("this ledger is no copy that waits to be taken over: its quests run as they are")
	case !c.Whole:
		return nil, fmt.Errorf("not all of %s is in this ledger yet: give lyceum restore %s again, which goes on", c.From, c.From)
	}
	return c, r.swapNote(ctx, kindRestored, keyRestored, nil)
}
