package architect

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

var (
	_ quest.Reminder  = Society{}
	_ quest.Concluder = Society{}
)

// board is a line for each task.
func board(m *Memory) (out []string) {
	for _, t := range m.Tasks {
		out = append(out, event.Shorten("- "+t.Plan.ID+": "+standsAs(t), 300))
	}
	if len(out) == 0 {
		out = []string{"Nothing is planned: use plan_tasks."}
	}
	return out
}

// standsAs says where a task stands.
func standsAs(t *Task) string {
	switch {
	case t == nil:
		return "it is not planned"
	case t.Status != "":
		return word(t)
	case t.Clarify != nil && t.Clarify.Answer == nil:
		return "its executor asks: " + event.Shorten(oneLine(t.Clarify.Question.Text), 120)
	case t.busy():
		return fmt.Sprintf("run %d by %s is under way", t.Handover.Run, t.Handover.Executor)
	case t.checked():
		return fmt.Sprintf("run %d is checked and waits for your judgement", t.Handover.Run)
	case t.Wanted:
		return "the same error came again: it wants a strictly smaller scope (judge with narrow)"
	case t.Handover != nil && t.Handover.Error != nil:
		return fmt.Sprintf("run %d has an error (%s): dispatch it again, narrow it, or plan without it", t.Handover.Run, t.Handover.Error.Category)
	}
	return "not begun"
}

// outcome tells the architect how the last run of a task ended: what changed, what the tests
// say, what it can do now.
func outcome(s *quest.State, t *Task) string {
	m, h := Of(s), t.Handover
	var b strings.Builder
	switch {
	case t.Status != "":
		fmt.Fprintf(&b, "%s is %s", t.Plan.ID, word(t))
		if t.Status != event.TaskAccepted {
			fmt.Fprintf(&b, "\nWhat was tried:\n- %s", strings.Join(t.Tried, "\n- "))
		}
	case h == nil:
		return t.Plan.ID + " was not handed over."
	case h.Outcome == event.OutcomeChecked:
		fmt.Fprintf(&b, "Run %d of %s by %s is checked. What the executor says is a claim; this is what was found:\n", h.Run, t.Plan.ID, h.Executor)
		changed(&b, t)
		tests(&b, m, t)
		b.WriteString("Judge it: accept, refuse with reasons, or narrow.")
		if len(t.Plan.Criteria) > 0 {
			fmt.Fprintf(&b, " To accept, give shown for these criteria:\n- %s", strings.Join(t.Plan.Criteria, "\n- "))
		}
	case h.Error != nil:
		fmt.Fprintf(&b, "Run %d of %s by %s ended with an error [%d], %s:\n%s\n", h.Run, t.Plan.ID, h.Executor, h.Error.Seq, h.Error.Category, h.Error.Text)
		b.WriteString(t.Plan.ID + ": " + standsAs(t) + ".")
	default:
		fmt.Fprintf(&b, "Run %d of %s: %s.", h.Run, t.Plan.ID, h.Outcome)
	}
	if m.Settings.Parallel > 1 {
		fmt.Fprintf(&b, "\nAll tasks:\n%s", strings.Join(board(m), "\n"))
	}
	return b.String()
}

// changed tells what a run changed.
func changed(b *strings.Builder, t *Task) {
	r := t.Handover.Result
	fmt.Fprintf(b, "%d files changed (recall %d shows the patch):\n", r.Files, r.Seq)
	for i, c := range r.Changes {
		if i == 40 {
			break
		}
		fmt.Fprintf(b, "  %s %s +%d -%d\n", c.Kind, plain.Bare(c.Path, 160), c.Added, c.Removed)
	}
	if n := r.Files - int64(min(len(r.Changes), 40)); n > 0 {
		fmt.Fprintf(b, "  and %d more\n", n)
	}
	if r.Files == 0 && !t.Plan.ReadOnly {
		b.WriteString("Nothing has changed.\n")
	}
	if m := r.Manifest; m != nil {
		fmt.Fprintf(b, "Artifacts that it names: %d\n", len(m.Items))
	}
}

// tests tells what the acceptance commands said.
func tests(b *strings.Builder, m *Memory, t *Task) {
	if r := t.Handover.Report; r != nil {
		fmt.Fprintf(b, "Acceptance on base and patch: %s (recall %d shows the output).\n", r.words(), r.Seq)
		if before := m.before(t); before != nil && before.Passed {
			b.WriteString("The same commands passed before the task too: they prove nothing of it. Look at the patch, or refuse and ask for a test.\n")
		}
	}
}

// Standing implements quest.Reminder.
func (Society) Standing(s *quest.State, a *agent.Agent) []string {
	m := Of(s)
	if a.Name != Architect {
		if t := m.at(a.Name); t != nil {
			return []string{fmt.Sprintf("Your task is %s; %d of %d commands are used.", t.Plan.ID, t.Calls, m.Settings.Session.Calls)}
		}
		return nil
	}
	return []string{"Tasks:\n" + strings.Join(board(m), "\n")}
}

// Verdict implements quest.Concluder: what was done, and what checks it.
func (Society) Verdict(s *quest.State) *quest.Verdict {
	m := Of(s)
	if s.Answer == nil || m == nil {
		return nil
	}
	accepted, tested := 0, 0
	for _, t := range m.Tasks {
		if t.Status == event.TaskAccepted && t.Unmerged == "" {
			accepted++
			if len(t.Plan.Acceptance) > 0 {
				tested++
			}
		}
	}
	v := &quest.Verdict{Value: quest.InShort(s.Answer.Text), Agree: fmt.Sprintf("%d of %d tasks accepted", accepted, len(m.Tasks)), Sure: quest.SureMedium, Why: "what was accepted was checked"}
	switch {
	case len(m.Tasks) == 0:
		v.Agree, v.Sure, v.Why = "no task was needed", quest.SureUnchecked, "nothing was done that could be checked"
	case accepted == 0:
		v.Sure, v.Why = quest.SureLow, "no task was accepted"
	case accepted == len(m.Tasks) && tested == accepted:
		v.Sure, v.Why = quest.SureHigh, "the acceptance commands of all tasks pass"
	case accepted < len(m.Tasks):
		v.Sure, v.Why = quest.SureLow, "some tasks were not accepted"
	}
	return v
}

// Produced is the tree with all that was merged, nil if nothing was.
func (Society) Produced(s *quest.State) *event.TreeRef {
	if m := Of(s); m != nil {
		return m.Standing
	}
	return nil
}

// Base is the tree that a quest's tasks began with.
func Base(s *quest.State) event.TreeRef { return baseOf(s, &Task{}) }
