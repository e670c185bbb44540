package provider

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lyceum/internal/model"
)

// line is where calls to one provider wait until they may begin.
//
// Only so many are under way at once. How many depends on what the provider bears:
// each time it is crowded the number is halved, and each round of answers adds one.
// Quests take turns, whatever number of agents they have; within a quest, whoever
// asked first goes first, also when trying again. While the provider asks for a
// pause, nobody begins.
//
// A line has no goroutine of its own: whoever comes or goes lets others begin. One that many nodes have
// together asks for a share of what the provider bears while there are calls (part).
type line struct {
	provider string
	patience time.Duration
	clock    Clock

	mu sync.Mutex
	// limit is how many may be under way, from 1 to most; running is how many are.
	limit, most float64
	running     int
	// begun counts calls that began. Those up to cut began before the limit was last
	// halved: that they meet a crowd is no news.
	begun, cut uint64
	// asked counts calls that came.
	asked uint64
	// until is when the pause ends that the provider asked for.
	until time.Time
	// failing is since when nobody was answered, zero if the last one was; last is
	// why. Calls up to doubt began before: that one of them is answered after all says
	// nothing of those who come now.
	failing time.Time
	last    string
	doubt   uint64
	// back is closed when somebody is answered after an outage, nil if nobody waits for it.
	back chan struct{}
	// waiting are the calls of each quest by age, and turns the quests that have
	// some, the next first.
	waiting map[string][]*turn
	turns   []string
	// queued is how many wait.
	queued int
	// alarm says that a timer runs until the end of the pause.
	alarm bool
	// part is this node's of a line of many, nil for a line of one process.
	part *part
}

// turn is a call's place in the line.
type turn struct {
	quest string
	order uint64
	since time.Time
	begun uint64
	cuts  int64      // how often the nodes' limit had been lowered when it began
	ready chan error // of size 1
}

// outcome is how an attempt went.
type outcome int

const (
	answered outcome = iota // whatever the answer was
	failed                  // for a reason that has nothing to do with how many call
	crowded                 // the provider has too much to do
	left                    // nobody waited for the answer
)

func newLine(provider string, most int, patience time.Duration, clock Clock) *line {
	return &line{
		provider: provider, patience: patience, clock: clock,
		limit: float64(most), most: float64(most), waiting: map[string][]*turn{},
	}
}

// turn gives a call its place. It keeps it through all attempts.
func (l *line) turn(quest string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return &turn{quest: quest, order: l.asked, since: l.clock.Now(), ready: make(chan error, 1)}
}

// enter waits until the call may begin. Whoever entered must leave.
func (l *line) enter(ctx context.Context, t *turn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if err := l.hopeless(t, l.clock.Now()); err != nil {
		l.mu.Unlock()
		return err
	}
	l.queue(t)
	l.need(ctx)
	l.admit()
	l.mu.Unlock()
	select {
	case err := <-t.ready:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.drop(t) {
		return ctx.Err()
	}
	if err := <-t.ready; err == nil { // it was told to begin in this very moment
		l.running--
		l.admit()
	}
	return ctx.Err()
}

// leave tells how the attempt went. After is how long the provider asks to wait.
func (l *line) leave(t *turn, how outcome, after time.Duration, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	busy := l.running >= l.room()
	l.running--
	switch how {
	case answered:
		if t.begun > l.doubt {
			l.there(now)
		}
		if busy && l.part == nil { // a limit that is not reached says nothing
			l.limit = min(l.most, l.limit+1/l.limit)
		}
	case failed, crowded:
		if l.failing.IsZero() {
			l.failing, l.doubt = now, l.begun
		}
		l.last = why
	}
	if how == crowded {
		if t.begun > l.cut {
			l.limit, l.cut = max(1, min(l.limit, float64(l.running+1))/2), l.begun
		}
		if end := now.Add(after); end.After(l.until) {
			l.until = end
		}
	}
	if how == failed || how == crowded {
		l.expire(now)
	}
	l.gave(t, how, busy)
	l.admit()
}

// there takes in that somebody is answered. The caller holds the lock.
func (l *line) there(now time.Time) {
	if l.back != nil && !l.failing.IsZero() && now.Sub(l.failing) >= noticeable {
		close(l.back)
		l.back = nil
	}
	l.failing, l.last, l.doubt = time.Time{}, "", 0
}

// admit lets begin who may. The caller holds the lock, here and below.
func (l *line) admit() {
	if pause := l.until.Sub(l.clock.Now()); pause > 0 {
		if !l.alarm && len(l.turns) > 0 {
			l.alarm = true
			l.clock.AfterFunc(pause, l.awake)
		}
		return
	}
	for len(l.turns) > 0 && l.running < l.room() {
		quest := l.turns[0]
		l.turns = l.turns[1:]
		t := l.waiting[quest][0]
		if l.waiting[quest] = l.waiting[quest][1:]; len(l.waiting[quest]) > 0 {
			l.turns = append(l.turns, quest)
		} else {
			delete(l.waiting, quest)
		}
		l.running++
		l.queued--
		l.begun++
		t.begun = l.begun
		if l.part != nil {
			t.cuts = l.part.has.Cuts
		}
		t.ready <- nil
	}
}

func (l *line) awake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarm = false
	l.admit()
}

