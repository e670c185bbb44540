package driver

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// pageEvents is how many events a reader takes before it gives its connection back: a long read would
// keep the store from tidying up behind it. It begins with firstEvents, for many want only one or two.
const (
	pageEvents  = 512
	firstEvents = 8
)

// Page is what one short read of a quest shows. All of it is of the same moment.
type Page struct {
	// Quest is the number by which the store knows the quest. Another quest of its name has another.
	Quest int64
	Head  ledger.Head
	// Lines are those of the events from the seq that was asked for, without a gap.
	Lines [][]byte
}

// Pages reads pages of one quest, for one reader.
type Pages interface {
	// Page returns at most so many lines, fewer if they are large; none from beyond the head. It returns
	// ledger.ErrNoQuest where there is no such quest.
	Page(ctx context.Context, from uint64, most int) (Page, error)
}

// Open begins to read a quest.
type Open func(quest string) Pages

// Read is ledger.Log's.
func Read(ctx context.Context, open Open, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		c := newCursor(open(quest), quest, seq)
		for {
			more, err := c.read(ctx, yield)
			if err != nil {
				yield(event.Event{}, fmt.Errorf("read quest %s: %w", quest, err))
			}
			if !more || err != nil {
				return
			}
		}
	}
}

// Lines is ledger.Log's.
func Lines(ctx context.Context, open Open, quest string, seq uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := newCursor(open(quest), quest, seq)
		c.primed = true // no hash is checked, so the event before is not needed
		for {
			lines, head, err := c.lines(ctx)
			if err != nil {
				yield(nil, fmt.Errorf("read quest %s: %w", quest, err))
				return
			}
			for _, line := range lines {
				c.next++
				if !yield(line, nil) {
					return
				}
			}
			if c.next > head.Seq {
				return
			}
		}
	}
}

// Follow is ledger.Log's. appended wakes those who wait for new events.
func Follow(ctx context.Context, open Open, appended *Board, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		changed, stop := appended.Subscribe(quest)
		defer stop()
		c := newCursor(open(quest), quest, seq)
		for {
			more, err := c.read(ctx, yield)
			switch {
			case err != nil:
				yield(event.Event{}, fmt.Errorf("follow quest %s: %w", quest, err))
				return
			case c.stopped:
				return
			case more:
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(event.Event{}, fmt.Errorf("follow quest %s: %w", quest, ctx.Err()))
				return
			}
		}
	}
}

// A cursor stands between two events of a quest.
type cursor struct {
	pages   Pages
	name    string
	quest   int64 // its number, 0 until known
	next    uint64
	prev    event.Hash
	size    int  // of the next page, in events
	primed  bool // prev is known
	stopped bool // the consumer has had enough
}

func newCursor(p Pages, quest string, seq uint64) *cursor {
	return &cursor{pages: p, name: quest, next: max(seq, 1), size: firstEvents}
}

// read yields one page and reports whether there may be another at once.
func (c *cursor) read(ctx context.Context, yield func(event.Event, error) bool) (more bool, err error) {
	lines, head, err := c.lines(ctx)
	if err != nil {
		return false, err
	}
	for _, line := range lines {
		e, err := event.Parse(line)
		if err == nil && c.primed {
			err = e.Follows(c.next-1, c.prev)
		}
		if err != nil {
			return false, c.damage(c.next, err)
		}
		c.next, c.prev = e.Seq+1, e.Hash
		if !c.primed { // the event before the first one asked for
			c.primed = true
			continue
		}
		if !yield(e, nil) {
			c.stopped = true
			return false, nil
		}
	}
	if c.primed && c.next == head.Seq+1 && head.Seq > 0 && c.prev != head.Hash {
		return false, c.damage(head.Seq, errors.New("the last event is not the one that was recorded as last"))
	}
	return c.next <= head.Seq, nil
}

// lines fetches the next lines.
func (c *cursor) lines(ctx context.Context) ([][]byte, ledger.Head, error) {
	if c.next == 1 {
		c.primed = true
	}
	from := c.next
	if !c.primed {
		from--
	}
	p, err := c.pages.Page(ctx, from, c.size)
	if errors.Is(err, ledger.ErrCorrupt) {
		err = c.damage(from, err)
	}
	if err != nil {
		return nil, ledger.Head{}, err
	}
	if c.quest != 0 && c.quest != p.Quest { // removed, and another made under its name
		return nil, ledger.Head{}, &ledger.NoQuestError{Quest: c.name}
	}
	c.quest, c.size = p.Quest, min(8*c.size, pageEvents)
	switch {
	case !c.primed && from > p.Head.Seq: // asked for what is not there yet
		return nil, ledger.Head{}, nil
	case from <= p.Head.Seq && len(p.Lines) == 0:
		return nil, p.Head, c.damage(from, errors.New("the event is missing"))
	}
	c.next = from
	return p.Lines, p.Head, nil
}

func (c *cursor) damage(seq uint64, err error) error {
	return &ledger.DamageError{Quest: c.name, Seq: seq, Err: err}
}
