package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect"
	tasks "lyceum/internal/society/architect/task"

	"github.com/go-json-experiment/json"
)

// Architect is the part of an architect, sensible or not, and of executors that do what they
// should, lie, err, ask, stop and break off.
type Architect struct {
	guests guests
	work   executorBooks
	books  architectBooks
}

// NewArchitect returns the part of one quest.
func NewArchitect() *Architect {
	return &Architect{work: newExecutorBooks(), books: newArchitectBooks()}
}

// Society implements Part.
func (*Architect) Society() quest.Society { return architect.Society{} }

// Rates implements Rough: a task is long, and trouble at each step would be all there is.
func (*Architect) Rates() Rates {
	r := Usual
	r.Crash, r.Full, r.Unheard, r.Lost, r.Person, r.Failed, r.Compare, r.Save, r.Outage, r.Again = 15, 8, 8, 5, 20, 60, 30, 30, 5, 100
	r.Most = 6000
	return r
}

// Make implements Part.
func (p *Architect) Make(w *World, b *event.QuestCreated) {
	set := architect.Settings{
		Approve: w.Chance(300), Executors: []string{"guest", "other"}[:1+w.IntN(2)], Parallel: 1 + w.Int64N(3), Repeated: []string{"swap", "narrow", "fail"}[w.IntN(3)],
		Session: architect.Limits{Summarize: 10 + w.Int64N(40), Clarify: w.Int64N(3), Calls: 1 + w.Int64N(12), Seconds: 1 + w.Int64N(30), Memory: 64, Handovers: 1 + w.Int64N(6), Same: 1 + w.Int64N(3), Tasks: 1 + w.Int64N(6)},
	}
	set.Rules = w.Int64N(2)
	if w.Chance(300) {
		set.Acceptance = []string{"make lint"}
	}
	p.books.set = set
	if err := quest.Record(b, set); err != nil {
		panic(err)
	}
	ref := event.RefOf([]byte("pinned"))
	b.Computer = &event.ComputerSpec{}
	b.Repo = &event.RepoSpec{Name: "r", Tree: event.TreeRef(event.RefOf([]byte("base")))}
	b.Data = nil
	b.Agents = []event.AgentSpec{{Name: architect.Architect, Model: "sim", System: ref, Tools: ref, Window: 20_000,
		ToolNames: []string{Safe, "clarify", "dispatch", "finish", "judge", "plan_tasks", "recall", "search"}}}
	for slot := range set.Parallel {
		for _, x := range set.Executors {
			name := x
			if set.Parallel > 1 {
				name = fmt.Sprintf("%s-%d", x, slot+1)
			}
			b.Agents = append(b.Agents, event.AgentSpec{Name: name, Executor: x, Gateway: &event.GatewaySpec{Any: true}, System: ref, Tools: ref, Window: 20_000,
				ToolNames: []string{"artifact_manifest", "ask_architect"}})
		}
	}
	for _, x := range set.Executors {
		b.Executors = append(b.Executors, event.ExecutorPin{Name: x, Settings: ref})
	}
	for _, text := range quest.ExecutorTexts() {
		if !quest.IsPrompt(text.Name) {
			b.Texts = append(b.Texts, text)
		}
	}
	b.Limits.Turns = new(20 + w.Int64N(150))
}

// Rows implements Caller.
func (*Architect) Rows() map[event.Type]Row {
	return map[event.Type]Row{"home.call": renewed, "inspection.call": inspected, "acceptance.call": acceptance, "merge.call": mergedParts}
}

func treeOf(w *World, words ...any) *event.TreeRef {
	t := event.TreeRef(event.RefOf(fmt.Append([]byte("tree "), words...)))
	return &t
}

// renewed is the row of home.call.
func renewed(w *World, call event.Event) event.Body {
	if w.Chance(60) {
		return &event.HomeRenewed{Call: call.Seq, Error: event.Text{Text: "no room"}}
	}
	return &event.HomeRenewed{Call: call.Seq, Tree: treeOf(w, "home")}
}

// inspected is the row of inspection.call: what the executor left is right, or not.
func inspected(w *World, call event.Event) event.Body {
	b := call.Body.(*event.InspectionCall)
	r := &event.InspectionResult{Call: call.Seq, Files: 1}
	switch n := w.IntN(10); {
	case n == 0:
		r.Outside = []event.Skipped{{Path: "go.mod", Reason: "it may not change"}}
		w.Saw("changes outside")
		return r
	case n == 1:
		r.Files, r.Oversized, r.Error.Text = 3000, true, "3000 files changed, more than 2000"
		return r
	case n == 2:
		r.Error.Text = "a link out"
		return r
	}
	r.Tree = treeOf(w, b.Task, b.Run)
	r.Patch = new(event.RefOf(fmt.Append(nil, "patch", b.Task, b.Run)))
	if m, findings := tasks.DecodeManifest([]byte(b.Manifest.Text)); m != nil {
		r.Manifest = m.Recorded(b.Task, b.Run)
		w.Saw("manifests")
	} else if b.Manifest.Text != "" {
		r.Findings = findings
	}
	return r
}

