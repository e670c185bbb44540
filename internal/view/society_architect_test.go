package view

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// built is the ledger of an architect with two tasks: the first goes out of its scope, is
// repaired and accepted; the second is accepted at once; both are merged.
func built(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, quest: "command", blobs: map[event.Hash][]byte{}}
	text := func(x string) event.Text { return event.Text{Text: x} }
	patch := s.blob("diff --git a/a.go b/a.go\n")
	tree := event.TreeRef{Hash: event.HashOf([]byte("tree")), Size: 9}
	s.add("person", "", &event.QuestCreated{Name: "command", Rules: "architect/1", Agents: []event.AgentSpec{{Name: "architect", Model: "m"}, {Name: "builtin"}}, Spec: s.blob("name: command\n")})
	s.add("rules", "", &event.SessionConfig{Executors: []string{"builtin"}, Calls: 8, Handovers: 6, Seconds: 900})
	tasks := []event.TaskPlan{
		{ID: "add", Goal: "A command", Acceptance: []string{"go test ./..."}, Scope: event.TaskScope{Include: []string{"cmd/"}}},
		{ID: "doc", Goal: "Its text", Criteria: []string{"It names the command"}, After: []string{"add"}, Scope: event.TaskScope{Include: []string{"README.md"}}},
	}
	plan := s.add("architect", "", &event.PlanProposed{Tasks: tasks})
	s.add("rules", "", &event.PlanApproved{Plan: plan, Interaction: 3, Tasks: tasks})

	shot := s.add("rules", "", &event.TaskSnapshot{Task: "add", Events: []event.SnapshotEvent{{Seq: 1}}, Hash: event.HashOf([]byte("x")), Text: text("What was before")})
	s.add("architect", "", &event.HandoverBegun{Task: "add", Run: 1, Executor: "builtin", Worker: "builtin", Package: text("task_id: add\n"), Snapshot: shot})
	s.add("builtin", "", &event.CliRun{Command: "c1", Args: text(`["sh","-c","ls"]`)})
	s.add("builtin", "", &event.TaskClarify{Task: "add", Round: 1, Question: text("Which name?")})
	s.add("architect", "", &event.TaskClarified{Task: "add", Clarify: uint64(len(s.events)), Text: text("count")})
	call := s.add("builtin", "", &event.InspectionCall{Task: "add", Run: 1, Worker: "builtin"})
	s.add("builtin", "", &event.InspectionResult{Call: call, Files: 2, Outside: []event.Skipped{{Path: "go.mod", Reason: "not in include"}}})
	logs := s.blob("raw")
	s.add("rules", "", &event.TaskError{Task: "add", Run: 1, Category: event.ErrorScope, Line: "go.mod", Text: text("go.mod is outside"), Logs: &logs})
	s.add("rules", "", &event.HandoverEnded{Task: "add", Run: 1, Outcome: event.OutcomeError})

	s.add("rules", "", &event.HandoverBegun{Task: "add", Run: 2, Repair: true, Executor: "builtin", Worker: "builtin", Package: text("Take go.mod back"), Snapshot: shot})
	call = s.add("builtin", "", &event.InspectionCall{Task: "add", Run: 2, Worker: "builtin"})
	s.add("builtin", "", &event.InspectionResult{Call: call, Files: 2, Changes: []event.TaskChange{{Kind: event.Added, Path: "cmd/a.go", Added: 7}, {Kind: event.Changed, Path: "cmd/b.go", Added: 1, Removed: 2}}, Patch: &patch, Tree: &tree})
	s.add("builtin", "", &event.ArtifactManifest{Task: "add", Run: 2, ID: "m1", Items: []event.ArtifactItem{{Type: "doc", Ref: "notes.md", File: &logs, Preview: text("# Notes")}}})
	before := s.add("rules", "", &event.AcceptanceCall{Task: "add", Side: event.SideBefore, Commands: []string{"go test ./..."}, Tree: tree})
	s.add("rules", "", &event.TestReport{Call: before, Commands: []event.TestRun{{Command: "go test ./...", Exit: 1, Output: logs, Tail: "FAIL"}}})
	after := s.add("rules", "", &event.AcceptanceCall{Task: "add", Side: event.SideAfter, Commands: []string{"go test ./..."}, Tree: tree})
	s.add("rules", "", &event.TestReport{Call: after, Commands: []event.TestRun{{Command: "go test ./...", Passed: 3, Output: logs}}})
	s.add("rules", "", &event.HandoverEnded{Task: "add", Run: 2, Outcome: event.OutcomeChecked})
	s.add("architect", "", &event.TaskJudged{Task: "add", Run: 2, Verdict: event.VerdictAccept, Reasons: text("It holds")})
	s.add("rules", "", &event.TaskEnded{Task: "add", Run: 2, Status: event.TaskAccepted, Patch: &patch, Tree: &tree})

	s.add("architect", "", &event.HandoverBegun{Task: "doc", Run: 1, Executor: "builtin", Worker: "builtin", Package: text("task_id: doc\n")})
	s.add("rules", "", &event.HandoverEnded{Task: "doc", Run: 1, Outcome: event.OutcomeChecked})
	s.add("architect", "", &event.TaskJudged{Task: "doc", Run: 1, Verdict: event.VerdictAccept, Shown: []string{"event 12"}})
	s.add("rules", "", &event.TaskEnded{Task: "doc", Run: 1, Status: event.TaskAccepted, Patch: &patch, Tree: &tree})
	call = s.add("rules", "", &event.MergeCall{Base: tree, Parts: []event.MergePart{{Task: "add", Tree: tree}, {Task: "doc", Tree: tree}}})
	s.add("rules", "", &event.MergeReport{Call: call, Files: 3, Patch: &patch, Tree: &tree})
	call = s.add("rules", "", &event.AcceptanceCall{Side: event.SideMerged, Commands: []string{"go test ./..."}, Tree: tree})
	s.add("rules", "", &event.TestReport{Call: call, Commands: []event.TestRun{{Command: "go test ./...", Passed: 3, Output: logs}}})
	s.add("architect", "", &event.QuestFinished{Answer: text("There is a command.")})
	return s
}

