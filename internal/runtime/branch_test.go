package runtime_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	all "lyceum/internal/society"
	"lyceum/internal/society/stages"
)

// works is a researcher with two lines of work.
const works = `
rules:
  - on: {turn: 1}
    call:
      - {tool: write_file, args: {path: work/main/a.txt, content: "one\ntwo\n"}}
      - {tool: write_file, args: {path: work/main/.gitignore, content: "*.log\n"}}
      - {tool: write_file, args: {path: work/main/x.log, content: "noise"}}
      - {tool: write_file, args: {path: work/main/__pycache__/m.txt, content: "cache"}}
      - {tool: write_file, args: {path: work/main/models/CACHEDIR.TAG, content: "Signature: 8a477f597d28d172789f06886806bc55\n# of a program"}}
      - {tool: write_file, args: {path: work/main/models/m.bin, content: "cache"}}
      - {tool: checkpoint, args: {message: "first\n\nLyceum-Event: 1"}}
      - {tool: checkpoint, args: {message: "nothing new"}}
      - {tool: prepare_branch, args: {kind: idea, id: a}}
      - {tool: activate_branch, args: {name: idea/a}}
      - {tool: write_file, args: {path: "work/idea/a/odd \"name\" ü.txt", content: "x"}}
      - {tool: write_file, args: {path: work/idea/a/a.txt, content: "one\nthree\n"}}
      - {tool: interact, args: {kind: milestone, text: "an idea"}}
      - {tool: interact, args: {kind: progress, text: "going on"}}
      - {tool: compare, args: {a: idea/a, b: main}}
      - {tool: render_git_graph, args: {}}
  - on: {last: "ZUSATZ"}
    call:
      - {tool: write_file, args: {path: work/idea/a/c.txt, content: "more"}}
      - {tool: checkpoint, args: {message: "third"}}
  - say: "Done."
`

func newWorks(t *testing.T, rules string) (*lab, string) {
	l := newLab(t)
	l.Societies = all.All()
	return l, l.create(plan(t, "q", "society: stages\n", rules))
}

func (l *lab) leave(name string) *quest.State {
	l.t.Helper()
	s, err := l.Run(l.t.Context(), name, runtime.RunOptions{Leave: true, OnProgress: func(line string) { l.t.Log(line) }})
	must(l.t, err)
	return s
}

// outputs are what calls of a tool were answered, in order.
func (l *lab) outputs(name, tool string) (out []string) {
	l.t.Helper()
	for _, e := range l.events(name) {
		if e.Tool != tool {
			continue
		}
		switch b := e.Body.(type) {
		case *event.ToolAnswered:
			out = append(out, b.Output.Text)
		case *event.ToolResult:
			out = append(out, b.Output.Text)
		}
	}
	return out
}

