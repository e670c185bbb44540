package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/knowledge"
	"lyceum/internal/mcp"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/search"

	"github.com/go-json-experiment/json"
)

// How much of an agent's window tools may take that it has found, in hundredths, and how many of
// them there can be in a list.
const (
	toolShare = agent.ToolShare
	maxFound  = 64
)

// Discovery finds tools for agents among what the ledger says that there is: it asks no server.
// So whoever looks at a ledger can search again. It is safe for use by several goroutines.
type Discovery struct {
	rt *Runtime

	mu      sync.Mutex // held while an index is made, so that it is made once
	known   map[discovered]*knowledge.Index
	vectors *search.VectorCache
	// made are catalogues, by what they are made of: reading thousands of tools again for each
	// search takes longer than the search.
	made map[event.Hash]*madeCatalogue
}

// madeCatalogue is a catalogue that nobody changes any more.
type madeCatalogue struct {
	*knowledge.Catalogue
	hash event.Hash
	left []event.LeftOut
}

// maxMade is how many catalogues are kept. Agents of a quest mostly share one, and it is another
// whenever a server changes.
const maxMade = 8

// discovered is what an index is known by: a catalogue, and whose vectors it has.
type discovered struct {
	catalogue event.Hash
	embedder  string
}

// NewDiscovery returns one that has searched nothing yet.
func (r *Runtime) NewDiscovery() *Discovery {
	return &Discovery{rt: r, known: map[discovered]*knowledge.Index{}, made: map[event.Hash]*madeCatalogue{}}
}

// Close lets go of all indexes.
func (d *Discovery) Close() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.known {
		err = errors.Join(err, x.Close())
	}
	d.known = map[discovered]*knowledge.Index{}
	if d.vectors != nil {
		err = errors.Join(err, d.vectors.Close())
		d.vectors = nil
	}
	return err
}

// Catalogue is what an agent can find, made of what the ledger has pinned. Tools whose shown
// names are taken are left out, and named.
func (d *Discovery) Catalogue(ctx context.Context, from *quest.Pinned) (*knowledge.Catalogue, []event.LeftOut, error) {
	m, err := d.catalogue(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	return m.Catalogue, m.left, nil
}

func (d *Discovery) catalogue(ctx context.Context, from *quest.Pinned) (*madeCatalogue, error) {
	data, err := json.Marshal(from, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	key := event.HashOf(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.made[key]; m != nil {
		return m, nil
	}
	core, err := d.tools(ctx, from.Core)
	if err != nil {
		return nil, err
	}
	var servers []listedServer
	for _, s := range from.Servers {
		one, err := d.server(ctx, s)
		if err != nil {
			return nil, err
		}
		servers = append(servers, one)
	}
	shelf, err := d.rt.Shelf(ctx, from.Skills)
	if err != nil {
		return nil, err
	}
	m := &madeCatalogue{}
	if m.Catalogue, m.left, err = catalogueOf(core, servers, shelf); err != nil {
		return nil, err
	}
	if m.hash, err = m.Hash(); err != nil {
		return nil, err
	}
	if len(d.made) >= maxMade {
		clear(d.made)
	}
	d.made[key] = m
	return m, nil
}

// listedServer is a server and the tools that are to be found of it.
type listedServer struct {
	name string
	set  setting.Server
	pins []pinnedTool
	more mcp.Beside
}

// server reads what a server was pinned to.
func (d *Discovery) server(ctx context.Context, s quest.PinnedServer) (out listedServer, err error) {
	out.name = s.Name
	if out.set, err = d.rt.serverSaid(ctx, s.Name, s.Said, s.Settings); err != nil {
		return out, err
	}
	var data []byte
	if data, err = d.rt.Blob(ctx, s.List); err == nil {
		out.pins, err = readPins(data)
	}
	if err != nil {
		return out, fmt.Errorf("read the tools of the server %s: %w", s.Name, err)
	}
	if s.More != nil {
		if data, err = d.rt.Blob(ctx, *s.More); err == nil {
			err = json.Unmarshal(data, &out.more)
		}
		if err != nil {
			return out, fmt.Errorf("read the resources of the server %s: %w", s.Name, err)
		}
	}
	out.pins = slices.DeleteFunc(out.pins, func(p pinnedTool) bool { return slices.Contains(s.Without, p.Offered) })
	return out, nil
}

// catalogueOf is what can be found of the tools that an agent begins with, of servers, and of
// skills.
func catalogueOf(core []model.Tool, servers []listedServer, shelf *Shelf) (*knowledge.Catalogue, []event.LeftOut, error) {
	c := new(knowledge.Catalogue)
	for _, t := range core {
		if t.Name == quest.SearchTools {
			continue
		}
		e := knowledge.Entry{Source: knowledge.Local, Name: t.Name, Shown: t.Name, Description: t.Description, Schema: t.Schema, Trust: event.TrustOwn}
		e.Hash = event.HashOf([]byte(t.Name + "\n" + t.Description + "\n" + t.Schema))
		if err := c.Add(e); err != nil {
			return nil, nil, err
		}
	}
	var left []event.LeftOut
	for i, list := range entriesOf(servers) {
		for j, e := range list {
			if e.why == "" {
				if err := c.Add(e.Entry); err != nil {
					e.why = err.Error()
				}
			}
			if e.why != "" && len(left) < maxLeftOut {
				left = append(left, event.LeftOut{Name: AtMost(servers[i].pins[j].Offered, 80), Why: AtMost(e.why, 200)})
			}
		}
	}
	for i := range servers {
		for _, e := range servers[i].besides() {
			_ = c.Add(e) // what is there twice is there once
		}
	}
	return c, append(left, shelf.entries(c)...), nil
}

// listedEntry is a tool of a server as it is found, or why it cannot be.
type listedEntry struct {
	knowledge.Entry
	why string
}

// entriesOf are the entries of each server. Reading the schemas of thousands of tools is most of the
// work of making a catalogue, so servers are read side by side.
func entriesOf(servers []listedServer) [][]listedEntry {
	out := make([][]listedEntry, len(servers))
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			for _, p := range servers[i].pins {
				e, why := servers[i].entry(p)
				out[i] = append(out[i], listedEntry{e, why})
			}
		})
	}
	all.Wait()
	return out
}

