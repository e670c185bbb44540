package runtime

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/knowledge"
	"lyceum/internal/mcp"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/skill"

	"github.com/go-json-experiment/json"
)

// Foreseen is what agents have of tools, or would have, and why.
type Foreseen struct {
	Quest string `json:"quest"`
	// Discover says that agents find tools when they need them.
	Discover bool             `json:"discover"`
	Servers  []ForeseenServer `json:"servers"`
	Agents   []ForeseenAgent  `json:"agents"`
	// Skills and Rules are all that are pinned for agents to find, to look up, or to be told;
	// LeftOut what was there and is not.
	Skills  []ForeseenSkill `json:"skills"`
	Rules   []ForeseenRule  `json:"rules"`
	LeftOut []event.LeftOut `json:"left_out"`
}

// ForeseenSkill is a skill that agents can find.
type ForeseenSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// From is quest, home or ours.
	From string `json:"from"`
	// Tools is null where the skill does not say.
	Tools      []string `json:"tools"`
	References []string `json:"references"`
	Programs   []string `json:"programs"`
	Assets     []string `json:"assets"`
}

// ForeseenRule is a rule, and when agents are told it.
type ForeseenRule struct {
	Path   string `json:"path"`
	When   string `json:"when"`
	Tokens int64  `json:"tokens"`
}

// Chosen is a skill or a rule that an agent is told of, and why.
type Chosen struct {
	Name  string `json:"name"`
	Why   string `json:"why"`
	Score int64  `json:"score,omitzero"`
}

// ForeseenServer is an MCP server, with how many tools it has, or why nobody can tell.
type ForeseenServer struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Tools int    `json:"tools"`
	Error string `json:"error,omitempty"`
}

// ForeseenAgent is an agent, or several that have the same.
type ForeseenAgent struct {
	Agent string         `json:"agent"`
	Count int64          `json:"count"`
	Tools []ForeseenTool `json:"tools"`
	// Skills and Rules are those that it is told of before its first turn, or was since.
	Skills []Chosen `json:"skills"`
	Rules  []Chosen `json:"rules"`
	// LeftOut are tools that are not shown though they were found.
	LeftOut []event.LeftOut `json:"left_out"`
	// Embedder is whose vectors tools are found by; empty is for words alone, and Doubt then
	// says why, if vectors were to be used.
	Embedder string `json:"embedder"`
	Doubt    string `json:"doubt,omitempty"`
}

// ForeseenTool is a tool and why the agent has it.
type ForeseenTool struct {
	Name string `json:"name"`
	// Source is empty for a tool of Lyceum's own.
	Source string `json:"source"`
	Trust  string `json:"trust"`
	Why    string `json:"why"`
	// Score is what it was found by, 0 if it was not.
	Score int64 `json:"score,omitempty"`
}

