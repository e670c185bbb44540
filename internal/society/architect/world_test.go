package architect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/architect"
	"lyceum/internal/society/architect/task"

	"github.com/go-json-experiment/json"
)

// world is an architect's quest under way, with the little that its rules ask of a world.
type world struct {
	*questtest.Story
	t testing.TB
	// work is what an executor does in a prompt: it may propose calls, and returns how the
	// prompt ends; nil leaves the prompt open.
	work func(w *world, worker string, call uint64) *event.PromptResult
	// ready, home, inspect, accept and merge answer what the rules ask.
	ready   func(worker string) *event.ExecutorReady
	home    func(worker string) *event.HomeRenewed
	inspect func(*event.InspectionCall) *event.InspectionResult
	accept  func(*event.AcceptanceCall) *event.TestReport
	merge   func(*event.MergeCall) *event.MergeReport

	ids int
}

// tree is one by its name.
func tree(name string) *event.TreeRef {
	t := event.TreeRef(event.RefOf([]byte("tree " + name)))
	return &t
}

func ref(name string) *event.Ref {
	r := event.RefOf([]byte(name))
	return &r
}

// setting is what a quest is made with.
type setting = architect.Settings

// usual is a quest with two executors and one task at a time.
func usual() setting {
	return setting{Executors: []string{"one", "two"}, Parallel: 1, Repeated: "swap", Rules: 1,
		Session: architect.Limits{Summarize: 200, Clarify: 3, Calls: 8, Seconds: 900, Memory: 4096, Handovers: 6, Same: 2, Tasks: 20}}
}

func created(t testing.TB, set setting) *event.QuestCreated {
	t.Helper()
	b := questtest.Created(architect.Society{}, 1)
	for _, text := range quest.ExecutorTexts() {
		if !quest.IsPrompt(text.Name) {
			b.Texts = append(b.Texts, text)
		}
	}
	b.Problem = event.Text{Text: "Add a command."}
	if err := quest.Record(b, set); err != nil {
		t.Fatal(err)
	}
	b.Computer = &event.ComputerSpec{}
	b.Repo = &event.RepoSpec{Name: "r", Tree: *tree("base")}
	pinned := *ref("pinned")
	b.Agents = []event.AgentSpec{{Name: architect.Architect, Model: "m", System: pinned, Tools: pinned, Window: 200_000,
		ToolNames: []string{"clarify", "dispatch", "finish", "judge", "plan_tasks", "recall", "search"}}}
	for slot := range set.Parallel {
		for _, x := range set.Executors {
			name := x
			if set.Parallel > 1 {
				name = fmt.Sprintf("%s-%d", x, slot+1)
			}
			b.Agents = append(b.Agents, event.AgentSpec{Name: name, Executor: x, Gateway: &event.GatewaySpec{Any: true}, System: pinned, Tools: pinned, Window: 200_000,
				ToolNames: []string{"artifact_manifest", "ask_architect"}})
		}
	}
	for _, x := range set.Executors {
		b.Executors = append(b.Executors, event.ExecutorPin{Name: x, Settings: pinned})
	}
	return b
}

func open(t testing.TB, set setting) *world {
	t.Helper()
	w := &world{Story: questtest.Begin(t, architect.Society{}, created(t, set)), t: t}
	w.ready = func(worker string) *event.ExecutorReady {
		return &event.ExecutorReady{Name: worker, Version: "1", Protocol: 1, Fingerprint: event.HashOf([]byte("computer"))}
	}
	w.home = func(string) *event.HomeRenewed { return &event.HomeRenewed{Tree: tree("base")} }
	w.work = (*world).well
	w.inspect = func(c *event.InspectionCall) *event.InspectionResult { return w.found(c, "main.go") }
	w.accept = func(c *event.AcceptanceCall) *event.TestReport { return reported(c, c.Side == event.SideBefore) }
	w.merge = func(c *event.MergeCall) *event.MergeReport {
		return &event.MergeReport{Files: 2, Patch: ref("merged patch"), Tree: tree("merged")}
	}
	return w
}

// start starts the quest, up to the architect's first turn.
func start(t testing.TB, set setting) *world {
	t.Helper()
	w := open(t, set)
	w.Start()
	w.settle()
	return w
}

// manifest is one that is true of a run, as the package says.
func (w *world) manifest(worker string) string {
	for i := len(w.Events) - 1; i >= 0; i-- {
		b, ok := w.Events[i].Body.(*event.HandoverBegun)
		if !ok || b.Worker != worker || b.Repair {
			continue
		}
		p, err := task.DecodePackage([]byte(b.Package.Text))
		if err != nil {
			w.t.Fatal(err)
		}
		return fmt.Sprintf(`{"manifest_id":"m","session_id":%q,"generated_at":"2026-01-31T12:00:00Z","environment_fingerprint":%q,"items":[{"type":"patch","ref":".","generated_by":"me"}]}`, p.Session, p.Runtime.Fingerprint)
	}
	w.t.Fatalf("no package of %s:\n%s", worker, w.tail())
	return ""
}

