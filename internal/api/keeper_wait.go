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
	// rest is how it stands, as far as is known: nil if nobody knows.
	rest *ledger.Rest
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

// await looks after a quest that waits for a person; rest is how it stands, nil if nobody
// knows. The keeper is locked.
func (k *Keeper) await(name string, rest *ledger.Rest) {
	if k.waits[name] != nil || k.runs[name] != nil || k.closing {
		return
	}
	w := &wait{keeper: k, name: name, gone: make(chan struct{}), rest: rest}
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
		case errors.Is(err, errElsewhere):
			w.part()
			return
		case err == nil && due:
			w.wake()
			return
		}
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

// errElsewhere says that another node has the quest, and looks after it.
var errElsewhere = errors.New("another node has it")

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
	said, err := rt.Ledger.Commands(ctx, w.name, w.rest.Inbox)
	switch {
	case err != nil || len(said) > 0:
		return len(said) > 0, time.Minute, err
	case w.rest.Due == 0:
		return false, rarely, nil
	}
	left := time.Duration(w.rest.Due-rt.Clock()) * time.Microsecond
	return left <= 0, min(left, rarely), nil
}

// learn finds out how the quest stands, if nobody knows or its ledger has moved. It says when
// to try again.
func (w *wait) learn(ctx context.Context) (again time.Duration, err error) {
	rt := w.keeper.rt
	if claimed, err := rt.Ledger.Claimed(w.name); err != nil || claimed {
		if claimed && w.keeper.pool != nil {
			return 0, errElsewhere
		}
		if !rt.IsMarked(ctx, w.name) {
			return 0, errOver // it runs in a terminal now
		}
		return soonAgain, err
	}
	head, err := rt.Ledger.Head(ctx, w.name)
	switch {
	case errors.Is(err, ledger.ErrNoQuest):
		return 0, errOver
	case err != nil:
		return time.Minute, err
	case w.rest != nil && w.rest.At(head):
		return 0, nil
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
	w.rest = runtime.RestOf(s)
	return 0, nil
}

// wake runs the quest. If somebody has it just now, it is looked at again.
func (w *wait) wake() {
	k := w.keeper
	_, err := k.begin(w.name, runtime.RunOptions{Only: (*quest.State).Waiting}, func() {
		if k.pool == nil { // otherwise whoever has it looks after it
			k.await(w.name, nil)
		}
	})
	if err != nil && !errors.Is(err, errClosing) {
		k.log.Printf("quest %s has an answer and does not go on: %v", w.name, err)
	}
}

// rouses reports whether a quest that nobody runs goes on because of what was said to it, with
// a number in its inbox: it was left in the middle by whoever ran it, or it waits for words or
// has its answer, and has not heard this.
func rouses(s *quest.State, said event.Body, number int64) bool {
	switch said.(type) {
	case *event.UserMessage, *event.InteractionAnswered:
		if !s.HasMail() || s.Status != quest.Running && !s.Wakes() {
			return false
		}
		return s.Inbox < number || len(s.Mail) > 0 || s.Status == quest.Running && !s.Waiting()
	}
	return false
}

// rouse runs a quest because of what was said to it, if that still holds when its turn comes,
// and reports whether it runs.
func (k *Keeper) rouse(ctx context.Context, name string, only func(*quest.State) bool) bool {
	r, err := k.begin(name, runtime.RunOptions{Only: only}, leaveIt)
	if errors.Is(err, ledger.ErrClaimed) {
		return true
	}
	if err == nil {
		err = r.heard(ctx)
	}
	if err != nil {
		k.log.Printf("quest %s was told something and does not go on: %v", name, err)
	}
	return err == nil
}

// rouseAfter does so for a quest that somebody else has. Who runs it takes what was said; who
// has it for a moment only does not, and then it is run here.
func (k *Keeper) rouseAfter(name string, only func(*quest.State) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return
	}
	k.work.Go(func() {
		for n := 0; n < turns && k.pause(soonAgain); n++ {
			if claimed, err := k.rt.Ledger.Claimed(name); err == nil && !claimed {
				_, _ = k.begin(name, runtime.RunOptions{Only: only}, leaveIt) // who is faster has it
				return
			}
		}
	})
}

// more reports whether something was said to a quest while it came to its end.
func (k *Keeper) more(name string, s *quest.State) bool {
	if !s.Wakes() {
		return false
	}
	said, err := k.rt.Ledger.Commands(k.ctx, name, s.Inbox)
	return len(s.Mail) > 0 || err == nil && len(said) > 0
}

// part stops looking after the quest here.
func (w *wait) part() {
	w.keeper.mu.Lock()
	defer w.keeper.mu.Unlock()
	if w.keeper.waits[w.name] == w {
		w.forget()
	}
}

// end stops looking after the quest.
func (w *wait) end() {
	w.part()
	k := w.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	k.work.Go(func() { k.rt.Unmark(k.ctx, w.name) })
}
