package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	rules "lyceum/internal/society/lab"
)

// leftOpen plays a lab of three that agree while the last of them is asked again after
// its vote, and does not answer.
func leftOpen() actor {
	hanging := make(chan struct{})
	var once sync.Once
	return func(ctx context.Context, r *model.Request) []act {
		switch {
		case r.Agent == "agent-2" && said(r, "Your vote is for"):
			once.Do(func() { close(hanging) })
			<-ctx.Done()
			return nil
		case r.Agent == "agent-0" && !said(r, "Submitted as"):
			return []act{{"submit_publication", args{"title": "T", "content": "C", "attachments": []string{"a"}}}}
		}
		out := honest(r, "")
		if r.Agent == "agent-0" && slices.ContainsFunc(out, func(a act) bool { return a.tool == "vote_solution" }) {
			select {
			case <-hanging:
			case <-ctx.Done():
			}
		}
		return out
	}
}

// leftUp is a driver whose computers are up until they are killed.
type leftUp struct {
	computer.Driver
	killed []string
}

func (*leftUp) Name() string { return "left" }

func (d *leftUp) Kill(_ context.Context, handle string) error {
	d.killed = append(d.killed, handle)
	return nil
}

// TestAFinishedQuestIsTidiedUp drops a lab when its answer is durable, before anything
// that comes after. What is left is done later, once, and no more is asked of anybody.
func TestAFinishedQuestIsTidiedUp(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), leftOpen())
	name := l.found(3, "")
	must(t, file("a")(l.home(name, "agent-0")))
	ctx, die := context.WithCancel(t.Context())
	defer die()
	_, _ = l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "quest.finished" {
			die()
		}
	}})
	s, err := l.Load(t.Context(), name)
	must(t, err)
	if s.Status != quest.Finished || len(s.Calls) == 0 {
		t.Fatalf("%s: %s, %d calls are open", s.Status, s.Reason, len(s.Calls))
	}
	// As if nothing had been written.
	for _, made := range []string{"publications", ".git", "SUMMARY.md"} {
		must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), made)))
	}
	// And without a model.
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		t.Error("a model is asked for")
		return nil, os.ErrNotExist
	}
	// A computer is still up.
	up := &leftUp{}
	l.Computers = []computer.Driver{up}
	for f, text := range map[string]string{"lock": "", "computer.json": `{"driver":"left","handle":"it"}`} {
		must(t, os.MkdirAll(filepath.Join(l.QuestDir(name), "computers", "agent-0"), 0o755))
		must(t, os.WriteFile(filepath.Join(l.QuestDir(name), "computers", "agent-0", f), []byte(text), 0o644))
	}
	before, open := s.Seq, uint64(len(s.Calls))
	for range 2 {
		s, err = l.TidyUp(t.Context(), name, nil)
		must(t, err)
		if s.Status != quest.Finished || s.Seq != before+open || len(s.Calls) != 0 {
			t.Errorf("%s with %d calls open, and %d new events", s.Status, len(s.Calls), s.Seq-before)
		}
		l.onDisk(name)
		l.whole(name)
	}
	if !slices.Contains(up.killed, "it") {
		t.Error("the computer is still up")
	}
	summary, err := os.ReadFile(filepath.Join(l.QuestDir(name), "SUMMARY.md"))
	must(t, err)
	if !strings.Contains(string(summary), rules.Library(s).Best().Ref) {
		t.Errorf("SUMMARY.md says %q", summary)
	}
	// Who goes on is not held up by what did not come.
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) {
		return actor(func(_ context.Context, r *model.Request) []act {
			return []act{{"vote_solution", args{"ref": rules.Library(s).Best().Ref}}}
		}), nil
	}
	if s := l.run(name); s.Status != quest.Finished {
		t.Errorf("it went on, and is %s: %s", s.Status, s.Reason)
	}
	l.whole(name)
}

// TestOnlyAFinishedQuestIsTidiedUp: one that goes on has its owner for that.
func TestOnlyAFinishedQuestIsTidiedUp(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), func(context.Context, *model.Request) []act { return nil })
	name := l.found(1, "")
	if s, err := l.TidyUp(t.Context(), name, nil); err != nil || s.Status != quest.Created || len(l.events(name)) != 1 {
		t.Errorf("%v, %v, %d events", s, err, len(l.events(name)))
	}
}
