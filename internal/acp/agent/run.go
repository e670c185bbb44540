package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// heard is one thing that happens in a quest: an event, or what a model says right now.
type heard struct {
	event event.Event
	delta *runtime.Delta
}

// run is a quest that goes on, here or in a server, for a turn of a session. It outlives the
// turn: what was under way when a turn was cancelled still comes in.
type run struct {
	heard chan heard
	// quit is closed when nobody listens any more, done when the run is over.
	quit, done chan struct{}
	once       sync.Once
	// pause has the quest come to rest. served says that it runs in a server, and can go on
	// when this process is gone.
	pause  func()
	served bool
	// state and err are how it ended; they are there when done is closed.
	state *quest.State
	err   error
}

func newRun() *run {
	return &run{heard: make(chan heard, 64), quit: make(chan struct{}), done: make(chan struct{})}
}

// leave has the run go on, or come to rest, without anybody listening.
func (r *run) leave() { r.once.Do(func() { close(r.quit) }) }

func (r *run) tell(h heard) bool {
	select {
	case <-r.quit:
		return false
	default:
	}
	select {
	case r.heard <- h:
		return true
	case <-r.quit:
		return false
	}
}

// start has a quest go on, and tells what happens in it after an event, until it rests or
// waits for a person.
func (a *Agent) start(ctx context.Context, name string, after uint64, limits event.Limits, noThinking bool) (*run, error) {
	c, err := client.Find(ctx, a.rt.Home, a.rt.Version, a.opts.Token)
	switch {
	case errors.Is(err, client.ErrNone):
		return a.startHere(name, after, limits, noThinking), nil
	case err != nil:
		return nil, fmt.Errorf("run quest %s in the server: %w", name, err)
	}
	return a.startThere(c, name, after, limits, noThinking), nil
}

// startHere runs a quest in this process.
func (a *Agent) startHere(name string, after uint64, limits event.Limits, noThinking bool) *run {
	r := newRun()
	interrupt := make(chan struct{})
	r.pause = sync.OnceFunc(func() { close(interrupt) })
	relay := &relay{rt: a.rt, name: name, after: after, wake: make(chan struct{}, 1)}
	a.runs.Go(func() {
		defer close(r.done)
		over := make(chan struct{})
		go func() {
			defer close(over)
			r.state, r.err = a.take(name, runtime.RunOptions{
				Limits: limits, NoThinking: noThinking, Interrupt: interrupt, Leave: true,
				OnEvent: func(event.Event, *quest.State) { relay.touch() }, OnDelta: relay.delta, OnProgress: a.opts.Say,
			})
		}()
		err := relay.pump(a.life, over, r.tell)
		<-over
		if errors.Is(r.err, runtime.ErrInterrupted) {
			r.err = nil
		}
		r.err = errors.Join(r.err, err)
	})
	return r
}

// brief is how long whoever only says a word to a quest at rest may hold it.
const brief = 2 * time.Second

// take runs a quest that nobody else runs.
func (a *Agent) take(name string, opts runtime.RunOptions) (st *quest.State, err error) {
	enough := time.NewTimer(brief)
	defer enough.Stop()
	for {
		st, err = a.rt.Run(a.life, name, opts)
		if !errors.Is(err, ledger.ErrClaimed) {
			return st, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-enough.C:
			return st, err
		case <-opts.Interrupt:
			return st, err
		}
	}
}

// relay puts the events of a quest that runs here, and what its models say, into one order:
// what a model says stands after its call and before its answer. Events come from the ledger,
// so a client that reads slowly holds up nobody, and costs no memory. What models say waits
// up to a bound; of a call beyond it nothing more is told before the answer.
type relay struct {
	rt    *runtime.Runtime
	name  string
	after uint64 // the last event that was told
	wake  chan struct{}

	mu      sync.Mutex
	waiting []runtime.Delta
	bytes   int
	lost    map[uint64]bool // calls of which something was left out
}

