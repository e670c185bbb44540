package event

// StandingShown tells an agent, the actor, where it stands: who it is, what it has and
// owes, what is left. It comes right before the model.call that shows it, and is the last
// message of that.
type StandingShown struct {
	Text Text `json:"text"`
}

// Compaction is what a model.call asks for that takes no turn of its agent's work: a
// summary of the messages that it sends, which the window will have in their place.
type Compaction struct {
	// Ask is what the model is told last.
	Ask Text `json:"ask"`
	// First and Head are the window that follows, behind the summary.
	First int64 `json:"first"`
	Head  int64 `json:"head"`
	// Mark stands before the summary: whose words it is.
	Mark string `json:"mark"`
}

// What becomes of messages that a full window has no room for.
const (
	ContextCut     = "cut"
	ContextCompact = "compact"
)

func (*StandingShown) Type() Type { return "standing.shown" }