// refs are the branches of the quest's repository with their commits.
func (l *lab) refs(name string) string {
	return l.git(name, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
}

func TestLinesOfWorkBecomeCommits(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	l, name := newWorks(t, works)
	s := l.leave(name)
	m := stages.Of(s).Study
	if len(m.Checkpoints) != 2 || m.Current != "idea/a" || len(m.Branches) != 2 {
		t.Fatalf("the study has\n%s%q", m.Graph(), l.outputs(name, "checkpoint"))
	}
	if got := l.outputs(name, "checkpoint"); !strings.Contains(got[0], "2 files") || !strings.Contains(got[0], "x.log") || !strings.Contains(got[0], "__pycache__") || !strings.Contains(got[0], "as its CACHEDIR.TAG says") || !strings.Contains(got[1], "Nothing has changed") {
		t.Errorf("checkpoints are answered %q", got)
	}
	if got := l.outputs(name, "interact"); !strings.Contains(got[0], "Checkpoint") || strings.Contains(got[1], "Checkpoint") {
		t.Errorf("what is said is answered %q", got)
	}
	if got := l.outputs(name, "compare")[0]; !strings.Contains(got, "is 1 ahead of and 0 behind main") || !strings.Contains(got, "2 files differ, 2 lines more and 1 less.") || !strings.Contains(got, "-two\n+three\n") || !strings.Contains(got, `odd "name" ü.txt: new`) {
		t.Errorf("compare says %s", got)
	}
	if picture, err := os.ReadFile(filepath.Join(l.QuestDir(name), "agents/researcher/graph/branches.svg")); err != nil || !strings.Contains(string(picture), "[idea/a]") {
		t.Errorf("the picture is %q, %v", picture, err)
	}
	if got := l.git(name, "log", "--format=%an %ae %s", "idea/a"); got != "researcher researcher@lyceum milestone: an idea\nresearcher researcher@lyceum first" {
		t.Errorf("the history is\n%s", got)
	}
	if got := l.git(name, "ls-tree", "-r", "--name-only", "main"); got != ".gitignore\na.txt" {
		t.Errorf("main has\n%s", got)
	}
	if got := l.git(name, "show", `idea/a:odd "name" ü.txt`) + l.git(name, "show", "idea/a:a.txt"); got != "xone\nthree" {
		t.Errorf("idea/a has %q", got)
	}
	l.git(name, "fsck", "--strict", "--no-dangling")
	want := l.refs(name)

	// Whoever deletes the repository gets the same again.
	must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), ".git")))
	l.leave(name)
	if got := l.refs(name); got != want {
		t.Errorf("made again the refs are\n%s\nwant\n%s", got, want)
	}
	// What was written stays, and only what is missing comes.
	l.says(name, "ZUSATZ")
	l.leave(name)
	more := l.refs(name)
	if strings.Contains(more, "idea/a "+l.git(name, "rev-parse", "main")) || l.git(name, "rev-parse", "idea/a^") != strings.Fields(want)[1] {
		t.Errorf("after one more checkpoint the refs are\n%s\nbefore\n%s", more, want)
	}
	must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), ".git")))
	l.leave(name)
	if got := l.refs(name); got != more {
		t.Errorf("made again the refs are\n%s\nwant\n%s", got, more)
	}
	l.sound(name)
	if begun := collect[*event.SittingBegun](l.events(name)); begun[0].Branch != "main" || begun[1].Branch != "idea/a" || !begun[1].Fresh {
		t.Errorf("sittings begin at %q and %q, fresh %v", begun[0].Branch, begun[1].Branch, begun[1].Fresh)
	}
}

func collect[B event.Body](events []event.Event) (out []B) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// What does not belong into a checkpoint is refused by name, and nothing is recorded.
func TestACheckpointRefusesByName(t *testing.T) {
	t.Parallel()
	l, name := newWorks(t, `
rules:
  - on: {last: "try"}
    call: [{tool: checkpoint, args: {message: "try"}}]
  - say: "Done."
`)
	l.Secrets = func() []string { return []string{"sk-secret-1234567890"} }
	l.leave(name)
	home := filepath.Join(l.QuestDir(name), "agents/researcher")
	try := func(want string, checkpoints int) {
		t.Helper()
		l.says(name, "try "+want)
		s := l.leave(name)
		got := l.outputs(name, "checkpoint")
		if last := got[len(got)-1]; !strings.Contains(last, want) || strings.Contains(last, home) {
			t.Errorf("it is answered %q, want %q", last, want)
		}
		if n := len(stages.Of(s).Study.Checkpoints); n != checkpoints {
			t.Errorf("there are %d checkpoints, want %d", n, checkpoints)
		}
	}
	try("There is no folder work/main", 0)
	must(t, os.MkdirAll(filepath.Join(home, "work/main"), 0o755))
	file := func(name, text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(home, "work/main", name), []byte(text), 0o644))
	}
	file("key.txt", "begin sk-secret-1234567890 end")
	try("key.txt", 0)
	must(t, os.Remove(filepath.Join(home, "work/main/key.txt")))
	file("large", "")
	must(t, os.Truncate(filepath.Join(home, "work/main/large"), 50<<20+1))
	try("large", 0)
	file(".gitignore", "large\n")
	must(t, syscall.Mkfifo(filepath.Join(home, "work/main/pipe"), 0o600))
	must(t, os.Symlink("/etc/passwd", filepath.Join(home, "work/main/link")))
	must(t, os.MkdirAll(filepath.Join(home, "work/main/.git"), 0o755))
	try("Checkpoint", 1)
	last := slices.Backward(collect[*event.CheckpointResult](l.events(name)))
	for _, r := range last {
		if r.Files != 1 || len(r.LeftOut) != 3 {
			t.Errorf("recorded are %d files, left out %v", r.Files, r.LeftOut)
		}
		break
	}
	must(t, os.RemoveAll(filepath.Join(home, "work")))
	must(t, os.Symlink("/etc", filepath.Join(home, "work")))
	try("links are not followed", 1)
	l.sound(name)
}

