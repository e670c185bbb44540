package runtime_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// count counts the events of a type.
func (l *lab) count(name string, typ event.Type) (n int) {
	for _, e := range l.events(name) {
		if e.Type == typ {
			n++
		}
	}
	return n
}

// TestPoliciesSeeWhatIsInABlob: arguments that are too long for an event are
// judged by their outline.
func TestPoliciesSeeWhatIsInABlob(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	long := strings.Repeat("long lines of text ", 1000)
	name := l.create(plan(t, "q", "policies: [{use: no-touch, paths: [secret]}]\n", `
rules:
  - on: {turn: 1}
    call:
      - {tool: write_file, args: {content: "`+long+`", path: a/../secret/note.md}}
      - {tool: write_file, args: {path: open/note.md, content: "`+long+`"}}
      - {tool: write_file, args: {path: "`+strings.Repeat("./", 1000)+`secret/x", content: "`+long+`"}}
  - say: "Done."
`))
	s := l.run(name)
	if s.Status != quest.Finished {
		t.Fatalf("the quest is %s: %s, want it finished", s.Status, s.Reason)
	}
	if blocked, called := l.count(name, "policy.blocked"), l.count(name, "tool.call"); blocked != 2 || called != 1 {
		t.Errorf("%d were blocked and %d called, want 2 and 1", blocked, called)
	}
	l.sound(name)
}

// TestPoliciesNameCallsOfExecutors: where an agent is an executor, policies name the kinds of its
// own calls; elsewhere, and in the wrong place, such a policy would guard nothing.
func TestPoliciesNameCallsOfExecutors(t *testing.T) {
	t.Parallel()
	own := func(types, tool string) string {
		return "policies: [{name: p, steps: [{block: {type: " + types + ", where: {tool: " + tool + "}, reason: No.}}]}]\n"
	}
	const guest, mixed = "computer: auto\nexecutor: claude\n", "society: lab\ncomputer: auto\nagents: [{count: 1}, {executor: claude}]\n"
	for text, want := range map[string]string{
		guest + own("permission.decided", "{in: ["+strings.Join(event.CallKinds, ", ")+"]}"):                                     "",
		mixed + own("permission.decided", "execute"):                                                                             "",
		guest + own("\"*\"", "execute"):                                                                                          "",
		guest + own("[tool.call, permission.decided]", "{in: [exec, execute]}"):                                                  "",
		guest + "policies: [{use: no-touch, paths: [raw], tools: [edit, write_file]}]\n":                                         "",
		guest + "policies: [{name: p, steps: [{wait: {type: tool.reported, where: {tool: fetch}}}]}]\n":                          "",
		"computer: auto\n" + own("permission.decided", "execute"):                                                                "the policy p is about calls of the kind execute, which executors make by themselves, and no agent of this quest is an executor",
		"computer: auto\npolicies: [{use: no-touch, paths: [raw], tools: [edit]}]\n":                                             "no agent of this quest is an executor",
		guest + own("permission.decided", "exec"):                                                                                "the policy p is about calls of the kind \"exec\" of an executor: there are read, edit, delete, move, search, execute, think, fetch, switch_mode, other",
		guest + own("tool.call", "execute"):                                                                                      "calls that executors make by themselves, of the kind execute, are a permission.decided",
		"computer: auto\n" + own("tool.call", "execute"):                                                                         "the tool \"execute\", which no agent of this quest has: they have ",
		guest + "policies: [{use: max-calls, max: 3, tools: [execute]}]\n":                                                       "the policy max-calls is about the tool \"execute\", which no agent of this quest has",
		guest + "policies: [{use: no-touch, paths: [raw], tools: [edits]}]\n":                                                    "the tool \"edits\", which no agent",
		guest + "policies: [{name: p, steps: [{wait: {type: tool.result, where: {tool: fetch}}, block: {type: model.call}}]}]\n": "the tool \"fetch\"",
	} {
		l := newGuild(t)
		l.Executors = known
		_, err := l.Create(t.Context(), plan(t, "q", text, quiet))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: got %v, want it taken", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want something with %q", text, err, want)
		case want != "" && quest.FieldOf(err) != "policies":
			t.Errorf("%s: it is about the key %q, want policies", text, quest.FieldOf(err))
		}
	}
}

// TestAForkAndAResumedQuestMeetTheSameGate: what policies have counted is there
// again in another process, and in a fork.
func TestAForkAndAResumedQuestMeetTheSameGate(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := openLab(t, home, nil)
	name := l.create(plan(t, "q", "policies: [{use: max-calls, max: 3, tools: [calculate]}]\nlimits: {turns: 2}\n", `
rules:
  - on: {until_turn: 5}
    call: [{tool: calculate, args: {code: "${turn}"}}]
  - say: "Done."
`))
	if s := l.run(name); s.Status != quest.Exceeded || l.count(name, "tool.call") != 2 {
		t.Fatalf("%s after %d calls", s.Status, l.count(name, "tool.call"))
	}
	must(t, l.store.Close())
	again := openLab(t, home, nil)
	fork, err := again.Fork(t.Context(), name, runtime.ForkOptions{Name: "other"})
	must(t, err)
	for _, q := range []string{name, fork.Name} {
		s, err := again.Run(t.Context(), q, runtime.RunOptions{Limits: event.Limits{Turns: new(int64(20))}})
		must(t, err)
		if s.Status != quest.Finished || again.count(q, "tool.call") != 3 || again.count(q, "policy.blocked") != 2 {
			t.Errorf("%s: %s after %d calls and %d blocks", q, s.Status, again.count(q, "tool.call"), again.count(q, "policy.blocked"))
		}
		again.sound(q)
		at, err := again.At(t.Context(), q, s.Seq-1)
		must(t, err)
		if x := at.Explain(); x.Seq != s.Seq-1 || x.Agents[0].Proposals[1].Verdict != "blocked" || x.Agents[0].Proposals[1].By[0].Thread != "max-calls" {
			t.Errorf("before its end: %+v", x.Agents[0].Proposals)
		}
	}
}
