package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lyceum/internal/event"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) diffCommand() *cobra.Command {
	var asJSON bool
	var page string
	cmd := &cobra.Command{
		Use:   "diff <a> <b>",
		Short: "Compare two quests: answers, steps, tools, evidence, cost, time",
		Long: `Compare two quests, each by its name or as an exported file. Steps are aligned by what
they mean, not by where they stand: times, seqs, and what a quest calls itself, its papers
and its commands do not count as differences. The similarity is 0.4 by the answer, 0.4 by
the steps and 0.2 by the tools; exactly 1 means that they are the same in these.

  lyceum diff primes primes-fork-1
  lyceum diff here there.zip --html difference.html`,
		Args: exactArgs(2, "two quests, each by its name or as an exported file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			left, err := a.runOf(ctx, args[0])
			if err != nil {
				return err
			}
			right, err := a.runOf(ctx, args[1])
			if err != nil {
				return err
			}
			d := view.Compare(left, right)
			if page != "" {
				if err := writeWhole(page, func(w io.Writer) error { return d.HTML(w) }); err != nil {
					return fmt.Errorf("write the comparison to %s: %w", page, err)
				}
				fmt.Fprintf(a.err, "Wrote %s.\n", printable(page))
			}
			if asJSON {
				return a.printJSON(d)
			}
			return a.printDiff(d)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&page, "html", "", "write a page that shows it to this file")
	return a.questArg(cmd)
}

// runOf reads one of the two.
func (a *app) runOf(ctx context.Context, arg string) (*view.Run, error) {
	rt, name, done, err := a.subject(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer done()
	return view.Read(arg, rt.Ledger.Read(ctx, name, 1), func(ref event.Ref) ([]byte, error) { return rt.Blob(ctx, ref) })
}

// How much of a comparison a terminal is shown. The rest is in --json and --html.
const (
	maxDiffLines = 200
	maxDiffSteps = 100
)

func (a *app) printDiff(d *view.Diff) error {
	left, right := oneLine(d.A.Name, 40), oneLine(d.B.Name, 40)
	s := d.Similarity
	fmt.Fprintf(a.out, "%s and %s\nsimilarity %s (0.4 answer %s, 0.4 steps %s, 0.2 tools %s)\n", left, right, s.Total, s.Answer, s.Steps, s.Tools)
	if d.Shared > 0 {
		fmt.Fprintf(a.out, "The first %s the same.\n", view.Several(int64(d.Shared), "event is", "events are"))
	}
	fmt.Fprintln(a.out)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\t%s\n", left, right)
	a.printSides(w, d)
	if err := w.Flush(); err != nil {
		return err
	}
	a.printText("spec", d.Spec, left, right)
	a.printText("answer", d.Answer, left, right)
	a.printSteps(d, left, right)
	return nil
}

func (a *app) printSides(w io.Writer, d *view.Diff) {
	row := func(name string, of func(view.Side) string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, oneLine(of(d.A), 60), oneLine(of(d.B), 60))
	}
	row("status", func(s view.Side) string { return s.Status })
	row("models", func(s view.Side) string { return strings.Join(s.Models, ", ") })
	row("seed", func(s view.Side) string { return s.Seed })
	row("turns", func(s view.Side) string { return fmt.Sprint(s.Turns) })
	row("tokens", func(s view.Side) string {
		return fmt.Sprintf("%s in, %s out", view.Number(s.Input), view.Number(s.Output))
	})
	row("cost", func(s view.Side) string {
		return view.Price(int64(s.Cost), s.Unpriced)
	})
	for _, t := range d.Tools {
		fmt.Fprintf(w, "tool %s\t%d\t%d\t%d with the same arguments\n", oneLine(t.Tool, 40), t.A, t.B, t.Same)
	}
	for _, l := range d.Latency {
		fmt.Fprintf(w, "time of %s\t%s\t%s\n", l.Kind, lasted(l.A), lasted(l.B))
	}
	o, e := d.Outputs, d.Evidence
	fmt.Fprintf(w, "outputs\t%d\t%d\t%d the same\n", o.Same+o.OnlyA, o.Same+o.OnlyB, o.Same)
	for _, ws := range o.Workspaces {
		fmt.Fprintf(w, "files of %s\t%s\t%s\t%s\n", oneLine(ws.Agent, 40), orDash(ws.A), orDash(ws.B), map[bool]string{true: "the same", false: "differ"}[ws.Same])
	}
	fmt.Fprintf(w, "evidence\t%d\t%d\t%s the same\n", e.Anchors.Same+e.Anchors.OnlyA, e.Anchors.Same+e.Anchors.OnlyB, view.Several(int64(e.Anchors.Same), "anchor"))
	fmt.Fprintf(w, "documents\t%d\t%d\t%d the same\n", e.Documents.Same+e.Documents.OnlyA, e.Documents.Same+e.Documents.OnlyB, e.Documents.Same)
}

