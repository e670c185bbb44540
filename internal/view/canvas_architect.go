package view

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// draw adds what an event brought: plan, tasks, handovers, what was found of them, verdicts and
// merges, each joined with what it came from.
func (x *taskTrail) draw(c *Canvas, e event.Event, about boardCall) {
	switch b := e.Body.(type) {
	case *event.PlanProposed:
		x.drawPlan(c, e, id("plan", e.Seq), "proposed", b.Tasks)
	case *event.PlanApproved:
		x.drawPlan(c, e, id("plan", b.Plan), "approved", b.Tasks)
	case *event.TaskEnded:
		x.drawEnd(c, e, b)
	case *event.TestReport:
		x.drawTests(c, e, b, about)
	case *event.MergeCall:
		n := c.node(e, Node{ID: id("merge", e.Seq), Kind: "merge", Label: Several(int64(len(b.Parts)), "task") + " put together", Agent: e.Actor, Status: "running"})
		for _, p := range b.Parts {
			c.edge(e.Seq, CausedBy, n.ID, x.verdictOf(c, p.Task), "")
		}
		x.Answers = []string{n.ID}
	case *event.MergeReport:
		x.drawMerge(c, e, b)
	default:
		x.drawRun(c, e, about)
	}
}

// drawPlan draws a plan and its tasks. One that was edited or made again has the tasks that are
// new.
func (x *taskTrail) drawPlan(c *Canvas, e event.Event, plan, status string, tasks []event.TaskPlan) {
	n := c.node(e, Node{ID: plan, Kind: "plan", Label: Several(int64(len(tasks)), "task"), Agent: e.Actor, Status: status})
	c.become(plan, e.Seq, status)
	c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
	for _, p := range tasks {
		if c.byID[id("task", p.ID)] != nil {
			continue
		}
		t := c.node(e, Node{ID: id("task", p.ID), Kind: "task", Label: event.Cut(p.ID, maxLabel), Status: TaskPlanned, Detail: event.Cut(p.Goal, 2*maxLabel)})
		c.edge(e.Seq, CausedBy, t.ID, plan, "")
		for _, other := range p.After {
			c.edge(e.Seq, CausedBy, t.ID, id("task", other), "after")
		}
	}
}

func handoverID(task string, run int64) string { return fmt.Sprintf("handover:%s/%d", task, run) }

// drawRun draws a handover and what came of it.
func (x *taskTrail) drawRun(c *Canvas, e event.Event, about boardCall) {
	switch b := e.Body.(type) {
	case *event.HandoverBegun:
		x.drawBegun(c, e, b)
	case *event.HandoverEnded:
		c.become(handoverID(b.Task, b.Run), e.Seq, b.Outcome)
		if b.Outcome == event.OutcomeChecked {
			c.become(id("task", b.Task), e.Seq, "checked")
		}
	case *event.InspectionResult:
		if b.Patch == nil {
			return
		}
		label := Several(b.Files, "file") + " changed"
		n := c.node(e, Node{ID: id("patch", e.Seq), Kind: "artifact", Label: label, Status: "patch", Detail: changedPaths(b.Changes)})
		c.edge(e.Seq, CausedBy, n.ID, handoverID(about.Task, about.Run), "")
	case *event.ArtifactManifest:
		for i, item := range b.Items[:min(len(b.Items), 8)] {
			if item.Type == "patch" {
				continue // it is drawn as it was found
			}
			n := c.node(e, Node{ID: fmt.Sprintf("artifact:%d/%d", e.Seq, i), Kind: "artifact", Label: event.Cut(item.Ref, maxLabel), Agent: e.Actor, Status: event.Cut(item.Type, maxLabel), Detail: event.Cut(item.Preview.Text, maxLabel)})
			c.edge(e.Seq, CausedBy, n.ID, handoverID(b.Task, b.Run), "")
		}
	case *event.TaskError:
		n := c.node(e, Node{ID: id("error", e.Seq), Kind: "error", Label: event.Cut(b.Text.Text, maxLabel), Status: event.Cut(b.Category, maxLabel), Detail: event.Cut(b.Line, maxLabel)})
		c.edge(e.Seq, CausedBy, n.ID, handoverID(b.Task, b.Run), "")
	case *event.TaskJudged:
		n := c.node(e, Node{ID: id("verdict", e.Seq), Kind: "verdict", Label: event.Cut(b.Reasons.Text, maxLabel), Agent: e.Actor, Status: event.Cut(b.Verdict, maxLabel)})
		x.joinVerdict(c, e, n.ID, b)
	}
}