// A home may hold anything where a folder is to be put.
func TestAFolderIsPutIntoAHostileHome(t *testing.T) {
	t.Parallel()
	rules := `
rules:
  - on: {last: "NULL"}
    call:
      - {tool: write_file, args: {path: work/main/a.txt, content: "one"}}
      - {tool: checkpoint, args: {message: "first"}}
  - on: {last: "EINS"}
    call: [{tool: prepare_branch, args: {kind: idea, id: a}}]
  - on: {last: "ZWEI"}
    call: [{tool: prepare_branch, args: {kind: run, id: b}}]
  - on: {last: "DREI"}
    call: [{tool: activate_branch, args: {name: run/b}}]
  - say: "Done."
`
	l, name := newWorks(t, rules)
	l.leave(name)
	l.says(name, "NULL")
	l.leave(name)
	home, outside := filepath.Join(l.QuestDir(name), "agents/researcher"), t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	try := func(say, tool, want string, branches int) {
		t.Helper()
		l.says(name, say)
		s := l.leave(name)
		got := l.outputs(name, tool)
		if last := got[len(got)-1]; !strings.Contains(last, want) || strings.Contains(last, home) {
			t.Errorf("it is answered %q, want %q", last, want)
		}
		if n := len(stages.Of(s).Study.Branches); n != branches {
			t.Errorf("there are %d lines of work, want %d", n, branches)
		}
	}
	must(t, os.Symlink(outside, at("work/idea")))
	try("EINS 1", "prepare_branch", "links are not followed", 1)
	must(t, os.Remove(at("work/idea")))
	must(t, os.WriteFile(at("work/idea"), []byte("x"), 0o600))
	try("EINS 2", "prepare_branch", "is no folder", 1)
	must(t, os.Remove(at("work/idea")))
	must(t, os.MkdirAll(at("work/idea/a"), 0o755))
	must(t, os.WriteFile(at("work/idea/a/mine"), []byte("work"), 0o600))
	try("EINS 3", "prepare_branch", "it stays as it is", 2)
	if data, err := os.ReadFile(at("work/idea/a/mine")); err != nil || string(data) != "work" {
		t.Errorf("what was there is %q, %v", data, err)
	}
	try("ZWEI", "prepare_branch", "It begins with checkpoint", 3)
	if data, err := os.ReadFile(at("work/run/b/a.txt")); err != nil || string(data) != "one" {
		t.Errorf("the folder has %q, %v", data, err)
	}
	must(t, os.RemoveAll(at("work/run/b")))
	try("DREI", "activate_branch", "You are at run/b", 3)
	if data, err := os.ReadFile(at("work/run/b/a.txt")); err != nil || string(data) != "one" {
		t.Errorf("a folder that was gone has %q, %v", data, err)
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("outside of the home there is %v, %v", list, err)
	}
	if left, err := filepath.Glob(at("work/.new-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	l.sound(name)
}
