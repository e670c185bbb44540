package quest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
)

// Society is the rules by which agents work together. What else a society has, it says
// by the further interfaces below: knowledge of its own, tools, things it does by
// itself. The core knows of societies what stands in this file, and none of them by
// its name.
type Society interface {
	// Rules is the name and version, with a slash between. A quest names the version
	// it was made with, and only that may decide for it.
	Rules() string
	// Traits are what the core does differently for these rules.
	Traits() Traits
	// Texts are what the rules say to agents. They are pinned when a quest is
	// made; rules read them from the state, never from here.
	Texts() []event.NamedText
	// Answered says what follows when an agent has spoken and called for no tool.
	Answered(s *State, a *agent.Agent, e event.Event) []event.Draft
	// Failed says what follows when an agent's model gives no answer.
	Failed(s *State, a *agent.Agent, e event.Event) []event.Draft
	// Parked says what follows when a policy has taken an agent's turn away. It
	// gets it back when somebody speaks to it, or the quest is resumed.
	Parked(s *State, a *agent.Agent, e event.Event) []event.Draft
	// Policies are threads that stand at the gate in every quest by these rules,
	// behind those that the quest names.
	Policies() []behavior.Thread
}

// Described is a society that says in a few words what it is, for those who choose one.
type Described interface {
	About() string
}

// Traits are what the core does differently for a society's rules. The zero value is
// what one agent with a model needs.
type Traits struct {
	// Couples says that any agent may wait for any other: after each input all of them
	// are asked for their next step, not only the one that the input was about.
	Couples bool
	// Wakes says that the rules wait for times of their own: they are asked when a timer
	// fires.
	Wakes bool
	// Aside says that a timer that the rules set by themselves is set beside the next step of
	// agents, and not instead of it: nothing follows from it.
	Aside bool
	// Many says that there are as many agents as a person wants, numbered from 0;
	// otherwise there is one.
	Many bool
	// ByRules says that a quest works without a model where none is named.
	ByRules bool
	// Profile is the one of agents whose quest names none, empty for none.
	Profile string
	// Silence is how long an executor may be silent in a prompt, in microseconds; 0 means as long
	// as any.
	Silence int64
	// Mail says that what people say waits until it is delivered, and that agents work in
	// sittings: see mail.go.
	Mail bool
	// Computes says that the quest has computers where there can be some, also if nobody
	// asked for them.
	Computes bool
}

// Profiled is a society whose quests have a profile by what they are, where they name none.
type Profiled interface {
	// Profile names it, empty for none.
	Profile(s *Spec) string
}

// Cast is a society whose agents have roles of their own.
type Cast interface {
	Society
	// Roles are the agents of a quest of this spec, in the order in which the rules visit
	// them. model says that the quest names one, computers that its agents have some.
	Roles(s *Spec, model, computers bool) []Role
}

// Listener is a society of whose agents not all hear what people say to nobody in particular,
// the problem included. Such an agent hears what is said to it by its name, and does nothing
// before.
type Listener interface {
	Hears(a *agent.Agent) bool
}

// hears reports whether an agent hears what is said to nobody in particular.
func (s *State) hears(a *agent.Agent) bool {
	l, ok := s.rules.Society.(Listener)
	return !ok || l.Hears(a)
}

// Landlord is a society of whose agents not all have homes. One without has no tool that
// touches files.
type Landlord interface {
	Houses(a *agent.Agent) bool
}

// Houses reports whether an agent can have a home.
func (s *State) Houses(a *agent.Agent) bool {
	l, ok := s.rules.Society.(Landlord)
	return !ok || l.Houses(a)
}

// Role is what an agent of a Cast is.
type Role struct {
	Name string
	// Thinks says that it has the quest's model; without one it moves by rules alone.
	Thinks bool
	// Executor is the outside agent that it is, if it is one. Prompted says that Lyceum starts
	// it in its computer and prompts it; another comes by itself.
	Executor string
	Prompted bool
	// Gateway is what an outside agent may ask of models, besides the quest's own; nil is
	// for one that has no gateway.
	Gateway *event.GatewaySpec
	// Text is the name of the text that is its system prompt.
	Text string
	// Own are the names of the society's tools that it has; World says that it has the
	// world's as well.
	Own   []string
	World bool
	// Uses are tools of the world that it has besides, by name, where there are computers.
	Uses []string
	// Alone says that it asks no person anything, also where a quest's agents may.
	Alone bool
}