// Foresee says what agents of a plan would be shown before their first turn. It makes nothing,
// and asks the servers that can be reached without a computer. An intent stands in the place of
// the question, if there is one.
func (r *Runtime) Foresee(ctx context.Context, p Plan, intent string) (*Foreseen, error) {
	p.Say = nil
	c := newCreation(r, p)
	c.texts.dry, c.texts.kept = true, map[event.Hash][]byte{}
	b, err := c.created(ctx)
	if err != nil {
		return nil, err
	}
	out := newForeseen(b.Name, b.Discover, b.Knowledge, c.cards, b.Skills)
	var listed []listedServer
	for _, pin := range b.Servers {
		var set setting.Server
		if err := json.Unmarshal(c.texts.kept[pin.Settings.Hash], &set); err != nil {
			return nil, fmt.Errorf("read what is said of the server %s: %w", pin.Name, err)
		}
		f := ForeseenServer{Name: pin.Name, Kind: pin.Kind}
		pins, err := r.listTools(ctx, pin.Name, set, b.Discover)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f.Tools = len(pins); err != nil {
			f.Error = r.Redact(err.Error())
		} else {
			listed = append(listed, listedServer{name: pin.Name, set: set, pins: pins})
		}
		out.Servers = append(out.Servers, f)
	}
	if intent == "" {
		intent = c.question
	}
	in := &foresight{rt: r, d: r.NewDiscovery(), listed: listed, shelf: &Shelf{rt: r, cards: c.cards}, known: b.Knowledge, intent: intent}
	defer in.d.Close()
	if b.Knowledge != nil {
		for _, p := range b.Knowledge.Rules {
			if p.Link != "" {
				in.rules = append(in.rules, subjectOf(p, string(c.texts.kept[p.Text.Hash])))
			}
		}
	}
	for _, spec := range b.Agents {
		var core []model.Tool
		if err := json.Unmarshal(c.texts.kept[spec.Tools.Hash], &core); err != nil {
			return nil, fmt.Errorf("read the tools of %s: %w", spec.Name, err)
		}
		a, err := in.agent(ctx, b.Discover && spec.Executor == "", spec, core)
		if err != nil {
			return nil, err
		}
		out.Agents = append(out.Agents, a)
	}
	return out, nil
}

// errInside says why a server is not asked beforehand.
var errInside = errors.New("it runs inside the agents' computers: what it has is known once the quest runs")

// listTools asks a server for its tools, as it is asked before an agent's first turn.
func (r *Runtime) listTools(ctx context.Context, name string, set setting.Server, finds bool) ([]pinnedTool, error) {
	if set.Kind() != setting.HTTP {
		return nil, errInside
	}
	ctx, cancel := context.WithTimeout(ctx, mcp.ConnectTime)
	defer cancel()
	l := &live{rt: r}
	l.servers = &servers{l: l}
	s := &served{l: l, server: name, set: set, finds: finds}
	to := mcp.Address{URL: set.URL, Private: r.Servers.Private, Retry: int(set.Retry)}
	var err error
	if to.Header, err = s.header(); err != nil {
		return nil, err
	}
	c, err := mcp.Dial(ctx, to, mcp.Options{Version: r.Version, Pages: int(set.Pages), Login: s.login(to)})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := c.List(ctx)
	if err != nil {
		return nil, err
	}
	pins, _, err := s.offered(list)
	return pins, err
}

// foresight is what agents of a plan are shown from.
type foresight struct {
	rt     *Runtime
	d      *Discovery
	listed []listedServer
	shelf  *Shelf
	rules  []knowledge.Subject
	known  *event.Knowledge
	intent string
}

// agent is what agents of one kind would be shown.
func (in *foresight) agent(ctx context.Context, finds bool, spec event.AgentSpec, core []model.Tool) (ForeseenAgent, error) {
	a := newForeseenAgent(spec.Name, max(spec.Count, 1), in.known)
	for _, t := range core {
		a.Tools = append(a.Tools, ForeseenTool{Name: t.Name, Trust: event.TrustOwn, Why: "it begins with this one"})
	}
	cat, left, err := catalogueOf(core, in.listed, in.shelf)
	if err != nil {
		return a, err
	}
	if !finds {
		for _, e := range cat.Entries() {
			if !noTool(cat, true)(e.Shown) && e.What == "" && spec.Model+spec.Executor != "" {
				a.Tools = append(a.Tools, ForeseenTool{Name: e.Shown, Source: e.Source, Trust: e.Trust, Why: "all tools of its server are shown"})
			}
		}
		a.LeftOut = append(a.LeftOut, left...)
		return a, nil
	}
	hash, err := cat.Hash()
	if err != nil {
		return a, err
	}
	b, err := in.d.find(ctx, cat, hash, in.rules, in.intent, &event.CatalogueCall{Most: quest.FirstTools}, spec.Window, left, in.rt.Embedder)
	if err != nil {
		return a, err
	}
	if _, err := compose(Had{Core: spec.ToolNames, Window: spec.Window}, core, cat, b); err != nil {
		return a, err
	}
	a.Embedder, a.Doubt, a.LeftOut = b.Embedder, b.Doubt, append(a.LeftOut, b.LeftOut...)
	for _, t := range b.Shown[len(core):] {
		i := slices.IndexFunc(b.Found, func(f event.FoundTool) bool { return f.Name == t.Name })
		a.Tools = append(a.Tools, ForeseenTool{Name: t.Name, Source: t.Source, Trust: t.Trust, Why: fmt.Sprintf("place %d of those that fit the question", i+1), Score: b.Found[i].Score})
	}
	a.chose(b, "the question")
	return a, nil
}

