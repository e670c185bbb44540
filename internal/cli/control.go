package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/media"
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
	if err := s.Accepts("person", body); err != nil {
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
				fmt.Fprintf(a.out, "Told the process that runs %s to %s.%s\n", args[0], verb, a.underWay(cmd.Context(), args[0]))
				return nil
			}
			fmt.Fprintf(a.out, "Quest %s is %s. Go on with: lyceum run %s\n", args[0], s.Status, args[0])
			return nil
		},
	})
}

// underWay says what the process that runs a quest waits for before the quest rests: the
// calls that have no result yet.
func (a *app) underWay(ctx context.Context, name string) string {
	s, err := a.rt.Load(ctx, name)
	if err != nil {
		return "" // it was told, and that is what matters
	}
	var calls []string
	for _, seq := range slices.Sorted(maps.Keys(s.Calls)) {
		switch c := s.Calls[seq]; {
		case c.Timer != "":
		case c.Tool != "":
			calls = append(calls, c.Agent+"'s "+oneLine(c.Tool, 40))
		case c.Kind == "model.call":
			calls = append(calls, "the model of "+c.Agent)
		}
	}
	const most = 8
	if more := len(calls) - most; more > 0 {
		calls = append(calls[:most], fmt.Sprintf("%d more", more))
	}
	if len(calls) == 0 {
		return ""
	}
	return " It waits for what is under way: " + strings.Join(calls, ", ") + "."
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
			id, err := a.rt.Post(cmd.Context(), args[0], ledger.Command{Key: rand.Text(), Body: &event.QuestResumed{}})
			if err != nil {
				return err
			}
			if alone, err := a.leftAlone(cmd.Context(), args[0], id); err != nil {
				return err
			} else if alone {
				return a.run(cmd.Context(), args[0], false, false, event.Limits{}, false)
			}
			fmt.Fprintf(a.out, "Told the process that holds %s to go on.\n", args[0])
			return nil
		},
	})
}

// leftAlone waits until a word to a quest is taken, and reports whether instead whoever held the quest is
// gone: that may have been the last of a process that was killed, such as a child of it that has not become
// another program yet. One that holds it and is slow takes the word later.
func (a *app) leftAlone(ctx context.Context, name string, id int64) (bool, error) {
	for range 100 {
		s, err := a.rt.Load(ctx, name)
		if err != nil || s.Inbox >= id {
			return false, err
		}
		if running, err := a.rt.Ledger.Claimed(name); err != nil || !running {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false, nil
}

func (a *app) limitCommand() *cobra.Command {
	f := &specFlags{}
	cmd := &cobra.Command{
		Use:   "limit <quest>",
		Short: "Give a quest other limits, while it runs or when it has reached one",
		Long: `Give a quest other limits, such as a higher cost. One that runs goes on with them at
once; one that has reached a limit goes on with lyceum run.

  lyceum limit primes --max-cost 5 --max-duration 2h`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			bounds, err := f.bounds()
			if err == nil {
				err = f.blame(bounds.Check())
			}
			if err != nil {
				return err
			}
			limits := bounds.Limits()
			if limits == (event.Limits{}) {
				return usagef("no limit: give --max-cost, --max-turns, --max-tokens, --max-duration or --max-storage, or one of --max-agent-…")
			}
			s, err := a.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			for _, ag := range s.Agents {
				if err := a.rt.CheckCost(ag.Model, limits); err != nil {
					return err
				}
			}
			s, running, err := a.post(cmd.Context(), args[0], &event.BudgetRaised{Limits: limits})
			switch {
			case err != nil:
				return err
			case running:
				fmt.Fprintf(a.out, "Told the process that runs %s.\n", args[0])
			case s.Status == quest.Finished:
				fmt.Fprintf(a.out, "Used so far: %s. The quest is finished; it has these limits if it is taken up again.\n", limitsOf(s))
			default:
				fmt.Fprintf(a.out, "Used so far: %s. Go on with: lyceum run %s\n", limitsOf(s), args[0])
			}
			return nil
		},
	}
	f.limits(cmd)
	return a.questArg(cmd)
}

func (a *app) messageCommand() *cobra.Command {
	var to string
	var files []string
	cmd := &cobra.Command{
		Use:   "message <quest> <text|->",
		Short: "Say something to the agents of a quest, or show them pictures and files",
		Args:  exactArgs(2, "a quest's name and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[1]
			if text != "" || len(files) == 0 {
				var err error
				if text, err = a.words(cmd.Context(), text); err != nil {
					return err
				}
			}
			text, done, err := a.ordered(cmd.Context(), args[0], text, len(files) > 0)
			if done || err != nil {
				return err
			}
			m := &event.UserMessage{Text: event.Text{Text: text}, To: to}
			if err := a.attach(cmd.Context(), args[0], m, files); err != nil {
				return err
			}
			s, running, err := a.post(cmd.Context(), args[0], m)
			if err != nil {
				return err
			}
			if running { // whoever runs it has its state
				s, err = a.load(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			if s.HasMail() {
				fmt.Fprintln(a.out, a.keptFor(cmd.Context(), args[0], s, running))
			} else if running {
				fmt.Fprintf(a.out, "Sent. The agents of %s hear it in their next turn.\n", args[0])
			} else {
				fmt.Fprintf(a.out, "Recorded. The agents of %s hear it when it runs: lyceum run %s\n", args[0], args[0])
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "one agent, such as agent-0, instead of all")
	cmd.Flags().StringArrayVar(&files, "file", nil, "a picture or another file to go with it; can be given several times")
	return a.questArg(cmd)
}

// keptFor says what becomes of a message to a quest with mail.
func (a *app) keptFor(ctx context.Context, name string, s *quest.State, running bool) string {
	switch {
	case running:
		return fmt.Sprintf("Queued. %s hears it between two turns. To cut the turn short: lyceum message %s /now", name, name)
	case s.Waiting() && a.lookedAfter(ctx, name):
		return "Sent. It begins the next sitting of " + name + "."
	case s.Waiting():
		return "Recorded. It begins the next sitting: lyceum run " + name
	case s.Wakes():
		return fmt.Sprintf("Recorded. Quest %s is finished, and goes on with this: lyceum run %s", name, name)
	}
	return fmt.Sprintf("Kept. Quest %s is %s: it hears this when it goes on, with: lyceum run %s", name, s.Status, name)
}

// attach puts files into a message, once it is sure that the quest would take it.
func (a *app) attach(ctx context.Context, name string, m *event.UserMessage, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	s, err := a.load(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Check("person", m); err != nil {
		return usageError{err}
	}
	var files []media.File
	for _, path := range paths {
		data, err := readAttached(path)
		if err != nil {
			return usageError{err}
		}
		files = append(files, media.File{Name: path, Data: data})
	}
	m.Attachments, err = a.rt.Attach(ctx, files)
	return err
}

// readAttached reads a file up to what a message may have; it is for Attach to say that
// there is more. It waits for no pipe.
func readAttached(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > media.MaxFile:
		return nil, fmt.Errorf("%s has %d bytes: a file of a message has at most %d MiB; put it where the quest's data are, and say its name", path, info.Size(), media.MaxFile>>20)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, media.MaxFile+1))
}

// maxMessage is what fits into an inbox.
const maxMessage = 8 << 10

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
