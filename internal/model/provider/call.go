package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/dialect"
)

// The pauses between attempts: a random part of a time that doubles from the first
// to the last of them, and never less than the shortest, so that time passes.
const (
	firstPause    = 500 * time.Millisecond
	lastPause     = 60 * time.Second
	shortestPause = 50 * time.Millisecond
)

// caller asks a driver, again if need be.
type caller struct {
	driver driver
	// dialect is for models without calls of their own; nil for the others.
	dialect  *dialect.Dialect
	model    string // as the provider calls it
	provider string
	price    *Price
	// sees says that the model can be shown pictures.
	sees bool
	// context is how many tokens the model can see, output how many an answer has at most
	// where the request does not say; 0 if nobody knows.
	context, output int64

	line     *line
	clock    Clock
	rand     func() float64
	patience time.Duration
}

// attempts is what a call has tried.
type attempts struct {
	begun time.Time
	count int
	// failed is when the first of them did, zero if none was made.
	failed time.Time
	// spent is the time of attempts and pauses, without that in line.
	spent time.Duration
	// wasted is what those that failed used, paid how many of them used something, and most
	// how many may.
	wasted     event.Usage
	paid, most int
	// estimated says that part of wasted is an upper bound.
	estimated bool
}

// middle is when half of the time was over in which the attempts failed, zero if none was made. A
// provider goes slowly: in the first half some may still have been answered.
func (a *attempts) middle(now time.Time) time.Time {
	if a.failed.IsZero() {
		return a.failed
	}
	return a.failed.Add(now.Sub(a.failed) / 2)
}

// noticeable is how long a provider must have answered nobody for that to be an outage.
const noticeable = 10 * time.Second

// Provider implements model.Provided.
func (c *caller) Provider() string { return c.provider }

// maxPaid is how many attempts that cost something may fail: money is not spent on
// trying for ever.
const maxPaid = 3

// Generate implements model.Model. When it fails after attempts that cost something,
// it returns an answer without parts beside the error, which tells the cost.
func (c *caller) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	own := *r
	own.Model = c.model
	if !c.sees && !r.Pictureless {
		own.Messages = model.Unsighted(r.Messages)
	}
	asked := own // with its tools
	if c.dialect != nil {
		own = *c.dialect.Request(&own)
	}
	at := attempts{begun: c.clock.Now(), most: maxPaid}
	if r.Once {
		at.most = 1
	}
	place := c.line.turn(r.Quest)
	for {
		if err := c.line.enter(ctx, place); err != nil {
			return c.failed(ctx, &at, err)
		}
		begun := c.clock.Now()
		heard, answer, err := c.attempt(ctx, place, &asked, &own, emit)
		at.count++
		at.spent += c.clock.Now().Sub(begun)
		if err == nil {
			answer.Wasted, answer.Estimated = at.wasted, at.estimated
			if untold(answer.Usage) {
				answer.Usage, answer.Estimated = c.bound(&own, c.written(&own, max(heard, heardIn(answer)))), true
			}
			c.bill(answer)
			return answer, nil
		}
		at.charge(c, &own, heard, err)
		if at.failed.IsZero() {
			at.failed = c.clock.Now()
		}
		failure := err
		pause, err := c.pause(&at, failure)
		if err != nil || ctx.Err() != nil {
			return c.failed(ctx, &at, err)
		}
		if heard > 0 && emit != nil {
			emit(model.Delta{Kind: model.Restart})
		}
		if emit != nil {
			emit(model.Delta{Kind: model.Retry, Text: fmt.Sprintf("%s; trying again in %s", textOf(failure), pause.Round(100*time.Millisecond))})
		}
		if lasted := c.line.silent() + pause; lasted >= noticeable && !garbled(failure) {
			model.Troubled(ctx, textOf(failure), pause)
		}
		if !c.sleep(ctx, pause) {
			return c.failed(ctx, &at, failure)
		}
		at.spent += pause
	}
}

