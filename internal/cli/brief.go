package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
)

// briefJSON is the brief of a quest.
type briefJSON struct {
	Quest    string `json:"quest"`
	Revision string `json:"revision"`
	Text     string `json:"text"`
	// Waits says that the quest has yet to take it.
	Waits bool `json:"waits,omitempty"`
}

func (a *app) briefCommand() *cobra.Command {
	var asJSON bool
	var read string
	cmd := &cobra.Command{
		Use:   "brief <quest> [file|-]",
		Short: "Print what a quest is about, or give a study another text of it",
		Long: `Print the brief of a quest. With a file the brief of a study becomes what the file says: the
researcher hears it as a message. --revision names the text that the new one was made from, as --json prints it;
if somebody has changed the brief since, the new text is refused.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("want a quest's name, and a file if it is to have another brief")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			brief, waits, err := a.rt.Brief(cmd.Context(), args[0], s)
			if err != nil {
				return err
			}
			now := quest.HashOfText(brief)
			if len(args) == 2 {
				return a.saveBrief(cmd.Context(), args[0], args[1], cmp.Or(read, now.String()), s)
			}
			text, err := a.textOf(cmd.Context(), brief)
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(briefJSON{args[0], now.String(), text, waits})
			}
			_, err = fmt.Fprintln(a.out, printable(strings.TrimRight(text, "\n")))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&read, "revision", "", "the revision that the new text was made from; default the present one")
	return a.questArg(cmd)
}

// saveBrief gives a study another brief.
func (a *app) saveBrief(ctx context.Context, name, file, read string, s *quest.State) error {
	text, err := a.briefText(ctx, file)
	if err != nil {
		return err
	}
	base, err := event.ParseHash(read)
	if err != nil {
		return usagef("--revision: %w", err)
	}
	m, err := a.rt.Revise(ctx, name, s, base, text)
	if stale, ok := errors.AsType[*runtime.Stale](err); ok {
		return fmt.Errorf("save the brief of quest %s: %w; see lyceum brief %s", name, stale, name)
	}
	if err != nil {
		return usageError{err}
	}
	if m == nil {
		fmt.Fprintf(a.out, "The brief of %s says that already.\n", name)
		return nil
	}
	now, running, err := a.post(ctx, name, m)
	if err != nil {
		return err
	}
	if running { // whoever runs it has its state
		now, err = a.load(ctx, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.keptFor(ctx, name, now, running))
	return nil
}

// briefText reads a brief from a file, or from what comes in.
func (a *app) briefText(ctx context.Context, file string) (string, error) {
	data, err := reading(ctx, func() ([]byte, error) {
		from := a.in
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			from = f
		}
		return io.ReadAll(io.LimitReader(from, quest.MaxBrief+2))
	})
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(strings.ReplaceAll(runtime.Clean(string(data)), "\r\n", "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return "", usagef("the new brief is empty")
	}
	return text, nil
}
