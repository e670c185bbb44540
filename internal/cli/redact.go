package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) redactCommand() *cobra.Command {
	var what runtime.Redaction
	var hash string
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "redact <quest> --blob HASH | --text '…' | --event SEQ",
		Short: "Take a leaked secret or somebody's data out of a quest",
		Long: `Take blobs out of a quest and out of the store: long texts, attached files, outputs of commands, files of
workspaces. An event says so, and why; the hashes stay where they are, so that all else still verifies, and verify tells
what was redacted from what is lost. Exported quests hold the redaction and not the bytes.

Short texts stand in the events themselves (up to some kilobytes), and those cannot be changed without
breaking the chain. --text says which events hold it, and the exit code is then 1: fork the quest before the first of
them, and remove it with lyceum clean --data. What quests are made of, and whatever rules or programs read, cannot be
redacted either. What other quests of the home hold, too, such as forks, is refused with their names, or taken out of all of
them with --everywhere. Copies elsewhere (backups, crates, the history in
the quest's own git repository, the homes of agents) are yours to remove.

  lyceum redact primes --text 'AKIA…' --why 'a key that leaked; it was revoked'`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			if err := checkName(args[0]); err != nil {
				return err
			}
			if strings.TrimSpace(what.Why) == "" {
				return usagef("say --why: it stands in the record for whoever misses what was taken out")
			}
			if hash != "" {
				if what.Blob, err = event.ParseHash(strings.TrimPrefix(hash, "sha256:")); err != nil {
					return usagef("--blob: %w", err)
				}
			}
			if err := a.open(false); err != nil {
				return err
			}
			if a.rt.Lingers() > 0 {
				return errLingers
			}
			if _, err := a.rt.Ledger.Head(ctx, args[0]); err != nil {
				return err
			}
			if !yes {
				sure, err := a.confirm(ctx, "Take it out of the record for good? This cannot be undone. [y/N] ")
				if err != nil {
					return err
				}
				if !sure {
					return usagef("nothing was taken out; to go ahead without asking: --yes")
				}
			}
			done, err := a.takeOut(ctx, args[0], what)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(redactedJSON{args[0], append([]event.Hash{}, done.Blobs...), append([]uint64{}, done.Events...), done.Others})
			} else {
				a.printRedacted(args[0], done)
			}
			if err == nil && (len(done.Events) > 0 || len(done.Blobs) == 0) {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().StringVar(&hash, "blob", "", "the `HASH` of the blob")
	cmd.Flags().StringVar(&what.Text, "text", "", "every blob that holds this text, to the letter")
	cmd.Flags().Uint64Var(&what.Seq, "event", 0, "every blob that the event `SEQ` names and that can be taken out")
	cmd.Flags().BoolVar(&what.Everywhere, "everywhere", false, "also take it out of the other quests that hold it")
	cmd.Flags().StringVar(&what.Why, "why", "", "why, for the record")
	cmd.Flags().StringVar(&what.By, "by", "", "who has it done, for the record")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	exclusive(cmd, "blob", "text", "event")
	cmd.MarkFlagsOneRequired("blob", "text", "event")
	return a.questArg(cmd)
}

// errLingers refuses to call something gone that is not.
var errLingers = errors.New("redact: this home shares its ledger or its blobs with others, and those keep what was put in the last day: the bytes would still be there. " +
	"Nothing was changed. Take the quest to a home that shares nothing (lyceum export, then lyceum --home <folder> --ledger home import), redact it there, and remove it here with lyceum clean --data")

// takeOut redacts, and removes the bytes: also those of a redaction that was killed before.
func (a *app) takeOut(ctx context.Context, name string, what runtime.Redaction) (*runtime.Redacted, error) {
	done, err := a.rt.TakeOut(ctx, name, what)
	if err != nil || len(done.Blobs) == 0 && !a.rt.Garbage() {
		return done, err
	}
	if err := a.collect(ctx); err != nil {
		return nil, err
	}
	for _, quest := range append([]string{name}, done.Others...) {
		s, err := a.rt.Load(ctx, quest)
		if err != nil {
			return nil, err
		}
		if err := a.rt.WriteFolder(ctx, quest, s); err != nil {
			return nil, fmt.Errorf("it is taken out; write the folder of quest %s again: %w", quest, err)
		}
	}
	return done, nil
}

func (a *app) printRedacted(name string, done *runtime.Redacted) {
	also := ""
	if len(done.Others) > 0 {
		also = ", and of " + strings.Join(done.Others, ", ")
	}
	fmt.Fprintf(a.out, "Redacted %s of %s%s.\n", view.Several(int64(len(done.Blobs)), "blob"), name, also)
	for _, h := range done.Blobs {
		fmt.Fprintf(a.out, "  %s\n", h)
	}
	for _, seq := range done.Events {
		fmt.Fprintf(a.out, "Event %d holds it itself, and cannot be changed: see lyceum redact --help.\n", seq)
	}
}

// redactedJSON is what redact prints for programs.
type redactedJSON struct {
	Quest string       `json:"quest"`
	Blobs []event.Hash `json:"blobs"`
	// Events hold the text themselves.
	Events []uint64 `json:"events"`
	// Others are the quests that it was taken out of besides.
	Others []string `json:"others,omitempty"`
}
