package behavior

import (
	"slices"
	"strings"

	"lyceum/internal/workspace"
)

// Truth is what a matcher says of an event.
type Truth int8

// Maybe is what it says when it depends on a value that cannot be seen. Whoever
// blocks takes it for yes; whoever waits takes it for no.
const (
	No Truth = iota
	Maybe
	Yes
)

// Matcher says which events are meant. It keeps no state. String says the same
// to a person.
type Matcher interface {
	Match(e Event) Truth
	String() string
}

// Any matches what one of its matchers does.
type Any []Matcher

// Match implements Matcher.
func (a Any) Match(e Event) Truth {
	best := No
	for _, m := range a {
		best = max(best, m.Match(e))
	}
	return best
}

func (a Any) String() string {
	parts := make([]string, len(a))
	for i, m := range a {
		parts[i] = m.String()
	}
	return strings.Join(parts, " or ")
}

// Pattern matches events by type and by what stands in their fields.
type Pattern struct {
	// Types are those meant; "*" means every one.
	Types []string
	// Where are conditions that must all hold.
	Where []Condition
}

// Of matches the events of some types.
func Of(types ...string) *Pattern { return &Pattern{Types: types} }

// Match implements Matcher.
func (p *Pattern) Match(e Event) Truth {
	if !slices.Contains(p.Types, e.Type) && !slices.Contains(p.Types, "*") {
		return No
	}
	worst := Yes
	for i := range p.Where {
		if worst = min(worst, p.Where[i].holds(e)); worst == No {
			break
		}
	}
	return worst
}

func (p *Pattern) String() string {
	out := strings.Join(p.Types, "|")
	for i := range p.Where {
		if i == 0 {
			out += " where "
		} else {
			out += " and "
		}
		out += p.Where[i].String()
	}
	return out
}

// Condition is what must hold of one field. Of a list, it must hold of one item.
// Exactly one of In, Min or Max, and Prefix says what.
type Condition struct {
	Path []string
	// In are the values it may have.
	In []Value
	// Min and Max bound a number; empty does not.
	Min, Max string
	// Prefix are folders that a path must be in. Both are compared as paths of a
	// workspace, name by name.
	Prefix []string
}

func (c *Condition) holds(e Event) Truth { return c.of(e.Field(c.Path)) }

func (c *Condition) of(v Value) Truth {
	if v.Kind == Unknown {
		return Maybe
	}
	best := No
	if v.Kind == List {
		for _, item := range v.Items {
			best = max(best, c.of(item))
		}
	}
	if c.below(v) {
		return Yes
	}
	return max(best, c.in(v), c.within(v))
}

func (c *Condition) in(v Value) Truth {
	best := No
	for _, want := range c.In {
		if want.Kind == Null && v.Kind == Missing {
			return Yes // what is not there is as good as null
		}
		best = max(best, want.same(v))
	}
	return best
}

func (c *Condition) within(v Value) Truth {
	if v.Kind != Number || c.Min == "" && c.Max == "" {
		return No
	}
	for _, bound := range []struct {
		limit string
		sign  int
	}{{c.Min, 1}, {c.Max, -1}} {
		if bound.limit == "" {
			continue
		}
		cmp, ok := compareNumbers(v.Text, bound.limit)
		switch {
		case !ok:
			return Maybe // a number beyond all measure
		case cmp*bound.sign < 0:
			return No
		}
	}
	return Yes
}

func (c *Condition) below(v Value) bool {
	if v.Kind != Text {
		return false
	}
	path, _ := workspace.Path(v.Text) // one that no tool takes is judged like any other
	return slices.ContainsFunc(c.Prefix, func(text string) bool {
		dir, _ := workspace.Path(text)
		return workspace.Under(path, dir)
	})
}

func (c *Condition) String() string {
	name := strings.Join(c.Path, ".")
	switch {
	case len(c.Prefix) > 0:
		return name + " under " + strings.Join(c.Prefix, "|")
	case c.Min != "" && c.Max != "":
		return c.Min + " ≤ " + name + " ≤ " + c.Max
	case c.Min != "":
		return name + " ≥ " + c.Min
	case c.Max != "":
		return name + " ≤ " + c.Max
	}
	parts := make([]string, len(c.In))
	for i, v := range c.In {
		parts[i] = v.String()
	}
	return name + " = " + strings.Join(parts, "|")
}

func (v Value) String() string {
	switch v.Kind {
	case Missing, Null:
		return "null"
	case Unknown:
		return "?"
	case Text:
		return quote(v.Text)
	case List:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = item.String()
		}
		return "[" + strings.Join(parts, ",") + "]"
	case Object:
		return "{…}"
	}
	return v.Text
}
