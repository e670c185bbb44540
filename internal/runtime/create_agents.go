package runtime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/tool"

	"github.com/go-json-experiment/json"
)

// agents are those of the quest, a spec for each group. However many agents a group
// has, it takes the room of one. There are none if something is wrong with some, which is noted.
func (c *creation) agents(ctx context.Context, soc quest.Society, computers bool) ([]event.AgentSpec, error) {
	spec := c.plan.Spec
	if cast, ok := soc.(quest.Cast); ok {
		return c.cast(ctx, cast, computers)
	}
	var out []event.AgentSpec
	var first int64
	var bad bool
	for _, g := range c.rt.Societies.Groups(spec) {
		a, err := c.agent(ctx, soc, g)
		if bad = bad || err != nil; err != nil {
			if err := c.note(err); err != nil {
				return nil, err
			}
			continue
		}
		a.Name = "agent-0"
		if soc.Traits().Many {
			a.Name, a.Count, a.First = "agent", g.Count, first
		}
		first += g.Count
		out = append(out, a)
	}
	if bad {
		return nil, nil
	}
	return out, nil
}

// agent is how each agent of a group begins.
func (c *creation) agent(ctx context.Context, soc quest.Society, g quest.Group) (event.AgentSpec, error) {
	a := event.AgentSpec{Model: g.Model, MaxOutput: g.MaxOutput, Thinking: c.thinking(g.Thinking)}
	if err := c.size(ctx, &a); err != nil {
		return a, err
	}
	p, err := c.profile(g.Profile)
	if err != nil {
		_, more := c.tools(soc, nil) // those that the spec chooses are right or wrong without it
		return a, cmp.Or(c.note(more), err)
	}
	tools, err := c.tools(soc, p)
	if err != nil {
		return a, err
	}
	if a.Executor = g.Executor; a.Executor != "" {
		a.Gateway = &event.GatewaySpec{Any: true}
	}
	return a, c.furnish(ctx, &a, "system", p, tools)
}

// furnish gives an agent its tools and the text that it begins with.
func (c *creation) furnish(ctx context.Context, a *event.AgentSpec, text string, p *profile.Profile, tools []model.Tool) error {
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
	for _, t := range c.said {
		if t.Name != text {
			continue
		}
		system := c.system(t.Text, p)
		if a.Executor != "" {
			system += c.executorText()
		}
		system += c.guide(a)
		size := len(system)
		if c.plan.Spec.Prompts[text] == "" { // what our own template has is short
			size -= len(t.Text)
		}
		if !strings.Contains(t.Text, quest.PlaceProblem) {
			size += len(c.question)
		}
		if int64(size)/4 > a.Window/2 {
			return badWord("problem", "", "the question has %d bytes; with it an agent would begin with %d, more than half of a window of %d tokens: shorten it, or give a larger window", len(c.question), size, a.Window)
		}
		a.System, err = c.pin(ctx, []byte(system))
	}
	return err
}

// size says how many tokens requests to an agent's model may have, and its answers.
func (c *creation) size(ctx context.Context, a *event.AgentSpec) error {
	m := c.measure(ctx, a.Model)
	if c.plan.Spec.Limits.Strict {
		a.Price = c.rt.known(a.Model).Price
	}
	switch {
	case a.MaxOutput == 0:
		a.RaisedOutput = m.MaxOutput
	case m.MaxOutput > 0 && a.MaxOutput > m.MaxOutput:
		return BadKey("max_output", "answers of %s have at most %d tokens, not %d", a.Model, m.MaxOutput, a.MaxOutput)
	}
	if a.Window = c.plan.Spec.Window; a.Window != 0 {
		return nil
	}
	a.Window = quest.DefaultWindow
	if m.Doubt != "" {
		c.say("%s", m.Doubt)
	}
	// Its answer must fit as well.
	if room := m.Context * 9 / 10; room >= quest.MinWindow && room < quest.DefaultWindow {
		a.Window = room
	}
	return nil
}

// thinking is what is pinned of a group's: nothing, if that is what the quest says.
func (c *creation) thinking(t quest.Thinking) string {
	if t == quest.AnyThinking && c.plan.Spec.Thinking != quest.NoThinking {
		return ""
	}
	return string(t)
}

// measure finds out once how much a model can take.
func (c *creation) measure(ctx context.Context, model string) Measured {
	if c.rt.Measure == nil || model == "" || c.texts.dry || c.lost[model] {
		return Measured{}
	}
	m, ok := c.measured[model]
	if ok {
		m.Doubt = "" // it has been told
		return m
	}
	if c.measured == nil {
		c.measured = map[string]Measured{}
	}
	m = c.rt.Measure(ctx, model)
	c.measured[model] = m
	return m
}

