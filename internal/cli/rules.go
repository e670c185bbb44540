package cli

import (
	"fmt"
	"strings"

	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules <quest.yaml | quest>",
		Short: "Say which rules hold for agents, and when they are told them",
		Long: `Rules are the files AGENTS.md of a quest's repository, or of the folder of its quest.yaml: the
one at its root, what that one links to, and those of folders below. A quest with discover
pins them when it is made; what is written later is no rule.

Of a quest.yaml: which there are, when agents would be told each, and which fit the question;
nothing is made. With --intent, which fit that instead. Of a quest: which it has pinned, and
which its agents were told.`,
		Args: exactArgs(1, "a quest.yaml, or a quest's name"),
	}
	a.foresees(cmd, a.printRules)
	return a.questArg(cmd)
}

func (a *app) printRules(f *runtime.Foreseen) {
	if !f.Discover {
		fmt.Fprintln(a.out, "Its agents have no rules: discover: true in quest.yaml gives them some.")
		return
	}
	fmt.Fprintf(a.out, "%s\n", view.Several(int64(len(f.Rules)), "rule"))
	for _, r := range f.Rules {
		fmt.Fprintf(a.out, "  %-30s about %s, %s\n", printable(r.Path), view.Several(int64(r.Tokens), "token"), printable(r.When))
	}
	a.printLeftOut(f)
	for _, g := range f.Agents {
		a.printChosen(g, g.Rules)
	}
}

// printFoundSkills tells of skills that agents find, or look up in their homes.
func (a *app) printFoundSkills(f *runtime.Foreseen) {
	if !f.Discover && len(f.Skills) == 0 {
		fmt.Fprintln(a.out, "Its agents find no skills: discover: true in quest.yaml has them do so.")
		return
	}
	fmt.Fprintf(a.out, "%s\n", view.Several(int64(len(f.Skills)), "skill"))
	for _, s := range f.Skills {
		fmt.Fprintf(a.out, "  %-24s %-6s %s\n", s.Name, s.From, printable(s.Description))
		if len(s.Programs) > 0 {
			fmt.Fprintf(a.out, "  %-24s        programs: %s\n", "", printable(strings.Join(s.Programs, ", ")))
		}
	}
	a.printLeftOut(f)
	if !f.Discover {
		fmt.Fprintln(a.out, "Its agents are told of all of them, and read them in their homes.")
		return
	}
	for _, g := range f.Agents {
		a.printChosen(g, g.Skills)
	}
}

func (a *app) printLeftOut(f *runtime.Foreseen) {
	for _, l := range f.LeftOut {
		fmt.Fprintf(a.out, "  left out: %s: %s\n", printable(l.Name), printable(l.Why))
	}
}

// printChosen tells of what an agent is told.
func (a *app) printChosen(g runtime.ForeseenAgent, chosen []runtime.Chosen) {
	name := g.Agent
	if g.Count > 1 {
		name = fmt.Sprintf("%s (%d of them)", name, g.Count)
	}
	fmt.Fprintf(a.out, "\n%s is told %d\n", printable(name), len(chosen))
	for _, c := range chosen {
		fmt.Fprintf(a.out, "  %-30s %s\n", printable(c.Name), printable(c.Why))
	}
	for _, l := range g.LeftOut {
		fmt.Fprintf(a.out, "  left out: %s: %s\n", printable(l.Name), printable(l.Why))
	}
}
