package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	all "lyceum/internal/society"
	"lyceum/internal/society/stages"
)

// course is a study that records its work, a result, and a paper, one call a turn.
const course = `
rules:
  - on: {last: "BEGIN"}
    call: [{tool: write_file, args: {path: "work/main/notes.md", content: "what is known"}}]
  - on: {tool: write_file, result: "notes.md"}
    call: [{tool: checkpoint, args: {message: "notes"}}]
  - on: {tool: checkpoint, result: "of main"}
    call: [{tool: prepare_branch, args: {kind: run, id: base}}]
  - on: {tool: prepare_branch, result: "run/base is prepared"}
    call: [{tool: activate_branch, args: {name: run/base}}]
  - on: {tool: activate_branch, result: "at run/base"}
    call: [{tool: write_file, args: {path: "work/run/base/run.sh", content: "echo metric mae 2"}}]
  - on: {tool: write_file, result: "run.sh"}
    call: [{tool: checkpoint, args: {message: "a program"}}]
  - on: {tool: checkpoint, result: "of run/base"}
    call: [{tool: record_main_experiment, args: {title: t, kind: baseline, entrypoint: run.sh, metrics: [{name: mae, direction: lower, value: "2", data: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}}]
  - on: {tool: record_main_experiment, result: "result-1 is recorded"}
    call: [{tool: submit_outline, args: {title: o, claims: [{id: c, text: "It is two.", results: [result-1]}]}}]
  - on: {tool: submit_outline, result: "outline-1 is submitted"}
    call: [{tool: prepare_branch, args: {kind: paper, id: p}}]
  - on: {tool: prepare_branch, result: "paper/p is prepared"}
    call: [{tool: activate_branch, args: {name: paper/p}}]
  - on: {tool: activate_branch, result: "at paper/p"}
    call: [{tool: write_file, args: {path: "work/paper/p/paper.md", content: "# It is two\n\nThe error is 2 [result-1].\n\n## Limits\n\nOne result.\n"}}]
  - on: {tool: write_file, result: "paper.md"}
    call: [{tool: checkpoint, args: {message: "a paper"}}]
  - on: {tool: checkpoint, result: "of paper/p"}
    call: [{tool: submit_paper, args: {title: t, source: paper.md}}]
  - say: "Done."
`

// made is what a study has come to: its checkpoints by their trees, results, and papers.
func made(s *quest.State) string {
	m := stages.Of(s).Study
	var out []string
	for _, c := range m.Checkpoints {
		out = append(out, fmt.Sprintf("checkpoint of %s: %s %s", c.Branch, c.Message, c.Tree.Hash))
	}
	for _, r := range m.Results {
		out = append(out, "result "+r.ID)
	}
	for _, p := range m.Papers {
		out = append(out, fmt.Sprintf("paper %s: %s", p.ID, p.Tree.Hash))
	}
	return strings.Join(out, "\n")
}

// scarce is a store whose disk is full from one write on, until somebody makes room.
type scarce struct {
	blob.Store
	left *atomic.Int64
}

func (s scarce) room() error {
	if s.left.Add(-1) < 0 {
		return &fs.PathError{Op: "write", Path: "blobs/tmp", Err: syscall.ENOSPC}
	}
	return nil
}

func (s scarce) Put(ctx context.Context, data []byte) (event.Ref, error) {
	if err := s.room(); err != nil {
		return event.Ref{}, err
	}
	return s.Store.Put(ctx, data)
}

func (s scarce) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	if err := s.room(); err != nil {
		return event.Ref{}, err
	}
	return s.Store.Create(ctx, r)
}

