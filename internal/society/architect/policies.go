package architect

import (
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/policy"
)

// HandsOff is the policy that keeps the architect from everything but its tools.
const HandsOff = "architect-hands-off"

// policies are those of every quest with an architect.
func policies() []behavior.Thread {
	ban := behavior.Ban{Match: others{}, Reason: "You plan and judge: you touch no file and run no command. Use search, recall, plan_tasks, clarify, dispatch, judge or finish."}
	return []behavior.Thread{{
		Name: HandsOff, Text: "The architect touches no file and runs no command: it has its own tools, and no others.",
		Scope: others{}, Start: func() behavior.Behavior { return handsOff{[]behavior.Ban{ban}} },
	}}
}

// others matches what the architect may not do: calls of tools that are not its own, prompts
// and permissions, which only executors have.
type others struct{}

func (others) String() string { return "whatever the architect does but with its own tools" }

// Match implements behavior.Matcher.
func (others) Match(e behavior.Event) behavior.Truth {
	f, ok := e.Detail.(*policy.Facts)
	if !ok || f.Agent != Architect {
		return behavior.No
	}
	switch e.Type {
	case "tool.call":
		if slices.Contains(architectTools, f.Tool) {
			return behavior.No
		}
		return behavior.Yes
	case "prompt.call", "permission.decided", "gateway.call":
		return behavior.Yes
	}
	return behavior.No
}

// handsOff stands still: what it asks, the facts tell.
type handsOff struct{ bans []behavior.Ban }

func (h handsOff) Bids() behavior.Bids    { return behavior.Bids{Block: h.bans} }
func (handsOff) Next(behavior.Event) bool { return true }
func (handsOff) Save() string             { return "" }
func (handsOff) Restore(string) error     { return nil }
