package cli

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/ledger"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) cleanCommand() *cobra.Command {
	var data, artifacts, yes bool
	cmd := &cobra.Command{
		Use:   "clean <quest>",
		Short: "Remove a quest's workspaces; with --data, the quest and all its records",
		Long: "Remove the workspaces of a quest; they are restored from the ledger when it runs.\n\n" +
			"With --artifacts the workspaces stay, and the files go that executors listed in the manifests\nof runs that were not accepted, as far as nothing else needs them; without a name, of every\nquest. An event says so first, and verify tells what has expired from what is lost.\n\n" +
			"With --data the quest itself goes, and everything recorded about it.",
		Args: func(cmd *cobra.Command, args []string) error {
			if artifacts && len(args) == 0 {
				return nil
			}
			return exactArgs(1, "a quest's name")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if artifacts && data {
				return usagef("with --data all of the quest goes, its artifacts too: leave --artifacts out")
			}
			if artifacts {
				return a.cleanArtifacts(ctx, args)
			}
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := a.open(false); err != nil {
				return err
			}
			if _, err := a.rt.Ledger.Head(ctx, args[0]); err != nil {
				return err
			}
			if data && !yes {
				sure, err := a.confirm(ctx, fmt.Sprintf("Remove quest %s and everything recorded about it? This cannot be undone. [y/N] ", args[0]))
				if err != nil {
					return err
				}
				if !sure {
					return usagef("nothing was removed; to go ahead without asking: lyceum clean %s --data --yes", args[0])
				}
			}
			if err := a.rt.Clean(ctx, args[0], data); err != nil {
				return err
			}
			if !data {
				fmt.Fprintf(a.out, "Removed the workspaces of %s. They are restored from the ledger when it runs.\n", args[0])
				return nil
			}
			fmt.Fprintf(a.out, "Removed quest %s.\n", args[0])
			return a.collect(ctx)
		},
	}
	cmd.Flags().BoolVar(&data, "data", false, "remove the quest itself")
	cmd.Flags().BoolVar(&artifacts, "artifacts", false, "drop the artifacts of runs that were not accepted, and nothing else")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return a.questArg(cmd)
}

// cleanArtifacts drops the artifacts of a quest that nobody accepted, or of all quests. Of all,
// those that somebody runs are left out.
func (a *app) cleanArtifacts(ctx context.Context, names []string) error {
	every := len(names) == 0
	if !every {
		if err := checkName(names[0]); err != nil {
			return err
		}
	}
	if err := a.open(false); err != nil {
		return err
	}
	if every {
		heads, err := a.rt.Ledger.Quests(ctx)
		if err != nil {
			return err
		}
		for _, h := range heads {
			names = append(names, h.Quest)
		}
	}
	dropped := false
	for _, name := range names {
		if _, err := a.rt.Ledger.Head(ctx, name); err != nil {
			return err
		}
		gone, err := a.rt.DropArtifacts(ctx, name)
		if every && errors.Is(err, ledger.ErrClaimed) {
			fmt.Fprintf(a.out, "%s is left as it is: somebody runs it.\n", name)
			continue
		}
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			dropped = true
			fmt.Fprintf(a.out, "%s no longer keeps %s.\n", name, view.Several(int64(len(gone)), "artifact"))
		}
	}
	if !dropped && !a.rt.Garbage() {
		fmt.Fprintln(a.out, "There are no artifacts to drop.")
		return nil
	}
	return a.collect(ctx)
}
