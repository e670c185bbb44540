package cli

import (
	"cmp"
	"context"
	"fmt"

	"lyceum/internal/analysis"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/skill"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) skillsPromoteCommand() *cobra.Command {
	var name, description string
	cmd := &cobra.Command{
		Use:   "promote <quest> [attempt]",
		Short: "Make a skill of a program that passed every tier of a world",
		Long: `Make a skill of a program that an attempt of a world made and that passed every tier there.
It becomes a folder in skills/ of Lyceum's home, with its origin; new quests find it. One that
nobody has used for 30 days is not offered any more; promoting it again offers it again.

  lyceum skills promote sorter 2 --name sort-numbers`,
		Args: rangeArgs(1, 2, "a quest's name and, if you like, the number of an attempt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.attempt(cmd.Context(), args)
			if err != nil {
				return err
			}
			if at.State != view.AttemptPassed {
				return fmt.Errorf("attempt %d of quest %s is %s: only what passed every tier becomes a skill", at.Number, args[0], at.State)
			}
			return a.promote(cmd.Context(), args[0], at, cmp.Or(name, args[0]), cmp.Or(description, at.Intent))
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the skill is called; default: as the quest")
	cmd.Flags().StringVar(&description, "description", "", "what it is for; default: what its maker says")
	return a.questArg(cmd)
}

// promote makes a skill of an attempt.
func (a *app) promote(ctx context.Context, quest string, at *view.Attempt, name, description string) error {
	proposed, err := a.rt.EventAt(ctx, quest, at.Seq)
	if err != nil {
		return err
	}
	tree := proposed.Body.(*event.AttemptProposed).Tree
	var files []skill.Content
	err = blob.Files(ctx, a.rt.Blobs, tree, func(path string, ref event.Ref) error {
		data, err := a.rt.Blob(ctx, ref)
		files = append(files, skill.Content{Path: path, Data: data})
		return err
	})
	if err != nil {
		return fmt.Errorf("read attempt %d of quest %s: %w", at.Number, quest, err)
	}
	start := analysis.Start(func(path string) bool {
		for _, f := range files {
			if f.Path == path {
				return true
			}
		}
		return false
	})
	if start == "" {
		return fmt.Errorf("attempt %d of quest %s is no program: there is no main, and a page is no skill", at.Number, quest)
	}
	origin := skill.Origin{Quest: quest, Attempt: at.Number, Seq: at.Seq, Tree: tree.Hash, Used: a.rt.Clock()}
	dir, err := skill.Promote(a.home, name, description, start, files, origin)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\nA skill of its own now, from attempt %d of %s: %s\nRead it before you rely on it: an agent made it. lyceum skills show %s\n", name, plain.Line(description), at.Number, quest, dir, name)
	return nil
}
