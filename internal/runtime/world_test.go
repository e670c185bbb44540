package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// TestNoAgentHearsThatNoFileCanBeOpened: what a machine cannot do just now is no answer to a
// tool's call. The run ends with the call open, and the next one makes it again.
func TestNoAgentHearsThatNoFileCanBeOpened(t *testing.T) {
	t.Parallel()
	for _, world := range []error{syscall.EMFILE, syscall.ENFILE} {
		l := newLab(t)
		tries := 0
		tools, err := tool.New(tool.Tool{
			Tool:       model.Tool{Name: "calculate", Description: "Opens a file.", Schema: `{"type":"object"}`},
			Repeatable: true,
			Run: func(context.Context, tool.Call) (string, error) {
				if tries++; tries == 1 {
					return "", fmt.Errorf("open it: %w", world)
				}
				return "42", nil
			},
		})
		must(t, err)
		l.Tools = tools
		name := l.create(plan(t, "q", "tools: [calculate]\n", "rules:\n  - on: {turn: 1}\n    call: [{tool: calculate, args: {}}]\n  - say: It is 42.\n"))
		kept := false
		_, err = l.Run(t.Context(), name, runtime.RunOptions{Served: func(_ *quest.State, err error) bool { kept = runtime.Passing(err); return kept }})
		if !errors.Is(err, world) || !kept || !l.IsMarked(t.Context(), name) {
			t.Fatalf("a run without files: got %v (mark kept: %v), want %v and the mark", err, l.IsMarked(t.Context(), name), world)
		}
		if s := l.run(name); s.Status != quest.Finished || tries != 2 {
			t.Fatalf("the next run: the quest is %s after %d tries, want finished after 2", s.Status, tries)
		}
		for _, e := range l.events(name) {
			if r, ok := e.Body.(*event.ToolResult); ok && (r.Error || strings.Contains(r.Output.Text, "open")) {
				t.Errorf("the agent is told %q, want 42", r.Output.Text)
			}
		}
		l.sound(name)
	}
}
