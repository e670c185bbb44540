package runtime_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	all "lyceum/internal/society"
	"lyceum/internal/society/stages"
)

// records makes one checkpoint for each message that says so.
const records = `
rules:
  - on: {last: "STEP"}
    call:
      - {tool: write_file, args: {path: "work/main/${turn}.txt", content: "step"}}
      - {tool: checkpoint, args: {message: "step"}}
  - say: "Done."
`

// told runs a quest, and returns what people were told.
func (l *lab) toldBy(name string) string {
	l.t.Helper()
	var lines []string
	_, err := l.Run(l.t.Context(), name, runtime.RunOptions{Leave: true, OnProgress: func(line string) { lines = append(lines, line) }})
	must(l.t, err)
	return strings.Join(lines, "\n")
}

// fakeGit puts a git of ours before the real one.
func fakeGit(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script), 0o755))
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// Whatever git does, the quest goes on and says so; the next run writes what is missing.
func TestAQuestGoesOnWithoutGit(t *testing.T) {
	real, path := need.Program(t, "git"), os.Getenv("PATH")
	for what, c := range map[string]struct{ script, says string }{
		"Missing": {"", "there is no git"},
		"Failing": {"echo broken >&2; exit 1\n", "broken"},
		"Lying":   {"exit 0\n", "made 0 commits of 1"},
		"FailsToImport": {fmt.Sprintf(`case "$*" in *fast-import*) cat >/dev/null; echo "disk full" >&2; exit 128;; esac
exec %s "$@"
`, real), "disk full"},
	} {
		t.Run(what, func(t *testing.T) {
			l, name := newWorks(t, records)
			l.says(name, "STEP")
			if c.script == "" {
				t.Setenv("PATH", t.TempDir())
			} else {
				t.Setenv("PATH", fakeGit(t, c.script))
			}
			if got := l.toldBy(name); !strings.Contains(got, "not committed to git") || !strings.Contains(got, c.says) {
				t.Errorf("people are told %q, want %q", got, c.says)
			}
			s, err := l.Load(t.Context(), name)
			must(t, err)
			if n := len(stages.Of(s).Study.Checkpoints); n != 1 || !s.Waiting() {
				t.Errorf("there are %d checkpoints, and the quest is %s", n, s.Status)
			}
			t.Setenv("PATH", path)
			if got := l.toldBy(name); strings.Contains(got, "not committed") || strings.Contains(got, "damaged") {
				t.Errorf("with git again people are told %q", got)
			}
			if got := l.git(name, "log", "--format=%s", "main"); got != "step" {
				t.Errorf("with git again the history is %q", got)
			}
			if left, err := filepath.Glob(filepath.Join(l.QuestDir(name), ".git-damaged*")); err != nil || len(left) > 0 {
				t.Errorf("set aside are %v, %v", left, err)
			}
			l.sound(name)
		})
	}
}

