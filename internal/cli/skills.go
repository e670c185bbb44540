package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/plain"
	"lyceum/internal/skill"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) skillsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skills [quest.yaml | quest]",
		Short: "Say which skills agents would find, or have; list, show and check skills",
		Long: `A skill is a folder with a file SKILL.md, which says its name, what it is for, and what to
do. Your own are folders in skills/ of Lyceum's home; they add to ours or take their place.
A quest pins what it finds when it is made.

Of a quest.yaml: which skills its agents could find, and of which they would be told before
their first turn, and why; nothing is made. With --intent, for that instead of the question.
Of a quest: which it has pinned, and of which its agents were told.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactArgs(1, "list, show, check, promote, a quest.yaml, or a quest's name")(cmd, args)
		},
	}
	a.foresees(cmd, a.printFoundSkills)
	cmd.AddCommand(a.skillsListCommand(), a.skillsShowCommand(), a.skillsCheckCommand(), a.skillsPromoteCommand())
	return cmd
}

// skillJSON is a skill; list leaves its text out.
type skillJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Role        string `json:"role"`
	// From is home or ours; Folder is where it was read from, empty if it is ours.
	From   string   `json:"from"`
	Folder string   `json:"folder"`
	Files  []string `json:"files"`
	// Tools is null where the skill does not say.
	Tools    []string `json:"tools"`
	Warnings []string `json:"warnings"`
	Text     string   `json:"text,omitempty"`
}

func skillOf(s *skill.Skill, text bool) skillJSON {
	j := skillJSON{Name: s.Name, Description: s.Description, Role: s.Role, From: s.From, Folder: s.Dir, Tools: s.Tools, Files: []string{}, Warnings: []string{}}
	for _, f := range s.Files {
		j.Files = append(j.Files, f.Path)
	}
	for _, w := range s.Warnings {
		j.Warnings = append(j.Warnings, w.Error())
	}
	if text {
		j.Text = s.Body
	}
	return j
}

// allSkills are ours and a person's own, and what is wrong with others.
func (a *app) allSkills() ([]*skill.Skill, error) {
	home, err := config.Home(a.homeFlag)
	if err != nil {
		return nil, err
	}
	own, faults := skill.OfTheHome(home)
	return skill.Over(own, skill.Ours()), errors.Join(faults...)
}

func (a *app) skillsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List our skills and your own",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			// Those without faults are shown, and then the faults of the others.
			all, faults := a.allSkills()
			if asJSON {
				list := []skillJSON{}
				for _, s := range all {
					list = append(list, skillOf(s, false))
				}
				return errors.Join(a.printJSON(list), faults)
			}
			for _, s := range all {
				fmt.Fprintf(a.out, "%-18s %s (%s)\n", s.Name, plain.Line(s.Description), whoseSkill(s))
			}
			return faults
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func whoseSkill(s *skill.Skill) string {
	if s.From == skill.OfOurs {
		return "ours"
	}
	return "yours"
}

func (a *app) skillsShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show <skill>",
		Short: "Show a skill whole",
		Args:  exactArgs(1, "the name of a skill"),
		RunE: func(_ *cobra.Command, args []string) error {
			all, faults := a.allSkills()
			var names []string
			for _, s := range all {
				if names = append(names, s.Name); s.Name == args[0] {
					return a.printSkill(s, asJSON)
				}
			}
			return usageError{errors.Join(fmt.Errorf("there is no skill %q: there are %s", args[0], strings.Join(names, ", ")), faults)}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printSkill(s *skill.Skill, asJSON bool) error {
	j := skillOf(s, true)
	if asJSON {
		return a.printJSON(j)
	}
	fmt.Fprintf(a.out, "%s: %s\nfrom   %s\nrole   %s\nfiles  %s\n\n%s\n", s.Name, plain.Line(s.Description), printable(cmp.Or(s.Dir, "ours")), cmp.Or(s.Role, "none"),
		printable(strings.Join(j.Files, ", ")), plain.Text(strings.TrimSpace(s.Body)))
	return nil
}

func (a *app) skillsCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check <folder>",
		Short: "Say what is wrong with a skill, or the skills of a folder",
		Args:  exactArgs(1, "a folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			dir, err := os.OpenRoot(path)
			if err != nil {
				return usageError{err}
			}
			defer dir.Close()
			all, faults := skill.All(dir, path, skill.OfHome)
			if len(all)+len(faults) == 0 {
				return usagef("there is no skill in %s: a skill is a folder with a file %s", printable(args[0]), skill.File)
			}
			return a.printChecked(all, faults, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) printChecked(all []*skill.Skill, faults []error, asJSON bool) error {
	if asJSON {
		out := struct {
			Skills []skillJSON `json:"skills"`
			Faults []string    `json:"faults"`
		}{[]skillJSON{}, []string{}}
		for _, s := range all {
			out.Skills = append(out.Skills, skillOf(s, false))
		}
		for _, err := range faults {
			out.Faults = append(out.Faults, err.Error())
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, s := range all {
			fmt.Fprintf(a.out, "%s is well: %s\n", s.Name, view.Several(int64(len(s.Files)), "file"))
			for _, w := range s.Warnings {
				fmt.Fprintf(a.out, "  warning: %s\n", printable(w.Error()))
			}
		}
		for _, err := range faults {
			fmt.Fprintf(a.out, "fault: %s\n", printable(err.Error()))
		}
	}
	if len(faults) > 0 {
		return errFailed
	}
	return nil
}
