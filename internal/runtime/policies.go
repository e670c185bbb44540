package runtime

import (
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

// CheckTools refuses a policy about a tool that nobody has: it would guard nothing.
func CheckTools(policies []event.PolicySpec, have []string) error {
	var faults []error
	for _, p := range policies {
		names, err := policy.Tools(p)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(have, name) {
				faults = append(faults, quest.FaultIn("policies", name, "the policy %s is about the tool %.60q, which no agent of this quest has: they have %s", p.Name, name, strings.Join(have, ", ")))
			}
		}
	}
	if len(faults) > 0 {
		return &PlanError{quest.InOrder(faults)}
	}
	return nil
}
