package event

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
