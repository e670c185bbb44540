package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// repetition warns and parks an agent that goes round in circles. What counts is
// what came of it: the same tool with the same arguments and the same result, with
// nothing new in between. Looking again until something has changed is no circle.
type repetition struct {
	// Warn and Park are after how many times; 0 means never.
	Warn int64 `json:"warn" yaml:"warn"`
	Park int64 `json:"park" yaml:"park"`
}

func (s *repetition) check() error {
	switch {
	case s.Warn < 0 || s.Park < 0:
		return errors.New("warn and park count from 2; 0 means never")
	case s.Warn == 1 || s.Park == 1:
		return errors.New("doing something once is no repetition: warn and park count from 2")
	case s.Park > 0 && s.Warn >= s.Park:
		return errors.New("warn must be less than park, or 0")
	}
	return nil
}

func (s *repetition) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("An agent that does the same with the same result is warned after %d times and parked after %d.", s.Warn, s.Park),
		Scope: behavior.Of("model.call"),
		Start: func() behavior.Behavior {
			return newCircles(s, (*circles).outcome, "tool.result", "tool.answered", "policy.blocked")
		},
	}, nil
}

// maxSeen is how many different outcomes of an agent are remembered.
const maxSeen = 16

// circles watches for repetitions: take counts what has happened, which is what tells
// one policy of this kind from another.
type circles struct {
	tally[trail]
	set  *repetition
	take func(*circles, behavior.Event)
	bids behavior.Bids
	// warn are the agents that are about to be warned, sorted.
	warn []string
}

// trail is what an agent has done since something new last came of it.
type trail struct {
	Seen []outcome `json:"seen,omitempty"`
	// Parked says what it was parked for, Warning what it is about to be told.
	Parked  string `json:"parked,omitzero"`
	Warning string `json:"warning,omitzero"`
	// Warned says that it has been told.
	Warned bool `json:"warned,omitzero"`
}

// outcome is what has come of something, in how many turns, the last one of which
// was Turn. Twice in one turn is no repetition: the agent had not seen the first.
type outcome struct {
	Key   event.Hash `json:"key"`
	Count int64      `json:"count"`
	Turn  int64      `json:"turn"`
}

func newCircles(s *repetition, take func(*circles, behavior.Event), of ...string) *circles {
	c := &circles{set: s, take: take}
	c.bids = behavior.Bids{
		Wait: behavior.Of(append(of, "user.message", "quest.resumed")...),
		Block: []behavior.Ban{{
			Match: when{"model.call of an agent that goes round in circles", func(e behavior.Event) bool {
				t := c.known(facts(e).Agent)
				return e.Type == "model.call" && t != nil && t.Parked != ""
			}},
			Why: func(e behavior.Event) string { return c.known(facts(e).Agent).Parked },
		}},
	}
	return c
}

func (c *circles) Bids() behavior.Bids {
	bids := c.bids
	for _, name := range c.warn {
		bids.Request = append(bids.Request, message(name, c.known(name).Warning))
	}
	return bids
}

// Restore implements behavior.Saver.
func (c *circles) Restore(saved string) error {
	if err := c.tally.Restore(saved); err != nil {
		return err
	}
	c.warn = nil
	for _, name := range c.names() {
		if c.of(name).Warning != "" {
			c.warn = append(c.warn, name)
		}
	}
	return nil
}

// say has an agent warned; an empty text, no longer.
func (c *circles) say(agent, text string) {
	c.of(agent).Warning = text
	i, there := slices.BinarySearch(c.warn, agent)
	switch {
	case text == "" && there:
		c.warn = slices.Delete(c.warn, i, i+1)
	case text != "" && !there:
		c.warn = slices.Insert(c.warn, i, agent)
	}
}

func (c *circles) Next(e behavior.Event) bool {
	if agent, all, ok := anew(e); ok {
		c.forget(agent)
		c.warn = slices.DeleteFunc(c.warn, func(name string) bool { return all || name == agent })
		return true
	}
	if e.Type == "message.sent" {
		c.say(facts(e).To, "")
		return true
	}
	c.take(c, e)
	return true
}

// outcome counts what came of a call or of an answer.
func (c *circles) outcome(e behavior.Event) {
	f := facts(e)
	if e.Type == "policy.blocked" && f.Refused != "quest.finished" {
		return // a refused tool call is counted with its answer
	}
	t := c.of(f.Agent)
	key := outcomeOf(f)
	for i := range t.Seen {
		o := &t.Seen[i]
		if o.Key != key {
			continue
		}
		if o.Turn == f.Turn {
			return
		}
		o.Count, o.Turn = o.Count+1, f.Turn
		what := "answered in the same way, and been refused,"
		if f.Refused != "quest.finished" {
			what = "called " + toolName(f) + " in the same way, with the same result,"
		}
		if o.Count == c.set.Warn {
			c.say(f.Agent, fmt.Sprintf("You have %s %d times, with nothing new in between. Doing it again will not change it: try something else, or answer with what you have.", what, o.Count))
		}
		if o.Count == c.set.Park {
			t.Parked = fmt.Sprintf("%s has %s %d times, with nothing new in between.", f.Agent, what, o.Count)
		}
		return
	}
	// Something new: all begins to count again.
	for i := range t.Seen {
		t.Seen[i].Count = 1
	}
	if len(t.Seen) == maxSeen {
		t.Seen = append(t.Seen[:0], t.Seen[1:]...)
	}
	t.Seen = append(t.Seen, outcome{key, 1, f.Turn})
}

func toolName(f *Facts) string {
	if f.Tool == "" {
		return "a tool that does not exist"
	}
	return f.Tool
}

// outcomeOf is equal for the same done with the same result.
func outcomeOf(f *Facts) event.Hash {
	b := make([]byte, 0, 512)
	for _, s := range []string{f.Tool, string(f.Refused), f.Args.Raw(), rawOutput(f), f.Text} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	if f.Error {
		b = append(b, '!')
	}
	return event.HashOf(b)
}
