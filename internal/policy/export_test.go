package policy

import (
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// CheckAll checks with the policies that every quest has. Where only they are in
// the way of a model call, the agent rests as it is meant to.
func CheckAll(policies []event.PolicySpec, opts behavior.CheckOptions) (behavior.Verdict, error) {
	opts.Accept = func(s behavior.Status) bool {
		for _, b := range s.Blocked {
			for _, by := range b.By {
				i := slices.IndexFunc(policies, func(p event.PolicySpec) bool { return p.Name == by.Thread })
				if b.Event.Type != "model.call" || i < 0 || !always(policies[i]) {
					return false
				}
			}
		}
		return len(s.Blocked) > 0
	}
	return check(policies, &actor{}, opts)
}
