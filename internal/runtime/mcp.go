package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/mcp"
	"lyceum/internal/mcp/login"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/tool"

	"github.com/go-json-experiment/json"
)

// Servers is what this home says of MCP servers. The zero value knows none, and lets quests
// reach those of the public internet that want no header.
type Servers struct {
	// Known are those of config.yaml: every new quest has them, besides its own.
	Known setting.Servers
	// Private are addresses that are not of the public internet and may be reached all the
	// same, as entries of network.allow are written.
	Private []string
	// Variable is what a variable holds that a header is made of, empty if it holds nothing
	// or may not be sent.
	Variable func(name string) string
	// Patience is how long agents that find their tools wait for a server before they begin
	// without it; 0 is two seconds.
	Patience time.Duration
	// Logins are where tokens are kept for servers that want a login; nil keeps none.
	Logins *login.Store
}

// servers are the connections of one run. mu guards what is below it.
type servers struct {
	l     *live
	forms forms

	mu   sync.Mutex
	all  map[[2]string]*served // by agent and server
	next int                   // the number of the next program that is started
	// removed are servers that a person has taken away in this run, or before.
	removed map[string]bool
}

// missing says why an agent has no such server.
func (s *servers) missing(server string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed[server] {
		return errRemoved
	}
	return errServer
}

// of is the connection of an agent to a server, up or not; nil if the quest has no such.
func (s *servers) of(agent, server string) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[[2]string{agent, server}]
}

// openServers makes ready what the ledger says of the quest's servers: the tools that agents
// were offered can be called, and each is connected to when it first is.
func (l *live) openServers(ctx context.Context) error {
	l.servers = &servers{l: l, all: map[[2]string]*served{}, removed: map[string]bool{}}
	if err := l.openBeside(); err != nil {
		return err
	}
	for _, name := range l.state.Removed {
		l.servers.removed[name] = true
	}
	for _, pin := range l.state.Servers {
		if err := l.openServer(ctx, pin); err != nil {
			return err
		}
	}
	return nil
}

// openServer makes ready what the ledger says of one.
func (l *live) openServer(ctx context.Context, pin event.ServerPin) error {
	imported, err := l.rt.Imported(ctx, l.key)
	if err != nil {
		return err
	}
	set, err := l.rt.serverSaid(ctx, pin.Name, l.state.Said[pin.Name], pin.Settings)
	if err != nil {
		return err
	}
	closed := ""
	if imported != nil {
		closed = l.rt.foreign(imported.Allowed, pin.Name, set)
	}
	var shared *link
	if set.Kind() == setting.HTTP {
		shared = &link{turn: make(chan struct{}, 1)}
	}
	for _, a := range l.state.Agents {
		if a.Mind() == agent.ByRules {
			continue
		}
		s := &served{l: l, agent: a.Name, server: pin.Name, set: set, foreign: closed, turn: make(chan struct{}, 1), named: a.Model, link: shared,
			finds: l.state.Finders[a.Name] != nil, besides: slices.Contains(a.ToolNames, quest.ReadResource)}
		if pin.Sampling && a.Model != "" {
			if s.model, err = l.rt.Models(a.Model, l.pin(ctx)); err != nil {
				return BadPlan("model %s: %w", a.Model, err)
			}
		}
		if shared != nil {
			shared.join(s)
		}
		l.servers.mu.Lock()
		l.servers.all[[2]string{a.Name, pin.Name}] = s
		delete(l.servers.removed, pin.Name)
		l.servers.mu.Unlock()
		if err := s.recall(ctx, l.state.Offer(a.Name, pin.Name)); err != nil {
			return err
		}
	}
	return nil
}

// serverSaid reads what is said of a server.
func (r *Runtime) serverSaid(ctx context.Context, name, said string, ref event.Ref) (set setting.Server, err error) {
	data := []byte(said)
	if said == "" {
		data, err = r.Blob(ctx, ref)
	}
	if err == nil {
		err = json.Unmarshal(data, &set)
	}
	if err != nil {
		return set, fmt.Errorf("read what is said of the server %s: %w", name, err)
	}
	return set, nil
}

// removeServer lets go of a server that a person has taken from the quest.
func (l *live) removeServer(name string) {
	l.servers.mu.Lock()
	var gone []*served
	for key, s := range l.servers.all {
		if key[1] == name {
			gone = append(gone, s)
			delete(l.servers.all, key)
		}
	}
	l.servers.removed[name] = true
	l.servers.mu.Unlock()
	for _, s := range gone {
		l.mail.start(s.leave)
	}
}

func sameServer(a, b setting.Server) bool {
	x, err := json.Marshal(a, json.Deterministic(true))
	y, other := json.Marshal(b, json.Deterministic(true))
	return err == nil && other == nil && string(x) == string(y)
}

func (s *servers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		c.leave()
	}
}

