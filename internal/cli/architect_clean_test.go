package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// kept are the files of a home's store that hold a blob, packed or not.
func (h *home) kept(of event.Hash) []string {
	h.t.Helper()
	name := of.String()
	files, err := filepath.Glob(filepath.Join(h.dir, "blobs", name[:2], name+"*"))
	must(h.t, err)
	return files
}

// twoLogs has an executor hand in a log with each of two runs: the first is out of scope, and
// goes back; the second is accepted.
func twoLogs() (files map[string]string, refused, accepted event.Hash) {
	log := func(word string) (command string, sum event.Hash, items string) {
		sum = event.HashOf([]byte(strings.Repeat(word+"\n", 30_000)))
		return "mkdir -p .lyceum; yes " + word + " | head -n 30000 > .lyceum/log", sum,
			`[{type: patch, ref: ".", generated_by: me}, {type: log_bundle, ref: .lyceum/log, generated_by: me, checksum: "sha256:` + sum.String() + `"}]`
	}
	first, refused, items := log("refused")
	second, accepted, others := log("accepted")
	files = handover{
		does: work + "; echo more >> README.md; " + first, items: items,
		rules: `  - on: {last: 'cannot be taken over'}
    call: [{tool: run_command, args: {command: "printf '# Tool\n' > README.md; ` + second + `; echo second $$(cat .executor/ids)"}}]
  - on: {tool: run_command, result: '(?m)^second (\S+) (\S+)$'}
    call: [{tool: lyceum__artifact_manifest, args: {manifest_id: m, session_id: "$1", generated_at: "2026-01-31T12:00:00Z", environment_fingerprint: "$2", items: ` + others + `}}]`,
	}.files()
	return files, refused, accepted
}

// TestCleanArtifacts drops what a refused run made, by an event, and nothing that an accepted
// one names: verify tells what has expired from what is lost, and the quest can be exported,
// imported, forked and run again.
func TestCleanArtifacts(t *testing.T) {
	t.Parallel()
	files, refused, accepted := twoLogs()
	h := newHome(t, files)
	h.ok("run", "quest.yaml")
	if got, want := h.course("q"), "scope error "+goesWell; got != want {
		t.Fatalf("the task: got %q, want %q", got, want)
	}
	if len(h.kept(refused)) == 0 || len(h.kept(accepted)) == 0 {
		t.Fatal("an artifact is not kept before anybody drops it")
	}
	ended := h.told("q", "task.ended")[0].Seq
	running := h.told("q", "inspection.result")[0].Seq

	h.ok("fork", "q", "--name", "before")
	h.run("clean", "q", "--artifacts").want(t, 0, "q no longer keeps 1 artifact.")
	if len(h.kept(refused)) == 0 {
		t.Fatal("an artifact is gone that a fork keeps")
	}
	h.run("clean", "--artifacts").want(t, 0, "before no longer keeps 1 artifact.", "Freed ")
	if left := h.kept(refused); len(left) > 0 {
		t.Errorf("what a refused run made is still there: %v", left)
	}
	if len(h.kept(accepted)) == 0 {
		t.Error("what an accepted manifest names is gone")
	}
	if n := h.count("q", "artifacts.dropped"); n != 1 {
		t.Errorf("the ledger says %d times that artifacts were dropped, want once", n)
	}
	h.run("clean", "q", "--artifacts").want(t, 0, "There are no artifacts to drop.")

	for _, quest := range []string{"q", "before"} {
		h.run("verify", quest).want(t, 0, "1 artifacts of runs that were not accepted have expired", "consistent")
		h.run("replay", quest).want(t, 0, "identical")
	}
	// The folder .executor, which the script uses, is not recorded: commands there differ.
	h.run("verify", "--execute", "q").want(t, 1, "its home held artifacts that have expired")
	h.run("deliver", "q").want(t, 0, "commands/x.sh")
	h.ok("backup", filepath.Join(h.work, "copy"))

	h.ok("export", "q", "q.zip")
	other := newHome(t, nil)
	other.ok("import", filepath.Join(h.work, "q.zip"))
	other.run("verify", "q").want(t, 0, "have expired", "consistent")

	// A fork has what is left of the homes, and says what is not.
	h.ok("clean", "q")
	h.ok("fork", "q", "--name", "after")
	h.ok("fork", "q", "--name", "ended", "--at", fmt.Sprint(ended))
	for _, quest := range []string{"after", "ended"} {
		h.run("verify", quest).want(t, 0, "have expired", "consistent")
	}
	h.run("fork", "q", "--name", "running", "--at", fmt.Sprint(running)).want(t, 2, "are no longer kept")

	for _, f := range h.kept(accepted) {
		must(t, os.Remove(f))
	}
	h.run("verify", "q").want(t, 1, "differs", accepted.String())
}

