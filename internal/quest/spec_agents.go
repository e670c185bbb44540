package quest

import (
	"cmp"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxGroups is how many kinds of agents stand in a quest's first event, which has to hold
// them.
const maxGroups = 16

// Agents is what a quest.yaml says of its agents: how many, or groups of them.
type Agents []Group

// Group is a number of agents that are alike.
type Group struct {
	Count int64 `yaml:"count"`
	// Model and Profile are the quest's if they are empty.
	Model   string `yaml:"model,omitempty"`
	Profile string `yaml:"profile,omitempty"`
	// Executor is the outside agent that they are, if they are one. The model is what its
	// gateway gives it.
	Executor string `yaml:"executor,omitempty"`
	// Thinking and MaxOutput are as well.
	Thinking  Thinking `yaml:"thinking,omitempty"`
	MaxOutput int64    `yaml:"max_output,omitempty"`
}

// Count is how many agents there are.
func (a Agents) Count() (n int64) {
	for _, g := range a {
		n += g.Count
	}
	return n
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (a *Agents) UnmarshalYAML(n ast.Node) error {
	*a = nil
	if _, ok := n.(*ast.SequenceNode); !ok {
		var g Group
		if err := counted(&g.Count, 1, MaxAgents)(n); err != nil {
			return strictyaml.At(n, "agents must be a whole number from 1 to %d, or a list of groups such as {count: 2, model: demo}", MaxAgents)
		}
		*a = Agents{g}
		return nil
	}
	full := false // which is said once
	err := strictyaml.Each(n, "agents", func(n ast.Node) error {
		g, err := readGroup(n)
		if err != nil || full {
			return err
		}
		*a = append(*a, g)
		full = a.Count() > MaxAgents || len(*a) > maxGroups
		switch {
		case a.Count() > MaxAgents:
			return strictyaml.At(n, "with this group there are %d agents: there can be %d", a.Count(), MaxAgents)
		case len(*a) > maxGroups:
			return strictyaml.At(n, "there are more than %d groups: put agents that are alike into one, with a greater count", maxGroups)
		}
		return nil
	})
	if err == nil && len(*a) == 0 {
		err = strictyaml.At(n, "agents is an empty list: a quest needs an agent")
	}
	return err
}

func readGroup(n ast.Node) (Group, error) {
	g := Group{Count: 1}
	err := strictyaml.Fields(n, "a group of agents", map[string]func(ast.Node) error{
		"count":      counted(&g.Count, 1, MaxAgents),
		"model":      strictyaml.Word(&g.Model),
		"profile":    named(&g.Profile, "profile"),
		"executor":   named(&g.Executor, "executor"),
		"max_output": counted(&g.MaxOutput, MinOutput, MaxOutput),
		"thinking": func(n ast.Node) error {
			if err := g.Thinking.read(scalar(n)); err != nil {
				return strictyaml.At(n, "%s", err)
			}
			return nil
		},
	})
	return g, err
}

// named reads the name of a profile, which is a folder's, or of an executor.
func named(to *string, what string) func(ast.Node) error {
	return func(n ast.Node) error {
		if err := strictyaml.Word(to)(n); err != nil {
			return err
		}
		if !event.ValidName(*to) {
			return strictyaml.At(n, "%.80q names no %s: want %s", *to, what, event.NameRule)
		}
		return nil
	}
}

// MarshalYAML implements yaml.InterfaceMarshaler: what UnmarshalYAML reads.
func (a Agents) MarshalYAML() (any, error) {
	if len(a) == 1 && a[0] == (Group{Count: a[0].Count}) {
		return a[0].Count, nil
	}
	return []Group(a), nil
}

// Groups are a spec's agents, each group with the model, the profile, the thinking and
// the length of answers it has in the end. Where there is no profile, it is empty.
func (l Societies) Groups(s *Spec) []Group {
	standard := l.ProfileOf(s)
	groups := slices.Clone(s.Agents)
	if len(groups) == 0 {
		groups = Agents{{Count: 1}}
	}
	for i := range groups {
		groups[i].Model = cmp.Or(groups[i].Model, s.Model)
		groups[i].Profile = cmp.Or(groups[i].Profile, standard)
		groups[i].Executor = cmp.Or(groups[i].Executor, s.Executor)
		groups[i].Thinking = cmp.Or(groups[i].Thinking, s.Thinking)
		groups[i].MaxOutput = cmp.Or(groups[i].MaxOutput, s.MaxOutput)
	}
	return groups
}

// ProfileOf names the profile of a spec: its own, or that of its society.
func (l Societies) ProfileOf(s *Spec) string {
	soc := l.Named(s.Society)
	if soc == nil {
		return s.Profile
	}
	var by string
	if p, ok := soc.(Profiled); ok {
		by = p.Profile(s)
	}
	return cmp.Or(s.Profile, by, soc.Traits().Profile)
}

// ComputerProfile names the profile that says what computers are, if the spec does
// not: the quest's or, if it names none, that of the first group. All agents have the
// same computer.
func (l Societies) ComputerProfile(s *Spec) string {
	return cmp.Or(s.Profile, l.Groups(s)[0].Profile)
}

// checkAgents finds a number of agents that a society cannot have.
func (l Societies) checkAgents(s *Spec, soc Society) error {
	name, n := NameOf(soc.Rules()), s.Agents.Count()
	if _, ok := soc.(Cast); ok {
		if len(s.Agents) > 0 {
			return Fault("agents", "the society %s has its own agents: leave agents out", name)
		}
		if s.Executor != "" {
			return Fault("executor", "the society %s has its own agents, and none of them is an executor: leave executor out", name)
		}
		return nil
	}
	switch many := soc.Traits().Many; {
	case many && n < 1:
		return Fault("society", "the society %s without agents: say how many, such as agents: 4", name)
	case many && n > MaxAgents:
		return Fault("agents", "there are %d agents: there can be %d", n, MaxAgents)
	case !many && n > 1:
		other := l.many()
		if other != "" {
			other = "say society: " + other + ", or "
		}
		return Fault("agents", "there are %d agents, and the society %s has one: %sleave agents out", n, name, other)
	}
	return nil
}

// agentsSchema is the form of Agents.
func agentsSchema(text string) *jsonschema.Schema {
	count := func(text string) *jsonschema.Schema { return Numbers(1, MaxAgents, text) }
	group := &jsonschema.Schema{
		Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, Description: "a number of agents that are alike",
		Properties: map[string]*jsonschema.Schema{
			"count":      count("how many; default 1"),
			"model":      {Type: "string", MinLength: new(1), Description: "their model; default: that of the quest"},
			"profile":    {Type: "string", Pattern: namePattern, Description: "their profile; default: that of the quest"},
			"executor":   {Type: "string", Pattern: namePattern, Description: "the coding agent that they are, in their computers; default: that of the quest, or Lyceum's own agents"},
			"thinking":   thinkingSchema("how much they think; default: as the quest says"),
			"max_output": Numbers(MinOutput, MaxOutput, "how many tokens their answers may have; default: as the quest says"),
		},
	}
	return &jsonschema.Schema{Description: text, AnyOf: []*jsonschema.Schema{
		count("how many"),
		{Type: "array", MinItems: new(1), MaxItems: new(maxGroups), Items: group},
	}}
}
