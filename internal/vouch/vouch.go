// Package vouch has the quests of a home vouched for: it signs checkpoints of their ledgers, asks
// witnesses to cosign them and authorities to stamp them, and reads what was said of a quest.
//
// A checkpoint is made of events that are durable, after the fact, by a goroutine of its own: no turn
// of a quest waits for one. What somebody else says to it comes later, or never; a witness or an
// authority that does not answer costs a line in the log. What is lost that way the next checkpoint
// makes up for, since it covers all events before.
package vouch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/proof"

	"github.com/go-json-experiment/json"
)

// Encode is a checkpoint as a store keeps it; Decode reads it again.
func Encode(s proof.Stored) ([]byte, error) { return json.Marshal(s, json.Deterministic(true)) }

// Decode reads what Encode wrote.
func Decode(body []byte) (s proof.Stored, err error) {
	err = json.Unmarshal(body, &s, json.RejectUnknownMembers(true))
	return s, err
}

// Stored are the checkpoints of a quest, the smallest first, for a proof.Judge. One that cannot be
// read is there as it is, and the judge says so.
func Stored(ctx context.Context, store ledger.Checkpoints, quest string) ([]proof.Stored, error) {
	rows, err := store.Checkpoints(ctx, quest, 0)
	if err != nil {
		return nil, err
	}
	var out []proof.Stored
	for _, r := range rows {
		s, err := Decode(r.Body)
		if err != nil {
			s = proof.Stored{Note: string(r.Body)}
		}
		out = append(out, s)
	}
	return out, nil
}

// Hashes are those of a quest's events after the first so many, up to the last durable one. They
// are taken from the lines as they are: whether those are a chain, Read tells.
func Hashes(ctx context.Context, log ledger.Log, quest string, after uint64) iter.Seq2[event.Hash, error] {
	return func(yield func(event.Hash, error) bool) {
		for line, err := range log.Lines(ctx, quest, after+1) {
			var h event.Hash
			if err == nil {
				h, err = event.LineHash(line)
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// Judge says what is known of a quest by its checkpoints. It takes the hashes in the ledger as they
// are: that they are those of the events is for a verification to find out, which better feeds a
// proof.Judge of its own while it reads the events (see Stored).
func Judge(ctx context.Context, store ledger.Store, quest string, known proof.Known) (*proof.Verdict, error) {
	return judge(ctx, store, quest, known, nil)
}

func judge(ctx context.Context, store ledger.Store, quest string, known proof.Known, brought []proof.Stored) (*proof.Verdict, error) {
	stored, err := Stored(ctx, store, quest)
	if err != nil {
		return nil, err
	}
	j := proof.NewJudge(known, slices.Concat(stored, brought))
	for h, err := range Hashes(ctx, store, quest, 0) {
		if err != nil {
			return nil, err
		}
		j.Add(h)
	}
	return j.Verdict(), nil
}

// Proven is what checkpoints say of a quest whose events are known to be a chain.
type Proven struct {
	Words string `json:"words"`
	*proof.Verdict
	// Missing is what should hold and does not: a checkpoint, or a key's signature that was asked for.
	Missing []string `json:"missing,omitempty"`
}

// Prove judges the checkpoints of a quest, and others that somebody brings.
func Prove(ctx context.Context, store ledger.Store, quest string, known proof.Known, brought []proof.Stored) (*Proven, error) {
	v, err := judge(ctx, store, quest, known, brought)
	if err != nil {
		return nil, err
	}
	out := &Proven{Words: v.Words(), Verdict: v}
	if v.Broken != nil || len(v.Unreadable) > 0 {
		out.Missing = append(out.Missing, out.Words)
	}
	return out, nil
}

// Tree is the tree over the first so many events of a quest. It goes on from the largest checkpoint
// that is not above.
func Tree(ctx context.Context, store ledger.Store, quest string, size uint64) (*proof.Tree, error) {
	rows, err := recent(ctx, store, quest, func(c ledger.Checkpoint) bool { return c.Size <= size })
	if err != nil {
		return nil, err
	}
	t := &proof.Tree{}
	for _, r := range rows {
		if r.Size <= size && r.Size >= t.Size() && len(r.Edge) > 0 {
			if t, err = proof.TreeOf(r.Size, r.Edge); err != nil {
				return nil, err
			}
		}
	}
	_, err = grow(ctx, store, quest, t, size, 0)
	return t, err
}

// recent are the last checkpoints of a quest, if one of them is wanted, otherwise all.
func recent(ctx context.Context, store ledger.Checkpoints, quest string, wanted func(ledger.Checkpoint) bool) ([]ledger.Checkpoint, error) {
	const few = 16
	rows, err := store.Checkpoints(ctx, quest, few)
	if err != nil || len(rows) < few || slices.ContainsFunc(rows, wanted) {
		return rows, err
	}
	return store.Checkpoints(ctx, quest, 0)
}

// grow adds the hashes of events to a tree until it has a size, and returns them if they are no more
// than so many.
func grow(ctx context.Context, log ledger.Log, quest string, t *proof.Tree, size uint64, most uint64) (hashes []event.Hash, err error) {
	if t.Size() >= size {
		return nil, nil
	}
	keep := size-t.Size() <= most
	for h, err := range Hashes(ctx, log, quest, t.Size()) {
		if err != nil {
			return nil, err
		}
		if keep {
			hashes = append(hashes, h)
		}
		if t.Add(h); t.Size() == size {
			return hashes, nil
		}
	}
	return nil, fmt.Errorf("quest %s has %d events, not %d", quest, t.Size(), size)
}

// Consistency proves that the first size events of a quest begin with the first old ones.
func Consistency(ctx context.Context, store ledger.Store, quest string, old, size uint64) ([]event.Hash, error) {
	spans, err := proof.Consistency(old, size)
	if err != nil || len(spans) == 0 {
		return nil, err
	}
	t, err := Tree(ctx, store, quest, old)
	if err != nil {
		return nil, err
	}
	return proof.Prove(spans, t, Hashes(ctx, store, quest, old))
}

// MaxStored and MaxPoints bound what is taken over from a stranger: the bytes of one checkpoint, and
// how many there are.
const (
	MaxStored = 256 << 10
	MaxPoints = 20_000
)

// Brought are the checkpoints that came with these events from elsewhere, as a store keeps them. They
// are words about the log that the quest was there; this home's own log of it is another. One of more
// events than there are is kept as well, without an edge: it tells that the end was cut off.
func Brought(events []event.Event, stored []proof.Stored) ([]ledger.Checkpoint, error) {
	if len(stored) > MaxPoints {
		return nil, fmt.Errorf("there are %d checkpoints, more than %d", len(stored), MaxPoints)
	}
	t, last := &proof.Tree{}, uint64(0)
	rows := make([]ledger.Checkpoint, 0, len(stored))
	for _, s := range stored {
		n, err := proof.ParseNote(s.Note)
		if err != nil {
			return nil, err
		}
		c, err := proof.ParseCheckpoint(n.Text)
		if err != nil {
			return nil, err
		}
		if c.Size < last {
			return nil, errors.New("the checkpoints are not in the order of their sizes")
		}
		last = c.Size
		all := uint64(len(events))
		for t.Size() < min(c.Size, all) {
			t.Add(events[t.Size()].Hash)
		}
		row := ledger.Checkpoint{Origin: c.Origin, Size: c.Size}
		if c.Size <= all {
			row.Edge = t.Edge()
		}
		if row.Body, err = Encode(s); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
