package policy

import (
	"slices"
	"strings"

	"lyceum/internal/behavior"
)

// Guard is a thread of a society's that blocks some calls of some of its tools. It keeps
// nothing: what it asks, the facts of the call tell. Maybe counts as yes, and why has to
// have an answer for it. A call that has had its effect before a fork passes: it is made
// again only to be answered.
func Guard(name, text string, tools []string, bad func(*Facts) behavior.Truth, why func(*Facts) string) behavior.Thread {
	every := func(*Facts) behavior.Truth { return behavior.Yes }
	bans := []behavior.Ban{{Match: &guarded{name, tools, bad}, Why: func(e behavior.Event) string { return why(facts(e)) }}}
	return behavior.Thread{
		Name: name, Text: text, Scope: &guarded{name, tools, every},
		Start: func() behavior.Behavior { return still{bans} },
	}
}

// guarded matches calls of tools by what is known of them.
type guarded struct {
	name  string
	tools []string
	bad   func(*Facts) behavior.Truth
}

func (g *guarded) String() string {
	return "tool.call of " + strings.Join(g.tools, ", ") + " against " + g.name
}

func (g *guarded) Match(e behavior.Event) behavior.Truth {
	f := facts(e)
	if e.Type != "tool.call" || !slices.Contains(g.tools, f.Tool) || f.Again {
		return behavior.No
	}
	return g.bad(f)
}
