package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/search"
)

// finds looks at what searches for tools are recorded to have found. All that they are made of
// is in the ledger, so they are made again: what servers were pinned to, what the agent wanted,
// the list that it had.
type finds struct {
	rt *runtime.Runtime
	by *runtime.Discovery // nil until it is needed
	// open are what searches under way began with.
	open map[uint64]looking
	// had is what agents have, before the event that is looked at.
	had map[string]lists
}

// looking is a search under way: what was asked, among what, and whether the agent's list could be
// made anew.
type looking struct {
	call *event.CatalogueCall
	from *quest.Pinned
	cut  bool
}

// lists is an agent's list of tools.
type lists struct {
	tools   event.Ref
	sources map[string]event.ShownTool
}

func newFinds(rt *runtime.Runtime) *finds {
	return &finds{rt: rt, open: map[uint64]looking{}, had: map[string]lists{}}
}

func (f *finds) close() {
	if f.by != nil {
		_ = f.by.Close() // what it keeps can be made again
	}
}

// look takes an event in that has been applied to s.
func (f *finds) look(ctx context.Context, s *quest.State, e event.Event, note Note) (d *Difference, err error) {
	switch b := e.Body.(type) {
	case *event.QuestForked:
		clear(f.open)
	case *event.CatalogueCall:
		f.open[e.Seq] = looking{b, s.Pinned(e.Actor), s.Lookup(e.Actor, e.Seq).Cut}
	case *event.ToolsShown:
		if b.Call != 0 {
			d, err = f.found(ctx, s, e, b, note)
		}
	default:
		if e.Seq != 1 {
			return nil, nil
		}
	}
	for _, a := range s.Agents {
		if e.Seq == 1 || a.Name == e.Actor {
			f.had[a.Name] = lists{a.Tools, a.Sources}
		}
	}
	return d, err
}

// found makes a search again.
func (f *finds) found(ctx context.Context, s *quest.State, e event.Event, b *event.ToolsShown, note Note) (*Difference, error) {
	l := f.open[b.Call] // it is open, or the event would not fold
	delete(f.open, b.Call)
	if f.by == nil {
		f.by = f.rt.NewDiscovery()
	}
	var by search.Embedder
	repeats := true
	if b.Embedder != "" {
		r, ok := f.rt.Embedder.(interface{ Repeats() bool })
		if repeats = ok && r.Repeats() && f.rt.Embedder.Name() == b.Embedder; repeats {
			by = f.rt.Embedder
		}
	}
	window := s.Agent(e.Actor).Limit
	again, c, err := f.by.Search(ctx, l.from, l.call, window, by)
	if err == nil && again.Catalogue != b.Catalogue { // a server changed its tools while the search was under way
		again, c, err = f.by.Search(ctx, s.Pinned(e.Actor), l.call, window, by)
	}
	switch {
	case err != nil:
		return nil, err
	case again.Catalogue != b.Catalogue:
		return &Difference{Seq: e.Seq, What: "the catalogue that it says was searched is not made of what the servers were pinned to", Recorded: b.Catalogue.String(), Computed: again.Catalogue.String()}, nil
	case !repeats:
		note(e, "the search for tools is not made again: the vectors of %s are not to be had here, or differ from machine to machine; the list is made of what it says was found", b.Embedder)
		taken(again, b)
		again.Beside = b.Beside
	case !slices.Equal(again.Skills, b.Skills) || !slices.Equal(again.Rules, b.Rules):
		return &Difference{Seq: e.Seq, What: "a search of what is pinned finds other skills or rules for this intent", Recorded: fmt.Sprint(b.Skills, b.Rules), Computed: fmt.Sprint(again.Skills, again.Rules)}, nil
	case !slices.Equal(again.Found, b.Found):
		return &Difference{Seq: e.Seq, What: "a search of the pinned catalogue finds other tools for this intent", Recorded: names(b.Found), Computed: names(again.Found)}, nil
	}
	h := runtime.HadBy(s, e.Actor, b.Call)
	h.Tools, h.Sources, h.Cut = f.had[e.Actor].tools, f.had[e.Actor].sources, l.cut
	again.Call, again.Embedder, again.Doubt = b.Call, b.Embedder, b.Doubt
	if _, err := f.by.Compose(ctx, h, c, again); err != nil {
		return nil, err
	}
	return CompareBodies(e, again, "the list of tools is not made of what the agent had and what was found")
}

// taken has a search that cannot be made again have found what is recorded.
func taken(again, b *event.ToolsShown) {
	skill := func(l event.LeftOut) bool { return strings.HasPrefix(l.Name, "skill:") }
	again.Found, again.Skills = b.Found, b.Skills
	again.LeftOut = slices.DeleteFunc(slices.Clone(again.LeftOut), skill)
	for _, l := range b.LeftOut {
		if skill(l) {
			again.LeftOut = append(again.LeftOut, l)
		}
	}
}

func names(found []event.FoundTool) string { return fmt.Sprint(found) }
