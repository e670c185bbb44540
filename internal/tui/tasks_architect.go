package tui

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// tasks is the panel of an architect: what is planned, in the order of the plan. It is folded
// from the events.
type tasks struct {
	folded
	board *view.Board
}

func newTasks(*quest.State) panel {
	b := view.NewBoard()
	return &tasks{folded{fold: b.Take, size: func() int { return len(b.Tasks) }}, b}
}

func (x *tasks) counts() []string {
	n := map[string]int{}
	for _, t := range x.board.Tasks {
		n[t.State()]++
	}
	done := fmt.Sprintf("%d of %s accepted", n[event.TaskAccepted], view.Several(int64(x.length()), "task"))
	if bad := n[event.TaskFailedFor] + n[event.TaskCancelled]; bad > 0 {
		return []string{done, fmt.Sprintf("%d failed or cancelled", bad)}
	}
	return []string{done}
}

// asked are the tasks that an agent works on.
func (x *tasks) asked(agent string) (out []string) {
	for _, t := range x.board.Tasks {
		if c := t.Card(); c.Worker == agent && c.State == view.TaskWorking {
			out = append(out, c.ID)
		}
	}
	return out
}

func (x *tasks) about(agent string) (facts []fact) {
	for _, t := range x.board.Tasks {
		if c := t.Card(); c.Worker == agent {
			facts = append(facts, fact{"task", c.ID + "  " + c.State + "  " + c.Goal})
		}
	}
	return facts
}

func (x *tasks) open(*Source) (tea.Cmd, string) {
	if x.chosen >= x.length() {
		return nil, "Nothing is planned yet."
	}
	t := x.board.Tasks[x.chosen]
	return told("Task "+line(t.Plan.ID), taskText(t)), ""
}

// taskText tells a task: what it is, and each run with what was found.
func taskText(t *view.Task) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s\n", Clean(t.Plan.Goal))
	say("state        %s", t.State())
	say("may change   %s", Clean(strings.Join(t.Plan.Scope.Include, ", ")))
	for _, c := range t.Plan.Acceptance {
		say("acceptance   %s", Clean(c))
	}
	for _, c := range t.Plan.Criteria {
		say("in words     %s", Clean(c))
	}
	for _, r := range t.Runs {
		kind := "run"
		if r.Repair {
			kind = "repair, run"
		}
		say("\n%s %d: %s, %s, %s", kind, r.Run, Clean(r.Executor), orNow(r.Outcome), view.Several(r.Commands, "command"))
		if r.Found != nil {
			for _, c := range r.Found.Changes {
				say("  %s %s  +%d -%d", c.Kind, Clean(c.Path), c.Added, c.Removed)
			}
			for _, o := range r.Found.Outside {
				say("  out of scope: %s (%s)", Clean(o.Path), Clean(o.Reason))
			}
		}
		for _, f := range r.Errors {
			say("  error (%s): %s", Clean(f.Category), Clean(f.Text.Text))
		}
		if r.After != nil {
			for _, c := range r.After.Commands {
				say("  %s: exit %d %s", Clean(c.Command), c.Exit, Clean(c.End))
			}
		}
		if r.Judged != nil {
			say("  the architect: %s. %s", Clean(r.Judged.Verdict), Clean(r.Judged.Reasons.Text))
		}
	}
	for _, q := range t.Asked {
		say("\n%s asks: %s\nthe architect: %s", Clean(q.Asker), Clean(q.Question.Text), Clean(q.Answer.Text))
	}
	if t.Ended != nil && t.Ended.Reason != "" {
		say("\n%s: %s", t.Ended.Status, Clean(t.Ended.Reason))
	}
	return b.String()
}

func orNow(outcome string) string {
	if outcome == "" {
		return "at work"
	}
	return outcome
}

func (x *tasks) list(m *Model, l layout) []string {
	inner := l.right - 2
	state := 9
	numbers := 5 + 12 // runs, lines
	name := max(inner-3-state-1-numbers, 8)
	row := func(mark, sign, id, is, runs, lines string) string {
		return mark + sign + " " + fit(id, name) + " " + fit(is, state) + right(runs, 5) + right(lines, 12)
	}
	rows := []string{faint.Render(row(" ", " ", "task", "state", "runs", "lines"))}
	from, to := around(x.chosen, x.length(), l.rows)
	for i := from; i < to; i++ {
		c := x.board.Tasks[i].Card()
		sign, style := taskSign(c.State)
		lines := ""
		if c.Files > 0 {
			lines = fmt.Sprintf("+%d -%d", c.Added, c.Removed)
		}
		rows = append(rows, row(m.mark(panelPane, i == x.chosen), style.Render(sign), line(c.ID)+"  "+line(c.Goal), line(c.State), some(int64(c.Handovers)), lines))
	}
	if x.length() == 0 {
		rows = append(rows, faint.Render("   Nothing is planned yet."))
	}
	return frame(bold.Render("Tasks"), place(from, to, x.length()), padded(rows, l.lists-2), l.right, m.focus == panelPane)
}

func taskSign(state string) (string, lipgloss.Style) {
	switch state {
	case event.TaskAccepted:
		return "●", green
	case event.TaskFailedFor:
		return "×", red
	case event.TaskCancelled:
		return "×", yellow
	case view.TaskWorking:
		return "▸", cyan
	case view.TaskToJudge:
		return "?", magenta
	}
	return "◌", faint
}
