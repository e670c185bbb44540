package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// busy is a server that answers so many at once and sends the others away.
type busy struct {
	room  int
	takes time.Duration // on average
	// A refusal takes time too, in which others come.
	refuses, after time.Duration

	mu             sync.Mutex
	inside, total  int
	early, refused int
	until          time.Time
	answered       map[string]int
	order          []string
	rng            *rand.Rand // nil: each takes the same time
}

func (b *busy) Generate(ctx context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	b.mu.Lock()
	b.total++
	if time.Now().Before(b.until) {
		b.early++
	}
	if b.inside >= b.room {
		b.refused++
		b.mu.Unlock()
		time.Sleep(b.refuses)
		b.mu.Lock()
		if b.after > 0 {
			b.until = time.Now().Add(b.after)
		}
		b.mu.Unlock()
		note(ctx, http.StatusTooManyRequests)
		return nil, &model.Error{Kind: model.Unavailable, Text: "too many", After: b.after}
	}
	b.inside++
	takes := b.takes
	if b.rng != nil {
		takes = b.takes/2 + time.Duration(b.rng.Int64N(int64(b.takes)))
	}
	b.mu.Unlock()
	time.Sleep(takes)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inside--
	if b.answered == nil {
		b.answered = map[string]int{}
	}
	b.answered[r.Quest]++
	b.order = append(b.order, r.Quest)
	return &model.Answer{Usage: event.Usage{Input: 1}}, nil
}

func crowd(b *busy, most int) *caller {
	rng := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	return &caller{
		driver: b, model: "m", provider: "test", line: newLine("test", most, patience, system{}), clock: system{}, patience: patience,
		rand: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return rng.Float64()
		},
	}
}

// A thousand agents with one key do not storm the provider, and no quest waits for
// another's.
func TestAThousandCallers(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 2 * time.Second} {
		t.Run(fmt.Sprintf("RetryAfter%s", after), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const callers, quests = 1000, 10
				b := &busy{room: 10, takes: 3 * time.Second, refuses: 100 * time.Millisecond, after: after, rng: rand.New(rand.NewPCG(3, 4))}
				c := crowd(b, defaultConcurrency)
				begun := time.Now()
				c.line.until = begun.Add(time.Second) // until all are there
				var wait sync.WaitGroup
				for i := range callers {
					wait.Go(func() {
						r := &model.Request{Quest: fmt.Sprintf("quest-%d", i*quests/callers)}
						if _, err := c.Generate(t.Context(), r, nil); err != nil {
							t.Error(err)
						}
					})
				}
				wait.Wait()
				if b.total > callers*3/2 {
					t.Errorf("%d requests for %d answers", b.total, callers)
				}
				if b.early > 0 {
					t.Errorf("%d requests came before the time", b.early)
				}
				for n := 100; n <= callers; n += 100 {
					done := map[string]int{}
					for _, q := range b.order[:n] {
						done[q]++
					}
					for i := range quests {
						if got, share := done[fmt.Sprintf("quest-%d", i)], n/quests; got < share-10 || got > share+10 {
							t.Errorf("of the first %d answers quest-%d got %d, its share is %d", n, i, got, share)
						}
					}
				}
				t.Logf("%d requests, %d refused, in %s (the best is %s)", b.total, b.refused, time.Since(begun), callers/10*b.takes)
				if best := callers / 10 * b.takes; time.Since(begun) > 3*best {
					t.Errorf("it took %s, with full use it takes %s", time.Since(begun), best)
				}
			})
		})
	}
}

func TestASmallQuestDoesNotWaitForALargeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &busy{room: 1000, takes: time.Second}
		c := crowd(b, 4)
		var wait sync.WaitGroup
		ask := func(quest string) {
			wait.Go(func() {
				if _, err := c.Generate(t.Context(), &model.Request{Quest: quest}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		for range 400 {
			ask("large")
		}
		synctest.Wait()
		begun := time.Now()
		wait.Go(func() {
			for range 10 { // one agent, one call after the other
				if _, err := c.Generate(t.Context(), &model.Request{Quest: "small"}, nil); err != nil {
					t.Error(err)
				}
			}
			if gone := time.Since(begun); gone > 20*time.Second {
				t.Errorf("ten calls of the small quest took %s", gone)
			}
		})
		wait.Wait()
		if b.answered["large"] != 400 || b.answered["small"] != 10 {
			t.Errorf("answered were %v, want 400 large and 10 small", b.answered)
		}
	})
}

func TestNobodyBeginsDuringAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine("test", 4, patience, system{})
		first := l.turn("a")
		if err := l.enter(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		l.leave(first, crowded, 30*time.Second, "too many")
		begun := time.Now()
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				p := l.turn("a")
				if err := l.enter(t.Context(), p); err != nil || time.Since(begun) < 30*time.Second {
					t.Errorf("it began after %s, %v", time.Since(begun), err)
				}
				l.leave(p, answered, 0, "")
			})
		}
		wait.Wait()
		if gone := time.Since(begun); gone != 30*time.Second {
			t.Errorf("all were done after %s", gone)
		}
	})
}

func TestWhoTriesAgainGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine("test", 1, patience, system{})
		old, young, runs := l.turn("a"), l.turn("a"), l.turn("b")
		if err := l.enter(t.Context(), runs); err != nil {
			t.Fatal(err)
		}
		var order []string
		var wait sync.WaitGroup
		come := func(name string, p *turn) {
			wait.Go(func() {
				if err := l.enter(t.Context(), p); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				l.leave(p, answered, 0, "")
			})
			synctest.Wait()
		}
		come("young", young)
		come("old", old)
		l.leave(runs, answered, 0, "")
		wait.Wait()
		if len(order) != 2 || order[0] != "old" {
			t.Errorf("the order of the line: got %v, want the old one first", order)
		}
	})
}

func TestTheLimitFallsOnceForEachCrowdAndGrowsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, limits)
}

func limits(t *testing.T) {
	l := newLine("test", 64, patience, system{})
	enter := func(n int) (all []*turn) {
		for range n {
			p := l.turn("a")
			if err := l.enter(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		return all
	}
	for _, p := range enter(64) {
		l.leave(p, crowded, 0, "too many")
	}
	if l.limit != 32 {
		t.Errorf("after one crowd the limit is %v", l.limit)
	}
	all := enter(32)
	for range 32 {
		l.leave(all[0], answered, 0, "")
		all = append(all[1:], enter(1)...)
	}
	if l.limit < 32.9 || l.limit > 33.1 {
		t.Errorf("after one round of answers the limit is %v", l.limit)
	}
	for _, p := range all {
		l.leave(p, answered, 0, "")
	}
	grown := l.limit
	l.leave(enter(1)[0], answered, 0, "")
	if l.limit != grown {
		t.Error("the limit grew though it was not reached")
	}
	for range 20 {
		l.leave(enter(1)[0], crowded, 0, "too many")
	}
	if l.limit != 1 {
		t.Errorf("the limit is %v", l.limit)
	}
	for range 50 {
		l.leave(enter(1)[0], failed, 0, "cut")
	}
	if l.limit != 1 || l.running != 0 {
		t.Errorf("a fault changed the limit to %v, %d are under way", l.limit, l.running)
	}
}

func TestCancelInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine("test", 1, patience, system{})
		holds := l.turn("a")
		if err := l.enter(t.Context(), holds); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		for i := range 100 {
			wait.Go(func() {
				if err := l.enter(ctx, l.turn(fmt.Sprint(i%7))); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		begun := time.Now()
		cancel()
		wait.Wait()
		if time.Since(begun) != 0 || len(l.turns) != 0 || len(l.waiting) != 0 || l.running != 1 {
			t.Errorf("after %s: %v, %v, %d", time.Since(begun), l.turns, l.waiting, l.running)
		}
		l.leave(holds, answered, 0, "")
		if err := l.enter(t.Context(), l.turn("a")); err != nil {
			t.Error(err)
		}
	})
}

// Whoever is told to begin in the moment it gives up gives its place back.
func TestCancelAndTurnAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine("test", 1, patience, system{})
		for range 500 {
			holds := l.turn("a")
			if err := l.enter(t.Context(), holds); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				p := l.turn("b")
				if l.enter(ctx, p) == nil {
					l.leave(p, answered, 0, "")
				}
			}()
			synctest.Wait()
			cancel()
			l.leave(holds, answered, 0, "") // mostly before the other has noticed
			synctest.Wait()
			if l.running != 0 || len(l.turns) != 0 || len(l.waiting) != 0 {
				t.Fatalf("%d are under way, %v wait", l.running, l.turns)
			}
		}
	})
}

// Whether there is hope depends on when a call came, and on whether anybody was
// answered since.
func TestHope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine("test", 4, time.Minute, system{})
		try := func(how outcome) {
			p := l.turn("a")
			if err := l.enter(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			l.leave(p, how, 0, "it is down")
		}
		old := l.turn("a")
		try(failed)
		time.Sleep(40 * time.Second)
		young := l.turn("a")
		time.Sleep(20 * time.Second)
		if err := l.enter(t.Context(), old); err == nil || !strings.Contains(err.Error(), "test has answered nobody for 1m0s: it is down") {
			t.Errorf("the old call: %v", err)
		}
		if err := l.enter(t.Context(), young); err != nil {
			t.Errorf("the young call: %v", err)
		}
		l.leave(young, answered, 0, "")
		if err := l.enter(t.Context(), old); err != nil {
			t.Errorf("after an answer: %v", err)
		}
		l.leave(old, left, 0, "")
		time.Sleep(time.Hour)
		try(failed) // the first failure in a row says little
		try(answered)
	})
}

func TestALineThatHelpsNobodyIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &played{do: []step{func(ctx context.Context, _ func(model.Delta)) (*model.Answer, error) {
			time.Sleep(20 * time.Second)
			return nil, &down
		}}}
		c := crowd(nil, 1)
		c.driver = &oneByOne{d: d}
		begun := time.Now()
		var wait sync.WaitGroup
		for i := range 200 {
			wait.Go(func() {
				_, err := c.Generate(t.Context(), &model.Request{Quest: fmt.Sprint(i % 3)}, nil)
				if model.KindOf(err) != model.Away || !strings.Contains(err.Error(), "it is down") {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if gone := time.Since(begun); gone > patience+2*lastPause {
			t.Errorf("the last gave up after %s", gone)
		}
	})
}

// oneByOne makes a played driver safe.
type oneByOne struct {
	mu sync.Mutex
	d  *played
}

func (o *oneByOne) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	o.mu.Lock()
	o.d.at = append(o.d.at, 0)
	do := o.d.do[min(len(o.d.at), len(o.d.do))-1]
	o.mu.Unlock()
	return do(ctx, emit)
}

func TestAPauseBeyondPatienceSendsEveryoneAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := down
		later.After = time.Hour
		c := crowd(nil, 1)
		c.driver = &oneByOne{d: &played{do: []step{fails(later)}}}
		begun := time.Now()
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				_, err := c.Generate(t.Context(), &model.Request{}, nil)
				if err == nil || !strings.Contains(err.Error(), "to wait 1h0m0s") {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := len(c.driver.(*oneByOne).d.at); n != 1 || time.Since(begun) != 0 {
			t.Errorf("%d attempts in %s", n, time.Since(begun))
		}
	})
}

// That the line is long is no reason to give up.
func TestALongLineIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &busy{room: 1, takes: time.Minute}
		c := crowd(b, 1)
		var wait sync.WaitGroup
		for range 60 {
			wait.Go(func() {
				if _, err := c.Generate(t.Context(), &model.Request{}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	})
}

// TestConnectionsStayOpenForAllCallsThatMayBeUnderWay: closing some after each call would make the next one
// connect anew.
func TestConnectionsStayOpenForAllCallsThatMayBeUnderWay(t *testing.T) {
	t.Parallel()
	few := transport(&config.Config{Providers: map[string]config.Provider{"a": {Concurrency: 2}}})
	many := transport(&config.Config{Providers: map[string]config.Provider{"a": {Concurrency: 2}, "b": {Concurrency: 1000}}})
	if few.MaxIdleConnsPerHost != defaultConcurrency || many.MaxIdleConnsPerHost != 1000 {
		t.Errorf("%d and %d connections stay open, want %d and 1000", few.MaxIdleConnsPerHost, many.MaxIdleConnsPerHost, defaultConcurrency)
	}
	if n := many.MaxIdleConns; n != 0 && n < 1000 {
		t.Errorf("of all servers together only %d connections stay open", n)
	}
}
