package runtime

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/search"

	"github.com/go-json-experiment/json"
)

// contract pins what a contract net works with: the corpus, the programs, and what
// makes vectors of texts.
func (c *creation) contract(ctx context.Context, root *os.Root, b *event.QuestCreated) error {
	if b.Problem.Ref != nil || event.Weight(b.Problem.Text) > quest.MaxTask {
		return badPlan("the task has %d bytes: the rules of a contract net read it whole, and it can have %d; put the rest into the corpus", len(c.question), quest.MaxTask)
	}
	if name := c.plan.Spec.Corpus; name != "" {
		tree, skipped, err := c.folder(ctx, root, "corpus", name)
		if err != nil {
			return err
		}
		b.Contract.Corpus = tree
		for _, s := range skipped {
			c.say("corpus: %s is left out: %s", filepath.Join(name, s.Path), s.Reason)
		}
		if err := c.readable(ctx, root, name); err != nil {
			return err
		}
	}
	if b.Contract.Corpus == nil && b.Data == nil {
		return badPlan("a contract net without corpus and data has nothing to go by: give one of them")
	}
	if c.rt.Embedder != nil {
		b.Contract.Embedder = c.rt.Embedder.Name()
	}
	for _, name := range compute.Names() {
		text, _ := compute.Program(name)
		ref, err := c.pin(ctx, []byte(text))
		if err != nil {
			return err
		}
		b.Pins = append(b.Pins, event.Pin{Name: programPin + name, Ref: ref})
	}
	return nil
}

// readable says which files of a corpus can be searched, and refuses one of which none
// can.
func (c *creation) readable(ctx context.Context, root *os.Root, name string) error {
	dir, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	docs, skipped, err := search.Read(ctx, dir)
	if err != nil {
		return badPlan("corpus: %w", err)
	}
	for _, s := range skipped {
		c.say("corpus: %s is not searched: %s", filepath.Join(name, s.Path), s.Reason)
	}
	if len(docs) == 0 {
		return badPlan("corpus: there is no .md or .txt file in %s that can be searched", name)
	}
	return nil
}

func (c *creation) say(format string, args ...any) {
	if c.plan.Say != nil {
		c.plan.Say(fmt.Sprintf(format, args...))
	}
}

// cast are the agents of a society with roles.
func (c *creation) cast(ctx context.Context, soc quest.Cast, computers bool) (out []event.AgentSpec, err error) {
	name := c.plan.Spec.Model
	p, err := c.profile(c.plan.Spec.Profile)
	if err != nil {
		return nil, err
	}
	for _, role := range soc.Roles(name != "", computers) {
		a := event.AgentSpec{Name: role.Name, Window: quest.DefaultWindow}
		if !role.Thinks {
			if err := c.without(ctx, &a); err != nil {
				return nil, err
			}
			out = append(out, a)
			continue
		}
		a.Model, a.Window = name, c.window(name)
		tools, err := c.roleTools(soc, role)
		if err != nil {
			return nil, err
		}
		if err := c.furnish(ctx, &a, soc, role.Text, p, tools); err != nil {
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
	if role.World {
		names := c.plan.Spec.Tools
		if names == nil {
			names = c.rt.Tools.Offered(!c.machine.None())
		}
		world, err := c.rt.Tools.Specs(names)
		if err != nil {
			return nil, badPlan("tools: %w", err)
		}
		out = append(out, world...)
	}
	slices.SortFunc(out, func(a, b model.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
