package provider

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// played is a driver that does one thing after the other, and the last for ever.
type played struct {
	do    []func(ctx context.Context, emit func(model.Delta)) (*model.Answer, error)
	at    []time.Duration // when it was called
	begun time.Time
}

func (p *played) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	p.at = append(p.at, time.Since(p.begun))
	do := p.do[min(len(p.at), len(p.do))-1]
	return do(ctx, emit)
}

type step = func(ctx context.Context, emit func(model.Delta)) (*model.Answer, error)

func says(text string, u event.Usage) step {
	return func(_ context.Context, emit func(model.Delta)) (*model.Answer, error) {
		if emit != nil {
			emit(model.Delta{Kind: event.PartText, Text: text})
		}
		return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: text}}, Usage: u, Stop: model.StopEnd}, nil
	}
}

func fails(e model.Error) step {
	return func(context.Context, func(model.Delta)) (*model.Answer, error) { return nil, &e }
}

func answers(status int, e model.Error) step {
	return func(ctx context.Context, _ func(model.Delta)) (*model.Answer, error) {
		note(ctx, status)
		return nil, &e
	}
}

func calling(d *played, random float64) *caller {
	d.begun = time.Now()
	return &caller{
		driver: d, model: "m", provider: "test", line: newLine("test", 4, patience, system{}), clock: system{},
		rand: func() float64 { return random }, patience: patience, price: &Price{Input: 1e9, Output: 2e9, Cached: 1e9, CacheWrite: 1e9},
	}
}

// retryable reports whether a failure may pass.
func retryable(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Retryable()
}

var down = model.Error{Kind: model.Unavailable, Text: "it is down"}

func TestCallTriesAgainWithLongerPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &played{do: slices.Concat(slices.Repeat([]step{fails(down)}, 9), []step{says("at last", event.Usage{Input: 1})})}
		a, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
		if err != nil || a.Parts[0].Text != "at last" {
			t.Fatalf("the third attempt: got %v and %v, want its answer", a, err)
		}
		var pauses []time.Duration
		for i := range len(d.at) - 1 {
			pauses = append(pauses, d.at[i+1]-d.at[i])
		}
		ms := time.Millisecond
		want := []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 32000 * ms, 60000 * ms, 60000 * ms}
		if !slices.Equal(pauses, want) {
			t.Errorf("pauses %v, want %v", pauses, want)
		}
	})
}

func TestCallTakesARandomPartOfThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &played{do: []step{fails(down), fails(down), says("x", event.Usage{Input: 1})}}
		if _, err := calling(d, 0.25).Generate(t.Context(), &model.Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if d.at[1] != 125*time.Millisecond || d.at[2] != 375*time.Millisecond {
			t.Errorf("attempts were made at %v, want after 125 ms and 375 ms", d.at)
		}
	})
}

func TestCallEndsEvenIfChanceGivesNoPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := calling(&played{do: []step{fails(down)}}, 0).Generate(t.Context(), &model.Request{}, nil)
		if err == nil {
			t.Error("it was answered")
		}
	})
}

func TestCallWaitsAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := down
		later.After = 90 * time.Second
		d := &played{do: []step{fails(later), says("x", event.Usage{Input: 1})}}
		if _, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil); err != nil {
			t.Fatal(err)
		}
		if d.at[1] != 90*time.Second {
			t.Errorf("attempts were made at %v, want the second after 90 s", d.at)
		}
	})
}

// What attempts take, and the pauses they are asked for, are part of the time that
// calls are tried for, however others fare meanwhile.
func TestCallCountsTheTimeOfItsAttempts(t *testing.T) {
	t.Parallel()
	later := down
	later.After = 4 * time.Minute
	for name, do := range map[string]step{
		"SlowAttempts": func(context.Context, func(model.Delta)) (*model.Answer, error) {
			time.Sleep(4 * time.Minute)
			return nil, &down
		},
		"LongPauses": fails(later),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &played{do: []step{do}}
				c := calling(d, 0)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					for ctx.Err() == nil { // others are answered
						p := c.line.turn("other")
						if c.line.enter(ctx, p) == nil {
							c.line.leave(p, answered, 0, "")
						}
						_ = c.sleep(ctx, time.Minute)
					}
				}()
				if _, err := c.Generate(ctx, &model.Request{}, nil); !retryable(err) || len(d.at) != 3 {
					t.Errorf("attempts and error: got %v, %v, want three and that it may come later", d.at, err)
				}
			})
		})
	}
}

func TestCallDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := down
		later.After = time.Hour
		d := &played{do: []step{fails(later)}}
		_, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
		if len(d.at) != 1 || err == nil || model.KindOf(err) != model.Away {
			t.Fatalf("attempts and error: got %v and %v, want one and that it is away", d.at, err)
		}
		if !strings.Contains(err.Error(), "asks to wait 1h0m0s, longer than the 10m0s") || !strings.Contains(err.Error(), "after 1 attempt in 0s") {
			t.Error(err)
		}
		if time.Since(d.begun) != 0 {
			t.Error("it waited all the same")
		}
	})
}

func TestCallGivesUpAfterItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &played{do: []step{fails(down)}}
		_, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Away || !strings.HasPrefix(e.Text, "it is down (after 16 attempts in 9m") {
			t.Fatal(err)
		}
		if gone := time.Since(d.begun); gone > patience || gone < patience-lastPause {
			t.Errorf("it took %s", gone)
		}
	})
}

// TestCallDoesNotPayForFailuresWithoutEnd: a provider that fails and charges for it
// is not tried as long as one that is only away.
func TestCallDoesNotPayForFailuresWithoutEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		costly := down
		costly.Usage = event.Usage{Input: 10, Output: 1}
		d := &played{do: []step{fails(costly)}}
		a, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Unavailable {
			t.Fatal(err)
		}
		n := int64(len(d.at))
		if n != maxPaid {
			t.Errorf("it was tried %d times", n)
		}
		if e.Usage != (event.Usage{Input: 10 * n, Output: n}) || a == nil || a.Wasted != e.Usage || a.Usage != (event.Usage{}) || a.Cost != n*12_000 || a.Unpriced {
			t.Errorf("%d attempts cost %+v, %+v", n, e.Usage, a)
		}
	})
}

func TestCallCountsWhatFailedAttemptsCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cut := down
		cut.Usage = event.Usage{Input: 1000, Output: 20, Thinking: 5, Cached: 100, CacheWrites: 7}
		d := &played{do: []step{fails(cut), fails(cut), says("x", event.Usage{Input: 1000, Output: 50})}}
		c := calling(d, 1)
		a, err := c.Generate(t.Context(), &model.Request{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := (event.Usage{Input: 2000, Output: 40, Thinking: 10, Cached: 200, CacheWrites: 14}); a.Wasted != want || a.Usage != (event.Usage{Input: 1000, Output: 50}) {
			t.Errorf("used %+v, wasted %+v", a.Usage, a.Wasted)
		}
		if a.Cost != 3000*1000+90*2000 || a.Unpriced || a.Price == nil || *a.Price != (event.Price{Input: 1e9, Output: 2e9, Cached: 1e9, CacheWrites: 1e9}) {
			t.Errorf("what the answer costs: got %+v", a)
		}
	})
}

func TestAnAnswerWithoutUsageIsChargedAnUpperBound(t *testing.T) {
	t.Parallel()
	asked := &model.Request{System: "123456", Messages: []model.Message{{Parts: []model.Part{{Kind: event.PartText, Text: "12345678"}}}}}
	whole := event.Usage{Input: 6 + 8 + frame, Output: 3}
	c := calling(&played{do: []step{says("abc", event.Usage{})}}, 1)
	if a, err := c.Generate(t.Context(), asked, nil); err != nil || a.Unpriced || !a.Estimated || a.Usage != whole || a.Cost != 1000*whole.Input+2000*3 {
		t.Errorf("without usage: got %+v, %v, want %+v", a, err, whole)
	}
	c = calling(&played{do: []step{says("abc", event.Usage{})}}, 1)
	c.context = 9
	if a, err := c.Generate(t.Context(), asked, nil); err != nil || a.Usage.Input != 9 {
		t.Errorf("a model that sees nine tokens: got %+v, %v, want 9 of them", a, err)
	}
}

