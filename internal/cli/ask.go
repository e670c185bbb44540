package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

func (a *app) askCommand() *cobra.Command {
	f := &specFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ask <question>",
		Short: "Ask a question without writing a file, and run it until it has its answer",
		Long: `Make a quest of a question, with the model of config.yaml or --model, and run it. It
is named by its first words; everything that can be done with a quest can be done
with it.

  lyceum ask "What is pi to 50 digits?" --model demo`,
		Args: exactArgs(1, "a question, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			bounds, err := f.bounds()
			if err != nil {
				return err
			}
			if strings.TrimSpace(args[0]) == "" {
				return usagef("ask wants a question")
			}
			if err := a.open(true); err != nil {
				return err
			}
			name, err := a.ask(cmd.Context(), args[0], f, bounds)
			if err != nil {
				return err
			}
			return a.run(cmd.Context(), name, true, false, bounds.Limits(), asJSON)
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of one made of the question")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the outcome as JSON, as show does, and nothing else")
	a.telling.yesFlag(cmd)
	f.spec(cmd)
	f.limits(cmd)
	return a.weakLimits(cmd)
}

// ask makes a quest of a question, and returns its name.
func (a *app) ask(ctx context.Context, question string, f *specFlags, bounds quest.Bounds) (string, error) {
	d := draftOfText(question)
	if f.name == "" {
		var err error
		if d.Name, err = a.nameFor(ctx, question); err != nil {
			return "", err
		}
	}
	plan, err := a.plan(ctx, d, f, bounds)
	if err != nil {
		return "", err
	}
	_, err = a.create(ctx, plan)
	return plan.Spec.Name, err
}

// nameFor makes a name of the first words of a question that no quest has yet.
func (a *app) nameFor(ctx context.Context, question string) (string, error) {
	base := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, question), "-")
	for strings.Contains(base, "--") {
		base = strings.ReplaceAll(base, "--", "-")
	}
	if len(base) > 40 {
		base = base[:40]
		if i := strings.LastIndexByte(base, '-'); i > 10 {
			base = base[:i] // at the end of a word
		}
	}
	if base = strings.Trim(base, "-"); base == "" {
		base = "question"
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		_, err := a.rt.Ledger.Head(ctx, name)
		if errors.Is(err, ledger.ErrNoQuest) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
}
