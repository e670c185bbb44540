package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/script"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	all "lyceum/internal/society"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var societies = []quest.Society{solo.Society{}}

// lab is a runtime on real storage in a folder of its own.
type lab struct {
	*runtime.Runtime
	t     *testing.T
	store *sqlite.Store
}

func newLab(t *testing.T) *lab { return openLab(t, t.TempDir(), nil) }

// openLab opens a home. Opened twice, it is two processes.
func openLab(t *testing.T, home string, opts *sqlite.Options) *lab {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), opts)
	must(t, err)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), &blobfs.Options{Volatile: true})
	must(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return &lab{t: t, store: store, Runtime: &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: societies, Workshops: service.Workshops(""), Clock: runtime.SystemClock, Home: home, Version: "test",
		Models: func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
			data, err := pin(name)
			if err != nil {
				return nil, err
			}
			return script.Parse(name, data)
		},
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plan is a quest.yaml and a script in a folder.
func plan(t *testing.T, name, extra, rules string) runtime.Plan {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(rules), 0o600))
	source := []byte(fmt.Sprintf("name: %s\nproblem: What is six times seven?\nmodel: script:plan.yaml\n%s", name, extra))
	spec, err := all.All().ParseSpec("quest.yaml", source)
	must(t, err)
	return runtime.Plan{Spec: spec, Source: source, Dir: dir}
}

// simple computes, writes a note, and answers.
const simple = `
rules:
  - on: {turn: 1}
    say: "Computing."
    cost: "0.5"
    call:
      - {tool: calculate, args: {code: "print(6*7)"}}
      - {tool: write_file, args: {path: a/note.md, content: "first"}}
  - on: {turn: 2}
    call:
      - {tool: write_file, args: {path: a/note.md, content: "second"}}
      - {tool: nonsense, args: {}}
  - on: {turn: 3}
    call:
      - {tool: read_file, args: {path: a/note.md}}
      - {tool: calculate, args: {code: "1 // 0"}}
  - on: {tool: read_file, result: second}
    say: "It is 42."
`

func (l *lab) create(p runtime.Plan) string {
	l.t.Helper()
	s, err := l.Create(l.t.Context(), p)
	must(l.t, err)
	return s.Name
}

func (l *lab) run(name string) *quest.State {
	l.t.Helper()
	s, err := l.Run(l.t.Context(), name, runtime.RunOptions{})
	must(l.t, err)
	return s
}

func (l *lab) events(name string) []event.Event {
	l.t.Helper()
	var out []event.Event
	for e, err := range l.Ledger.Read(context.Background(), name, 1) {
		must(l.t, err)
		out = append(out, e)
	}
	return out
}

// sound fails the test unless the quest verifies and replays.
func (l *lab) sound(name string) {
	l.t.Helper()
	for what, f := range map[string]func(context.Context, *runtime.Runtime, string, func(uint64)) (*audit.Report, error){"verify": audit.Verify, "replay": audit.Replay} {
		rep, err := f(context.Background(), l.Runtime, name, nil)
		must(l.t, err)
		if rep.Difference != nil {
			l.t.Fatalf("%s of %s: %v\nrecorded %s\ncomputed %s", what, name, rep.Difference, rep.Difference.Recorded, rep.Difference.Computed)
		}
	}
	l.oneResultEach(name)
}

// oneResultEach checks that every call but timers has exactly one result.
func (l *lab) oneResultEach(name string) {
	l.t.Helper()
	results := map[uint64]int{}
	for _, e := range l.events(name) {
		switch b := e.Body.(type) {
		case *event.ModelCall, *event.ToolCall:
			results[e.Seq] += 0
		case *event.ModelResult:
			results[b.Call]++
		case *event.ToolResult:
			results[b.Call]++
		case *event.ToolAnswered:
			results[b.Call]++
		}
	}
	for seq, n := range results {
		if n != 1 {
			l.t.Fatalf("call %d of %s has %d results", seq, name, n)
		}
	}
}

func types(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}