// mcpService asks servers for their tools. It may be asked again: listing changes nothing.
type mcpService struct{}

func (mcpService) start(ctx context.Context, l *live, e event.Event) error {
	b := e.Body.(*event.McpCall)
	s, o := l.servers.of(e.Actor, b.Server), l.state.Offer(e.Actor, b.Server)
	if s == nil || o == nil {
		return fmt.Errorf("quest %s has no server %s for %s", l.key, b.Server, e.Actor)
	}
	// What a person has taken is a tool as it was shown, known by its hash.
	taken := map[string]event.Hash{}
	for _, c := range o.Closed {
		if slices.Contains(b.Take, c.Name) {
			taken[c.Name] = c.Hash
		}
	}
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		if s.finds {
			late := time.AfterFunc(cmp.Or(l.rt.Servers.Patience, patience), func() {
				l.mail.put(s.draft(e.Seq, &event.McpSlow{Call: e.Seq, Server: b.Server}, nil))
			})
			defer late.Stop()
		}
		return nil, s.list(ctx, e.Seq, taken)
	})
	return nil
}

// patience is how long agents that find their tools wait for a server before they begin without it.
const patience = 2 * time.Second

// listed takes in the tools of a server: first that the agent has them, then that they are
// pinned, so that its turn comes after both. It runs on the owner's goroutine, for the list
// of an agent's tools is made from the one that it has now.
func (l *live) listed(ctx context.Context, in event.Draft) ([]event.Draft, error) {
	b := in.Body.(*event.McpListed)
	s := l.servers.of(in.Actor, b.Server)
	if s == nil || b.List == nil || l.state.Check(in.Actor, b) != nil {
		return []event.Draft{in}, nil
	}
	tools, err := s.tools(ctx)
	if err == nil {
		err = l.tools.Add(tools...)
	}
	if err != nil {
		return nil, err
	}
	if l.state.Finders[in.Actor] != nil {
		return l.renewed(ctx, in, tools)
	}
	shown, err := l.quest().Show(ctx, in.Actor, tools, s.source())
	if err != nil {
		return nil, err
	}
	if _, err := event.EncodeBody(shown.Body); err != nil {
		s.drop()
		refused := &event.McpListed{Call: b.Call, Server: b.Server, Error: event.Text{Text: "its tools and those that the agent has are too many together: name those that are wanted under tools"}}
		return []event.Draft{{Parent: in.Parent, Time: in.Time, Actor: in.Actor, Body: refused}}, nil
	}
	return []event.Draft{shown, in}, nil
}

// renewed takes in the tools of a server for an agent that finds its tools: it has none by that,
// but those in their new form that it was shown and a person has taken.
func (l *live) renewed(ctx context.Context, in event.Draft, tools []tool.Tool) ([]event.Draft, error) {
	has := l.state.Agent(in.Actor).ToolNames
	tools = slices.DeleteFunc(tools, func(t tool.Tool) bool { return !slices.Contains(has, t.Name) })
	if len(tools) == 0 {
		return []event.Draft{in}, nil
	}
	shown, err := l.quest().Show(ctx, in.Actor, tools)
	return []event.Draft{shown, in}, err
}

// takeListed takes inputs among which are lists of tools, of servers or found: each such is a
// step of its own.
func (l *live) takeListed(ctx context.Context, inputs []event.Draft) (done bool, err error) {
	at := slices.IndexFunc(inputs, func(d event.Draft) bool {
		switch d.Body.(type) {
		case *event.McpListed, *foundTools:
			return true
		}
		return false
	})
	if at < 0 {
		return false, nil
	}
	if at > 0 {
		if err := l.takeAll(ctx, inputs[:at]); err != nil {
			return true, err
		}
	}
	list := l.listed
	if _, ok := inputs[at].Body.(*foundTools); ok {
		list = l.found
	}
	drafts, err := list(ctx, inputs[at])
	if err == nil {
		err = l.takeAll(ctx, drafts)
	}
	if err == nil && at+1 < len(inputs) {
		err = l.take(ctx, inputs[at+1:])
	}
	return true, err
}

// pinnedTool is a tool of a server in the blob that pins stand for.
type pinnedTool struct {
	// Offered is what agents call it.
	Offered string   `json:"offered"`
	Tool    mcp.Tool `json:"tool"`
}

// readPins reads such a blob.
func readPins(data []byte) (out []pinnedTool, err error) {
	err = json.Unmarshal(data, &out)
	return out, err
}

// redacted is a tool as the ledger may have it.
func (r *Runtime) redacted(t mcp.Tool) mcp.Tool {
	for _, s := range []*string{&t.Name, &t.Title, &t.Description, &t.Schema, &t.Output, &t.Hints} {
		*s = Clean(r.Redact(*s))
	}
	return t
}

