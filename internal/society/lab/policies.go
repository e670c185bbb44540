package lab

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// The lab's policies say no to a call before anything is read or copied for it. What
// they ask, the facts of the call tell, so that they keep nothing themselves. What
// changes between a call and its effect, Use sees.

func policies() []behavior.Thread {
	return []behavior.Thread{
		guard("reviews-first", "Who is asked to review papers does that before it publishes.", submitPublication,
			func(f *policy.Facts) bool { return len(f.Asked) > 0 },
			func(f *policy.Facts) string {
				return fmt.Sprintf("You are asked to review publications, and that comes first: %s. Read each with %s and use %s; then submit yours.",
					some(f.Asked), getPublication, submitReview)
			}),
		guard("no-self-review", "Nobody reviews its own paper.", submitReview,
			func(f *policy.Facts) bool { return f.Author == f.Agent },
			func(f *policy.Facts) string {
				return fmt.Sprintf("%s is your own publication: others review it.", f.Ref)
			}),
		guard("review-when-asked", "Only who was asked reviews a paper, and before it is decided.", submitReview,
			func(f *policy.Facts) bool {
				return f.Author != "" && f.Author != f.Agent && !slices.Contains(f.Asked, f.Ref)
			},
			func(f *policy.Facts) string { return notAsked(f.Ref, f.Status, f.Asked) }),
		guard("vote-published-only", "Votes are for published papers.", voteSolution,
			func(f *policy.Facts) bool { return f.Author != "" && f.Status != event.Published },
			func(f *policy.Facts) string { return notPublished(f.Ref, f.Status) }),
	}
}

// notAsked says why a review is not taken.
func notAsked(ref, status string, asked []string) string {
	why := fmt.Sprintf("You are not asked to review %s.", ref)
	if status != event.Submitted {
		why = fmt.Sprintf("%s is %s: it takes no more reviews.", ref, status)
	}
	if len(asked) == 0 {
		return why + " You are not asked to review anything."
	}
	return why + " You are asked to review: " + some(asked) + "."
}

func notPublished(ref, status string) string {
	return fmt.Sprintf("%s is %s: only published papers can be voted for. list_publications with status PUBLISHED shows them.", ref, status)
}

// some lists references, the first few of them.
func some(refs []string) string {
	if len(refs) <= maxShown {
		return strings.Join(refs, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(refs[:maxShown], ", "), len(refs)-maxShown)
}

// guard is a thread that blocks certain calls of a tool.
func guard(name, text, tool string, bad func(*policy.Facts) bool, why func(*policy.Facts) string) behavior.Thread {
	judge := func(f *policy.Facts) behavior.Truth {
		switch {
		case bad(f):
			return behavior.Yes
		case tool != submitPublication && hidden(f):
			return behavior.Maybe
		}
		return behavior.No
	}
	return policy.Guard(name, text, []string{tool}, judge, func(f *policy.Facts) string {
		if hidden(f) {
			return "The arguments are too long for the reference to be seen: leave out what the tool does not take."
		}
		return why(f)
	})
}

// hidden reports whether the reference that a call is about cannot be seen.
func hidden(f *policy.Facts) bool { return f.Field(argRef).Kind == behavior.Unknown }

var argRef = []string{"args", "ref"}
