package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"lyceum/internal/notice"

	"github.com/spf13/cobra"
)

func (a *app) licensesCommand() *cobra.Command {
	var full, asJSON bool
	cmd := &cobra.Command{
		Use:   "licenses [name]",
		Short: "What others wrote of this program, and their licences",
		Long: `Lists the licences of all that is linked into this program or bundled with it: Go,
its modules, the packages of the page, fonts and word vectors.

  lyceum licenses              who, and under which licence
  lyceum licenses katex        the texts of those with that in their name
  lyceum licenses --full       all texts`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%s wants one name at most", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: noticeNames,
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := notices(args)
			if err != nil {
				return err
			}
			full := full || len(args) > 0
			switch {
			case asJSON && !full:
				for i := range all {
					all[i].Texts = nil
				}
				fallthrough
			case asJSON:
				return a.printJSON(all)
			case full:
				return notice.Write(a.out, all)
			}
			return a.licenceTable(all)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "print the texts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// notices are those whose name is the argument; if there is none, those that have it in
// their name; without an argument all.
func notices(args []string) ([]notice.Notice, error) {
	all, err := notice.All()
	if err != nil || len(args) == 0 {
		return all, err
	}
	want := strings.ToLower(args[0])
	for _, match := range []func(name string) bool{
		func(name string) bool { return name == want },
		func(name string) bool { return strings.Contains(name, want) },
	} {
		var found []notice.Notice
		for _, n := range all {
			if match(strings.ToLower(n.Name)) {
				found = append(found, n)
			}
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, usagef("nothing called %q is linked or bundled\nSee: lyceum licenses", args[0])
}

func noticeNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := notice.All()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// licenceTable prints a line for each, and how many there are of each licence.
func (a *app) licenceTable(all []notice.Notice) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	count := map[string]int{}
	for _, n := range all {
		count[n.License]++
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.Kind, n.Name, n.Version, n.License)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	var kinds []string
	for licence := range count {
		kinds = append(kinds, licence)
	}
	slices.SortFunc(kinds, func(x, y string) int { return cmp.Or(count[y]-count[x], strings.Compare(x, y)) })
	for i, licence := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[licence], licence)
	}
	_, err := fmt.Fprintf(a.out, "\n%d: %s. The texts: lyceum licenses --full\n", len(all), strings.Join(kinds, ", "))
	return err
}
