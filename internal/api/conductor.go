package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/conduct"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/survey"
)

// conductor carries studies out in the background; the keeper runs their quests. That it conducts a
// study is noted in the studies' store, and the next server goes on with those that are noted: after a
// crash as after a shutdown. A quest of such a study that waits for a person, or that a person paused,
// keeps its cell open until it goes on.
type conductor struct {
	s *Server
	// ctx ends when the server goes away: studies then stay noted.
	ctx context.Context
	end context.CancelFunc

	mu      sync.Mutex
	runs    map[string]*conducted
	trouble map[string]string
	closing bool
	work    sync.WaitGroup
}

// conducted is a study that is under way here.
type conducted struct {
	name string
	// afresh says that a person has just started it: quests that rest go on, too.
	afresh    bool
	interrupt chan struct{}
	once      sync.Once
	// began is closed once the study is claimed and noted, ended when it is over; err is why.
	began, ended chan struct{}
	err          error
}

func newConductor(s *Server) *conductor {
	c := &conductor{s: s, runs: map[string]*conducted{}, trouble: map[string]string{}}
	c.ctx, c.end = context.WithCancel(s.ctx)
	return c
}

// close leaves all studies as they are, for the next server. Their quests are the keeper's.
func (c *conductor) close() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.end()
	c.work.Wait()
}

// has reports whether a study is under way here.
func (c *conductor) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[name] != nil
}

// said is why the last run of a study here ended, if that was an error.
func (c *conductor) said(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble[name]
}

// GoOnWithStudies starts the studies again that an earlier server conducted when it went away, and
// returns their names.
func (s *Server) GoOnWithStudies(ctx context.Context) (names []string, err error) {
	m, err := s.studies(false)
	if errors.Is(err, conduct.ErrNone) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	wanted, err := m.Log.AllWanted(ctx)
	if err != nil {
		return nil, fmt.Errorf("look which studies the last server conducted: %w", err)
	}
	for _, w := range wanted {
		if _, err := s.conductor.begin(m, w.Quest, false); err == nil {
			names = append(names, w.Quest)
		}
	}
	return names, nil
}

// RestStudies has no study begin another quest here. Those that were under way go on with the next server.
func (s *Server) RestStudies() { s.conductor.close() }

// begin conducts a study in the background.
func (c *conductor) begin(m *conduct.Studies, name string, afresh bool) (*conducted, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil, errClosing
	}
	if c.runs[name] != nil {
		return nil, ledger.ErrClaimed
	}
	r := &conducted{name: name, afresh: afresh, interrupt: make(chan struct{}), began: make(chan struct{}), ended: make(chan struct{})}
	c.runs[name] = r
	delete(c.trouble, name)
	c.work.Go(func() { c.drive(r, m) })
	return r, nil
}

// drive conducts a study to its end.
func (c *conductor) drive(r *conducted, shared *conduct.Studies) {
	m := *shared
	m.Run = func(ctx context.Context, name string, interrupt <-chan struct{}) (*quest.State, error) {
		return c.quest(ctx, name, interrupt, r.afresh)
	}
	m.Served = func(_ *survey.State, err error) bool { return c.keeps(err) }
	begun := sync.OnceFunc(func() { close(r.began) })
	var err error
	for {
		_, err = m.Conduct(c.ctx, r.name, r.interrupt, conduct.Progress{Begun: begun})
		if c.ctx.Err() != nil || !runtime.Passing(err) {
			break
		}
		c.s.opts.Log.Printf("study %s: %v: it goes on by itself when that has passed", r.name, err)
		if !c.pause(passingPause, r.interrupt) {
			break
		}
	}
	if errors.Is(err, runtime.ErrInterrupted) || c.ctx.Err() != nil {
		err = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.runs, r.name)
	if err != nil {
		c.trouble[r.name] = err.Error()
		c.s.opts.Log.Printf("%v", err)
	}
	r.err = err
	close(r.ended)
}

// keeps reports whether the next server goes on with a study that has ended here.
func (c *conductor) keeps(err error) bool { return c.ctx.Err() != nil || runtime.Passing(err) }

// pause waits, and reports whether the study is still to go on.
func (c *conductor) pause(d time.Duration, interrupt <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-interrupt:
	case <-c.ctx.Done():
	}
	return false
}

// stop has the quests of a study come to rest that is under way here, and waits for that a moment.
func (c *conductor) stop(ctx context.Context, name string) bool {
	c.mu.Lock()
	r := c.runs[name]
	c.mu.Unlock()
	if r == nil {
		return false
	}
	r.once.Do(func() { close(r.interrupt) })
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	select {
	case <-r.ended:
	case <-ctx.Done():
	}
	return true
}

// heard waits a moment until the study is under way, or for why it is not.
func (r *conducted) heard(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	select {
	case <-r.began:
	case <-r.ended:
		return r.err
	case <-ctx.Done():
	}
	return nil
}

// quest has the keeper run the quest of a cell until it is over for good, or the study is stopped. A
// quest that rests for now is not begun again by the study: whoever it waits for sees to that. Only
// one that a person has started afresh goes on with those, too.
func (c *conductor) quest(ctx context.Context, name string, interrupt <-chan struct{}, afresh bool) (*quest.State, error) {
	k := c.s.keeper
	for may := true; ; {
		st, err := c.s.rt.Load(ctx, name)
		if err != nil || conduct.Over(st) || ended(interrupt) && !k.Has(name) {
			return st, err
		}
		goes := may && (afresh || st.Status == quest.Created || goesOn(st) && !st.Waiting())
		if !goes && !k.Has(name) {
			if err := c.moved(ctx, name, st, interrupt); err != nil {
				return st, err
			}
			continue
		}
		r, err := k.attach(name)
		if errors.Is(err, errClosing) {
			<-ctx.Done() // the server goes away: the next one goes on
			return nil, ctx.Err()
		} else if err != nil {
			return nil, err
		}
		select {
		case <-r.ended:
		case <-interrupt:
			r.leave()
			select {
			case <-r.ended:
				return c.s.rt.Load(ctx, name)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		may = false
		switch {
		case runtime.Passing(r.err):
			may = c.pause(passingPause, interrupt)
		case r.err != nil:
			if st, err := c.s.rt.Load(ctx, name); err == nil && conduct.Over(st) {
				return st, nil
			}
			return nil, r.err
		}
	}
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// moved waits until something happens in a quest that rests, or the study is stopped. If another process
// has the quest then, it is ledger.ErrClaimed.
func (c *conductor) moved(ctx context.Context, name string, st *quest.State, interrupt <-chan struct{}) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	c.work.Go(func() {
		select {
		case <-interrupt:
			cancel()
		case <-waiting.Done():
		}
	})
	for _, err := range c.s.rt.Ledger.Follow(waiting, name, st.Seq+1) {
		if err != nil && waiting.Err() == nil {
			return err
		}
		break
	}
	if ctx.Err() != nil || c.s.keeper.Has(name) {
		return ctx.Err()
	}
	if claimed, err := c.s.rt.Ledger.Claimed(name); err != nil || !claimed {
		return err
	}
	return ledger.ErrClaimed
}
