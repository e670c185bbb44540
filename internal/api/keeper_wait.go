package api

import (
	"context"
	"errors"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// wait is a quest that waits for a person. Nothing of it is in memory but this.
type wait struct {
	keeper *Keeper
	name   string
	gone   chan struct{} // closed when nobody need wake it any more
	// inbox is the last command that it has taken, due when its first question expires, as
	// far as is known: seen says whether it is.
	inbox int64
	due   event.Time
	seen  bool
}

// forget ends a wait. The keeper is locked.
func (w *wait) forget() {
	delete(w.keeper.waits, w.name)
	close(w.gone)
}

// Waits reports whether a quest is looked after here, and waits for a person.
func (k *Keeper) Waits(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.waits[name] != nil
}

// await looks after a quest that waits for a person; s is how it stands, nil if nobody
// knows. The keeper is locked.
func (k *Keeper) await(name string, s *quest.State) {
	if k.waits[name] != nil || k.runs[name] != nil || k.closing {
		return
	}
	w := &wait{keeper: k, name: name, gone: make(chan struct{})}
	if s != nil {
		w.inbox, w.due, w.seen = s.Inbox, s.Due(), true
	}
	k.waits[name] = w
	posted, stop := k.rt.Ledger.Posted(name)
	k.work.Go(func() {
		defer stop()
		w.watch(k.ctx, posted)
	})
}

// watch waits until there is something to run the quest for.
func (w *wait) watch(ctx context.Context, posted <-chan struct{}) {
	for {
		due, again, err := w.look(ctx)
		switch {
		case errors.Is(err, errOver):
			w.end()
			return
		case err == nil && due:
			w.wake()
			return
		}
		w.seen = false // what wakes it may have changed it
		timer := time.NewTimer(again)
		select {
		case <-posted:
		case <-timer.C:
		case <-w.gone:
			timer.Stop()
			return
		case <-w.keeper.quit:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// errOver says that a quest does not wait for a person any more, or that another process
// has it.
var errOver = errors.New("it does not wait any more")

// rarely is when a quest that waits is looked at though nothing was posted; soonAgain is
// when one is that another process has just now.
const (
	rarely    = 24 * time.Hour
	soonAgain = 250 * time.Millisecond
)

// look reports whether there is something to run the quest for, and when to look again
// if there is not.
func (w *wait) look(ctx context.Context) (due bool, again time.Duration, err error) {
	rt := w.keeper.rt
	if again, err := w.learn(ctx); again != 0 || err != nil {
		return false, again, err
	}
	said, err := rt.Ledger.Commands(ctx, w.name, w.inbox)
	switch {
	case err != nil || len(said) > 0:
		return len(said) > 0, time.Minute, err
	case w.due == 0:
		return false, rarely, nil
	}
	left := time.Duration(w.due-rt.Clock()) * time.Microsecond
	return left <= 0, min(left, rarely), nil
}

// learn finds out how the quest stands, if nobody knows. It says when to try again.
func (w *wait) learn(ctx context.Context) (again time.Duration, err error) {
	if w.seen {
		return 0, nil
	}
	rt := w.keeper.rt
	if claimed, err := rt.Ledger.Claimed(w.name); err != nil || claimed {
		if !rt.IsMarked(w.name) {
			return 0, errOver // it runs in a terminal now
		}
		return soonAgain, err
	}
	s, err := rt.Load(ctx, w.name)
	switch {
	case errors.Is(err, ledger.ErrNoQuest):
		return 0, errOver
	case err != nil:
		return time.Minute, err
	case !s.Waiting():
		return 0, errOver
	}
	w.inbox, w.due, w.seen = s.Inbox, s.Due(), true
	return 0, nil
}

// wake runs the quest.
func (w *wait) wake() {
	if _, err := w.keeper.begin(w.name, runtime.RunOptions{Woken: true}); err != nil && !errors.Is(err, errClosing) {
		w.keeper.log.Printf("quest %s has an answer and does not go on: %v", w.name, err)
	}
}

// rouses reports whether a quest that nobody runs goes on because of what was said to it: it
// waits for words, was left in the middle by whoever ran it, or has its answer and is asked
// something more.
func rouses(s *quest.State, said event.Body) bool {
	switch said.(type) {
	case *event.UserMessage, *event.InteractionAnswered:
		return s.HasMail() && (s.Status == quest.Running || s.Wakes())
	}
	return false
}

// rouse runs a quest, and reports whether it does.
func (k *Keeper) rouse(name string) bool {
	_, err := k.begin(name, runtime.RunOptions{})
	if err != nil && !errors.Is(err, ledger.ErrClaimed) {
		k.log.Printf("quest %s was told something and does not go on: %v", name, err)
	}
	return err == nil || errors.Is(err, ledger.ErrClaimed)
}

// more reports whether something was said to a quest while it came to its end.
func (k *Keeper) more(name string, s *quest.State) bool {
	if !s.Wakes() {
		return false
	}
	said, err := k.rt.Ledger.Commands(k.ctx, name, s.Inbox)
	return len(s.Mail) > 0 || err == nil && len(said) > 0
}

// end stops looking after the quest.
func (w *wait) end() {
	k := w.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waits[w.name] == w {
		w.forget()
	}
	k.work.Go(func() { k.rt.Unmark(w.name) })
}
