package runtime_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	rules "lyceum/internal/society/lab"
)

// remote is a model of a provider that can go away.
type remote struct {
	actor
	provider string
	gone     *atomic.Bool
	tries    *atomic.Int64
}

func (r remote) Provider() string { return r.provider }

func (r remote) Generate(ctx context.Context, req *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	time.Sleep(time.Second) // a model takes its time
	if r.gone.Load() {
		r.tries.Add(1)
		return nil, &model.Error{Kind: model.Away, Text: r.provider + ": connection refused"}
	}
	return r.actor.Generate(ctx, req, emit)
}

// diligent reviews what it is asked to, publishes some papers, and votes for the first one
// of agent-0. It goes by what it was told, whatever the order.
func diligent(papers int) actor {
	return func(_ context.Context, r *model.Request) []act {
		if reviews := slices.DeleteFunc(honest(r, ""), func(a act) bool { return a.tool != "submit_review" }); len(reviews) > 0 {
			return reviews
		}
		done, first := map[string]int{}, ""
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Kind == model.PartToolResult && !p.Error {
					done[p.Name]++
				}
				for line := range strings.Lines(p.Text) {
					if ref := reference.FindString(line); strings.Contains(line, "agent-0 1") && !strings.Contains(line, "SUBMITTED") && published.MatchString(line) {
						first = ref
					}
				}
			}
		}
		switch n := done["submit_publication"]; {
		case n < papers:
			return []act{{"submit_publication", args{"title": fmt.Sprintf("%s %d", r.Agent, n+1), "content": "It is 42."}}}
		case first != "" && done["vote_solution"] == 0:
			return []act{{"vote_solution", args{"ref": first}}}
		}
		return []act{{"list_publications", args{"limit": len(r.Messages)%50 + 1}}}
	}
}

var reference = regexp.MustCompile(`[0-9a-f]{32}`)

// away opens a home whose models go away with the switch it returns.
func away(t *testing.T, home string, a actor) (*lab, *remote) {
	l := openLab(t, home, &sqlite.Options{Unwatched: true})
	l.Societies = append(slices.Clone(societies), rules.Society{})
	far := &remote{a, "far", new(atomic.Bool), new(atomic.Int64)}
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return *far, nil }
	return l, far
}

// titles are those of all papers of a quest, sorted.
func titles(s *quest.State) (out []string) {
	for _, p := range rules.Library(s).Papers {
		out = append(out, p.Title+" "+p.Status)
	}
	slices.Sort(out)
	return out
}

// TestALabOfEightSurvivesTenMinutesOfOutage: the same papers as without, nothing lost, no
// turn and no running time spent on waiting, and it goes on by itself.
func TestALabOfEightSurvivesTenMinutesOfOutage(t *testing.T) {
	play := func(t *testing.T, outage time.Duration) (s *quest.State, took time.Duration, l *lab) {
		l, far := away(t, t.TempDir(), diligent(2))
		name := l.found(8, "seed: 7\nlimits: {duration: 5m}\n")
		begun := time.Now()
		if outage > 0 {
			go func() {
				time.Sleep(2500 * time.Millisecond) // in the third turn
				far.gone.Store(true)
				time.Sleep(outage)
				far.gone.Store(false)
			}()
		}
		s = l.run(name)
		return s, time.Since(begun), l
	}
	synctest.Test(t, func(t *testing.T) {
		calm, _, _ := play(t, 0)
		rough, took, l := play(t, 10*time.Minute)
		if calm.Status != quest.Finished || rough.Status != quest.Finished {
			t.Fatalf("without an outage it is %s (%s), with one %s (%s)", calm.Status, calm.Reason, rough.Status, rough.Reason)
		}
		if len(titles(calm)) != 16 || !slices.Equal(titles(calm), titles(rough)) {
			t.Errorf("the papers differ: %v without an outage, %v with one", titles(calm), titles(rough))
		}
		if took < 10*time.Minute || took > 12*time.Minute {
			t.Errorf("it took %s, want the outage and little more", took)
		}
		if ran := time.Duration(rough.Elapsed(rough.Time)) * time.Microsecond; ran > time.Minute {
			t.Errorf("it ran for %s, and ten minutes of that were waiting", ran)
		}
		kinds := types(l.events("q"))
		for kind, want := range map[string]int{"provider.lost": 1, "provider.back": 1, "agent.parked": 0, "quest.rested": 0, "review.expired": 0} {
			if got := strings.Count(kinds, kind); got != want {
				t.Errorf("%s: %d times, want %d", kind, got, want)
			}
		}
		for _, a := range rough.Agents {
			if worked := time.Duration(a.Duration) * time.Microsecond; worked > time.Minute {
				t.Errorf("%s is charged %s of work", a.Name, worked)
			}
		}
		l.whole("q")
	})
}

