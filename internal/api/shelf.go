package api

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// shelf holds the projections of the quests that somebody looks at. They are caches:
// one that is thrown away is made again from the ledger, with the same result. Those of
// long quests are saved, so that a server that has just started need not read them from
// their first event on.
type shelf struct {
	rt *runtime.Runtime

	mu    sync.Mutex
	books map[string]*book
	uses  uint64
	// worth is from how many new events on a quest is saved, and closing when the server
	// ends.
	worth, closing uint64
	// saves are under way; closed is set once no more may begin.
	saves  sync.WaitGroup
	closed bool
}

// maxBooks is how many quests' projections are kept.
const maxBooks = 64

func newShelf(rt *runtime.Runtime) *shelf {
	return &shelf{rt: rt, books: map[string]*book{}, worth: worthSaving, closing: worthClosing}
}

// book is what is known of one quest. Whoever reads it holds its lock: folding the
// next events changes it.
type book struct {
	// turn is a lock that a caller who has gone no longer waits for.
	turn chan struct{}
	used uint64

	name  string
	state *quest.State
	view.Views
	// saved is up to which event the projections are in the cache; saving that they are
	// being written to it.
	saved  uint64
	saving bool
	// fault is why the quest cannot be read, as of the head broken.
	fault  error
	broken ledger.Head
}

func newBook(name string) *book {
	return &book{name: name, turn: make(chan struct{}, 1)}
}

// open returns a quest's book, up to date, for as long as the caller needs it: until it
// first calls done.
func (s *shelf) open(ctx context.Context, name string) (b *book, done func(), err error) {
	if !event.ValidName(name) {
		return nil, nil, missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	if _, err := s.rt.Ledger.Head(ctx, name); err != nil { // no book for what is not there
		return nil, nil, fmt.Errorf("quest %s: %w", name, err)
	}
	b = s.take(name)
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	done = sync.OnceFunc(func() { <-b.turn })
	// Looked up only now: the book may have been read on while this waited for its turn.
	head, err := s.rt.Ledger.Head(ctx, name)
	if err == nil {
		err = b.catchUp(ctx, s.rt, head)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	if s.due(b) {
		s.saveLater(b)
	}
	return b, done, nil
}

// take finds a book, or puts a new one on the shelf, in the place of the one that was
// not used for longest if the shelf is full.
func (s *shelf) take(name string) *book {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.books[name]
	if b == nil {
		if len(s.books) >= maxBooks {
			oldest := ""
			for n, o := range s.books {
				if oldest == "" || o.used < s.books[oldest].used {
					oldest = n
				}
			}
			delete(s.books, oldest)
		}
		b = newBook(name)
		s.books[name] = b
	}
	s.uses++
	b.used = s.uses
	return b
}

// put makes the book of a quest that was just made of its state, which is the book's from then on, and its first
// event. It need not be read to be shown.
func (s *shelf) put(st *quest.State, first event.Event) {
	b := s.take(st.Name)
	b.turn <- struct{}{}
	defer func() { <-b.turn }()
	if b.state == nil {
		b.state, b.fault = st, nil
		b.Views.Take(first, st)
	}
}

// has reports whether there is a book of a quest.
func (s *shelf) has(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.books[name] != nil
}

// warm reads quests before anybody asks for them, as many as the shelf holds. One that
// cannot be read is told to whoever asks.
func (s *shelf) warm(ctx context.Context) {
	heads, err := s.rt.Ledger.Quests(ctx)
	if err != nil {
		return
	}
	for _, h := range heads[:min(len(heads), maxBooks)] {
		if _, done, err := s.open(ctx, h.Quest); err == nil {
			done()
		}
	}
}

// forget drops the book of a quest that was removed.
func (s *shelf) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.books, name)
}

// errOther says that the ledger is not the one that the book was made of: the quest was
// removed, and another has its name.
var errOther = errors.New("another quest has the name now")

// catchUp folds what is new.
func (b *book) catchUp(ctx context.Context, rt *runtime.Runtime, head ledger.Head) error {
	if b.fault != nil && b.broken == head {
		return b.fault
	}
	err := b.read(ctx, rt, head)
	if errors.Is(err, errOther) || b.fault != nil {
		*b = book{name: b.name, turn: b.turn, used: b.used, saving: b.saving}
		err = b.read(ctx, rt, head)
	}
	if err != nil && ctx.Err() == nil {
		b.fault, b.broken = err, head
	}
	return err
}

func (b *book) read(ctx context.Context, rt *runtime.Runtime, head ledger.Head) error {
	if b.state == nil {
		if err := b.load(ctx, rt); err != nil {
			return err
		}
	}
	seq := uint64(0)
	if b.state != nil {
		seq = b.state.Seq
		if seq > head.Seq || seq == head.Seq && b.state.Hash != head.Hash {
			return errOther
		}
		if seq == head.Seq {
			return nil
		}
	}
	for e, err := range rt.Ledger.Read(ctx, b.name, seq+1) {
		if err != nil {
			return err
		}
		if b.state == nil {
			if b.state, err = quest.New(e, rt.Societies); err != nil {
				return err
			}
		} else if e.Prev() != b.state.Hash {
			return errOther
		}
		if err := b.take(e); err != nil {
			b.state = nil // half of the event may be in
			return &ledger.DamageError{Quest: b.name, Seq: e.Seq, Err: err}
		}
	}
	if b.state == nil {
		return fmt.Errorf("quest %s: %w", b.name, ledger.ErrNoQuest)
	}
	return nil
}

func (b *book) take(e event.Event) error {
	if err := b.state.Fold(e); err != nil {
		return err
	}
	b.Views.Take(e, b.state)
	return nil
}