// offered chooses the tools of a list that agents get, and says of others why not.
func (s *served) offered(list []mcp.Tool) (out []pinnedTool, left []event.LeftOut, err error) {
	seen := map[string]bool{}
	drop := func(name, why string) {
		if len(left) < maxLeftOut {
			left = append(left, event.LeftOut{Name: AtMost(name, 80), Why: AtMost(why, 200)})
		}
	}
	size := 0
	for _, t := range list {
		if !s.wants(t.Name) {
			continue
		}
		t = s.l.rt.redacted(t)
		p := pinnedTool{Offered: mcp.ToolName(s.server, t.Name), Tool: t}
		made, why := s.tool(p)
		switch {
		case why != "":
			drop(p.Offered, why)
			continue
		case seen[p.Offered]:
			drop(p.Offered, "the server has it twice")
			continue
		}
		seen[p.Offered] = true
		size += len(made.Description) + len(made.Schema)
		out = append(out, p)
	}
	for _, name := range s.set.Tools {
		if !seen[mcp.ToolName(s.server, name)] && !slices.ContainsFunc(left, func(l event.LeftOut) bool { return l.Name == mcp.ToolName(s.server, name) }) {
			drop(mcp.ToolName(s.server, name), "the server does not have it")
		}
	}
	switch {
	case s.finds: // the list has its own bounds
	case len(out) > event.MaxPins:
		return nil, nil, fmt.Errorf("it has %d tools, more than %d: name those that are wanted under tools", len(out), event.MaxPins)
	case size > maxOffered:
		return nil, nil, fmt.Errorf("what it says of its tools takes %d KiB, more than %d: name those that are wanted under tools", size>>10, maxOffered>>10)
	}
	return out, left, nil
}

// How much of a server's list goes to an agent, and how much is told of the rest.
const (
	maxOffered = 128 << 10
	maxLeftOut = 20
	maxAdded   = 20
)

// tool is what an agent is shown of a tool, and what runs when it is called; why says that it
// cannot be offered.
func (s *served) tool(p pinnedTool) (t tool.Tool, why string) {
	schema, why := p.Tool.Arguments()
	if why != "" {
		return t, why
	}
	trust := s.set.Trust
	if trust == "" {
		trust = event.TrustStranger
	}
	t = tool.Tool{
		Tool:   model.Tool{Name: p.Offered, Description: p.Tool.Words(s.server), Schema: schema},
		Source: s.source(), Trust: trust, Repeatable: slices.Contains(s.set.Repeatable, p.Tool.Name),
		// A program in the agent's computer sees its home.
		Writes: s.set.Kind() == setting.Stdio,
		Give:   s.l.servers.give(s.server, p.Offered),
	}
	if _, err := tool.New(t); err != nil {
		return t, "its schema cannot be used: " + err.Error()
	}
	return t, ""
}

// wants reports whether a tool is one of those to offer.
func (s *served) wants(name string) bool {
	return len(s.set.Tools) == 0 || slices.Contains(s.set.Tools, name)
}

func (s *served) source() string { return "mcp:" + s.server }

// errServer is for calls of a server that is not there.
var errServer = errors.New("this agent has no such server")

// changedBody compares what a server has now with what was offered, nil if nothing differs.
func (s *served) changedBody(pins []pinnedTool, list []mcp.Tool) (b *event.McpChanged, now []pinnedTool) {
	b = &event.McpChanged{Server: s.server}
	current := map[string]mcp.Tool{}
	for _, t := range list {
		if !s.wants(t.Name) {
			continue
		}
		t = s.l.rt.redacted(t)
		name := mcp.ToolName(s.server, t.Name)
		if _, twice := current[name]; !twice {
			current[name] = t
		}
	}
	for _, p := range pins {
		t, ok := current[p.Offered]
		delete(current, p.Offered)
		switch {
		case !ok:
			b.Missing = append(b.Missing, p.Offered)
		case t.Hash() != p.Tool.Hash():
			b.Changed = append(b.Changed, event.ToolChange{Hash: t.Hash(), Name: p.Offered, What: p.Tool.Differs(t)})
			now = append(now, pinnedTool{p.Offered, t})
		}
	}
	for _, t := range list {
		name := mcp.ToolName(s.server, s.l.rt.redacted(t).Name)
		now, isNew := current[name]
		if isNew {
			_, why := s.tool(pinnedTool{name, now})
			isNew = why == "" // or it was left out before
		}
		if isNew && len(b.Added) < maxAdded {
			b.Added = append(b.Added, name)
			delete(current, name)
		}
	}
	return b, now
}

// quest is what workshops and servers see of the quest that runs.
func (l *live) quest() *Quest {
	return &Quest{
		Runtime: l.rt, Key: l.key, State: l.state, Driver: l.driver, Spec: l.spec, Progress: l.progress, Fail: func(err error) { l.failed(0, err) },
		Extra: l.tools, use: l.propose, gateway: l.gateway, put: l.mail.put, stations: l.stations,
		desks: l.desks, find: l.find,
	}
}