// viewsOf are the views of the first events of a ledger.
func viewsOf(s *story, events []event.Event) *Views {
	state := &quest.State{Name: s.quest, Rules: "architect/1"}
	v := &Views{}
	for _, e := range events {
		v.Take(e, state)
	}
	return v
}

func TestABoardFollowsItsTasks(t *testing.T) {
	t.Parallel()
	s := built(t)
	b := NewBoard()
	var states []string
	for _, e := range s.events {
		b.Take(e)
		now := ""
		for _, c := range b.Cards() {
			now += c.ID + " " + c.State + " "
		}
		if n := len(states); n == 0 || states[n-1] != now {
			states = append(states, now)
		}
	}
	want := []string{"", "add planned doc planned ", "add working doc planned ", "add judging doc planned ", "add working doc planned ", "add accepted doc planned ",
		"add accepted doc working ", "add accepted doc judging ", "add accepted doc working ", "add accepted doc accepted "}
	if !slices.Equal(states, want) {
		t.Errorf("the states of tasks, event by event: got %q, want %q", states, want)
	}
	card := b.Task("add").Card()
	if card.Handovers != 2 || card.Repairs != 1 || card.Files != 2 || card.Added != 8 || card.Removed != 2 || card.Errors != 1 || card.Error != event.ErrorScope || card.Before != "fail" || card.Passed != "pass" || card.Waits != 0 {
		t.Errorf("the card of a task that was repaired: got %+v, want 2 runs, 1 repair, +8 -2 in 2 files, 1 error of scope, tests that failed before and pass now", card)
	}
	first := b.Task("add").Runs[0]
	if first.Commands != 1 || first.Snapshot == nil || first.Snapshot.Text.Text != "What was before" || len(first.Errors) != 1 || first.Errors[0].Logs == nil || first.Outcome != event.OutcomeError {
		t.Errorf("the first run: got %+v, want 1 command, its snapshot, 1 error with logs", first)
	}
	if again := b.Task("add").Runs[1]; again.Snapshot != first.Snapshot || again.Manifest == nil || again.Found.Patch == nil || again.Judged.Verdict != event.VerdictAccept {
		t.Errorf("the repair: got %+v, want the snapshot of the first run, a manifest, a patch and a verdict", again)
	}
	if asked := b.Task("add").Asked; len(asked) != 1 || asked[0].Answer.Text != "count" {
		t.Errorf("questions: got %+v, want one with its answer", asked)
	}
	if !b.Whole.Good() || len(b.Merges) != 1 || b.Merges[0].Files != 3 || len(b.Merges[0].Tasks) != 2 || len(b.Calls) != 0 {
		t.Errorf("the end: got %+v, %d calls open; want tests of the whole that passed, a merge of 2 tasks, no call open", b.Merges, len(b.Calls))
	}
}

func TestAPlanStandsForTheOneBeforeButForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := built(t)
	b := NewBoard()
	for _, e := range s.events[:8] {
		b.Take(e)
	}
	b.Take(event.Event{Seq: 90, Body: &event.PlanProposed{Tasks: []event.TaskPlan{{ID: "other"}, {ID: "add", Goal: "another goal"}}}})
	var ids []string
	for _, c := range b.Cards() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"other", "add"}) || b.Task("add").Plan.Goal != "A command" || len(b.Task("add").Runs) != 1 || b.Plan.Approved != 0 {
		t.Errorf("after another plan: got %v, %+v; want other and add, which is under way and stays as it is", ids, b.Plan)
	}
	b.Take(event.Event{Seq: 91, Body: &event.PlanApproved{Plan: 90, Tasks: []event.TaskPlan{{ID: "other"}}}})
	if b.Task("add") == nil || b.Plan.Approved != 91 {
		t.Errorf("a plan without what is under way: got %+v, want add to stay", b.Cards())
	}
}

func TestTheCanvasLeadsFromThePlanToTheAnswer(t *testing.T) {
	t.Parallel()
	s := built(t)
	nodes, edges, _ := viewsOf(s, s.events).Canvas.Graph(0, 1000)
	to := map[string][]string{} // from each node to those that it comes from
	for _, x := range edges {
		from, cause := x.From, x.To
		if x.Kind == Supports {
			from, cause = x.To, x.From
		}
		to[from] = append(to[from], cause)
	}
	seen := map[string]bool{}
	var walk func(string)
	walk = func(n string) {
		if !seen[n] {
			seen[n] = true
			for _, m := range to[n] {
				walk(m)
			}
		}
	}
	for _, n := range nodes {
		if n.Kind == "answer" {
			walk(n.ID)
		}
	}
	kinds := map[string]int{}
	for _, n := range nodes {
		if seen[n.ID] {
			kinds[n.Kind]++
		}
	}
	want := map[string]int{"answer": 1, "tests": 2, "merge": 1, "verdict": 2, "handover": 3, "error": 1, "task": 2, "plan": 1}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("what the answer comes from: got %v, want %v", kinds, want)
	}
	status := map[string]string{}
	for _, n := range nodes {
		status[n.ID] = n.Status
	}
	if status["task:add"] != event.TaskAccepted || status["handover:add/1"] != event.OutcomeError || status["handover:add/2"] != event.OutcomeChecked || status["plan:3"] != "approved" {
		t.Errorf("how things stand: got %v, want the task accepted, its first run in error, the second checked, the plan approved", status)
	}
}

func TestTheViewsOfAnArchitectAreSavedAtEveryEvent(t *testing.T) {
	t.Parallel()
	s := built(t)
	state := &quest.State{Name: s.quest, Rules: "architect/1"}
	whole, _ := json.Marshal(viewsOf(s, s.events).Board())
	for n := 1; n < len(s.events); n++ {
		data, err := viewsOf(s, s.events[:n]).Encode()
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodeViews(data)
		if err != nil {
			t.Fatalf("views saved after event %d: %v", n, err)
		}
		for _, e := range s.events[n:] {
			v.Take(e, state)
		}
		if got, _ := json.Marshal(v.Board()); string(got) != string(whole) {
			t.Fatalf("saved after event %d and gone on with: got\n%s\nwant\n%s", n, got, whole)
		}
	}
}

func TestArtifactsOfTasksAreListed(t *testing.T) {
	t.Parallel()
	s := built(t)
	var kinds []string
	for _, a := range viewsOf(s, s.events).Artifacts.List {
		kinds = append(kinds, a.Kind)
	}
	for _, want := range []string{"patch", "doc", "output", "log", "tree"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no artifact is a %s: got %v", want, kinds)
		}
	}
}

func TestABoardPassesOverWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, kind := range event.Types() {
		for _, full := range []bool{false, true} {
			body := event.New(kind)
			if full {
				fill(reflect.ValueOf(body).Elem(), strings.Repeat("x", 300)+"\xff")
			}
			b := NewBoard()
			b.Take(event.Event{Seq: 2, Body: &event.PlanProposed{Tasks: []event.TaskPlan{{ID: strings.Repeat("x", 300) + "\xff"}}}})
			b.Take(event.Event{Seq: 3, Body: body})
			viewsOf(&story{}, []event.Event{{Seq: 1, Body: &event.QuestCreated{}}, {Seq: 2, Body: body}})
			b.List()
		}
	}
}

func TestWhatAPersonSaysOfATask(t *testing.T) {
	t.Parallel()
	b := NewBoard()
	b.Take(event.Event{Seq: 2, Body: &event.PlanProposed{Tasks: []event.TaskPlan{{ID: "add"}}}})
	b.Take(event.Event{Seq: 3, Actor: "person", Body: &event.TaskOrder{Task: "add", Action: event.OrderMessage, Text: "Be brief"}})
	if got, want := b.Task("add").Detail().Orders, []Ordered{{3, event.OrderMessage, "person", "Be brief"}}; !slices.Equal(got, want) {
		t.Errorf("orders: got %+v, want %+v", got, want)
	}
}
