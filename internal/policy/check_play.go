package policy

import (
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// world is what an agent that is only played can do, and what can come of it: one
// of the results, or, if changes are tried, changed files and then the last of them.
// deeds are what an executor wants to do by itself.
type world struct {
	calls   []*Facts
	deeds   []*Facts
	results []*Facts
	changes bool
}

// actor is such an agent. It is asked, or prompted, does one thing, gets a result, and is asked
// again, until it answers; in a prompt it does what it likes before. In between its society
// proposes what it does.
type actor struct {
	world    *world
	own      []proposal
	prompted bool
	at       state
}

// proposal is what a society proposes, and what the world answers, empty for nothing.
type proposal struct{ kind, result string }

func proposalsOf(types []event.Type) (out []proposal) {
	for _, t := range types {
		p := proposal{kind: string(t)}
		for _, r := range event.Types() {
			if r.Answered() == t {
				p.result = string(r)
			}
		}
		out = append(out, p)
	}
	return out
}

// state is what an actor is about to do.
type state struct {
	// Phase is ask, act, or what it waits for: get and wrote, which is get once files have
	// changed, are a tool's result; Call is which call it waits for there, which deed in done,
	// and which of the society's proposals in held. Turn is 1 and 2 by turns: all that matters
	// is that it is another one.
	Phase, Call, Turn int
}

const (
	ask = iota
	act
	get
	wrote
	heard // a model that it asked itself, by the gateway
	done
	held
)

func (a *actor) Bids() (b behavior.Bids) {
	want := func(t string, f *Facts) { b.Request = append(b.Request, behavior.Event{Type: t, Detail: f}) }
	switch a.at.Phase {
	case ask:
		want(a.asks(), &Facts{Agent: played, Turn: int64(3 - a.at.Turn)})
	case act:
		a.act(want)
	case get:
		if a.world.changes {
			want("file.diff", a.now())
		}
		for _, r := range a.world.results {
			if !r.Changed {
				want("tool.result", a.result(r))
			}
		}
	case wrote:
		want("tool.result", a.result(a.world.results[len(a.world.results)-1]))
	case heard:
		want("gateway.result", &Facts{Agent: played})
	case done:
		for _, failed := range []bool{false, true} {
			f := *a.world.deeds[a.at.Call]
			f.Ended, f.Error = true, failed
			want("tool.reported", &f)
		}
	case held:
		want(a.own[a.at.Call].result, &Facts{Agent: played})
	}
	return b
}

// asks is how a turn begins.
func (a *actor) asks() string {
	if a.prompted {
		return "prompt.call"
	}
	return "model.call"
}

// act is what can be done in a turn.
func (a *actor) act(want func(string, *Facts)) {
	for _, f := range a.world.calls {
		want("tool.call", f)
	}
	if a.prompted {
		for _, f := range a.world.deeds {
			want("permission.decided", f)
		}
		want("gateway.call", &Facts{Agent: played, Turn: int64(a.at.Turn)})
		for _, failed := range []bool{false, true} {
			want("prompt.result", &Facts{Agent: played, Turn: int64(a.at.Turn), Ended: true, Error: failed})
		}
	}
	for _, p := range a.own {
		want(p.kind, &Facts{Agent: played, Turn: int64(a.at.Turn)})
	}
	want("quest.finished", &Facts{Agent: played, Text: "An answer."})
}

// now is what is known of the call under way.
func (a *actor) now() *Facts {
	f := *a.world.calls[a.at.Call]
	f.Turn = int64(a.at.Turn)
	return &f
}

func (a *actor) result(r *Facts) *Facts {
	f := a.now()
	f.Ended, f.Error, f.Changed, f.Output = true, r.Error, r.Changed, r.Output
	return f
}

// played is the name of an agent that is only played.
const played = "agent-0"

func (a *actor) Next(e behavior.Event) bool {
	to := func(phase, call int) { a.at = state{Phase: phase, Call: call, Turn: a.at.Turn} }
	which := func(list []*Facts) int {
		return slices.IndexFunc(list, func(f *Facts) bool { return f.JSON() == facts(e).JSON() })
	}
	switch e.Type {
	case "model.call", "prompt.call":
		a.at = state{Phase: act, Turn: 3 - a.at.Turn}
	case "tool.call":
		to(get, which(a.world.calls))
	case "file.diff":
		a.at.Phase = wrote
	case "permission.decided":
		to(done, which(a.world.deeds))
	case "gateway.call":
		to(heard, 0)
	case "tool.reported", "gateway.result":
		to(act, 0)
	case "prompt.result":
		to(ask, 0)
	case "tool.result":
		to(ask, 0)
		if a.prompted {
			to(act, 0)
		}
	case "quest.finished":
		return false
	default:
		to(act, 0)
		if i := slices.IndexFunc(a.own, func(p proposal) bool { return p.kind == e.Type && p.result != "" }); i >= 0 {
			to(held, i)
		}
	}
	return true
}

// Save implements behavior.Saver.
func (a *actor) Save() string { return fmt.Sprintf("%d %d %d", a.at.Phase, a.at.Call, a.at.Turn) }

// Restore implements behavior.Saver.
func (a *actor) Restore(saved string) error {
	_, err := fmt.Sscanf(saved, "%d %d %d", &a.at.Phase, &a.at.Call, &a.at.Turn)
	return err
}
