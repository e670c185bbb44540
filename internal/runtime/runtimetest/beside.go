package runtimetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// What agents of any society do besides: they note how things belong together, and call tools of
// servers, which have models asked while they work.

// relates gives the agents that have models the tools of relations.
func relates(b *event.QuestCreated) {
	for i := range b.Agents {
		if a := &b.Agents[i]; a.Model != "" && a.Executor == "" {
			a.ToolNames = append(slices.Clone(a.ToolNames), quest.Relate, quest.Unrelate, quest.Relations)
		}
	}
}

// beside is a call that an agent makes besides, now and then, if it has such tools.
func (w *World) beside(agent string) (tool string, args event.Text, ok bool) {
	s := w.State()
	a := s.Agent(agent)
	if slices.Contains(a.ToolNames, quest.Relate) && w.Chance(250) {
		tool, text := w.relation()
		return tool, event.Text{Text: text}, true
	}
	for _, p := range s.Servers {
		if tool := p.Name + "__" + serverTools[0]; p.Sampling && slices.Contains(a.ToolNames, tool) && w.Chance(300) {
			return tool, event.Text{Text: `{}`}, true
		}
	}
	return "", event.Text{}, false
}

// relation is a call about few notes, so that they come to be each other's parents, are there
// already, or are not there any more.
func (w *World) relation() (tool, args string) {
	id := func() string { return fmt.Sprintf("n%d", w.IntN(6)) }
	switch n := w.IntN(10); {
	case n < 2:
		return quest.Unrelate, fmt.Sprintf(`{"id":%q,"cascade":%v}`, id(), w.Chance(400))
	case n < 3:
		return quest.Relations, fmt.Sprintf(`{"of":%q,"direction":%q}`, id(), []string{"down", "up", "about"}[w.IntN(3)])
	case n < 4:
		return quest.Relate, `{"id":`
	case n < 6:
		return quest.Relate, fmt.Sprintf(`{"id":%q,"update":true,"status":"done","parents":[%q,%q]}`, id(), id(), id())
	}
	parents := ""
	if w.Chance(600) {
		parents = fmt.Sprintf(`,"parents":[%q]`, id())
	}
	return quest.Relate, fmt.Sprintf(`{"id":%q,"type":"step","description":%q%s}`, id(), w.Word(), parents)
}

// samples are requests of servers that work on calls: some of them twice, or for nothing.
func (w *World) samples() (out []event.Draft) {
	s := w.State()
	if !slices.ContainsFunc(s.Servers, func(p event.ServerPin) bool { return p.Sampling }) {
		return nil
	}
	for _, seq := range slices.Sorted(maps.Keys(w.flying)) {
		c := s.Calls[seq]
		server, _, of := strings.Cut(c.Tool, "__")
		if !of || !w.Chance(400) {
			continue
		}
		b := &event.GatewayAsked{For: seq - uint64(w.IntN(10)/9), ID: fmt.Sprintf("s%d-%d", seq, w.IntN(3)), Model: s.Agent(c.Agent).Model, Most: event.Usage{Input: 1 + w.Int64N(2000), Output: 1 + w.Int64N(300)},
			Server: server, Size: 100, Text: w.Word(), Wire: event.WireMCP}
		w.Saw("servers ask")
		out = append(out, event.Draft{Time: w.Now, Actor: c.Agent, Body: b})
	}
	return out
}

// besideBooks keep what was noted, which servers there are, and what people let servers ask, from the
// events alone.
type besideBooks struct {
	servers map[string]bool
	notes   map[string][]string
	// done are the calls that have had their effect, by their places.
	done map[[2]uint64]bool
	// asked are questions to people about requests of servers, let those requests that they let.
	asked map[uint64]uint64
	let   map[uint64]bool
}