// Proposer is a society that proposes more to the policies than its agents do: what it proposes
// (State.Propose), and the catalogue marks.
type Proposer interface {
	Proposals() []event.Type
}

// Keyed is a society that has keys of its own in quest.yaml.
type Keyed interface {
	// Keys are what a quest.yaml can say to these rules, and to no others.
	Keys() []Key
	// Check finds what does not go together in a spec of this society. Each value is
	// one that its key allows. The error is a Fault, which names the key.
	Check(s *Spec) error
	// Settle writes into a quest's first event how the rules will work: what the spec
	// says, and what they do where it says nothing, so that nobody need know that
	// later. Record does so for a society without a member of its own there.
	Settle(s *Spec, b *event.QuestCreated) error
}

// Skilled is a society whose agents have skills: folders of instructions, which lie in their
// homes to be read.
type Skilled interface {
	// SkillPaths are the folders beside quest.yaml that a spec takes skills from, before those
	// of the home and the binary.
	SkillPaths(s *Spec) []string
}

// KeySkills is the key of quest.yaml under which such a society has them named.
const KeySkills = "skills"

// SkillsDir is the folder of a home that skills lie in. Nobody writes there, and what lies
// there is nobody's work.
const SkillsDir = "skills"

// Knower is a society that knows more than its agents do: papers, bids, branches.
type Knower interface {
	// Begin is what the society knows when a quest has just been created. The state has
	// its agents by then.
	Begin(s *State, b *event.QuestCreated) Memory
	// Blank is an empty memory, for a saved one to be read into.
	Blank() Memory
}

// Memory is what a society knows beyond its agents: a fold of the ledger, like the
// state it belongs to. It decides nothing. What encoding/json shows of it is its saved
// form: what is read back must fold and answer as the one that was written.
type Memory interface {
	// Apply takes an event in, after the state has. It panics on one that cannot follow
	// from those before, which only a forged ledger has.
	Apply(e event.Event)
	// Abandon forgets what was asked of the world and not answered, as a fork does.
	Abandon()
	// Happened reports whether a tool call of an agent has had its effect.
	Happened(agent string, at agent.Place) bool
	// Facts adds what policies are told of an event of the society's own, before it is
	// applied.
	Facts(e event.Event, f *policy.Facts)
	// CallFacts adds what policies are told of a call of one of the society's tools; the
	// facts have the agent and the arguments.
	CallFacts(f *policy.Facts)
}

// Checker is a memory that can tell of a result of the society's own calls that it
// cannot be true, before it becomes an event.
type Checker interface {
	Check(b event.Result) error
}

// Toolbox is a society with tools of its own: submit, vote, bid. The rules answer
// them; the world is asked only for what rules cannot see or do.
type Toolbox interface {
	// Own are the society's tools.
	Own() []OwnTool
	// Use says what follows from a call of one of them that is open: its effect
	// first, and once that is in the state its tool.answered. It follows from the
	// state: asked again, it goes on from there. An empty result means that the call
	// stays open.
	Use(s *State, a *agent.Agent, u *agent.Use, e event.Event) []event.Draft
}

// Served is a society whose tools an outside agent finds at several MCP servers, each with a
// part of them. A call there is a call of the tool: the same events, the same gate.
type Served interface {
	// Servers are the names of the servers, in their order.
	Servers() []string
	// Server says at which of them a tool is found, and what it is called there.
	Server(tool string) (server, name string)
}

// Silence is how long an executor of the quest may be silent in a prompt, 0 for as long as any.
func (s *State) Silence() int64 { return s.rules.traits.Silence }

// ToolServers are the MCP servers at which outside agents find their tools, nil if there is one
// for all.
func (s *State) ToolServers() []string {
	if d, ok := s.rules.Society.(Served); ok {
		return d.Servers()
	}
	return nil
}

// ToolServer says at which server outside agents find a tool, and what it is called there.
func (s *State) ToolServer(tool string) (server, name string) {
	if d, ok := s.rules.Society.(Served); ok {
		return d.Server(tool)
	}
	return "", tool
}

// Minder is a society that has something to do about an agent before its next turn, or
// because it has been parked: what the agent has left undone. Asked again, it goes on
// from there.
type Minder interface {
	Before(s *State, a *agent.Agent, e event.Event) []event.Draft
}

