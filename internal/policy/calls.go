package policy

import (
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// maxCalls bounds how often an agent may call certain tools for a task, which is
// what a person's word begins.
type maxCalls struct {
	Max int64 `json:"max" yaml:"max"`
	// Tools are those that count; nil means all.
	Tools []string `json:"tools,omitempty" yaml:"tools"`
}

// which names the tools that count.
func (s *maxCalls) which() string {
	if s.Tools == nil {
		return "tools"
	}
	return list(s.Tools)
}

func (s *maxCalls) check() error {
	switch {
	case s.Max < 1:
		return errors.New("max: say how many calls are allowed, at least 1")
	case s.Tools != nil && len(s.Tools) == 0:
		return errors.New("tools: name at least one, or leave it out for all")
	}
	return nil
}

func (s *maxCalls) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("An agent may make %s of %s for a task.", Several(s.Max, "call", "calls"), s.which()),
		Scope: behavior.Of("tool.call"),
		Start: func() behavior.Behavior {
			c := &callCount{set: s}
			match := when{"tool.call of " + s.which(), func(e behavior.Event) bool {
				return e.Type == "tool.call" && (s.Tools == nil || slices.Contains(s.Tools, facts(e).Tool))
			}}
			c.bids = behavior.Bids{
				Wait: behavior.Any{match, behavior.Of("tool.result", "tool.answered", "user.message", "quest.forked")},
				Block: []behavior.Ban{{
					Match: when{match.text + " beyond the limit", func(e behavior.Event) bool {
						n := c.known(facts(e).Agent)
						return n != nil && n.Made >= s.Max && match.f(e)
					}},
					Reason: fmt.Sprintf("You have made all %d calls of %s that this task allows. Answer with what you have.", s.Max, s.which()),
				}},
			}
			return c
		},
	}, nil
}

type callCount struct {
	tally[callsMade]
	set  *maxCalls
	bids behavior.Bids
}

func (c *callCount) Bids() behavior.Bids { return c.bids }

func (c *callCount) Next(e behavior.Event) bool {
	f := facts(e)
	switch e.Type {
	case "user.message":
		c.forget(f.To)
	case "tool.call":
		n := c.of(f.Agent)
		n.Made++
		n.Open = append(n.Open, f.Call)
	case "quest.forked": // what was under way, the fork calls again
		for _, name := range c.names() {
			n := c.of(name)
			n.Made, n.Open = n.Made-int64(len(n.Open)), nil
		}
	default:
		if n := c.known(f.Agent); n != nil {
			n.Open = slices.DeleteFunc(n.Open, func(call uint64) bool { return call == f.Call })
		}
	}
	return true
}

// callsMade is how many calls an agent has made, and which are under way.
type callsMade struct {
	Made int64    `json:"made"`
	Open []uint64 `json:"open,omitempty"`
}

// sameError closes a tool to an agent when it has given it the same error
// several times in a row, until another tool has done something for it.
type sameError struct {
	Max int64 `json:"max" yaml:"max"`
	// Tools are those it is for; none means all.
	Tools []string `json:"tools,omitempty" yaml:"tools"`
}

func (s *sameError) check() error {
	if s.Max < 1 {
		return errors.New("max: say how many times, at least 1")
	}
	return nil
}

func (s *sameError) means(tool string) bool {
	return tool != "" && (len(s.Tools) == 0 || slices.Contains(s.Tools, tool))
}

func (s *sameError) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("A tool that gives an agent the same error %s in a row is closed to it until something else has worked.", Several(s.Max, "time", "times")),
		Scope: behavior.Of("tool.call"),
		Start: func() behavior.Behavior {
			w := &errorWatch{set: s}
			w.bids = behavior.Bids{
				Wait: behavior.Of("tool.result", "tool.answered", "user.message", "quest.resumed"),
				Block: []behavior.Ban{{
					Match: when{"tool.call of a tool that gives the same error again and again", func(e behavior.Event) bool {
						f := facts(e)
						return e.Type == "tool.call" && w.closed(f.Agent, f.Tool)
					}},
					Why: func(e behavior.Event) string {
						return fmt.Sprintf("%s has given you the same error %d times in a row. It is closed until something else that you do has worked.", facts(e).Tool, s.Max)
					},
				}},
			}
			return w
		},
	}, nil
}

// errorWatch remembers the last error of each tool.
type errorWatch struct {
	tally[[]lastError]
	set  *sameError
	bids behavior.Bids
}

type lastError struct {
	Tool  string     `json:"tool"`
	Error event.Hash `json:"error"`
	Count int64      `json:"count"`
}

func (w *errorWatch) Bids() behavior.Bids { return w.bids }

func (w *errorWatch) closed(agent, tool string) bool {
	errs := w.known(agent)
	return errs != nil && slices.ContainsFunc(*errs, func(l lastError) bool { return l.Tool == tool && l.Count >= w.set.Max })
}

func (w *errorWatch) Next(e behavior.Event) bool {
	if agent, _, ok := anew(e); ok {
		w.forget(agent)
		return true
	}
	f := facts(e)
	if f.Refused != "" {
		return true // it was not the tool that said so
	}
	if !f.Error {
		w.forget(f.Agent) // something has worked
		return true
	}
	if !w.set.means(f.Tool) || f.Output == nil {
		return true
	}
	key := outcomeOf(&Facts{Tool: f.Tool, Output: f.Output, Attached: f.Attached, Error: true})
	errs := w.of(f.Agent)
	for i := range *errs {
		l := &(*errs)[i]
		if l.Tool != f.Tool {
			continue
		}
		if l.Error != key {
			l.Error, l.Count = key, 0
		}
		l.Count++
		return true
	}
	*errs = append(*errs, lastError{f.Tool, key, 1})
	return true
}
