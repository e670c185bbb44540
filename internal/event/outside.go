package event

// ToolProposed is a tool call that comes from an outside agent, the actor, and not from a
// model's answer. It is judged, made and answered as any other; its tool.call names this
// event as the answer that it stands in.
type ToolProposed struct {
	Args Text `json:"args,omitzero"`
	// ID tells the agent's calls apart: one that is proposed again is the same call.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Outline is what policies see of arguments that are in a blob.
	Outline string `json:"outline,omitzero"`
}

// ToolsShown gives an agent, the actor, another list of tools, from its next turn on. The
// list is what a model is shown, and so a part of what the next call renders. Tools that
// stay keep their places, so that providers find what they have cached.
type ToolsShown struct {
	// Beside is what fits besides tools: resources and prompts of servers, the best of each kind
	// first.
	Beside []FoundBeside `json:"beside,omitempty"`
	// Call is the catalogue.call that it answers, 0 if it answers none.
	Call uint64 `json:"call,omitzero"`
	// Catalogue is the hash of all that was searched: what servers are pinned to, and the tools
	// that the agent began with.
	Catalogue Hash `json:"catalogue,omitzero"`
	// Doubt says why the search was by words alone, though it was to be by vectors as well.
	Doubt string `json:"doubt,omitzero"`
	// Embedder is whose vectors were used; without one the search was by words alone.
	Embedder string `json:"embedder,omitzero"`
	// Found is what fits the call's intent, the best first, whether the agent had it or not.
	Found []FoundTool `json:"found,omitempty"`
	// LeftOut are tools that are not shown though they were found, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Rules are texts that the root's rules link to and that fit the intent, the best first.
	Rules []FoundRule `json:"rules,omitempty"`
	// Shown are the tools of the list, in its order.
	Shown []ShownTool `json:"shown"`
	// Skills are those that fit the intent, the best first.
	Skills []FoundSkill `json:"skills,omitempty"`
	// Tools is the list.
	Tools Ref `json:"tools"`
}

// FoundTool is a tool that fits an intent. Scores of different searches cannot be compared.
type FoundTool struct {
	Name string `json:"name"`
	// Score is in billionths.
	Score int64 `json:"score"`
}

// FoundBeside is a resource or a prompt of a server that fits an intent.
type FoundBeside struct {
	// Kind is resource or prompt, Name the address of a resource or the name of a prompt.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Says is the beginning of what the server says of it: a stranger's words.
	Says   string `json:"says,omitzero"`
	Score  int64  `json:"score"`
	Server string `json:"server"`
}

// CatalogueCall asks which tools fit what an agent, the actor, wants to do: its task, before its
// first turn, or what it says to search_tools. The tools.shown that answers it gives the agent
// those that were found.
type CatalogueCall struct {
	// For is the tool.call of search_tools, 0 before the first turn.
	For    uint64 `json:"for,omitzero"`
	Intent Text   `json:"intent"`
	// Kind is local, mcp or skill, for tools from there alone, or resource or prompt, for those.
	Kind string `json:"kind,omitzero"`
	// Most is how many tools are wanted.
	Most int64 `json:"most"`
}

// ShownTool is a tool of a list.
type ShownTool struct {
	Name string `json:"name"`
	// Paths and Reads are as in ToolTraits. Of a tool from elsewhere that names no paths,
	// those arguments count for some that are called as paths are.
	Paths []string `json:"paths,omitempty"`
	Reads bool     `json:"reads,omitzero"`
	// Source is where it comes from, such as mcp:files; empty means from Lyceum itself.
	Source string `json:"source,omitzero"`
	// Trust is what the quest's owner thinks of the source: trusted, or stranger. Lyceum's
	// own tools have none.
	Trust string `json:"trust,omitzero"`
}

// The kinds of trust in where a tool comes from.
const (
	TrustOwn      = "own"
	TrustTrusted  = "trusted"
	TrustStranger = "stranger"
)

// Type implements Body.
func (*ToolProposed) Type() Type { return "tool.proposed" }

// Answers implements Result.
func (b *ToolsShown) Answers() uint64 { return b.Call }

// Type implements Body.
func (*CatalogueCall) Type() Type { return "catalogue.call" }

// Type implements Body.
func (*ToolsShown) Type() Type { return "tools.shown" }
