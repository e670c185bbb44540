package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/tool"

	"github.com/go-json-experiment/json"
)

func (c *creation) say(format string, args ...any) {
	if c.plan.Say != nil {
		c.plan.Say(fmt.Sprintf(format, args...))
	}
}

// cast are the agents of a society with roles.
func (c *creation) cast(ctx context.Context, soc quest.Cast, computers bool) (out []event.AgentSpec, err error) {
	name := c.plan.Spec.Model
	p, err := c.profile(c.rt.Societies.ProfileOf(c.plan.Spec))
	if err != nil {
		return nil, err
	}
	for _, role := range soc.Roles(c.plan.Spec, name != "", computers) {
		a := event.AgentSpec{Name: role.Name, Executor: role.Executor, Gateway: role.Gateway, Window: quest.DefaultWindow}
		if !role.Thinks && role.Executor == "" {
			if err := c.without(ctx, &a); err != nil {
				return nil, err
			}
			out = append(out, a)
			continue
		}
		if role.Executor == "" || role.Gateway != nil && name != "" {
			a.Model, a.MaxOutput, a.Thinking = name, c.plan.Spec.MaxOutput, c.thinking(c.plan.Spec.Thinking)
			if err := c.size(ctx, &a); err != nil {
				return nil, err
			}
		}
		tools, err := c.roleTools(soc, role)
		if err != nil {
			return nil, err
		}
		if err := c.furnish(ctx, &a, role.Text, p, tools); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// without says of an agent that it has no model.
func (c *creation) without(ctx context.Context, a *event.AgentSpec) (err error) {
	if a.System, err = c.pin(ctx, []byte("This agent works by rules alone: no model is asked.")); err != nil {
		return err
	}
	list, err := json.Marshal([]model.Tool{})
	if err != nil {
		return err
	}
	a.Tools, err = c.pin(ctx, list)
	return err
}

// roleTools are those of a role: of the society's own the ones that it names, and the
// world's if it may use them.
func (c *creation) roleTools(soc quest.Cast, role quest.Role) (out []model.Tool, err error) {
	if d, ok := soc.(quest.Toolbox); ok {
		for _, t := range d.Own() {
			if slices.Contains(role.Own, t.Name) {
				out = append(out, t.Tool)
			}
		}
	}
	for _, t := range c.plan.Spec.CoreTools(role.World, role.Alone) {
		out = append(out, t.Tool)
	}
	if role.World {
		world, err := c.world(c.plan.Spec.Tools, "tools")
		if err != nil {
			return nil, err
		}
		out = append(out, world...)
	}
	if !c.machine.None() {
		more := slices.DeleteFunc(slices.Clone(role.Uses), func(name string) bool {
			return slices.ContainsFunc(out, func(t model.Tool) bool { return t.Name == name })
		})
		uses, err := tool.Specs(c.rt.Tools, more)
		if err != nil {
			return nil, err
		}
		out = append(out, uses...)
	}
	slices.SortFunc(out, func(a, b model.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