// TestPatienceIsLimited: the quest is paused with the reason, no turn counts, and it can be
// resumed.
func TestPatienceIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, far := away(t, t.TempDir(), diligent(1))
		l.Patience = 20 * time.Minute
		name := l.found(3, "")
		far.gone.Store(true)
		begun := time.Now()
		s := l.run(name)
		if s.Status != quest.Paused || s.Rested != event.RestOutage || !strings.Contains(s.Reason, "far has answered nobody for 20m") {
			t.Fatalf("it is %s by %q: %s", s.Status, s.Rested, s.Reason)
		}
		if took := time.Since(begun); took < 20*time.Minute || took > 22*time.Minute {
			t.Errorf("it waited %s, want 20m", took)
		}
		if s.Spent.Turns != 0 {
			t.Errorf("%d turns count, want 0: nobody was there to ask", s.Spent.Turns)
		}
		if n := far.tries.Load(); n > 3*40 {
			t.Errorf("%d tries in 20 minutes, want growing pauses", n)
		}
		far.gone.Store(false)
		if s = l.run(name); s.Status != quest.Finished {
			t.Errorf("resumed, it is %s: %s", s.Status, s.Reason)
		}
		l.whole(name)
	})
}

// TestPatienceIsSixHoursIfNobodySays: the ledger says so when the provider is lost, and the quest
// waits so long before it is paused.
func TestPatienceIsSixHoursIfNobodySays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, far := away(t, t.TempDir(), diligent(1))
		name := l.found(3, "")
		far.gone.Store(true)
		begun := time.Now()
		s := l.run(name)
		if took := time.Since(begun); took < 6*time.Hour || took > 6*time.Hour+10*time.Minute {
			t.Errorf("it waited %s, want six hours", took)
		}
		if s.Status != quest.Paused || s.Rested != event.RestOutage || !strings.Contains(s.Reason, "far has answered nobody for 6h") {
			t.Errorf("it is %s by %q: %s; want it paused, with the six hours for the reason", s.Status, s.Rested, s.Reason)
		}
		for _, e := range l.events(name) {
			if b, ok := e.Body.(*event.ProviderLost); ok && b.Patience != (6*time.Hour).Microseconds() {
				t.Errorf("the ledger says that it waits for %d µs, want six hours", b.Patience)
			}
		}
	})
}

// TestAnOutageOutlivesItsProcess: who is killed in an outage takes nothing with them, and
// the next one finds out for itself.
func TestAnOutageOutlivesItsProcess(t *testing.T) {
	for _, back := range []bool{true, false} {
		t.Run(fmt.Sprintf("back %v", back), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				home := t.TempDir()
				l, far := away(t, home, diligent(1))
				name := l.found(3, "seed: 1\n")
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(1500*time.Millisecond, func() { far.gone.Store(true) })
				_, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, s *quest.State) {
					if s.Stalled() {
						cancel()
					}
				}})
				if err == nil {
					t.Fatal("the run was not broken off")
				}
				s, err := l.Load(t.Context(), name)
				must(t, err)
				if !s.Stalled() || s.Outage() == "" {
					t.Errorf("the ledger does not know of the outage: %s", types(l.events(name)))
				}
				next, farther := away(t, home, diligent(1))
				if !back {
					farther.gone.Store(true)
					time.AfterFunc(10*time.Minute, func() { farther.gone.Store(false) })
				}
				if s = next.run(name); s.Status != quest.Finished || len(rules.Library(s).Papers) != 3 {
					t.Errorf("it is %s with %d papers, want it finished with 3: %s", s.Status, len(rules.Library(s).Papers), s.Reason)
				}
				next.whole(name)
			})
		})
	}
}

// TestAPauseInAnOutageIsAPause: a person's pause ends the tries, and what was asked is
// asked again when the quest goes on.
func TestAPauseInAnOutageIsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, far := away(t, t.TempDir(), diligent(1))
		name := l.found(3, "")
		far.gone.Store(true)
		interrupt := make(chan struct{})
		time.AfterFunc(5*time.Minute, func() { close(interrupt) })
		if _, err := l.Run(t.Context(), name, runtime.RunOptions{Interrupt: interrupt}); err == nil {
			t.Fatal("the run was not interrupted")
		}
		s, err := l.Load(t.Context(), name)
		must(t, err)
		if s.Status != quest.Paused || s.Spent.Turns != 0 || len(s.Outages) != 0 {
			t.Errorf("it is %s after %d turns, want paused after none", s.Status, s.Spent.Turns)
		}
		far.gone.Store(false)
		if s = l.run(name); s.Status != quest.Finished {
			t.Errorf("resumed, it is %s", s.Status)
		}
		l.whole(name)
	})
}
