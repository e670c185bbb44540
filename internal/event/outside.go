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
	// Shown are the tools of the list, in its order.
	Shown []ShownTool `json:"shown"`
	// Tools is the list.
	Tools Ref `json:"tools"`
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

// Type implements Body.
func (*ToolsShown) Type() Type { return "tools.shown" }
