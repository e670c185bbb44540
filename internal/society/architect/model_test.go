package architect_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/architect"
)

// hand is an architect that tries everything there is, over and over.
type hand struct{ tools []string }

func (h hand) Bids() behavior.Bids {
	var b behavior.Bids
	for _, name := range h.tools {
		b.Request = append(b.Request, behavior.Event{Type: "tool.call", Detail: &policy.Facts{Agent: architect.Architect, Tool: name}})
	}
	for _, t := range []string{"prompt.call", "permission.decided", "gateway.call"} {
		b.Request = append(b.Request, behavior.Event{Type: t, Detail: &policy.Facts{Agent: architect.Architect, Tool: "execute"}})
	}
	return b
}
func (hand) Next(behavior.Event) bool { return true }
func (hand) Save() string             { return "" }
func (hand) Restore(string) error     { return nil }

var own = []string{"search", "recall", "plan_tasks", "clarify", "dispatch", "judge", "finish"}

// touches are events by which the architect would touch a file or run a command.
type touches struct{}

func (touches) String() string { return "the architect touches something" }
func (touches) Match(e behavior.Event) behavior.Truth {
	f, ok := e.Detail.(*policy.Facts)
	if ok && f.Agent == architect.Architect && !(e.Type == "tool.call" && slices.Contains(own, f.Tool)) {
		return behavior.Yes
	}
	return behavior.No
}

func checked(t *testing.T, threads []behavior.Thread) behavior.Verdict {
	t.Helper()
	p := behavior.New(nil)
	tools := append([]string{"", "run_command", "write_file", "read_file", "python", "ask_person", "artifact_manifest", "Search", "dispatch "}, own...)
	for _, th := range append(threads, behavior.Thread{Name: "hand", Priority: 1 << 20, Repeat: true, Start: func() behavior.Behavior { return hand{tools} }}) {
		if err := p.Add(th); err != nil {
			t.Fatal(err)
		}
	}
	v, err := p.Check(behavior.CheckOptions{Never: touches{}, Reach: behavior.Of("tool.call")})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNoStateLetsTheArchitectTouchAFileOrRunACommand(t *testing.T) {
	t.Parallel()
	if v := checked(t, (architect.Society{}).Policies()); v.Result != behavior.Holds {
		t.Fatalf("%s: %s, after %v", v.Result, v.Reason, v.Trace)
	}
	if v := checked(t, nil); v.Result != behavior.Fails {
		t.Fatalf("without the policy: %s", v.Result)
	}
}

func TestToolsThatAreNotTheArchitectsAreBlocked(t *testing.T) {
	t.Parallel()
	b := created(t, usual())
	b.Agents[0].ToolNames = append(b.Agents[0].ToolNames, "run_command", "artifact_manifest")
	w := &world{Story: questtest.Begin(t, architect.Society{}, b), t: t}
	w.ready = func(worker string) *event.ExecutorReady {
		return &event.ExecutorReady{Name: worker, Version: "1", Protocol: 1}
	}
	w.Start()
	w.settle()
	for _, tool := range []string{"run_command", "artifact_manifest"} {
		has(t, w.does(tool, `{}`), "Refused by the policy "+architect.HandsOff)
	}
}

func TestAForkAnywhereComesToTheSameEnd(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "a/"))
	inspect := w.inspect
	w.inspect = func(c *event.InspectionCall) *event.InspectionResult {
		if c.Run == 1 {
			return outside("go.mod")
		}
		return inspect(c)
	}
	w.does("dispatch", named("t1"))
	w.does("judge", accepts("t1"))
	for n := 3; n <= len(w.Events); n++ {
		f := &world{Story: w.Fork(n, nil), t: t, work: w.work, ready: w.ready, home: w.home, accept: w.accept, merge: w.merge}
		f.inspect = func(c *event.InspectionCall) *event.InspectionResult { return f.found(c, "main.go") }
		f.Take("person", &event.QuestResumed{})
		f.settle()
		for range 12 {
			if f.State.Status != quest.Running {
				break
			}
			m := architect.Of(f.State)
			switch {
			case len(f.Open("model.call", architect.Architect)) == 0:
				for _, b := range all[*event.TaskError](f) {
					t.Log(b.Text.Text)
				}
				t.Fatalf("fork at %d (%s): nobody is asked:\n%s", n, w.Events[n-1].Type, f.tail())
			case len(m.Tasks) == 0:
				f.does("plan_tasks", plan(unit("t1", "a/")))
			case m.Tasks[0].Status != "":
				f.does("finish", `{"answer":"done"}`)
			case m.Tasks[0].Handover != nil && m.Tasks[0].Handover.Outcome == event.OutcomeChecked:
				f.does("judge", accepts("t1"))
			default:
				f.does("dispatch", named("t1"))
			}
		}
		if f.State.Status != quest.Finished || architect.Of(f.State).Tasks[0].Status != event.TaskAccepted {
			t.Fatalf("fork at %d (%s): it is %s:\n%s", n, w.Events[n-1].Type, f.State.Status, f.tail())
		}
		f.sound()
	}
}

