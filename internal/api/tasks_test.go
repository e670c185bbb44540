package api_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect"
	"lyceum/internal/society/solo"
	"lyceum/internal/view"
)

// recorded are rules that decide nothing of their own: the ledger of an architect is written by
// the test. They know of it which tasks there are, as an architect does.
type recorded struct{ solo.Society }

func (recorded) Rules() string { return "architect/1" }

func (recorded) Begin(s *quest.State, b *event.QuestCreated) quest.Memory {
	return &heard{architect.Society{}.Begin(s, b).(*architect.Memory)}
}

func (recorded) Blank() quest.Memory { return &heard{&architect.Memory{}} }

// heard is an architect's memory of its tasks alone: the rest of the ledger does not fit together
// as one of a real quest would.
type heard struct{ *architect.Memory }

func (heard) Check(event.Result) error { return nil }

func (m *heard) Apply(e event.Event) {
	switch e.Body.(type) {
	case *event.PlanApproved, *event.TaskEnded, *event.TaskOrder:
		m.Memory.Apply(e)
	}
}

// architect writes the ledger of one: a plan that a person edits, a run that goes wrong, is
// repaired, judged and merged, another task that is narrowed, cancelled.
func (s *server) architect(name string) {
	s.t.Helper()
	s.rt.Societies = slices.Clone(s.rt.Societies)
	s.rt.Societies[slices.Index(s.rt.Societies.Names(), "architect")] = recorded{}
	s.create(name, map[string]any{"model": "demo", "society": "architect"})
	w := s.writes(name)
	b := ledger.Batch{Quest: name}
	add := func(actor string, body event.Body) uint64 {
		s.t.Helper()
		e, err := event.Seal(name, w.seq+1, w.hash, event.Draft{Time: s.rt.Clock(), Actor: actor, Body: body})
		must(s.t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
		return e.Seq
	}
	text := func(x string) event.Text { return event.Text{Text: x} }
	blob := func(x string) event.Ref {
		ref, err := s.rt.Blobs.Put(s.t.Context(), []byte(x))
		must(s.t, err)
		return ref
	}
	patch, logs := blob("diff --git a/cmd/a.go b/cmd/a.go\nnew file mode 100644\n--- /dev/null\n+++ b/cmd/a.go\n@@ -0,0 +1 @@\n+package cmd\n"), blob("--- FAIL: TestCount\n")
	tree := event.TreeRef{Hash: event.HashOf([]byte("tree")), Size: 9}
	const rules, who = "rules", "agent-0"
	add("person", &event.QuestStarted{Version: "test"})
	add(rules, &event.SessionConfig{Executors: []string{"builtin"}, Calls: 8, Handovers: 6, Seconds: 900, Parallel: 1, Tasks: 20})
	scope := event.TaskScope{Include: []string{"cmd/"}, Exclude: []string{"cmd/old"}, NoTouch: []string{"go.mod"}}
	tasks := []event.TaskPlan{
		{ID: "add", Goal: "A command", Acceptance: []string{"go test ./..."}, Scope: scope},
		{ID: "read/../me", Goal: "Its text", Criteria: []string{"It names the command"}, After: []string{"add"}, ReadOnly: true, Scope: scope},
		{ID: "more", Goal: "Another", Acceptance: []string{"true"}, Scope: scope},
	}
	plan := add(who, &event.PlanProposed{Tasks: tasks})
	add(rules, &event.PlanApproved{Plan: plan, Interaction: 3, Edited: true, Tasks: tasks})
	shot := add(rules, &event.TaskSnapshot{Task: "add", Events: []event.SnapshotEvent{{Seq: 1}}, Hash: event.HashOf([]byte("x")), Text: text("What was before")})
	add(who, &event.HandoverBegun{Task: "add", Run: 1, Executor: "builtin", Worker: "agent-0", Package: event.Text{Text: "task_id: add\n", Ref: &logs}, Snapshot: shot})
	asked := add(who, &event.TaskClarify{Task: "add", Round: 1, Question: text("Which name?")})
	add(who, &event.TaskClarified{Task: "add", Clarify: asked, Text: text("count")})
	call := add(who, &event.InspectionCall{Task: "add", Run: 1, Worker: "agent-0", Begun: tree, Scope: scope})
	add(who, &event.InspectionResult{Call: call, Files: 2, More: 1, Findings: []string{"no manifest"}, Outside: []event.Skipped{{Path: "go.mod", Reason: "no_touch"}}, Ignored: []event.Skipped{{Path: "bin", Reason: ".gitignore"}}, Error: text("slow")})
	add(rules, &event.TaskError{Task: "add", Run: 1, Category: event.ErrorScope, Exit: 1, Line: "go.mod", Same: 1, Text: text("go.mod is outside"), Logs: &logs})
	add(rules, &event.HandoverEnded{Task: "add", Run: 1, Outcome: event.OutcomeError})
	add(rules, &event.TaskTurned{Task: "add", How: event.TurnedSwap, Executor: "codex", Reason: "the same again"})
	add(rules, &event.HandoverBegun{Task: "add", Run: 2, Repair: true, Executor: "builtin", Worker: "agent-0", Package: text("Take go.mod back"), Snapshot: shot})
	call = add(who, &event.InspectionCall{Task: "add", Run: 2, Worker: "agent-0", Begun: tree, Scope: scope})
	add(who, &event.InspectionResult{Call: call, Files: 1, Changes: []event.TaskChange{{Kind: event.Added, Path: "cmd/a.go", Added: 1, Removed: 1}}, Patch: &patch, Tree: &tree})
	add(who, &event.ArtifactManifest{Task: "add", Run: 2, ID: "m1", Items: []event.ArtifactItem{{Type: "doc", Ref: "notes.md", File: &logs, Preview: text("# Notes")}}})
	for side, exit := range map[string]int64{event.SideBefore: 1, event.SideAfter: 0, event.SideMerged: 0} {
		call = add(rules, &event.AcceptanceCall{Task: "add", Side: side, Commands: []string{"go test ./..."}, Tree: tree})
		add(rules, &event.TestReport{Call: call, Duration: 5, Commands: []event.TestRun{{Command: "go test ./...", Exit: exit, End: "time", Passed: 3, Failed: 1, Skipped: 1, Output: logs, Tail: "FAIL"}}})
	}
	add(rules, &event.HandoverEnded{Task: "add", Run: 2, Outcome: event.OutcomeChecked})
	add(who, &event.TaskJudged{Task: "add", Run: 2, Verdict: event.VerdictAccept, Reasons: text("It holds"), Shown: []string{"event 9"}, Scope: &scope})
	add(rules, &event.TaskEnded{Task: "add", Run: 2, Status: event.TaskAccepted, Patch: &patch, Tree: &tree, Reason: "it holds"})
	add(rules, &event.TaskEnded{Task: "read/../me", Status: event.TaskCancelled, Reason: "by a person"})
	call = add(rules, &event.MergeCall{Base: tree, Parts: []event.MergePart{{Task: "add", Tree: tree}}})
	add(rules, &event.MergeReport{Call: call, Files: 1, Patch: &patch, Tree: &tree, Conflicts: []event.Skipped{{Path: "a", Reason: "both"}}})
	must(s.t, s.rt.Ledger.Append(s.t.Context(), b))
}

func (w *world) askTasks(ask func(string, string, any, ...func(*http.Request)) answer) {
	w.architect("built")
	ask("GET /api/quests/{quest}/tasks", "/api/quests/built/tasks", nil)
	for _, task := range []string{"add", "read%2F..%2Fme", "nobody"} {
		ask("GET /api/quests/{quest}/tasks/{task}", "/api/quests/built/tasks/"+task, nil)
	}
	ask("GET /api/quests/{quest}/canvas", "/api/quests/built/canvas", nil)
	const order = "POST /api/quests/{quest}/tasks/{task}/orders"
	ask(order, "/api/quests/built/tasks/more/orders", map[string]any{"action": "message", "text": "Mind the gap."}).want(w.t, 202)
	ask(order, "/api/quests/built/tasks/more/orders", map[string]any{"action": "message"}).want(w.t, 400)
	ask(order, "/api/quests/built/tasks/add/orders", map[string]any{"action": "cancel"}).want(w.t, 409)
	ask(order, "/api/quests/built/tasks/nobody/orders", map[string]any{"action": "cancel"}).want(w.t, 404)
}

func TestTheTasksOfAnArchitect(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.architect("built")
	var list view.TaskList
	s.do("GET", "/api/quests/built/tasks", nil).want(t, 200).into(t, &list)
	if len(list.Tasks) != 3 || list.Tasks[0].State != event.TaskAccepted || list.Tasks[1].State != event.TaskCancelled || list.Plan == nil || !list.Plan.Edited || len(list.Merges) != 1 || list.Whole == nil {
		t.Errorf("the board: got %+v, want a task accepted, one cancelled, one planned, an edited plan, a merge and tests of the whole", list)
	}
	var one view.TaskDetail
	s.do("GET", "/api/quests/built/tasks/add", nil).want(t, 200).into(t, &one)
	if len(one.Runs) != 2 || len(one.Runs[0].Errors) != 1 || one.Runs[1].Found.Patch == nil || one.Before.Good() {
		t.Errorf("a task: got %+v, want two runs, an error in the first, a patch in the second, tests that failed before", one)
	}
	s.do("GET", "/api/blobs/"+one.Runs[1].Found.Patch.Hash.String(), nil).want(t, 200)
	s.do("GET", "/api/quests/built/tasks/read%2F..%2Fme", nil).want(t, 200).into(t, &one)
	if one.ID != "read/../me" || one.Reason != "by a person" {
		t.Errorf("a task whose name looks like a path: got %+v, want itself", one.TaskCard)
	}
	s.do("GET", "/api/quests/built/tasks/nobody", nil).want(t, 404)
}

// TestAPersonsWordAboutATask: it is taken for an open task alone, and the ledger has it in the
// person's name; what the quest would refuse is refused at once, and leaves nothing behind.
func TestAPersonsWordAboutATask(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.rt.Secrets = func() []string { return []string{"sk-0123456789abcdef"} }
	s.architect("built")
	s.create("alone", map[string]any{"model": "demo"})
	const at = "/api/quests/built/tasks/"
	for _, c := range []struct {
		path string
		body map[string]any
		code int
		says string
	}{
		{at + "more/orders", map[string]any{"action": "stop"}, 400, "want cancel or message"},
		{at + "more/orders", map[string]any{"action": "message", "text": " \n"}, 400, "1 to 8192 bytes; this one has 0"},
		{at + "more/orders", map[string]any{"action": "message", "text": strings.Repeat("x", 8193)}, 400, "this one has 8193"},
		{at + "more/orders", map[string]any{"action": "cancel", "text": "Because."}, 400, "send a message before"},
		{at + "more/orders", map[string]any{"action": "cancel", "task": "add"}, 400, "task"},
		{at + "add/orders", map[string]any{"action": "cancel"}, 409, "the task add is accepted"},
		{at + "read%2F..%2Fme/orders", map[string]any{"action": "message", "text": "x"}, 409, "is cancelled"},
		{at + "nobody/orders", map[string]any{"action": "cancel"}, 404, "has no task"},
		{"/api/quests/alone/tasks/more/orders", map[string]any{"action": "cancel"}, 404, "has no task"},
	} {
		if a := s.do("POST", c.path, c.body); a.code != c.code || !contains(a, c.says) {
			t.Errorf("%v to %s: got %d %.300s, want %d and %q", c.body, c.path, a.code, a.body, c.code, c.says)
		}
	}
	if got := s.orders("built"); len(got) != 0 {
		t.Fatalf("what was refused is in the ledger: %+v", got)
	}

	var posted api.Posted
	s.do("POST", at+"more/orders", map[string]any{"action": "message", "text": " Mind the gap, sk-0123456789abcdef.\n"}).want(t, 202).into(t, &posted)
	if posted.ID == 0 || posted.Running {
		t.Errorf("a message to a quest that nobody runs: got %+v, want a number, and not running", posted)
	}
	c := client.New(s.web.URL, token)
	defer c.Close()
	must(t, c.OrderTask(t.Context(), "built", "more", api.TaskOrder{Action: event.OrderCancel}))
	var refused *client.Error
	if err := c.OrderTask(t.Context(), "built", "read/../me", api.TaskOrder{Action: event.OrderCancel}); !errors.As(err, &refused) || refused.Status != http.StatusConflict {
		t.Errorf("the client cancels a task that is over, whose name looks like a path: got %v, want a conflict", err)
	}
	got := s.orders("built")
	if len(got) != 2 || got[0].Action != event.OrderMessage || got[0].Text != "Mind the gap, [key]." || got[0].Task != "more" || got[0].Inbox != posted.ID || got[1].Action != event.OrderCancel {
		t.Errorf("the ledger has %+v, want the message without the secret in it and the cancel, with their numbers", got)
	}
	var one view.TaskDetail
	s.do("GET", at+"more", nil).want(t, 200).into(t, &one)
	if len(one.Orders) != 2 || one.Orders[0].By != "person" || one.Orders[0].Text != "Mind the gap, [key]." {
		t.Errorf("the task shows the orders %+v, want both, by the person", one.Orders)
	}
}

// orders are what people said about tasks, as the ledger has it.
func (s *server) orders(name string) (out []event.TaskOrder) {
	s.t.Helper()
	for _, line := range lines(s.t, s.rt, name) {
		e, err := event.Parse([]byte(line))
		must(s.t, err)
		if b, ok := e.Body.(*event.TaskOrder); ok {
			out = append(out, *b)
		}
	}
	return out
}

// moded are rules of one agent that know two modes.
type moded struct{ solo.Society }

func (moded) Rules() string { return "moded/1" }

func (moded) Modes(*quest.State) ([]quest.Mode, string) {
	return []quest.Mode{{ID: "slow", Name: "Slow"}, {ID: "fast", Name: "Fast"}}, "slow"
}

// TestAModeIsSet: a person has the society of a quest work in another of its modes; what it does not
// have is refused.
func TestAModeIsSet(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.rt.Societies = append(slices.Clone(s.rt.Societies), moded{})
	s.create("plans", map[string]any{"model": "demo", "society": "moded"})
	s.create("alone", map[string]any{"model": "demo"})
	for name, want := range map[string]api.Detail{
		"plans": {Mode: "slow", Modes: []api.Mode{{ID: "slow", Name: "Slow"}, {ID: "fast", Name: "Fast"}}},
		"alone": {Modes: []api.Mode{}},
	} {
		var d api.Detail
		s.do("GET", "/api/quests/"+name, nil).want(t, 200).into(t, &d)
		if d.Mode != want.Mode || !slices.Equal(d.Modes, want.Modes) || d.Modes == nil {
			t.Errorf("%s is in mode %q of %v, want %q of %v", name, d.Mode, d.Modes, want.Mode, want.Modes)
		}
	}
	s.control("plans", map[string]any{"action": "mode", "mode": "fast"}).want(t, 200)
	st, err := s.rt.Load(t.Context(), "plans")
	must(t, err)
	for e, err := range s.rt.Ledger.Read(t.Context(), "plans", st.Seq) {
		must(t, err)
		if b, ok := e.Body.(*event.ModeSet); !ok || b.Mode != "fast" || e.Actor != "person" {
			t.Errorf("the last event is %s by %s: %+v, want a mode.set by the person", e.Type, e.Actor, e.Body)
		}
	}
	for _, bad := range []map[string]any{{"action": "mode"}, {"action": "mode", "mode": "Fast"}, {"action": "mode", "mode": 7}} {
		if got := s.control("plans", bad); got.code < 400 || got.code >= 500 {
			t.Errorf("%v is answered with %d, want it refused", bad, got.code)
		}
	}
	if got := s.control("alone", map[string]any{"action": "mode", "mode": "fast"}); got.code < 400 || got.code >= 500 || !contains(got, "no modes") {
		t.Errorf("a mode of a society that has none: %d %s, want it refused with the reason", got.code, got.body)
	}
}
