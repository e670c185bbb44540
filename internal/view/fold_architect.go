package view

import (
	"slices"

	"lyceum/internal/event"
)

// maxBoard is how many tasks, runs and questions are kept of each: more than the rules allow.
const maxBoard = 500

// Take adds the next event of the ledger. What names a task or a call that there is not is
// passed over: a fork may have left it behind.
func (b *Board) Take(e event.Event) {
	switch x := e.Body.(type) {
	case *event.SessionConfig:
		b.Limits = x
	case *event.PlanProposed:
		b.Plan = &PlanInfo{Seq: e.Seq}
		b.plan(e, x.Tasks)
	case *event.PlanApproved:
		b.Plan = &PlanInfo{Seq: x.Plan, Approved: e.Seq, Edited: x.Edited, Question: x.Interaction}
		b.plan(e, x.Tasks)
	case *event.CliRun:
		b.ran(e.Actor)
	case *event.ToolReported:
		if x.Kind == "execute" && (x.Status == "completed" || x.Status == "failed") {
			b.ran(e.Actor)
		}
	default:
		b.takeCall(e)
		b.takeTask(e)
	}
}

// plan puts a plan in the place of the one before. Tasks that are under way or done stay.
func (b *Board) plan(e event.Event, tasks []event.TaskPlan) {
	kept := slices.DeleteFunc(b.Tasks, func(t *Task) bool { return len(t.Runs) == 0 && t.Ended == nil })
	next := []*Task{}
	for _, p := range tasks[:min(len(tasks), maxBoard)] {
		i := slices.IndexFunc(kept, func(t *Task) bool { return t.Plan.ID == p.ID })
		if i < 0 {
			next = append(next, &Task{Plan: p, Seq: e.Seq, Last: e.Seq, Runs: []*Handover{}, Asked: []*Clarify{}, Turned: []Turned{}, Orders: []Ordered{}})
			continue
		}
		next = append(next, kept[i])
		kept = slices.Delete(kept, i, i+1)
	}
	b.Tasks = append(kept[:len(kept):len(kept)], next...)
}

// ran counts a command of whoever works on a task.
func (b *Board) ran(worker string) {
	for _, t := range b.Tasks {
		if r := t.last(); r != nil && r.Ended == 0 && r.Worker == worker {
			r.Commands++
		}
	}
}

// takeCall is for what services are asked for, and what they say.
func (b *Board) takeCall(e event.Event) {
	switch x := e.Body.(type) {
	case *event.InspectionCall:
		b.Calls[e.Seq] = boardCall{Task: x.Task, Run: x.Run}
	case *event.InspectionResult:
		if r := b.runOf(x.Call); r != nil {
			r.Found = inspectionOf(e, x)
		}
		delete(b.Calls, x.Call)
	case *event.AcceptanceCall:
		b.Calls[e.Seq] = boardCall{Task: x.Task, Side: x.Side}
		b.test(x.Task, x.Side, &Tests{Call: e.Seq, Wanted: append([]string{}, x.Commands...), Commands: []event.TestRun{}})
	case *event.TestReport:
		c := b.Calls[x.Call]
		if t := b.tests(c.Task, c.Side); t != nil && t.Call == x.Call {
			t.Seq, t.Commands, t.Error, t.Duration = e.Seq, append(t.Commands, x.Commands...), x.Error, x.Duration
		}
		delete(b.Calls, x.Call)
	case *event.MergeCall:
		m := &Merge{Call: e.Seq, Tasks: []string{}, Conflicts: []event.Skipped{}}
		for _, p := range x.Parts {
			m.Tasks = append(m.Tasks, p.Task)
		}
		if len(b.Merges) < maxBoard {
			b.Merges = append(b.Merges, m)
		}
	case *event.MergeReport:
		if i := slices.IndexFunc(b.Merges, func(m *Merge) bool { return m.Call == x.Call }); i >= 0 {
			m := b.Merges[i]
			m.Seq, m.Files, m.Error, m.Patch, m.Tree = e.Seq, x.Files, x.Error, x.Patch, treeHash(x.Tree)
			m.Conflicts = append(m.Conflicts, x.Conflicts...)
		}
	}
}

// runOf is the run that a call is about.
func (b *Board) runOf(call uint64) *Handover {
	c, ok := b.Calls[call]
	if t := b.Task(c.Task); ok && t != nil {
		return t.run(c.Run)
	}
	return nil
}

func inspectionOf(e event.Event, x *event.InspectionResult) *Inspection {
	return &Inspection{
		Seq: e.Seq, Error: x.Error, Files: x.Files, More: x.More, Patch: x.Patch, Tree: treeHash(x.Tree),
		Changes: append([]event.TaskChange{}, x.Changes...), Findings: append([]string{}, x.Findings...),
		Ignored: append([]event.Skipped{}, x.Ignored...), Outside: append([]event.Skipped{}, x.Outside...),
	}
}

