package architect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect/task"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// maxSnapshot is how many events the executor of a task is told of, maxLine how long the line
// of each is, in bytes of JSON.
const (
	maxSnapshot = 64
	maxLine     = 100
)

// note keeps what matters to whoever works on a task.
func (m *Memory) note(e event.Event) {
	n := Note{Seq: e.Seq, Hash: e.Hash}
	switch b := e.Body.(type) {
	case *event.UserMessage:
		n.Line, n.Text = "a person said: "+b.Text.Text, b.Text
	case *event.InteractionAnswered:
		n.Line, n.Text = "a person answered: "+b.Said(), event.Text{Text: b.Said()}
	case *event.PlanApproved:
		var ids []string
		for _, t := range b.Tasks {
			ids = append(ids, t.ID)
		}
		n.Line = "the plan: " + strings.Join(ids, ", ")
		n.Text = event.Text{Text: event.Shorten(string(task.EncodePlan(b.Tasks)), 8<<10)}
	case *event.TaskOrder:
		n.Task, n.Line = b.Task, "a person: "+b.Action+" "+b.Text
	case *event.MergeReport:
		n.Line = fmt.Sprintf("a merge changed %d files", b.Files)
		if b.Tree == nil {
			n.Line = "a merge failed: " + skipped(b.Conflicts) + said(b.Error, "")
		}
		n.Text.Ref = b.Patch
	default:
		m.noteTask(e, &n)
	}
	if n.Line != "" {
		n.Line = event.Shorten(oneLine(n.Line), maxLine)
		m.Notes = append(m.Notes, n)
	}
}

// noteTask keeps what happened to tasks.
func (m *Memory) noteTask(e event.Event, n *Note) {
	switch b := e.Body.(type) {
	case *event.HandoverBegun:
		n.Task, n.Line, n.Text = b.Task, fmt.Sprintf("run %d of %s begins, by %s", b.Run, b.Task, b.Executor), b.Package
	case *event.HandoverEnded:
		n.Task, n.Line = b.Task, fmt.Sprintf("run %d of %s: %s", b.Run, b.Task, b.Outcome)
	case *event.TaskError:
		n.Task, n.Line, n.Text = b.Task, fmt.Sprintf("%s has an error, %s: %s", b.Task, b.Category, b.Text.Text), b.Text
	case *event.TaskClarify:
		n.Task, n.Line, n.Text = b.Task, "the executor of "+b.Task+" asks: "+b.Question.Text, b.Question
	case *event.TaskClarified:
		n.Task, n.Line, n.Text = b.Task, "the architect answers: "+b.Text.Text, b.Text
	case *event.TaskJudged:
		n.Task, n.Line, n.Text = b.Task, fmt.Sprintf("run %d of %s: %s. %s", b.Run, b.Task, b.Verdict, b.Reasons.Text), b.Reasons
	case *event.TaskTurned:
		n.Task, n.Line = b.Task, b.Task+": "+b.How+". "+b.Reason
	case *event.TaskEnded:
		n.Line = b.Task + " is " + b.Status + ". " + b.Reason
	case *event.InspectionResult:
		for _, t := range m.Tasks {
			if t.busy() && t.Handover.Inspect == b.Call {
				n.Task, n.Line, n.Text.Ref = t.Plan.ID, fmt.Sprintf("run %d of %s changed %d files", t.Handover.Run, t.Plan.ID, b.Files), b.Patch
			}
		}
	case *event.TestReport:
		r := reportOf(e.Seq, b)
		for _, t := range m.Tasks {
			if t.busy() && t.Handover.After == b.Call {
				n.Task, n.Line, n.Text.Ref = t.Plan.ID, "acceptance of "+t.Plan.ID+": "+r.words(), r.Output
			}
		}
		if m.Merge != nil && m.Merge.Test == b.Call {
			n.Line, n.Text.Ref = "acceptance of what was merged: "+r.words(), r.Output
		}
	}
}