func TestASummaryStandsForWhatIsLongPast(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Summarize = 10
	w := planned(t, set, unit("t1", "a/"))
	if len(all[*event.TaskSummary](w)) > 0 {
		t.Fatal("it is too early")
	}
	for range 12 {
		w.Take("person", &event.UserMessage{Text: event.Text{Text: strings.Repeat("word ", 20)}})
	}
	w.does("dispatch", named("t1"))
	sums := all[*event.TaskSummary](w)
	if len(sums) == 0 || len(sums[0].Events) < 10 || sums[0].Last <= sums[0].First {
		t.Fatalf("summaries: got %+v", sums)
	}
	has(t, sums[0].Text.Text, "a person said", "t1")
	a := w.State.Agent(architect.Architect)
	if a.Transcript.Summary == nil || a.Transcript.First <= sums[0].First {
		t.Error("it stands for nothing")
	}
	d, err := (architect.Society{}).Deliver(w.State, a, &agent.Use{Name: "recall", Args: event.Text{Text: `{"seq":` + number(sums[0].Events[0]) + `}`}})
	if err != nil {
		t.Errorf("an event that a summary stands for is gone: %v", err)
	} else if d.Said == "" {
		t.Error("nothing is recalled")
	}
	w.Sound()
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

func TestTheKeysOfAQuestYAML(t *testing.T) {
	t.Parallel()
	societies := quest.Societies{architect.Society{}}
	parse := func(more string) (*quest.Spec, error) {
		return societies.ParseSpec("quest.yaml", []byte("society: architect\nproblem: x\nmodel: demo\nrepo: .\n"+more))
	}
	s, err := parse("approve: plan\nexecutors: [claude, codex]\nscope: [cmd/]\nno_touch: [cmd/x]\nacceptance: [make test]\nparallel: 2\non_repeated_error: narrow\non_timeout: cancel_and_report\nsession: {max_cli_calls_per_task: 8}\n")
	if err != nil {
		t.Fatal(err)
	}
	b := &event.QuestCreated{Name: "q"}
	if err := (architect.Society{}).Settle(s, b); err != nil {
		t.Fatal(err)
	}
	has(t, b.Settings, `"approve":true`, `"max_cli_calls_per_task":8`, `"max_handovers_per_task":6`, `"parallel":2`, `"claude","codex"`)
	var names []string
	for _, r := range (architect.Society{}).Roles(s, true, true) {
		names = append(names, r.Name)
		if r.Name == architect.Architect && (r.World || !r.Thinks) || r.Name != architect.Architect && (r.Executor == "" || r.Gateway == nil) {
			t.Errorf("the role %+v", r)
		}
	}
	if got := strings.Join(names, " "); got != "architect claude-1 codex-1 claude-2 codex-2" {
		t.Errorf("the agents: %s", got)
	}
	for more, want := range map[string]string{
		"executors: [claude, claude]\n":             "twice",
		"executors: [architect]\n":                  "no executor's name",
		"executors: [a, b, c]\nparallel: 8\n":       "24 workers",
		"scope: [../x]\n":                           "scope",
		"no_touch: [\"*\"]\n":                       "pattern",
		"scope: [cmd/]\nno_touch: [cmd/]\n":         "nothing is left",
		"session: {max_tasks: 0}\n":                 "want 1 to 20",
		"session: {max_tusks: 1}\n":                 "no limit",
		"acceptance: [\" \"]\n":                     "empty",
		"approve: nothing\n":                        "approve",
		"parallel: 9\n":                             "want 1 to 8",
		"acceptance: [a, b, c, d, e, f, g, h, i]\n": "there can be 8",
	} {
		if _, err := parse(more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", more, err, want)
		}
	}
}
