package policy

import (
	"fmt"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// answers warns and parks an agent whose model does not get anywhere by itself: one
// answer after the other is cut off at the limit of its length or has nothing in it, or
// says the same words again without calling a tool. What tools say is for repetition.
//
// Only of a cut the agent is warned here: one that says nothing is asked again as it is,
// and one that only talks is told so by its society.
type answers repetition

func (s *answers) check() error { return (*repetition)(s).check() }

func (s *answers) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("An agent whose answers are cut off is warned after %d in a row; one whose answers are cut off, empty or the same is parked after %d.", s.Warn, s.Park),
		Scope: behavior.Of("model.call"),
		Start: func() behavior.Behavior {
			return newCircles((*repetition)(s), (*circles).answer, "model.result", "policy.blocked", "advisory.sent")
		},
	}, nil
}

// stopLength is the stop of an answer that was cut off.
const stopLength = "length"

// broken is the key of all answers that are cut off or empty: a model that gives them in
// turns is no better.
var broken = event.HashOf([]byte("cut off or empty"))

// answer counts answers of models that are in a row. The words are compared only where
// nothing has come in between that they could answer: an advisory, or that the answer was
// refused, which is counted by repetition.
func (c *circles) answer(e behavior.Event) {
	f := facts(e)
	switch e.Type {
	case "advisory.sent":
		c.forgive(f.To)
		return
	case "policy.blocked":
		c.forgive(f.Agent)
		return
	}
	if f.Error {
		return // there was no answer
	}
	t := c.of(f.Agent)
	var key event.Hash
	what := ""
	switch {
	case f.Stop == stopLength || f.Calls == 0 && outputOf(f) == "":
		key, what = broken, "given answers that were cut off at the limit of their length, or had nothing in them,"
	case f.Calls == 0:
		key, what = outcomeOf(f), "said the same, without calling a tool,"
	default:
		t.Seen, t.Warned = nil, false // something was done
		return
	}
	if len(t.Seen) != 1 || t.Seen[0].Key != key {
		t.Seen, t.Warned = []outcome{{key, 1, f.Turn}}, false
		return
	}
	o := &t.Seen[0]
	o.Count, o.Turn = o.Count+1, f.Turn
	if o.Count >= c.set.Warn && c.set.Warn > 0 && f.Stop == stopLength && !t.Warned {
		t.Warned = true
		c.say(f.Agent, fmt.Sprintf("You have %s %d times in a row. What is cut off is lost: write less at a time. Put long texts into files, piece by piece, and call one tool after the other.", what, o.Count))
	}
	if o.Count == c.set.Park {
		t.Parked = fmt.Sprintf("%s has %s %d times in a row.", f.Agent, what, o.Count)
		if f.Stop == stopLength {
			t.Parked += " The length of answers is max_output in quest.yaml."
		}
	}
}

// forgive begins to count the same words anew for an agent that has heard something, or
// for all. What was cut off or empty had no better reason for it.
func (c *circles) forgive(agent string) {
	for name, t := range c.agents {
		if (agent == "" || agent == name) && len(t.Seen) == 1 && t.Seen[0].Key != broken {
			t.Seen = nil
		}
	}
}