// snapshot is what the executor of a task is told of what was before. The same events give the
// same hash.
func (m *Memory) snapshot(t *Task) *event.TaskSnapshot {
	about := m.snapshotNotes(t, 1<<63)
	b := &event.TaskSnapshot{Task: t.Plan.ID, Events: []event.SnapshotEvent{}}
	var lines strings.Builder
	for _, n := range about {
		b.Events = append(b.Events, event.SnapshotEvent{Hash: n.Hash, Seq: n.Seq})
		fmt.Fprintf(&lines, "[%d] %s\n", n.Seq, n.Line)
	}
	b.Text.Text, b.Hash = lines.String(), snapshotHash(b.Events)
	return b
}

// snapshotNotes are what stands in the snapshot of a task that was made at an event.
func (m *Memory) snapshotNotes(t *Task, at uint64) (about []Note) {
	for _, n := range m.Notes {
		if n.Seq < at && (n.Task == "" || n.Task == t.Plan.ID) {
			about = append(about, n)
		}
	}
	return about[max(0, len(about)-maxSnapshot):]
}

// snapshotHash is the hash over the events of a snapshot.
func snapshotHash(events []event.SnapshotEvent) event.Hash {
	data, err := json.Marshal(events)
	if err == nil {
		data, err = event.Canonical(data)
	}
	if err != nil {
		panic("architect: a snapshot cannot be encoded: " + err.Error())
	}
	return event.HashOf(data)
}

// pack is the package of a task for an executor, and what is wrong with it.
func pack(s *quest.State, t *Task, executor string) (string, error) {
	m := Of(s)
	mode := task.ModeFull
	if t.Plan.ReadOnly {
		mode = task.ModeReadOnly
	}
	var print event.Hash
	if a := s.Agent(worker(executor, 0, m.Settings.Parallel)); a != nil && a.Session != nil && a.Session.Info != nil {
		print = a.Session.Info.Fingerprint
	}
	p := &task.Package{
		Session: s.Name, Task: t.Plan.ID, Context: t.SnapshotHash.String(),
		Instruction: task.Instruction{
			Goal: t.Plan.Goal, Scope: task.PackageScope{Include: t.Plan.Scope.Include, Exclude: t.Plan.Scope.Exclude},
			Acceptance:  slices.Concat(t.Plan.Acceptance, t.Plan.Criteria),
			Constraints: task.Constraints{Calls: m.Settings.Session.Calls, Seconds: m.Settings.Session.Seconds, NoTouch: t.Plan.Scope.NoTouch},
		},
		Runtime: task.Runtime{Dir: workspace.Home, Mode: mode, Fingerprint: print.String()},
	}
	return string(p.Encode()), p.Check()
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// oneLine is a text on one line, as a stranger may have written it.
func oneLine(text string) string { return strings.Join(strings.Fields(plain.Line(text)), " ") }

// lastOf is the end of an output, from the beginning of a line on.
func lastOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-most:], "")
	_, text, _ = strings.Cut(text, "\n")
	return text
}

// skipped are paths with what is said of them.
func skipped(list []event.Skipped) string {
	var out []string
	for i, s := range list {
		if i == 12 {
			out = append(out, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		out = append(out, plain.Bare(s.Path, 120)+" ("+plain.Bare(s.Reason, 160)+")")
	}
	return strings.Join(out, "; ")
}

// words say what a report is.
func (r *Report) words() string {
	switch {
	case r.Error != "":
		return "the commands could not be run: " + r.Error
	case r.Command != "":
		return fmt.Sprintf("%s ended with exit code %d: %s", oneLine(r.Command), r.Exit, r.Line)
	case r.Passed+r.Failed+r.Skipped > 0:
		return fmt.Sprintf("%d commands passed; tests: %d passed, %d failed, %d skipped", r.Commands, r.Passed, r.Failed, r.Skipped)
	}
	return fmt.Sprintf("%d commands passed", r.Commands)
}
