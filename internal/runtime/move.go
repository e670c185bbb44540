package runtime

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// A quest moves from one store to another, which may be of another engine: its events as they are, the blobs
// that they name, what was said to it and it has not taken, what was signed of it, and whether it is to run.
// Both are claimed meanwhile. Who is killed goes on where the other store ends. Once all of it is there, the
// quest is marked in the store that it left, and does not run there any more.

// ErrMoved says that a quest goes on in another store.
var ErrMoved = errors.New("the quest has moved to another ledger")

// kindMoved is the kind of the notes that tell where quests have moved.
const kindMoved = "moved"

// MovedTo is where a quest has moved from this store, empty if it has not.
func (r *Runtime) MovedTo(ctx context.Context, name string) (string, error) {
	n, err := r.Ledger.Note(ctx, kindMoved, name)
	return string(n.Body), err
}

// stays refuses a quest that has moved, or that is a copy as yet.
func (r *Runtime) stays(ctx context.Context, name string) error {
	where, err := r.MovedTo(ctx, name)
	if err == nil && where != "" {
		return fmt.Errorf("%w: %s. Go on there, or move it back from there", ErrMoved, where)
	}
	if err != nil {
		return err
	}
	return r.original(ctx)
}

// Move has a quest go on in another store, of which people are told by the name where. proved is asked once it
// is there, and before it counts. It reports how many events it brought.
func (r *Runtime) Move(ctx context.Context, to *Runtime, name, where string, proved func() error) (events uint64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("move quest %s: %w", name, err)
		}
	}()
	for _, side := range []*Runtime{r, to} {
		claim, err := side.Ledger.Claim(ctx, name)
		if err != nil {
			return 0, err
		}
		defer claim.Release()
	}
	if old, err := r.MovedTo(ctx, name); err != nil || old != "" {
		return 0, err
	}
	head, err := r.Ledger.Head(ctx, name)
	if err != nil {
		return 0, err
	}
	s, err := r.Load(ctx, name)
	if err != nil {
		return 0, err
	}
	c := &carrier{from: r, to: to, name: name, last: head.Seq, inbox: s.Inbox, seen: map[event.Hash]bool{}}
	if events, err = c.events(ctx, head); err != nil {
		return events, err
	}
	if err := errors.Join(c.commands(ctx), c.checkpoints(ctx)); err != nil {
		return events, err
	}
	if err := proved(); err != nil {
		return events, err
	}
	wanted, err := r.Ledger.Wanted(ctx, name)
	if err == nil && wanted != nil {
		err = to.Ledger.Want(ctx, *wanted)
	}
	if err == nil {
		err = to.swapNote(ctx, kindMoved, name, nil) // it may have been there before
	}
	if err == nil {
		err = r.swapNote(ctx, kindMoved, name, []byte(where))
	}
	if err == nil {
		err = r.Ledger.Unwant(ctx, name)
	}
	return events, err
}

// swapNote puts a note in the place of whatever was there.
func (r *Runtime) swapNote(ctx context.Context, kind, key string, body []byte) error {
	for {
		old, err := r.Ledger.Note(ctx, kind, key)
		if err != nil || len(old.Body) == 0 && len(body) == 0 {
			return err
		}
		done, err := r.Ledger.SwapNote(ctx, ledger.Note{Kind: kind, Key: key, Body: body}, old.Body)
		if done || err != nil {
			return err
		}
	}
}

// carrier brings one quest from one store to another.
type carrier struct {
	from, to *Runtime
	name     string
	last     uint64 // the last event that is brought
	inbox    int64
	seen     map[event.Hash]bool // blobs and trees that are there
	batch    ledger.Batch
	bytes    int
}

// maxCarried is how many bytes go at once.
const maxCarried = 2 << 20

