package cli

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/vouch"

	"github.com/spf13/cobra"
)

// verdictJSON is what checkpoints --json prints.
type verdictJSON struct {
	Quest string `json:"quest"`
	Words string `json:"words"`
	*proof.Verdict
}

func (a *app) checkpointsCommand() *cobra.Command {
	var asJSON, sign, note bool
	cmd := &cobra.Command{
		Use:   "checkpoints <quest|file.zip>",
		Short: "Who vouches for a quest: signatures, witnesses, time stamps",
		Long: `List the checkpoints of a quest: who signed that its first events are these, which witnesses
cosigned that, and which authority says when it was shown it. Each holds or does not, and the
last line says what is known. Exits 1 if one does not hold: somebody signed other events.

Believed are the keys of this home, those of lyceum key trust, and the witnesses and
certificates of config.yaml. With --sign the quest is signed as it is now, and witnesses and
the authority are asked and waited for.`,
		Args: exactArgs(1, "a quest's name or an exported file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if sign && strings.HasSuffix(args[0], ".zip") {
				return usagef("--sign: an exported file is signed by whoever exported it")
			}
			if sign {
				if err := a.open(false); err != nil {
					return err
				}
			}
			rt, name, done, err := a.subject(ctx, args[0])
			if err != nil {
				return err
			}
			defer done()
			if a.config == nil {
				if err := a.configure(); err != nil {
					return err
				}
			}
			if sign {
				opts, err := officeOptions(ctx, a.home, a.config)
				if err != nil {
					return err
				}
				opts.Ledger, opts.Say = rt.Ledger, func(line string) { fmt.Fprintln(a.err, printable(line)) }
				o := vouch.Open(opts)
				defer o.Close()
				if _, err := o.Make(ctx, name); err != nil {
					return err
				}
			}
			if _, err := rt.Ledger.Head(ctx, name); err != nil {
				return err
			}
			if note {
				return a.printNote(ctx, rt, name)
			}
			known, err := whomToBelieve(ctx, a.home, a.config)
			if err != nil {
				return err
			}
			v, err := vouch.Judge(ctx, rt.Ledger, name, known)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(verdictJSON{name, v.Words(), v})
			} else {
				a.printVouched(name, v)
			}
			if err == nil && (v.Broken != nil || len(v.Unreadable) > 0) {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&note, "note", false, "print the last checkpoint as it was signed, to be kept elsewhere: lyceum verify --since takes it")
	exclusive(cmd, "json", "note")
	cmd.Flags().BoolVar(&sign, "sign", false, "sign the quest as it is now, and have others vouch for it")
	return a.questArg(cmd)
}

// printNote prints the last checkpoint, for somebody to keep.
func (a *app) printNote(ctx context.Context, rt *runtime.Runtime, name string) error {
	stored, err := vouch.Stored(ctx, rt.Ledger, name)
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		return fmt.Errorf("quest %s has no checkpoint; sign it with: lyceum checkpoints %s --sign", name, name)
	}
	_, err = fmt.Fprint(a.out, stored[len(stored)-1].Note)
	return err
}

func (a *app) printVouched(quest string, v *proof.Verdict) {
	for _, c := range v.Checkpoints {
		state := "holds"
		if !c.Holds {
			state = "does not hold: " + c.Why
		}
		fmt.Fprintf(a.out, "%8d events  %s  %s\n", c.Size, printable(c.Origin), printable(state))
		for _, part := range []struct {
			verb  string
			marks []proof.Mark
		}{{"signed by", c.Signed}, {"cosigned by", c.Witnessed}, {"stamped by", c.Stamped}} {
			for _, m := range part.marks {
				line := fmt.Sprintf("%s %s (%s)", part.verb, m.By, m.State)
				if m.Time != 0 {
					line += " at " + m.Time.String()
				}
				if m.Why != "" {
					line += ": " + m.Why
				}
				fmt.Fprintf(a.out, "                 %s\n", printable(line))
			}
		}
	}
	fmt.Fprintf(a.out, "%s: %s\n", quest, printable(v.Words()))
}
