package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
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
	driver   driver
	model    string // as the provider calls it
	provider string
	price    *Price
	line     *line
	clock    Clock
	rand     func() float64
	patience time.Duration
	// local says that the server is on this machine.
	local bool
}

// attempts is what a call has tried.
type attempts struct {
	begun time.Time
	count int
	// spent is the time of attempts and pauses, without that in line.
	spent time.Duration
	// wasted is what those that failed used, paid how many of them used something.
	wasted event.Usage
	paid   int
}

// maxPaid is how many attempts that cost something may fail: money is not spent on
// trying for ever.
const maxPaid = 3

// Generate implements model.Model. When it fails after attempts that cost something,
// it returns an answer without parts beside the error, which tells the cost.
func (c *caller) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	own := *r
	own.Model = c.model
	at := attempts{begun: c.clock.Now()}
	place := c.line.turn(r.Quest)
	for {
		if err := c.line.enter(ctx, place); err != nil {
			return c.failed(ctx, &at, err)
		}
		begun := c.clock.Now()
		said, answer, err := c.attempt(ctx, place, &own, emit)
		at.count++
		at.spent += c.clock.Now().Sub(begun)
		if err == nil {
			answer.Wasted = at.wasted
			c.bill(answer, answer.Usage)
			return answer, nil
		}
		if e, ok := errors.AsType[*model.Error](err); ok && e.Usage != (event.Usage{}) {
			at.wasted.Add(sane(e.Usage))
			at.paid++
		}
		failure := err
		pause, err := c.pause(&at, failure)
		if err != nil || ctx.Err() != nil {
			return c.failed(ctx, &at, err)
		}
		if said {
			emit(model.Delta{Kind: model.Restart})
		}
		if emit != nil {
			emit(model.Delta{Kind: model.Retry, Text: fmt.Sprintf("%s; trying again in %s, for up to %s", textOf(failure), pause.Round(100*time.Millisecond), c.lasting(failure))})
		}
		if !c.sleep(ctx, pause) {
			return c.failed(ctx, &at, failure)
		}
		at.spent += pause
	}
}

// attempt asks once. Its place in the line is given back however it ends.
func (c *caller) attempt(ctx context.Context, place *turn, r *model.Request, emit func(model.Delta)) (said bool, a *model.Answer, err error) {
	how, after, why := left, time.Duration(0), ""
	defer func() { c.line.leave(place, how, after, why) }()
	var spoke atomic.Bool
	var tell func(model.Delta)
	if emit != nil {
		tell = func(d model.Delta) {
			spoke.Store(true)
			emit(d)
		}
	}
	var status atomic.Int64
	a, err = c.driver.Generate(context.WithValue(ctx, statusKey{}, &status), r, tell)
	if err == nil && a == nil {
		err = &model.Error{Kind: model.Invalid, Text: "the driver of " + c.provider + " returned nothing"}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return spoke.Load(), nil, ctx.Err()
	case err == nil || model.KindOf(err) != model.Unavailable:
		how = answered
		return spoke.Load(), a, err
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
	return spoke.Load(), nil, err
}

// pause says how long to wait before the next attempt, or why there is none.
func (c *caller) pause(at *attempts, err error) (time.Duration, error) {
	if model.KindOf(err) != model.Unavailable || at.paid >= maxPaid {
		return 0, err
	}
	most := lastPause
	if at.count <= 7 { // after that it would be longer
		most = min(most, firstPause<<(at.count-1))
	}
	pause := max(time.Duration(c.rand()*float64(most)), shortestPause)
	left := c.lasting(err) - at.spent
	if e, ok := errors.AsType[*model.Error](err); ok && e.After > 0 {
		if e.After > left {
			failed := *e
			failed.Text += fmt.Sprintf("; it asks to wait %s, longer than the %s that calls are tried for", e.After.Round(time.Second), c.lasting(err))
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
	answer := &model.Answer{Wasted: at.wasted}
	c.bill(answer, at.wasted)
	return answer, out
}

// bill says what all attempts cost. That is unknown without a price, and where the
// provider told no usage.
func (c *caller) bill(a *model.Answer, told event.Usage) {
	a.Cost, a.Price, a.Unpriced = 0, nil, true
	if c.price == nil || told.Input <= 0 && told.Output <= 0 {
		return
	}
	all := sane(a.Usage)
	all.Add(a.Wasted)
	a.Cost, a.Unpriced = c.price.Cost(all), false
	a.Price = &event.Price{Input: c.price.Input, Output: c.price.Output, Cached: c.price.Cached, CacheWrites: c.price.CacheWrite}
}

// lasting is how long a call is tried that fails in this way. A server on this
// machine that is not there does not come by itself.
func (c *caller) lasting(err error) time.Duration {
	if c.local && strings.Contains(textOf(err), "connection refused") {
		return min(c.patience, absence)
	}
	return c.patience
}

const absence = 10 * time.Second

// sleep waits between two attempts. It returns false if there is to be no other.
func (c *caller) sleep(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	stop := c.clock.AfterFunc(d, func() { close(done) })
	defer stop()
	select {
	case <-done:
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
