package task_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/event"
	. "lyceum/internal/society/architect/task"

	"github.com/google/go-cmp/cmp"
)

func example() *Package {
	return &Package{
		Session: "q1", Task: "greet", Context: "sha256:ab",
		Instruction: Instruction{
			Goal:        "Add a command.\nIt greets: \"hello\", whoever is named # here.",
			Scope:       PackageScope{Include: []string{"cmd/", "main.go"}, Exclude: []string{"cmd/old"}},
			Acceptance:  []string{"go test ./...", "- the help names it: yes"},
			Constraints: Constraints{Calls: 8, Seconds: 900, NoTouch: []string{"go.mod", "true", "1e3", "~"}},
		},
		Runtime: Runtime{Dir: "/home/agent", Mode: ModeFull, Fingerprint: "sha256:cd"},
	}
}

func TestPackageIsReadBackToTheSameBytes(t *testing.T) {
	t.Parallel()
	p := example()
	data := p.Encode()
	got, err := DecodePackage(data)
	if err != nil {
		t.Fatalf("what was written is not read: %v\n%s", err, data)
	}
	if d := cmp.Diff(p, got); d != "" {
		t.Errorf("package (-want +got):\n%s\n%s", d, data)
	}
	if again := got.Encode(); !bytes.Equal(again, data) {
		t.Errorf("encoded again:\n%s\nwant:\n%s", again, data)
	}
	for _, key := range []string{"session_id: q1", "task_id: greet", "context_ref: ", "instruction:\n  goal: |-\n    Add a command.\n", "  scope:\n    include_paths:\n      - cmd/\n", "    exclude_paths:", "  acceptance:", "  constraints:\n    max_cli_calls: 8\n    max_duration_seconds: 900\n    no_touch:\n      - go.mod\n      - \"true\"\n", "runtime:\n  cwd: \"/home/agent\"\n  tool_mode: full\n  environment_fingerprint: "} {
		if !strings.Contains(string(data), key) {
			t.Errorf("%q is not in\n%s", key, data)
		}
	}
}

// TestOwnPackagesAreReadWithoutYAML: what was written here is read as YAML would, and nothing else is.
func TestOwnPackagesAreReadWithoutYAML(t *testing.T) {
	t.Parallel()
	p := example()
	p.Instruction.Goal = "Add a command.\nIt greets."
	data := p.Encode()
	var got Package
	if !ReadOwn(data, &got) || !cmp.Equal(*p, got) {
		t.Errorf("a package that was written here is not read back without YAML:\n%s\n%s", cmp.Diff(*p, got), data)
	}
	for _, change := range [][2]string{
		{"task_id: greet", "task_id:  greet"}, {"task_id: greet", "task_id: 'greet'"}, {"task_id: greet", "task_id: greet # c"}, {"task_id: greet", "task_id: true"}, {"- go.mod", "- [go.mod]"},
		{"runtime:", "runtime: "}, {"  cwd:", "   cwd:"}, {"max_cli_calls: 8", "max_cli_calls: 08"}, {"\"true\"", "true"}, {"greets.", "greets." + "\n"}, {"greet\n", "greet\u00e9\n"}, {"session_id", "session"},
	} {
		other := strings.Replace(string(data), change[0], change[1], 1)
		if other == string(data) {
			t.Fatalf("%q is not in\n%s", change[0], data)
		}
		if got = (Package{}); ReadOwn([]byte(other), &got) || !cmp.Equal(Package{}, got) {
			t.Errorf("%q for %q is not what is written here, and is read without YAML: %+v", change[1], change[0], got)
		}
	}
}

