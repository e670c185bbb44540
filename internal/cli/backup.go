package cli

import (
	"fmt"

	"lyceum/internal/backup"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) backupCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup <folder|file.tar>",
		Short: "Copy this home, also while quests run in it",
		Long: `Copy the whole home as it is at one moment, while quests and servers go on. The
copy is a home: lyceum --home <folder> works on it, and to restore it is to move it
to where the home was. With a name that ends with .tar it is one file, to be unpacked
into a new folder.

Not in a backup are caches, the server's token and tokens that were made for it, and
what stands for processes. Quests that run are in it as they stood; workspaces as last
recorded, and as they are where nobody runs the quest.

Where ledgers or blobs are elsewhere (docs/cluster.md), they are brought along: the copy
is a home of files, with each quest as it is at one moment. lyceum restore brings it back
into a ledger of either kind.

  lyceum backup /mnt/disk/lyceum-monday
  lyceum --home /mnt/disk/lyceum-monday verify primes`,
		Args: exactArgs(1, "a folder or a file.tar that is not there yet"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(false); err != nil {
				return err
			}
			rep, err := backup.Make(cmd.Context(), a.rt, args[0], a.backupProgress(asJSON))
			if err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(rep); err != nil {
					return err
				}
			} else {
				a.printBackup(rep)
			}
			if len(rep.Damaged) > 0 {
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// backupProgress says every two seconds how far a backup is.
func (a *app) backupProgress(quiet bool) backup.Progress {
	if quiet {
		return nil
	}
	return a.progress("backup")
}

// progress says every two seconds how far a command is.
func (a *app) progress(command string) backup.Progress {
	last := runtime.SystemClock()
	return func(what string, done, all int64) {
		if runtime.SystemClock()-last < 2_000_000 {
			return
		}
		last = runtime.SystemClock()
		switch {
		case what == "ledgers":
			fmt.Fprintf(a.err, "%s: %s, %d of %d MiB\n", command, what, done>>20, all>>20)
		case all > 0:
			fmt.Fprintf(a.err, "%s: %s, %d of %d\n", command, what, done, all)
		default:
			fmt.Fprintf(a.err, "%s: %s, %d\n", command, what, done)
		}
	}
}

func (a *app) printBackup(r *backup.Report) {
	fmt.Fprintf(a.out, "Backed up %s (%s, %s, %d KiB) to %s.\n", view.Several(int64(r.Quests), "quest"), view.Several(int64(r.Events), "event"), view.Several(int64(r.Blobs), "blob"), (r.Bytes+1023)>>10, printable(r.Backup))
	for _, w := range r.Workspaces {
		fmt.Fprintf(a.out, "The workspace of %s is not as recorded: it was copied as it is.\n", printable(w))
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(a.out, "Left out: %s\n", printable(l))
	}
	for _, d := range r.Damaged {
		fmt.Fprintf(a.out, "Damaged in the home, and so in the backup: %s\n", printable(d))
	}
	if len(r.Damaged) > 0 {
		fmt.Fprintln(a.out, "Everything else is there. Look for an older backup of what is damaged.")
	}
}
