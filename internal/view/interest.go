package view

import "lyceum/internal/event"

// Interest is why somebody who comes back to a quest wants to see an event first. What is empty for
// an event that is none of these; it may still be the one that brings a thing into the quest.
type Interest struct {
	What string
	// Of is the thing that the event is about, as the society names it: a paper, a task.
	Of string
}

// What can be of interest.
const (
	Published = "published"
	Accepted  = "accepted"
	Rejected  = "rejected"
	Voted     = "voted"
	Judged    = "judged"
	Refused   = "refused"
	Failed    = "failed"
	Asked     = "asked"
	Answered  = "answered"
	Limited   = "limit"
	Rested    = "rested"
	Parked    = "parked"
	Moved     = "moved"
)

// InterestOf is the one place that knows which events are of interest: each type's entry in the
// vocabulary says so, so a society says it of its own events in its own file. The feed of the API and
// its page and the next event of interest in the terminal are this.
func InterestOf(e event.Event) Interest {
	if e.Body == nil {
		return Interest{}
	}
	if why := vocabulary[e.Body.Type()].interest; why != nil {
		return why(e)
	}
	return Interest{}
}

// Matters reports whether an event is of interest.
func Matters(e event.Event) bool { return InterestOf(e).What != "" }

// matters adds to the words for a type of event why, and whether, one of them is of interest.
func matters[B any, P interface {
	*B
	event.Body
}](w wording, why func(P) Interest) wording {
	w.interest = func(e event.Event) Interest { return why(e.Body.(P)) }
	return w
}

// always is for types all of whose events are of interest, and about no thing of the society's.
func always(what string, w wording) wording {
	w.interest = func(event.Event) Interest { return Interest{What: what} }
	return w
}
