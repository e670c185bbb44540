package event

// What a study leaves: lines of work with their checkpoints, artifacts, results that are run
// again, and baselines that other studies build on. All of it is by id, and every one says what
// it rests on.

// BranchPrepared begins a line of work: a folder in the researcher's home, work/ and its name.
type BranchPrepared struct {
	Answer uint64 `json:"answer,omitzero"`
	// From is the checkpoint.made that it begins with, 0 if it begins empty.
	From uint64 `json:"from,omitzero"`
	// Kind is main, idea, run, analysis or paper.
	Kind string `json:"kind"`
	// Name is main, idea/<id>, run/<id>, analysis/<run>/<campaign>-<slice> or paper/<id>.
	Name   string   `json:"name"`
	Parent string   `json:"parent,omitzero"`
	Part   int64    `json:"part,omitzero"`
	Tree   *TreeRef `json:"tree,omitzero"`
}

// BranchActivated makes a line of work the one that the researcher is at.
type BranchActivated struct {
	Answer uint64 `json:"answer,omitzero"`
	Name   string `json:"name"`
	Part   int64  `json:"part,omitzero"`
}

// FolderCall has the folder of a line of work put into the home of an agent, the actor, as the
// tree has it. One that is there stays as it is: it holds work. FolderResult answers it.
type FolderCall struct {
	// Answer and Part are where the tool call stands that it is made for.
	Answer uint64 `json:"answer,omitzero"`
	Branch string `json:"branch"`
	Part   int64  `json:"part,omitzero"`
	// Tree is what is put there; without one, nothing is.
	Tree *TreeRef `json:"tree,omitzero"`
}

// FolderResult is what became of it.
type FolderResult struct {
	Call   uint64 `json:"call"`
	Error  string `json:"error,omitzero"`
	Full   *Full  `json:"full,omitzero"`
	Stored int64  `json:"stored,omitzero"`
	// There says that the folder was there, and stays as it is.
	There bool `json:"there,omitzero"`
}

// CheckpointCall has the folder of a line of work recorded. CheckpointResult answers it.
type CheckpointCall struct {
	Answer  uint64 `json:"answer,omitzero"`
	Branch  string `json:"branch"`
	Message string `json:"message"`
	Part    int64  `json:"part,omitzero"`
}

// CheckpointResult is the folder as it was found.
type CheckpointResult struct {
	Call  uint64 `json:"call"`
	Error string `json:"error,omitzero"`
	// Files and Size are all that the tree holds.
	Files int64 `json:"files,omitzero"`
	// Full is the quest's limit on storage, if that is used up with what the call stored.
	Full *Full `json:"full,omitzero"`
	// Refused are files that nothing can be recorded with: too large, or with a key in them.
	// LeftOut are caches and what .gitignore names, the first of them.
	LeftOut []Skipped `json:"left_out,omitempty"`
	Refused []Skipped `json:"refused,omitempty"`
	Size    int64     `json:"size,omitzero"`
	Stored  int64     `json:"stored,omitzero"`
	Tree    *TreeRef  `json:"tree,omitzero"`
}

// CheckpointMade is a step of a line of work. There is none without a change.
type CheckpointMade struct {
	Branch  string `json:"branch"`
	Message string `json:"message"`
	// Parent is the checkpoint.made before it, 0 of the first.
	Parent uint64  `json:"parent,omitzero"`
	Tree   TreeRef `json:"tree"`
}

// ArtifactRecorded is something that a study has come to, by id.
type ArtifactRecorded struct {
	// Action is what follows from a decision.
	Action string `json:"action,omitzero"`
	Answer uint64 `json:"answer,omitzero"`
	// Because are ids of artifacts and cards, and numbers of events, that it rests on.
	Because []string `json:"because,omitempty"`
	Branch  string   `json:"branch,omitzero"`
	// Files are files of the branch that it is about, by path.
	Files []string `json:"files,omitempty"`
	ID    string   `json:"id"`
	// Kind is baseline, idea, decision, progress, answer, milestone, run, report, approval or
	// graph.
	Kind string `json:"kind"`
	Part int64  `json:"part,omitzero"`
	// Supersedes is the artifact that it takes the place of.
	Supersedes string `json:"supersedes,omitzero"`
	Text       Text   `json:"text"`
	Title      string `json:"title"`
	// Verdict is good, bad, neutral or open, of a decision.
	Verdict string `json:"verdict,omitzero"`
}

// Metric is a figure and what it means. Values are decimals: digits, and never floats.
type Metric struct {
	// Data is the hash of what it was measured on.
	Data Hash `json:"data"`
	// Direction is higher or lower: what is better.
	Direction string `json:"direction"`
	Name      string `json:"name"`
	// Tolerance is how far two values may be apart and still be the same; default 0.
	Tolerance string `json:"tolerance,omitzero"`
	Unit      string `json:"unit,omitzero"`
	Value     string `json:"value"`
}

