package cli

import (
	"cmp"
	"context"
	"fmt"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools <quest.yaml | quest>",
		Short: "Say which tools agents would get, or have, and why",
		Long: `Of a quest.yaml: which tools its agents would be shown before their first turn, and why.
Nothing is made; servers that can be reached without a computer are asked for their tools.
With --intent, tools are chosen for that instead of the question.

Of a quest: which tools its agents have by now, and how they came by them.`,
		Args: exactArgs(1, "a quest.yaml, or a quest's name"),
	}
	a.foresees(cmd, a.printTools)
	return a.questArg(cmd)
}

// foresees has a command say what agents of its argument would have, or have, in its own words. Without
// an argument it says how it is used.
func (a *app) foresees(cmd *cobra.Command, printed func(*runtime.Foreseen)) {
	var asJSON bool
	var intent string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		f, err := a.foreseen(cmd.Context(), args[0], intent)
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(f)
		}
		printed(f)
		return nil
	}
	cmd.Flags().StringVar(&intent, "intent", "", "what agents want to do, in place of the question of a quest.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
}

func (a *app) foreseen(ctx context.Context, arg, intent string) (*runtime.Foreseen, error) {
	if !isFile(arg) && !isThere(arg) {
		if intent != "" {
			return nil, usagef("--intent goes with a quest.yaml; a quest's agents search by themselves")
		}
		if err := checkName(arg); err != nil {
			return nil, err
		}
		if err := a.open(false); err != nil {
			return nil, err
		}
		return a.rt.Shown(ctx, arg)
	}
	d, err := draftOfFile(ctx, arg)
	if err != nil {
		return nil, err
	}
	plan, err := a.plan(ctx, d, &specFlags{given: func(string) bool { return false }}, quest.Bounds{})
	if err != nil {
		return nil, err
	}
	if err := a.open(true); err != nil {
		return nil, err
	}
	return a.rt.Foresee(ctx, plan, intent)
}

func (a *app) printTools(f *runtime.Foreseen) {
	for _, s := range f.Servers {
		if s.Error != "" {
			fmt.Fprintf(a.out, "server %s (%s): %s\n", printable(s.Name), s.Kind, printable(s.Error))
			continue
		}
		fmt.Fprintf(a.out, "server %s (%s): %s", printable(s.Name), s.Kind, view.Several(int64(s.Tools), "tool"))
		if s.Resources+s.Prompts > 0 {
			fmt.Fprintf(a.out, ", %s, %s", view.Several(int64(s.Resources), "resource"), view.Several(int64(s.Prompts), "prompt"))
		}
		fmt.Fprintln(a.out)
	}
	for _, g := range f.Agents {
		name := g.Agent
		if g.Count > 1 {
			name = fmt.Sprintf("%s (%d of them)", name, g.Count)
		}
		fmt.Fprintf(a.out, "\n%s: %s\n", printable(name), view.Several(int64(len(g.Tools)), "tool"))
		for _, t := range g.Tools {
			fmt.Fprintf(a.out, "  %-40s %-20s %-9s %s\n", printable(t.Name), cmp.Or(printable(t.Source), "lyceum"), t.Trust, printable(t.Why))
		}
		for _, b := range g.Beside {
			fmt.Fprintf(a.out, "  %-8s %s of %s: %s\n", b.Kind, printable(b.Name), printable(b.Server), printable(b.Says))
		}
		for _, l := range g.LeftOut {
			fmt.Fprintf(a.out, "  left out: %s: %s\n", printable(l.Name), printable(l.Why))
		}
		switch {
		case g.Doubt != "":
			fmt.Fprintf(a.out, "  found by words alone: %s\n", printable(g.Doubt))
		case f.Discover && g.Embedder == "":
			fmt.Fprintln(a.out, "  found by words alone")
		}
	}
}
