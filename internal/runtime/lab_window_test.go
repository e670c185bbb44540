package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// TestAResultLargerThanTheWindowIsShortened: the agent sees its beginning and its end,
// and goes on; the model is never sent more than it can read.
func TestAResultLargerThanTheWindowIsShortened(t *testing.T) {
	t.Parallel()
	const window = 4000
	for what, size := range map[string]int{"LargerThanHalf": 9000, "LargerThanAll": 30_000, "LargerThanAnyIsShown": 400_000} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			most := 0
			l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
				shown := len(r.System)
				for _, m := range r.Messages {
					for _, p := range m.Parts {
						shown += len(p.Text) + len(p.Args)
					}
				}
				for _, tool := range r.Tools {
					shown += len(tool.Description) + len(tool.Schema)
				}
				if most = max(most, shown); r.Turn <= 4 {
					return []act{{"read_file", args{"path": "large.txt", "offset": r.Turn}}}
				}
				if !said(r, "Submitted as") {
					return []act{{"submit_publication", args{"title": "T", "content": "C"}}}
				}
				return nil
			})
			name := l.found(1, "window: 4000\ntools: [read_file]\n")
			must(t, os.WriteFile(filepath.Join(l.home(name, "agent-0"), "large.txt"), []byte("first\n"+strings.Repeat("0123456\n", size/8)+"last\n"), 0o644))
			if s := l.run(name); s.Rested != event.RestNoAgreement {
				t.Fatalf("the lab is %s: %s, want it to rest without a vote", s.Status, s.Reason)
			}
			if most > window*4 {
				t.Errorf("a request had %d bytes, in a window of %d tokens", most, window)
			}
			for _, e := range l.events(name) {
				if b, ok := e.Body.(*event.ToolResult); ok {
					if b.Error || b.Output.Ref == nil || !strings.Contains(b.Output.Text, " bytes; read_result(call: ") {
						t.Errorf("the agent sees %+v", b)
					}
				}
			}
			l.whole(name)
		})
	}
}
