package event

// ServerPin is an MCP server that the agents of a quest have, as the quest was made. What
// only a running server can tell is in no first event: see McpListed.
type ServerPin struct {
	// Kind is stdio, for a program inside the agent's computer, or http.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Sampling says that it may have agents' models asked, when a person lets it.
	Sampling bool `json:"sampling,omitzero"`
	// Settings are what quest.yaml or config.yaml says of it. Headers have the names of
	// variables there, and no secret.
	Settings Ref `json:"settings"`
}

// McpCall asks what tools an MCP server has for an agent, the actor. It comes before the
// agent's first turn, and when a person has taken tools that were changed.
type McpCall struct {
	Server string `json:"server"`
	// Take are the changed tools that a person accepted, as they were shown to the person
	// and no other way.
	Take []string `json:"take,omitempty"`
}

// McpListed is what an MCP server said to an mcp.call: its tools, pinned by hash before the
// first turn that uses them. The tools.shown that gives them to the agent stands before it; an
// agent that finds its tools in the catalogue has none of them by that.
// A list that failed is not an empty one: it has an error, and the agent works without the
// server's tools, and is told.
type McpListed struct {
	Call uint64 `json:"call"`
	// Count is how many tools the list has, where they are too many for a pin of each.
	Count int64 `json:"count,omitzero"`
	// Doubt says what could not be had of what the server has besides tools.
	Doubt string `json:"doubt,omitzero"`
	Error Text   `json:"error,omitzero"`
	// LeftOut are tools that are not offered though they were asked for, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// List is what the pins stand for: description, schema and hints of each tool.
	List *Ref `json:"list,omitzero"`
	// More is what the server has besides tools, its resources and prompts, for an agent that
	// finds them in the catalogue.
	More *Ref `json:"more,omitzero"`
	// Name and Version are what the server calls itself, Protocol is the revision that is
	// spoken with it.
	Name string `json:"name,omitzero"`
	// Pins are the tools that the agent is offered.
	Pins     []ToolPin `json:"pins,omitempty"`
	Protocol string    `json:"protocol,omitzero"`
	Server   string    `json:"server"`
	Version  string    `json:"version,omitzero"`
}

// ToolPin is a tool of a server as it was when it was listed.
type ToolPin struct {
	// Hash is that of its name, description, schemas and hints.
	Hash Hash `json:"hash"`
	// Name is what agents call it.
	Name string `json:"name"`
}

// LeftOut is a tool that agents are not offered.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// McpChanged says that the tools of an MCP server are not what an agent, the actor, was
// offered. A changed tool is closed until a person takes it, a missing one cannot be called,
// and one that was added is not offered. If it names nothing, all is as it was again.
type McpChanged struct {
	// Added are the names of some that are new.
	Added   []string     `json:"added,omitempty"`
	Changed []ToolChange `json:"changed,omitempty"`
	// List is what the changed tools are now.
	List    *Ref     `json:"list,omitzero"`
	Missing []string `json:"missing,omitempty"`
	Server  string   `json:"server"`
}

// ToolChange is a tool that is not what it was.
type ToolChange struct {
	// Hash is its new one: what a person takes.
	Hash Hash   `json:"hash"`
	Name string `json:"name"`
	// What differs: description, schema, output, hints, title.
	What []string `json:"what"`
}

// McpSlow says that an MCP server takes long to say what it has for an agent, the actor. An agent
// that finds its tools begins without it; what the server says later it can still find.
type McpSlow struct {
	// Call is the mcp.call that is still open.
	Call   uint64 `json:"call"`
	Server string `json:"server"`
}

// McpUpdated says that a resource of an MCP server is another one since an agent, the actor, has
// read it and asked to be told.
type McpUpdated struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// McpLogged is what an MCP server has logged, where its settings ask for that: a stranger's text,
// which agents are not told.
type McpLogged struct {
	// Level is debug, info, notice, warning, error, critical, alert or emergency.
	Level  string `json:"level"`
	Server string `json:"server"`
	Text   string `json:"text"`
}

// McpAdded gives a quest another MCP server, by a person's word. Its agents are asked for what it
// has before their next turn.
type McpAdded struct {
	Inbox int64 `json:"inbox,omitzero"`
	// Kind, Name and Sampling are as in ServerPin, Said is what its Settings hold.
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Said     string `json:"said"`
	Sampling bool   `json:"sampling,omitzero"`
}

// McpRemoved takes an MCP server from a quest, by a person's word. Nothing of it is found any more;
// calls of its tools are refused.
type McpRemoved struct {
	Inbox  int64  `json:"inbox,omitzero"`
	Server string `json:"server"`
}

// McpAsked says that an MCP server wants to know something of a person, while it works on a
// call of an agent, the actor. A person is asked: the interaction.opened that follows names
// this event as its form.
type McpAsked struct {
	// Address is one that the person is to visit, in place of fields. It is shown, and opened
	// by nobody else.
	Address string `json:"address,omitzero"`
	// Call is the tool.call that the server works on.
	Call   uint64      `json:"call"`
	Fields []FormField `json:"fields,omitempty"`
	// ID tells what servers ask apart.
	ID string `json:"id"`
	// Message is the server's: a stranger's text.
	Message string `json:"message,omitzero"`
	Server  string `json:"server"`
}

// FormField is one thing that a server wants to know.
type FormField struct {
	Description string `json:"description,omitzero"`
	// Kind is string, number, integer or boolean.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Options are the answers that there are, if not any is one.
	Options  []string `json:"options,omitempty"`
	Required bool     `json:"required,omitzero"`
	Title    string   `json:"title,omitzero"`
}

// McpReplied is what a server is told that wanted to know something: what a person has said,
// checked against the form, or that nobody says it.
type McpReplied struct {
	Accepted bool `json:"accepted,omitzero"`
	// Asked is the seq of the mcp.asked.
	Asked  uint64 `json:"asked"`
	Server string `json:"server"`
	// Values are a JSON object.
	Values string `json:"values,omitzero"`
	// Why says why there are none.
	Why string `json:"why,omitzero"`
}

// MaxPins is how many tools of one server an agent can be shown, MaxListed how many it can find
// that finds its tools.
const (
	MaxPins   = 64
	MaxListed = 1000
)

// Answers implements Result.
func (b *McpListed) Answers() uint64 { return b.Call }

// Type implements Body.
func (*McpCall) Type() Type { return "mcp.call" }

// Type implements Body.
func (*McpListed) Type() Type { return "mcp.listed" }

// Type implements Body.
func (*McpChanged) Type() Type { return "mcp.changed" }

// Type implements Body.
func (*McpAsked) Type() Type { return "mcp.asked" }

// Type implements Body.
func (*McpReplied) Type() Type { return "mcp.replied" }

// Type implements Body.
func (*McpSlow) Type() Type { return "mcp.slow" }

// Type implements Body.
func (*McpUpdated) Type() Type { return "mcp.updated" }

// Type implements Body.
func (*McpLogged) Type() Type { return "mcp.logged" }

// Type implements Body.
func (*McpAdded) Type() Type { return "mcp.added" }

// Type implements Body.
func (*McpRemoved) Type() Type { return "mcp.removed" }

// Number implements Order.
func (b *McpAdded) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *McpAdded) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *McpRemoved) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *McpRemoved) SetNumber(n int64) { b.Inbox = n }