// chose adds the skills and rules that a search has found.
func (a *ForeseenAgent) chose(b *event.ToolsShown, intent string) {
	add := func(list *[]Chosen, name string, place int, score int64) {
		if !slices.ContainsFunc(*list, func(c Chosen) bool { return c.Name == name }) {
			*list = append(*list, Chosen{name, fmt.Sprintf("place %d of those that fit %s", place+1, intent), score})
		}
	}
	for i, s := range b.Skills {
		add(&a.Skills, s.Name, i, s.Score)
	}
	for i, r := range b.Rules {
		add(&a.Rules, r.Path, i, r.Score)
	}
}

func newForeseen(name string, discover bool, k *event.Knowledge, cards []skill.Card, set *event.SkillSet) *Foreseen {
	out := &Foreseen{Quest: name, Discover: discover, Servers: []ForeseenServer{}, Agents: []ForeseenAgent{}, Skills: []ForeseenSkill{}, Rules: []ForeseenRule{}, LeftOut: []event.LeftOut{}}
	for _, c := range cards {
		s := ForeseenSkill{Name: c.Name, Description: c.Description, From: c.From, References: []string{}, Programs: []string{}, Assets: []string{}}
		if c.Narrows {
			s.Tools = append([]string{}, c.Tools...)
		}
		for _, r := range c.References {
			s.References = append(s.References, r.Text)
		}
		for _, p := range c.Scripts {
			s.Programs = append(s.Programs, p.Shown)
		}
		for _, x := range c.Assets {
			s.Assets = append(s.Assets, x.Path)
		}
		out.Skills = append(out.Skills, s)
	}
	if set != nil {
		out.lookedUp(set)
	}
	if k == nil {
		return out
	}
	if k.Root != nil {
		out.Rules = append(out.Rules, ForeseenRule{k.Root.Path, "always", agent.Tokens(k.Root.Text.Size)})
	}
	for _, r := range k.Rules {
		when := "when a file tool touches " + path.Dir(r.Path) + " or what is below it"
		if r.Link != "" {
			when = "when what an agent wants fits: " + r.Link
		}
		out.Rules = append(out.Rules, ForeseenRule{r.Path, when, agent.Tokens(r.Text.Size)})
	}
	out.LeftOut = append(out.LeftOut, k.LeftOut...)
	return out
}

// lookedUp adds the skills that a society has its agents look up in their homes.
func (out *Foreseen) lookedUp(set *event.SkillSet) {
	for _, p := range set.List {
		out.Skills = append(out.Skills, ForeseenSkill{Name: p.Name, Description: p.Description, From: p.From, References: []string{}, Programs: []string{}, Assets: []string{}})
	}
	out.LeftOut = append(out.LeftOut, set.LeftOut...)
}

func newForeseenAgent(name string, count int64, k *event.Knowledge) ForeseenAgent {
	a := ForeseenAgent{Agent: name, Count: count, Tools: []ForeseenTool{}, LeftOut: []event.LeftOut{}, Skills: []Chosen{}, Rules: []Chosen{}}
	if k != nil && k.Root != nil && !slices.ContainsFunc(k.LeftOut, func(l event.LeftOut) bool { return l.Name == k.Root.Path }) {
		a.Rules = append(a.Rules, Chosen{Name: k.Root.Path, Why: "always"})
	}
	return a
}

