package trial

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"
	"lyceum/internal/workspace"

	json "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml/ast"
)

// The closed words of steps and conditions.
var (
	PageSteps    = []string{"click", "type", "press", "select", "wait"}
	ProgramSteps = []string{"run"}

	PageConditions    = []string{"present", "absent", "text", "value", "checked", "disabled", "focused", "count", "console", "dialog", "request", "title"}
	ProgramConditions = []string{"exit", "output", "error", "file"}

	Comparisons = []string{"is", "contains"}
)

// ReadStories reads the stories of a maker: at least one, or none if that may be.
func ReadStories(kind string, raw []byte) ([]event.WorldStory, error) {
	var list []event.WorldStory
	if err := read("stories", raw, &list); err != nil {
		return nil, err
	}
	if err := CheckStories(kind, list); err != nil {
		return nil, err
	}
	return list, nil
}

// Told are the stories of an author, who writes YAML. Reading them looks at their form alone:
// which words they may have follows from the kind of the world, and CheckStories says so.
type Told []event.WorldStory

// UnmarshalYAML implements yaml.NodeUnmarshaler. The fault has its line.
func (t *Told) UnmarshalYAML(n ast.Node) error {
	raw, err := asJSON(n)
	if err != nil {
		return err
	}
	if err := read("stories", raw, (*[]event.WorldStory)(t)); err != nil {
		return strictyaml.Wrap(n, err)
	}
	return nil
}

// MarshalYAML implements yaml.InterfaceMarshaler: what is not said is not written.
func (t Told) MarshalYAML() (any, error) {
	raw, err := json.Marshal([]event.WorldStory(t))
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(raw, &v)
}

// asJSON is what stands at a node, as JSON: who reads that is strict.
func asJSON(n ast.Node) ([]byte, error) {
	var v any
	if err := strictyaml.Value(n, &v); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, strictyaml.At(n, "this is no data that stories have: %s", plain.Brief(err.Error(), 200))
	}
	return raw, nil
}

// ReadSteps reads what is done in a trial.
func ReadSteps(kind string, raw []byte) ([]event.WorldStep, error) {
	var list []event.WorldStep
	if err := read("steps", raw, &list); err != nil {
		return nil, err
	}
	if err := CheckSteps(kind, list); err != nil {
		return nil, err
	}
	return list, nil
}

// ReadConditions reads what is seen or not.
func ReadConditions(kind string, raw []byte) ([]event.WorldCondition, error) {
	var list []event.WorldCondition
	if err := read("expect", raw, &list); err != nil {
		return nil, err
	}
	if err := CheckConditions(kind, list); err != nil {
		return nil, err
	}
	return list, nil
}

// ReadExpectations reads what a maker foresees: conditions, each with its probability.
func ReadExpectations(kind string, raw []byte) ([]event.WorldExpectation, error) {
	var list []event.WorldExpectation
	if err := read("expect", raw, &list); err != nil {
		return nil, err
	}
	if err := CheckExpectations(kind, list); err != nil {
		return nil, err
	}
	return list, nil
}

// CheckStories refuses stories that nobody can tell apart, do or judge. A story without a
// condition can be told: its verdict is that it says nothing.
func CheckStories(kind string, list []event.WorldStory) error {
	if len(list) > MaxStories {
		return fmt.Errorf("there are %d stories, more than %d", len(list), MaxStories)
	}
	seen := map[string]bool{}
	for _, s := range list {
		if err := named("a story", s.Name); err != nil {
			return err
		}
		if seen[s.Name] {
			return fmt.Errorf("story %s is there twice", quoted(s.Name))
		}
		seen[s.Name] = true
		if len(s.Intent) > maxIntent {
			return fmt.Errorf("story %s: an intent has at most %d bytes", quoted(s.Name), maxIntent)
		}
		if err := CheckSteps(kind, s.Steps); err != nil {
			return fmt.Errorf("story %s: %w", quoted(s.Name), err)
		}
		if err := CheckConditions(kind, s.Expect); err != nil {
			return fmt.Errorf("story %s: %w", quoted(s.Name), err)
		}
	}
	if w := Weight(list); w > MaxTold {
		return fmt.Errorf("the stories have %d bytes, more than %d: tell them in fewer words", w, MaxTold)
	}
	return nil
}

// CheckExpectations refuses what is no prediction: without one there is no trial.
func CheckExpectations(kind string, list []event.WorldExpectation) error {
	if len(list) == 0 {
		return fmt.Errorf("nothing is expected: say at least one condition, with its probability in thousandths")
	}
	conditions := make([]event.WorldCondition, len(list))
	for i, x := range list {
		if x.Probability < 0 || x.Probability > 1000 {
			return fmt.Errorf("condition %d: probability %d: want 0 to 1000, in thousandths", i+1, x.Probability)
		}
		if x.Loop != "" {
			return fmt.Errorf("condition %d: loops add what they foretell by themselves, leave loop out", i+1)
		}
		conditions[i] = x.Condition
	}
	return CheckConditions(kind, conditions)
}

