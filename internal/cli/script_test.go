package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript tells what the command line does, one file a subject. Beside what
// testscript has there is:
//
//	exits <code> <command> …     the command ends with that very code
//	json stdout <path>[=<value>] the output is JSON, and has this at the path
//	keys stdout <path> <key> …   the object at the path has these keys, no others
//	await <quest> <type> [<n>]   waits for the nth event of that type
//	repeat <n> <text> <file>     writes a text, with Go's escapes, n times
//
// Every script has a home of its own, a quest in ask/ that is answered at once,
// and one in slow/ that takes eight steps of 300 ms.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setupScript,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  cmdExits,
			"json":   cmdJSON,
			"keys":   cmdKeys,
			"await":  cmdAwait,
			"repeat": cmdRepeat,
		},
	})
}

func setupScript(env *testscript.Env) error {
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("LYCEUM_HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("GORACE", os.Getenv("GORACE"))
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	return writeFolder(env.WorkDir, map[string]string{
		"ask/quest.yaml": askQuest, "ask/plan.yaml": askPlan,
		"slow/quest.yaml": slowQuest, "slow/plan.yaml": slowPlan,
	})
}

// ask computes, writes a note, and answers; asked again, it says so.
const (
	askQuest = "name: ask\nproblem: What is six times seven?\nmodel: script:plan.yaml\nseed: 7\n"
	askPlan  = `rules:
  - on: {last: "(?i)again"}
    say: "Once more: 42."
  - on: {turn: 1}
    think: "Six times seven."
    say: "Computing."
    cost: "0.5"
    call:
      - {tool: calculate, args: {code: "print(6*7)"}}
      - {tool: write_file, args: {path: note.md, content: "six times seven"}}
  - on: {tool: calculate, result: '(\d+)'}
    say: "It is $1."
`
	slowQuest = "name: slow\nproblem: Take your time.\nmodel: script:plan.yaml\n"
	slowPlan  = `rules:
  - on: {until_turn: 8}
    delay: 300ms
    say: "Step."
    call: [{tool: calculate, args: {code: "print(6*7) # ${turn}"}}]
  - say: "Done."
`
)

// steps is slowPlan with so many of them: enough that a busy machine can come in between.
func steps(n int) string {
	return strings.Replace(slowPlan, "until_turn: 8", fmt.Sprintf("until_turn: %d", n), 1)
}

func writeFolder(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits <code> <command> …")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("the command ended in another way than by an exit code: %v", err)
		}
		code = e.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if strings.Contains(ts.ReadFile("stderr"), "goroutine ") {
		ts.Fatalf("it panicked")
	}
}

// at finds what stands at a path such as agents.0.name; . is all of it.
func at(v any, path string) (any, bool) {
	for step := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		if step == "" {
			continue
		}
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

func parseJSON(ts *testscript.TestScript, file string) (v any) {
	text := ts.ReadFile(file)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v\n%s", file, err, text)
	}
	return v
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json <file> <path>[=<value>] …")
	}
	v := parseJSON(ts, args[0])
	for _, arg := range args[1:] {
		path, want, compare := strings.Cut(arg, "=")
		got, ok := at(v, path)
		if ok && compare {
			ok = fmt.Sprint(got) == want
		}
		if ok == neg {
			ts.Fatalf("%s is %v", path, got)
		}
	}
}

func cmdKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keys <file> <path> <key> …")
	}
	v, _ := at(parseJSON(ts, args[0]), args[1])
	object, ok := v.(map[string]any)
	if got := slices.Sorted(maps.Keys(object)); !ok || !slices.Equal(got, slices.Sorted(slices.Values(args[2:]))) {
		ts.Fatalf("the keys at %s are %s", args[1], strings.Join(got, " "))
	}
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await <quest> <type> [<n>]")
	}
	n := 1
	if len(args) > 2 {
		var err error
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(awaitEvent(ts.Getenv("LYCEUM_HOME"), args[0], args[1], n))
}

func cmdRepeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat <n> <text> <file>")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Repeat(text, n)), 0o644))
}
