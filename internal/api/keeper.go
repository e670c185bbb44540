package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// errClosing says that the server is going away.
var errClosing = errors.New("the server is shutting down: try again when it is back")

// shutdownReason is what a quest's pause says when the server went away in good order.
// It tells such a pause from a person's: only after the former the next server goes on
// by itself.
const shutdownReason = "the server shut down"

// Keeper runs quests in the background. One that waits for a person it lets go, and runs
// it again when there is something for it in its inbox, or a question's time is up.
//
// Each quest that it runs is noted in the store. After a crash a quest that is noted
// still counts as running, after a shutdown it is paused with the reason above; both
// are gone on with by the next Keeper. A quest that is not noted is not: it may have been
// another process's, or come from another machine, and to run it may cost money.
type Keeper struct {
	rt  *runtime.Runtime
	hub *hub
	log *log.Logger
	// noted is told the state of each quest whose run here has begun or ended, nil if there is none.
	noted func(name string, s *quest.State)
	// pool is what it knows of other nodes, nil if the store is this machine's alone.
	pool *pool
	ctx  context.Context
	end  context.CancelFunc

	mu      sync.Mutex
	runs    map[string]*run
	waits   map[string]*wait
	trouble map[string]string
	// stranded is why quests run on no node.
	stranded map[string]string
	closing  bool
	quit     chan struct{} // closed when closing begins
	work     sync.WaitGroup
}

// run is one quest that is run here.
type run struct {
	name      string
	interrupt chan struct{}
	once      sync.Once
	// handOver ends the run without a word, for another node.
	handOver chan struct{}
	// began is closed with the first event, ended when it is over; err is why.
	began chan struct{}
	ended chan struct{}
	err   error
	// others is what is done if somebody else has the quest; nil tells whoever asked for the run.
	others func()

	mu      sync.Mutex
	status  quest.Status // the last that was seen, empty before the first
	closing bool
}

func newKeeper(rt *runtime.Runtime, h *hub, l *log.Logger, noted func(string, *quest.State)) *Keeper {
	k := &Keeper{rt: rt, hub: h, log: l, noted: noted, runs: map[string]*run{}, waits: map[string]*wait{}, trouble: map[string]string{}, quit: make(chan struct{})}
	// A quest outlives the request that started it, and the server's readers: Shutdown
	// ends what has not come to rest by then.
	k.ctx, k.end = context.WithCancel(context.Background())
	return k
}

// Has reports whether a quest is run here.
func (k *Keeper) Has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs[name] != nil
}

// Begun reports whether a quest is run here, and its first event was seen.
func (k *Keeper) Begun(name string) bool {
	k.mu.Lock()
	r := k.runs[name]
	k.mu.Unlock()
	return r != nil && !r.first()
}

// Running is how many quests are run here.
func (k *Keeper) Running() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.runs)
}

// Trouble says why the last run of a quest here ended, if that was an error, or why it runs nowhere.
func (k *Keeper) Trouble(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cmp.Or(k.trouble[name], k.stranded[name])
}

// promptly is how long Start waits to hear that a quest runs, or why it does not. What
// takes longer, such as an image to be built, goes on in the background.
const promptly = 3 * time.Second

// Start runs a quest in the background. A quest that cannot run at all is told at once.
func (k *Keeper) Start(ctx context.Context, name string, limits event.Limits, noThinking bool) error {
	if claimed, err := k.rt.Ledger.Claimed(name); err != nil {
		return err
	} else if claimed {
		return ledger.ErrClaimed
	}
	if k.leaves(limits, noThinking) {
		return k.leave(ctx, name)
	}
	r, err := k.begin(name, runtime.RunOptions{Limits: limits, NoThinking: noThinking}, nil)
	if err != nil {
		return err
	}
	return r.heard(ctx)
}

// attach is the run of a quest here, which begins if there is none. One that another process has is
// ledger.ErrClaimed.
func (k *Keeper) attach(name string) (*run, error) {
	for {
		k.mu.Lock()
		r := k.runs[name]
		k.mu.Unlock()
		if r != nil {
			return r, nil
		}
		if claimed, err := k.rt.Ledger.Claimed(name); err != nil {
			return nil, err
		} else if claimed && !k.Has(name) {
			return nil, ledger.ErrClaimed
		}
		if r, err := k.begin(name, runtime.RunOptions{}, nil); !errors.Is(err, ledger.ErrClaimed) {
			return r, err
		}
	}
}