func TestARepositoryIsMended(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	for what, c := range map[string]struct {
		harm func(t *testing.T, l *lab, name, at string)
		says string
	}{
		"AfterLocksOfAKilledGit": {func(t *testing.T, _ *lab, _, at string) {
			for _, f := range []string{"refs/heads/main.lock", "packed-refs.lock", "HEAD.lock", "config.lock", "objects/pack/tmp_pack_x"} {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(at, f)), 0o755))
				must(t, os.WriteFile(filepath.Join(at, f), nil, 0o644))
			}
			must(t, os.Remove(filepath.Join(at, "refs/heads/main")))
		}, ""},
		"AfterDamage": {func(t *testing.T, _ *lab, _, at string) {
			must(t, os.RemoveAll(filepath.Join(at, "objects")))
			must(t, os.WriteFile(filepath.Join(at, "refs/heads/main"), []byte("nonsense\n"), 0o644))
		}, "damaged and begins anew"},
		"AfterSettings": {func(t *testing.T, _ *lab, _, at string) {
			must(t, os.WriteFile(filepath.Join(at, "config"), []byte("[core\nbroken"), 0o644))
		}, "damaged and begins anew"},
		"AfterAnotherCommit": {func(t *testing.T, l *lab, name, at string) {
			l.git(name, "-c", "user.name=p", "-c", "user.email=p@x", "update-ref", "refs/heads/main",
				l.git(name, "-c", "user.name=p", "-c", "user.email=p@x", "commit-tree", "-m", "mine", "-p", "main", "main^{tree}"))
		}, "not of the ledger"},
		"AfterAnotherHistory": {func(t *testing.T, l *lab, name, at string) {
			l.git(name, "update-ref", "refs/heads/main", "main^")
		}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l, name := newWorks(t, records)
			l.says(name, "STEP")
			l.leave(name)
			l.says(name, "STEP again")
			l.leave(name)
			want, at := l.refs(name), filepath.Join(l.QuestDir(name), ".git")
			if strings.Count(l.git(name, "log", "--format=%s", "main"), "step") != 2 {
				t.Fatalf("the history is %s", l.git(name, "log", "main"))
			}
			c.harm(t, l, name, at)
			if got := l.toldBy(name); !strings.Contains(got, c.says) || c.says == "" && got != "" {
				t.Errorf("people are told %q, want %q", got, c.says)
			}
			if got := l.refs(name); got != want {
				t.Errorf("the refs are\n%s\nwant\n%s", got, want)
			}
			if what == "AfterAnotherCommit" && !strings.Contains(l.git(name, "for-each-ref", "--format=%(subject)", "refs/set-aside"), "mine") {
				t.Error("what was committed besides is lost")
			}
			l.sound(name)
		})
	}
}

// Verify finds commits that do not follow from the ledger.
func TestVerifyFindsForgedCommits(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	l, name := newWorks(t, records)
	l.says(name, "STEP")
	l.leave(name)
	l.sound(name)
	empty := l.git(name, "hash-object", "-t", "tree", "-w", "/dev/null")
	forged := l.git(name, "-c", "user.name=p", "-c", "user.email=p@x", "commit-tree", "-m", l.git(name, "log", "-1", "--format=%B", "main"), empty)
	l.git(name, "update-ref", "refs/heads/main", forged)
	rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
	must(t, err)
	if rep.Difference == nil || !strings.Contains(rep.Difference.Error(), "refs/heads/main") {
		t.Errorf("verify finds %v", rep.Difference)
	}
}

// A process that is killed between a checkpoint and its commit leaves it to the next.
func TestKilledBeforeTheCommit(t *testing.T) {
	real := need.Program(t, "git")
	if home := os.Getenv("LYCEUM_TEST_KILLED"); home != "" {
		l := openLab(t, home, nil)
		l.Societies = all.All()
		_, err := l.Run(t.Context(), "q", runtime.RunOptions{Leave: true})
		t.Fatalf("it was not killed: %v", err)
	}
	l, name := newWorks(t, records)
	l.says(name, "STEP")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledBeforeTheCommit$")
	kill := fmt.Sprintf("case \"$*\" in *fast-import*) kill -9 $PPID; sleep 1; exit 1;; esac\nexec %s \"$@\"\n", real)
	cmd.Env = append(os.Environ(), "LYCEUM_TEST_KILLED="+l.Home, "PATH="+fakeGit(t, kill))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	made := collect[*event.CheckpointMade](l.events(name))
	if len(made) != 1 {
		t.Fatalf("before the end there were %d checkpoints: %s", len(made), types(l.events(name)))
	}
	l.leave(name)
	if got := l.git(name, "log", "--format=%s", "main"); got != "step" {
		t.Errorf("the next process leaves the history %q", got)
	}
	if n := len(collect[*event.CheckpointMade](l.events(name))); n != 1 {
		t.Errorf("there are %d checkpoints", n)
	}
	l.sound(name)
}
