package cli

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/backup"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) restoreCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore <folder|file.tar>",
		Short: "Bring a backup into an empty ledger, as a copy that runs nothing yet",
		Long: `Bring the quests of a backup, with their blobs, what was said to them and what was signed
of them, into the ledger of this home, or the one that --ledger names, which must have
none. Each is verified there. One that was killed is given again and goes on.

What is there then is a copy: it can be read, proved and exported, and runs nothing, for
the ledger that the backup was made of may still run. lyceum take-over ends that.

Other files of the home, such as config.yaml, keys and skills, are in the backup as they
were: copy what you need. To have a home of files back as it was, move the folder to
where the home was instead.

  lyceum --ledger postgres://ada@db.example.org/lyceum restore /mnt/disk/lyceum-monday
  lyceum --ledger postgres://ada@db.example.org/lyceum take-over`,
		Args: exactArgs(1, "a folder or a file.tar that lyceum backup made"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			var progress backup.Progress
			if !asJSON {
				progress = a.progress("restore")
			}
			rep, err := backup.Restore(cmd.Context(), a.rt, args[0], func(name string) (bool, error) { return a.holds(cmd.Context(), name) }, progress)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(rep)
			} else {
				a.printRestored(rep)
			}
			if err == nil && len(rep.Damaged) > 0 {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// holds proves a quest; judged is false if this program does not have its rules.
func (a *app) holds(ctx context.Context, name string) (judged bool, err error) {
	rep, err := audit.Verify(ctx, a.rt, name, nil)
	if _, other := errors.AsType[*quest.UnknownRulesError](err); other {
		return false, nil
	}
	if err == nil && rep.Difference != nil {
		err = rep.Difference
	}
	return true, err
}

func (a *app) printRestored(r *backup.Restored) {
	fmt.Fprintf(a.out, "Restored %s (%s brought) from %s.\n", view.Several(int64(r.Quests), "quest"), view.Several(int64(r.Events), "event"), printable(r.From))
	for _, q := range r.Unproved {
		fmt.Fprintf(a.out, "%s is there as it was; this Lyceum does not have its rules and cannot replay it.\n", q)
	}
	for _, d := range r.Damaged {
		fmt.Fprintf(a.out, "Damaged in the backup: %s\n", printable(d))
	}
	fmt.Fprintln(a.out, "It is a copy, and runs nothing. When the ledger that it was made of runs no more: lyceum take-over")
}

func (a *app) takeOverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "take-over",
		Short: "Have a restored copy take the place of the ledger that it was made of",
		Long: `Let quests run in a ledger that lyceum restore made. Be sure that the ledger of which the
backup was made runs no more, and never will: two that go on with the same quest ask
models twice, and people hear two voices of it. Nothing starts by itself; run what is to
go on, or say something to it.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.open(false); err != nil {
				return err
			}
			c, err := a.rt.TakeOver(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "This ledger goes on, in place of the one that %s was made of. Nothing runs by itself: lyceum list says what there is.\n", printable(c.From))
			return nil
		},
	}
}
