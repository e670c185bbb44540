package quest

import (
	"cmp"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Societies are what a quest.yaml can have for a society.
var Societies = []string{"solo", "lab", "contract"}

// Decisions are how a lab can decide about a paper.
var Decisions = []string{"majority", "unanimous"}

// What a lab does if its spec does not say.
const (
	DefaultProfile   = "research"
	DefaultReviewers = 3
	DefaultDeadline  = 40
)

// maxDeadline is the most turns that are believed to be meant; maxGroups is how many
// kinds of agents stand in a quest's first event, which has to hold them.
const (
	maxDeadline = 1_000_000
	maxGroups   = 16
)

// Agents is what a quest.yaml says of its agents: how many, or groups of them.
type Agents []Group

// Group is a number of agents that are alike.
type Group struct {
	Count int64 `yaml:"count"`
	// Model and Profile are the quest's if they are empty.
	Model   string `yaml:"model,omitempty"`
	Profile string `yaml:"profile,omitempty"`
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
	err := strictyaml.Each(n, "agents", func(n ast.Node) error {
		g, err := readGroup(n)
		if err != nil {
			return err
		}
		*a = append(*a, g)
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
		"count":   counted(&g.Count, 1, MaxAgents),
		"model":   strictyaml.Word(&g.Model),
		"profile": profileName(&g.Profile),
	})
	return g, err
}

// profileName reads the name of a profile, which is a folder's.
func profileName(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		if err := strictyaml.Word(to)(n); err != nil {
			return err
		}
		if !event.ValidName(*to) {
			return strictyaml.At(n, "%.80q names no profile: want %s", *to, event.NameRule)
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

// IsLab reports whether the agents publish and review papers.
func (s *Spec) IsLab() bool { return s.Society == "lab" }

// Groups are the quest's agents, each group with the model and the profile it has in
// the end. Where there is no profile, it is empty.
func (s *Spec) Groups() []Group {
	standard := s.Profile
	if s.IsLab() {
		standard = cmp.Or(standard, DefaultProfile)
	}
	groups := slices.Clone(s.Agents)
	if len(groups) == 0 {
		groups = Agents{{Count: 1}}
	}
	for i := range groups {
		groups[i].Model = cmp.Or(groups[i].Model, s.Model)
		groups[i].Profile = cmp.Or(groups[i].Profile, standard)
	}
	return groups
}

// ComputerProfile names the profile that says what computers are, if the spec does
// not: the quest's or, if it names none, that of the first group. All agents have the
// same computer.
func (s *Spec) ComputerProfile() string { return cmp.Or(s.Profile, s.Groups()[0].Profile) }

// Lab is what quest.created says of how papers are judged, nil if there are none.
func (s *Spec) Lab() *event.LabSpec {
	if !s.IsLab() {
		return nil
	}
	l := &event.LabSpec{Deadline: DefaultDeadline, Decision: cmp.Or(s.Decision, Decisions[0]), Reviewers: min(DefaultReviewers, s.Agents.Count()-1)}
	if s.Reviewers != nil {
		l.Reviewers = *s.Reviewers
	}
	if s.Deadline != nil {
		l.Deadline = *s.Deadline
	}
	return l
}

// checkSociety finds what does not go together in how the agents work.
func (s *Spec) checkSociety() *fault {
	switch n := s.Agents.Count(); {
	case s.Society != "" && !slices.Contains(Societies, s.Society):
		return &fault{"society", fmt.Sprintf("society %q: there are solo, lab and contract", s.Society)}
	case s.Profile != "" && !event.ValidName(s.Profile):
		return &fault{"profile", fmt.Sprintf("profile %.80q: want %s", s.Profile, event.NameRule)}
	case s.IsLab():
		return s.checkLab()
	case s.IsContract():
		return nil
	case n > 1:
		return &fault{"agents", fmt.Sprintf("there are %d agents, and the society solo has one: say society: lab, or leave agents out", n)}
	case s.Reviewers != nil:
		return &fault{"reviewers", "reviewers are those of a lab: say society: lab, or leave reviewers out"}
	case s.Decision != "":
		return &fault{"decision", "a decision is about the papers of a lab: say society: lab, or leave decision out"}
	case s.Deadline != nil:
		return &fault{"review_deadline_turns", "reviews are those of a lab: say society: lab, or leave review_deadline_turns out"}
	}
	return nil
}

func (s *Spec) checkLab() *fault {
	n := s.Agents.Count()
	switch {
	case n < 1:
		return &fault{"society", "a lab without agents: say how many, such as agents: 4"}
	case n > MaxAgents:
		return &fault{"agents", fmt.Sprintf("there are %d agents: there can be %d", n, MaxAgents)}
	case s.Reviewers != nil && *s.Reviewers < 0:
		return &fault{"reviewers", fmt.Sprintf("%d reviewers: want 0 or more", *s.Reviewers)}
	case s.Reviewers != nil && *s.Reviewers >= n:
		return &fault{"reviewers", fmt.Sprintf("%d reviewers and %d agents: nobody reviews a paper of their own, so there can be %d", *s.Reviewers, n, n-1)}
	case s.Decision != "" && !slices.Contains(Decisions, s.Decision):
		return &fault{"decision", fmt.Sprintf("decision %.40q: want majority or unanimous", s.Decision)}
	case s.Deadline != nil && (*s.Deadline < 1 || *s.Deadline > maxDeadline):
		return &fault{"review_deadline_turns", fmt.Sprintf("a review within %d turns: want 1 to %d", *s.Deadline, maxDeadline)}
	}
	return nil
}

// agentsSchema is the form of Agents.
func agentsSchema(text string) *jsonschema.Schema {
	count := func(text string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(MaxAgents * 1.0), Description: text}
	}
	group := &jsonschema.Schema{
		Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, Description: "a number of agents that are alike",
		Properties: map[string]*jsonschema.Schema{
			"count":   count("how many; default 1"),
			"model":   {Type: "string", MinLength: new(1), Description: "their model; default: that of the quest"},
			"profile": {Type: "string", Pattern: namePattern, Description: "their profile; default: that of the quest"},
		},
	}
	return &jsonschema.Schema{Description: text, AnyOf: []*jsonschema.Schema{
		count("how many"),
		{Type: "array", MinItems: new(1), MaxItems: new(maxGroups), Items: group},
	}}
}