// heard waits a moment for a run's first event, or for why there is none. By its first event
// the next server knows of the quest, too.
func (r *run) heard(ctx context.Context) error {
	patience := time.NewTimer(promptly)
	defer patience.Stop()
	select {
	case <-r.began:
		return nil
	case <-r.ended:
		return r.err
	case <-patience.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin runs a quest. If somebody else has it, that is an error of the run; with others it
// is not: the run waits for its turn, since most have a quest for a moment only, to take what
// was said to it, and calls others, with the keeper locked, if it does not come.
func (k *Keeper) begin(name string, opts runtime.RunOptions, others func()) (*run, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closing {
		return nil, errClosing
	}
	if k.runs[name] != nil {
		return nil, ledger.ErrClaimed
	}
	if w := k.waits[name]; w != nil {
		w.forget()
	}
	r := &run{name: name, others: others, interrupt: make(chan struct{}), handOver: make(chan struct{}), began: make(chan struct{}), ended: make(chan struct{})}
	k.runs[name] = r
	delete(k.trouble, name)
	opts.Interrupt, opts.HandOver, opts.Leave = r.interrupt, r.handOver, true
	opts.Served = func(s *quest.State, err error) bool {
		k.noted(name, s)
		return k.keep(s, err) || k.unfit(r, err) || k.stillWanted(s, err)
	}
	opts.OnEvent = func(e event.Event, s *quest.State) {
		if r.first() {
			k.noted(name, s)
		}
		r.event(e, s)
	}
	opts.OnDelta = func(d runtime.Delta) { k.hub.delta(name, d) }
	opts.OnProgress = func(line string) { k.log.Printf("quest %s: %s", name, line) }
	k.work.Go(func() { k.drive(r, opts) })
	return r, nil
}

// drive runs a quest to its end.
func (k *Keeper) drive(r *run, opts runtime.RunOptions) {
	s, err := k.inTurn(r, opts)
	if errors.Is(err, runtime.ErrInterrupted) || errors.Is(err, runtime.ErrHandedOver) || k.ctx.Err() != nil {
		err = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runs, r.name)
	switch {
	case k.closing:
	case r.others != nil && errors.Is(err, ledger.ErrClaimed): // somebody looks after it
		err = nil
		r.others()
	case errors.Is(err, ledger.ErrLost): // another node has it
		k.log.Printf("%v", err)
		err = nil
	case k.unfit(r, err):
		err = k.refuse(r.name, err)
	case err == nil && s.Waiting():
		k.await(r.name, runtime.RestOf(s))
	case err == nil && k.more(r.name, s):
		k.later(r.name)
	case runtime.Passing(err) && k.rt.IsMarked(k.ctx, r.name):
		err = fmt.Errorf("%w: it goes on by itself when that has passed", err)
		k.later(r.name)
	}
	if err != nil {
		k.trouble[r.name] = err.Error()
		k.log.Printf("%v", err)
	}
	r.err = err
	close(r.ended)
}

// turns is how often a run tries to have a quest that somebody else has just now.
const turns = 20

// inTurn runs a quest, as soon as nobody else has it.
func (k *Keeper) inTurn(r *run, opts runtime.RunOptions) (*quest.State, error) {
	s, err := k.rt.Run(k.ctx, r.name, opts)
	opts.Claim = nil // it was released
	for n := 1; n < turns && r.others != nil && errors.Is(err, ledger.ErrClaimed) && k.pause(soonAgain); n++ {
		s, err = k.rt.Run(k.ctx, r.name, opts)
	}
	return s, err
}

// pause waits, and reports whether the server is still there.
func (k *Keeper) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.quit:
		return false
	}
}

// leaveIt is for a quest that somebody else has, who goes on with it.
func leaveIt() {}

// passingPause is when a quest is run again that the machine could not go on with.
const passingPause = 2 * time.Second

// later runs a quest again after a pause, unless somebody was faster, or the server goes away:
// then the store has the next one go on.
func (k *Keeper) later(name string) {
	k.work.Go(func() {
		if k.pause(passingPause) {
			_, _ = k.begin(name, runtime.RunOptions{}, leaveIt) // who is faster has it
		}
	})
}

// first reports whether nothing was seen of the run yet.
func (r *run) first() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status == ""
}

