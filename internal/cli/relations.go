package cli

import (
	"fmt"

	"lyceum/internal/relation"

	"github.com/spf13/cobra"
)

func (a *app) relationsCommand() *cobra.Command {
	var asJSON bool
	var at uint64
	cmd := &cobra.Command{
		Use:   "relations <quest>",
		Short: "Show what agents noted about how things belong together",
		Long: `What the agents of a quest with relations: true have noted with the tool relate: plans, steps, files,
each below what it is part of, with its status. With --at, as it was after an event.`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := a.open(false); err != nil {
				return err
			}
			s, err := a.rt.At(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			g := &relation.Graph{}
			if s.Related != nil {
				g = &s.Related.Graph
			}
			if asJSON {
				return a.printJSON(append([]relation.Node{}, g.Nodes...))
			}
			const all = 1 << 30
			lines, _ := g.Lines(g.Walk("", relation.Down), all)
			for _, l := range lines {
				fmt.Fprintln(a.out, printable(l))
			}
			if len(lines) == 0 {
				fmt.Fprintf(a.out, "The agents of %s have noted nothing.\n", args[0])
			}
			return nil
		},
	}
	cmd.Flags().Uint64Var(&at, "at", 0, "as it was after this event")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return a.questArg(cmd)
}
