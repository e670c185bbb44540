package cli

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/profile"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

func (a *app) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "List and show what agents can be good at",
		Long: `A profile is a field that agents work in: what they are told about it, the tools they
have, and the computer for it. Your own are folders in profiles/ of Lyceum's home;
docs/lab.md tells how they are written.`,
		Args: exactArgs(0, "list or show"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.profileListCommand(), a.profileShowCommand())
	return cmd
}

// profileJSON is a profile; list leaves the long texts out.
type profileJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Folder is where it was read from, empty if it is built in.
	Folder string `json:"folder"`
	// Replaces says that it takes the place of a built-in one.
	Replaces bool `json:"replaces"`
	// Tools is null for all of them.
	Tools []string `json:"tools"`
	// Computer is null for none.
	Computer   *event.ComputerSpec `json:"computer"`
	Prompt     string              `json:"prompt,omitempty"`
	Dockerfile string              `json:"dockerfile,omitempty"`
	// Quest is YAML: keys of a society that hold where a quest.yaml says nothing.
	Quest string `json:"quest,omitempty"`
}

func profileOf(p *profile.Profile) profileJSON {
	out := profileJSON{
		Name: p.Name, Description: p.Description, Folder: p.Dir, Replaces: p.Replaces, Tools: p.Tools, Computer: p.Computer.Spec(nil),
		Prompt: p.Prompt, Dockerfile: string(p.Dockerfile),
	}
	if p.Quest != nil {
		out.Quest = strings.TrimSpace(p.Quest.String())
	}
	return out
}

// whose says where a profile comes from.
func whose(p *profile.Profile) string {
	switch {
	case p.Replaces:
		return "yours, instead of the built-in"
	case p.Dir != "":
		return "yours"
	}
	return "built in"
}

func (a *app) profileListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the profiles that are built in and your own",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			home, err := config.Home(a.homeFlag)
			if err != nil {
				return err
			}
			// Those without faults are shown, and then the faults of the others.
			all, faults := profile.List(home)
			if asJSON {
				list := []profileJSON{}
				for _, p := range all {
					j := profileOf(p)
					j.Prompt, j.Dockerfile = "", ""
					list = append(list, j)
				}
				if err := a.printJSON(list); err != nil {
					return err
				}
				return faults
			}
			for _, p := range all {
				fmt.Fprintf(a.out, "%-15s %s (%s)\n", p.Name, printable(p.Description), whose(p))
			}
			return faults
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) profileShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show <profile>",
		Short: "Show what agents of a profile are told, and what they have",
		Args:  exactArgs(1, "the name of a profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			home, err := config.Home(a.homeFlag)
			if err != nil {
				return err
			}
			p, err := profile.Find(home, args[0])
			if err != nil {
				return usageError{err}
			}
			if asJSON {
				return a.printJSON(profileOf(p))
			}
			return a.printProfile(p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		home, err := config.Home(a.homeFlag)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := profile.List(home) // one with a fault cannot be shown
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (a *app) printProfile(p *profile.Profile) error {
	computer, err := yaml.MarshalWithOptions(p.Computer, yaml.Flow(true))
	if err != nil {
		return fmt.Errorf("show profile %s: %w", p.Name, err)
	}
	tools := "all"
	if p.Tools != nil {
		tools = cmp.Or(strings.Join(p.Tools, ", "), "none but the society's own")
	}
	image := "none"
	if p.Dockerfile != nil {
		image = "built from its Dockerfile, where computers run in docker"
	}
	fmt.Fprintf(a.out, "%s: %s\n\n", p.Name, printable(p.Description))
	fmt.Fprintf(a.out, "from      %s\n", printable(cmp.Or(p.Dir, whose(p))))
	fmt.Fprintf(a.out, "tools     %s\n", printable(tools))
	fmt.Fprintf(a.out, "computer  %s\n", printable(strings.TrimSpace(string(computer))))
	fmt.Fprintf(a.out, "image     %s\n", image)
	if p.Quest != nil {
		fmt.Fprintf(a.out, "quest     %s\n", strings.ReplaceAll(printable(strings.TrimSpace(p.Quest.String())), "\n", "\n          "))
	}
	fmt.Fprintln(a.out)
	fmt.Fprintln(a.out, printable(p.Prompt))
	return nil
}
