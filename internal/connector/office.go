package connector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// Connector is one of config.yaml, ready to be used.
type Connector struct {
	Name string
	// Driver is nil if there is none, for the reason Fault.
	Driver Driver
	Fault  error
	// Most is the most that anybody may do, Allow what config.yaml lets senders do.
	Most  Right
	Allow map[string]Right
	// Secrets are taken out of whatever is said of it.
	Secrets []string
}

// Quests is where what people say is said.
type Quests interface {
	// Needs is the right that it takes to say a text: a command that only looks, words, or an
	// order.
	Needs(text string) Right
	// Say says a message to a quest, once for each key, and returns what there is to say to its
	// sender. What the quest would never take is a *Refused, for the sender to read.
	Say(ctx context.Context, quest, key, source string, m Message) (reply string, err error)
	// Bind tells a quest of a conversation, once for each key.
	Bind(ctx context.Context, quest, key string, b *event.ConversationBound) error
	// Gone reports whether there is no quest of a name any more.
	Gone(ctx context.Context, quest string) (bool, error)
}

// Office sends what is in the outbox and takes in what people say, for as long as it runs. A
// home has one at a time: whoever holds its lock.
type Office struct {
	Box        Box
	Connectors map[string]*Connector
	// Quests is nil for an office that only sends.
	Quests Quests
	// Trouble is told what a person should know; it may be nil.
	Trouble func(line string)
	// First is how long is waited after the first try that fails, and Look how often the outbox
	// is looked at; 0 stands for the usual.
	First, Look time.Duration
	// Once has the office end when nothing is left that can be sent now, or when another one is up.
	Once bool

	refusals refusals
}

// The usual times, and how much is sent at once.
const (
	usualFirst = time.Second
	usualLook  = time.Second
	maxSending = 8
	// maxTry is how long a try may take.
	maxTry = 2 * time.Minute
	// grace is how long a try may take when the office ends.
	grace = 5 * time.Second
	// rerun is how long is waited at most before a driver that ended is run again.
	rerun = 5 * time.Minute
)

// Lock makes the caller the only office of a home, until it lets go or its process ends: false,
// if there is another.
func Lock(path string) (release func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock the outbox: %w", err)
	}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("lock the outbox: %w", err)
	}
	return func() {
		_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
		_ = f.Close()
	}, true, nil
}

// Run works until the context ends, and returns when nothing is under way. A home whose office is
// another process's is waited for.
func (o *Office) Run(ctx context.Context, lock string) {
	var told string
	for {
		release, ok, err := Lock(lock)
		if ok {
			defer release()
			break
		}
		if err != nil && err.Error() != told {
			told = err.Error()
			o.trouble(told)
		}
		if o.Once && err == nil {
			return // the other one sends
		}
		if !pause(ctx, o.look()) {
			return
		}
	}
	var work sync.WaitGroup
	work.Go(func() { o.send(ctx) })
	if o.Quests != nil {
		work.Go(func() { o.tend(ctx) })
		for _, c := range o.Connectors {
			if c.Driver != nil {
				work.Go(func() { o.receive(ctx, c) })
			}
		}
	}
	work.Wait()
	// Now nobody refuses any more.
	if err := o.count(context.WithoutCancel(ctx)); err != nil {
		o.trouble(err.Error())
	}
}

func (o *Office) look() time.Duration {
	if o.Look > 0 {
		return o.Look
	}
	return usualLook
}

func (o *Office) first() time.Duration {
	if o.First > 0 {
		return o.First
	}
	return usualFirst
}

func (o *Office) trouble(line string) {
	if o.Trouble != nil {
		o.Trouble(line)
	}
}

// pause waits, and reports whether there is still something to do.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// send sends what is due, and looks again after each and every moment. Only this goroutine knows
// what is under way.
func (o *Office) send(ctx context.Context) {
	busy, done := map[lane]bool{}, make(chan lane)
	tick := time.NewTicker(o.look())
	defer tick.Stop()
	var told string
	for ctx.Err() == nil {
		waiting, err := o.Box.waiting(ctx)
		if err != nil && ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			o.trouble("The outbox cannot be read, and is tried again: " + told)
		}
		for _, e := range next(waiting, o.Box.Clock(), busy) {
			if len(busy) == maxSending {
				break
			}
			l := lane{e.Connector, e.Conversation}
			busy[l] = true
			go func() {
				o.try(ctx, e)
				done <- l
			}()
		}
		if o.Once && len(busy) == 0 && err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		case l := <-done:
			delete(busy, l)
		}
	}
	for len(busy) > 0 {
		delete(busy, <-done)
	}
}

