package task

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"
)

// Bounds of a unit of a plan.
const (
	MaxGoal       = 4 << 10
	MaxAcceptance = 16
	MaxCommand    = 1 << 10
	maxID         = 40
)

// plan is a plan as a person reads and edits it.
type plan struct {
	Tasks []unit `yaml:"tasks"`
}

type unit struct {
	ID         string   `yaml:"id"`
	Goal       string   `yaml:"goal"`
	Include    []string `yaml:"include"`
	Exclude    []string `yaml:"exclude,omitempty"`
	NoTouch    []string `yaml:"no_touch,omitempty"`
	Acceptance []string `yaml:"acceptance,omitempty"`
	Criteria   []string `yaml:"criteria,omitempty"`
	After      []string `yaml:"after,omitempty"`
	ReadOnly   bool     `yaml:"read_only,omitempty"`
}

// EncodePlan writes a plan for a person, who may send it back changed.
func EncodePlan(tasks []event.TaskPlan) []byte {
	var p plan
	for _, t := range tasks {
		p.Tasks = append(p.Tasks, unit{ID: t.ID, Goal: t.Goal, Include: t.Scope.Include, Exclude: t.Scope.Exclude, NoTouch: t.Scope.NoTouch,
			Acceptance: t.Acceptance, Criteria: t.Criteria, After: t.After, ReadOnly: t.ReadOnly})
	}
	return encode(p)
}

// IsPlan reports whether an answer is meant as a plan, and not as words about one.
func IsPlan(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); line == "" || strings.HasPrefix(line, "#") || line == "---" {
			continue
		}
		return strings.HasPrefix(line, "tasks:")
	}
	return false
}

// DecodePlan reads a plan that a person sent. An error says all that is wrong.
func DecodePlan(data []byte) ([]event.TaskPlan, error) {
	var p plan
	if err := strictyaml.Decode("plan", data, &p); err != nil {
		return nil, err
	}
	var tasks []event.TaskPlan
	for _, u := range p.Tasks {
		tasks = append(tasks, event.TaskPlan{ID: u.ID, Goal: u.Goal, Acceptance: some(u.Acceptance), Criteria: some(u.Criteria), After: some(u.After), ReadOnly: u.ReadOnly,
			Scope: event.TaskScope{Include: u.Include, Exclude: some(u.Exclude), NoTouch: some(u.NoTouch)}})
	}
	if faults := Faults(tasks); len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "\n"))
	}
	return tasks, nil
}

func some(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Faults says what the units of a plan lack, each in a sentence that names the unit.
func Faults(tasks []event.TaskPlan) []string {
	if len(tasks) == 0 {
		return []string{"the plan has no task"}
	}
	var faults []string
	seen := map[string]bool{}
	for i, t := range tasks {
		name := "task " + plain.Quoted(t.ID, maxID)
		switch {
		case !IsID(t.ID):
			name = fmt.Sprintf("task %d", i+1)
			faults = append(faults, fmt.Sprintf("%s: id %s must be a short name of letters, digits, _ and -", name, plain.Quoted(t.ID, maxID)))
		case seen[t.ID]:
			faults = append(faults, name+": another has this id")
		}
		for _, f := range lacks(t) {
			faults = append(faults, name+": "+f)
		}
		for _, a := range t.After {
			if !slices.ContainsFunc(tasks, func(o event.TaskPlan) bool { return o.ID == a && a != t.ID }) {
				faults = append(faults, fmt.Sprintf("%s: after names %s, which is no other task of the plan", name, plain.Quoted(a, maxID)))
			}
		}
		seen[t.ID] = true
	}
	if len(faults) == 0 {
		faults = circles(tasks)
	}
	return faults
}

// lacks says what a unit lacks to be handed over.
func lacks(t event.TaskPlan) (faults []string) {
	if strings.TrimSpace(t.Goal) == "" {
		faults = append(faults, "goal is empty: say what is to be done")
	}
	if len(t.Goal) > MaxGoal {
		faults = append(faults, fmt.Sprintf("goal has more than %d bytes", MaxGoal))
	}
	if len(t.Acceptance)+len(t.Criteria) == 0 {
		faults = append(faults, "acceptance is empty: name a command that succeeds when it is done, or criteria in words")
	}
	if len(t.Acceptance) > MaxAcceptance || len(t.Criteria) > MaxAcceptance || len(t.After) > MaxAcceptance {
		faults = append(faults, fmt.Sprintf("acceptance, criteria and after have at most %d entries each", MaxAcceptance))
	}
	for _, c := range slices.Concat(t.Acceptance, t.Criteria) {
		if strings.TrimSpace(c) == "" || len(c) > MaxCommand || strings.ContainsRune(c, 0) {
			faults = append(faults, fmt.Sprintf("acceptance: %s is empty or has more than %d bytes", plain.Quoted(c, 40), MaxCommand))
		}
	}
	if err := Of(t.Scope).Check(); err != nil {
		faults = append(faults, err.Error())
	}
	return faults
}

// circles finds tasks that wait for each other.
func circles(tasks []event.TaskPlan) []string {
	done := map[string]bool{}
	for range tasks {
		for _, t := range tasks {
			if !slices.ContainsFunc(t.After, func(a string) bool { return !done[a] }) {
				done[t.ID] = true
			}
		}
	}
	var waits []string
	for _, t := range tasks {
		if !done[t.ID] {
			waits = append(waits, t.ID)
		}
	}
	if len(waits) == 0 {
		return nil
	}
	return []string{"these tasks wait for each other: " + strings.Join(waits, ", ")}
}

// IsID reports whether a text can name a task.
func IsID(s string) bool {
	if s == "" || len(s) > maxID || !isLetter(s[0]) && (s[0] < '0' || s[0] > '9') {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