// A disk that is full at any write of a study: it is paused with the reason, nothing is half done,
// and with room again it comes to what it comes to without that.
func TestAStudyOnAFullDisk(t *testing.T) {
	t.Parallel()
	const plenty = 1 << 40
	begin := func(t *testing.T, left *atomic.Int64) (*lab, string) {
		l := newLab(t)
		l.Societies = all.All()
		l.Blobs = scarce{l.Blobs, left}
		name := l.create(plan(t, "q", "society: stages\n", course))
		for _, policy := range []string{"baseline-first", "idea-first", "result-first"} {
			l.post(name, &event.StudyOrder{Action: event.SteerWaive, What: policy, Reason: "it is about the disk"})
		}
		return l, name
	}
	var left atomic.Int64
	left.Store(plenty)
	l, name := begin(t, &left)
	l.says(name, "BEGIN")
	from := left.Load()
	s := l.leave(name)
	writes, want := from-left.Load(), made(s)
	if strings.Count(want, "checkpoint") != 3 || !strings.Contains(want, "result-1") || !strings.Contains(want, "paper-1") {
		t.Fatalf("undisturbed the study comes to\n%s\n%s", want, strings.Join(slices.Concat(l.outputs(name, "record_main_experiment"), l.outputs(name, "submit_outline"), l.outputs(name, "submit_paper")), "\n"))
	}
	t.Logf("%d writes", writes)
	paused := 0
	for at := range writes {
		if at%3 != 0 && os.Getenv(need.Faults) == "" {
			continue // all of them take long
		}
		var left atomic.Int64
		left.Store(plenty)
		l, name := begin(t, &left)
		l.says(name, "BEGIN")
		left.Store(at)
		s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
		if err != nil && !blob.Full(err) {
			t.Fatalf("full at write %d: %v", at, err)
		}
		if err == nil && s.Status == quest.Paused {
			if paused++; !strings.Contains(s.Reason, "the disk is full") {
				t.Errorf("full at write %d: paused for %q", at, s.Reason)
			}
		}
		left.Store(plenty)
		s = l.leave(name)
		if got := made(s); got != want {
			t.Errorf("full at write %d, and then not, the study comes to\n%s\nwant\n%s", at, got, want)
		}
		l.sound(name)
	}
	if paused == 0 {
		t.Error("it was never paused")
	}
}

// A study at its limit of storage: what has no room is refused with the reason, nothing of it is
// done, and with a higher limit it is.
func TestAStudyAtItsLimitOfStorage(t *testing.T) {
	t.Parallel()
	more := runtime.RunOptions{Leave: true, Limits: event.Limits{Storage: new(int64(100 << 20))}}
	fill := func(t *testing.T, l *lab, name, at string, kib int) {
		t.Helper()
		data := make([]byte, kib<<10)
		for i := range data {
			data[i] = byte(i * i >> 7 * 31 / 5)
		}
		at = filepath.Join(l.QuestDir(name), "agents", "researcher", at)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, append(data, at...), 0o644))
	}
	t.Run("Checkpoint", func(t *testing.T) {
		t.Parallel()
		l := newLab(t)
		l.Societies = all.All()
		name := l.create(plan(t, "q", "society: stages\nlimits: {storage: 1MiB}\n", records))
		l.rests(name)
		fill(t, l, name, "work/main/large", 2000)
		l.says(name, "STEP")
		s := l.leave(name)
		got := strings.Join(append(l.outputs(name, "write_file"), l.outputs(name, "checkpoint")...), "\n")
		if !strings.Contains(got, "storage") || strings.Contains(got, "Checkpoint 1") || len(stages.Of(s).Study.Checkpoints) != 0 {
			t.Errorf("without room there are %d checkpoints, and it is told %q", len(stages.Of(s).Study.Checkpoints), got)
		}
		l.says(name, "STEP again")
		s, err := l.Run(t.Context(), name, more)
		must(t, err)
		if n := len(stages.Of(s).Study.Checkpoints); n != 1 {
			t.Errorf("with more room there are %d checkpoints, want 1: %s", n, strings.Join(l.outputs(name, "checkpoint"), "\n"))
		}
		l.sound(name)
	})
	t.Run("MailWithFiles", func(t *testing.T) {
		t.Parallel()
		l := newStages(t, nil)
		name := l.create(plan(t, "q", "society: stages\nlimits: {storage: 1MiB}\n", talks))
		l.rests(name)
		fill(t, l, name, "own/large", 2000) // which nobody has looked at yet
		l.shows(name, "Read this.", media.File{Name: "a.txt", Data: bytes.Repeat([]byte("words\n"), 100)})
		s := l.leave(name)
		var refused *event.FilesResult
		for _, e := range l.events(name) {
			if b, ok := e.Body.(*event.FilesResult); ok {
				refused = b
			}
		}
		if refused == nil || !strings.Contains(refused.Error, "there is no room to record it") || len(s.Mail) != 0 {
			t.Fatalf("the files came to %+v, and %d messages wait; want it refused, and said", refused, len(s.Mail))
		}
		home := filepath.Join(l.QuestDir(name), "agents", "researcher")
		left, err := filepath.Glob(filepath.Join(home, quest.FilesDir, "*"))
		hidden, also := filepath.Glob(filepath.Join(home, quest.FilesDir, ".*"))
		if must(t, err); also != nil || len(left)+len(hidden) > 0 {
			t.Errorf("left are %v %v, want nothing half done", left, hidden)
		}
		if !strings.Contains(window(s), "there is no copy in your home") {
			t.Errorf("the researcher is told %s", window(s))
		}
		l.shows(name, "Read this again.", media.File{Name: "a.txt", Data: bytes.Repeat([]byte("words\n"), 100)})
		if s, err = l.Run(t.Context(), name, more); err != nil || !strings.Contains(window(s), "a copy is \"files/") {
			t.Errorf("with more room: %v\n%s", err, window(s))
		}
		l.sound(name)
	})
}

