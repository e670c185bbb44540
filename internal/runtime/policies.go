package runtime

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// Policies are those of a spec, with what its files say in their place, and those
// that every quest has. root is the folder that the files are in.
func Policies(root *os.Root, list policy.List) ([]event.PolicySpec, error) {
	var chosen []event.PolicySpec
	var faults []error
	for _, item := range list {
		if item.File == "" {
			chosen = append(chosen, item.Policy)
			continue
		}
		data, err := readFile(root, item.File, maxPolicies)
		if err != nil {
			faults = append(faults, quest.FaultIn("policies", item.File, "policies: %v", err))
			continue
		}
		more, err := policy.ParseFile(item.File, data)
		if err != nil {
			faults = append(faults, quest.FaultIn("policies", item.File, "policies: %v", err))
			continue
		}
		chosen = append(chosen, more...)
	}
	if len(faults) > 0 {
		return nil, &PlanError{quest.InOrder(faults)}
	}
	all, err := policy.Complete(chosen)
	if err == nil {
		_, err = policy.New(all)
	}
	if err != nil {
		return nil, badWord("policies", "", "%v", err)
	}
	return all, nil
}

// CheckTools refuses a policy about a tool that nobody has, or about calls of executors where
// there are none: it would guard nothing.
func CheckTools(policies []event.PolicySpec, have []string, executors bool) error {
	var faults []error
	for _, p := range policies {
		names, err := policy.Tools(p)
		if err != nil {
			return err
		}
		for _, n := range names {
			if why := guardsNothing(n, have, executors); why != "" {
				faults = append(faults, quest.FaultIn("policies", n.Name, "the policy %s is about %s", p.Name, why))
			}
		}
	}
	if len(faults) > 0 {
		return &PlanError{quest.InOrder(faults)}
	}
	return nil
}

// guardsNothing says why what a policy calls a tool is nothing in a quest; empty, if it is
// something.
func guardsNothing(n policy.Named, have []string, executors bool) string {
	kind := slices.Contains(event.CallKinds, n.Name)
	kinds := strings.Join(event.CallKinds, ", ")
	switch {
	case n.Tool && slices.Contains(have, n.Name), n.Kind && kind && executors:
		return ""
	case n.Kind && kind:
		return fmt.Sprintf("calls of the kind %s, which executors make by themselves, and no agent of this quest is an executor: see docs/executors.md", n.Name)
	case !n.Tool:
		return fmt.Sprintf("calls of the kind %.60q of an executor: there are %s", n.Name, kinds)
	}
	why := fmt.Sprintf("the tool %.60q, which no agent of this quest has: they have %s", n.Name, strings.Join(have, ", "))
	if kind && executors {
		why += fmt.Sprintf("; calls that executors make by themselves, of the kind %s, are a permission.decided", n.Name)
	}
	return why
}
