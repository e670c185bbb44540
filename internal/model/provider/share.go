package provider

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lyceum/internal/ledger"
)

// A line may be one of many nodes. Then each has a share, and calls begin only within it. While
// there are calls, a goroutine asks several times a second for what this node can use, and at once
// when it needs more, has something to give back that others wait for, or was sent away: so all of
// them slow down when one is.

// shareEvery is how often a node asks.
const shareEvery = 250 * time.Millisecond

// shares are the lines that the nodes have together, and what this process does about them.
type shares struct {
	of   ledger.Lines
	quit chan struct{} // closed when the registry is
	once sync.Once
	work sync.WaitGroup
}

// newShares is nil for a process that has its lines for itself.
func newShares(of ledger.Lines) *shares {
	if of == nil {
		return nil
	}
	return &shares{of: of, quit: make(chan struct{})}
}

// close ends the asking. The shares return with the node.
func (s *shares) close() {
	if s != nil {
		s.once.Do(func() { close(s.quit) })
		s.work.Wait()
	}
}

// part is what a line of many nodes has here. The line's lock guards it.
type part struct {
	of *shares
	// asking says that a goroutine asks; soon wakes it.
	asking bool
	soon   chan struct{}
	// has is the share.
	has ledger.Share
	// asked is what the node last said that it could use, peak the most that it could have since.
	asked, peak int
	// answered, crowded, began and pause, which is when one ends, are what is to be told. A pause is told once:
	// it would grow by how long telling takes.
	answered int
	crowded  bool
	began    int64
	pause    time.Time
}

func newPart(of *shares) *part {
	if of == nil {
		return nil
	}
	return &part{of: of, soon: make(chan struct{}, 1)}
}

// room is how many calls may be under way here. The caller holds the lock, here and below.
func (l *line) room() int {
	if l.part == nil {
		return int(l.limit)
	}
	if !l.clock.Now().Before(l.part.has.Until) {
		return 0 // the share may be another's
	}
	return min(int(l.limit), l.part.has.May)
}

// need notes how much could be used, and has the node ask for it if it has not.
func (l *line) need(ctx context.Context) {
	p := l.part
	if p == nil {
		return
	}
	p.peak = max(p.peak, l.running+l.queued)
	switch {
	case !p.asking && !p.of.closed():
		p.asking = true
		p.of.work.Go(func() { p.of.lasting(ctx, l.share) })
	case p.peak > p.asked && p.asked < int(l.most):
		p.ask()
	}
}

// ask has the goroutine that asks do so now. There is one as long as there are calls.
func (p *part) ask() {
	select {
	case p.soon <- struct{}{}:
	default:
	}
}

func (s *shares) closed() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// lasting does something with a context that outlasts the call that came first, and ends with the registry.
func (s *shares) lasting(ctx context.Context, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.work.Go(func() {
		select {
		case <-s.quit:
			cancel()
		case <-ctx.Done():
		}
	})
	do(ctx)
}

// gave tells the others how a call went, and gives back what they wait for.
func (l *line) gave(t *turn, how outcome, busy bool) {
	p := l.part
	if p == nil {
		return
	}
	if how == answered && busy && t.cuts == p.has.Cuts {
		p.answered++
	}
	if how == crowded {
		p.crowded, p.began, p.pause = true, max(p.began, t.cuts), l.until
		l.limit = 0 // until it is known how many all of them are to have
	}
	if how == crowded || p.has.Held > p.has.May && l.running >= p.has.May {
		p.ask()
	}
}

// share asks until nothing is left to ask for.
func (l *line) share(ctx context.Context) {
	p := l.part
	for {
		l.mu.Lock()
		a := l.asks()
		l.mu.Unlock()
		got, err := p.of.of.Share(ctx, l.provider, a)
		l.mu.Lock()
		l.got(a, got, err)
		idle := err == nil && got.Held == 0 && l.running == 0 && l.queued == 0
		if idle || ctx.Err() != nil || errors.Is(err, ledger.ErrClosed) {
			p.asking, p.asked, p.peak = false, 0, 0
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		stop := l.clock.AfterFunc(shareEvery, p.ask)
		select {
		case <-p.soon:
		case <-ctx.Done():
		}
		stop()
	}
}

// turnAway sends all away who wait.
func (l *line) turnAway(err error) {
	for _, quest := range slices.Clone(l.turns) {
		for _, t := range slices.Clone(l.waiting[quest]) {
			l.drop(t)
			t.ready <- err
		}
	}
}

// asks is what to say now.
func (l *line) asks() ledger.Asked {
	p := l.part
	a := ledger.Asked{
		Most: int(l.most), Held: max(l.running, p.has.May), Wants: min(p.peak, int(l.most)),
		Answered: p.answered, Known: p.has.Cuts, Crowded: p.crowded, Began: p.began, Pause: max(0, p.pause.Sub(l.clock.Now())),
	}
	p.asked, p.peak, p.answered, p.crowded, p.pause = a.Wants, l.running+l.queued, 0, false, time.Time{}
	return a
}

// got takes the answer.
func (l *line) got(a ledger.Asked, s ledger.Share, err error) {
	p := l.part
	if err != nil {
		p.answered, p.crowded = p.answered+a.Answered, p.crowded || a.Crowded
		if p.crowded {
			p.pause = l.until
		}
		if errors.Is(err, ledger.ErrLost) {
			p.has = ledger.Share{} // another node from now on, which has nothing yet
		} else {
			l.turnAway(err)
		}
		return
	}
	if s.Cuts != p.has.Cuts {
		p.answered = 0
	}
	p.has = s
	if s.Held > max(l.running, s.May) {
		p.ask() // others wait for it
	}
	if !p.crowded { // else this is from before
		l.limit = l.most
	}
	now := l.clock.Now()
	if end := now.Add(s.Pause); s.Pause > 0 && end.After(l.until) {
		l.until = end
		if l.last == "" {
			l.last = "so it told another node"
		}
		l.expire(now)
	}
	l.admit()
}
