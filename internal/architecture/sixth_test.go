package architecture

// No race detector: it builds and runs the whole program.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// A society that the binary does not have is added to it, as one would be whose time has
// come: by its own folder, its events, its service, its view, what it is in a simulation,
// and these lines. Nothing else of the program is touched.
var (
	added = map[string]string{
		"internal/society/relay/relay.go":            "rules.go",
		"internal/event/relay.go":                    "events.go",
		"internal/runtime/service/relay.go":          "service.go",
		"internal/view/society_relay.go":             "view.go",
		"internal/runtime/runtimetest/relay.go":      "part.go",
		"internal/runtime/runtimetest/relay_test.go": "part_test.go",
	}
	lines = []struct{ file, after, line string }{
		{"internal/event/catalogue.go", "var catalogue = map[Type]entry{\n", `	"token.passed": derived[TokenPassed]().proposed(),
	"token.count": derived[TokenCount]().asks(),
	"token.counted": input[TokenCounted]().answers("token.count"),
`},
		{"internal/society/society.go", "import (\n", "\t\"lyceum/internal/society/relay\"\n"},
		{"internal/society/society.go", "return quest.Societies{solo.Society{}, ", "relay.Society{}, "},
		{"internal/runtime/service/service.go", "return map[string]runtime.Workshop{\n", "\"relay\": Relay{},\n"},
		{"internal/view/societies.go", "var societies = map[string]Society{\n", "\"relay\": relay{},\n"},
		{"internal/runtime/runtimetest/part.go", "return map[string]func() Part{\n", "\"relay\": func() Part { return &Relay{} },\n"},
	}
)

// overlay writes what the Go command reads instead of the files that are there.
func overlay(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for to, from := range added {
		path, err := filepath.Abs(filepath.Join("testdata", "relay", from))
		must(t, err)
		replace[filepath.Join(root, to)] = path
	}
	for i, l := range lines {
		file := filepath.Join(root, l.file)
		from := file
		if patched := replace[file]; patched != "" {
			from = patched
		}
		data, err := os.ReadFile(from)
		must(t, err)
		if bytes.Count(data, []byte(l.after)) != 1 {
			t.Fatalf("%s has not one place %q", l.file, l.after)
		}
		to := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		must(t, os.WriteFile(to, bytes.Replace(data, []byte(l.after), []byte(l.after+l.line), 1), 0o600))
		replace[file] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	path := filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(path, list, 0o600))
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// relayRace is a home in which the program with one society more is run.
type relayRace struct {
	t             *testing.T
	program, home string
}

func (r *relayRace) start(args ...string) (*exec.Cmd, *bytes.Buffer) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	cmd, out := exec.CommandContext(ctx, r.program, args...), new(bytes.Buffer)
	cmd.Env = append(os.Environ(), "LYCEUM_HOME="+r.home)
	cmd.Stdout, cmd.Stderr = out, out
	must(r.t, cmd.Start())
	return cmd, out
}