// try sends one delivery and notes what came of it. Whoever is killed between the two sends it
// again, with the same key.
func (o *Office) try(ctx context.Context, e entry) {
	err := o.deliver(ctx, e.Delivery)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return // nobody knows, and the next one tries
	}
	d, due := settled(e.Delivery, err, o.Box.Clock(), o.first())
	if err := o.Box.move(context.WithoutCancel(ctx), e, d, due); err != nil {
		o.trouble(fmt.Sprintf("What became of a delivery cannot be noted, so it may be sent twice: %v", err))
		pause(ctx, o.look())
	}
	if d.State == Sent {
		if err := o.Box.forget(context.WithoutCancel(ctx), e.Delivery); err != nil {
			o.trouble(err.Error())
		}
	}
	if d.State == Dead {
		o.trouble(fmt.Sprintf("A delivery by %s is dead: %s. Send it again with: lyceum connector retry %s", d.Connector, d.Error, d.Key))
	}
}

func (o *Office) deliver(ctx context.Context, d Delivery) error {
	c := o.Connectors[d.Connector]
	switch {
	case c == nil:
		return errors.New("config.yaml has no connector of that name")
	case c.Driver == nil:
		return clean(c, c.Fault)
	}
	// What is under way when the office ends has a moment more, so that it need not be sent twice.
	stop := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxTry)
	defer cancel()
	defer context.AfterFunc(stop, func() { time.AfterFunc(grace, cancel) })()
	files, gone, err := o.Box.files(ctx, d)
	if err != nil {
		return err
	}
	return clean(c, c.Driver.Send(ctx, Outgoing{
		Conversation: d.Conversation, Key: d.Key, Text: d.Text + gone, Options: d.Options, Files: files, Reply: d.Reply, Quest: d.Quest, Kind: d.Kind, Time: d.Time.Time(),
	}))
}

// clean takes the connector's secrets out of an error, and leaves what it means.
func clean(c *Connector, err error) error {
	if err == nil {
		return nil
	}
	text := hide(err.Error(), c.Secrets)
	var refused *Refused
	var later *Later
	switch {
	case errors.As(err, &refused):
		return &Refused{Reason: text}
	case errors.As(err, &later):
		return &Later{After: later.After, Err: errors.New(hide(fmt.Sprint(later.Err), c.Secrets))}
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return errors.New(text)
}

// tend tells quests of bindings that a process may have been killed before telling, and forgets
// what is old.
func (o *Office) tend(ctx context.Context) {
	bindings, err := o.Box.Bindings(ctx)
	for _, x := range bindings {
		if gone, err := o.Quests.Gone(ctx, x.Quest); err != nil || gone {
			continue
		}
		if err := o.tell(ctx, &x); err != nil && ctx.Err() == nil {
			o.trouble(fmt.Sprintf("quest %s was not told of its conversation: %v", x.Quest, err))
		}
	}
	for {
		if err == nil {
			err = o.Box.prune(ctx)
		}
		if err == nil {
			err = o.count(ctx)
		}
		if err != nil && ctx.Err() == nil {
			o.trouble(err.Error())
		}
		if err = nil; !pause(ctx, tending) {
			return
		}
	}
}

// tending is how often it is looked what can be forgotten.
const tending = 30 * time.Second

// tell tells a quest of a binding.
func (o *Office) tell(ctx context.Context, x *Binding) error {
	return o.Quests.Bind(ctx, x.Quest, x.Key(false), &event.ConversationBound{Connector: x.Connector, Conversation: x.Conversation, Primary: x.Primary})
}

// receive runs a driver for as long as the office does. One that ends is run again after a time.
func (o *Office) receive(ctx context.Context, c *Connector) {
	for wait := o.first(); ; wait = min(2*wait, rerun) {
		heard := false
		err := c.Driver.Run(ctx, func(ctx context.Context, m Message) error {
			heard = true
			return o.take(ctx, c, m)
		})
		if ctx.Err() != nil {
			return
		}
		if heard {
			wait = o.first()
		}
		why := "it ended"
		if err != nil {
			why = clean(c, err).Error()
		}
		o.trouble(fmt.Sprintf("connector %s hears nothing, and is tried again in %v: %s", c.Name, wait, event.Shorten(why, maxError)))
		if !pause(ctx, wait) {
			return
		}
	}
}