// maxWaiting is how many bytes of what models say wait for a client.
const maxWaiting = 1 << 20

func (r *relay) touch() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *relay) delta(d runtime.Delta) {
	r.mu.Lock()
	if r.lost[d.Call] || r.bytes+len(d.Text) > maxWaiting {
		if r.lost == nil || len(r.lost) > 1000 {
			r.lost = map[uint64]bool{}
		}
		r.lost[d.Call] = true
	} else {
		r.waiting, r.bytes = append(r.waiting, d), r.bytes+len(d.Text)
	}
	r.mu.Unlock()
	r.touch()
}

func (r *relay) take() []runtime.Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.waiting
	r.waiting, r.bytes = nil, 0
	return out
}

// pump tells what happens until the run is over, or nobody listens.
func (r *relay) pump(ctx context.Context, over <-chan struct{}, tell func(heard) bool) error {
	var early []runtime.Delta
	for last := false; !last; {
		select {
		case <-r.wake:
		case <-over:
			last = true
		}
		// The head before the deltas: all that was said to a call whose answer is in the
		// ledger by now has been said.
		head, err := r.rt.Ledger.Head(ctx, r.name)
		if err != nil {
			return err
		}
		early = append(early, r.take()...)
		said := func(before uint64) bool {
			for len(early) > 0 && early[0].Call < before {
				if !tell(heard{delta: &early[0]}) {
					return false
				}
				early = early[1:]
			}
			return true
		}
		for r.after < head.Seq {
			for e, err := range r.rt.Ledger.Read(ctx, r.name, r.after+1) {
				if err != nil {
					return err
				}
				if e.Seq > head.Seq {
					break
				}
				if !said(e.Seq) || !tell(heard{event: e}) {
					return nil
				}
				r.after = e.Seq
			}
		}
		if !said(head.Seq + 1) {
			return nil
		}
	}
	return nil
}

// startThere runs a quest in a server, and follows it. The server goes on when this process
// ends.
func (a *Agent) startThere(c *client.Client, name string, after uint64, limits event.Limits, noThinking bool) *run {
	r := newRun()
	r.served = true
	ctx, cancel := context.WithCancel(a.life)
	r.pause = sync.OnceFunc(func() {
		a.runs.Go(func() {
			ctx, cancel := context.WithTimeout(a.life, leaveTime)
			defer cancel()
			// A quest that does not run any more needs no pause.
			_, _ = c.Control(ctx, name, api.Control{Action: "pause"})
		})
	})
	a.runs.Go(func() {
		<-r.quit
		cancel()
	})
	a.runs.Go(func() {
		defer close(r.done)
		defer c.Close()
		defer r.leave()
		r.state, r.err = a.follow(ctx, c, r, name, after, limits, noThinking)
	})
	return r
}

// promptly is how long it is tried to start a quest that is just coming to rest.
const promptly = 10 * time.Second

