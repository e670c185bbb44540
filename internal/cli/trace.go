package cli

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) traceCommand() *cobra.Command {
	var jsonl, follow bool
	var from uint64
	cmd := &cobra.Command{
		Use:   "trace <quest>",
		Short: "Print every event, one a line",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := a.open(false); err != nil {
				return err
			}
			events := a.rt.Ledger.Read(ctx, args[0], max(from, 1))
			if follow {
				if s, err := a.rt.Load(ctx, args[0]); err == nil && s.Status != quest.Running && !jsonl {
					fmt.Fprintf(a.err, "Quest %s is %s: what comes later is printed too. Ctrl-C leaves.\n", args[0], s.Status)
				}
				events = a.rt.Ledger.Follow(ctx, args[0], max(from, 1))
			}
			for e, err := range events {
				if err != nil {
					return err
				}
				if err := a.printEvent(e, jsonl); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "print the events as they stand in the ledger, one JSON object a line")
	cmd.Flags().BoolVar(&jsonl, "json", false, "the same as --jsonl")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on printing new events as they come")
	cmd.Flags().Uint64Var(&from, "from", 1, "begin at this seq")
	return a.questArg(cmd)
}

func (a *app) printEvent(e event.Event, jsonl bool) error {
	if jsonl {
		_, err := fmt.Fprintf(a.out, "%s\n", e.Line())
		return err
	}
	kind := "·"
	if e.Input() {
		kind = ">"
	}
	what := string(e.Type)
	if e.Tool != "" {
		what += " " + e.Tool
	}
	words := new(view.Teller).Tell(e)
	text := words.Text
	if len(words.Notes) > 0 {
		text += " [" + strings.Join(words.Notes, ", ") + "]"
	}
	_, err := fmt.Fprintf(a.out, "%6d %s %s %-10s %-28s %s %s\n", e.Seq, kind, e.Time.Time().Format("15:04:05.000"), e.Actor, what, e.Hash.String()[:12], text)
	return err
}
