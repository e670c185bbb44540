package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// architects is how the work of an architect is shown: by its tasks.
type architects struct{ alone }

func (architects) crowded() bool { return true }

// describe adds what is planned, and what became of it.
func (architects) describe(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	b, err := a.board(ctx, q.Quest, s.Seq)
	if err == nil {
		q.Work = b.List()
	}
	return err
}

// board folds a quest's ledger, up to an event.
func (a *app) board(ctx context.Context, name string, last uint64) (*view.Board, error) {
	b := view.NewBoard()
	for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		if e.Seq > last {
			break
		}
		b.Take(e)
	}
	return b, nil
}

// result says what was planned and what became of it, the answer first.
func (x architects) result(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if q.Answer != nil {
		fmt.Fprintf(a.out, "Answer\n\n%s\n\n", indent(a.typeset(*q.Answer, 2)))
	}
	return a.printTasks(q.Work)
}

// ended says the answer, and what became of each task.
func (x architects) ended(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if err := x.alone.ended(ctx, a, q, s); err != nil {
		return err
	}
	return a.printTasks(q.Work)
}

// printTasks prints the board as a table, and below it what was put together.
func (a *app) printTasks(list *view.TaskList) error {
	if list == nil || len(list.Tasks) == 0 {
		fmt.Fprint(a.out, "Nothing is planned yet.\n\n")
		return nil
	}
	if list.Plan != nil && list.Plan.Approved == 0 {
		fmt.Fprint(a.out, "The plan is proposed, and nobody has said yes to it.\n\n")
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tSTATE\tEXECUTOR\tRUNS\tREPAIRS\tFILES\tLINES\tTESTS\tGOAL")
	for i := range list.Tasks {
		t := &list.Tasks[i]
		state := t.State
		if t.Error != "" && t.State != event.TaskAccepted {
			state += " (" + t.Error + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t+%d -%d\t%s\t%s\n", oneLine(t.ID, 40), oneLine(state, 40), oneLine(cmp.Or(t.Executor, "-"), 30), t.Handovers, t.Repairs, t.Files, t.Added, t.Removed, tests(t), oneLine(t.Goal, 60))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range list.Tasks {
		if t := &list.Tasks[i]; t.Reason != "" && t.State != event.TaskAccepted {
			fmt.Fprintf(a.out, "%s: %s\n", oneLine(t.ID, 40), oneLine(t.Reason, 200))
		}
	}
	for _, m := range list.Merges {
		fmt.Fprintln(a.out, oneLine(mergeWords(m), 300))
	}
	if list.Whole != nil && list.Whole.Seq > 0 {
		what := "fail on"
		if list.Whole.Good() {
			what = "succeed on"
		}
		fmt.Fprintf(a.out, "The acceptance commands %s all that was made.\n", what)
	}
	fmt.Fprintln(a.out)
	return nil
}

// tests says how acceptance went before and after.
func tests(t *view.TaskCard) string {
	if t.Before == "" && t.Passed == "" {
		return "-"
	}
	return cmp.Or(t.Before, "-") + " → " + cmp.Or(t.Passed, "-")
}

// mergeWords says what came of putting tasks together.
func mergeWords(m *view.Merge) string {
	of := strings.Join(m.Tasks, ", ")
	switch {
	case m.Seq == 0:
		return "put together now: " + of
	case m.Error.Len() > 0:
		return "cannot be put together: " + of + ": " + m.Error.Text
	case len(m.Conflicts) > 0:
		return fmt.Sprintf("does not fit together, and the base stays: %s: %s (%s)", of, m.Conflicts[0].Path, m.Conflicts[0].Reason)
	}
	return fmt.Sprintf("put together: %s, %s changed", of, view.Several(m.Files, "file"))
}
