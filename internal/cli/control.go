package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

// post puts a command into a quest's inbox. If nobody runs the quest, it is
// taken at once; otherwise its owner takes it.
func (a *app) post(ctx context.Context, name string, body event.Body) (*quest.State, bool, error) {
	s, err := a.load(ctx, name)
	if err != nil {
		return nil, false, err
	}
	// What the quest would refuse must not be said to have been recorded.
	if err := s.Check("person", body); err != nil {
		return nil, false, usageError{err}
	}
	if _, err := a.rt.Post(ctx, name, ledger.Command{Key: rand.Text(), Body: body}); err != nil {
		return nil, false, err
	}
	s, err = a.rt.Settle(ctx, name)
	if errors.Is(err, ledger.ErrClaimed) {
		return nil, true, nil
	}
	return s, false, err
}

func (a *app) controlCommand(verb, short string, body func() event.Body) *cobra.Command {
	return a.questArg(&cobra.Command{
		Use:   verb + " <quest>",
		Short: short,
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, running, err := a.post(cmd.Context(), args[0], body())
			if err != nil {
				return err
			}
			if running {
				fmt.Fprintf(a.out, "Told the process that runs %s to %s.\n", args[0], verb)
				return nil
			}
			fmt.Fprintf(a.out, "Quest %s is %s. Go on with: lyceum run %s\n", args[0], s.Status, args[0])
			return nil
		},
	})
}

func (a *app) resumeCommand() *cobra.Command {
	return a.questArg(&cobra.Command{
		Use:   "resume <quest>",
		Short: "Go on with a paused quest: in the process that holds it, or here",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if s.Status == quest.Created {
				return usagef("quest %s has not been started: lyceum run %s", args[0], args[0])
			}
			running, err := a.rt.Ledger.Claimed(args[0])
			if err != nil {
				return err
			}
			if !running {
				return a.run(cmd.Context(), args[0], false, false, event.Limits{}, false)
			}
			if _, err := a.rt.Post(cmd.Context(), args[0], ledger.Command{Key: rand.Text(), Body: &event.QuestResumed{}}); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Told the process that holds %s to go on.\n", args[0])
			return nil
		},
	})
}

func (a *app) messageCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "message <quest> <text|->",
		Short: "Say something to the agents of a quest",
		Args:  exactArgs(2, "a quest's name and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[1]
			if text == "-" {
				data, err := reading(cmd.Context(), func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.in, maxMessage+1)) })
				if err != nil {
					return err
				}
				text = string(data)
			}
			text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
			if text == "" || len(text) > maxMessage {
				return usagef("a message has 1 to %d bytes; this one has %d", maxMessage, len(text))
			}
			_, running, err := a.post(cmd.Context(), args[0], &event.UserMessage{Text: event.Text{Text: text}, To: to})
			if err != nil {
				return err
			}
			if running {
				fmt.Fprintf(a.out, "Sent. The agents of %s hear it in their next turn.\n", args[0])
			} else {
				fmt.Fprintf(a.out, "Recorded. The agents of %s hear it when it runs: lyceum run %s\n", args[0], args[0])
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "one agent, such as agent-0, instead of all")
	return a.questArg(cmd)
}

// maxMessage is what fits into an inbox.
const maxMessage = 8 << 10

func (a *app) cleanCommand() *cobra.Command {
	var data, yes bool
	cmd := &cobra.Command{
		Use:   "clean <quest>",
		Short: "Remove a quest's workspaces; with --data, the quest and all its records",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
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
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return a.questArg(cmd)
}

// confirm asks a person. No answer is a no, an interrupt is none.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(a.err, question)
	line, err := reading(ctx, func() (string, error) { return bufio.NewReader(a.in).ReadString('\n') })
	if err != nil && ctx.Err() != nil {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