// Reminder is a society that has something to say when an agent is told where it stands:
// what it has done, and what is expected of it.
type Reminder interface {
	// Standing are lines for the agent, the most important first. They follow from the
	// state, and are short: what is too much is left out at the end.
	Standing(s *State, a *agent.Agent) []string
}

// Host is a society that acts by itself: it asks reviewers, decides, ends the quest.
type Host interface {
	// Tend says the next thing that the rules have to do, if there is something. It is
	// asked after every event, so it must not cost more the longer the quest is. It says
	// one thing at a time: the next it says when that is in the state.
	Tend(s *State, e event.Event) []event.Draft
}

// Scanner is a society that has to know what stands in a long text, such as citations.
// The runtime calls it, where the text can be read.
type Scanner interface {
	Scan(tool, text string) Found
}

// Found is what stands in a long text, as a tool.prepared tells it to the rules.
type Found struct {
	Abstract                  string
	Citations, Loose, Numbers []string
}

// Values are the short values of an argument: the one that it is, the items of a list
// each under the list's name, and the members of an object each as object.member.
func Values(name string, value any) (out []event.NamedText) {
	switch v := value.(type) {
	case nil:
	case []any:
		for _, item := range v {
			out = append(out, Values(name, item)...)
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			out = append(out, Values(name+"."+member, v[member])...)
		}
	default:
		out = append(out, event.NamedText{Name: name, Text: fmt.Sprint(v)})
	}
	return out
}

// Publisher is a society whose work people can read by itself, as files.
type Publisher interface {
	// Documents are those files, by their paths below the folder publications, and what
	// is attached to them.
	Documents(s *State) ([]DeliveredText, []Attached)
}

// Producer is a society that says itself what its quest has made, whoever did it.
type Producer interface {
	// Produced is the tree that is delivered, nil for none.
	Produced(s *State) *event.TreeRef
}

// Produced is the tree that the society says its quest has made. Of one that does not say, and
// of a quest that has made nothing, it is nil, or the tree that agents began with.
func (s *State) Produced() *event.TreeRef {
	p, ok := s.rules.Society.(Producer)
	if !ok {
		return nil
	}
	if tree := p.Produced(s); tree != nil {
		return tree
	}
	return s.Begun()
}

// Documents are the files of a quest that people can read by themselves, by their paths
// below the folder publications, and what is attached to them.
func (s *State) Documents() ([]DeliveredText, []Attached) {
	if p, ok := s.rules.Society.(Publisher); ok {
		return p.Documents(s)
	}
	return nil, nil
}

// Deliverer is a society whose tools put files into agents' homes.
type Deliverer interface {
	// Deliver says which files the call of a DeliveredTool puts into the agent's home,
	// or why it does not, in words for the agent.
	Deliver(s *State, a *agent.Agent, u *agent.Use) (*Delivery, error)
}

// OwnTool is a tool that the rules answer.
type OwnTool struct {
	model.Tool
	Step Step
	// Content is the argument that may be long; Files the one that lists files of the
	// agent's home. They are for Prepared tools, and empty if there is none.
	Content, Files string
	// Folder is the argument that is a folder of the agent's home, all of which is recorded. Of
	// the other arguments nothing is then prepared: the rules read them as they are.
	Folder string
	// Copies is how often each of those files comes to lie on the disk besides what is
	// recorded, by what the society's workshop writes.
	Copies int64
	// Paths are all arguments that are paths of the workspace; Reads says that a call has
	// no effect on any other.
	Paths []string
	Reads bool
	// Question is the argument in which the tool takes a question of an agent to whoever gave it
	// its task, empty if it takes none; Answer is what its answers begin with. Where an outside
	// agent has such a tool, its forms are questions too.
	Question, Answer string
}

// traits is what is known of a tool of an agent. Its paths are nil if nobody has said which
// of the arguments are some.
func (s *State) traits(a *agent.Agent, name string) event.ToolTraits {
	if own := s.Own(name); own != nil {
		return event.ToolTraits{Name: name, Paths: append([]string{}, own.Paths...), Reads: own.Reads}
	}
	if from, ok := a.Sources[name]; ok {
		return event.ToolTraits{Name: name, Paths: from.Paths, Reads: from.Reads}
	}
	for _, t := range s.Tools {
		if t.Name == name {
			t.Paths = append([]string{}, t.Paths...)
			return t
		}
	}
	return event.ToolTraits{Name: name}
}