// Shown says what the agents of a quest have of tools by now, and why.
func (r *Runtime) Shown(ctx context.Context, name string) (*Foreseen, error) {
	s, err := r.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	shelf, err := r.ShelfOf(ctx, s)
	if err != nil {
		return nil, err
	}
	out := newForeseen(name, len(s.Finders) > 0, s.Knowledge, shelf.cards, s.Skills)
	told := map[string]*ForeseenAgent{}
	for _, a := range s.Agents {
		told[a.Name] = new(newForeseenAgent(a.Name, 1, s.Knowledge))
	}
	why, last := map[[2]string]ForeseenTool{}, map[string]*event.ToolsShown{}
	calls := map[uint64]*event.CatalogueCall{}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case *event.CatalogueCall:
			calls[e.Seq] = b
		case *event.ToolsShown:
			if b.Call != 0 {
				last[e.Actor] = b
				explain(why, e, calls[b.Call], b)
				told[e.Actor].chose(b, intentOf(e, calls[b.Call]))
			}
		case *event.GuidanceShown:
			if a := told[e.Actor]; b.LeftOut {
				a.LeftOut = append(a.LeftOut, event.LeftOut{Name: b.Rule, Why: fmt.Sprintf("rules have %d %% of the window (event %d)", agent.RuleShare, e.Seq)})
			} else if b.Rule != "" && !slices.ContainsFunc(a.Rules, func(c Chosen) bool { return c.Name == b.Rule }) {
				a.Rules = append(a.Rules, Chosen{Name: b.Rule, Why: fmt.Sprintf("it touched what is below (event %d)", e.Seq)})
			}
		}
	}
	for _, srv := range s.Servers {
		f := ForeseenServer{Name: srv.Name, Kind: srv.Kind, Error: "nobody has asked it yet"}
		for _, a := range s.Agents {
			if o := s.Offer(a.Name, srv.Name); o != nil && o.Listed {
				if f.Tools, f.Error = o.Tools(), ""; o.Failed {
					f.Error = "it could not be used"
				}
			}
		}
		out.Servers = append(out.Servers, f)
	}
	for _, a := range s.Agents {
		f := *told[a.Name]
		if b := last[a.Name]; b != nil {
			f.Embedder, f.Doubt, f.LeftOut = b.Embedder, b.Doubt, append(f.LeftOut, b.LeftOut...)
		}
		for _, tool := range a.ToolNames {
			t, from := ForeseenTool{Name: tool, Trust: event.TrustOwn, Why: "it began with this one"}, a.Sources[tool]
			if from.Source != "" {
				t = ForeseenTool{Name: tool, Source: from.Source, Trust: from.Trust, Why: "all tools of its server are shown"}
			}
			if found, ok := why[[2]string{a.Name, tool}]; ok && from.Source != "" {
				t.Why, t.Score = found.Why, found.Score
			}
			f.Tools = append(f.Tools, t)
		}
		out.Agents = append(out.Agents, f)
	}
	return out, nil
}

// explain notes by which search an agent got a tool first.
func explain(why map[[2]string]ForeseenTool, e event.Event, call *event.CatalogueCall, b *event.ToolsShown) {
	for i, f := range b.Found {
		key := [2]string{e.Actor, f.Name}
		if _, had := why[key]; had || call == nil {
			continue
		}
		text := fmt.Sprintf("place %d of those that fit %s", i+1, intentOf(e, call))
		why[key] = ForeseenTool{Why: text, Score: f.Score}
	}
}

// intentOf names what a search was for.
func intentOf(e event.Event, call *event.CatalogueCall) string {
	if call == nil || call.For == 0 {
		return "the question"
	}
	return fmt.Sprintf("%q (event %d)", event.Shorten(call.Intent.Text, 120), e.Seq)
}
