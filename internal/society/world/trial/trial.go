// Package trial is what a world is put to: what something that was made consists of, in closed
// words; what is done to it, and what must be seen then; whether that is seen, how surprising it
// is, and what it is worth. All of it is a function of what was recorded: who has the same sights
// has the same verdicts.
//
// What comes in are bytes of models and of authors. They are read strictly and within bounds, and
// a fault is told in words that name what it is about. Nothing here fails otherwise.
package trial

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	json "github.com/go-json-experiment/json"
)

// The kinds of worlds: a page in a browser, a program that is run.
const (
	Web     = "web"
	Program = "program"
)

// Kinds are the kinds of worlds.
var Kinds = []string{Web, Program}

// Bounds of what is read. What they let pass fits into the events that hold it.
const (
	MaxStories    = 20
	MaxSteps      = 20
	MaxConditions = 20
	MaxParts      = 40

	MaxBytes     = 64 << 10 // of JSON that is looked at
	MaxStructure = 5 << 10  // of a structure, as JSON
	MaxTold      = 7 << 10  // of the stories of one who tells them, as JSON
	MaxTry       = 6 << 10  // of steps and conditions of a trial, as JSON
	MaxForetold  = 4 << 10  // of what declared loops add to a trial

	maxName   = 80
	maxText   = 1000
	maxInput  = 4000
	maxArgs   = 20
	maxPath   = 200
	maxWait   = 4000 // milliseconds: a story has five seconds
	maxIntent = 500
)

// read reads JSON strictly: members that nobody knows are refused.
func read(what string, raw []byte, to any) error {
	if len(raw) > MaxBytes {
		return fmt.Errorf("%s: %d bytes of JSON are more than %d", what, len(raw), MaxBytes)
	}
	if err := json.Unmarshal(raw, to, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%s: %s", what, plain.Brief(strings.TrimPrefix(err.Error(), "json: "), 300))
	}
	return nil
}

// Weight is how many bytes a value has in an event.
func Weight(v any) int {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return MaxBytes
	}
	return len(raw)
}

// named refuses what cannot be the name of a part.
func named(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%s has no name", what)
	case len(name) > maxName || plain.Controls.In(name):
		return fmt.Errorf("%s %s: a name has at most %d bytes, all of which can be seen", what, quoted(name), maxName)
	}
	return nil
}

// word refuses what is none of the closed words.
func word(what, name, given string, words []string) error {
	if slices.Contains(words, given) {
		return nil
	}
	return fmt.Errorf("%s %s: %s is none of %s", what, quoted(name), quoted(given), strings.Join(words, ", "))
}

// place refuses what cannot be found by role and name.
func place(what string, at event.WorldPlace) error {
	if len(at.Name) > maxText/2 || plain.Controls.In(at.Name) {
		return fmt.Errorf("%s: the name of its place has more than %d bytes, or some that cannot be seen", what, maxText/2)
	}
	if len(at.Role) > maxName/2 || strings.ContainsFunc(at.Role, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return fmt.Errorf("%s: role %s is no role such as button", what, quoted(at.Role))
	}
	return nil
}

func quoted(s string) string { return `"` + plain.Quoted(s, 80) + `"` }

// JSON is a value as JSON, for whoever looks at its members.
func JSON(v any) string {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "null"
	}
	return string(raw)
}