func (b *besideBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		*b = besideBooks{servers: map[string]bool{}, notes: map[string][]string{}, done: map[[2]uint64]bool{}, asked: map[uint64]uint64{}, let: map[uint64]bool{}}
		for _, s := range x.Servers {
			b.servers[s.Name] = true
		}
	case *event.McpAdded, *event.McpRemoved, *event.McpCall, *event.McpSlow, *event.McpUpdated, *event.ToolsShown:
		return b.server(w, e)
	case *event.RelationSet:
		w.Saw("notes")
		b.notes[x.ID] = x.Parents
		for _, p := range x.Parents {
			if _, there := b.notes[p]; !there || b.above(p, x.ID, 0) {
				return fmt.Errorf("the note %s is part of %s, which is not there, or part of it", x.ID, p)
			}
		}
		return b.effect(x.Answer, x.Part)
	case *event.RelationRemoved:
		w.Saw("notes taken away")
		if _, there := b.notes[x.ID]; !there {
			return fmt.Errorf("the note %s is taken away, and is not there", x.ID)
		}
		b.remove(x.ID, x.Cascade)
		return b.effect(x.Answer, x.Part)
	case *event.InteractionOpened:
		if x.Proposal == "gateway.call" {
			b.asked[e.Seq] = x.Answer
		}
	case *event.InteractionAnswered:
		if asked, ok := b.asked[x.Interaction]; ok && x.Choice == "yes" {
			b.let[asked] = true
		}
	case *event.GatewayCall:
		asked, ok := w.Event(x.Asked).Body.(*event.GatewayAsked)
		if !ok || asked.Server == "" {
			return nil
		}
		w.Saw("servers heard")
		if w.books.open[asked.For] == "" || !b.let[x.Asked] || !b.servers[asked.Server] {
			return fmt.Errorf("the server %s has a model asked for call %d: no person let it, the call is over, or the server is gone", asked.Server, asked.For)
		}
	}
	return nil
}

// server counts servers that come and go. Of one that is not there nobody wants anything, nothing is
// found, and nothing is heard.
func (b *besideBooks) server(w *World, e event.Event) error {
	name := ""
	switch x := e.Body.(type) {
	case *event.McpAdded:
		w.Saw("servers came")
		if b.servers[x.Name] {
			return fmt.Errorf("the server %s came, and was there", x.Name)
		}
		b.servers[x.Name] = true
		return nil
	case *event.McpRemoved:
		w.Saw("servers went")
		name = x.Server
		defer delete(b.servers, name)
	case *event.McpCall:
		name = x.Server
	case *event.McpSlow:
		w.Saw("servers slow")
		name = x.Server
	case *event.McpUpdated:
		w.Saw("resources changed")
		name = x.Server
	case *event.ToolsShown:
		for _, f := range x.Found {
			if server, _, of := strings.Cut(f.Name, "__"); of && !b.servers[server] {
				return fmt.Errorf("a search finds %s, and the server %s is not there", f.Name, server)
			}
		}
		return nil
	}
	if !b.servers[name] {
		return fmt.Errorf("the server %s is not there", name)
	}
	return nil
}

// effect finds a call that has its effect twice.
func (b *besideBooks) effect(answer uint64, part int64) error {
	at := [2]uint64{answer, uint64(part)}
	if b.done[at] {
		return fmt.Errorf("part %d of answer %d has its effect twice", part, answer)
	}
	b.done[at] = true
	return nil
}

// above reports whether a note is part of another, over however many.
func (b *besideBooks) above(id, of string, depth int) bool {
	return depth > len(b.notes) || id == of || slices.ContainsFunc(b.notes[id], func(p string) bool { return b.above(p, of, depth+1) })
}

// remove takes a note away: what was part of it no longer is, or goes too, if it is part of
// nothing else.
func (b *besideBooks) remove(id string, cascade bool) {
	delete(b.notes, id)
	for _, other := range slices.Sorted(maps.Keys(b.notes)) {
		parents, there := b.notes[other]
		if !there || !slices.Contains(parents, id) {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(parents), func(p string) bool { return p == id })
		if b.notes[other] = left; len(left) == 0 && cascade {
			b.remove(other, cascade)
		}
	}
}

// check holds what the rules know against the books.
func (b *besideBooks) check(s *quest.State) error {
	known := map[string][]string{}
	if s.Related != nil {
		for _, n := range s.Related.Nodes {
			known[n.ID] = n.Parents
		}
	}
	if !maps.EqualFunc(b.notes, known, func(x, y []string) bool { return slices.Equal(x, y) }) {
		return fmt.Errorf("the state has the notes %v, want %v", known, b.notes)
	}
	there := map[string]bool{}
	for _, p := range s.Servers {
		there[p.Name] = true
	}
	if !maps.Equal(b.servers, there) {
		return fmt.Errorf("the state has the servers %v, want %v", there, b.servers)
	}
	if s.Related != nil && len(s.Related.Effects) > len(s.Calls)+len(s.Agents) {
		return errors.New("effects of calls are kept for ever")
	}
	return nil
}