// Closed are the files and folders of an agent's workspace that are closed to a tool.
func (s *State) Closed(tool string) []string { return s.gate.Closed(tool) }

// Step is what the world has to do with a call of an own tool.
type Step int

// The steps.
const (
	// Answered: nothing; its arguments are short.
	AnsweredTool Step = iota
	// Prepared: it reads what the rules cannot, and says so with a tool.prepared.
	PreparedTool
	// Delivered: it puts files into the agent's home, or reads what is recorded, and
	// answers the call itself.
	DeliveredTool
)

// Delivery is a folder to be put into an agent's home, or what was found for it.
type Delivery struct {
	// Path is where, relative to the home. What is there is replaced. It is empty where
	// nothing is put there.
	Path string
	// Attached are the files to begin with, if any; Texts further ones by name.
	Attached *Attached
	Texts    []DeliveredText
	// Diff are two texts; what has changed from the first to the second is put into
	// changes.diff, as a unified diff.
	Diff *[2]event.Text
	// Trees are two folders, before and after, each nil if it is empty; how they differ is told
	// below Said, file by file and line by line.
	Trees *[2]*event.TreeRef
	// Said is what the agent is told, and Shown a text that it is shown below that, as far
	// as there is room.
	Said  string
	Shown []event.Text
	// Find is what the agent looks for, nil for nothing. What is found is told below Said.
	Find *Finding
	// Excerpt is a part of a recorded text that the agent is shown instead of all this.
	Excerpt *Excerpt
	// Event is the event that the agent is shown below Said, as it stands in the ledger; 0 for
	// none.
	Event uint64
}

// Finding is a search among texts that the state knows of. The order of what is found is
// the world's word, so it may be by meaning as well.
type Finding struct {
	Query string
	Limit int
	Among []Findable
	// Tree are files that are looked through besides, as far as they are texts.
	Tree *event.TreeRef
}

// Findable is a text that can be found. Line is what an agent is told of it.
type Findable struct {
	Title, Line string
	Parts       []event.Text
}

// DeliveredText is a file that is put together from texts.
type DeliveredText struct {
	Name  string
	Parts []agent.Passage
}

// Attached are files that an agent attached to its work: exactly the named ones of a tree,
// each a plain file.
type Attached struct {
	// Path is the folder they stand in, below the folder publications.
	Path  string
	Tree  event.TreeRef
	Files []string
}

// rules are those of a quest, with what they have besides; what they have not is nil.
type rules struct {
	Society
	traits  Traits
	toolbox Toolbox
	minder  Minder
	host    Host
}

func rulesOf(soc Society) rules {
	r := rules{Society: soc, traits: soc.Traits()}
	r.toolbox, _ = soc.(Toolbox)
	r.minder, _ = soc.(Minder)
	r.host, _ = soc.(Host)
	return r
}

// NameOf is the name of the society that has these rules.
func NameOf(rules string) string {
	name, _, _ := strings.Cut(rules, "/")
	return name
}

// Society is the name of the quest's.
func (s *State) Society() string { return NameOf(s.Rules) }

// Memory is what the quest's society knows, nil if it knows nothing beyond its agents.
// The society it belongs to knows its type.
func (s *State) Memory() Memory { return s.memory }

// Own returns the tool of that name that the rules answer, the core's or the society's,
// nil if there is none.
func (s *State) Own(name string) *OwnTool {
	if name == "" {
		return nil
	}
	for _, tools := range [][]OwnTool{coreTools, relationTools} {
		for i := range tools {
			if tools[i].Name == name {
				return &tools[i]
			}
		}
	}
	if s.rules.toolbox == nil {
		return nil
	}
	tools := s.rules.toolbox.Own()
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// Scan finds in a text what the rules will need to know of it.
func (s *State) Scan(tool, text string) (f Found) {
	if d, ok := s.rules.Society.(Scanner); ok {
		f = d.Scan(tool, text)
	}
	return f
}

// Deliver says which files a call of a DeliveredTool puts into the agent's home. A
// society that has such a tool and no way to deliver is a mistake in its code.
func (s *State) Deliver(a *agent.Agent, u *agent.Use) (*Delivery, error) {
	if u.Name == ReadResult {
		x, err := excerpt(a, u)
		return &Delivery{Excerpt: x}, err
	}
	return s.rules.Society.(Deliverer).Deliver(s, a, u)
}