// acceptance is the row of acceptance.call.
func acceptance(w *World, call event.Event) event.Body {
	b := call.Body.(*event.AcceptanceCall)
	r := &event.TestReport{Call: call.Seq}
	if w.Chance(30) {
		r.Error.Text = "no computer"
		return r
	}
	for _, c := range b.Commands {
		run := event.TestRun{Command: c, Output: event.RefOf([]byte(c))}
		if w.Chance(200) {
			run.Exit, run.Tail = 1, fmt.Sprintf("--- FAIL: Test%d\n", w.IntN(3))
		}
		r.Commands = append(r.Commands, run)
	}
	return r
}

// mergedParts is the row of merge.call.
func mergedParts(w *World, call event.Event) event.Body {
	if w.Chance(300) {
		return &event.MergeReport{Call: call.Seq, Conflicts: []event.Skipped{{Path: "a", Reason: "both"}}}
	}
	w.Saw("merges")
	return &event.MergeReport{Call: call.Seq, Files: 2, Tree: treeOf(w, "merged", call.Seq), Patch: new(event.RefOf([]byte("merged")))}
}

// Visit implements Visitor: executors hand in manifests, true or not, and ask.
func (p *Architect) Visit(w *World) []event.Draft {
	return p.guests.visit(w, func(agent string) (string, event.Text) {
		if w.Chance(200) {
			return "ask_architect", event.Text{Text: `{"question":"` + w.Word() + `"}`}
		}
		pack := p.books.packages[agent]
		session, print := "q", "f"
		if pack != nil && !w.Chance(100) {
			session, print = pack.Session, pack.Runtime.Fingerprint
		}
		return "artifact_manifest", event.Text{Text: fmt.Sprintf(`{"manifest_id":"m","session_id":%q,"generated_at":"2026-01-31T12:00:00Z","environment_fingerprint":%q,"items":[{"type":"patch","ref":".","generated_by":"me"}]}`, session, print)}
	})
}

// Call implements Part: what the architect does next, mostly what its books suggest.
func (p *Architect) Call(w *World, _ string) (string, any) {
	id := fmt.Sprintf("t%d", 1+w.IntN(4))
	if ids := p.books.open(); len(ids) > 0 && w.Chance(900) {
		id = ids[w.IntN(len(ids))]
	}
	if p.books.asking[id] && w.Chance(800) {
		return "clarify", object{"task": id, "answer": w.Word()}
	}
	switch n := w.IntN(100); {
	case len(p.books.planned) == 0 && n < 85 || n < 8:
		return "plan_tasks", object{"tasks": p.plan(w)}
	case p.books.checked[id] != 0 && n < 70:
		return "judge", object{"task": id, "verdict": "accept"}
	case n < 45:
		return "dispatch", object{"task": id}
	case n < 60:
		return "judge", object{"task": id, "verdict": []string{"accept", "refuse", "narrow", "?"}[w.IntN(4)], "reasons": w.Word(), "include": []string{"a/" + id + "/x.go"}}
	case n < 66:
		return "clarify", object{"question": w.Word()}
	case n < 74:
		return "clarify", object{"task": id, "answer": w.Word()}
	case n < 90:
		return "finish", object{"answer": w.Word()}
	case n < 94:
		return Safe, object{}
	}
	return "recall", object{"seq": 1 + w.IntN(50)}
}

func (p *Architect) plan(w *World) (out []object) {
	for i := range 1 + w.IntN(4) {
		u := object{"id": fmt.Sprintf("t%d", 1+i+w.IntN(2)*4), "goal": w.Word(), "include": []string{fmt.Sprintf("a/t%d/", 1+i)}, "acceptance": []string{"make test"}}
		if w.Chance(150) && i > 0 {
			u["after"] = []string{"t1"}
		}
		if w.Chance(60) {
			u["include"] = []string{"."}
		}
		if w.Chance(60) {
			delete(u, "include")
		}
		out = append(out, u)
	}
	return out
}

// Count implements Part.
func (p *Architect) Count(w *World, e event.Event) error {
	if err := p.work.count(w, e); err != nil {
		return err
	}
	return p.books.count(w, e)
}

// Settled implements Settled.
func (p *Architect) Settled(w *World) error { return p.work.settled(w) }

// architectBooks hold what happens to tasks against the limits, by the events alone.
type architectBooks struct {
	set      architect.Settings
	planned  map[string]bool
	ended    map[string]bool
	asking   map[string]bool
	runs     map[string]int64 // the run that is under way, 0 if none is
	last     map[string]int64
	checked  map[string]int64
	packages map[string]*tasks.Package
	snapped  map[string]uint64
	ok       map[string]bool // runs with a good inspection
	tested   map[string]bool // runs whose acceptance passed
	asked    map[uint64]event.Event
	accepted map[string]bool
}

func newArchitectBooks() architectBooks {
	return architectBooks{planned: map[string]bool{}, ended: map[string]bool{}, asking: map[string]bool{}, runs: map[string]int64{}, last: map[string]int64{}, checked: map[string]int64{},
		packages: map[string]*tasks.Package{}, snapped: map[string]uint64{}, ok: map[string]bool{}, tested: map[string]bool{}, asked: map[uint64]event.Event{}, accepted: map[string]bool{}}
}

