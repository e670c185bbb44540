package view

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// reviewTool is the tool by which an agent hands in a review: a lane says that it reviews meanwhile.
const reviewTool = "submit_review"

// words implements Society: they are for what happens among the papers of a lab.
func (laboratory) words() dictionary {
	return dictionary{
		matters(word("publication", func(t *Teller, e event.Event, b *event.PublicationSubmitted) Words {
			return Words{By: e.Actor, Text: "hands in " + t.titled(flat(b.Ref, 64), b.Title), Weight: News}
		}), func(b *event.PublicationSubmitted) Interest { return Interest{Of: b.Ref} }).onLanes("paper"),
		word(KindReproduction, func(t *Teller, _ event.Event, b *event.ReproductionCall) Words {
			return Words{Text: "runs " + t.cut(b.Entrypoint) + " of " + t.thing(b.Ref) + " twice", Weight: News, concerns: b.Ref}
		}),
		mayFail(word("", func(t *Teller, _ event.Event, b *event.ReproductionResult) Words {
			text := because("the program: "+t.cut(b.Status), t.cut(b.Reason))
			if len(b.Missing) > 0 {
				text += "; claims that are not in its output: " + t.cut(strings.Join(b.Missing, ", "))
			}
			return Words{Text: text, Notes: append(outcome(b.Status == event.NotRun, b.Duration), printed(b.Output)...), Weight: News}
		}), func(b *event.ReproductionResult) bool { return b.Status != event.SameOutput }),
		word("review request", func(t *Teller, _ event.Event, b *event.ReviewRequested) Words {
			return Words{Text: b.Reviewer + " is asked to review " + t.thing(b.Ref), Notes: []string{fmt.Sprintf("until its turn %d", b.Deadline)}, Weight: News, about: b.Ref, concerns: b.Reviewer}
		}),
		word("review expired", func(t *Teller, _ event.Event, b *event.ReviewExpired) Words {
			instead := "nobody"
			if b.Instead != "" {
				instead = b.Instead
			}
			return Words{Text: b.Reviewer + " has not reviewed " + t.thing(b.Ref) + " in time; " + instead + " is asked instead", Weight: News, concerns: b.Reviewer}
		}),
		word("review", func(t *Teller, e event.Event, b *event.ReviewSubmitted) Words {
			verb := "rejects "
			if b.Grade == event.Accept {
				verb = "accepts "
			}
			return Words{By: e.Actor, Text: because(verb+t.thing(b.Ref), t.text(b.Content)), Weight: News, about: b.Ref}
		}).onLanes("review"),
		matters(mayFail(word("decision", func(t *Teller, _ event.Event, b *event.PublicationDecided) Words {
			return Words{Text: fmt.Sprintf("%s is %s (%d for, %d against)", t.thing(b.Ref), t.cut(b.Status), b.Accepts, b.Rejects), Weight: News, about: b.Ref, concerns: b.Ref}
		}), func(b *event.PublicationDecided) bool { return b.Status == event.Rejected }), func(b *event.PublicationDecided) Interest { return Interest{decided(b), b.Ref} }).onLanes("published"),
		word("citation", func(t *Teller, _ event.Event, b *event.CitationMade) Words {
			return Words{Text: t.thing(b.Ref) + " cites " + t.things(slices.Concat(b.To, b.Self)...), about: b.Ref, concerns: b.Ref}
		}),
		matters(word("vote", func(t *Teller, e event.Event, b *event.VoteCast) Words {
			w := Words{By: e.Actor, Text: "takes its vote back", Weight: News}
			if b.Ref != "" {
				w.Text = "votes for " + t.thing(b.Ref)
			}
			return w
		}), func(b *event.VoteCast) Interest { return Interest{Voted, b.Ref} }).onLanes("vote"),
		word("", func(t *Teller, _ event.Event, b *event.AdvisorySent) Words {
			who := "the lab tells "
			if b.Kind == event.AdviseUpdated { // in any society, by the core
				who = "Lyceum tells "
			}
			return Words{Text: who + told(b) + ": " + t.text(b.Text), Notes: []string{b.Kind}}
		}),
	}
}

// decided is what became of a paper.
func decided(b *event.PublicationDecided) string {
	if b.Status == event.Rejected {
		return Rejected
	}
	return Published
}

// told is who hears of an advisory.
func told(b *event.AdvisorySent) string {
	switch {
	case len(b.To) > 0:
		return strings.Join(b.To, ", ")
	case b.Except != "":
		return "all but " + b.Except
	}
	return "all"
}
