package event

import "slices"

// What each result answers, and the number that each order has in the inbox.

// Answers implements Result.
func (b *ModelResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *ToolResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *ToolAnswered) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *TimerFired) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *InteractionAnswered) Answers() uint64 { return b.Interaction }

// Answers implements Result.
func (b *InteractionWithdrawn) Answers() uint64 { return b.Interaction }

// Answers implements Result.
func (b *InteractionExpired) Answers() uint64 { return b.Interaction }

// Answers implements Result.
func (b *ReproductionResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *SearchResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *ComputeResult) Answers() uint64 { return b.Call }

// Timed is a result that says how long the call took, in microseconds.
type Timed interface {
	Result
	Took() int64
}

// Took implements Timed.
func (b *ModelResult) Took() int64 { return b.Duration }

// Took implements Timed.
func (b *ToolResult) Took() int64 { return b.Duration }

// Took implements Timed.
func (b *ReproductionResult) Took() int64 { return b.Duration }

// Took implements Timed.
func (b *SearchResult) Took() int64 { return b.Duration }

// Took implements Timed.
func (b *ComputeResult) Took() int64 { return b.Duration }

// Attacher is an event by which an agent puts files of its own where others find them.
type Attacher interface {
	Body
	// Attached is the tree of the files and their names in it, nil for none, and the folder they come into.
	Attached() (folder string, tree *TreeRef, names []string)
}

// Attached implements Attacher. A tree without names is a folder that was handed in.
func (b *ToolPrepared) Attached() (string, *TreeRef, []string) {
	if len(b.Files) == 0 {
		return "", nil, nil
	}
	return "", b.Tree, b.Files
}

// Attached implements Attacher.
func (b *PublicationSubmitted) Attached() (string, *TreeRef, []string) {
	return b.Ref, b.Tree, b.Attachments
}

// Drawer is a result with pictures that one of the binary's own programs drew.
type Drawer interface {
	Result
	// Drawn are the pictures, as SVG.
	Drawn() []Ref
}

// Drawn implements Drawer.
func (b *ComputeResult) Drawn() []Ref { return b.Plots }

// Handover is an event by which a run of a task comes to a worker, or is taken away again.
type Handover interface {
	Body
	// Hands says which run; without a worker it is taken away from whoever has it.
	Hands() (worker, task string, run int64)
}

// Hands implements Handover.
func (b *HandoverBegun) Hands() (worker, task string, run int64) { return b.Worker, b.Task, b.Run }

// Hands implements Handover.
func (b *HandoverEnded) Hands() (worker, task string, run int64) { return "", b.Task, b.Run }

// Settling is an event after which nothing more is made for a task.
type Settling interface {
	Body
	// Settles says which run was the last, and whether what it made was accepted.
	Settles() (task string, run int64, accepted bool)
}

// Settles implements Settling.
func (b *TaskEnded) Settles() (task string, run int64, accepted bool) {
	return b.Task, b.Run, b.Status == TaskAccepted
}

// Expiring is an event that names files which a run of a task made: what is not accepted of these need not be
// kept for ever.
type Expiring interface {
	Body
	// Expires returns those files, and the event without them.
	Expires() (files []Ref, rest Body)
	// MadeBy is the run, of no task if the event names no files.
	MadeBy() (task string, run int64)
}

// Expires implements Expiring.
func (b *ArtifactManifest) Expires() (files []Ref, rest Body) {
	out := *b
	out.Items = slices.Clone(b.Items)
	for i := range out.Items {
		if f := out.Items[i].File; f != nil {
			files, out.Items[i].File = append(files, *f), nil
		}
	}
	return files, &out
}

// MadeBy implements Expiring.
func (b *ArtifactManifest) MadeBy() (task string, run int64) { return b.Task, b.Run }

// Expires implements Expiring.
func (b *InspectionResult) Expires() (files []Ref, rest Body) {
	if b.Manifest == nil {
		return nil, b
	}
	out := *b
	files, found := b.Manifest.Expires()
	out.Manifest = found.(*ArtifactManifest)
	return files, &out
}

// MadeBy implements Expiring.
func (b *InspectionResult) MadeBy() (task string, run int64) {
	if b.Manifest == nil {
		return "", 0
	}
	return b.Manifest.MadeBy()
}

// Number implements Order.
func (b *QuestPaused) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *QuestPaused) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *QuestResumed) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *QuestResumed) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *BudgetRaised) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *BudgetRaised) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *QuestStopped) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *QuestStopped) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *InteractionAnswered) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *InteractionAnswered) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *UserMessage) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *UserMessage) SetNumber(n int64) { b.Inbox = n }

// Kept implements Keeper.
func (b *ReproductionResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *ReproductionResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Kept implements Keeper.
func (b *ComputeResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *ComputeResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }
