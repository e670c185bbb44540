package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// fencing is a store whose claims have epochs, as those of a store that many machines share.
type fencing struct {
	ledger.Store
	epoch, before int64
}

type fenced struct {
	ledger.Claim
	epoch, before int64
}

func (f fenced) Epoch() int64               { return f.epoch }
func (f fenced) Before() int64              { return f.before }
func (f fenced) Sure(context.Context) error { return nil }

func (f fencing) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	claim, err := f.Store.Claim(ctx, quest)
	if err != nil {
		return nil, err
	}
	return fenced{claim, f.epoch, f.before}, nil
}

// twoTurns writes a file, waits for words, and answers again.
const twoTurns = `
rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: note.md, content: "recorded"}}]
  - say: "Done."
`

func TestFilesOfAnotherTimeAreMadeAsTheyAreRecordedAndOwnOnesAreKept(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	store := l.Ledger
	q := l.create(plan(t, "q", "", twoTurns))
	path := filepath.Join(l.QuestDir(q), "agents", "agent-0", "note.md")
	run := func(epoch, before int64) string {
		t.Helper()
		l.Ledger = fencing{store, epoch, before}
		_, err := l.Run(t.Context(), q, runtime.RunOptions{})
		must(t, err)
		data, err := os.ReadFile(path)
		must(t, err)
		return string(data)
	}
	if got := run(3, 0); got != "recorded" {
		t.Fatalf("after the first run the file is %q", got)
	}
	for _, next := range []struct {
		what          string
		epoch, before int64
		want          string
	}{
		{"was the last to own the quest", 7, 3, "by hand"},
		{"was not: another had it meanwhile", 12, 9, "recorded"},
	} {
		must(t, os.WriteFile(path, []byte("by hand"), 0o600))
		l.post(q, say("Once more."))
		if got := run(next.epoch, next.before); got != next.want {
			t.Errorf("a node that %s: the file is %q, want %q", next.what, got, next.want)
		}
		must(t, os.WriteFile(path, []byte("recorded"), 0o600))
	}
}

// handing is a model that answers once its run was told to hand over.
type handing struct {
	model.Model
	asked chan<- struct{}
	told  <-chan struct{}
}

func (h handing) Generate(ctx context.Context, r *model.Request, on func(model.Delta)) (*model.Answer, error) {
	select {
	case h.asked <- struct{}{}:
	default:
	}
	<-h.told
	return h.Model.Generate(ctx, r, on)
}

func TestARunThatIsHandedOverTakesWhatIsUnderWayAndLeavesTheRestToTheNext(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ran := 0
	once := tool.Tool{Tool: model.Tool{Name: "once", Description: "must not be used twice", Schema: `{"type":"object"}`},
		Run: func(context.Context, tool.Call) (string, error) { ran++; return "done", nil }}
	tools, err := tool.New(once)
	must(t, err)
	l.Tools = tools
	q := l.create(plan(t, "q", "tools: [once]\n", strings.ReplaceAll(twoTurns, `{tool: write_file, args: {path: note.md, content: "recorded"}}`, "{tool: once, args: {}}")))
	models := l.Models
	asked, told, over := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	l.Models = func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := models(name, pin)
		return handing{m, asked, told}, err
	}
	go func() {
		<-asked
		close(over)
		close(told)
	}()
	s, err := l.Run(t.Context(), q, runtime.RunOptions{HandOver: over, Served: func(*quest.State, error) bool { return true }})
	if !errors.Is(err, runtime.ErrHandedOver) || s.Status != quest.Running || !l.IsMarked(t.Context(), q) {
		t.Fatalf("a run that was handed over: got %v, and the quest is %s; want ErrHandedOver, and that it counts as running and is to run", err, s.Status)
	}
	count := map[event.Type]int{}
	kinds := func() map[event.Type]int {
		t.Helper()
		clear(count)
		for e, err := range l.Ledger.Read(t.Context(), q, 1) {
			must(t, err)
			count[e.Type]++
			if strings.Contains(string(e.Line()), "outcome unknown") {
				t.Errorf("of a call that was never begun is said: %s", e.Line())
			}
		}
		return count
	}
	if n := kinds(); n["model.result"] != 1 || n["tool.call"] != 1 || n["tool.result"] != 0 || n["quest.paused"] != 0 {
		t.Fatalf("the run has left %v, want the model's answer and the call that follows, which it has not begun, and no pause", n)
	}
	l.Models = models
	if s := l.run(q); s.Status != quest.Finished {
		t.Errorf("the next owner's run left the quest %s, want finished", s.Status)
	}
	if n := kinds(); ran != 1 || n["model.result"] != 2 || n["tool.result"] != 1 || n["quest.paused"] != 0 {
		t.Errorf("in the end there are %v, want each call answered once, and no pause", n)
	}
	l.sound(q)
}
