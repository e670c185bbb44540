package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "List, check and explain the rules that every proposal must pass",
		Long: `Policies say "not now", "not you" and "not that" to what agents propose. They stand
in quest.yaml under policies; docs/policies.md tells how they are written.`,
		Args: exactArgs(0, "list, check or explain"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.policyListCommand(), a.policyCheckCommand(), a.policyExplainCommand())
	return cmd
}

// builtinJSON is one line of policy list.
type builtinJSON struct {
	Name   string `json:"name"`
	Use    string `json:"use"`
	Text   string `json:"text"`
	Always bool   `json:"always"`
}

func (a *app) policyListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the policies that are built in",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			var all []builtinJSON
			for _, b := range policy.Builtins() {
				if b.Name() != "thread" {
					all = append(all, builtinJSON{b.Name(), b.Use, b.Text, b.Always})
				}
			}
			if asJSON {
				return a.printJSON(all)
			}
			for _, b := range all {
				always := ""
				if b.Always {
					always = " Every quest has it."
				}
				fmt.Fprintf(a.out, "%-15s %s%s\n", b.Name, b.Text, always)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkJSON is what policy check found.
type checkJSON struct {
	File   string          `json:"file"`
	Result behavior.Result `json:"result"`
	Reason string          `json:"reason,omitempty"`
	// Trace is the shortest way into what is wrong.
	Trace  []string `json:"trace,omitempty"`
	States int      `json:"states"`
	Depth  int      `json:"depth"`
}

func (a *app) policyCheckCommand() *cobra.Command {
	var asJSON, mermaid bool
	var depth int
	cmd := &cobra.Command{
		Use:   "check <file>",
		Short: "Check a file of policies, or a quest.yaml, for mistakes and traps",
		Long: `Read the policies of a file and play every agent that could meet them, as deep as
--depth says: whatever it does, there must be something left that it may do. Exits 1
and shows the shortest way into the trap if there is one. "cut off" means that
none was found as far as was looked.`,
		Args: exactArgs(1, "a file with policies"),
		RunE: func(_ *cobra.Command, args []string) error {
			if depth < 1 || depth > 1000 {
				return usagef("--depth %d: want 1 to 1000", depth)
			}
			all, who, err := policiesOf(args[0])
			if err != nil {
				return err
			}
			if mermaid {
				text, err := policy.Mermaid(all)
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(a.out, text)
				return err
			}
			return a.checkPolicies(args[0], all, who, depth, asJSON)
		},
	}
	cmd.Flags().IntVar(&depth, "depth", 12, "how many steps of an agent to look ahead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "draw the policies as a Mermaid flowchart instead")
	return cmd
}

func (a *app) checkPolicies(file string, all []event.PolicySpec, who policy.Players, depth int, asJSON bool) error {
	v, err := policy.Check(all, who, behavior.CheckOptions{Depth: depth})
	if err != nil {
		return usageError{err}
	}
	out := checkJSON{File: file, Result: v.Result, Reason: v.Reason, States: v.States, Depth: v.Depth}
	for _, e := range v.Trace {
		out.Trace = append(out.Trace, e.String())
	}
	if asJSON {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.printCheck(out, len(all))
	}
	if v.Result == behavior.Fails {
		return errFailed
	}
	return nil
}

func (a *app) printCheck(v checkJSON, n int) {
	fmt.Fprintf(a.out, "%s: %s (%s, %s, %s deep)\n", printable(v.File), v.Result, view.Several(int64(n), "policy", "policies"), view.Several(int64(v.States), "state"), view.Several(int64(v.Depth), "step"))
	if v.Result != behavior.Fails {
		if v.Reason != "" {
			fmt.Fprintf(a.out, "Nothing is wrong as far as was looked: %s.\n", printable(v.Reason))
		}
		return
	}
	for i, step := range v.Trace {
		fmt.Fprintf(a.out, "%4d. %s\n", i+1, printable(step))
	}
	fmt.Fprintf(a.out, "%4s  %s\n", "!", printable(v.Reason))
}

// policiesOf reads a file of policies, or those of a quest.yaml with the files
// that it names; and says who meets them.
func policiesOf(path string) (all []event.PolicySpec, who policy.Players, err error) {
	data, err := readSource(path)
	if err != nil {
		return nil, who, usagef("read the policies: %w", err)
	}
	if isQuest.Match(data) {
		// A quest.yaml is more than its policies, and may name files of them.
		spec, err := societies().ParseSpec(path, data)
		if err != nil {
			return nil, who, err
		}
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return nil, who, err
		}
		defer root.Close()
		all, err := runtime.Policies(root, spec.Policies)
		if err != nil {
			return nil, who, err
		}
		names := spec.Tools
		if names == nil {
			// What a profile says is known when the quest is made.
			names = tool.Offered(tool.Builtin(), !spec.Computer.None() || societies().ComputerProfile(spec) != "")
		}
		for _, t := range spec.CoreTools(true, false) {
			names = append(names, t.Name)
		}
		who = societies().Players(spec)
		return all, who, runtime.CheckTools(all, slices.Concat(names, ownTools(spec.Society)), who.Executors)
	}
	chosen, err := policy.ParseFile(path, data)
	if err != nil {
		return nil, who, err
	}
	if all, err = policy.Complete(chosen); err != nil {
		return nil, who, usageError{err}
	}
	return all, policy.Everybody(), nil
}

// isQuest tells a quest.yaml from a file of policies.
var isQuest = regexp.MustCompile(`(?m)^(problem|problem_file)\s*:`)

func (a *app) policyExplainCommand() *cobra.Command {
	var asJSON bool
	var at uint64
	cmd := &cobra.Command{
		Use:   "explain <quest>",
		Short: "Say what agents may do at some point of a quest, what not, and why",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkName(args[0]); err != nil {
				return err
			}
			if err := a.open(false); err != nil {
				return err
			}
			s, err := a.rt.At(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			x := s.Explain()
			if asJSON {
				return a.printJSON(x)
			}
			a.printExplanation(x)
			return nil
		},
	}
	cmd.Flags().Uint64Var(&at, "at", 0, "after which event (default: the last)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return a.questArg(cmd)
}

func (a *app) printExplanation(x quest.Explanation) {
	fmt.Fprintf(a.out, "%s after event %d: %s\n", x.Quest, x.Seq, x.Status)
	for _, g := range x.Agents {
		fmt.Fprintf(a.out, "\n%s (%s)\n", g.Name, g.Phase)
		if g.Parked != "" {
			fmt.Fprintf(a.out, "  parked: %s\n", oneLine(g.Parked, 200))
		}
		for _, p := range g.Proposals {
			what := string(p.Proposal)
			if p.Tool != "" {
				what += " " + p.Tool
			}
			if p.Args != "" {
				what += " " + oneLine(p.Args, 60)
			}
			verdict := p.Verdict
			if verdict == "depends" {
				what += " (on its arguments)"
			}
			fmt.Fprintf(a.out, "  %-9s %s\n", verdict, what)
			for _, b := range p.By {
				reason := b.Reason
				for _, d := range x.Policies {
					if reason == "" && d.Name == b.Thread {
						reason = d.Text
					}
				}
				fmt.Fprintf(a.out, "            by %s: %s\n", b.Thread, oneLine(reason, 200))
			}
		}
	}
	fmt.Fprintln(a.out, "\nPolicies")
	for _, d := range x.Policies {
		fmt.Fprintf(a.out, "  %s: %s\n", d.Name, printable(d.Text))
		if d.Broken != "" {
			fmt.Fprintf(a.out, "    broke down: %s\n", printable(d.Broken))
		}
		for _, s := range d.States {
			fmt.Fprintf(a.out, "    %s\n", printable(s))
		}
	}
}
