package world

import (
	"fmt"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/world/trial"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Settings are how a world works, as a quest is made.
type Settings struct {
	Attempts int64 `json:"attempts"`
	// Checks are commands of the author that tier 1 runs besides its own looks.
	Checks      []Check                `json:"checks,omitempty"`
	Constraints []*behavior.Definition `json:"constraints,omitempty"`
	// HeldOut are stories that no prompt has, and Stories those that everybody knows.
	HeldOut []event.WorldStory `json:"held_out,omitempty"`
	Judges  int64              `json:"judges"`
	Kind    string             `json:"kind"`
	Rubric  []Criterion        `json:"rubric,omitempty"`
	Stories []event.WorldStory `json:"stories,omitempty"`
	Tries   int64              `json:"tries"`
}

// Check is a command that looks at what was made without running it: types, lint. Where its
// program is missing it is unavailable; only one that is required blocks.
type Check struct {
	Name     string `json:"name" yaml:"name"`
	Required bool   `json:"required,omitzero" yaml:"required,omitempty"`
	Run      string `json:"run" yaml:"run"`
}

// Criterion is something that judges mark.
type Criterion struct {
	Name string `json:"name" yaml:"name"`
	Text string `json:"text" yaml:"text"`
}

// The keys of a world.
const (
	keyKind        = "world"
	keyJudges      = "judges"
	keyRubric      = "rubric"
	keyStories     = "stories"
	keyHeldOut     = "held_out"
	keyChecks      = "checks"
	keyConstraints = "constraints"
	keyAttempts    = "attempts"
	keyTries       = "tries"
)

// Bounds of what an author says. All of it stands in the first event.
const (
	maxJudges      = 5
	maxAttempts    = 100
	maxTries       = 500
	maxCriteria    = 8
	maxChecks      = 8
	maxConstraints = 8
	maxAuthored    = 4 << 10 // bytes of the author's stories, of each kind
	maxSettings    = 9 << 10

	usualAttempts = 20
	usualTries    = 50
)

var keys = []quest.Key{
	quest.TextKey(keyKind, "what is made in a world: web (the default), a page that a browser opens, or program, which is run", trial.Kinds...),
	quest.NumberKey(keyJudges, "how many judges of a world read what was made before it runs; default 0", 0, maxJudges),
	quest.NewKey[[]Criterion](keyRubric, list("what judges of a world mark, each with a name and a text; default: three of the kind", map[string]*jsonschema.Schema{"name": text(""), "text": text("")}, "name", "text")),
	quest.NewKey[trial.Told](keyStories, stories("stories that what is made in a world must pass, which the maker knows")),
	quest.NewKey[trial.Told](keyHeldOut, stories("stories that it must pass besides, which no agent sees: the maker learns name and kind of a failure")),
	quest.NewKey[[]Check](keyChecks, list("commands of tier 1 of a world, run in the folder of what was made, without running it: types, lint", map[string]*jsonschema.Schema{"name": text(""), "run": text("a shell command"), "required": {Type: "boolean", Description: "whether its failure blocks; default false"}}, "name", "run")),
	quest.NewKey[Constraints](keyConstraints, &jsonschema.Schema{Type: "array", Description: "threads over the declared structure of a world, see docs/world.md", Items: &jsonschema.Schema{Type: "object"}}),
	quest.NumberKey(keyAttempts, "how often the maker of a world may propose something; default 20", 1, maxAttempts),
	quest.NumberKey(keyTries, "how often it may try something out; default 50", 0, maxTries),
}

func text(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about}
}

func list(about string, members map[string]*jsonschema.Schema, required ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: about, Items: &jsonschema.Schema{Type: "object", Properties: members, Required: required, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}}
}

func stories(about string) *jsonschema.Schema {
	return list(about, map[string]*jsonschema.Schema{
		"name": text(""), "intent": text("what somebody wants"),
		"steps":  {Type: "array", Items: &jsonschema.Schema{Type: "object"}},
		"expect": {Type: "array", Items: &jsonschema.Schema{Type: "object"}},
	}, "name", "intent")
}

// Constraints are threads over a structure, as an author writes them.
type Constraints []*behavior.Definition

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (c *Constraints) UnmarshalYAML(n ast.Node) error {
	return strictyaml.Each(n, keyConstraints, func(n ast.Node) error {
		d, err := behavior.ReadDefinition(n)
		if err != nil {
			return err
		}
		*c = append(*c, d)
		return nil
	})
}

// About implements quest.Described.
func (Society) About() string {
	return "a maker of pages or programs, which run only when they have passed; judges; predictions before what is seen; see docs/world.md"
}

// Profile implements quest.Profiled: each kind of world has one, of its name.
func (Society) Profile(s *quest.Spec) string { return settingsOf(s).Kind }

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key { return keys }

