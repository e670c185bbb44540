package stages

import (
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/policy"
	"lyceum/internal/society/stages/study"
)

// policies are those of every study: what has to be there before it goes on. What they ask, the
// facts of the call tell. A person's order is held to the same by MaySteer.
func policies() (out []behavior.Thread) {
	for _, g := range study.Gates {
		judge := func(f *policy.Facts) behavior.Truth {
			switch {
			case slices.Contains(f.Lacks, g.Name):
				return behavior.Yes
			case f.Field(argTo).Kind == behavior.Unknown:
				return behavior.Maybe
			}
			return behavior.No
		}
		out = append(out, policy.Guard(g.Name, fmt.Sprintf("A study goes on to %s with %s, or when a person has waived that with a reason.", g.Before, g.Needs), moveAnchor, judge, func(f *policy.Facts) string {
			if f.Field(argTo).Kind == behavior.Unknown {
				return "The arguments are too long for the stage to be seen: leave out what the tool does not take."
			}
			return fmt.Sprintf("The study cannot go on to %s without %s. Make that first, or have a person waive %s with a reason.", f.Ref, g.Needs, g.Name)
		}))
	}
	return out
}

var argTo = []string{"args", "to"}

// CallFacts implements quest.Memory.
func (m *Memory) CallFacts(f *policy.Facts) {
	if f.Tool != moveAnchor {
		return
	}
	f.Ref = f.Field(argTo).Text
	for _, g := range m.Study.Lacks(f.Ref) {
		f.Lacks = append(f.Lacks, g.Name)
	}
}