func orDash(hash string) string {
	if hash == "" {
		return "-"
	}
	return hash[:min(len(hash), 12)]
}

func lasted(l view.Lasted) string {
	if l.Count == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms (%d, median %.1f ms)", float64(l.Sum)/1000, l.Count, float64(l.Median)/1000)
}

// printText prints how two texts differ, as patches are written.
func (a *app) printText(what string, d view.TextDiff, left, right string) {
	switch {
	case !d.A && !d.B:
		fmt.Fprintf(a.out, "\nNeither has an %s.\n", what)
		return
	case d.Same:
		fmt.Fprintf(a.out, "\nThe %s is the same.\n", what)
		return
	case !d.A:
		fmt.Fprintf(a.out, "\nOnly %s has an %s:\n", right, what)
	case !d.B:
		fmt.Fprintf(a.out, "\nOnly %s has an %s:\n", left, what)
	default:
		fmt.Fprintf(a.out, "\nThe %s differs:\n", what)
	}
	fmt.Fprintf(a.out, "--- %s\n+++ %s\n", left, right)
	n := 0
	for line := range strings.Lines(d.Unified) {
		if n++; n > maxDiffLines {
			fmt.Fprintln(a.out, "… the rest is in --json and --html")
			return
		}
		fmt.Fprintln(a.out, printable(strings.TrimSuffix(line, "\n")))
	}
}

// printSteps lists the steps that are not the same.
func (a *app) printSteps(d *view.Diff, left, right string) {
	s := d.Steps
	fmt.Fprintf(a.out, "\nSteps: %d the same, %d changed, %d only in %s (-), %d only in %s (+)\n", s.Same, s.Changed, s.OnlyA, left, s.OnlyB, right)
	same, printed := 0, 0
	skip := func() {
		if same > 0 {
			fmt.Fprintf(a.out, "    … %d the same\n", same)
		}
		same = 0
	}
	for i, p := range s.Pairs {
		if p.Mark == view.Same {
			same++
			continue
		}
		skip()
		if printed++; printed > maxDiffSteps {
			fmt.Fprintf(a.out, "    … %s in --json and --html\n", view.Several(int64(len(s.Pairs)-i), "more step is", "more steps are"))
			return
		}
		switch p.Mark {
		case view.OnlyA:
			fmt.Fprintf(a.out, "  - %s\n", stepLine(p.A))
		case view.OnlyB:
			fmt.Fprintf(a.out, "  + %s\n", stepLine(p.B))
		default:
			fmt.Fprintf(a.out, "  ~ %s\n    %s (other %s)\n", stepLine(p.A), stepLine(p.B), strings.Join(p.Differs, ", "))
		}
	}
	skip()
}

func stepLine(s *view.Step) string {
	what := s.Kind
	if s.Tool != "" {
		what += " " + s.Tool
	}
	if s.Failed {
		what += " failed"
	}
	return fmt.Sprintf("%6d %-10s %s: %s", s.Seq, oneLine(s.Actor, 20), oneLine(what, 40), oneLine(s.Text, 100))
}
