package runtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// known are executors as a home may know them.
func known(name string) (executor.Settings, string, error) {
	if name != "claude" && name != "builtin" {
		return executor.Settings{}, "", errors.New("there is no such executor; there are builtin and claude")
	}
	return executor.Settings{Name: name, Folder: name, Command: []string{"{folder}/run"}, Wire: "anthropic", Variables: map[string]string{"KEY": "{token}"}}, "/opt/" + name, nil
}

func TestExecutorsArePinned(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	l.Executors = known
	p := plan(t, "q", "society: lab\ncomputer: auto\nagents: [{count: 2}, {executor: claude, model: \"script:other.yaml\"}, {executor: builtin}, {executor: claude}]\npermission_timeout: 1m30s\n", quiet)
	must(t, os.WriteFile(filepath.Join(p.Dir, "other.yaml"), []byte(quiet), 0o600))
	b, _ := l.made(p)
	if len(b.Executors) != 2 || b.Executors[0].Name != "builtin" || b.Executors[1].Name != "claude" {
		t.Fatalf("the pins are %+v", b.Executors)
	}
	if b.PermissionTimeout != 90_000_000 {
		t.Errorf("executors wait for people for %d microseconds, want a minute and a half", b.PermissionTimeout)
	}
	var got executor.Settings
	must(t, json.Unmarshal([]byte(l.blob(b.Executors[1].Settings)), &got))
	want, _, _ := known("claude")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the settings differ (-want +got):\n%s", d)
	}
	if strings.Contains(l.blob(b.Executors[1].Settings), "/opt/") {
		t.Error("where it stands on the host is pinned")
	}
	for i, name := range []string{"", "claude", "builtin", "claude"} {
		a := b.Agents[i]
		if a.Executor != name || (a.Gateway != nil) != (name != "") || name != "" && !a.Gateway.Any {
			t.Errorf("group %d is %q, with the gateway %v", i, a.Executor, a.Gateway)
		}
		if told := strings.Contains(l.blob(a.System), "MCP server lyceum"); told != (name != "") {
			t.Errorf("group %d is told where its tools are: %v", i, told)
		}
	}
	if b.Agents[1].Model != "script:other.yaml" || b.Agents[2].Model != "script:plan.yaml" {
		t.Errorf("the models are %s and %s", b.Agents[1].Model, b.Agents[2].Model)
	}
	if !slices.ContainsFunc(b.Texts, func(t event.NamedText) bool { return t.Name == "again" }) {
		t.Error("what executors are told is not pinned")
	}
	s, err := l.Load(t.Context(), "q")
	must(t, err)
	for i, prompted := range []bool{false, false, true, true, true} {
		if (s.Agents[i].Session != nil) != prompted {
			t.Errorf("%s is prompted: %v", s.Agents[i].Name, !prompted)
		}
	}
}

// A quest without executors is what it was before there were any.
func TestAQuestWithoutExecutorsKnowsNothingOfThem(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	l.Executors = known
	b, e := l.made(plan(t, "q", "society: lab\ncomputer: auto\nagents: 2\n", quiet))
	if line := string(e.Line()); strings.Contains(line, "executor") || strings.Contains(line, "gateway") || slices.ContainsFunc(b.Texts, func(t event.NamedText) bool { return t.Name == "again" }) {
		t.Errorf("its first event is %s", e.Line())
	}
}

func TestFaultsOfExecutors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"computer: auto\nexecutor: nobody\n":                           "executor nobody: there is no such executor; there are builtin and claude",
		"executor: claude\n":                                           "the executor claude runs inside the agents' computers, and there are none: say computer: auto",
		"society: lab\ncomputer: auto\nagents: [{executor: nobody}]\n": "executor nobody: there is no such",
		"society: lab\ncomputer: none\nagents: [{executor: claude}]\n": "say computer: auto",
		"computer: auto\npermission_timeout: 5m\n":                     "it is how long executors wait for a person, and no agent of this quest is one",
	} {
		l := newGuild(t)
		l.Executors = known
		p := plan(t, "q", text, quiet)
		if _, err := l.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want something with %q", text, err, want)
		}
	}
	l := newGuild(t)
	if _, err := l.Create(t.Context(), plan(t, "q", "computer: auto\nexecutor: claude\n", quiet)); err == nil || quest.FieldOf(err) != "executor" {
		t.Errorf("a home that knows no executors: %v", err)
	}
}
