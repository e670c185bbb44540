package audit

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Consistent is the verdict on a quest that verifies: all of it fits together. It does not say that it is true.
const Consistent = "consistent"

// shownRequests is how many ids of a provider's requests are shown to people.
const shownRequests = 3

// Lines are what people are told of a quest that verifies: what fits together, what was made again, and what rests on
// whose word. The same words stand in a terminal, in an editor and in the documents.
func Lines(r *Report) []string {
	out := []string{fmt.Sprintf("%s: %s; head %s (%s: %s, %d derived; %s)", r.Quest, Consistent, r.Head, count(r.Events, "event"), count(r.Inputs, "input"), r.Derived, count(uint64(r.Blobs), "blob"))}
	out = append(out, fmt.Sprintf("  derived again: %s, identical", count(r.Derived, "event")))
	if a := r.Again; a != nil && a.Same+a.Different+a.NotCheckable > 0 {
		out = append(out, fmt.Sprintf("  run again: %s: %d the same, %d different, %d not checkable", count(uint64(a.Same+a.Different+a.NotCheckable), "call"), a.Same, a.Different, a.NotCheckable))
		for _, c := range a.Calls {
			out = append(out, fmt.Sprintf("    seq %d, %s: %s, %s: %s", c.Seq, c.Actor, plain.Brief(c.What, 60), c.Status, plain.Brief(c.Why, 300)))
		}
	}
	for i, w := range r.Words {
		if i == 0 {
			out = append(out, "  on somebody's word:")
		}
		out = append(out, "    "+w.line())
	}
	for _, k := range r.Known {
		where := fmt.Sprintf("event %d; %s since", k.Seq, count(r.Events-k.Seq, "event"))
		if k.Seq == r.Events {
			where = "the head"
		}
		out = append(out, fmt.Sprintf("  known before: %s is %s", k.Hash, where))
	}
	return out
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// line says whose word something is.
func (w Word) line() string {
	who := plain.Brief(w.Who, 100)
	switch w.Kind {
	case event.PartyModel:
		s := fmt.Sprintf("model %s: %s", who, count(w.Events, "answer"))
		if w.Named == 0 {
			return s + ", none with an id of the provider's"
		}
		ids := w.Requests[:min(len(w.Requests), shownRequests)]
		more := ""
		if w.Named > uint64(len(ids)) {
			more = ", …"
		}
		return fmt.Sprintf("%s, %d with the provider's id of the request (%s%s)", s, w.Named, plain.Line(strings.Join(ids, ", ")), more)
	case event.PartyPerson:
		return fmt.Sprintf("person %s: %s", who, count(w.Events, "word"))
	case event.PartyServer:
		return fmt.Sprintf("MCP server %s: %s", who, count(w.Events, "event"))
	case event.PartyAgent:
		return fmt.Sprintf("outside agent %s: %s", who, count(w.Events, "event"))
	}
	return fmt.Sprintf("the machine that ran it: %s (commands, files, limits), and the time of every event", count(w.Events, "event"))
}
