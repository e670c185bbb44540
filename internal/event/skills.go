package event

// SkillSet are the skills of a quest, as they were when it was made.
type SkillSet struct {
	// LeftOut are some that were there and have a fault, and what it is.
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// List says of each what it is for, sorted by name.
	List []SkillPin `json:"list"`
	// Tree is a folder with the folder of each.
	Tree TreeRef `json:"tree"`
}

// SkillPin is what a prompt says of a skill. The rest is in its files.
type SkillPin struct {
	// Description may be shortened, as there is not room for everything.
	Description string `json:"description"`
	// From says whose it is: quest, home or ours.
	From string `json:"from"`
	Name string `json:"name"`
	// Role is stage or cross-cutting, if it is one of these.
	Role string `json:"role,omitzero"`
}