func TestAnAttemptThatWasCutOffIsChargedAnUpperBound(t *testing.T) {
	t.Parallel()
	cut := func(ctx context.Context, emit func(model.Delta)) (*model.Answer, error) {
		emit(model.Delta{Kind: event.PartText, Text: "hal"})
		return nil, &down
	}
	for name, c := range map[string]struct {
		do        []step
		most      int64
		wasted    event.Usage
		estimated bool
	}{
		"TheLimitIsKnown":     {[]step{cut, says("x", event.Usage{Input: 5, Output: 1})}, 100, event.Usage{Input: 1, Output: 100}, true},
		"TheLimitIsNotKnown":  {[]step{cut, says("x", event.Usage{Input: 5, Output: 1})}, 0, event.Usage{Input: 1, Output: 3 + unseen}, true},
		"NothingCame":         {[]step{answers(http.StatusOK, down), says("x", event.Usage{Input: 5, Output: 1})}, 100, event.Usage{}, false},
		"ItWasNotEvenTakenOn": {[]step{answers(http.StatusBadGateway, down), says("x", event.Usage{Input: 5, Output: 1})}, 100, event.Usage{}, false},
		"EveryAttemptWasCut":  {[]step{cut}, 100, event.Usage{Input: maxPaid, Output: maxPaid * 100}, true},
		"ItToldWhatItUsed":    {[]step{fails(model.Error{Kind: model.Unavailable, Usage: event.Usage{Input: 7}}), says("x", event.Usage{Input: 5})}, 100, event.Usage{Input: 7}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, _ := calling(&played{do: c.do}, 1).Generate(t.Context(), &model.Request{MaxTokens: c.most}, nil)
				if a == nil || a.Wasted != c.wasted || a.Estimated != c.estimated || a.Unpriced {
					t.Errorf("got %+v, want %+v wasted, estimated %t", a, c.wasted, c.estimated)
				}
			})
		})
	}
}

// TestASilentServerIsTriedAgain: the time that an attempt takes to be given up may be
// longer than calls are tried for.
func TestASilentServerIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := func(context.Context, func(model.Delta)) (*model.Answer, error) {
			time.Sleep(5 * time.Minute)
			return nil, &down
		}
		d := &played{do: []step{silent, says("x", event.Usage{Input: 1})}}
		c := calling(d, 1)
		c.patience = time.Minute
		if a, err := c.Generate(t.Context(), &model.Request{}, nil); err != nil || a == nil {
			t.Errorf("after a silence: got %v, %v, want an answer", a, err)
		}
		d.do, d.at = []step{silent}, nil
		if _, err := c.Generate(t.Context(), &model.Request{}, nil); err == nil || len(d.at) != 2 {
			t.Errorf("a server that stays silent: got %v after %d attempts, want two", err, len(d.at))
		}
	})
}

func TestCostIsUnknownWithoutPrice(t *testing.T) {
	t.Parallel()
	c := calling(&played{do: []step{says("x", event.Usage{Input: 5})}}, 1)
	c.price = nil
	if a, err := c.Generate(t.Context(), &model.Request{}, nil); err != nil || !a.Unpriced || a.Cost != 0 || a.Usage.Input != 5 {
		t.Errorf("without price: %+v, %v", a, err)
	}
}

func TestCallFailsAtOnceWhereNothingWillChange(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.Kind{model.Invalid, model.Refused, model.ContextTooLong} {
		synctest.Test(t, func(t *testing.T) {
			d := &played{do: []step{fails(model.Error{Kind: kind, Text: "no"})}}
			_, err := calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
			if len(d.at) != 1 || model.KindOf(err) != kind || time.Since(d.begun) != 0 || err.(*model.Error).Text != "no" {
				t.Errorf("an error that is not repeated, %s: %v %v", kind, d.at, err)
			}
			d = &played{do: []step{fails(down), fails(model.Error{Kind: kind, Text: "no"})}}
			_, err = calling(d, 1).Generate(t.Context(), &model.Request{}, nil)
			if len(d.at) != 2 || model.KindOf(err) != kind || err.(*model.Error).Text != "no (after 2 attempts in 500ms)" {
				t.Errorf("an error that is repeated once, %s: %v %v", kind, d.at, err)
			}
		})
	}
}

func TestWatchersAreToldThatAnAnswerBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		half := func(_ context.Context, emit func(model.Delta)) (*model.Answer, error) {
			emit(model.Delta{Kind: event.PartText, Text: "hal"})
			return nil, &down
		}
		d := &played{do: []step{fails(down), half, says("whole", event.Usage{Input: 1})}}
		var got []string
		_, err := calling(d, 1).Generate(t.Context(), &model.Request{}, func(d model.Delta) { got = append(got, d.Kind+":"+d.Text) })
		if want := []string{
			"retry:it is down; trying again in 500ms", "text:hal", "restart:",
			"retry:it is down; trying again in 1s", "text:whole",
		}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, want %v (%v)", got, want, err)
		}
	})
}

func TestCancelEndsACallAtOnce(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]step{
		"in a pause": fails(down),
		"in an attempt": func(ctx context.Context, _ func(model.Delta)) (*model.Answer, error) {
			<-ctx.Done()
			return nil, &model.Error{Kind: model.Unavailable, Text: "cut"}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := calling(&played{do: []step{do}}, 1)
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			begun := time.Now()
			a, err := c.Generate(ctx, &model.Request{}, nil)
			if !errors.Is(err, context.DeadlineExceeded) || a != nil || time.Since(begun) != 700*time.Millisecond {
				t.Errorf("%s: %v after %s", name, err, time.Since(begun))
			}
			if c.line.running != 0 {
				t.Errorf("%s: %d are still under way", name, c.line.running)
			}
		})
	}
}

func TestADriverThatPanicsLeavesTheLine(t *testing.T) {
	t.Parallel()
	c := calling(&played{do: []step{func(context.Context, func(model.Delta)) (*model.Answer, error) { panic("oh") }}}, 1)
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Generate(t.Context(), &model.Request{}, nil)
	}()
	if c.line.running != 0 {
		t.Error("its place is lost")
	}
	c.driver = &played{do: []step{func(context.Context, func(model.Delta)) (*model.Answer, error) { return nil, nil }}}
	if _, err := c.Generate(t.Context(), &model.Request{}, nil); model.KindOf(err) != model.Invalid {
		t.Errorf("a driver that returns nothing: %v", err)
	}
}

func TestOnlyACrowdMakesTheLineSlower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		after  time.Duration
		slower bool
	}{
		{0, 0, false}, {http.StatusInternalServerError, 0, false}, {http.StatusTooManyRequests, 0, true}, {http.StatusServiceUnavailable, 0, true},
		{statusOverloaded, 0, true}, {0, time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := down
			e.After = c.after
			d := &played{do: []step{answers(c.status, e), says("x", event.Usage{Input: 1})}}
			call := calling(d, 1)
			if _, err := call.Generate(t.Context(), &model.Request{}, nil); err != nil {
				t.Fatal(err)
			}
			if slower := call.line.cut > 0; slower != c.slower {
				t.Errorf("%d, %s: slower is %t", c.status, c.after, slower)
			}
		})
	}
}

// TestNoOtherAttemptIsMadeOnceNobodyWantsIt: a quest that rests does not wait for a
// provider to come back.
func TestNoOtherAttemptIsMadeOnceNobodyWantsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wanted, enough := context.WithCancel(t.Context())
		d := &played{do: []step{fails(down)}}
		time.AfterFunc(20*time.Second, enough)
		_, err := calling(d, 1).Generate(model.WithHurry(t.Context(), wanted), &model.Request{}, nil)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Away || !strings.HasPrefix(e.Text, "it is down") {
			t.Errorf("got %v", err)
		}
		if gone := time.Since(d.begun); gone != 20*time.Second {
			t.Errorf("it ended after %s", gone)
		}
	})
}

// TestAnOutageIsToldWhileItLasts: who asked for it hears of a provider that answers nobody
// once that is noticeable, and of none that answers others.
func TestAnOutageIsToldWhileItLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		begun := time.Now()
		ctx := model.WithTrouble(t.Context(), func(why string, pause time.Duration) {
			if why != down.Text || pause <= 0 {
				t.Errorf("it is told %q and a pause of %s", why, pause)
			}
			told = append(told, time.Since(begun))
		})
		c := calling(&played{do: []step{fails(down)}}, 1)
		_, err := c.Generate(ctx, &model.Request{}, nil)
		if model.KindOf(err) != model.Away {
			t.Errorf("a provider that answers nobody: got %v, want %s", err, model.Away)
		}
		if len(told) < 10 || told[0] > noticeable {
			t.Errorf("the outage is told after %v, want within %s and then before each pause", told, noticeable)
		}
		told = nil
		c = calling(&played{do: []step{fails(down), fails(down), says("x", event.Usage{Input: 1})}}, 1)
		if _, err := c.Generate(ctx, &model.Request{}, nil); err != nil || len(told) != 0 {
			t.Errorf("two failures in a second: got %v, told %v, want nothing told", err, told)
		}
	})
}

