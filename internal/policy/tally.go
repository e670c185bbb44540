package policy

import (
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/behavior"

	"github.com/go-json-experiment/json"
)

// tally is what a policy remembers of each agent. One thread keeps it for all of
// them, so that an event costs the same however many there are.
type tally[T any] struct{ agents map[string]*T }

func (t *tally[T]) of(agent string) *T {
	if t.agents[agent] == nil {
		if t.agents == nil {
			t.agents = map[string]*T{}
		}
		t.agents[agent] = new(T)
	}
	return t.agents[agent]
}

// known returns what is remembered of an agent, nil if nothing is.
func (t *tally[T]) known(agent string) *T { return t.agents[agent] }

// forget begins anew for an agent, or for all of them.
func (t *tally[T]) forget(agent string) {
	if agent == "" {
		clear(t.agents)
		return
	}
	delete(t.agents, agent)
}

func (t *tally[T]) names() []string { return slices.Sorted(maps.Keys(t.agents)) }

// Save implements behavior.Saver.
func (t *tally[T]) Save() string {
	if len(t.agents) == 0 {
		return ""
	}
	b, err := json.Marshal(t.agents, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("policy: a tally cannot be encoded: %v", err))
	}
	return string(b)
}

// Restore implements behavior.Saver.
func (t *tally[T]) Restore(saved string) error {
	t.agents = nil
	if saved == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(saved), &t.agents, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read a tally: %w", err)
	}
	return nil
}

// anew says whom an event gives a new start: a person has spoken, or has had the
// quest go on. all means every agent.
func anew(e behavior.Event) (agent string, all, ok bool) {
	switch e.Type {
	case "user.message":
		to := facts(e).To
		return to, to == "", true
	case "quest.resumed", "quest.forked":
		return "", true, true
	}
	return "", false, false
}
