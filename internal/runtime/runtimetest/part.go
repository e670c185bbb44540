package runtimetest

import (
	"maps"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Part is one society in the simulated world: what its models say, and what must hold of
// it. A part plays one quest; the world makes another for each quest and for each fork.
// What else a part has, it says by the further interfaces below.
type Part interface {
	// Society is the rules.
	Society() quest.Society
	// Make fills in the first event. The world has set what quests of all societies have:
	// one agent, agent-0, the tools Safe and Unsafe, the policies every quest has, a seed.
	Make(w *World, b *event.QuestCreated)
	// Call is a call of a tool that an agent's model makes: sensible, or not.
	Call(w *World, agent string) (tool string, args any)
	// Count holds the next event of the ledger against the society's promises, by books
	// that the part keeps from events alone. The quest may be dead: w.State may be nil.
	Count(w *World, e event.Event) error
}

// Caller is the part of a society that has calls of its own.
type Caller interface {
	Rows() map[event.Type]Row
}

// Row says what a call of one type is in a simulation: it is asked when the answer comes,
// and returns the call's result, or what the world found out for the rules.
type Row func(w *World, call event.Event) event.Body

// Visitor is the part of a society with outside agents: what they do by themselves, at each
// step.
type Visitor interface {
	Visit(w *World) []event.Draft
}

// Speaker is the part of a society to which people say more than to others.
type Speaker interface {
	Says(w *World) event.Body
}

// Settled is a part that looks whenever an input and all that it led to are counted. The
// quest may be dead.
type Settled interface {
	Settled(w *World) error
}

// Watcher is a part that holds the state against its books, after each batch.
type Watcher interface {
	Watch(w *World, s *quest.State) error
}

// Ender is a part that looks at a quest that is over.
type Ender interface {
	End(w *World, s *quest.State) error
}

// Receiver is a part whose society puts folders into agents' homes.
type Receiver interface {
	Received(d *quest.Delivery)
}

// Rough is the part of a society whose world is not as rough as Usual.
type Rough interface {
	Rates() Rates
}

// Limiter is a part that says by which limits a quest is taken up again.
type Limiter interface {
	Limits(w *World, s *quest.State) event.Limits
}

// Rates say how often the world makes trouble, each by the thousand.
type Rates struct {
	// Crash, Full and Unheard are for each step: the process dies, the disk is full, the
	// batch is on disk and nobody hears of it.
	Crash, Full, Unheard int
	// Lost and Doubled are for each call: its result never comes, or comes twice.
	Lost, Doubled int
	// Early is for each timer: it fires before its time.
	Early int
	// Person is for each step: somebody pauses, stops, resumes or speaks.
	Person int
	// Save is for each step: the state is saved, for the next process to begin with.
	Save int
	// Commands is for each call of a tool: it runs commands in a computer.
	Commands int
	// Outage is for each step: the provider of models goes away.
	Outage int
	// Failed is for each answer of a model: it fails, is empty, or calls no tool.
	Failed int
	// Compare is for each step: the state is compared with the fold of the ledger.
	Compare int
	// Again is for a quest that is over: it is run once more.
	Again int
	// Most is after how many steps a quest should be over.
	Most int
}

// Usual is how rough the world is for quests that are short.
var Usual = Rates{
	Crash: 80, Full: 40, Unheard: 40, Lost: 30, Doubled: 50, Early: 30, Person: 100, Outage: 20, Save: 100, Commands: 700, Failed: 220, Compare: 250, Again: 200, Most: 3000,
}

// ownRows are the calls that quests of all societies make.
func ownRows() map[event.Type]Row {
	return map[event.Type]Row{"model.call": answer, "tool.call": toolResult, "timer.set": fired, "interaction.opened": replied, "mcp.call": listed, "catalogue.call": found, "gateway.call": passed, "prepare.call": made,
		"executor.call": readied, "prompt.call": returned}
}

// rows are those of the world with those of a part: the table of what calls are.
func rows(p Part) map[event.Type]Row {
	out := ownRows()
	if c, ok := p.(Caller); ok {
		maps.Copy(out, c.Rows())
	}
	return out
}

// Missing are the call types of the catalogue that none of the parts, nor the world
// itself, has a row for: nobody could simulate them.
func Missing(parts map[string]func() Part) (out []event.Type) {
	has := ownRows()
	for _, make := range parts {
		maps.Copy(has, rows(make()))
	}
	for _, t := range event.Types() {
		if t.Call() && has[t] == nil {
			out = append(out, t)
		}
	}
	return out
}

// Parts are those of the societies there are, by name.
func Parts() map[string]func() Part {
	return map[string]func() Part{
		"solo":      func() Part { return NewSolo() },
		"lab":       func() Part { return NewLab(8, 25) },
		"contract":  func() Part { return NewContract(0) },
		"architect": func() Part { return NewArchitect() },
		"stages":    func() Part { return NewStages() },
		"world":     func() Part { return NewMade() },
	}
}
