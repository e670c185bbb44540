package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/runtime/service"
)

// TestATurnOfManyCalls fits into an event, whatever it has: long arguments stand elsewhere, and calls that find no place
// are not made. Who made them is told, and the run goes on.
func TestATurnOfManyCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls, size, most int
		told              string
	}{
		// One that fits to a few bytes, before it is known how long it took and what it stored.
		"ToTheBrim":   {90, 127, 90, "progress-1 is recorded"},
		"OverTheBrim": {90, 128, 90, "progress-1 is recorded"},
		"OfLongOnes":  {90, 1000, 90, "The arguments are too long"},
		"OfMoreParts": {120, 10, 99, "not read"},
		"OfShortOnes": {99, 75, 98, "not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			b.WriteString("rules:\n  - on: {turn: 1}\n    call:\n")
			for i := range c.calls {
				fmt.Fprintf(&b, "      - {tool: record, args: {kind: progress, title: \"t%d\", text: %q}}\n", i, strings.Repeat("x", c.size))
			}
			b.WriteString("  - say: \"Turn ${turn}.\"\n")
			l := newStages(t, service.Stages{})
			quest := l.create(plan(t, "q", "society: stages\n", b.String()))
			l.rests(quest)
			recorded, turns, told, cut := 0, 0, "", ""
			for _, e := range l.events(quest) {
				switch b := e.Body.(type) {
				case *event.ArtifactRecorded:
					recorded++
				case *event.ToolAnswered:
					told += b.Output.Text + "\n"
				case *event.ToolResult:
					told += b.Output.Text + "\n"
				case *event.ModelResult:
					if turns++; b.Error != nil {
						t.Errorf("turn %d failed: %s", turns, b.Error.Text)
					}
					for _, p := range b.Parts {
						if p.Args != nil && strings.HasPrefix(p.Args.Text, "not read: ") {
							cut = p.Args.Text
						}
					}
				}
			}
			if turns != 2 || recorded == 0 || recorded > c.most || !strings.Contains(told+cut, c.told) {
				t.Errorf("%d turns, %d recorded, cut: %q, told:\n%.600s\nwant two turns, at most %d recorded, and %q told", turns, recorded, cut, told, c.most, c.told)
			}
			if cut != "" && !strings.Contains(told, "JSON") {
				t.Errorf("a call that was not read is not answered as a wrong one:\n%.2000s", told)
			}
			l.sound(quest)
		})
	}
}