// events brings all after the last that is there, which must be those of this quest.
func (c *carrier) events(ctx context.Context, head ledger.Head) (brought uint64, err error) {
	at, err := c.to.Ledger.Head(ctx, c.name)
	if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
		return 0, err
	}
	next := max(at.Seq, 1)
	for e, err := range c.from.Ledger.Read(ctx, c.name, next) {
		if err != nil {
			return brought, err
		}
		if e.Seq > head.Seq {
			break // what came since is none of it
		}
		if e.Seq == at.Seq {
			if e.Hash != at.Hash {
				return 0, fmt.Errorf("%w: another quest of that name is there; remove it, or import this one under another name", ErrExists)
			}
			continue
		}
		if err := c.take(ctx, e); err != nil {
			return brought, err
		}
		if brought++; c.bytes >= maxCarried {
			if err := c.flush(ctx); err != nil {
				return brought, err
			}
		}
	}
	if at.Seq > head.Seq {
		return 0, fmt.Errorf("%w: the quest there has %d events, and this one %d", ErrExists, at.Seq, head.Seq)
	}
	return brought, c.flush(ctx)
}

// take puts an event to those that go next, and what it names to where it is kept.
func (c *carrier) take(ctx context.Context, e event.Event) error {
	blobs, trees := event.Refs(e.Body)
	for _, ref := range blobs {
		if err := c.carry(ctx, ref); err != nil {
			return err
		}
	}
	for _, ref := range trees {
		if err := c.tree(ctx, ref, 1); err != nil {
			return err
		}
	}
	if b, ok := e.Body.(*event.BlobRedacted); ok {
		if err := c.to.entomb(ctx, b.Blobs); err != nil {
			return err
		}
	}
	c.batch.Events = append(c.batch.Events, e)
	c.bytes += len(e.Line())
	return nil
}

func (c *carrier) flush(ctx context.Context) error {
	if len(c.batch.Events) == 0 {
		return nil
	}
	c.batch.Quest, c.batch.Inbox = c.name, c.inbox
	err := c.to.Ledger.Append(ctx, c.batch)
	c.batch, c.bytes = ledger.Batch{}, 0
	return err
}

// carry brings a blob to where such blobs are: a small one goes with the events. One that is not there any
// more, for it was redacted or has expired, is not there either.
func (c *carrier) carry(ctx context.Context, ref event.Ref) error {
	if c.seen[ref.Hash] {
		return nil
	}
	c.seen[ref.Hash] = true
	data, err := c.from.Ledger.Blob(ctx, ref.Hash)
	if err == nil {
		c.batch.Blobs = append(c.batch.Blobs, data)
		c.bytes += len(data)
		return nil
	}
	if !errors.Is(err, ledger.ErrNoBlob) {
		return err
	}
	if c.to.Blobs == c.from.Blobs {
		return nil
	}
	// Also where it is there: nobody may name it, and a sweep may be about to take it.
	r, err := c.from.Blobs.Open(ctx, ref.Hash)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = c.to.Blobs.Create(ctx, r)
	return errors.Join(err, r.Close())
}

// tree brings a folder, with all that is below it.
func (c *carrier) tree(ctx context.Context, ref event.TreeRef, depth int) error {
	if c.seen[ref.Hash] || depth > blob.MaxDepth {
		return nil
	}
	if c.to.Blobs == c.from.Blobs {
		return nil
	}
	t, err := blob.ReadTree(ctx, c.from.Blobs, ref)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range t {
		switch entry.Kind {
		case blob.Dir:
			err = c.tree(ctx, event.TreeRef(entry.Ref()), depth+1)
		case blob.File:
			err = c.carry(ctx, entry.Ref())
		}
		if err != nil {
			return err
		}
	}
	return c.carry(ctx, event.Ref(ref)) // last: what is below is there
}

// commands brings what the quest has not taken yet, in order; what was brought before is not said twice.
func (c *carrier) commands(ctx context.Context) error {
	waiting, err := c.from.Ledger.Commands(ctx, c.name, c.inbox)
	if err != nil {
		return err
	}
	there, err := c.to.Ledger.Commands(ctx, c.name, c.inbox)
	if err != nil {
		return err
	}
	for _, w := range waiting[min(len(there), len(waiting)):] {
		if _, err := c.to.Ledger.Post(ctx, c.name, ledger.Command{Key: w.Key, Body: w.Body}); err != nil {
			return err
		}
	}
	return nil
}

func (c *carrier) checkpoints(ctx context.Context) error {
	all, err := c.from.Ledger.Checkpoints(ctx, c.name, 0)
	if err != nil {
		return err
	}
	for _, row := range all {
		if row.Own && row.Size > c.last {
			continue // it is of events that came since
		}
		if err := c.to.Ledger.PutCheckpoint(ctx, c.name, row); err != nil {
			return err
		}
	}
	return nil
}