// order has the server start a quest, unless it runs there already, or has come to its end
// since the client heard of it.
func (a *Agent) order(ctx context.Context, c *client.Client, name string, after uint64, limits event.Limits, noThinking bool) error {
	order := api.Control{Action: "start", NoThinking: noThinking}
	if limits.Cost != nil {
		order.Limits = &api.LimitsOrder{LimitSetOrder: api.LimitSetOrder{Cost: new(json.RawMessage(`"` + quest.USD(*limits.Cost).String() + `"`))}}
	}
	ctx, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	for {
		_, err := c.Control(ctx, name, order)
		refused, ok := errors.AsType[*client.Error](err)
		if !ok || refused.Status != 409 {
			return err
		}
		claimed, lost := a.rt.Ledger.Claimed(name)
		if lost != nil {
			return err
		}
		st, lost := a.rt.Load(ctx, name)
		switch {
		case lost != nil:
			return err
		case st.Status == quest.Running && claimed:
			return nil // the server has heard of the message or the answer, and has begun
		case st.Status == quest.Finished && st.Ended > after, st.Status == quest.Exceeded && st.OverWith(limits) != nil:
			return nil // it was faster, and its end is news
		case !claimed:
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// follow has the server run a quest, and tells what happens there.
//
// Who begins to follow in the middle of an answer hears nothing of it before it is there. So
// the stream is opened first, from the last event that was told: when that comes, the server
// listens, and the quest is started. The stream of a quest at its end would say just that: such
// a quest is started, and then followed.
func (a *Agent) follow(ctx context.Context, c *client.Client, r *run, name string, after uint64, limits event.Limits, noThinking bool) (st *quest.State, err error) {
	start := func() error {
		if err := a.order(ctx, c, name, after, limits, noThinking); err != nil {
			return fmt.Errorf("run quest %s in the server: %w", name, err)
		}
		st, err = a.rt.Load(ctx, name)
		return err
	}
	before, err := a.rt.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	if after == 0 || before.Status != quest.Created && before.Status != quest.Running && before.Status != quest.Paused {
		if err := start(); err != nil {
			return nil, err
		}
	}
	for {
		for sig, err := range c.Follow(ctx, name, max(after, 1)-1) {
			switch {
			case ctx.Err() != nil:
				return st, nil
			case err != nil:
				return st, fmt.Errorf("the server has gone (%w): what quest %s did so far is recorded; prompt again to go on", err, name)
			case sig.Kind == "cut":
				return st, fmt.Errorf("the server has cut the connection: %.200s", sig.Data)
			case st == nil && sig.Kind == "end":
			case st == nil:
				if err := start(); err != nil {
					return nil, err
				}
				if waits, err := a.stillWaits(ctx, name, st); st.Seq == after && (waits || err != nil) {
					return st, err
				}
			case sig.Kind == "delta":
				var d runtime.Delta
				if json.Unmarshal(sig.Data, &d) == nil {
					r.tell(heard{delta: &d})
				}
			case sig.Kind == "end":
				return st, nil
			case sig.Seq > after:
				if rests, err := a.news(ctx, r, name, st, sig.Event); rests || err != nil {
					return st, err
				}
			}
		}
		switch {
		case ctx.Err() != nil:
			return st, nil
		case st != nil:
			return st, errors.New("the server went away; it goes on with the quest when it is back: lyceum serve")
		}
		if err := start(); err != nil {
			return nil, err
		}
	}
}

// news tells an event, and reports whether the quest waits for a person now.
func (a *Agent) news(ctx context.Context, r *run, name string, st *quest.State, e event.Event) (rests bool, err error) {
	if e.Seq > st.Seq {
		if err := st.Fold(e); err != nil {
			return false, err
		}
	}
	r.tell(heard{event: e})
	if e.Seq < st.Seq {
		return false, nil
	}
	return a.stillWaits(ctx, name, st)
}

// stillWaits reports whether a quest waits for a person, and nothing was said to it since.
func (a *Agent) stillWaits(ctx context.Context, name string, st *quest.State) (bool, error) {
	if !st.Waiting() {
		return false, nil
	}
	head, err := a.rt.Ledger.Head(ctx, name)
	if err != nil || head.Seq != st.Seq {
		return false, err
	}
	said, err := a.rt.Ledger.Commands(ctx, name, st.Inbox)
	return err == nil && len(said) == 0, err
}

// post puts a word of the person's into a quest's inbox. If nobody runs the quest it is taken
// at once.
func (a *Agent) post(ctx context.Context, name string, body event.Body) (int64, error) {
	st, err := a.rt.Load(ctx, name)
	if err != nil {
		return 0, err
	}
	if err := st.Accepts("person", body); err != nil {
		return 0, err
	}
	number, err := a.rt.Post(ctx, name, ledger.Command{Key: newKey(), Body: body})
	if err != nil {
		return 0, err
	}
	if _, err := a.rt.Settle(ctx, name); err != nil && !errors.Is(err, ledger.ErrClaimed) {
		return 0, err
	}
	return number, nil
}