// A limit of storage that is reached anywhere in a study: the call that has no room is refused with
// the reason and nothing of it is done; made once more with a higher limit it is, and the study comes
// to what it comes to without that.
func TestAStudyReachesItsLimitAnywhere(t *testing.T) {
	t.Parallel()
	calls := 0
	var again strings.Builder
	for line := range strings.Lines(course) {
		if strings.HasPrefix(line, "    call: ") {
			fmt.Fprintf(&again, "  - on: {last: \"AGAIN call-%02d\"}\n%s", calls, line)
			calls++
		}
	}
	script := strings.Replace(course, "rules:\n", "rules:\n"+again.String(), 1)
	begin := func(t *testing.T) (*lab, string) {
		l := newLab(t)
		l.Societies = all.All()
		name := l.create(plan(t, "q", "society: stages\n", script))
		for _, policy := range []string{"baseline-first", "idea-first", "result-first"} {
			l.post(name, &event.StudyOrder{Action: event.SteerWaive, What: policy, Reason: "it is about storage"})
		}
		return l, name
	}
	l, name := begin(t)
	first := l.leave(name).Spent.Stored
	l.says(name, "BEGIN")
	s := l.leave(name)
	want, last := made(s), s.Spent.Stored
	if !strings.Contains(want, "paper-1") {
		t.Fatalf("undisturbed the study comes to\n%s", want)
	}
	refused := map[string]int{}
	step := (last - first) / int64(need.Times(12, 60))
	for limit := first + 1; limit < last; limit += step {
		l, name := begin(t)
		l.post(name, &event.BudgetRaised{Limits: event.Limits{Storage: new(limit)}})
		l.says(name, "BEGIN")
		s := l.leave(name)
		var asked []event.Event
		for _, e := range l.events(name) {
			if e.Type == "tool.call" {
				asked = append(asked, e)
			}
		}
		if len(asked) == calls && made(s) == want {
			continue // its last words alone had no room, and they are small
		}
		call := asked[len(asked)-1].Tool
		told := l.outputs(name, call)
		if got := told[len(told)-1]; !strings.Contains(got, "storage") {
			t.Fatalf("with %d bytes it ends with %s, which is told %q; want the limit", limit, call, got)
		}
		refused[call]++
		for line := range strings.Lines(made(s)) {
			if !strings.Contains(want, strings.TrimSpace(line)) {
				t.Errorf("with %d bytes, refused at %s, there is %s, which is none of\n%s", limit, call, line, want)
			}
		}
		l.says(name, fmt.Sprintf("AGAIN call-%02d", len(asked)-1))
		s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true, Limits: event.Limits{Storage: new(int64(100 << 20))}})
		must(t, err)
		if got := made(s); got != want {
			t.Errorf("with %d bytes, refused at %s, and then with more, the study comes to\n%s\nwant\n%s", limit, call, got, want)
		}
		l.sound(name)
	}
	t.Logf("%d to %d bytes; refused: %v", first, last, refused)
	if len(refused) < 3 || refused["submit_paper"] == 0 {
		t.Errorf("refused were %v, want calls of several kinds, and a paper", refused)
	}
}
