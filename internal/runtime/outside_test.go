package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// foreign is solo with an agent that is none of ours: somebody outside acts.
type foreign struct{ solo.Society }

func (foreign) Rules() string { return "foreign/1" }

func (foreign) Roles(*quest.Spec, bool, bool) []quest.Role {
	return []quest.Role{{Name: "agent-0", Executor: "acp:somebody", Text: "system", World: true}}
}

// embassy is where the outside agent sits: act does what it does, in each run.
type embassy struct {
	act func(ctx context.Context, q *runtime.Quest) error
}

func (e *embassy) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	d := &delegate{done: make(chan struct{})}
	started := make(chan struct{})
	d.begin = sync.OnceFunc(func() { close(started) })
	ctx, d.stop = context.WithCancel(ctx)
	go func() {
		defer close(d.done)
		select {
		case <-started:
		case <-ctx.Done():
			return
		}
		if err := e.act(ctx, q); err != nil && ctx.Err() == nil {
			q.Fail(err)
		}
	}()
	return d, nil
}

type delegate struct {
	begin func()
	stop  context.CancelFunc
	done  chan struct{}
}

func (d *delegate) Services() map[event.Type]runtime.Service { return nil }
func (d *delegate) Printed(event.Event)                      { d.begin() }
func (d *delegate) Close() error {
	d.stop()
	<-d.done
	return nil
}

func newEmbassy(t *testing.T, act func(ctx context.Context, q *runtime.Quest) error) *lab {
	t.Helper()
	l := newLab(t)
	l.Societies = quest.Societies{foreign{}}
	l.Workshops = map[string]runtime.Workshop{"foreign": &embassy{act}}
	return l
}

// stop has somebody stop the quest: an outside agent of these rules has no other end.
func stop(ctx context.Context, q *runtime.Quest) error {
	_, err := q.Post(ctx, q.Key, ledger.Command{Key: "stop", Body: &event.QuestStopped{Reason: "done"}})
	return err
}

func TestAnOutsideAgentUsesTools(t *testing.T) {
	var got []string
	use := func(ctx context.Context, q *runtime.Quest, id, name, args string) {
		a, err := q.Use(ctx, runtime.Proposal{Agent: "agent-0", ID: id, Tool: name, Args: args})
		got = append(got, fmt.Sprintf("%s: %.40s %v %v", id, strings.TrimSpace(a.Text), a.Error, err))
	}
	l := newEmbassy(t, func(ctx context.Context, q *runtime.Quest) error {
		use(ctx, q, "a", "calculate", `{"code":"print(6*7)"}`)
		use(ctx, q, "b", "write_file", `{"path":"x","content":"`+strings.Repeat("long ", 5000)+`"}`)
		use(ctx, q, "a", "calculate", `{"code":"print(1)"}`) // it has been proposed, and answered
		use(ctx, q, "c", "nonsense", `{}`)
		if _, err := q.Use(ctx, runtime.Proposal{Agent: "nobody", ID: "d", Tool: "calculate"}); err == nil || !strings.Contains(err.Error(), "no outside agent nobody") {
			return fmt.Errorf("a call of nobody: %w", err)
		}
		return stop(ctx, q)
	})
	name := l.create(plan(t, "q", "", simple))
	l.run(name)
	want := []string{"a: 42 false <nil>", "b: wrote 25000 bytes to x false <nil>", "a: 42 false <nil>", `c: There is no tool "nonsense". You have: c true <nil>`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("it heard something else: %s", diff)
	}
	if n := strings.Count(types(l.events(name)), "tool.call"); n != 3 {
		t.Errorf("%d calls were made, want 3: %s", n, types(l.events(name)))
	}
	l.sound(name)
}

// A process that dies takes nothing with it: the agent proposes its call again, and it is
// not made twice.
func TestAnOutsideAgentComesBack(t *testing.T) {
	var runs int
	var answers []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := newEmbassy(t, func(ctx context.Context, q *runtime.Quest) error {
		runs++
		if runs == 1 {
			_, err := q.Use(ctx, runtime.Proposal{Agent: "agent-0", ID: "slow", Tool: "slow", Args: `{}`})
			return err
		}
		for range 2 {
			a, err := q.Use(ctx, runtime.Proposal{Agent: "agent-0", ID: "slow", Tool: "slow", Args: `{}`})
			if err != nil {
				return err
			}
			answers = append(answers, a.Text)
		}
		return stop(ctx, q)
	})
	ran := 0
	slow := tool.Tool{Tool: model.Tool{Name: "slow", Description: "takes its time", Schema: `{"type":"object"}`}, Repeatable: true,
		Run: func(ctx context.Context, _ tool.Call) (string, error) {
			if ran++; ran == 1 {
				cancel() // the process dies while it works
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "done", nil
		}}
	tools, err := tool.New(slow)
	must(t, err)
	l.Tools = tools
	name := l.create(plan(t, "q", "", simple))
	if _, err := l.Run(ctx, name, runtime.RunOptions{}); err == nil {
		t.Fatal("the first run ends well")
	}
	l.run(name)
	if len(answers) != 2 || answers[0] != "done" || answers[1] != "done" {
		t.Errorf("it heard %q", answers)
	}
	if n := strings.Count(types(l.events(name)), "tool.proposed"); n != 1 || ran != 2 {
		t.Errorf("it was proposed %d times and ran %d times: %s", n, ran, types(l.events(name)))
	}
	l.sound(name)
}

// showroom gives an agent a tool of a stranger's.
type shower struct{}

func (s *shower) Services() map[event.Type]runtime.Service { return nil }
func (s *shower) Close() error                             { return nil }
func (s *shower) Printed(e event.Event)                    {}

type showing struct {
	solo.Society
}

func (showing) Rules() string { return "showing/1" }

type showroom struct{ t *testing.T }

func (r showroom) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	fetch := tool.Tool{Tool: model.Tool{Name: "fetch", Description: "fetches", Schema: `{"type":"object"}`}, Source: "mcp:web", Trust: event.TrustStranger,
		Run: func(context.Context, tool.Call) (string, error) { return "fetched", nil }}
	if err := q.Extra.Add(fetch); err != nil {
		return nil, err
	}
	d, err := q.Show(ctx, "agent-0", []tool.Tool{fetch})
	if err != nil {
		return nil, err
	}
	b := d.Body.(*event.ToolsShown)
	last := b.Shown[len(b.Shown)-1]
	if last.Name != "fetch" || last.Source != "mcp:web" || len(b.Shown) < 3 {
		r.t.Errorf("the list is %+v", b.Shown)
	}
	for i, name := range q.State.Agent("agent-0").ToolNames {
		if b.Shown[i].Name != name {
			r.t.Errorf("tool %d is %s and was %s: what stays keeps its place", i, b.Shown[i].Name, name)
		}
	}
	q.Put(d)
	return &shower{}, nil
}

func TestAnAgentIsShownTools(t *testing.T) {
	l := newLab(t)
	l.Societies = quest.Societies{showing{}}
	l.Workshops = map[string]runtime.Workshop{"showing": showroom{t}}
	name := l.create(plan(t, "q", "tools: [calculate, write_file]\n", `
rules:
  - on: {turn: 1}
    call: [{tool: calculate, args: {code: "print(1)"}}]
  - on: {turn: 2}
    call: [{tool: fetch, args: {}}]
  - on: {turn: 3}
    say: "Done."
`))
	s := l.run(name)
	all := l.events(name)
	if s.Status != quest.Finished || !strings.Contains(types(all), "tools.shown") {
		t.Fatalf("it is %s: %s", s.Status, types(all))
	}
	found := false
	for _, e := range all {
		if b, ok := e.Body.(*event.ToolResult); ok && e.Tool == "fetch" {
			found = b.Output.Text == "fetched"
		}
	}
	if !found {
		t.Error("the tool that it was shown was not run")
	}
	l.sound(name)
}
