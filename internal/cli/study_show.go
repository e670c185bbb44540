package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/conduct"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/survey"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) studyShowCommand() *cobra.Command {
	var asJSON bool
	var cells []string
	cmd := &cobra.Command{
		Use:   "show <study>",
		Short: "The table of a study: answers, agreement, cost, time",
		Args:  exactArgs(1, "a study's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.studies(false)
			if err != nil {
				return err
			}
			v, err := seen(cmd.Context(), m, args[0])
			if err != nil {
				return err
			}
			if len(cells) > 0 {
				if err := a.whole(cmd.Context(), v, cells); err != nil {
					return err
				}
			}
			if asJSON {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "%s\n\n", printable(v.Question))
			if len(cells) > 0 {
				a.sideBySide(v)
				return nil
			}
			a.studyTable(v)
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&cells, "cells", nil, "the whole answers of these cells, side by side: numbers or ranges, such as 1,4,7..9")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// whole leaves the cells that are wanted, with their answers whole.
func (a *app) whole(ctx context.Context, v *survey.View, cells []string) error {
	wanted := &survey.Draft{} // ranges of numbers are written as those of seeds
	for _, text := range cells {
		if err := wanted.AddSeeds(text); err != nil {
			return usagef("--cells: %w", err)
		}
	}
	for _, n := range wanted.Seeds {
		if !slices.ContainsFunc(v.Rows, func(r survey.Row) bool { return fmt.Sprint(r.Cell) == n }) {
			return usagef("--cells: study %s has no cell %s; it has %d", v.Study, n, v.Cells)
		}
	}
	v.Rows = slices.DeleteFunc(v.Rows, func(r survey.Row) bool { return !slices.Contains(wanted.Seeds, fmt.Sprint(r.Cell)) })
	for i := range v.Rows {
		r := &v.Rows[i]
		if r.Events == 0 {
			continue // there is no quest yet, or none of the study's
		}
		q, err := a.rt.Load(ctx, r.Quest)
		if errors.Is(err, ledger.ErrNoQuest) {
			continue // somebody has removed it
		} else if err != nil {
			return err
		}
		if q.Answer == nil {
			continue
		}
		if r.Text, err = agent.Read(*q.Answer, func(ref event.Ref) ([]byte, error) { return a.rt.Blob(ctx, ref) }); err != nil {
			return err
		}
	}
	return nil
}

// sideBySide prints the cells of a study in columns.
func (a *app) sideBySide(v *survey.View) {
	var texts []string
	for _, r := range v.Rows {
		head := fmt.Sprintf("Cell %d: %s, %s, seed %s\n%s, %s, $%s, %s\n", r.Cell, oneLine(r.Society, 40), oneLine(r.Model, 60), r.Seed, r.Quest, oneLine(r.State, 20), r.CostUSD, rounded(r.Seconds))
		if r.Group > 0 {
			head += fmt.Sprintf("%d of %s say so\n", r.Same, view.Several(int64(v.Answered), "answer"))
		}
		texts = append(texts, head+"\n"+firstOfTexts(r.Text, r.Answer, r.Reason))
	}
	width, _ := a.paperLook(false)
	fmt.Fprint(a.out, printable(tui.Beside(texts, width)))
}

// rounded is a time as people read it. Files and JSON have it whole.
func rounded(s survey.Seconds) string {
	d := time.Duration(s) * time.Microsecond
	if d = d.Round(100 * time.Millisecond); d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// seen is a study as it stands.
func seen(ctx context.Context, m *conduct.Studies, name string) (*survey.View, error) {
	s, err := m.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	running, err := m.Running(name)
	return s.View(running), err
}

// studyTable prints a study for people.
func (a *app) studyTable(v *survey.View) {
	t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "CELL\tSOCIETY\tMODEL\tSEED\tSTATE\tANSWER\tSAME\tCOST\tTIME\tQUEST")
	for _, r := range v.Rows {
		same := ""
		if r.Group > 0 {
			same = fmt.Sprintf("%d of %d", r.Same, v.Answered)
		}
		cost, took := "", ""
		if r.State != survey.Waits && r.State != survey.Runs {
			cost, took = "$"+r.CostUSD, rounded(r.Seconds)
		}
		if r.Unpriced > 0 {
			cost = "at least " + cost
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Cell, oneLine(r.Society, 24), oneLine(r.Model, 40), r.Seed, oneLine(r.State, 20), oneLine(firstOfTexts(r.Answer, r.Reason), 48), same, cost, took, r.Quest)
	}
	_ = t.Flush() // as of any other printing, an error of the output is the reader's
	fmt.Fprintln(a.out)
	for _, g := range v.Answers {
		fmt.Fprintf(a.out, "%d of %s: %s\n", len(g.Cells), view.Several(int64(v.Answered), "answer"), oneLine(g.Answer, 120))
	}
	fmt.Fprintf(a.out, "Study %s is %s: %d of %s over, %d with an answer. Cost $%s of $%s, of which $%s is allotted.\n", v.Study, v.State, v.Observed, view.Several(int64(v.Cells), "quest"), v.Answered, v.CostUSD, v.BudgetUSD, v.AllottedUSD)
}

func (a *app) studyListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The studies there are",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []survey.Outline{}
			m, err := a.studies(false)
			if err != nil && !errors.Is(err, conduct.ErrNone) && !isNoHome(err) {
				return err
			}
			if err == nil {
				names, err := m.Names(cmd.Context())
				if err != nil {
					return err
				}
				for _, n := range names {
					v, err := seen(cmd.Context(), m, n.Name)
					if err != nil {
						return err
					}
					all = append(all, v.Outline)
				}
			}
			if asJSON {
				return a.printJSON(all)
			}
			if len(all) == 0 {
				fmt.Fprintln(a.err, "There are no studies yet. Make one with: lyceum study new")
				return nil
			}
			t := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(t, "STUDY\tSTATE\tOVER\tANSWERS\tCOST\tBUDGET\tQUESTION")
			for _, o := range all {
				fmt.Fprintf(t, "%s\t%s\t%d of %d\t%d\t$%s\t$%s\t%s\n", o.Study, o.State, o.Observed, o.Cells, len(o.Answers), o.CostUSD, o.BudgetUSD, oneLine(o.Question, 60))
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
