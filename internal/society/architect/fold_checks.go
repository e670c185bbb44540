package architect

import (
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/society/architect/task"

	"github.com/go-json-experiment/json"
)

// What acceptance commands and merges say, and what follows for tasks.

func (m *Memory) testing(seq uint64, b *event.AcceptanceCall) {
	switch b.Side {
	case event.SideMerged:
		if m.Merge == nil { // of one part: nothing is put together
			m.Merge = &Merge{Parts: m.parts(), Tree: &b.Tree}
		}
		m.Merge.Test = seq
	case event.SideBefore:
		m.Befores = append(m.Befores, Before{Tree: m.Task(b.Task).base().Hash, Commands: commandsHash(b.Commands), Call: seq})
	case event.SideAfter:
		m.Task(b.Task).Handover.After = seq
	}
}

func (m *Memory) tested(seq uint64, b *event.TestReport) {
	r := reportOf(seq, b)
	for i := range m.Befores {
		if x := &m.Befores[i]; x.Call == b.Call {
			x.Call, x.Passed = 0, r.Good()
			return
		}
	}
	if g := m.Merge; g != nil && g.Test == b.Call {
		if g.Test, g.Over, g.Seq = 0, true, seq; !r.Good() {
			g.Failed = "the acceptance commands fail on what was put together: " + r.words()
		}
		m.take()
		return
	}
	for _, t := range m.Tasks {
		if t.busy() && t.Handover.After == b.Call {
			t.Handover.After, t.Handover.Report = 0, r
		}
	}
}

// merged takes in what came of putting parts together.
func (m *Memory) merged(seq uint64, b *event.MergeReport) {
	g := m.Merge
	g.Seq = seq
	switch {
	case b.Tree == nil && len(b.Conflicts) > 0:
		g.Failed, g.Over = "conflicts: "+skipped(b.Conflicts), true
	case b.Tree == nil:
		g.Failed, g.Over = said(b.Error, "it could not be merged"), true
	default:
		g.Tree, g.Over = b.Tree, len(m.union(g.Parts)) == 0
	}
	m.take()
}

// take takes a merge over that has ended.
func (m *Memory) take() {
	g := m.Merge
	if !g.Over {
		return
	}
	for _, id := range g.Parts {
		t := m.Task(id)
		if t.Merged = g.Failed == ""; !t.Merged {
			t.Unmerged = g.Failed
		}
	}
	if g.Failed == "" {
		m.Standing = g.Tree
	}
}

// parts are the tasks that were accepted and are in no merge yet, in the order of the plan.
func (m *Memory) parts() (out []string) {
	for _, t := range m.Tasks {
		if t.Status == event.TaskAccepted && !t.Merged && t.Unmerged == "" {
			out = append(out, t.Plan.ID)
		}
	}
	return out
}

// open reports whether a task of the group that is under way has not ended.
func (m *Memory) open() bool {
	return slices.ContainsFunc(m.Tasks, func(t *Task) bool { return t.Status == "" && t.Runs > 0 })
}

// settle takes over what needs no merge: what changes nothing, and the first task if it is
// alone.
func (m *Memory) settle() {
	others := 0
	for _, t := range m.Tasks {
		if t.Status == event.TaskAccepted && !t.Merged && (t.Plan.ReadOnly || t.Tree == nil) {
			t.Merged = true
		}
		if t.Merged && !t.Plan.ReadOnly {
			others++
		}
	}
	if parts := m.parts(); len(parts) == 1 && others == 0 && !m.open() {
		t := m.Task(parts[0])
		t.Merged, m.Standing = true, t.Tree
	}
}

// commandsHash tells lists of commands apart.
func commandsHash(commands []string) event.Hash {
	data, err := json.Marshal(commands)
	if err != nil {
		panic("architect: commands cannot be encoded: " + err.Error())
	}
	return event.HashOf(data)
}

// reportOf is what matters of a report.
func reportOf(seq uint64, b *event.TestReport) *Report {
	r := &Report{Seq: seq, Error: said(b.Error, ""), Commands: int64(len(b.Commands))}
	for i := range b.Commands {
		c := &b.Commands[i]
		r.Passed, r.Failed, r.Skipped = r.Passed+c.Passed, r.Failed+c.Failed, r.Skipped+c.Skipped
		if r.Output == nil {
			r.Output = &c.Output
		}
		if !c.Good() && r.Command == "" {
			r.Command, r.Exit, r.Output = event.Shorten(c.Command, 300), c.Exit, &c.Output
			r.Line, r.Tail = task.FirstFailing([]byte(c.Tail)), event.Shorten(lastOf(c.Tail, 1500), 2000)
			if c.End != "" {
				r.Line = strings.TrimSpace("ended by " + c.End + " " + r.Line)
			}
		}
	}
	return r
}
