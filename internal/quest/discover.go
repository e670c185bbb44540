package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// Tools found when they are needed. An agent that finds its tools begins with those that the
// quest was made with and the best for its task, and asks for others by what it wants to do. The
// world searches; what it found comes as a tools.shown, from which the agent's answer follows.
// Between two cuts of the agent's window its list only grows, so that providers find what they
// have cached.

// How many tools an agent gets before its first turn, and by a search of its own.
const (
	FirstTools = 8
	FoundTools = 5
)

// maxIntent is how long an intent may be, in bytes of JSON.
const maxIntent = 2000

// Finder is an agent that finds its tools.
type Finder struct {
	// Core is the list of tools that it began with, Names are theirs.
	Core  event.Ref
	Names []string
	// Begun says that it has been given what fits its task.
	Begun bool `json:",omitzero"`
	// Lookups are the searches that it has not heard of yet, the oldest first.
	Lookups []Lookup `json:",omitempty"`
	// Cut says that its window was cut since its list was made.
	Cut bool `json:",omitzero"`
	Guided
}

// Lookup is a search.
type Lookup struct {
	// Call is the catalogue.call, For the tool.call that it is for, 0 for the first.
	Call uint64
	For  uint64 `json:",omitzero"`
	// Cut says that tools may be taken from the agent's list.
	Cut bool `json:",omitzero"`
	// Said is what the agent is told, once there is an answer.
	Said string `json:",omitzero"`
}

// finds makes an agent one that finds its tools, if the quest has its agents do so.
func (s *State) finds(a *agent.Agent, discover bool) {
	if !discover || a.Mind() != agent.ByModel {
		return
	}
	if s.Finders == nil {
		s.Finders = map[string]*Finder{}
	}
	s.Finders[a.Name] = &Finder{Core: a.Tools, Names: a.ToolNames}
}

// Lookup is the search that a catalogue.call began, nil if there is none.
func (s *State) Lookup(agent string, call uint64) *Lookup {
	f := s.Finders[agent]
	if f == nil {
		return nil
	}
	for i := range f.Lookups {
		if f.Lookups[i].Call == call {
			return &f.Lookups[i]
		}
	}
	return nil
}

// Pinned is what an agent's catalogue is made of, by the ledger.
type Pinned struct {
	// Core is the list of tools that the agent began with.
	Core event.Ref
	// Servers are those that have said what they have.
	Servers []PinnedServer
	// Skills is the list of skills, nil for none; Rules are the texts that the root's rules
	// link to.
	Skills *event.Ref
	Rules  []event.RulePin
}

// PinnedServer is what a server was when it was listed.
type PinnedServer struct {
	Name           string
	Settings, List event.Ref
	// Said are the settings of a server that came later; More is what it has besides tools.
	Said string     `json:",omitzero"`
	More *event.Ref `json:",omitzero"`
	// Without are its tools that are not what they were, or are gone.
	Without []string
}

// Pinned is what the catalogue of an agent is made of now, nil if it does not find its tools.
func (s *State) Pinned(name string) *Pinned {
	f := s.Finders[name]
	if f == nil {
		return nil
	}
	p := &Pinned{Core: f.Core}
	if k := s.Knowledge; k != nil {
		if k.Skills != nil {
			p.Skills = &k.Skills.List
		}
		for _, r := range k.Rules {
			if r.Link != "" {
				p.Rules = append(p.Rules, r)
			}
		}
	}
	for _, srv := range s.Servers {
		o := s.Offer(name, srv.Name)
		if o == nil || o.List == nil {
			continue
		}
		one := PinnedServer{Name: srv.Name, Settings: srv.Settings, List: *o.List, Said: s.Said[srv.Name], More: o.More, Without: slices.Clone(o.Missing)}
		for _, c := range o.Closed {
			one.Without = append(one.Without, c.Name)
		}
		p.Servers = append(p.Servers, one)
	}
	return p
}

