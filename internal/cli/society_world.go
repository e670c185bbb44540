package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// worlds is how the work of a maker is shown: by its attempts.
type worlds struct{ alone }

// describe adds what was made, and what came of it.
func (worlds) describe(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	m, err := a.making(ctx, q.Quest, s.Seq)
	if err == nil {
		q.Attempts = m.Cards()
	}
	return err
}

// making folds a quest's ledger, up to an event.
func (a *app) making(ctx context.Context, name string, last uint64) (*view.Making, error) {
	m := view.NewMaking()
	for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		if e.Seq > last {
			break
		}
		m.Take(e)
	}
	return m, nil
}

// result says what was made, the answer first.
func (x worlds) result(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if err := x.alone.result(ctx, a, q, s); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	return a.printAttempts(q)
}

// ended says the answer, and what became of each attempt.
func (x worlds) ended(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if err := x.alone.ended(ctx, a, q, s); err != nil {
		return err
	}
	return a.printAttempts(q)
}

// printAttempts prints the attempts as a table, and below it what stood in the way of each.
func (a *app) printAttempts(q *questJSON) error {
	if len(q.Attempts) == 0 {
		fmt.Fprint(a.out, "Nothing was proposed yet.\n\n")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ATTEMPT\tSTATE\tTIER\tREWARD\tTRIES\tSURPRISE\tINTENT")
	passed := int64(0)
	for i := range q.Attempts {
		c := &q.Attempts[i]
		tier := "-"
		if c.Tier > 0 {
			tier = fmt.Sprintf("%d %s", c.Tier, oneLine(c.Verdict, 20))
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\t%s\n", c.Number, c.State, tier, parts(c.Reward, 1000), c.Tries, parts(c.Surprise, 1_000_000), oneLine(c.Intent, 60))
		if c.State == view.AttemptPassed {
			passed = c.Number
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range q.Attempts {
		if c := &q.Attempts[i]; c.Why != "" {
			fmt.Fprintf(a.out, "%d: %s\n", c.Number, oneLine(c.Why, 300))
		}
	}
	if passed > 0 {
		fmt.Fprintf(a.out, "Look at it with: lyceum preview %s %d\n", q.Quest, passed)
	}
	fmt.Fprintln(a.out)
	return nil
}

// parts is a number of so many parts of one, or that there is none.
func parts(n *int64, of float64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(*n)/of)
}