// tools are those of the world that were chosen, and all of the society's own:
// without them its agents could not take part.
func (c *creation) tools(soc quest.Society, p *profile.Profile) ([]model.Tool, error) {
	var own []model.Tool
	isOwn := map[string]bool{}
	for _, t := range append(c.plan.Spec.CoreTools(true, false), c.skillTools()...) {
		own, isOwn[t.Name] = append(own, t.Tool), true
	}
	if d, ok := soc.(quest.Toolbox); ok {
		for _, t := range d.Own() {
			own, isOwn[t.Name] = append(own, t.Tool), true
		}
	}
	names, from := c.plan.Spec.Tools, "tools"
	if names == nil && p != nil {
		names, from = p.Tools, "profile "+p.Name+": tools"
	}
	world, err := c.world(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return isOwn[name] }), from)
	if err != nil {
		return nil, err
	}
	if len(world) == 0 {
		own = slices.DeleteFunc(own, func(t model.Tool) bool { return t.Name == quest.ReadResult })
	}
	if c.plan.Spec.Discover {
		own = append(own, besideTools...)
	}
	all := append(world, own...)
	slices.SortFunc(all, func(a, b model.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// world are tools of the world by their names, or those there are where none were chosen. from
// says who chose them.
func (c *creation) world(names []string, from string) ([]model.Tool, error) {
	if names == nil {
		names = tool.Offered(c.rt.Tools, !c.machine.None())
	}
	var faults []error
	for _, name := range names {
		if _, err := tool.Specs(c.rt.Tools, []string{name}); err != nil {
			key, word := "tools", name
			if from != key {
				key, word = "profile", ""
			}
			faults = append(faults, quest.FaultIn(key, word, "%s: %v", from, err))
		}
	}
	if len(faults) > 0 {
		return nil, &PlanError{quest.InOrder(faults)}
	}
	return tool.Specs(c.rt.Tools, names)
}

// system is what an agent is told before all else. The question and the profile are
// put in at once, so that neither can use the other's place. A society that has no
// place for a profile gets it at the end.
func (c *creation) system(template string, p *profile.Profile) string {
	about := ""
	if p != nil {
		about = Clean(c.rt.Redact(p.Prompt))
		if !strings.Contains(template, quest.PlaceProfile) {
			template += "\n\n" + quest.PlaceProfile
		}
	}
	return strings.NewReplacer(quest.PlaceProblem, c.question, quest.PlaceProfile, about).Replace(template)
}

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
		key := "profile"
		if name != c.plan.Spec.Profile {
			key = "agents" // of a group of its own
		}
		return nil, badWord(key, name, "profile: %v", err)
	}
	if c.profiles == nil {
		c.profiles = map[string]*profile.Profile{}
	}
	c.profiles[name] = p
	return p, nil
}

// takeProfile has the quest say what its profile says to its society, where it says nothing itself.
// The plan is left as it is: it is somebody else's.
func (c *creation) takeProfile() error {
	if c.rt.Societies.Named(c.plan.Spec.Society) == nil {
		return nil // which is told later
	}
	p, err := c.profile(c.rt.Societies.ProfileOf(c.plan.Spec))
	if err != nil || p == nil || p.Quest == nil {
		return err
	}
	spec := *c.plan.Spec
	spec.Keys = maps.Clone(spec.Keys)
	filled, err := c.rt.Societies.Fill(&spec, p.Quest)
	if err != nil {
		return badWord("profile", p.Name, "profile %s: quest: %v", p.Name, err)
	}
	c.plan.Spec, c.filled = &spec, map[string]string{}
	for _, key := range filled {
		c.filled[key] = p.Name
	}
	return nil
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
	p, err := c.profile(c.rt.Societies.ComputerProfile(spec))
	if err != nil {
		return nil, err
	}
	from := "computer"
	c.machine, c.profiled = spec.Computer, c.plan.profiled
	if c.machine.IsZero() && p != nil {
		c.machine, from = p.Computer, "profile "+p.Name+": computer"
		c.profiled = p.Name
		// A profile that nobody asked for takes no quest its way without computers.
		if _, err := c.rt.driver(ctx, c.machine.Driver); err != nil && spec.Profile == "" && soc.Traits().Computes {
			c.machine, c.profiled = quest.Computer{}, ""
		}
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
		return nil, badWord(strings.Fields(from)[0], "network", "%s: network: %v", from, err)
	}
	dockerfile, err := c.dockerfile(ctx, root, p)
	if err != nil {
		return nil, err
	}
	c.bound()
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
			return nil, badWord("computer", c.machine.Dockerfile, "computer: dockerfile: %v", err)
		}
	case p != nil && quest.Imaged(c.machine.Driver):
		data = p.Dockerfile
	}
	if data == nil {
		return nil, nil
	}
	ref, err := c.pin(ctx, []byte(c.rt.Redact(string(data))))
	return &ref, err
}