func (r *relayRace) ok(args ...string) string {
	r.t.Helper()
	cmd, out := r.start(args...)
	if err := cmd.Wait(); err != nil {
		r.t.Fatalf("lyceum %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out.String()
}

// killed runs the program and kills it when it has said so many lines.
func (r *relayRace) killed(lines int, args ...string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Env = append(os.Environ(), "LYCEUM_HOME="+r.home)
	said, err := cmd.StderrPipe()
	must(r.t, err)
	must(r.t, cmd.Start())
	for in := bufio.NewScanner(said); lines > 0 && in.Scan(); lines-- {
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestASocietyIsOneFolder(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	files := overlay(t, root) // fails where a line has lost its place
	need.Proof(t, "it builds the program and the tests of six packages anew, with one society more")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	r := &relayRace{t: t, program: filepath.Join(t.TempDir(), "lyceum"), home: filepath.Join(t.TempDir(), "home")}
	run("build", "-overlay", files, "-o", r.program, "./cmd/lyceum")
	dir := t.TempDir()
	spec := filepath.Join(dir, "quest.yaml")
	must(t, os.WriteFile(spec, []byte("name: race\nproblem: How often?\nsociety: relay\nlaps: 40\n"), 0o600))

	t.Run("ItRuns", func(t *testing.T) {
		other := &relayRace{t, r.program, filepath.Join(t.TempDir(), "home")}
		out := other.ok("run", spec)
		if !strings.Contains(out, "The token was passed 120 times.") || !strings.Contains(out, "runner-0 passes the token to runner-1") {
			t.Errorf("it says\n%.2000s", out)
		}
		other.ok("verify", "race")
		var said struct {
			Words []struct {
				Kind   string
				Events int
			}
		}
		must(t, json.Unmarshal([]byte(other.ok("verify", "race", "--json")), &said))
		for _, w := range said.Words {
			if w.Kind == "machine" && w.Events < 120 || !slices.Contains([]string{"machine", "person"}, w.Kind) {
				t.Errorf("verify says that it rests on %+v: want 120 counts that are the machine's word, and those of a person", said.Words)
			}
		}
	})
	t.Run("ItIsKilledAndReplayed", func(t *testing.T) {
		r.t = t
		r.ok("create", spec)
		for range 10 {
			r.killed(1+rand.IntN(20), "run", "race")
		}
		if out := r.ok("run", "race"); !strings.Contains(out, "The token was passed 120 times.") {
			t.Errorf("it says\n%.2000s", out)
		}
		r.ok("verify", "race")
		r.ok("replay", "race")
		trace := r.ok("trace", "race", "--json")
		if n := strings.Count(trace, `"token.passed"`); n != 120 {
			t.Errorf("the token was passed %d times", n)
		}
		if n := strings.Count(trace, `"quest.resumed"`); n == 0 {
			t.Error("nobody was killed while it ran")
		}
		if got := r.ok("list"); !strings.Contains(got, "relay") || !strings.Contains(got, "finished") {
			t.Errorf("the list says\n%s", got)
		}
	})
	t.Run("PoliciesSeeItsProposal", func(t *testing.T) {
		other := &relayRace{t, r.program, filepath.Join(t.TempDir(), "home")}
		path := filepath.Join(t.TempDir(), "quest.yaml")
		must(t, os.WriteFile(path, []byte(`name: race
problem: How often?
society: relay
policies:
  - name: careful
    steps:
      - ask: {type: token.passed, where: {to: runner-2}, reason: "Runner 2 is slow."}
`), 0o600))
		never := filepath.Join(t.TempDir(), "quest.yaml")
		must(t, os.WriteFile(never, []byte("problem: How often?\nsociety: relay\npolicies: [{name: never, steps: [{block: {type: token.passed}}]}]\n"), 0o600))
		if cmd, out := other.start("policy", "check", never); cmd.Wait() == nil || !strings.Contains(out.String(), "token.passed can never come: it is blocked by never") {
			t.Errorf("a check of a policy that lets nobody pass the token says\n%s", out)
		}
		cmd, out := other.start("run", path)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(out.String(), "runner-1 wants token.passed. Runner 2 is slow.") {
			t.Fatalf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), out)
		}
		other.ok("answer", "race", "no")
		if cmd, out = other.start("run", "race"); cmd.Wait() == nil || !strings.Contains(out.String(), "The token was dropped.") {
			t.Errorf("after a no it says\n%s", out)
		}
		other.ok("verify", "race")
	})
	t.Run("TheRulesOfTheCoreStillHold", func(t *testing.T) {
		run("test", "-overlay", files, "./internal/architecture", "-run", "TestTheCoreNamesNoSociety|TestANameOfASocietyIsSeen")
	})
	t.Run("WhatEverySocietyMustHaveItHas", func(t *testing.T) {
		run("test", "-overlay", files, "-vet=off", "-run", "TestTheCatalogueSaysWhatAnswersWhat|TestOrdersAreInputs|TestEveryInputIsSomebodysWord|TestCatalogue|"+
			"TestEveryCallOfTheRuntimeIsLookedAt|TestEveryCallHasAService|TestEveryCallIsLookedAt|"+
			"TestEveryEventHasWords|TestNoEventIsPutIntoWordsTwice|TestTheCoreSpeaksOfNoSociety",
			"./internal/event", "./internal/runtime/audit", "./internal/runtime/service", "./internal/view", "./internal/society")
	})
	t.Run("ItIsSimulated", func(t *testing.T) {
		out := run("test", "-overlay", files, "-vet=off", "-v", "-run", "TestTheRelayIsSimulated|TestEverySocietyIsSimulated|TestEveryCallIsSimulated", "./internal/runtime/runtimetest")
		t.Log(out)
	})
}