// ResultRecorded is a result: a program, and the figures that it is said to print. It closes
// its branch.
type ResultRecorded struct {
	Answer  uint64   `json:"answer"`
	Because []string `json:"because,omitempty"`
	Branch  string   `json:"branch"`
	// Campaign and Slice are those of an analysis.
	Campaign string `json:"campaign,omitzero"`
	// Checkpoint is the one that holds the program.
	Checkpoint uint64 `json:"checkpoint"`
	// Entrypoint is a file of the branch that prints lines: metric <name> <value>.
	Entrypoint string `json:"entrypoint"`
	ID         string `json:"id"`
	// Kind is baseline, main or slice.
	Kind    string   `json:"kind"`
	Metrics []Metric `json:"metrics"`
	Part    int64    `json:"part,omitzero"`
	Slice   string   `json:"slice,omitzero"`
	Summary string   `json:"summary"`
	Title   string   `json:"title"`
}

// CampaignCreated says which questions are asked of a result, each in a branch of its own.
type CampaignCreated struct {
	Answer uint64          `json:"answer"`
	ID     string          `json:"id"`
	Part   int64           `json:"part,omitzero"`
	Reason string          `json:"reason"`
	Result string          `json:"result"`
	Slices []CampaignSlice `json:"slices"`
}

// CampaignSlice is one question.
type CampaignSlice struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// BaselineAccepted says that a result, or one of another study, is what is compared with. The
// actor is who accepts it.
type BaselineAccepted struct {
	Answer uint64 `json:"answer,omitzero"`
	// By says what it rests on: reproduction, or person.
	By string `json:"by"`
	// Interaction is the question that a person has said yes to, if one was asked.
	Interaction uint64 `json:"interaction,omitzero"`
	Part        int64  `json:"part,omitzero"`
	Reason      string `json:"reason,omitzero"`
	Result      string `json:"result"`
}

// BaselineWaived says that a study goes on without a baseline. The actor asked for it, and a
// person agreed; one who says so unasked gives an order.
type BaselineWaived struct {
	Answer uint64 `json:"answer"`
	// Interaction is the question that a person has said yes to.
	Interaction uint64 `json:"interaction"`
	Part        int64  `json:"part,omitzero"`
	Reason      string `json:"reason"`
}

// BaselineCall has a baseline published in the home, or brought from there. BaselineResult
// answers it.
type BaselineCall struct {
	// Action is publish or attach.
	Action string `json:"action"`
	Answer uint64 `json:"answer"`
	// Entry is what is published.
	Entry *BaselineEntry `json:"entry,omitzero"`
	// Name is under which it stands in the home.
	Name string `json:"name"`
	Part int64  `json:"part,omitzero"`
}

// BaselineEntry is a baseline that travels, with its proof.
type BaselineEntry struct {
	Entrypoint string `json:"entrypoint"`
	// Event is the hash of the reproduction.result that it rests on, Quest and Result where it
	// comes from.
	Event   Hash     `json:"event"`
	Metrics []Metric `json:"metrics"`
	Output  Ref      `json:"output"`
	Quest   string   `json:"quest"`
	Result  string   `json:"result"`
	Title   string   `json:"title"`
	Tree    TreeRef  `json:"tree"`
}

// BaselineResult is what became of it.
type BaselineResult struct {
	Call   uint64         `json:"call"`
	Entry  *BaselineEntry `json:"entry,omitzero"`
	Error  string         `json:"error,omitzero"`
	Full   *Full          `json:"full,omitzero"`
	Stored int64          `json:"stored,omitzero"`
}

func (*BranchPrepared) Type() Type   { return "branch.prepared" }
func (*BranchActivated) Type() Type  { return "branch.activated" }
func (*FolderCall) Type() Type       { return "folder.call" }
func (*FolderResult) Type() Type     { return "folder.result" }
func (*CheckpointCall) Type() Type   { return "checkpoint.call" }
func (*CheckpointResult) Type() Type { return "checkpoint.result" }
func (*CheckpointMade) Type() Type   { return "checkpoint.made" }
func (*ArtifactRecorded) Type() Type { return "artifact.recorded" }
func (*ResultRecorded) Type() Type   { return "result.recorded" }
func (*CampaignCreated) Type() Type  { return "campaign.created" }
func (*BaselineAccepted) Type() Type { return "baseline.accepted" }
func (*BaselineWaived) Type() Type   { return "baseline.waived" }
func (*BaselineCall) Type() Type     { return "baseline.call" }
func (*BaselineResult) Type() Type   { return "baseline.result" }

// Answers implements Result.
func (b *FolderResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *FolderResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *FolderResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Answers implements Result.
func (b *CheckpointResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *CheckpointResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *CheckpointResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Answers implements Result.
func (b *BaselineResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *BaselineResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *BaselineResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }
