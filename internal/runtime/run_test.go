package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"
)

// itIs42 is the summary of a quest whose one agent says so.
const itIs42 = "> It is 42. · one agent's word · sure: unchecked (nobody else has looked at it)\n\nIt is 42.\n"

func TestRunReachesTheAnswer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", simple))
	s := l.run(name)
	if s.Status != quest.Finished || s.Answer == nil || s.Answer.Text != "It is 42." {
		t.Fatalf("status %s (%s), answer %v", s.Status, s.Reason, s.Answer)
	}
	if s.Spent.Cost != 500_000_000 || s.Spent.Turns != 4 || s.Spent.Tools != 6 {
		t.Errorf("spent %+v", s.Spent)
	}
	note, err := os.ReadFile(filepath.Join(l.QuestDir(name), "agents/agent-0/a/note.md"))
	must(t, err)
	summary, err := os.ReadFile(filepath.Join(l.QuestDir(name), "SUMMARY.md"))
	must(t, err)
	if string(note) != "second" || string(summary) != itIs42 {
		t.Errorf("note %q, summary %q", note, summary)
	}
	l.sound(name)
	t.Run("AndRefusesToBeginTwice", func(t *testing.T) {
		_, err := l.Create(t.Context(), plan(t, "q", "", simple))
		if !errors.Is(err, runtime.ErrExists) {
			t.Fatalf("got %v", err)
		}
		claim, err := l.Ledger.Claim(t.Context(), name)
		must(t, err)
		defer claim.Release()
		if _, err := l.Create(t.Context(), plan(t, "q", "", simple)); !errors.Is(err, runtime.ErrExists) {
			t.Errorf("made again while somebody runs it: got %v, want ErrExists", err)
		}
	})
}

// TestRunGoesOnAfterACrashAtEveryEvent drops everything in memory after n events
// have become visible, for every n, and goes on from the ledger.
func TestRunGoesOnAfterACrashAtEveryEvent(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	whole := l.run(l.create(plan(t, "whole", "", simple)))
	for n := 1; n < int(whole.Seq); n++ {
		name := l.create(plan(t, "crash-"+string(rune('a'+n/26))+string(rune('a'+n%26)), "", simple))
		ctx, crash := context.WithCancel(t.Context())
		seen := 1
		first, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(event.Event, *quest.State) {
			if seen++; seen > n {
				crash()
			}
		}})
		crash()
		if err == nil && first.Status == quest.Finished {
			break // the crash came with the last batch
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("crash after %d: %v", n, err)
		}
		s := l.run(name)
		if s.Status != quest.Finished || s.Answer.Text != "It is 42." {
			t.Fatalf("crash after %d: %s %v", n, s.Status, s.Answer)
		}
		if s.Agents[0].Tree.Hash != whole.Agents[0].Tree.Hash {
			t.Errorf("crash after %d: another workspace", n)
		}
		l.sound(name)
	}
}

// slowTool is a tool whose end the test decides on.
func (l *lab) slowTool(repeatable bool) (begun chan struct{}, finish chan struct{}) {
	l.t.Helper()
	begun, finish = make(chan struct{}, 10), make(chan struct{})
	reg, err := tool.New(tool.Tool{
		Tool:       model.Tool{Name: "slow", Description: "waits", Schema: `{"type":"object","additionalProperties":false}`},
		Repeatable: repeatable,
		Run: func(ctx context.Context, _ tool.Call) (string, error) {
			begun <- struct{}{}
			select {
			case <-finish:
				return "done", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	})
	must(l.t, err)
	l.Tools = reg
	return begun, finish
}

const slowRules = `
rules:
  - on: {turn: 1}
    call: [{tool: slow, args: {}}]
  - on: {last: "hurry"}
    say: "I heard it."
  - on: {tool: slow, result: "outcome unknown"}
    say: "Interrupted."
  - on: {tool: slow, result: "done"}
    say: "Done."
`

func TestACommandThatMayHaveRunIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repeatable bool
		answer     string
	}{{false, "Interrupted."}, {true, "Done."}} {
		l := newLab(t)
		begun, finish := l.slowTool(c.repeatable)
		name := l.create(plan(t, "q", "", slowRules))
		ctx, crash := context.WithCancel(t.Context())
		go func() { <-begun; crash() }()
		if _, err := l.Run(ctx, name, runtime.RunOptions{}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		close(finish)
		if s := l.run(name); s.Answer == nil || s.Answer.Text != c.answer {
			t.Errorf("repeatable %v: answer %v", c.repeatable, s.Answer)
		}
		l.sound(name)
	}
}

func TestInterruptLetsWhatIsUnderWayComeIn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	begun, finish := l.slowTool(false)
	name := l.create(plan(t, "q", "", slowRules))
	interrupt := make(chan struct{})
	go func() { <-begun; close(interrupt) }()
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Interrupt: interrupt, OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "quest.paused" {
			close(finish)
		}
	}})
	if !errors.Is(err, runtime.ErrInterrupted) || s.Status != quest.Paused {
		t.Fatalf("an interrupted run: got %v, %s, want it paused", err, s.Status)
	}
	if got := types(l.events(name)); !strings.HasSuffix(got, "tool.call quest.paused tool.result") {
		t.Fatalf("the events are %s", got)
	}
	if s := l.run(name); s.Answer == nil || s.Answer.Text != "Done." {
		t.Fatalf("answer %v", s.Answer)
	}
	l.sound(name)
}

func TestCommandsOfAnotherProcessReachTheOwnerOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l, other := openLab(t, home, nil), openLab(t, home, nil)
	begun, finish := l.slowTool(false)
	name := l.create(plan(t, "q", "", slowRules))
	ctx := t.Context()
	post := func(key string, b event.Body) {
		t.Helper()
		for range 2 { // sent twice, as by someone who was not sure
			_, err := other.Ledger.Post(ctx, name, ledger.Command{Key: key, Body: b})
			must(t, err)
		}
	}
	go func() {
		<-begun
		post("1", &event.QuestPaused{})
		post("2", &event.UserMessage{Text: event.Text{Text: "hurry"}})
		for e, err := range other.Ledger.Follow(ctx, name, 1) {
			if err != nil {
				t.Error(err)
				return
			}
			if e.Type == "user.message" {
				close(finish)
			}
			if e.Type == "tool.result" {
				post("3", &event.QuestResumed{})
				return
			}
		}
	}()
	s := l.run(name)
	if s.Answer == nil || s.Answer.Text != "I heard it." {
		t.Fatalf("answer %v", s.Answer)
	}
	got := types(l.events(name))
	for _, want := range []string{"quest.paused", "user.message", "quest.resumed"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s comes %d times in %s", want, strings.Count(got, want), got)
		}
	}
	l.sound(name)

	t.Run("AndWhenNobodyOwnsIt", func(t *testing.T) {
		post("4", &event.UserMessage{Text: event.Text{Text: "hurry"}})
		for range 2 {
			s, err := other.Settle(ctx, name)
			must(t, err)
			if s.Agents[0].Phase().String() != "ready" {
				t.Fatalf("the agent is %s", s.Agents[0].Phase())
			}
		}
		if s := l.run(name); s.Status != quest.Finished {
			t.Fatalf("status %s", s.Status)
		}
		l.sound(name)
	})
	t.Run("AndStop", func(t *testing.T) {
		stopped := l.create(plan(t, "r", "", slowRules))
		_, err := other.Post(ctx, stopped, ledger.Command{Body: &event.QuestStopped{Reason: "enough"}})
		must(t, err)
		s, err := other.Settle(ctx, stopped)
		must(t, err)
		if s.Status != quest.Stopped || s.Reason != "enough" {
			t.Fatalf("the quest is %s (%s), want it stopped with its reason", s.Status, s.Reason)
		}
	})
}

func TestASecondOwnerIsRefused(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l, other := openLab(t, home, nil), openLab(t, home, nil)
	begun, finish := l.slowTool(false)
	name := l.create(plan(t, "q", "", slowRules))
	go func() {
		<-begun
		if _, err := other.Run(t.Context(), name, runtime.RunOptions{}); !errors.Is(err, ledger.ErrClaimed) {
			t.Errorf("a second owner got %v", err)
		}
		close(finish)
	}()
	l.run(name)
}

func TestLimitsStopTheQuest(t *testing.T) {
	t.Parallel()
	const busy = `
rules:
  - cost: "0.01"
    usage: {input: 100, output: 10}
    call: [{tool: calculate, args: {code: "${turn}"}}]
`
	for _, c := range []struct{ limit, want string }{
		{"turns: 3", "turns"}, {"turns: 0", "turns"}, {"cost: 0", "cost"}, {"cost: 0.035", "cost"},
		{"tokens: 250", "tokens"}, {"duration: 40ms", "duration"},
	} {
		l := newLab(t)
		name := l.create(plan(t, "q", "limits: {"+c.limit+"}\n", busy))
		s := l.run(name)
		if s.Status != quest.Exceeded || s.Reason != c.want {
			t.Errorf("limit %s: %s (%s)", c.limit, s.Status, s.Reason)
		}
		if c.limit == "cost: 0.035" && s.Spent.Cost != 40_000_000 {
			t.Errorf("spent %d", s.Spent.Cost)
		}
		if c.limit == "cost: 0" && s.Spent.Turns != 0 {
			t.Errorf("%d turns on a budget of nothing", s.Spent.Turns)
		}
		l.sound(name)
		more := s.Spent.Turns + 2
		again, err := l.Run(t.Context(), name, runtime.RunOptions{Limits: event.Limits{Turns: &more, Cost: new(int64(1e12)), Tokens: new(int64(1e9)), Duration: new(int64(1e12))}})
		must(t, err)
		if again.Reason != "turns" || again.Spent.Turns != more {
			t.Errorf("limit %s raised: %s after %d turns", c.limit, again.Reason, again.Spent.Turns)
		}
		l.sound(name)
	}
}

func TestATimeLimitEndsACallThatHangs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "limits: {duration: 30ms}\n", "rules: [{fault: hang}]"))
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Grace: 1})
	must(t, err)
	if s.Status != quest.Exceeded {
		t.Fatalf("status %s", s.Status)
	}
	rep, err := audit.Replay(t.Context(), l.Runtime, name, nil)
	must(t, err)
	if rep.Difference != nil {
		t.Fatalf("the replay differs: %v", rep.Difference)
	}
}

func TestFailuresAreContained(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rules, reason string }{
		"unavailable": {"rules: [{fault: unavailable}]", "ordered"},
		"empty":       {"rules: [{fault: empty}]", "three times"},
		"context":     {"rules: [{fault: context}]", "ordered"},
		"refusal":     {"rules: [{say: no, stop: refusal}]", "refused"},
		"no-rule":     {"rules: [{on: {turn: 7}, say: x}]", "rule"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			q := l.create(plan(t, name, "", c.rules))
			s := l.run(q)
			if s.Status != quest.Failed || !strings.Contains(s.Reason, c.reason) {
				t.Fatalf("the quest is %s: %s, want it failed with the reason", s.Status, s.Reason)
			}
			l.sound(q)
		})
	}
	t.Run("panics", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return panicking{}, nil }
		q := l.create(plan(t, "q", "", simple))
		if s := l.run(q); s.Status != quest.Failed || !strings.Contains(s.Reason, "panicked") {
			t.Fatalf("the quest is %s: %s, want it failed by a panic", s.Status, s.Reason)
		}
	})
	t.Run("rules whose event does not fit", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.Societies = []quest.Society{unfit{}}
		q := l.create(plan(t, "q", "", simple))
		_, err := l.Run(t.Context(), q, runtime.RunOptions{})
		if err == nil || !strings.Contains(err.Error(), "(agent.parked) does not fit") {
			t.Fatalf("the run ends with %v, want it to say which event does not fit", err)
		}
		if last := l.events(q); last[len(last)-1].Type == "agent.parked" {
			t.Errorf("the ledger ends with %s, want nothing of what does not fit", last[len(last)-1].Type)
		}
	})
	t.Run("a cut answer goes on", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		q := l.create(plan(t, "q", "", "rules: [{on: {turn: 1}, say: part, stop: length}, {on: {last: 'cut off'}, say: whole}]"))
		if s := l.run(q); s.Status != quest.Finished || s.Answer.Text != "whole" {
			t.Fatalf("the quest is %s %v, want its whole answer", s.Status, s.Answer)
		}
		l.sound(q)
	})
}

// unfit is rules that park an agent that there is not.
type unfit struct{ solo.Society }

func (unfit) Answered(_ *quest.State, _ *agent.Agent, e event.Event) []event.Draft {
	return []event.Draft{quest.After(e, "nobody", "", &event.AgentParked{Reason: "a mistake"})}
}

type panicking struct{}

func (panicking) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Answer, error) {
	panic("no model here")
}

func TestAFullDiskStopsTheRunAndLosesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := openLab(t, home, nil)
	name := l.create(plan(t, "q", "", `
rules:
  - on: {until_turn: 200}
    say: "`+strings.Repeat("words ", 800)+`"
    call: [{tool: calculate, args: {code: "${turn}"}}]
  - say: "The end."
`))
	must(t, l.store.Close())
	small := openLab(t, home, &sqlite.Options{MaxPages: 150})
	s, err := small.Run(t.Context(), name, runtime.RunOptions{})
	if !errors.Is(err, ledger.ErrFull) {
		t.Fatalf("got %v", err)
	}
	kept := len(small.events(name))
	if kept < 10 {
		t.Fatalf("only %d events were kept", kept)
	}
	_ = s
	must(t, small.store.Close())
	large := openLab(t, home, nil)
	if s := large.run(name); s.Status != quest.Finished {
		t.Fatalf("status %s: %s", s.Status, s.Reason)
	}
	large.sound(name)
}

// TestEightToolsOfATurnRunAtOnce: no more and no fewer, and their results stand in the
// order of the calls.
func TestEightToolsOfATurnRunAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var running, most atomic.Int64
	var once sync.Once
	full := make(chan struct{}) // the first eight wait for each other
	probe := tool.Tool{
		Tool:       model.Tool{Name: "probe", Description: "Waits.", Schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`},
		Repeatable: true, Reads: true,
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			n := running.Add(1)
			defer running.Add(-1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			if n == 8 {
				once.Do(func() { close(full) })
			}
			select {
			case <-full:
				return "probed " + string(c.Args), nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	}
	var err error
	l.Tools, err = tool.New(probe)
	must(t, err)
	calls := ""
	for i := range 20 {
		calls += fmt.Sprintf("      - {tool: probe, args: {n: %d}}\n", i)
	}
	name := l.create(plan(t, "many", "", "rules:\n  - on: {turn: 1}\n    call:\n"+calls+"  - on: {tool: probe}\n    say: done\n"))
	s := l.run(name)
	if s.Status != quest.Finished {
		t.Fatalf("the quest is %s: %s, want it finished", s.Status, s.Reason)
	}
	if most.Load() != 8 {
		t.Errorf("%d ran at once, want 8", most.Load())
	}
	results := s.Agents[0].Transcript.Messages[2].Parts
	for i, p := range results {
		if want := fmt.Sprintf(`probed {"n":%d}`, i); p.Text.Text != want {
			t.Errorf("result %d is %q, want %q", i, p.Text.Text, want)
		}
	}
	if len(results) != 20 {
		t.Errorf("%d results", len(results))
	}
}
