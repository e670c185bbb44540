package contract

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// answers is which messages a performative may answer. One that is not here needs no
// message to answer.
var answers = map[string][]string{
	event.Confirm:    {event.Inform, event.Propose, event.Query, event.Justify},
	event.Disconfirm: {event.Inform, event.Propose, event.Query, event.Justify},
	event.Commit:     {event.Request, event.Award, event.Agree},
	event.Agree:      {event.Propose, event.Bid, event.Request, event.Justify},
	event.Decline:    {event.Propose, event.Bid, event.Request, event.Justify},
	event.Bid:        {event.Cfp},
	event.Award:      {event.Bid},
	event.Challenge:  {event.Inform, event.Confirm, event.Propose, event.Justify},
	event.Justify:    {event.Challenge},
	event.Retract:    {event.Challenge, event.Inform, event.Propose, event.Bid},
}

// policies are those of the contract net: no message that answers nothing it could
// answer, and no contract by word of mouth.
func policies() []behavior.Thread {
	return []behavior.Thread{
		guard("dialogue", "A message that answers another names one that it can answer.", func(f *policy.Facts) string {
			kind, reply := f.Field(argPerformative).Text, f.Field(argReply)
			want := answers[kind]
			switch {
			case len(want) == 0:
				return ""
			case reply.Kind != behavior.Number:
				return fmt.Sprintf("%s answers a message: name its number as reply. It can answer %s.", kind, strings.Join(want, ", "))
			case f.Status == "":
				return fmt.Sprintf("There is no message %s.", reply.Text)
			case !slices.Contains(want, f.Status):
				return fmt.Sprintf("Message %s is %s, which %s cannot answer: it can answer %s.", reply.Text, f.Status, kind, strings.Join(want, ", "))
			}
			return ""
		}),
		guard("contracts", "Calls for bids, bids and awards are the rules' to make.", func(f *policy.Facts) string {
			switch kind := f.Field(argPerformative).Text; kind {
			case event.Cfp, event.Bid, event.Award:
				return fmt.Sprintf("A %s cannot be made by a message: use delegate, and the rules call for bids and award the contract.", kind)
			}
			return ""
		}),
	}
}

var (
	argPerformative = []string{"args", "performative"}
	argReply        = []string{"args", "reply"}
)

// guard is a thread that blocks messages of agents. why says what is wrong, nothing if
// nothing is.
func guard(name, text string, why func(*policy.Facts) string) behavior.Thread {
	hidden := func(f *policy.Facts) bool {
		return f.Field(argPerformative).Kind == behavior.Unknown || f.Field(argReply).Kind == behavior.Unknown
	}
	judge := func(f *policy.Facts) behavior.Truth {
		switch {
		case hidden(f):
			return behavior.Maybe
		case why(f) != "":
			return behavior.Yes
		}
		return behavior.No
	}
	return policy.Guard(name, text, []string{sendMessage}, judge, func(f *policy.Facts) string {
		if hidden(f) {
			return "The arguments are too long to be seen: shorten the text."
		}
		return why(f)
	})
}