// discover asks for the tools that fit an agent's task, once; waits says that they are to come,
// and the agent's turn after them.
func (s *State) discover(a *agent.Agent, e event.Event) (step []event.Draft, waits bool) {
	f := s.Finders[a.Name]
	switch {
	case f == nil || f.Begun:
		return nil, false
	case slices.ContainsFunc(f.Lookups, func(l Lookup) bool { return l.For == 0 }):
		return nil, true
	}
	return []event.Draft{After(s.cause(a, e), a.Name, "", &event.CatalogueCall{Intent: s.Problem, Most: FirstTools})}, true
}

// useSearch goes on with an agent's search: it is made, and answered when something was found.
func (s *State) useSearch(a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	reply := func(failed bool, text string) []event.Draft {
		return []event.Draft{After(e, a.Name, u.Name, &event.ToolAnswered{Call: u.Call, Error: failed, Output: event.Text{Text: text}})}
	}
	f := s.Finders[a.Name]
	if f == nil {
		return reply(true, "There are no tools to be found in this quest.")
	}
	i := slices.IndexFunc(f.Lookups, func(l Lookup) bool { return l.For == u.Call })
	if i < 0 {
		b, wrong := readIntent(u, slices.Contains(f.Names, ReadResource))
		if wrong != "" {
			return reply(true, wrong)
		}
		return []event.Draft{After(e, a.Name, u.Name, b)}
	}
	if said := f.Lookups[i].Said; said != "" {
		return reply(false, said)
	}
	return nil
}

// searched are the kinds of what can be searched for. Agents of quests that are older than the
// tools that fetch them have no resources and prompts.
func searched(beside bool) (kinds []string, words string) {
	if !beside {
		return []string{"local", "mcp", "skill"}, "The kind must be local, mcp or skill."
	}
	return []string{"local", "mcp", "skill", KindResource, KindPrompt}, "The kind must be local, mcp, skill, resource or prompt."
}

// readIntent reads the arguments of search_tools, and says what is wrong with them.
func readIntent(u *agent.Use, beside bool) (*event.CatalogueCall, string) {
	var in struct {
		Intent string `json:"intent"`
		Kind   string `json:"kind"`
	}
	if u.Args.Ref != nil {
		return nil, "The arguments are too long: say what you want to do in a sentence."
	}
	if err := json.Unmarshal([]byte(u.Args.Text), &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, `The arguments do not fit the tool: want {"intent": "what you want to do"}, and perhaps a kind.`
	}
	in.Intent = strings.TrimSpace(in.Intent)
	switch {
	case in.Intent == "":
		return nil, "The intent is empty: say what you want to do."
	case event.Weight(in.Intent) > maxIntent:
		return nil, "The intent is too long: say what you want to do in a sentence."
	}
	if kinds, words := searched(beside); in.Kind != "" && !slices.Contains(kinds, in.Kind) {
		return nil, words
	}
	return &event.CatalogueCall{For: u.Call, Intent: event.Text{Text: in.Intent}, Kind: in.Kind, Most: FoundTools}, ""
}

// looks takes in that a search has begun.
func (s *State) looks(e event.Event, b *event.CatalogueCall) {
	s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor}
	f := s.Finders[e.Actor]
	f.Lookups = append(f.Lookups, Lookup{Call: e.Seq, For: b.For, Cut: f.Cut})
}

// shown takes in that an agent has other tools.
func (s *State) shown(actor string, b *event.ToolsShown) {
	a := s.Agent(actor)
	if l := s.Lookup(actor, b.Call); l != nil && b.Call != 0 {
		delete(s.Calls, b.Call)
		f := s.Finders[actor]
		f.Cut = false
		f.offered(b, l.For == 0)
		if l.Said = foundWords(a, b); l.For == 0 {
			f.Begun = true
			f.Lookups = slices.DeleteFunc(f.Lookups, func(l Lookup) bool { return l.For == 0 })
		}
	}
	a.Shown(b)
}

