package stages

import (
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/policy"
	"lyceum/internal/society/stages/study"
)

// movers are the tools that lead to a stage, each with the argument that decides to which.
var movers = map[string][]string{
	moveAnchor: {"args", "to"}, submitIdea: nil, recordMain: {"args", "kind"}, createCampaign: nil, recordSlice: nil, submitOutline: nil, submitPaper: nil,
}

// policies are those of every study: what has to be there before it goes on, whichever tool
// leads there. What they ask, the facts of the call tell. A person's order is held to the same
// by MaySteer.
func policies() (out []behavior.Thread) {
	tools := []string{moveAnchor, submitIdea, recordMain, createCampaign, recordSlice, submitOutline, submitPaper}
	for _, g := range study.Gates {
		judge := func(f *policy.Facts) behavior.Truth {
			switch {
			case slices.Contains(f.Lacks, g.Name):
				return behavior.Yes
			case hidden(f):
				return behavior.Maybe
			}
			return behavior.No
		}
		out = append(out, policy.Guard(g.Name, fmt.Sprintf("A study goes on to %s with %s, or when a person has waived that with a reason.", g.Before, g.Needs), tools, judge, func(f *policy.Facts) string {
			if hidden(f) {
				return "The arguments are too long for the stage to be seen: leave out what the tool does not take."
			}
			return fmt.Sprintf("The study cannot go on to %s without %s. Make that first, or have a person waive %s with a reason.", f.Ref, g.Needs, g.Name)
		}))
	}
	return out
}

// hidden reports whether it cannot be seen where a call leads.
func hidden(f *policy.Facts) bool {
	arg := movers[f.Tool]
	return arg != nil && f.Field(arg).Kind == behavior.Unknown
}

// leadsTo is the stage that a call of a tool leads to, empty if it leads nowhere. arg is the
// argument that decides.
func leadsTo(tool, arg string) string {
	switch tool {
	case moveAnchor:
		return arg
	case submitIdea:
		return study.Idea
	case recordMain:
		if arg == study.ResultBaseline {
			return study.Baseline
		}
		return study.Experiment
	case createCampaign, recordSlice:
		return study.Campaign
	case submitOutline, submitPaper:
		return study.Write
	}
	return ""
}

// CallFacts implements quest.Memory.
func (m *Memory) CallFacts(f *policy.Facts) {
	arg, moves := movers[f.Tool]
	if !moves {
		return
	}
	word := ""
	if arg != nil {
		word = f.Field(arg).Text
	}
	f.Ref = leadsTo(f.Tool, word)
	for _, g := range m.Study.Lacks(f.Ref) {
		f.Lacks = append(f.Lacks, g.Name)
	}
}
