package quest

import (
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
	// Rules is the name and version, such as solo/3. A quest names the version
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

// Traits are what the core does differently for a society's rules. The zero value is
// what one agent with a model needs.
type Traits struct {
	// Couples says that any agent may wait for any other: after each input all of them
	// are asked for their next step, not only the one that the input was about.
	Couples bool
	// Wakes says that the rules wait for times of their own: they are asked when a timer
	// fires.
	Wakes bool
	// Many says that there are as many agents as a person wants, numbered from 0;
	// otherwise there is one.
	Many bool
	// Computes says that the quest has computers where there can be some, also if nobody
	// asked for them.
	Computes bool
}

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

// Minder is a society that has something to do about an agent before its next turn, or
// because it has been parked: what the agent has left undone. Asked again, it goes on
// from there.
type Minder interface {
	Before(s *State, a *agent.Agent, e event.Event) []event.Draft
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
	Scan(tool, text string) []string
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
}

// Step is what the world has to do with a call of an own tool.
type Step int

// The steps.
const (
	// Answered: nothing; its arguments are short.
	AnsweredTool Step = iota
	// Prepared: it reads what the rules cannot, and says so with a tool.prepared.
	PreparedTool
	// Delivered: it puts files into the agent's home, and answers the call itself.
	DeliveredTool
)

// Delivery is a folder to be put into an agent's home.
type Delivery struct {
	// Path is where, relative to the home. What is there is replaced.
	Path string
	// Tree are the files to begin with, if any; Texts further ones by name.
	Tree  *event.TreeRef
	Texts []DeliveredText
	// Diff are two texts; what has changed from the first to the second is put into
	// changes.diff, as a unified diff.
	Diff *[2]event.Text
	// Said is what the agent is told.
	Said string
}

// DeliveredText is a file that is put together from texts.
type DeliveredText struct {
	Name  string
	Parts []event.Text
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

// Memory is what the quest's society knows, nil if it knows nothing beyond its agents.
// The society it belongs to knows its type.
func (s *State) Memory() Memory { return s.memory }

// Own returns the society's own tool of that name, nil if it has none.
func (s *State) Own(name string) *OwnTool {
	if s.rules.toolbox == nil || name == "" {
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
func (s *State) Scan(tool, text string) []string {
	if d, ok := s.rules.Society.(Scanner); ok {
		return d.Scan(tool, text)
	}
	return nil
}

// Deliver says which files a call of a DeliveredTool puts into the agent's home. A
// society that has such a tool and no way to deliver is a mistake in its code.
func (s *State) Deliver(a *agent.Agent, u *agent.Use) (*Delivery, error) {
	return s.rules.Society.(Deliverer).Deliver(s, a, u)
}