// entry is a tool of the server as it is found, or why it cannot be.
func (s *listedServer) entry(p pinnedTool) (e knowledge.Entry, why string) {
	schema, why := p.Tool.Arguments()
	e = knowledge.Entry{
		Source: knowledge.MCP + ":" + s.name, Name: p.Tool.Name, Shown: p.Offered, Description: p.Tool.Words(s.name), Schema: schema,
		Says: plain.Told(p.Tool.Title+". "+p.Tool.Description, 0), Trust: s.set.Trust, Hash: p.Tool.Hash(),
	}
	if e.Trust == "" {
		e.Trust = event.TrustStranger
	}
	return e, why
}

// tools reads a list of tools.
func (d *Discovery) tools(ctx context.Context, ref event.Ref) (out []model.Tool, err error) {
	data, err := d.rt.Blob(ctx, ref)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read a list of tools: %w", err)
	}
	return out, nil
}

// index is that of a catalogue, by an embedder or by words alone.
func (d *Discovery) index(ctx context.Context, c *knowledge.Catalogue, hash event.Hash, by search.Embedder) (*knowledge.Index, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := discovered{catalogue: hash}
	if by != nil {
		key.embedder = by.Name()
	}
	if x := d.known[key]; x != nil {
		return x, nil
	}
	o := knowledge.Options{Embedder: by, Hash: hash}
	if d.rt.Home != "" {
		o.Dir = filepath.Join(d.rt.Home, "cache", "tools")
		if d.vectors == nil && by != nil {
			v, err := search.OpenVectorCache(filepath.Join(d.rt.Home, "cache", "vectors.db"))
			if err != nil {
				return nil, err
			}
			d.vectors = v
		}
		o.Vectors = d.vectors
	}
	x, err := knowledge.Open(ctx, c, o)
	if err == nil {
		d.known[key] = x
	}
	return x, err
}

