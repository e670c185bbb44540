package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// questArg has the shell complete the first argument of a command to the name of a quest.
func (a *app) questArg(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || a.open(false) != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		heads, err := a.rt.Ledger.Quests(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, h := range heads {
			names = append(names, h.Quest)
		}
		return names, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// complete has the shell complete the value of a flag.
func complete(cmd *cobra.Command, flag string, names func(*cobra.Command) []string) {
	// It fails for a flag that is not there alone.
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return names(cmd), cobra.ShellCompDirectiveNoFileComp
	})
}

// exclusive refuses a command that was given more than one of some flags.
func exclusive(cmd *cobra.Command, flags ...string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		given := slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return !cmd.Flags().Changed(flag) })
		if len(given) > 1 {
			return usagef("--%s and --%s exclude each other", given[0], given[1])
		}
		if before == nil {
			return nil
		}
		return before(cmd, args)
	}
}

// flagFault says of a value that a flag cannot take what was wanted and what was given,
// instead of how it was read.
func flagFault(err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := e.GetFlag()
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("--%s: %.40q is out of range", flag.Name, e.GetValue())
	}
	var want string
	switch flag.Value.Type() {
	case "int", "int64":
		want = "a whole number, such as 3"
	case "uint64":
		want = "a whole number from 0 on, such as 12"
	case "bool":
		want = "true or false"
	default:
		return err
	}
	return fmt.Errorf("--%s: %.40q is not %s", flag.Name, e.GetValue(), want)
}

// knownCommand is what the root says to a word that is none of its commands.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q; did you mean %s?\nSee: lyceum --help", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q\nSee: lyceum --help", args[0])
}

// exactArgs is cobra's check with our exit code.
func exactArgs(n int, what string) cobra.PositionalArgs { return rangeArgs(n, n, what) }

func rangeArgs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s wants %s\nSee: %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

func checkName(name string) error {
	if !event.ValidName(name) {
		return usagef("quest name %q: want %s", name, event.NameRule)
	}
	return nil
}