// foundWords is what an agent is told of what was found, before it has it.
func foundWords(a *agent.Agent, b *event.ToolsShown) string {
	has := map[string]bool{}
	for _, t := range b.Shown {
		has[t.Name] = true
	}
	var fresh, had []string
	for _, t := range b.Found {
		switch {
		case slices.Contains(a.ToolNames, t.Name):
			had = append(had, t.Name)
		case has[t.Name]:
			fresh = append(fresh, t.Name)
		}
	}
	var out []string
	if len(fresh) > 0 {
		out = append(out, "From your next turn on you have these tools, the best fit first: "+strings.Join(fresh, ", ")+".")
	}
	if len(had) > 0 {
		out = append(out, "You have these already: "+strings.Join(had, ", ")+".")
	}
	out = append(out, besideWords(b.Beside)...)
	if len(b.Skills) > 0 {
		out = append(out, "These skills may fit; "+LoadSkill+" shows one:\n"+skillLines(b.Skills)+"\n")
	}
	if len(b.Found)+len(b.Skills)+len(b.Beside) == 0 {
		out = append(out, "No tool fits that: say it in other words, or work with the tools that you have.")
	}
	for _, l := range b.LeftOut {
		out = append(out, short(l.Name)+" is not shown: "+short(l.Why)+".")
	}
	if b.Embedder == "" {
		out = append(out, "The search was by words alone: if something is missing, try other words for it.")
	}
	return strings.Join(out, " ")
}

// learnt takes in that an agent has heard what its search has found.
func (s *State) learnt(actor string, call uint64) {
	if f := s.Finders[actor]; f != nil {
		f.Lookups = slices.DeleteFunc(f.Lookups, func(l Lookup) bool { return l.For == call && l.For != 0 })
	}
}

// moved notes that an agent's window was cut: its list may be another after that.
func (s *State) moved(a *agent.Agent, first int64) {
	if f := s.Finders[a.Name]; f != nil && a.Transcript.First != first {
		f.Cut = true
		f.recalled(a)
	}
}

// abandonSearches forgets what a quest that was forked waited for.
func (s *State) abandonSearches() {
	for _, f := range s.Finders {
		f.Lookups = nil
	}
}

// notShown refuses a call of a tool that an agent is not shown, and says how to find it.
func (s *State) notShown(a *agent.Agent, name string) string {
	for _, srv := range s.Servers {
		o := s.Offer(a.Name, srv.Name)
		if o != nil && len(o.Pins) > 0 && o.has(srv.Name, name) {
			return fmt.Sprintf("The tool %s is there, and you are not shown it: say what you want to do with it to %s, and call it once you have it.", name, SearchTools)
		}
	}
	return fmt.Sprintf("There is no tool %q. You have: %s. Others can be found: say what you want to do to %s.", short(name), list(a.ToolNames), SearchTools)
}

// checkFound tells whether a list of tools can be what a search has found: it answers one that is
// open, it has what was found or says why not, and between cuts of the window it only grows.
func (s *State) checkFound(a *agent.Agent, b *event.ToolsShown, has map[string]bool) error {
	if b.Call == 0 {
		if len(b.Found)+len(b.Skills)+len(b.Rules) > 0 || b.Catalogue != (event.Hash{}) {
			return fmt.Errorf("the list of tools for %s tells of a search, and answers none", a.Name)
		}
		return nil
	}
	if err := s.answers(b); err != nil {
		return err
	}
	l := s.Lookup(a.Name, b.Call)
	if l == nil {
		return fmt.Errorf("catalogue.call %d of quest %s is not about tools for %s", b.Call, s.Name, a.Name)
	}
	keep := a.ToolNames
	if l.Cut {
		keep = s.Finders[a.Name].Names
	}
	if err := s.checkGuidance(b); err != nil {
		return err
	}
	for i, name := range keep {
		if i >= len(b.Shown) || b.Shown[i].Name != name {
			return fmt.Errorf("the list of tools for %s does not begin with those that it has: %s is not at its place", a.Name, name)
		}
	}
	for _, t := range b.Found {
		if !has[t.Name] && !slices.ContainsFunc(b.LeftOut, func(l event.LeftOut) bool { return l.Name == t.Name }) {
			return fmt.Errorf("the tool %.80q was found for %s, and is neither shown nor left out", t.Name, a.Name)
		}
	}
	return nil
}