// Search is what fits a call among what is pinned, without the list that is made of it.
// window is how many tokens the agent may see.
func (d *Discovery) Search(ctx context.Context, from *quest.Pinned, call *event.CatalogueCall, window int64, by search.Embedder) (*event.ToolsShown, *knowledge.Catalogue, error) {
	m, err := d.catalogue(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	c, left := m.Catalogue, m.left
	intent := call.Intent.Text
	if call.Intent.Ref != nil {
		data, err := d.rt.Blob(ctx, *call.Intent.Ref)
		if err != nil {
			return nil, nil, err
		}
		intent = string(data)
	}
	rules, err := d.subjects(ctx, from.Rules)
	if err != nil {
		return nil, nil, err
	}
	if call.For != 0 {
		left = nil // that was told before the first turn
	}
	b, err := d.find(ctx, c, m.hash, rules, intent, call, window, left, by)
	return b, c, err
}

// find is what fits a call in a catalogue, and among texts that rules link to.
func (d *Discovery) find(ctx context.Context, c *knowledge.Catalogue, hash event.Hash, rules []knowledge.Subject, intent string, call *event.CatalogueCall, window int64, left []event.LeftOut, by search.Embedder) (*event.ToolsShown, error) {
	f := knowledge.Filter{Kind: call.Kind, Without: func(shown string) bool { _, skill := isSkill(shown); return skill }}
	if call.For == 0 {
		f.Except = knowledge.Local // agents begin with these: they take no place
	}
	b, err := d.search(ctx, c, hash, intent, f, call.Most, by)
	if err != nil {
		return nil, err
	}
	b.LeftOut = left
	if call.Kind == "" || call.Kind == knowledge.Skill {
		x, err := d.index(ctx, c, b.Catalogue, by)
		if err != nil {
			return nil, err
		}
		most := quest.FirstSkills
		if call.For != 0 && call.Kind == "" {
			most = quest.FoundSkills
		}
		if err := d.skills(ctx, x, intent, most, window, b); err != nil {
			return nil, err
		}
		bring(c, b)
	}
	b.Rules = aboutIt(rules, intent)
	return b, nil
}

// noTool says of entries that they take no place among tools that are found: skills, and before
// the first turn the tools that agents begin with.
func noTool(c *knowledge.Catalogue, first bool) func(shown string) bool {
	return func(shown string) bool {
		e, _ := c.Lookup(shown)
		_, skill := isSkill(shown)
		return skill || first && e.Kind() == knowledge.Local
	}
}

// search is what fits an intent.
func (d *Discovery) search(ctx context.Context, c *knowledge.Catalogue, hash event.Hash, intent string, f knowledge.Filter, most int64, by search.Embedder) (*event.ToolsShown, error) {
	b := &event.ToolsShown{Catalogue: hash}
	x, err := d.index(ctx, c, hash, by)
	if err != nil {
		return nil, err
	}
	if f.Kind == quest.KindResource || f.Kind == quest.KindPrompt {
		most = 0
	}
	found, err := x.Search(ctx, intent, f, int(most))
	if err == nil {
		err = d.relevant(ctx, x, intent, f.Kind, b)
	}
	if err != nil {
		return nil, err
	}
	b.Embedder, b.Doubt = found.Embedder, AtMost(d.rt.Redact(found.Doubt), 300)
	for _, h := range found.Hits {
		b.Found = append(b.Found, event.FoundTool{Name: h.Entry.Shown, Score: h.Score})
	}
	return b, nil
}

// Had is what an agent has before a search gives it more.
type Had struct {
	// Tools is its list, and Sources where those of it come from that are not Lyceum's own.
	Tools   event.Ref
	Sources map[string]event.ShownTool
	// Core are the names of those that it keeps in any case, Using those that it is using.
	Core, Using []string
	// Cut says that its list may be made anew.
	Cut bool
	// Window is how many tokens its requests may have.
	Window int64
}

// HadBy is what an agent has of tools now.
func HadBy(s *quest.State, name string, call uint64) Had {
	a, h := s.Agent(name), Had{}
	h.Tools, h.Sources, h.Window = a.Tools, a.Sources, a.Limit
	if f := s.Finders[name]; f != nil {
		h.Core = f.Names
	}
	if l := s.Lookup(name, call); l != nil {
		h.Cut = l.Cut
	}
	for _, u := range a.Open {
		if !u.Done {
			h.Using = append(h.Using, u.Name)
		}
	}
	return h
}

// Compose makes the list that the agent gets of what a search has found: what it has, and then
// what is new, as far as there is room. It returns the list's bytes, which the body names.
func (d *Discovery) Compose(ctx context.Context, h Had, c *knowledge.Catalogue, b *event.ToolsShown) ([]byte, error) {
	old, err := d.tools(ctx, h.Tools)
	if err != nil {
		return nil, err
	}
	return compose(h, old, c, b)
}

func compose(h Had, old []model.Tool, c *knowledge.Catalogue, b *event.ToolsShown) ([]byte, error) {
	p := newPlacement(h, c, old)
	for _, t := range b.Found {
		p.want(t.Name)
	}
	b.LeftOut = append(slices.Clone(b.LeftOut), p.left...)
	for {
		list, shown := p.list()
		data, err := json.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("write a list of tools: %w", err)
		}
		b.Shown, b.Tools = shown, event.RefOf(data)
		if _, err := event.EncodeBody(b); err == nil || len(p.fresh) == 0 {
			return data, err
		}
		last := p.fresh[len(p.fresh)-1]
		p.fresh = p.fresh[:len(p.fresh)-1]
		b.LeftOut = append(b.LeftOut, event.LeftOut{Name: last, Why: "there are too many tools in the list already"})
	}
}