// attempt asks once, and says how many bytes of an answer came: r is what is sent for what
// was asked. Its place in the line is given back however it ends.
func (c *caller) attempt(ctx context.Context, place *turn, asked, r *model.Request, emit func(model.Delta)) (heard int64, a *model.Answer, err error) {
	how, after, why := left, time.Duration(0), ""
	defer func() { c.line.leave(place, how, after, why) }()
	var came, status atomic.Int64
	var ear *dialect.Ear
	if c.dialect != nil {
		ear = c.dialect.Listen(asked, emit)
		emit = ear.Delta
	}
	tell := func(d model.Delta) {
		came.Add(int64(len(d.Text)))
		if emit != nil {
			emit(d)
		}
	}
	a, err = c.driver.Generate(context.WithValue(ctx, statusKey{}, &status), r, tell)
	heard = came.Load()
	if err == nil && a == nil {
		err = &model.Error{Kind: model.Invalid, Text: "the driver of " + c.provider + " returned nothing"}
	}
	if err == nil && ear != nil {
		ear.Answer(a)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return heard, nil, ctx.Err()
	case err == nil || model.KindOf(err) != model.Unavailable || garbled(err):
		how = answered
		return heard, a, err
	}
	how, why = failed, textOf(err)
	if e, ok := errors.AsType[*model.Error](err); ok {
		after = e.After
	}
	switch status.Load() {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		how = crowded
	}
	if after > 0 {
		how = crowded
	}
	return heard, nil, err
}

// garbled reports whether the provider answered with something that cannot be read.
func garbled(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Garbled
}

// pause says how long to wait before the next attempt, or why there is none.
func (c *caller) pause(at *attempts, err error) (time.Duration, error) {
	if model.KindOf(err) != model.Unavailable || at.paid >= at.most {
		return 0, err
	}
	most := lastPause
	if at.count <= 7 { // after that it would be longer
		most = min(most, firstPause<<(at.count-1))
	}
	pause := max(time.Duration(c.rand()*float64(most)), shortestPause)
	left := c.patience
	if at.count > 1 {
		// The first attempt does not count: one that took longer than calls are tried for,
		// because the server fell silent in it, is made again as well.
		left -= at.spent
	}
	if e, ok := errors.AsType[*model.Error](err); ok && e.After > 0 {
		if e.After > left {
			failed := *e
			failed.Text += fmt.Sprintf("; it asks to wait %s, longer than the %s that calls are tried for", e.After.Round(time.Second), c.patience)
			return 0, &failed
		}
		pause = max(pause, e.After)
	}
	if pause > left {
		return 0, err
	}
	return pause, nil
}

// failed makes an end of it.
func (c *caller) failed(ctx context.Context, at *attempts, err error) (*model.Answer, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &model.Error{Kind: model.KindOf(err), Text: textOf(err), Usage: at.wasted}
	if e, ok := errors.AsType[*model.Error](err); ok {
		out.After = e.After
	}
	if out.Kind == model.Unavailable && at.paid < at.most && c.line.nobodySince(at.middle(c.clock.Now())) {
		out.Kind = model.Away // nobody else is answered either: it is not this request's failure
	}
	if at.count > 1 || at.count == 1 && out.Retryable() {
		word := "attempts"
		if at.count == 1 {
			word = "attempt"
		}
		out.Text += fmt.Sprintf(" (after %d %s in %s)", at.count, word, c.clock.Now().Sub(at.begun).Round(100*time.Millisecond))
	}
	if at.wasted == (event.Usage{}) && (c.price != nil || at.count == 0) {
		return nil, out
	}
	answer := &model.Answer{Wasted: at.wasted, Estimated: at.estimated}
	c.bill(answer)
	return answer, out
}

// bill says what all attempts cost. That is unknown without a price.
func (c *caller) bill(a *model.Answer) {
	a.Cost, a.Price, a.Unpriced = 0, nil, true
	if c.price == nil {
		return
	}
	all := sane(a.Usage)
	all.Add(a.Wasted)
	a.Cost, a.Unpriced = c.price.Cost(all), false
	a.Price = new(c.price.Recorded())
}

// sleep waits between two attempts. It returns false if there is to be no other.
func (c *caller) sleep(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	stop := c.clock.AfterFunc(d, func() { close(done) })
	defer stop()
	select {
	case <-done:
		return true
	case <-c.line.recovered():
		return true
	case <-model.Wanted(ctx).Done():
	case <-ctx.Done():
	}
	return false
}

// sane is a usage without numbers that none has.
func sane(u event.Usage) event.Usage {
	n := func(v int64) int64 { return min(max(v, 0), 1<<50) }
	return event.Usage{Input: n(u.Input), Cached: n(u.Cached), CacheWrites: n(u.CacheWrites), Output: n(u.Output), Thinking: n(u.Thinking)}
}

func textOf(err error) string {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Text
	}
	return err.Error()
}