func (l *line) queue(t *turn) {
	if len(l.waiting[t.quest]) == 0 {
		l.turns = append(l.turns, t.quest)
	}
	at, _ := l.find(t)
	l.waiting[t.quest] = slices.Insert(l.waiting[t.quest], at, t)
	l.queued++
}

func (l *line) find(t *turn) (int, bool) {
	return slices.BinarySearchFunc(l.waiting[t.quest], t.order, func(w *turn, order uint64) int {
		return int(int64(w.order - order))
	})
}

// drop takes a call out of the line, if it is there.
func (l *line) drop(t *turn) bool {
	at, ok := l.find(t)
	if !ok {
		return false
	}
	rest := slices.Delete(l.waiting[t.quest], at, at+1)
	l.waiting[t.quest] = rest
	l.queued--
	if len(rest) == 0 {
		delete(l.waiting, t.quest)
		i := slices.Index(l.turns, t.quest)
		l.turns = slices.Delete(l.turns, i, i+1)
	}
	return true
}

// expire sends away who waits for nothing.
func (l *line) expire(now time.Time) {
	if now.Sub(l.failing) < l.patience && l.until.Sub(now) <= l.patience {
		return // there is hope for everyone
	}
	for _, quest := range slices.Clone(l.turns) {
		for _, t := range slices.Clone(l.waiting[quest]) {
			if err := l.hopeless(t, now); err != nil {
				l.drop(t)
				t.ready <- err
			}
		}
	}
}

// recovered returns a channel that is closed when an outage is over. Whoever tries again
// need not wait for the end of a pause then; a crowd that comes and goes is no outage.
func (l *line) recovered() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.back == nil {
		l.back = make(chan struct{})
	}
	return l.back
}

// nobodySince reports whether nobody has been answered since then; of the zero time, since
// the last failure.
func (l *line) nobodySince(then time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.failing.IsZero() && (then.IsZero() || !l.failing.After(then))
}

// silent is for how long nobody was answered and nobody will be: since the first failure
// after the last answer, and until the end of the pause that the provider asks for.
func (l *line) silent() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failing.IsZero() {
		return 0
	}
	now := l.clock.Now()
	if l.until.After(now) {
		now = l.until
	}
	return now.Sub(l.failing)
}

// hopeless says why a call should not wait any longer: the provider asks for more
// patience than there is, or has answered nobody for so long. That a line is long
// is no reason.
func (l *line) hopeless(t *turn, now time.Time) error {
	if pause := l.until.Sub(now); pause > l.patience {
		return &model.Error{Kind: model.Unavailable, After: pause, Text: fmt.Sprintf("%s asks everyone to wait %s, longer than the %s that calls are tried for: %s", l.provider, pause.Round(time.Second), l.patience, l.last)}
	}
	if l.failing.IsZero() {
		return nil
	}
	from := l.failing
	if t.since.After(from) {
		from = t.since
	}
	if gone := now.Sub(from); gone >= l.patience {
		return &model.Error{Kind: model.Unavailable, Text: fmt.Sprintf("%s has answered nobody for %s: %s", l.provider, gone.Round(time.Second), l.last)}
	}
	return nil
}
