package event

// Knowledge is what agents that find their tools can find besides, and what holds for them, as
// it was when the quest was made. What is written later is never part of it.
type Knowledge struct {
	// LeftOut are skills and rules that were there and are not pinned, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Root is the AGENTS.md of the quest's root, which stands in system prompts; nil for none.
	Root *RulePin `json:"root,omitzero"`
	// Rules are all others: those that hold below their folder, and those that the root's links
	// to, in the order of their paths.
	Rules  []RulePin  `json:"rules,omitempty"`
	Skills *SkillPins `json:"skills,omitzero"`
}

// SkillPins are skills that agents find. They do not lie in homes, but for their programs.
type SkillPins struct {
	// Count is how many there are.
	Count int64 `json:"count"`
	// List says of each, as JSON, what it is for and which files it has.
	List Ref `json:"list"`
	// Programs is a folder with the programs of each, as they lie in homes; nil for none.
	Programs *TreeRef `json:"programs,omitzero"`
	// Tree is a folder with the folder of each.
	Tree TreeRef `json:"tree"`
}

// RulePin is a text that tells agents how to work.
type RulePin struct {
	// Link is the text by which the root's rules link to it; empty for one that holds for what
	// lies beside it and below.
	Link string `json:"link,omitzero"`
	// Path is where it stood in the quest's root.
	Path string `json:"path"`
	// Text is what agents are told, with its place in front.
	Text Ref `json:"text"`
}

// FoundSkill is a skill that fits an intent.
type FoundSkill struct {
	// Description may be shortened.
	Description string `json:"description"`
	Name        string `json:"name"`
	// Score is in billionths.
	Score int64 `json:"score"`
}

// FoundRule is a text that the root's rules link to and that fits an intent.
type FoundRule struct {
	Path string `json:"path"`
	// Score is in billionths.
	Score int64 `json:"score"`
}

// GuidanceShown tells an agent, the actor, how to work: a rule that holds for what it touches or
// wants, or which skills fit its task. It comes right before the model.call that shows it.
type GuidanceShown struct {
	// LeftOut says that Text tells that there is no room for the rule.
	LeftOut bool `json:"left_out,omitzero"`
	// Rule is the path of the rule, empty for skills.
	Rule string `json:"rule,omitzero"`
	Text Text   `json:"text"`
}

// Type implements Body.
func (*GuidanceShown) Type() Type { return "guidance.shown" }
