package event

// InteractionOpened is a question to a person. The actor asks it: an agent, with the tool
// that serves for it, or whoever made a proposal that policies have a person decide
// about. Its seq is the question's number.
type InteractionOpened struct {
	// Answer and Part are where the tool call stands that is proposed.
	Answer uint64 `json:"answer,omitzero"`
	// Blocking says that the asker waits for the answer.
	Blocking bool `json:"blocking,omitzero"`
	// By are the policies that have a person decide.
	By []Blocker `json:"by,omitempty"`
	// Call is the tool.call that asks.
	Call uint64 `json:"call,omitzero"`
	// Default is what counts if nobody has answered when the question Expires. One that
	// does not expire waits as long as it takes.
	Default string `json:"default,omitzero"`
	Expires Time   `json:"expires,omitzero"`
	// Form is the mcp.asked whose fields it asks for.
	Form uint64 `json:"form,omitzero"`
	// Options are answers to choose from.
	Options []string `json:"options,omitempty"`
	Part    int64    `json:"part,omitzero"`
	// Proposal is the type of event that is proposed, if it is about one. Only yes lets it
	// happen, and it alone.
	Proposal Type `json:"proposal,omitzero"`
	Question Text `json:"question"`
	// Server is the MCP server whose changed tools it is about, or which asks by a form. Yes
	// takes changed tools as they were when it was asked.
	Server string `json:"server,omitzero"`
	// Sum tells proposals apart that stand nowhere, Turn those of an agent's turns.
	Sum  *Hash `json:"sum,omitzero"`
	Turn int64 `json:"turn,omitzero"`
}

// InteractionAnswered is a person's answer to a question.
type InteractionAnswered struct {
	// Choice is the option that was chosen, empty for an answer in words alone.
	Choice string `json:"choice,omitzero"`
	Inbox  int64  `json:"inbox,omitzero"`
	// Interaction is the seq of the question.
	Interaction uint64 `json:"interaction"`
	Text        string `json:"text,omitzero"`
}

// Said is the whole answer: what was chosen, and what was said with it.
func (b *InteractionAnswered) Said() string {
	if b.Choice == "" || b.Text == "" {
		return b.Choice + b.Text
	}
	return b.Choice + ". " + b.Text
}

// InteractionExpired says that nobody has answered a question in time, and that its
// default counts.
type InteractionExpired struct {
	Interaction uint64 `json:"interaction"`
}

// InteractionWithdrawn says that nobody wants the answer to a question any more: whoever
// proposed what it is about has gone on.
type InteractionWithdrawn struct {
	Interaction uint64 `json:"interaction"`
}

// Type implements Body.
func (*InteractionWithdrawn) Type() Type { return "interaction.withdrawn" }

// Type implements Body.
func (*InteractionOpened) Type() Type { return "interaction.opened" }

// Type implements Body.
func (*InteractionAnswered) Type() Type { return "interaction.answered" }

// Type implements Body.
func (*InteractionExpired) Type() Type { return "interaction.expired" }

// ModeSet has the society of a quest work in another of its modes, by a person's word. It holds
// at once, and until the next.
type ModeSet struct {
	Inbox int64  `json:"inbox,omitzero"`
	Mode  string `json:"mode"`
}

// Type implements Body.
func (*ModeSet) Type() Type { return "mode.set" }

// Number implements Order.
func (b *ModeSet) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *ModeSet) SetNumber(n int64) { b.Inbox = n }
