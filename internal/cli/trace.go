package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

func (a *app) traceCommand() *cobra.Command {
	var jsonl, follow bool
	var from uint64
	cmd := &cobra.Command{
		Use:   "trace <quest>",
		Short: "Print every event, one a line",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
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
	text := gist(e.Body)
	if more := marks(e.Body); len(more) > 0 {
		text = strings.TrimSpace(text + " [" + strings.Join(more, ", ") + "]")
	}
	_, err := fmt.Fprintf(a.out, "%6d %s %s %-10s %-28s %s %s\n", e.Seq, kind, e.Time.Time().Format("15:04:05.000"), e.Actor, what, e.Hash.String()[:12], text)
	return err
}

// marks are what else there is to an event, beside what it says: the performative of a
// message, that something failed, what took long, where evidence stands.
func marks(b event.Body) (out []string) {
	if p := event.Performative(b); p != "" {
		out = append(out, oneLine(p, 20))
	}
	failed := func(is bool) {
		if is {
			out = append(out, "failed")
		}
	}
	printed := func(ref *event.Ref) {
		if ref != nil {
			out = append(out, "output "+ref.Hash.String()[:12])
		}
	}
	switch b := b.(type) {
	case *event.ModelResult:
		failed(b.Error != nil)
		if b.Error != nil {
			out = append(out, millis(b.Duration))
		}
	case *event.ToolResult:
		failed(b.Error)
	case *event.ToolAnswered:
		failed(b.Error)
	case *event.CliExit:
		failed(b.Exit != 0)
	case *event.NetConnection:
		out = append(out, millis(b.Duration))
	case *event.ReproductionResult:
		printed(b.Output)
	case *event.SearchResult:
		for _, x := range b.Anchors[:min(len(b.Anchors), 3)] {
			out = append(out, fmt.Sprintf("%s:%d %s", oneLine(x.Doc, 40), x.Paragraph, x.Hash.String()[:12]))
		}
		if failed(b.Error != ""); b.Error != "" {
			out = append(out, millis(b.Duration))
		}
	case *event.ComputeResult:
		printed(b.Printed)
		if failed(b.Error != ""); b.Error != "" {
			out = append(out, millis(b.Duration))
		}
	}
	return out
}

func millis(micros int64) string { return fmt.Sprintf("%.1f ms", float64(micros)/1000) }

// gist is what an event says, in a few words.
func gist(b event.Body) string {
	switch b := b.(type) {
	case *event.QuestCreated:
		return oneLine(b.Rules+" "+b.Problem.Text, 80)
	case *event.ModelCall:
		return fmt.Sprintf("turn %d, messages %d to %d", b.Turn, b.First, b.Last)
	case *event.ModelResult:
		return gistAnswer(b)
	case *event.ToolCall:
		return fmt.Sprintf("part %d of %d", b.Part, b.Answer)
	case *event.ToolResult:
		return fmt.Sprintf("%s (%.1f ms)", oneLine(b.Output.Text, 70), float64(b.Duration)/1000)
	case *event.ToolAnswered:
		return oneLine(b.Output.Text, 70)
	case *event.UserMessage:
		return oneLine(b.Text.Text, 80)
	case *event.MessageSent:
		return oneLine(b.Text.Text, 80)
	case *event.QuestFinished:
		return oneLine(b.Answer.Text, 80)
	case *event.QuestFailed:
		return oneLine(b.Reason, 80)
	case *event.QuestPaused:
		return oneLine(b.Reason, 80)
	case *event.QuestStopped:
		return oneLine(b.Reason, 80)
	case *event.QuestForked:
		return fmt.Sprintf("from %s at %d", b.From, b.At)
	case *event.PolicyBlocked:
		text := string(b.Proposal)
		for _, by := range b.By {
			text += fmt.Sprintf(" by %s: %s", by.Policy, by.Reason)
		}
		return oneLine(text, 100)
	case *event.PolicyFailed:
		return oneLine(b.Policy+" broke down: "+b.Reason, 80)
	case *event.BudgetExceeded:
		return fmt.Sprintf("%s: %s of %s", b.Limit, policy.Amount(b.Limit, b.Used), policy.Amount(b.Limit, b.Max))
	case *event.TimerSet:
		return b.Purpose + " at " + b.At.String()
	}
	return cmp.Or(gistComputer(b), gistLab(b), gistContract(b))
}

func gistAnswer(b *event.ModelResult) string {
	if b.Error != nil {
		return "error " + oneLine(b.Error.Kind, 20) + ": " + oneLine(b.Error.Text, 70)
	}
	var parts []string
	for _, p := range b.Parts {
		switch {
		case p.Kind == event.PartToolCall:
			parts = append(parts, "calls "+oneLine(p.Name, 20))
		case p.Text != nil:
			parts = append(parts, oneLine(p.Text.Text, 50))
		}
	}
	return fmt.Sprintf("%s (%d+%d tokens, %.1f ms)", strings.Join(parts, "; "), b.Usage.Input, b.Usage.Output, float64(b.Duration)/1000)
}
