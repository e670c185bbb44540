package cli

import (
	"fmt"

	"lyceum/internal/event"

	"github.com/spf13/cobra"
)

// taskCommand steers one task of an architect.
func (a *app) taskCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Cancel one task of an architect's plan, or say something to whoever works on it",
		Example: `  lyceum task cancel fix-the-parser docs
  lyceum task message fix-the-parser lexer "Leave the old names as aliases."`,
	}
	cmd.AddCommand(a.taskOrder(event.OrderCancel, "cancel <quest> <task>", "End a task that is under way, or will be", 2),
		a.taskOrder(event.OrderMessage, "message <quest> <task> <text|->", "Say something to the executor of a task", 3))
	return cmd
}

func (a *app) taskOrder(action, use, short string, args int) *cobra.Command {
	return a.questArg(&cobra.Command{
		Use: use, Short: short, Args: exactArgs(args, "a quest's name, the id of a task"+map[bool]string{true: " and a text"}[args == 3]),
		RunE: func(cmd *cobra.Command, args []string) error {
			b := &event.TaskOrder{Action: action, Task: args[1]}
			if len(args) == 3 {
				var err error
				if b.Text, err = a.words(cmd.Context(), args[2]); err != nil {
					return err
				}
			}
			_, running, err := a.post(cmd.Context(), args[0], b)
			if err != nil {
				return err
			}
			if running || a.lookedAfter(cmd.Context(), args[0]) {
				fmt.Fprintf(a.out, "Told the process that runs %s.\n", args[0])
			} else {
				fmt.Fprintf(a.out, "Recorded. It takes effect when the quest runs: lyceum run %s\n", args[0])
			}
			return nil
		},
	})
}
