package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// modeJSON is a mode in which a quest can work.
type modeJSON struct {
	Mode    string `json:"mode"`
	Name    string `json:"name"`
	About   string `json:"about"`
	Current bool   `json:"current"`
}

func (a *app) modeCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mode <quest> [mode]",
		Short: "Say in which modes a quest can work, or have it work in another",
		Example: `  lyceum mode fix-the-parser
  lyceum mode fix-the-parser approve`,
		Args: rangeArgs(1, 2, "a quest's name, and a mode to set one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.listModes(cmd, args[0], asJSON)
			}
			s, err := a.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			_, running, err := a.post(cmd.Context(), args[0], s.ModeOrder(args[1]))
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.listModes(cmd, args[0], asJSON)
			case running || a.lookedAfter(cmd.Context(), args[0]):
				fmt.Fprintf(a.out, "Told the process that runs %s.\n", args[0])
			default:
				fmt.Fprintf(a.out, "Recorded. It takes effect when the quest runs: lyceum run %s\n", args[0])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the modes as JSON")
	return a.questArg(cmd)
}

func (a *app) listModes(cmd *cobra.Command, name string, asJSON bool) error {
	s, err := a.load(cmd.Context(), name)
	if err != nil {
		return err
	}
	modes, now, err := a.rt.Modes(cmd.Context(), name, s)
	if err != nil {
		return err
	}
	list := []modeJSON{}
	for _, m := range modes {
		list = append(list, modeJSON{m.ID, m.Name, m.About, m.ID == now})
	}
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		fmt.Fprintf(a.out, "Quest %s has no modes: its society, %s, works in one way.\n", name, s.Society())
	}
	for _, m := range list {
		fmt.Fprintf(a.out, "%s %-9s %s. %s.\n", map[bool]string{true: "*", false: " "}[m.Current], m.Mode, m.Name, m.About)
	}
	return nil
}