func TestPackageRefuses(t *testing.T) {
	t.Parallel()
	good := string(example().Encode())
	for want, change := range map[string][2]string{
		"unknown field":                {"task_id:", "extra: 1\ntask_id:"},
		"unknown field \"max_tokens\"": {"max_cli_calls:", "max_tokens: 1\n    max_cli_calls:"},
		"already defined":              {"task_id:", "session_id: b\ntask_id:"},
		"context_ref must be there":    {"context_ref: \"sha256:ab\"\n", ""},
		"absolute path":                {`cwd: "/home/agent"`, "cwd: home"},
		"tool_mode":                    {"tool_mode: full", "tool_mode: all"},
		"leads elsewhere":              {"- main.go", "- ../main.go"},
		"below zero":                   {"max_cli_calls: 8", "max_cli_calls: -8"},
		"whole number":                 {"max_cli_calls: 8", "max_cli_calls: 8.5"},
		"acceptance is empty":          {"acceptance:\n    - go test ./...\n    - \"- the help names it: yes\"", "acceptance: []"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%q is not in\n%s", change[0], good)
		}
		if _, err := DecodePackage([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", change[1], err, want)
		}
	}
}

// FuzzPackage: any text comes back, in any place.
func FuzzPackage(f *testing.F) {
	for _, s := range []string{"a", "", " a", "a: b", "- a", "|", "a\nb", "a\n\nb", "a\n b", "\ta", "1", "0x1", "true", "~", "null", "é\u0301", "\u2028", "\u0085", "\x00", "\x7f", "\U0001f600", "#", "a #b", "'", `"`, `\`, "%", "@a", "`", "---", "...\na", "a\n---\nb", "{a", "[", "a,b", "? a", "! a", "& a", "* a", "a\r\nb", "a:", ":a", "a\tb", "\ufeff", "a\n#b", "a\n- b", "a\nb: c", "12:30", "2001-01-01", "NaN", ".inf", "a. b", "=", "<<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || len(s) > 4000 {
			return
		}
		p := &Package{Session: s, Task: s, Context: s, Instruction: Instruction{Goal: s, Acceptance: []string{s, s}, Scope: PackageScope{Include: []string{s, "."}}}, Runtime: Runtime{Dir: s, Mode: s, Fingerprint: s}}
		data := p.Encode()
		plan := EncodePlan([]event.TaskPlan{{ID: s, Goal: s, Scope: event.TaskScope{Include: []string{s}}, Acceptance: []string{s}}, {ID: "b", Goal: s}})
		m := &Manifest{ID: s, Session: s, Generated: s, Fingerprint: s, Items: []Item{{Type: s, Ref: s, By: s, Checksum: s}, {Type: s}}}
		for _, c := range []struct{ got, want any }{
			{ReadRaw(t, data, new(Package)), p},
			{ReadRaw(t, m.Encode(), new(Manifest)), m},
		} {
			if d := cmp.Diff(c.want, c.got, Empty); d != "" {
				t.Fatalf("read back (-want +got):\n%s\n%s", d, data)
			}
		}
		if own := new(Package); ReadOwn(data, own) && !cmp.Equal(p, own, Empty) {
			t.Fatalf("read without YAML (-want +got):\n%s\n%s", cmp.Diff(p, own, Empty), data)
		}
		if again := ReadRaw(t, data, new(Package)).(*Package).Encode(); !bytes.Equal(again, data) {
			t.Fatalf("encoded again:\n%s\nwant:\n%s", again, data)
		}
		if _, err := DecodePlan(plan); err != nil && strings.HasPrefix(err.Error(), "plan:") {
			t.Fatalf("the plan is not read: %v\n%s", err, plan)
		}
	})
}

// FuzzRead: nothing that a stranger writes does harm, and what is taken is sound.
func FuzzRead(f *testing.F) {
	f.Add(example().Encode())
	f.Add([]byte(goodManifest))
	f.Add(EncodePlan(examplePlan()))
	f.Add([]byte(`{"Action":"fail","Package":"p","Test":"T"}`))
	f.Add([]byte(`<testsuite><testcase><failure/></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := DecodePackage(data); err == nil {
			again, err := DecodePackage(p.Encode())
			if err != nil || !cmp.Equal(p, again) {
				t.Fatalf("a package is another when it is read again: %v\n%s", err, p.Encode())
			}
		}
		if m, findings := DecodeManifest(data); len(findings) == 0 {
			rec := m.Recorded("t", 1)
			if _, err := event.EncodeBody(rec); err != nil || len(m.Items) > MaxItems {
				t.Fatalf("a manifest cannot be recorded: %v", err)
			}
		} else if m != nil {
			t.Fatalf("a manifest with findings is taken: %v", findings)
		}
		if tasks, err := DecodePlan(data); err == nil {
			if again, err := DecodePlan(EncodePlan(tasks)); err != nil || !cmp.Equal(tasks, again) {
				t.Fatalf("a plan is another when it is read again: %v\n%s", err, EncodePlan(tasks))
			}
		}
		Count(data)
		line := FirstFailing(data)
		if strings.ContainsAny(line, "\n\x1b") || len(line) > 1500 {
			t.Fatalf("the line that failed is %q", line)
		}
		Same("acceptance", 1, line)
	})
}

const goodManifest = `manifest_id: m1
session_id: q1
generated_at: 2026-01-31T12:00:00Z
environment_fingerprint: "sha256:cd"
items:
  - {type: patch, ref: ., generated_by: me}
  - type: test_report
    ref: out/report.xml
    generated_by: go test ./...
    checksum: sha256:` + sum + `
`

const sum = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestManifestIsReadAsYAMLAndAsJSON(t *testing.T) {
	t.Parallel()
	m, findings := DecodeManifest([]byte(goodManifest))
	if len(findings) > 0 {
		t.Fatalf("a good manifest: %v", findings)
	}
	want := &Manifest{ID: "m1", Session: "q1", Generated: "2026-01-31T12:00:00Z", Fingerprint: "sha256:cd", Items: []Item{
		{Type: "patch", Ref: ".", By: "me"}, {Type: "test_report", Ref: "out/report.xml", By: "go test ./...", Checksum: "sha256:" + sum}}}
	if d := cmp.Diff(want, m); d != "" {
		t.Errorf("manifest (-want +got):\n%s", d)
	}
	asJSON := `{"manifest_id":"m1","session_id":"q1","generated_at":"2026-01-31T12:00:00Z","environment_fingerprint":"sha256:cd","items":[{"type":"patch","ref":".","generated_by":"me"},
		{"type":"test_report","ref":"out/report.xml","generated_by":"go test ./...","checksum":"sha256:` + sum + `"}]}`
	if m, findings = DecodeManifest([]byte(asJSON)); len(findings) > 0 || !cmp.Equal(want, m) {
		t.Errorf("as JSON: got %v, %v", m, findings)
	}
	if got, ok := m.Items[1].Sum(); !ok || got != sum {
		t.Errorf("checksum: got %q, %v", got, ok)
	}
	if found := Strange(m.Recorded("t", 1), "q2", "sha256:cd"); len(found) != 1 || !strings.Contains(found[0], "session_id") {
		t.Errorf("another's session: got %v", found)
	}
	if found := Strange(m.Recorded("t", 1), "q1", "sha256:ce"); len(found) != 1 || !strings.Contains(found[0], "fingerprint") {
		t.Errorf("another's computer: got %v", found)
	}
}

func TestManifestFindings(t *testing.T) {
	t.Parallel()
	many := strings.Builder{}
	for i := range MaxItems + 1 {
		fmt.Fprintf(&many, "  - {type: doc, ref: a%d, generated_by: me, checksum: %s}\n", i, sum)
	}
	for want, change := range map[string][2]string{
		"unknown field":              {"manifest_id:", "note: x\nmanifest_id:"},
		"It has manifest_id":         {"manifest_id: m1", "- m1"},
		"manifest_id is missing":     {"manifest_id: m1\n", ""},
		"session_id is missing":      {"session_id: q1", "session_id: " + strings.Repeat("x", 101)},
		"environment_fingerprint is": {`environment_fingerprint: "sha256:cd"`, ""},
		"generated_at yesterday is":  {"2026-01-31T12:00:00Z", "yesterday"},
		"type binary is none of":     {"type: test_report", "type: binary"},
		"generated_by is missing":    {"generated_by: go test ./...", "generated_by: ''"},
		"64 hexadecimal digits":      {sum, "abc"},
		"without .git and ..":        {"out/report.xml", "out/../../report.xml"},
		"path of a file in your":     {"out/report.xml", ".git/config"},
		"only a workspace_snapshot":  {"ref: out/report.xml", "ref: ."},
		"leave it out":               {"ref: ., generated_by: me", "ref: ., checksum: " + sum + ", generated_by: me"},
		"it is there twice":          {"  - type: test_report", "  - {type: patch, ref: ., generated_by: you}\n  - type: test_report"},
		"more than 32: bundle":       {"items:\n", "items:\n" + many.String()},
		"more than 65536":            {"manifest_id: m1", "manifest_id: " + strings.Repeat("m", MaxManifest)},
		"must be the path":           {"out/report.xml", "https://example.org/x"},
	} {
		bad := strings.Replace(goodManifest, change[0], change[1], 1)
		if bad == goodManifest {
			t.Fatalf("%q is not there", change[0])
		}
		if _, found := DecodeManifest([]byte(bad)); !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%q: got %v, want %q", plainly(change[1]), found, want)
		}
	}
	for _, typ := range Types {
		if _, found := DecodeManifest([]byte(strings.Replace(goodManifest, "type: test_report", "type: "+typ, 1))); len(found) > 0 {
			t.Errorf("an item of type %s: %v", typ, found)
		}
	}
	if len(Types) != 8 {
		t.Errorf("there are %d types", len(Types))
	}
}

func plainly(s string) string { return s[:min(len(s), 80)] }

func TestItemPath(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{"a/b": "a/b", "./a": "a", "/home/agent/a": "a", "/home/agent/x/../a": "a", "/etc/passwd": "", "/home/agents/a": "", ".": ""} {
		if got := (Item{Ref: ref}).Path("/home/agent"); got != want {
			t.Errorf("the file of %q: got %q, want %q", ref, got, want)
		}
	}
}

func examplePlan() []event.TaskPlan {
	return []event.TaskPlan{
		{ID: "a", Goal: "Do this\nand that: now", Acceptance: []string{"go test ./a"}, Scope: event.TaskScope{Include: []string{"a/"}, Exclude: []string{"a/x"}, NoTouch: []string{"go.mod"}}},
		{ID: "b", Goal: "Look", Criteria: []string{"It says why."}, After: []string{"a"}, ReadOnly: true, Scope: event.TaskScope{Include: []string{"."}}},
	}
}

func TestPlanIsReadBack(t *testing.T) {
	t.Parallel()
	data := EncodePlan(examplePlan())
	got, err := DecodePlan(data)
	if err != nil {
		t.Fatalf("what was written is not read: %v\n%s", err, data)
	}
	if d := cmp.Diff(examplePlan(), got); d != "" {
		t.Errorf("plan (-want +got):\n%s\n%s", d, data)
	}
	for text, want := range map[string]bool{string(data): true, "# mine\n\n---\ntasks:\n": true, "yes": false, "": false, "no: do tasks: first": false} {
		if IsPlan(text) != want {
			t.Errorf("is %q a plan: want %v", text, want)
		}
	}
}

func TestPlanFaults(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(p []event.TaskPlan) []event.TaskPlan{
		"no task":                  func(p []event.TaskPlan) []event.TaskPlan { return nil },
		"task a: another has this": func(p []event.TaskPlan) []event.TaskPlan { p[1].ID = "a"; return p },
		"task 1: id":               func(p []event.TaskPlan) []event.TaskPlan { p[0].ID = "a b"; return p },
		"task a: goal is empty":    func(p []event.TaskPlan) []event.TaskPlan { p[0].Goal = " \n"; return p },
		"more than 4096 bytes":     func(p []event.TaskPlan) []event.TaskPlan { p[0].Goal = strings.Repeat("x", 5000); return p },
		"include is empty":         func(p []event.TaskPlan) []event.TaskPlan { p[0].Scope.Include = nil; return p },
		"acceptance is empty":      func(p []event.TaskPlan) []event.TaskPlan { p[0].Acceptance = nil; return p },
		"is empty or has":          func(p []event.TaskPlan) []event.TaskPlan { p[0].Acceptance = []string{""}; return p },
		"at most 16":               func(p []event.TaskPlan) []event.TaskPlan { p[0].Acceptance = make([]string, 17); return p },
		"after names c,":           func(p []event.TaskPlan) []event.TaskPlan { p[1].After = []string{"c"}; return p },
		"after names b,":           func(p []event.TaskPlan) []event.TaskPlan { p[1].After = []string{"b"}; return p },
		"each other: a, b":         func(p []event.TaskPlan) []event.TaskPlan { p[0].After = []string{"b"}; return p },
		"leads elsewhere":          func(p []event.TaskPlan) []event.TaskPlan { p[0].Scope.NoTouch = []string{"../x"}; return p },
	} {
		if got := strings.Join(Faults(change(examplePlan())), "\n"); !strings.Contains(got, want) {
			t.Errorf("faults: got %q, want %q", got, want)
		}
	}
	if got := Faults(examplePlan()); len(got) > 0 {
		t.Errorf("a good plan: %v", got)
	}
	if _, err := DecodePlan([]byte("tasks:\n  - id: a\n    goals: x\n")); err == nil || !strings.Contains(err.Error(), "plan:3:5: unknown field") {
		t.Errorf("an unknown key: got %v, want its place", err)
	}
	if _, err := DecodePlan([]byte("tasks:\n  - id: a\n")); err == nil || !strings.Contains(err.Error(), "goal is empty") || !strings.Contains(err.Error(), "acceptance is empty") {
		t.Errorf("a plan that lacks much: got %v, want all of it", err)
	}
}

func TestFirstFailing(t *testing.T) {
	t.Parallel()
	for want, output := range map[string]string{
		"--- FAIL: TestGreet (0.00s)":          "=== RUN   TestGreet\n    greet_test.go:9: got \"\"\n--- FAIL: TestGreet (0.00s)\nFAIL\nexit status 1\n",
		"./main.go:3:5: undefined: greet":      "# example.org/x\n./main.go:3:5: undefined: greet\nFAIL\texample.org/x [build failed]\n",
		"sh: 1: nothere: not found":            "sh: 1: nothere: not found\n",
		"panic: oh":                            "x\npanic: oh\n\ngoroutine 1 [running]:\n",
		"error: no such thing":                 "\x1b[31merror: no such thing\x1b[0m\nsee the manual\n",
		"the last":                             "one\nthe last\n\n  \n",
		"":                                     " \n",
		"--- FAIL: TestX (0.01s)":              `{"Action":"output","Package":"p","Test":"TestX","Output":"--- FAIL: TestX (0.01s)\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"TestX"}`,
		"E   AssertionError: assert 1 == 2":    "def test_x():\nE   AssertionError: assert 1 == 2\n1 failed in 0.1s",
		"broken  here failed":                  "broken \xff here failed",
		"TypeError: x is not a function":       "    at y\nTypeError: x is not a function\n    at z",
		"make: *** [Makefile:3: test] Error 1": "make: *** [Makefile:3: test] Error 1\n",
	} {
		if got := FirstFailing([]byte(output)); got != want {
			t.Errorf("what failed first in %q: got %q, want %q", output, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"--- FAIL: TestGreet (0.00s)", "--- FAIL: TestGreet (1.23s)"},
		{"./main.go:3:5: undefined: greet", "main.go:13:15: undefined: greet", "/tmp/x1/main.go:9:1: undefined: greet"},
		{"2026-01-31T12:00:00Z error: no answer after 15ms", "2027-02-01T10:10:10.5Z error: no answer after 3s"},
		{"panic at 0xc000012345", "panic at 0xc000999999"},
		{"commit deadbeef01 is bad", "commit 0123456789 is bad"},
		{"got 3, want 4", "got 12, want 4"},
		{"\x1b[31merror\x1b[0m: x", "error: x"},
	}
	keys := map[string]int{}
	for i, lines := range same {
		for _, line := range lines {
			key := Same("acceptance", 1, line)
			if j, ok := keys[key]; ok && j != i {
				t.Errorf("%q is the same as one of %q", line, same[j])
			}
			keys[key] = i
			if key != Same("acceptance", 1, lines[0]) {
				t.Errorf("%q and %q differ: %q", lines[0], line, key)
			}
			if key == Same("acceptance", 2, line) || key == Same("timeout", 1, line) {
				t.Errorf("%q is the same with another exit or category", line)
			}
		}
	}
	if Same("a", 1, "undefined: greet") == Same("a", 1, "undefined: leave") {
		t.Error("two names are the same")
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		want   Counts
		ok     bool
	}{
		"Go": {`noise
{"Time":"2026-01-31T12:00:00Z","Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB/sub"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
{"Action":"pass","Package":"q","Test":"TestA"}
{"Action":"pass","Package":"q"}
`, Counts{Passed: 2, Failed: 2, Skipped: 1}, true},
		"GoThatDoesNotBuild": {`{"Action":"output","Package":"p","Output":"FAIL"}` + "\n" + `{"Action":"fail","Package":"p"}`, Counts{Failed: 1}, true},
		"JUnit": {`running
<?xml version="1.0"?>
<testsuites><testsuite name="a" tests="99"><testcase name="1"/><testcase name="2"><failure message="x">y</failure></testcase><testcase name="3"><skipped/></testcase>
<testcase name="4"><system-out>z</system-out></testcase></testsuite><testsuite name="b"><testcase name="1"><error/></testcase></testsuite></testsuites>
done`, Counts{Passed: 2, Failed: 2, Skipped: 1}, true},
		"OneSuite":       {`<testsuite><testcase/></testsuite>`, Counts{Passed: 1}, true},
		"JUnitCutOff":    {`<testsuite><testcase/>`, Counts{}, false},
		"NeitherOfThem":  {"ok  	p	0.1s\n", Counts{}, false},
		"JSONOfAnother":  {`{"action":"pass"}`, Counts{}, false},
		"OutputOnlySays": {`{"Action":"output","Output":"{\"Action\":\"pass\",\"Test\":\"T\"}"}`, Counts{}, true},
	} {
		got, ok := Count([]byte(c.output))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v, %v", name, got, ok, c.want, c.ok)
		}
	}
}
