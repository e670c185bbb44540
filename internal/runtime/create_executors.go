package runtime

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// executors are the names of those that the plan's agents are, sorted, each with the key that
// it stands under.
func (c *creation) executors(soc quest.Society) (names []string, key func(name string) string) {
	cast, roles := soc.(quest.Cast)
	if roles {
		for _, r := range cast.Roles(c.plan.Spec, c.plan.Spec.Model != "", true) {
			if r.Prompted {
				names = append(names, r.Executor)
			}
		}
	} else {
		for _, g := range c.rt.Societies.Groups(c.plan.Spec) {
			if g.Executor != "" {
				names = append(names, g.Executor)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), func(name string) string {
		switch {
		case roles:
			return "executors"
		case name == c.plan.Spec.Executor:
			return "executor"
		}
		return "agents" // of a group of its own
	}
}

// textsOf are what the plan's agents are told. Those of executors are there only if there are
// some.
func (c *creation) textsOf(soc quest.Society, context string) []event.NamedText {
	all := quest.TextsOf(soc, context)
	if names, _ := c.executors(soc); len(names) > 0 {
		all = append(all, quest.ExecutorTexts()...)
		slices.SortFunc(all, func(a, b event.NamedText) int { return strings.Compare(a.Name, b.Name) })
	}
	return all
}

// executorText is the end of an executor's system prompt.
func (c *creation) executorText() string {
	for _, t := range c.said {
		if t.Name == quest.TextExecutor {
			return "\n\n" + t.Text
		}
	}
	return ""
}

// takeExecutors pins what is known of the executors that agents are.
func (c *creation) takeExecutors(ctx context.Context, _ *os.Root, soc quest.Society, b *event.QuestCreated) error {
	names, key := c.executors(soc)
	for _, name := range names {
		settings, err := c.rt.executor(name)
		if err != nil {
			if err := c.note(badWord(key(name), name, "executor %s: %v", name, err)); err != nil {
				return err
			}
			continue
		}
		if c.machine.None() {
			if err := c.note(badWord(key(name), name, "the executor %s runs inside the agents' computers, and there are none: say computer: auto", name)); err != nil {
				return err
			}
			continue
		}
		data, err := json.Marshal(settings, json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("settings of the executor %s: %w", name, err)
		}
		ref, err := c.pin(ctx, []byte(c.rt.Redact(string(data))))
		if err != nil {
			return err
		}
		b.Executors = append(b.Executors, event.ExecutorPin{Name: name, Settings: ref})
	}
	return nil
}

// executor is what is known of an executor.
func (r *Runtime) executor(name string) (executor.Settings, error) {
	if r.Executors == nil {
		return executor.Settings{}, fmt.Errorf("there are no executors here")
	}
	settings, _, err := r.Executors(name)
	return settings, err
}