// event sees what happens in a quest that is run here.
func (r *run) event(_ event.Event, s *quest.State) {
	r.mu.Lock()
	if r.status == "" {
		close(r.began)
	}
	r.status = s.Status
	leave := r.closing && r.status != quest.Running
	r.mu.Unlock()
	if leave {
		r.leave()
	}
}

func (r *run) leave() { r.once.Do(func() { close(r.interrupt) }) }

// shut has a quest come to rest because the server goes away. The pause is said through
// the inbox, so that it bears its reason; the interrupt then ends the run.
func (k *Keeper) shut(ctx context.Context, r *run) {
	if k.pool != nil {
		close(r.handOver)
		return
	}
	r.mu.Lock()
	r.closing = true
	running := r.status == quest.Running || r.status == ""
	r.mu.Unlock()
	if !running {
		r.leave()
		return
	}
	_, err := k.rt.Post(ctx, r.name, ledger.Command{Key: rand.Text(), Body: &event.QuestPaused{Reason: shutdownReason}})
	if err != nil {
		r.leave() // it is paused all the same, and does not go on by itself
	}
}

// Shutdown has all quests come to rest: what is under way comes in, nothing new begins.
// When ctx ends it waits no longer; what was under way then is asked for again by the
// next server. Nothing that was recorded is lost either way. Where nodes share a store the quests do not
// rest: another node goes on with them.
func (k *Keeper) Shutdown(ctx context.Context) {
	k.mu.Lock()
	var all []*run
	if !k.closing {
		k.closing = true
		close(k.quit)
		for _, r := range k.runs {
			all = append(all, r)
		}
	}
	k.mu.Unlock()
	for _, r := range all {
		k.shut(ctx, r)
	}
	rested := make(chan struct{})
	go func() {
		defer close(rested)
		k.work.Wait()
	}()
	select {
	case <-rested:
	case <-ctx.Done():
	}
	k.end()
	<-rested
}

// GoOn starts the quests again that an earlier server ran when it went away, and
// returns their names. Where nodes share a store they are taken by whoever has room, this one from now on.
func (k *Keeper) GoOn(ctx context.Context) ([]string, error) {
	if k.pool != nil {
		return nil, k.join(ctx)
	}
	marked, err := k.rt.Marked(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range marked {
		if k.goOn(ctx, m) {
			names = append(names, m.Quest)
		}
	}
	return names, nil
}

// goOn goes on with a quest that is to run, or waits for people with it. It reports whether
// the quest is run now, and was not before.
func (k *Keeper) goOn(ctx context.Context, m ledger.Wanted) bool {
	if k.Has(m.Quest) {
		return false
	}
	if m.Rest == nil {
		s, err := k.rt.Load(ctx, m.Quest)
		if runtime.Passing(err) {
			k.later(m.Quest)
			return false
		}
		if err != nil || !k.goesOn(s) {
			k.rt.Unmark(ctx, m.Quest)
			return false
		}
		if !s.Waiting() {
			_, err := k.begin(m.Quest, runtime.RunOptions{Only: k.goesOn}, leaveIt)
			return err == nil
		}
		m.Rest = runtime.RestOf(s)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.await(m.Quest, m.Rest)
	return false
}

// goesOn reports whether the next server goes on with a quest.
func goesOn(s *quest.State) bool {
	return s.Status == quest.Running || s.Status == quest.Paused && s.Reason == shutdownReason
}

// cares reports whether a quest is run or waited for here: it takes what was said to it. One
// that the last server ran, and that GoOn has not come to yet, is gone on with now.
func (k *Keeper) cares(ctx context.Context, name string) bool {
	if k.holds(name) {
		return true
	}
	if k.pool != nil {
		return k.rt.MarkOf(ctx, name) != nil // whoever has it, or takes it
	}
	if claimed, err := k.rt.Ledger.Claimed(name); err != nil || claimed {
		return k.holds(name) // who has it takes it
	}
	if m := k.rt.MarkOf(ctx, name); m != nil {
		k.goOn(ctx, *m)
	}
	return k.holds(name)
}

func (k *Keeper) holds(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.runs[name] != nil || k.waits[name] != nil
}

// keep reports whether this server or the next shall go on with a quest whose run here has
// ended, with err.
func (k *Keeper) keep(s *quest.State, err error) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return runtime.Passing(err) || k.closing && (s == nil || !ends(s.Status)) || s != nil && s.Waiting()
}
