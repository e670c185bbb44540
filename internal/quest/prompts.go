package quest

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Prompts are the files of texts that take the place of those that agents are told, by the
// names of those.
type Prompts map[string]string

// check refuses names that a society does not have.
func (p Prompts) check(soc Society, context string) (faults []error) {
	var names []string
	for _, t := range TextsOf(soc, event.ContextCompact) {
		names = append(names, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fault := func(format string, args ...any) {
			faults = append(faults, Fault("prompts."+name, "prompts: "+format, args...))
		}
		near := plain.Near(name, names)
		switch {
		case (name == textCompact || name == textSummary) && context != event.ContextCompact:
			fault("%s is for a quest with context: compact", name)
		case slices.Contains(names, name):
		case len(near) > 0:
			fault("the society %s has no text %.40q; did you mean %s?", NameOf(soc.Rules()), name, spoken(near, "or"))
		default:
			fault("the society %s has no text %.40q; it has %s", NameOf(soc.Rules()), name, spoken(names, "and"))
		}
	}
	return faults
}

// Places are what a text is filled in at, such as {{PROBLEM}}, sorted, each once.
func Places(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(places.FindAllString(text, -1))))
}

var places = regexp.MustCompile(`\{\{[A-Z]+\}\}`)

// Places of prompts, which are filled in when a quest is made, and of the word where an agent
// stands.
const (
	PlaceProblem = "{{PROBLEM}}"
	PlaceProfile = "{{PROFILE}}"
	placeLines   = "{{LINES}}"
)

// CheckPrompt says what is wrong with a text that takes the place of another, nothing if it can.
func CheckPrompt(old event.NamedText, text string) string {
	have, want := Places(text), Places(old.Text)
	if IsPrompt(old.Name) {
		want = append(want, PlaceProfile) // one that has no place for it gets it at the end
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "it is empty"
	case !IsPrompt(old.Name) && event.Weight(text) > MaxPromptText:
		return "it is too long: this text goes into the quest's first event, and has 2,000 bytes at most"
	case slices.Contains(want, PlaceProblem) && !slices.Contains(have, PlaceProblem):
		return "it has no " + PlaceProblem + ", and agents would not be told what to do"
	case slices.Contains(want, placeLines) && !slices.Contains(have, placeLines):
		return "it has no " + placeLines + ", and agents would not be told where they stand"
	}
	for _, place := range have {
		if slices.Contains(want, place) {
			continue
		}
		if len(want) == 0 {
			return place + " is not filled in here, nor is anything else"
		}
		return place + " is not filled in here; there is " + spoken(slices.Compact(want), "and")
	}
	return ""
}

// MaxPromptText is how much of an event a text may take that is no system prompt.
const MaxPromptText = 2000
