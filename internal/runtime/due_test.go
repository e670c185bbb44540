package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// long is a quest whose events have more than the least that is worth a snapshot.
const long = `
rules:
  - on: {until_turn: 40}
    call: [{tool: calculate, args: {code: "print('x' * 8000 + '${turn}')"}}]
  - say: "The end."
`

// TestAQuestThatIsCutOffHasASnapshot: a run that ends without a word has saved what is worth it.
func TestAQuestThatIsCutOffHasASnapshot(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", long))
	ctx, cut := context.WithCancel(t.Context())
	_, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if c, ok := e.Body.(*event.ModelCall); ok && c.Turn == 38 {
			cut()
		}
	}})
	if err == nil {
		t.Fatal("the run was not cut off")
	}
	saved := filepath.Join(l.Home, "cache", name+".state")
	if _, err := os.Stat(saved); err != nil {
		t.Fatalf("after 38 turns of 8 KB there is no snapshot: %v", err)
	}
	must(t, os.Remove(saved))
	if _, err := l.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	first, err := os.Stat(saved)
	if err != nil {
		t.Fatalf("who has read it all has not saved it: %v", err)
	}
	if _, err := l.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if again, err := os.Stat(saved); err != nil || !os.SameFile(first, again) {
		t.Errorf("who has read next to nothing has saved it again: %v", err)
	}
	if s := l.run(name); s.Status != quest.Finished {
		t.Errorf("the quest is %s: %s, want it finished", s.Status, s.Reason)
	}
	l.sound(name)
}

// TestASmallQuestHasNoSnapshot: it would cost more than it saves.
func TestASmallQuestHasNoSnapshot(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	name := l.create(plan(t, "q", "", simple))
	l.run(name)
	if _, err := l.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(l.Home, "cache", name+".state")); err == nil {
		t.Error("a quest of three turns has a snapshot")
	}
}

// rememberer is a model that keeps all but the last message of each request, as drivers do, and notes how
// many it finds kept.
type rememberer struct {
	found, seen []int
}

func (m *rememberer) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	kept, n := wire.Settled[int](r, "frame")
	m.found, m.seen = append(m.found, n), append(m.seen, len(r.Messages))
	kept.Settle(r, len(r.Messages)-1, nil, 0)
	if r.Turn > 60 {
		return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: "The end."}}, Stop: model.StopEnd}, nil
	}
	call := model.Part{Kind: event.PartToolCall, ID: "c", Name: "calculate", Args: `{"code":"'` + strings.Repeat("x", int(r.Turn)) + `'"}`}
	return &model.Answer{Parts: []model.Part{call}, Stop: model.StopTools, Usage: event.Usage{Input: 10, Output: 10}}, nil
}

// TestADriverFindsWhatItKept: each request of an agent begins with the very messages of the one
// before, so that a driver need write them only once.
func TestADriverFindsWhatItKept(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := &rememberer{}
	l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return m, nil }
	name := l.create(plan(t, "q", "", simple))
	l.run(name)
	if len(m.seen) < 50 {
		t.Fatalf("there were %d requests, want more than 50", len(m.seen))
	}
	for i := 1; i < len(m.seen); i++ {
		if m.found[i] != m.seen[i-1]-1 {
			t.Errorf("request %d finds %d messages of the %d before, want all but the last", i+1, m.found[i], m.seen[i-1])
		}
	}
}