// Check implements quest.Keyed.
func (Society) Check(s *quest.Spec) error {
	set := settingsOf(s)
	if len(s.MCP) > 0 {
		return quest.Fault("mcp", "the agents of a world have no servers: nothing runs there but what has passed")
	}
	for _, of := range []struct {
		key  string
		list []event.WorldStory
	}{{keyStories, set.Stories}, {keyHeldOut, set.HeldOut}} {
		if err := trial.CheckStories(set.Kind, of.list); err != nil {
			return quest.Fault(of.key, "%s: %v", of.key, err)
		}
		if w := trial.Weight(of.list); w > maxAuthored {
			return quest.Fault(of.key, "%s has %d bytes, more than %d", of.key, w, maxAuthored)
		}
		for _, x := range of.list {
			if len(x.Expect) == 0 {
				return quest.Fault(of.key, "%s: %s has no condition: nothing passes it", of.key, plain.Quoted(x.Name, 60))
			}
		}
	}
	if err := checkNamed(set); err != nil {
		return err
	}
	if err := checkConstraints(set.Constraints); err != nil {
		return quest.Fault(keyConstraints, "constraints: %v", err)
	}
	if w := trial.Weight(set); w > maxSettings {
		return quest.Fault(keyStories, "stories, held_out, rubric, checks and constraints have %d bytes together, more than %d", w, maxSettings)
	}
	return nil
}

func checkNamed(set Settings) error {
	seen := map[string]bool{}
	once := func(key, name, text string, most int) error {
		if strings.TrimSpace(name) == "" || len(name) > 60 || plain.Controls.In(name) || seen[key+name] {
			return quest.Fault(key, "%s: the name %s is empty, too long, or there twice", key, plain.Quoted(name, 60))
		}
		if strings.TrimSpace(text) == "" || len(text) > most || strings.ContainsRune(text, 0) {
			return quest.Fault(key, "%s: %s says nothing, or has more than %d bytes", key, plain.Quoted(name, 60), most)
		}
		seen[key+name] = true
		return nil
	}
	for _, c := range set.Rubric {
		if err := once(keyRubric, c.Name, c.Text, 1000); err != nil {
			return err
		}
	}
	for _, c := range set.Checks {
		if err := once(keyChecks, c.Name, c.Run, 1000); err != nil {
			return err
		}
	}
	switch {
	case len(set.Rubric) > maxCriteria:
		return quest.Fault(keyRubric, "rubric has %d criteria: there can be %d", len(set.Rubric), maxCriteria)
	case len(set.Checks) > maxChecks:
		return quest.Fault(keyChecks, "checks has %d commands: there can be %d", len(set.Checks), maxChecks)
	}
	return nil
}

// rubrics are what judges mark where nobody says.
var rubrics = map[string][]Criterion{
	trial.Web: {
		{"purpose", "It does what is wanted, all of it, and nothing that surprises whoever uses it."},
		{"access", "Everything can be found and used by role and name, with a keyboard, without seeing."},
		{"care", "What can go wrong is handled: empty, long and odd input, doing things twice."},
	},
	trial.Program: {
		{"purpose", "It does what is wanted, all of it, and nothing besides."},
		{"clarity", "A stranger can read it: names, structure, no more than is needed."},
		{"care", "What can go wrong is handled: empty, long and odd input, and exit codes that say so."},
	},
}

// settingsOf is what a spec says, and what holds where it says nothing.
func settingsOf(s *quest.Spec) Settings {
	set := Settings{Attempts: usualAttempts, Kind: trial.Web, Tries: usualTries}
	if s != nil {
		if kind := quest.TextOf(s, keyKind); kind != "" {
			set.Kind = kind
		}
		number(s, keyJudges, &set.Judges)
		number(s, keyAttempts, &set.Attempts)
		number(s, keyTries, &set.Tries)
		value(s, keyRubric, &set.Rubric)
		value(s, keyChecks, &set.Checks)
		set.Stories, set.HeldOut = told(s, keyStories), told(s, keyHeldOut)
		if c := quest.ValueOf[Constraints](s, keyConstraints); c != nil {
			set.Constraints = *c
		}
	}
	if set.Judges > 0 && len(set.Rubric) == 0 {
		set.Rubric = rubrics[set.Kind]
	}
	return set
}

func number(s *quest.Spec, key string, to *int64) { value(s, key, to) }

func value[T any](s *quest.Spec, key string, to *T) {
	if v := quest.ValueOf[T](s, key); v != nil {
		*to = *v
	}
}

func told(s *quest.Spec, key string) []event.WorldStory {
	if v := quest.ValueOf[trial.Told](s, key); v != nil {
		return *v
	}
	return nil
}

// Settle implements quest.Keyed.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	if err := quest.Record(b, settingsOf(s)); err != nil {
		return fmt.Errorf("world: %w", err)
	}
	return nil
}