// CheckSteps refuses steps that this kind of world does not have.
func CheckSteps(kind string, steps []event.WorldStep) error {
	if len(steps) > MaxSteps {
		return fmt.Errorf("there are %d steps, more than %d", len(steps), MaxSteps)
	}
	waits := int64(0)
	for i, s := range steps {
		if err := checkStep(kind, s); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		waits += s.Milliseconds
	}
	if waits > maxWait {
		return fmt.Errorf("the steps wait %d milliseconds, more than %d", waits, maxWait)
	}
	return nil
}

func checkStep(kind string, s event.WorldStep) error {
	words := PageSteps
	if kind == Program {
		words = ProgramSteps
	}
	if !slices.Contains(words, s.Do) {
		return fmt.Errorf("do %s is none of %s", quoted(s.Do), strings.Join(words, ", "))
	}
	if err := place(s.Do, s.At); err != nil {
		return err
	}
	none := s.At == event.WorldPlace{}
	switch {
	case len(s.Text) > maxText || strings.ContainsRune(s.Text, 0):
		return fmt.Errorf("%s: text has at most %d bytes", s.Do, maxText)
	case len(s.Input) > maxInput || s.Input != "" && s.Do != "run":
		return fmt.Errorf("%s: input is a program's, of at most %d bytes", s.Do, maxInput)
	case len(s.Args) > maxArgs || len(s.Args) > 0 && s.Do != "run":
		return fmt.Errorf("%s: args are a program's, at most %d", s.Do, maxArgs)
	case s.Milliseconds < 0 || s.Milliseconds > maxWait || s.Milliseconds > 0 && s.Do != "wait":
		return fmt.Errorf("%s: milliseconds are those of a wait, at most %d", s.Do, maxWait)
	case s.Do == "wait" && s.Milliseconds == 0:
		return fmt.Errorf("wait: say how long, in milliseconds")
	case (s.Do == "click" || s.Do == "type" || s.Do == "select") && none:
		return fmt.Errorf("%s: say where, by role and name", s.Do)
	case (s.Do == "wait" || s.Do == "run") && !none:
		return fmt.Errorf("%s has no place", s.Do)
	case (s.Do == "press" || s.Do == "select") && s.Text == "":
		return fmt.Errorf("%s: text says what", s.Do)
	case (s.Do == "click" || s.Do == "wait" || s.Do == "run") && s.Text != "":
		return fmt.Errorf("%s has no text", s.Do)
	}
	for _, a := range s.Args {
		if len(a) > maxText || strings.ContainsRune(a, 0) {
			return fmt.Errorf("run: an argument has at most %d bytes", maxText)
		}
	}
	return nil
}

// CheckConditions refuses conditions that this kind of world does not have.
func CheckConditions(kind string, list []event.WorldCondition) error {
	if len(list) > MaxConditions {
		return fmt.Errorf("there are %d conditions, more than %d", len(list), MaxConditions)
	}
	for i, c := range list {
		if err := checkCondition(kind, c); err != nil {
			return fmt.Errorf("condition %d: %w", i+1, err)
		}
	}
	return nil
}

// located are the conditions that need a place, and compared those that compare a text.
var (
	located  = []string{"present", "absent", "value", "checked", "disabled", "focused", "count"}
	compared = []string{"text", "value", "console", "dialog", "request", "title", "output", "error", "file"}
	counted  = []string{"count", "exit"}
)

func checkCondition(kind string, c event.WorldCondition) error {
	words := PageConditions
	if kind == Program {
		words = ProgramConditions
	}
	if !slices.Contains(words, c.Kind) {
		return fmt.Errorf("kind %s is none of %s", quoted(c.Kind), strings.Join(words, ", "))
	}
	if c.How != "" && !slices.Contains(Comparisons, c.How) {
		return fmt.Errorf("%s: how %s is none of %s", c.Kind, quoted(c.How), strings.Join(Comparisons, ", "))
	}
	if err := place(c.Kind, c.At); err != nil {
		return err
	}
	none := c.At == event.WorldPlace{}
	switch {
	case none && slices.Contains(located, c.Kind):
		return fmt.Errorf("%s: say where, by role and name", c.Kind)
	case !none && c.Kind != "text" && !slices.Contains(located, c.Kind):
		return fmt.Errorf("%s has no place", c.Kind)
	case (c.Text != "" || c.How != "") && !slices.Contains(compared, c.Kind):
		return fmt.Errorf("%s compares no text", c.Kind)
	case c.How == "contains" && c.Text == "" && !slices.Contains([]string{"console", "dialog", "request"}, c.Kind):
		return fmt.Errorf("%s: everything contains nothing: say the text", c.Kind)
	case c.Number != 0 && !slices.Contains(counted, c.Kind), c.Number < 0, c.Number > 1_000_000:
		return fmt.Errorf("%s: number is a count or an exit code", c.Kind)
	case len(c.Text) > maxText || strings.ContainsRune(c.Text, 0):
		return fmt.Errorf("%s: text has at most %d bytes", c.Kind, maxText)
	case (c.Kind == "file") != (c.Path != ""):
		return fmt.Errorf("%s: path is the file's that a program leaves", c.Kind)
	case c.Path != "" && (len(c.Path) > maxPath || workspace.Odd(c.Path) != "" || strings.HasPrefix(c.Path, "/") || strings.Contains("/"+c.Path+"/", "/../")):
		return fmt.Errorf("file: path %s is no file below the folder", quoted(c.Path))
	}
	return nil
}
