package runtimetest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// MCP servers in the simulated world. Each has the same tools for everybody, and changes them
// as it likes. People add servers and take them away while the quest is there.

// serverTools are what the servers have; the second is not always there.
var serverTools = []string{"look", "write"}

// Serve gives a quest servers.
func (w *World) Serve(b *event.QuestCreated, names ...string) {
	for _, name := range names {
		b.Servers = append(b.Servers, event.ServerPin{Kind: "http", Name: name, Settings: event.RefOf([]byte(name))})
	}
}

// serverTool is a tool of a server in one of its forms.
func serverTool(server, tool string, form int) event.ToolPin {
	return event.ToolPin{Hash: event.HashOf([]byte(fmt.Sprint(server, tool, form))), Name: server + "__" + tool}
}

// listed is the row of mcp.call: the server answers with its tools, or not at all.
func listed(w *World, call event.Event) event.Body {
	b := call.Body.(*event.McpCall)
	r := &event.McpListed{Call: call.Seq, Server: b.Server}
	if w.Chance(200) {
		r.Error.Text = "it cannot be reached"
		w.Saw("servers away")
		return r
	}
	r.List = new(event.RefOf([]byte(b.Server)))
	o := w.State().Offer(call.Actor, b.Server)
	if len(b.Take) > 0 { // as it was, but for what was taken
		r.Pins = append(r.Pins, o.Pins...)
		for _, c := range o.Closed {
			for i := range r.Pins {
				if r.Pins[i].Name == c.Name {
					r.Pins[i].Hash = c.Hash
				}
			}
		}
		w.Saw("changed tools taken")
		return r
	}
	for _, tool := range serverTools {
		r.Pins = append(r.Pins, serverTool(b.Server, tool, 0))
	}
	w.Saw("servers listed")
	return r
}

// found is the row of catalogue.call: tools of servers that may fit, or none. What is shown is
// made of what the agent has; once its window was cut, it may be less.
func found(w *World, call event.Event) event.Body {
	s := w.State()
	a, l := s.Agent(call.Actor), s.Lookup(call.Actor, call.Seq)
	b := &event.ToolsShown{Call: call.Seq, Catalogue: event.HashOf([]byte("catalogue"))}
	keep := a.ToolNames
	if l != nil && l.Cut && w.Chance(500) && !slices.ContainsFunc(a.Open, func(u agent.Use) bool { return strings.Contains(u.Name, "__") }) {
		keep = s.Finders[a.Name].Names
		w.Saw("found tools dropped")
	}
	for _, name := range keep {
		t := a.Sources[name]
		t.Name = name
		b.Shown = append(b.Shown, t)
	}
	for _, srv := range s.Servers {
		o := s.Offer(a.Name, srv.Name)
		if o == nil || w.Chance(300) {
			continue
		}
		for i, p := range o.Pins {
			b.Found = append(b.Found, event.FoundTool{Name: p.Name, Score: int64(10 - i)})
			switch {
			case slices.Contains(keep, p.Name):
			case w.Chance(300):
				b.LeftOut = append(b.LeftOut, event.LeftOut{Name: p.Name, Why: "there is no room"})
			default:
				b.Shown = append(b.Shown, event.ShownTool{Name: p.Name, Source: "mcp:" + srv.Name, Trust: event.TrustStranger})
			}
			w.Saw("tools found")
		}
	}
	if s.Knowledge != nil && w.Chance(500) {
		b.Rules = []event.FoundRule{{Path: s.Knowledge.Rules[0].Path, Score: 1}}
		b.Skills = []event.FoundSkill{{Name: "how", Description: "How it is done", Score: 1}}
	}
	b.Tools = event.RefOf([]byte(fmt.Sprint(b.Shown)))
	return b
}

// comesOrGoes adds a server or takes one away, now and then, where a quest has some or had; otherwise
// it is nothing. Nobody looks whether that server is there.
func (w *World) comesOrGoes() event.Body {
	if s := w.books.shadow; len(s.Servers) == 0 && len(s.Removed) == 0 || !w.Chance(700) {
		return nil
	}
	name := []string{"one", "two", "three"}[w.IntN(3)]
	if w.Chance(500) {
		return &event.McpRemoved{Server: name}
	}
	return &event.McpAdded{Kind: "http", Name: name, Said: name, Sampling: name == "one"}
}

// news are what comes of servers by itself, now and then: one is slow, a resource is another, or the
// tools are.
func (w *World) news() []event.Draft {
	s := w.State()
	if len(s.Servers) == 0 || !w.Chance(120) {
		return nil
	}
	if w.Chance(500) {
		return w.changes(s)
	}
	a, server := s.Agents[w.IntN(len(s.Agents))].Name, s.Servers[w.IntN(len(s.Servers))].Name
	if o := s.Offer(a, server); o != nil && o.Call != 0 {
		return []event.Draft{{Parent: o.Call, Time: w.Now, Actor: a, Body: &event.McpSlow{Call: o.Call, Server: server}}}
	}
	return []event.Draft{{Time: w.Now, Actor: a, Body: &event.McpUpdated{Server: server, URI: "sim://" + w.Word()}}}
}

// changes is the news that the tools of a server are not what an agent was offered.
func (w *World) changes(s *quest.State) []event.Draft {
	a, server := s.Agents[w.IntN(len(s.Agents))], s.Servers[w.IntN(len(s.Servers))].Name
	b := &event.McpChanged{Server: server}
	switch w.IntN(4) {
	case 0: // all is as it was
	case 1:
		b.Missing = []string{server + "__" + serverTools[1]}
	default:
		pin := serverTool(server, serverTools[w.IntN(2)], 1+w.IntN(3))
		b.Changed = []event.ToolChange{{Hash: pin.Hash, Name: pin.Name, What: []string{"description"}}}
	}
	w.Saw("servers changed")
	return []event.Draft{{Time: w.Now, Actor: a.Name, Body: b}}
}