// well is an executor that does what it should.
func (w *world) well(worker string, _ uint64) *event.PromptResult {
	w.uses(worker, "artifact_manifest", w.manifest(worker))
	return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done"}, Frames: ref("frames")}
}

// uses has an executor call one of its tools; it returns what it was answered, if it was.
func (w *world) uses(worker, tool, args string) string {
	w.t.Helper()
	w.ids++
	from := len(w.Events)
	w.Take(worker, &event.ToolProposed{Args: event.Text{Text: args}, ID: fmt.Sprint("c", w.ids), Name: tool})
	said, _ := w.answered(from, worker)
	return said
}

// found is an inspection that finds nothing wrong, if the manifest is there.
func (w *world) found(c *event.InspectionCall, files ...string) *event.InspectionResult {
	r := &event.InspectionResult{Files: int64(len(files)), Tree: tree(c.Task + fmt.Sprint(c.Run)), Patch: ref("patch " + c.Task + fmt.Sprint(c.Run))}
	for _, f := range files {
		r.Changes = append(r.Changes, event.TaskChange{Added: 1, Kind: "changed", Path: f})
	}
	m, findings := task.DecodeManifest([]byte(c.Manifest.Text))
	if r.Findings = findings; c.Manifest.Text == "" {
		r.Findings = nil
	}
	if m != nil {
		r.Manifest = m.Recorded(c.Task, c.Run)
	}
	return r
}

// outside is an inspection that finds a change where none may be.
func outside(path string) *event.InspectionResult {
	return &event.InspectionResult{Files: 1, Outside: []event.Skipped{{Path: path, Reason: "the task's include does not name it"}}}
}

// reported is what commands say: that they fail, or pass.
func reported(c *event.AcceptanceCall, fails bool) *event.TestReport {
	r := &event.TestReport{}
	for _, command := range c.Commands {
		run := event.TestRun{Command: command, Output: *ref("output"), Passed: 3, Tail: "ok\n"}
		if fails {
			run.Exit, run.Tail = 1, "--- FAIL: TestIt (0.01s)\n    it_test.go:12: got 3\nFAIL\n"
		}
		r.Commands = append(r.Commands, run)
	}
	return r
}

// settle answers whatever is asked, until it asks no more.
func (w *world) settle() {
	w.t.Helper()
	for range 2000 {
		if !w.step() {
			w.Sound()
			return
		}
	}
	w.t.Fatalf("it asks without an end")
}

// step answers one call of the world, the oldest.
func (w *world) step() bool {
	w.t.Helper()
	var seqs []uint64
	for seq := range w.State.Calls {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		e := w.Events[seq-1]
		switch b := e.Body.(type) {
		case *event.ExecutorCall:
			r := *w.ready(e.Actor)
			r.Call = seq
			w.Take(e.Actor, &r)
			return true
		case *event.HomeCall:
			r := *w.home(e.Actor)
			r.Call = seq
			w.Take(e.Actor, &r)
			return true
		case *event.PromptCall:
			if w.prompted(e.Actor, seq) {
				return true
			}
		case *event.InspectionCall:
			r := *w.inspect(b)
			r.Call = seq
			w.Take("core", &r)
			return true
		case *event.AcceptanceCall:
			r := *w.accept(b)
			r.Call = seq
			w.Take("core", &r)
			return true
		case *event.MergeCall:
			r := *w.merge(b)
			r.Call = seq
			w.Take("core", &r)
			return true
		}
	}
	return false
}

// prompted plays a prompt.
func (w *world) prompted(worker string, seq uint64) bool {
	x := w.State.Agent(worker).Session
	if x.Begun == "" {
		if x.ID == "" {
			w.ids++
			w.Take(worker, &event.SessionOpened{How: event.SessionNew, ID: fmt.Sprint("s", w.ids), Process: fmt.Sprint("p", w.ids)})
		}
		x = w.State.Agent(worker).Session
		w.Take(worker, &event.PromptBegun{Call: seq, Process: x.Process, Session: x.ID})
	}
	if w.State.Agent(worker).Asked != seq {
		return true
	}
	if w.stopping(seq) {
		w.Take(worker, &event.PromptResult{Call: seq, Stop: event.StopCancelled, Frames: ref("frames")})
		return true
	}
	r := w.work(w, worker, seq)
	if r == nil {
		return w.stopping(seq)
	}
	r.Call = seq
	w.Take(worker, r)
	return true
}