// drawBegun draws a handover behind the task, or behind the run that it repairs.
func (x *taskTrail) drawBegun(c *Canvas, e event.Event, b *event.HandoverBegun) {
	kind := "run"
	from := id("task", b.Task)
	if b.Repair {
		kind = "repair"
		if before := x.blame(c, b.Task, b.Run-1); before != "" {
			from = before
		}
	}
	n := c.node(e, Node{ID: handoverID(b.Task, b.Run), Kind: "handover", Label: event.Cut(fmt.Sprintf("%s %d of %s: %s", kind, b.Run, b.Task, b.Executor), maxLabel), Agent: b.Worker, Status: "running"})
	c.edge(e.Seq, CausedBy, n.ID, from, "")
	c.become(id("task", b.Task), e.Seq, TaskWorking)
}

// blame is what a run went back for: what was said of the one before, or what went wrong in it.
func (x *taskTrail) blame(c *Canvas, task string, run int64) string {
	t := x.Task(task)
	if t == nil || t.run(run) == nil {
		return ""
	}
	r := t.run(run)
	if r.Judged != nil {
		return id("verdict", r.Judged.Seq)
	}
	if n := len(r.Errors); n > 0 {
		return id("error", r.Errors[n-1].Seq)
	}
	return handoverID(task, run)
}

// joinVerdict joins a verdict with what it is about: the tests, or else the run.
func (x *taskTrail) joinVerdict(c *Canvas, e event.Event, verdict string, b *event.TaskJudged) {
	on := handoverID(b.Task, b.Run)
	if t := x.Task(b.Task); t != nil && t.run(b.Run) != nil && t.run(b.Run).After != nil {
		if tests := id("tests", t.run(b.Run).After.Seq); c.byID[tests] != nil {
			on = tests
		}
	}
	c.edge(e.Seq, CausedBy, verdict, on, "")
	c.edge(e.Seq, Wrote, id("agent", e.Actor), verdict, "")
}

func (x *taskTrail) drawTests(c *Canvas, e event.Event, b *event.TestReport, about boardCall) {
	status := "failed"
	if (&Tests{Seq: e.Seq, Commands: b.Commands, Error: b.Error}).Good() {
		status = "passed"
	}
	w := new(Teller).Tell(e)
	n := c.node(e, Node{ID: id("tests", e.Seq), Kind: "tests", Label: about.Side + ": " + w.Text, Status: status})
	switch t := x.Task(about.Task); {
	case about.Side == event.SideMerged:
		for _, from := range x.Answers {
			c.edge(e.Seq, CausedBy, n.ID, from, "")
		}
		x.Answers = []string{n.ID}
	case t == nil:
	case about.Side == event.SideBefore || t.last() == nil:
		c.edge(e.Seq, CausedBy, n.ID, id("task", about.Task), "")
	default:
		c.edge(e.Seq, CausedBy, n.ID, handoverID(about.Task, t.last().Run), "")
	}
}

// drawEnd ends a task. What was accepted is what an answer comes from, until it is merged.
func (x *taskTrail) drawEnd(c *Canvas, e event.Event, b *event.TaskEnded) {
	c.become(id("task", b.Task), e.Seq, b.Status)
	if b.Status == event.TaskAccepted {
		if n := x.verdictOf(c, b.Task); n != "" && !slices.Contains(x.Answers, n) {
			x.Answers = append(x.Answers, n)
		}
	}
}

// verdictOf is the verdict that a task ended with, or the task.
func (x *taskTrail) verdictOf(c *Canvas, task string) string {
	if t := x.Task(task); t != nil {
		for _, r := range slices.Backward(t.Runs) {
			if r.Judged != nil && c.byID[id("verdict", r.Judged.Seq)] != nil {
				return id("verdict", r.Judged.Seq)
			}
		}
	}
	return id("task", task)
}

func (x *taskTrail) drawMerge(c *Canvas, e event.Event, b *event.MergeReport) {
	status := "merged"
	switch {
	case b.Error.Len() > 0:
		status = "failed"
	case len(b.Conflicts) > 0:
		status = "conflict"
	}
	if n := c.byID[id("merge", b.Call)]; n != nil {
		n.Detail = event.Cut(new(Teller).Tell(e).Text, maxLabel)
	}
	c.become(id("merge", b.Call), e.Seq, status)
}

// changedPaths names the first files that changed.
func changedPaths(list []event.TaskChange) string {
	out := ""
	for _, c := range list[:min(len(list), 6)] {
		out += c.Kind + " " + c.Path + "; "
	}
	return event.Cut(out, maxLabel)
}