// test puts tests where they belong; tests finds them there.
func (b *Board) test(task, side string, tests *Tests) {
	t := b.Task(task)
	switch {
	case side == event.SideMerged:
		b.Whole = tests
	case t == nil:
	case side == event.SideBefore:
		t.Before = tests
	case t.last() != nil:
		t.last().After = tests
	}
}

func (b *Board) tests(task, side string) *Tests {
	t := b.Task(task)
	switch {
	case side == event.SideMerged:
		return b.Whole
	case t == nil:
		return nil
	case side == event.SideBefore:
		return t.Before
	case t.last() != nil:
		return t.last().After
	}
	return nil
}

// takeTask is for what happens to one task.
func (b *Board) takeTask(e event.Event) {
	t := b.Task(taskOf(e.Body))
	if t == nil {
		return
	}
	t.Last = e.Seq
	switch x := e.Body.(type) {
	case *event.HandoverBegun:
		if len(t.Runs) < maxBoard {
			t.Runs = append(t.Runs, &Handover{Run: x.Run, Repair: x.Repair, Executor: x.Executor, Worker: x.Worker, Seq: e.Seq, Time: e.Time, Package: x.Package, Snapshot: t.snapshot(x.Snapshot), Errors: []*TaskFault{}})
			t.Shot = nil
		}
	case *event.TaskSnapshot:
		t.Shot = &Snapshot{Seq: e.Seq, Hash: x.Hash, Events: len(x.Events), Text: x.Text}
	case *event.TaskClarify:
		if len(t.Asked) < maxBoard {
			t.Asked = append(t.Asked, &Clarify{Seq: e.Seq, Round: x.Round, Asker: e.Actor, Question: x.Question})
		}
	case *event.TaskClarified:
		if i := slices.IndexFunc(t.Asked, func(c *Clarify) bool { return c.Seq == x.Clarify }); i >= 0 {
			t.Asked[i].Answered, t.Asked[i].Answer = e.Seq, x.Text
		}
	case *event.TaskTurned:
		t.Turned = append(t.Turned, Turned{e.Seq, x.How, x.Executor, x.Reason})
	case *event.TaskOrder:
		t.Orders = append(t.Orders, Ordered{e.Seq, x.Action, e.Actor, x.Text})
	case *event.TaskEnded:
		t.Ended = &TaskEnds{e.Seq, x.Status, x.Reason, x.Run, x.Patch, treeHash(x.Tree)}
	default:
		t.takeRun(e)
	}
}

// takeRun is for what happens to one run.
func (t *Task) takeRun(e event.Event) {
	switch x := e.Body.(type) {
	case *event.HandoverEnded:
		if r := t.run(x.Run); r != nil {
			r.Ended, r.Outcome = e.Seq, x.Outcome
		}
	case *event.ArtifactManifest:
		if r := t.run(x.Run); r != nil {
			r.Manifest = &Manifest{e.Seq, x.ID, x.Generated, x.Fingerprint, append([]event.ArtifactItem{}, x.Items...)}
		}
	case *event.TaskError:
		if r := t.run(x.Run); r != nil && len(r.Errors) < maxBoard {
			r.Errors = append(r.Errors, &TaskFault{e.Seq, x.Category, x.Exit, x.Line, x.Logs, x.Same, x.Text})
		}
	case *event.TaskJudged:
		if r := t.run(x.Run); r != nil {
			r.Judged = &Judgement{e.Seq, x.Verdict, x.Reasons, append([]string{}, x.Shown...), x.Scope}
		}
		if x.Scope != nil {
			t.Plan.Scope = *x.Scope
		}
	}
}

// snapshot is the one that goes with a run: a repair goes on with the one before.
func (t *Task) snapshot(seq uint64) *Snapshot {
	if t.Shot != nil && t.Shot.Seq == seq {
		return t.Shot
	}
	for _, r := range t.Runs {
		if r.Snapshot != nil && r.Snapshot.Seq == seq {
			return r.Snapshot
		}
	}
	return nil
}

// taskOf is the task that an event is about, empty if it is about none.
func taskOf(b event.Body) string {
	switch x := b.(type) {
	case *event.TaskSnapshot:
		return x.Task
	case *event.HandoverBegun:
		return x.Task
	case *event.HandoverEnded:
		return x.Task
	case *event.ArtifactManifest:
		return x.Task
	case *event.TaskError:
		return x.Task
	case *event.TaskClarify:
		return x.Task
	case *event.TaskClarified:
		return x.Task
	case *event.TaskJudged:
		return x.Task
	case *event.TaskTurned:
		return x.Task
	case *event.TaskEnded:
		return x.Task
	case *event.TaskOrder:
		return x.Task
	}
	return ""
}