// TestARequestThatFailsWhileOthersAreAnsweredIsNoOutage: it is that request's own failure.
func TestARequestThatFailsWhileOthersAreAnsweredIsNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := calling(&played{do: []step{fails(down)}}, 1)
		others := time.NewTicker(time.Second)
		defer others.Stop()
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-others.C:
					place := c.line.turn("another")
					if c.line.enter(t.Context(), place) == nil {
						c.line.leave(place, answered, 0, "")
					}
				case <-done:
					return
				}
			}
		}()
		_, err := c.Generate(t.Context(), &model.Request{}, nil)
		close(done)
		if model.KindOf(err) != model.Unavailable {
			t.Errorf("a provider that answers others: got %v, want %s", err, model.Unavailable)
		}
	})
}

// TestAProviderGoesSlowly: that one who asked before is answered late, or that some still are at
// first, makes an outage no failure of the request that met it first.
func TestAProviderGoesSlowly(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]func(t *testing.T, l *line){
		"OneIsAnsweredLate": func(t *testing.T, l *line) {
			place := l.turn("another")
			if err := l.enter(t.Context(), place); err != nil {
				t.Error(err)
			}
			time.AfterFunc(patience*9/10, func() { l.leave(place, answered, 0, "") })
		},
		"SomeAreAnsweredAtFirst": func(t *testing.T, l *line) {
			for at := time.Second; at < patience/3; at += time.Second {
				time.AfterFunc(at, func() {
					place := l.turn("another")
					if l.enter(t.Context(), place) == nil {
						l.leave(place, answered, 0, "")
					}
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := calling(&played{do: []step{fails(down)}}, 1)
				others(t, c.line)
				if _, err := c.Generate(t.Context(), &model.Request{}, nil); model.KindOf(err) != model.Away {
					t.Errorf("a provider that answers nobody any more: got %v, want %s", err, model.Away)
				}
			})
		})
	}
}

// TestTheEndOfAnOutageWakesAll: who pauses between two tries does not sleep on when another
// one has been answered.
func TestTheEndOfAnOutageWakesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var last atomic.Int64
		c := calling(&played{do: []step{fails(down)}}, 1)
		c.rand = rand.Float64
		c.driver = driverFunc(func() (*model.Answer, error) {
			if time.Since(begun) < 5*time.Minute {
				return nil, &down
			}
			return &model.Answer{Usage: event.Usage{Input: 1}, Stop: model.StopEnd}, nil
		})
		var all sync.WaitGroup
		first := atomic.Int64{}
		for range 32 {
			all.Go(func() {
				if _, err := c.Generate(t.Context(), &model.Request{}, nil); err != nil {
					t.Error(err)
				}
				first.CompareAndSwap(0, int64(time.Since(begun)))
				last.Store(max(last.Load(), int64(time.Since(begun))))
			})
		}
		all.Wait()
		if gap := time.Duration(last.Load() - first.Load()); gap > time.Second {
			t.Errorf("the last was answered %s after the first, want at once", gap)
		}
	})
}

// driverFunc is a driver that a test plays.
type driverFunc func() (*model.Answer, error)

func (f driverFunc) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Answer, error) {
	return f()
}

// TestCallPaysOnceWhereToldTo: where limits are strict, more than one attempt's cost is not
// reserved.
func TestCallPaysOnceWhereToldTo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		costly := down
		costly.Usage = event.Usage{Input: 10, Output: 1}
		d := &played{do: []step{fails(down), fails(down), fails(costly), says("x", event.Usage{Input: 10, Output: 1})}}
		a, err := calling(d, 1).Generate(t.Context(), &model.Request{Once: true}, nil)
		if model.KindOf(err) != model.Unavailable || a == nil || a.Wasted != costly.Usage {
			t.Errorf("got %+v, %v, want that it is unavailable, and what the one attempt used", a, err)
		}
		if len(d.at) != 3 {
			t.Errorf("it was tried %d times, want 3: those that cost nothing, and one that did", len(d.at))
		}
	})
}
