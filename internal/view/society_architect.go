package view

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// architects is how the work of an architect is shown: by its tasks.
type architects struct{ agents }

// taskTrail is what an architect adds to the views: its board, and which of its things stand
// on the canvas.
type taskTrail struct {
	Board
	// Answers are the nodes that an answer comes from: what was accepted, or the last merge.
	Answers []string
}

// begin implements Society.
func (architects) begin() part { return &taskTrail{Board: *NewBoard()} }

// read implements Society. Patches, and how acceptance commands ended, are evidence.
func (architects) read(r *reader, e event.Event) (done bool, err error) {
	switch b := e.Body.(type) {
	case *event.InspectionCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Task, fmt.Sprint(b.Run), b.Begun.Hash.String()), Waiting: true})
		r.called(e.Seq, "task "+b.Task)
	case *event.InspectionResult:
		r.close(e, b.Call, sum(treeHash(b.Tree), fmt.Sprint(b.Files), fmt.Sprint(b.Findings), fmt.Sprint(b.Outside)), r.words(e), b.Error.Len() > 0, 0)
		if b.Patch != nil {
			r.anchor(r.subjects[b.Call], "patch", b.Patch.Hash)
		}
	case *event.AcceptanceCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Task, b.Side, b.Tree.Hash.String(), fmt.Sprint(b.Commands)), Waiting: true})
	case *event.TestReport:
		// What commands print has times in it: how each ended is what two runs have in common.
		all := []string{b.Error.Text}
		failed := b.Error.Len() > 0
		for i := range b.Commands {
			x := &b.Commands[i]
			all = append(all, x.Command, fmt.Sprint(x.Exit, x.Passed, x.Failed, x.Skipped), x.End)
			failed = failed || !x.Good()
		}
		r.lasted("tests", b.Duration)
		r.close(e, b.Call, sum(all...), r.words(e), failed, b.Duration)
	case *event.MergeCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Base.Hash.String(), fmt.Sprint(b.Parts)), Waiting: true})
	case *event.MergeReport:
		r.close(e, b.Call, sum(treeHash(b.Tree), fmt.Sprint(b.Files), fmt.Sprint(b.Conflicts)), r.words(e), b.Tree == nil, 0)
		if b.Patch != nil {
			r.anchor("merge", "patch", b.Patch.Hash)
		}
	default:
		return false, nil
	}
	return true, nil
}

// take implements part.
func (x *taskTrail) take(v *Views, e event.Event, s *quest.State) {
	before := x.Calls // a result is drawn by its call, which the board forgets
	about := boardCall{}
	if r, ok := e.Body.(event.Result); ok {
		about = before[r.Answers()]
	}
	x.Board.Take(e)
	x.draw(&v.Canvas, e, about)
	x.keep(&v.Artifacts, e, about)
	if b, ok := e.Body.(*event.QuestFinished); ok && b != nil {
		for _, n := range x.Answers {
			v.Canvas.edge(e.Seq, Supports, n, id("answer", e.Seq), "")
		}
		if len(x.Answers) == 0 {
			agents{}.take(v, e, s)
		}
	}
}

// keep lists what was made.
func (x *taskTrail) keep(a *Artifacts, e event.Event, about boardCall) {
	switch b := e.Body.(type) {
	case *event.HandoverBegun:
		a.blob(e, "package", fmt.Sprintf("package of %s, run %d", b.Task, b.Run), b.Package.Ref)
	case *event.InspectionResult:
		a.blob(e, "patch", fmt.Sprintf("%s, run %d.patch", about.Task, about.Run), b.Patch)
		a.tree(e, "tree", "files of "+about.Task, b.Tree)
	case *event.ArtifactManifest:
		for i := range b.Items {
			a.blob(e, b.Items[i].Type, b.Items[i].Ref, b.Items[i].File)
		}
	case *event.TestReport:
		for i := range b.Commands {
			a.blob(e, "output", "output of "+b.Commands[i].Command, &b.Commands[i].Output)
		}
	case *event.TaskError:
		a.blob(e, "log", fmt.Sprintf("logs of %s, run %d", b.Task, b.Run), b.Logs)
	case *event.MergeReport:
		a.blob(e, "patch", "merged.patch", b.Patch)
		a.tree(e, "tree", "all that was made", b.Tree)
	}
}