func (b *architectBooks) open() (out []string) {
	for i := range 8 {
		if id := fmt.Sprintf("t%d", i+1); b.planned[id] && !b.ended[id] {
			out = append(out, id)
		}
	}
	return out
}

func run(id string, n int64) string { return fmt.Sprint(id, "/", n) }

// count holds an event against what was promised: one end for each handover, nothing accepted
// that was not checked, no limit passed.
func (b *architectBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		if err := json.Unmarshal([]byte(x.Settings), &b.set); err != nil {
			return err
		}
	case *event.PlanApproved:
		for _, t := range x.Tasks {
			b.planned[t.ID] = true
		}
	case *event.TaskSnapshot:
		if len(x.Events) > 64 {
			return fmt.Errorf("a snapshot of %d events", len(x.Events))
		}
		b.snapped[x.Task] = e.Seq
	case *event.HandoverBegun:
		return b.begun(w, x)
	case *event.HandoverEnded:
		if b.runs[x.Task] != x.Run {
			return fmt.Errorf("run %d of %s ended, and %d is under way", x.Run, x.Task, b.runs[x.Task])
		}
		b.runs[x.Task], b.asking[x.Task] = 0, false
		if x.Outcome == event.OutcomeChecked {
			if !b.ok[run(x.Task, x.Run)] || !b.tested[run(x.Task, x.Run)] {
				return fmt.Errorf("run %d of %s is checked, and was not", x.Run, x.Task)
			}
			b.checked[x.Task] = x.Run
		}
		w.Saw("handovers " + x.Outcome)
	case *event.TaskClarify:
		b.asking[x.Task] = x.Round <= b.set.Session.Clarify
	case *event.TaskClarified:
		b.asking[x.Task] = false
	case *event.TaskEnded:
		switch {
		case b.ended[x.Task] || b.runs[x.Task] != 0:
			return fmt.Errorf("%s ended twice, or with a run under way", x.Task)
		case x.Status == event.TaskAccepted && (b.checked[x.Task] == 0 || b.checked[x.Task] != x.Run):
			return fmt.Errorf("run %d of %s is accepted, and was not checked", x.Run, x.Task)
		}
		b.ended[x.Task], b.accepted[x.Task] = true, x.Status == event.TaskAccepted
		w.Saw("tasks " + x.Status)
	case *event.QuestFinished:
		for id, n := range b.runs {
			if n != 0 {
				return fmt.Errorf("the quest ends, and run %d of %s has not", n, id)
			}
		}
	default:
		return b.seen(e)
	}
	return nil
}

func (b *architectBooks) begun(w *World, x *event.HandoverBegun) error {
	under := 0
	for _, n := range b.runs {
		if n != 0 {
			under++
		}
	}
	switch {
	case !b.planned[x.Task] || b.ended[x.Task]:
		return fmt.Errorf("%s is handed over, and is not planned or has ended", x.Task)
	case b.runs[x.Task] != 0 || x.Run != b.last[x.Task]+1 || x.Run > b.set.Session.Handovers:
		return fmt.Errorf("run %d of %s begins after %d: there can be %d", x.Run, x.Task, b.last[x.Task], b.set.Session.Handovers)
	case int64(under) >= b.set.Parallel:
		return fmt.Errorf("%d runs are under way, and another begins", under)
	case x.Snapshot == 0 || b.snapped[x.Task] != x.Snapshot:
		return fmt.Errorf("run %d of %s has no snapshot of its own", x.Run, x.Task)
	}
	delete(b.snapped, x.Task)
	b.runs[x.Task], b.last[x.Task], b.checked[x.Task] = x.Run, x.Run, 0
	if !x.Repair {
		p, err := tasks.DecodePackage([]byte(x.Package.Text))
		if err != nil || string(p.Encode()) != x.Package.Text {
			return fmt.Errorf("the package of %s does not read back: %w", x.Task, err)
		}
		b.packages[x.Worker] = p
	} else {
		w.Saw("repairs")
	}
	return nil
}

// seen takes in what was found of runs.
func (b *architectBooks) seen(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.InspectionCall, *event.AcceptanceCall:
		b.asked[e.Seq] = e
	case *event.InspectionResult:
		if c, ok := b.asked[x.Call].Body.(*event.InspectionCall); ok {
			b.ok[run(c.Task, c.Run)] = x.Error.Len() == 0 && len(x.Outside) == 0 && len(x.Findings) == 0 && x.Manifest != nil && x.Tree != nil
		}
	case *event.TestReport:
		if c, ok := b.asked[x.Call].Body.(*event.AcceptanceCall); ok && c.Side == event.SideAfter {
			good := x.Error.Len() == 0 && len(x.Commands) == len(c.Commands)
			for i := range x.Commands {
				good = good && x.Commands[i].Good()
			}
			b.tested[run(c.Task, b.runs[c.Task])] = good
		}
	case *event.ToolCall:
		if e.Actor == architect.Architect && e.Tool == Safe {
			return fmt.Errorf("the architect calls %s", e.Tool)
		}
	}
	return nil
}