// stopping reports whether a prompt was told to stop.
func (w *world) stopping(prompt uint64) bool {
	return slices.ContainsFunc(all[*event.PromptStopped](w), func(b *event.PromptStopped) bool { return b.Call == prompt })
}

// does has the architect call tools in one turn, and the world do its part; it returns what it
// was answered to the first.
func (w *world) does(tool, args string, more ...questtest.Call) string {
	w.t.Helper()
	said, ok := w.tries(tool, args, more...)
	if !ok {
		w.t.Fatalf("%s was not answered: %s", tool, w.tail())
	}
	return said
}

// tries is does for a call that may stay open.
func (w *world) tries(tool, args string, more ...questtest.Call) (string, bool) {
	w.t.Helper()
	from := len(w.Events)
	w.Answer(architect.Architect, questtest.Calls(append([]questtest.Call{{Tool: tool, Args: args}}, more...)...))
	w.settle()
	return w.answered(from, architect.Architect)
}

func (w *world) answered(from int, name string) (string, bool) {
	for _, e := range w.Events[from:] {
		if b, ok := e.Body.(*event.ToolAnswered); ok && e.Actor == name {
			return b.Output.Text, true
		}
	}
	return "", false
}

// tail are the last events, for those who wonder.
func (w *world) tail() string {
	var lines []string
	for _, e := range w.Events[max(0, len(w.Events)-12):] {
		data, _ := json.Marshal(e.Body)
		lines = append(lines, fmt.Sprintf("%d %s %s %.200s", e.Seq, e.Type, e.Actor, data))
	}
	return strings.Join(lines, "\n")
}

// unit is a task of a plan; with is what it has besides, as members of JSON.
func unit(id, include string, with ...string) string {
	more := ""
	for _, m := range with {
		more += "," + m
	}
	if !strings.Contains(more, "acceptance") && !strings.Contains(more, "criteria") {
		more += `,"acceptance":["go test ./..."]`
	}
	return fmt.Sprintf(`{"id":%q,"goal":"do %s","include":[%q]%s}`, id, id, include, more)
}

func plan(units ...string) string { return `{"tasks":[` + strings.Join(units, ",") + `]}` }

func named(id string) string { return fmt.Sprintf(`{"task":%q}`, id) }

func accepts(id string) string { return fmt.Sprintf(`{"task":%q,"verdict":"accept"}`, id) }

// all are the events of a type.
func all[B event.Body](w *world) (out []B) {
	for _, e := range w.Events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// kinds are the types of the events after the first so many that are about tasks.
func (w *world) kinds(from int) (out []string) {
	for _, e := range w.Events[from:] {
		switch noun, _, _ := strings.Cut(string(e.Type), "."); noun {
		case "task", "handover", "inspection", "acceptance", "test", "merge", "home", "prompt", "artifact", "plan":
			out = append(out, string(e.Type))
		}
	}
	return out
}

func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Fatalf("%q does not say %q", text, p)
		}
	}
}

func lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Fatalf("%q says %q", text, p)
		}
	}
}

// errors are the categories of the errors, in order.
func (w *world) errors() (out []string) {
	for _, b := range all[*event.TaskError](w) {
		out = append(out, b.Category)
	}
	return out
}

// sound checks what must hold of every ledger: one end for each handover, none beyond the
// limits, nothing accepted that was not checked.
func (w *world) sound() {
	w.t.Helper()
	begun, ended, checked := map[string]int{}, map[string]int{}, map[string]bool{}
	set := architect.Of(w.State).Settings
	for _, e := range w.Events {
		switch b := e.Body.(type) {
		case *event.HandoverBegun:
			begun[fmt.Sprint(b.Task, b.Run)]++
			if b.Run > set.Session.Handovers {
				w.t.Fatalf("run %d of %s: there can be %d", b.Run, b.Task, set.Session.Handovers)
			}
		case *event.HandoverEnded:
			key := fmt.Sprint(b.Task, b.Run)
			ended[key]++
			checked[key] = b.Outcome == event.OutcomeChecked
		case *event.TaskEnded:
			if b.Status == event.TaskAccepted && !checked[fmt.Sprint(b.Task, b.Run)] {
				w.t.Fatalf("run %d of %s is accepted and was not checked", b.Run, b.Task)
			}
		}
	}
	for key, n := range begun {
		open := slices.ContainsFunc(architect.Of(w.State).Tasks, func(t *architect.Task) bool {
			return t.Handover != nil && t.Handover.Outcome == "" && fmt.Sprint(t.Plan.ID, t.Handover.Run) == key
		})
		if n != 1 || ended[key] != 1 && !open {
			w.t.Fatalf("handover %s began %d times and ended %d times", key, n, ended[key])
		}
	}
}
