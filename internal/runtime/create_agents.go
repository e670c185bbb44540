package runtime

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/profile"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// agents are those of the quest, a spec for each group. However many agents a group
// has, it takes the room of one.
func (c *creation) agents(ctx context.Context, soc quest.Society, computers bool) ([]event.AgentSpec, error) {
	spec := c.plan.Spec
	if cast, ok := soc.(quest.Cast); ok {
		return c.cast(ctx, cast, computers)
	}
	var out []event.AgentSpec
	var first int64
	for _, g := range spec.Groups() {
		a, err := c.agent(ctx, soc, g)
		if err != nil {
			return nil, err
		}
		a.Name = "agent-0"
		if soc.Traits().Many {
			a.Name, a.Count, a.First = "agent", g.Count, first
		}
		first += g.Count
		out = append(out, a)
	}
	return out, nil
}

// agent is how each agent of a group begins.
func (c *creation) agent(ctx context.Context, soc quest.Society, g quest.Group) (event.AgentSpec, error) {
	a := event.AgentSpec{Model: g.Model, Window: c.window(g.Model)}
	p, err := c.profile(g.Profile)
	if err != nil {
		return a, err
	}
	tools, err := c.tools(soc, p)
	if err != nil {
		return a, err
	}
	return a, c.furnish(ctx, &a, soc, "system", p, tools)
}

// furnish gives an agent its tools and the text that it begins with.
func (c *creation) furnish(ctx context.Context, a *event.AgentSpec, soc quest.Society, text string, p *profile.Profile, tools []model.Tool) error {
	for _, t := range tools {
		a.ToolNames = append(a.ToolNames, t.Name)
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	if a.Tools, err = c.pin(ctx, list); err != nil {
		return err
	}
	for _, t := range soc.Texts() {
		if t.Name != text {
			continue
		}
		system := c.system(t.Text, p)
		// What the template itself has is ours, and short.
		if size := len(c.question) + len(system) - len(t.Text); int64(size)/4 > a.Window/2 {
			return BadPlan("the question has %d bytes; with it an agent would begin with %d, more than half of a window of %d tokens: shorten it, or give a larger window", len(c.question), size, a.Window)
		}
		a.System, err = c.pin(ctx, []byte(system))
	}
	return err
}

// window is how many tokens a request to a model may have.
func (c *creation) window(model string) int64 {
	if w := c.plan.Spec.Window; w != 0 {
		return w
	}
	// Its answer must fit as well.
	if room := c.rt.known(model).Context * 9 / 10; room >= quest.MinWindow && room < quest.DefaultWindow {
		return room
	}
	return quest.DefaultWindow
}

// tools are those of the world that were chosen, and all of the society's own:
// without them its agents could not take part.
func (c *creation) tools(soc quest.Society, p *profile.Profile) ([]model.Tool, error) {
	var own []model.Tool
	isOwn := map[string]bool{}
	if d, ok := soc.(quest.Toolbox); ok {
		for _, t := range d.Own() {
			own, isOwn[t.Name] = append(own, t.Tool), true
		}
	}
	names, from := c.plan.Spec.Tools, "tools"
	if names == nil && p != nil {
		names, from = p.Tools, "profile "+p.Name+": tools"
	}
	if names == nil {
		names = c.rt.Tools.Offered(!c.machine.None())
	}
	world, err := c.rt.Tools.Specs(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return isOwn[name] }))
	if err != nil {
		return nil, BadPlan("%s: %w", from, err)
	}
	all := append(world, own...)
	slices.SortFunc(all, func(a, b model.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// system is what an agent is told before all else. The question and the profile are
// put in at once, so that neither can use the other's place. A society that has no
// place for a profile gets it at the end.
func (c *creation) system(template string, p *profile.Profile) string {
	about := ""
	if p != nil {
		about = Clean(c.rt.Redact(p.Prompt))
		if !strings.Contains(template, placeProfile) {
			template += "\n\n" + placeProfile
		}
	}
	return strings.NewReplacer(placeProblem, c.question, placeProfile, about).Replace(template)
}

// What a society's prompt is filled in at.
const (
	placeProblem = "{{PROBLEM}}"
	placeProfile = "{{PROFILE}}"
)

// profile reads a profile once, nil for no name.
func (c *creation) profile(name string) (*profile.Profile, error) {
	if name == "" {
		return nil, nil
	}
	if p := c.profiles[name]; p != nil {
		return p, nil
	}
	p, err := profile.Find(c.rt.Home, name)
	if err != nil {
		return nil, BadPlan("profile: %w", err)
	}
	if c.profiles == nil {
		c.profiles = map[string]*profile.Profile{}
	}
	c.profiles[name] = p
	return p, nil
}

// pin stores a text that several groups may share.
func (c *creation) pin(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	if c.pinned[ref] {
		return ref, nil
	}
	if c.pinned == nil {
		c.pinned = map[event.Ref]bool{}
	}
	c.pinned[ref] = true
	return c.texts.put(ctx, data)
}

// maxDockerfile bounds the file that an image is built from.
const maxDockerfile = 256 << 10

// computer is what the agents' computers are, pinned whole: neither a binary with
// other defaults nor a profile that was changed makes it another.
func (c *creation) computer(ctx context.Context, root *os.Root, soc quest.Society) (*event.ComputerSpec, error) {
	spec := c.plan.Spec
	p, err := c.profile(spec.ComputerProfile())
	if err != nil {
		return nil, err
	}
	from := "computer"
	c.machine = spec.Computer
	if c.machine.IsZero() && p != nil {
		c.machine, from = p.Computer, "profile "+p.Name+": computer"
	}
	if c.machine.IsZero() && soc.Traits().Computes {
		if _, err := c.rt.driver(ctx, "auto"); err == nil {
			c.machine = quest.Computer{Driver: "auto"}
		}
	}
	if c.machine.None() {
		return nil, nil
	}
	if _, err := proxy.Parse(c.machine.Network.Allow); err != nil {
		return nil, BadPlan("%s: network: %w", from, err)
	}
	dockerfile, err := c.dockerfile(ctx, root, p)
	if err != nil {
		return nil, err
	}
	b := c.machine.Spec(dockerfile)
	b.Limits = recorded(limitsOf(b.Limits))
	return b, nil
}

// dockerfile is what images are built from, where there may be images: the plan's,
// else the one that the spec names, else the profile's.
func (c *creation) dockerfile(ctx context.Context, root *os.Root, p *profile.Profile) (*event.Ref, error) {
	data := c.plan.Dockerfile
	switch {
	case data != nil:
	case c.machine.Dockerfile != "":
		var err error
		if data, err = readFile(root, c.machine.Dockerfile, maxDockerfile); err != nil {
			return nil, BadPlan("computer: dockerfile: %w", err)
		}
	case p != nil && c.machine.Driver != "bubblewrap":
		data = p.Dockerfile
	}
	if data == nil {
		return nil, nil
	}
	ref, err := c.pin(ctx, []byte(c.rt.Redact(string(data))))
	return &ref, err
}