// placement is a list of tools as it is made.
type placement struct {
	had   Had
	c     *knowledge.Catalogue
	old   []model.Tool
	stays map[string]bool
	fresh []string
	left  []event.LeftOut
	room  int64 // in tokens
	count int
}

func newPlacement(h Had, c *knowledge.Catalogue, old []model.Tool) *placement {
	p := &placement{had: h, c: c, old: old, stays: map[string]bool{}, room: h.Window * toolShare / 100}
	for _, t := range old {
		if slices.Contains(h.Core, t.Name) {
			p.stays[t.Name] = true
			continue
		}
		if !h.Cut || slices.Contains(h.Using, t.Name) {
			p.keep(t)
		}
	}
	if h.Cut { // the last that were found stay longest, with half of the room; what is gone goes
		for _, t := range slices.Backward(old) {
			if _, there := c.Lookup(t.Name); there && !p.stays[t.Name] && p.cost(t) <= p.room/2 && p.count < maxFound/2 {
				p.keep(t)
			}
		}
	}
	return p
}

func (p *placement) keep(t model.Tool) {
	p.stays[t.Name] = true
	p.room -= p.cost(t)
	p.count++
}

// cost is how many tokens a tool takes, about.
func (p *placement) cost(t model.Tool) int64 {
	return int64(len(t.Name)+len(t.Description)+len(t.Schema)) / bytesPerToken
}

// want adds a tool that was found, if it is not there and there is room.
func (p *placement) want(name string) {
	e, ok := p.c.Lookup(name)
	if !ok || p.stays[name] || slices.Contains(p.fresh, name) {
		return
	}
	switch cost := p.cost(model.Tool{Name: e.Shown, Description: e.Description, Schema: e.Schema}); {
	case cost > p.room:
		p.left = append(p.left, event.LeftOut{Name: name, Why: fmt.Sprintf("found tools have %d %% of the window, and there is no room left for it until older messages leave the window", toolShare)})
	case p.count >= maxFound:
		p.left = append(p.left, event.LeftOut{Name: name, Why: fmt.Sprintf("there can be %d found tools in a list", maxFound)})
	default:
		p.room -= cost
		p.count++
		p.fresh = append(p.fresh, name)
	}
}

// list is what the agent gets.
func (p *placement) list() (list []model.Tool, shown []event.ShownTool) {
	for _, t := range p.old {
		if p.stays[t.Name] {
			s := p.had.Sources[t.Name]
			s.Name = t.Name
			list, shown = append(list, t), append(shown, s)
		}
	}
	for _, name := range p.fresh {
		e, _ := p.c.Lookup(name)
		list = append(list, model.Tool{Name: e.Shown, Description: e.Description, Schema: e.Schema})
		shown = append(shown, event.ShownTool{Name: e.Shown, Paths: e.Paths, Reads: e.Reads, Source: e.Source, Trust: e.Trust})
	}
	return list, shown
}

// catalogueService answers searches. They may be made again: they change nothing.
type catalogueService struct{}

func (catalogueService) start(ctx context.Context, l *live, e event.Event) error {
	b, from := e.Body.(*event.CatalogueCall), l.state.Pinned(e.Actor)
	if from == nil {
		return fmt.Errorf("quest %s has nothing to be found for %s", l.key, e.Actor)
	}
	window := l.state.Agent(e.Actor).Limit
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		found, c, err := l.discovery.Search(ctx, from, b, window, l.rt.Embedder)
		if err != nil {
			return nil, err
		}
		found.Call = e.Seq
		l.mail.put(event.Draft{Parent: e.Seq, Time: l.rt.Clock(), Actor: e.Actor, Body: &foundTools{found, c}})
		return nil, nil
	})
	return nil
}

// foundTools is what a search has found, on its way to the goroutine that owns the quest: the
// list is made there, from the one that the agent has by then.
type foundTools struct {
	*event.ToolsShown
	catalogue *knowledge.Catalogue
}

// found makes an input of what a search has found.
func (l *live) found(ctx context.Context, in event.Draft) ([]event.Draft, error) {
	f := in.Body.(*foundTools)
	in.Body = f.ToolsShown
	if _, open := l.state.Calls[f.Call]; !open {
		return []event.Draft{in}, nil // and it is refused
	}
	data, err := l.discovery.Compose(ctx, HadBy(l.state, in.Actor, f.Call), f.catalogue, f.ToolsShown)
	if err != nil {
		return nil, err
	}
	t := &texts{rt: l.rt}
	if f.Tools, err = t.put(ctx, data); err != nil {
		return nil, err
	}
	in.Blobs = t.small
	return []event.Draft{in}, nil
}