// mute starts lyceum with nobody to read what it says: it stops at the first line, until it is
// killed.
func (h *home) mute(args ...string) (kill func()) {
	h.t.Helper()
	r, w, err := os.Pipe()
	must(h.t, err)
	size, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096)
	must(h.t, err)
	_, err = w.Write(make([]byte, size)) // as much as it holds
	must(h.t, err)
	cmd := command(h.t.Context(), h.dir, h.work, args...)
	cmd.Env = append(cmd.Env, h.env...)
	cmd.Stdout = w
	must(h.t, cmd.Start())
	return func() {
		h.t.Helper()
		must(h.t, cmd.Process.Kill())
		_ = cmd.Wait() // that it was killed
		if state := cmd.ProcessState.Sys().(syscall.WaitStatus); !state.Signaled() {
			h.t.Fatalf("lyceum ended by itself, with %d", state.ExitStatus())
		}
		must(h.t, errors.Join(r.Close(), w.Close()))
	}
}

// until waits for something that must come.
func (h *home) until(what string, is func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited for nothing: %s", what)
		}
	}
}

// TestCleanArtifactsIsKilled kills clean when its event is there and nothing is collected, and
// when all is collected: verify holds each time, and the next clean does what is left.
func TestCleanArtifactsIsKilled(t *testing.T) {
	t.Parallel()
	files, refused, accepted := twoLogs()
	h := newHome(t, files)
	h.ok("run", "quest.yaml")
	garbage := filepath.Join(h.dir, "cache", "garbage")
	marked := func() bool {
		_, err := os.Lstat(garbage)
		return err == nil
	}
	sound := func(when string) {
		t.Helper()
		if n := h.count("q", "artifacts.dropped"); n != 1 {
			t.Errorf("%s the ledger says %d times that artifacts were dropped, want once", when, n)
		}
		if len(h.kept(accepted)) == 0 {
			t.Errorf("%s what an accepted manifest names is gone", when)
		}
		h.run("verify", "q").want(t, 0, "1 artifacts of runs that were not accepted have expired", "consistent")
		h.run("replay", "q").want(t, 0, "identical")
	}

	// It says what it has dropped before it collects.
	kill := h.mute("clean", "q", "--artifacts")
	h.until("the event is there", func() bool { return h.count("q", "artifacts.dropped") > 0 })
	kill()
	if len(h.kept(refused)) == 0 || !marked() {
		t.Fatalf("killed before the collection: %d files of the artifact are there, and it is known that some are to go: %t", len(h.kept(refused)), marked())
	}
	sound("killed before the collection,")

	// The next has nothing to drop; it collects, and says so.
	kill = h.mute("clean", "q", "--artifacts")
	h.until("all is collected", func() bool { return !marked() })
	kill()
	if left := h.kept(refused); len(left) > 0 {
		t.Errorf("killed after the collection: what a refused run made is still there: %v", left)
	}
	sound("killed after the collection,")
	h.run("clean", "q", "--artifacts").want(t, 0, "There are no artifacts to drop.")
	sound("in the end,")
}

// TestCleanArtifactsOfAFailedTask drops what the executor of a task made that failed, and the
// quest goes on with what is left of its home.
func TestCleanArtifactsOfAFailedTask(t *testing.T) {
	t.Parallel()
	made := event.HashOf([]byte(strings.Repeat("log\n", 30_000)))
	h := newHome(t, handover{
		does:  "mkdir -p .lyceum; yes log | head -n 30000 > .lyceum/log",
		items: `[{type: log_bundle, ref: .lyceum/log, generated_by: me, checksum: "sha256:` + made.String() + `"}]`,
	}.files())
	h.run("run", "quest.yaml").want(t, failedCode)
	if got, want := h.course("q"), "manifest acceptance error manifest acceptance error failed"; got != want {
		t.Fatalf("the task: got %q, want %q", got, want)
	}
	for _, f := range h.kept(made) {
		must(t, os.Rename(f, f+".away"))
	}
	h.run("verify", "q").want(t, 1, "differs", made.String())
	for _, f := range h.kept(made) {
		must(t, os.Rename(f, strings.TrimSuffix(f, ".away")))
	}
	h.run("clean", "q", "--artifacts").want(t, 0, "q no longer keeps 1 artifact.", "Freed ")
	if left := h.kept(made); len(left) > 0 {
		t.Errorf("what a failed task made is still there: %v", left)
	}
	h.run("verify", "q").want(t, 0, "1 artifacts of runs that were not accepted have expired", "consistent")
	h.ok("clean", "q")
	h.ok("message", "q", "Is there anything left?")
	h.run("run", "q").want(t, failedCode)
	h.run("verify", "q").want(t, 0, "have expired", "consistent")
	h.run("replay", "q").want(t, 0, "identical")
}
