package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// netFiles are the example's, with what a test changes about its spec.
func netFiles(t *testing.T, change func(string) string) map[string]string {
	t.Helper()
	files := exampleFiles(t, "thermal")
	files["quest.yaml"] = change(files["quest.yaml"])
	return files
}

var answerOf = regexp.MustCompile(`(?s)## Answer.*output sha256 [0-9a-f]{64}`)

// Whenever a net is killed, it goes on to the same answer, and replays.
func TestKilledContractNetComesToTheSameAnswer(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, netFiles(t, func(s string) string { return s }))
	h.env = append(h.env, "TMPDIR="+t.TempDir()) // the copy of a corpus is left by who is killed
	want := answerOf.FindString(h.ok("run", "quest.yaml", "--name", "whole"))
	if !strings.Contains(want, "35.1 kJ/mol") || !strings.Contains(want, "ran by Python") {
		t.Fatalf("the answer: got %s, want 35.1 kJ/mol, run by Python", want)
	}
	for _, kind := range []string{"quest.started", "search.call", "search.result", "compute.call", "compute.result", "arguments.weighed"} {
		name := "at-" + strings.ReplaceAll(kind, ".", "-")
		h.ok("create", "quest.yaml", "--name", name)
		p := h.start("run", name)
		stop := h.killAt(p, name, kind, 0)
		p.wait()
		stop()
		h.run("run", name).want(t, 0)
		if text := answerOf.FindString(h.ok("show", name)); strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(want), " ") {
			t.Fatalf("killed at %s: %s", kind, text)
		}
		h.ok("replay", name)
		h.ok("verify", name)
		if left, _ := filepath.Glob(filepath.Join(h.dir, "quests", name, "agents", "computation-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	}
}

// A net that waits can be killed while it does, and goes on by itself.
func TestKilledContractNetThatWaitsGoesOn(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(3 * time.Second)
	h := newHome(t, netFiles(t, func(s string) string {
		return s + "computer: none\nwait_until: " + at.UTC().Format(time.RFC3339Nano) + "\n"
	}))
	h.env = append(h.env, "TMPDIR="+t.TempDir()) // the copy of a corpus is left by who is killed
	p := h.start("run", "quest.yaml")
	h.await("thermal", "timer.set", 1)
	p.kill()
	h.run("run", "thermal").want(t, 0, "35.1 kJ/mol", "built-in interpreter")
	if time.Now().Before(at) {
		t.Error("it did not wait")
	}
	h.ok("replay", "thermal")
}
