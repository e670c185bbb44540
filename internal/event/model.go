package event

// What models are asked and say, and what agents note of it.

// ModelCall asks a model for an agent's next turn. It does not hold the
// conversation: it says which part of the transcript to render, and the hash
// that the rendering must have.
type ModelCall struct {
	// Cache is exact or near, if an answer that was given before may stand for this one. It is
	// empty where the answer counts as a sample, of a reviewer or in a fork, say.
	Cache string `json:"cache,omitzero"`
	// Compact says that the model is asked for a summary, and not for a turn's work.
	Compact *Compaction `json:"compact,omitzero"`
	// Effort is how much the model is to think: low, medium, high or a number of tokens;
	// empty leaves it to the provider.
	Effort string `json:"effort,omitzero"`
	// First is the message from which on the transcript is sent; Head is the
	// user message kept in front of it, if that is another one.
	First int64 `json:"first"`
	Head  int64 `json:"head"`
	// Last is the last message sent.
	Last int64 `json:"last"`
	// MaxTokens is how many tokens the answer may have, 0 what the provider takes.
	MaxTokens int64  `json:"max_tokens,omitzero"`
	Model     string `json:"model"`
	Rendering Hash   `json:"rendering"`
	System    Hash   `json:"system"`
	Thinking  bool   `json:"thinking,omitzero"`
	Tools     Hash   `json:"tools"`
	Turn      int64  `json:"turn"`
}

// ModelResult is a model's answer to a call, or why there is none.
type ModelResult struct {
	Call uint64 `json:"call"`
	// Cost in nanodollars, by the price at the time of the call. It counts the
	// attempts that failed as well.
	Cost     int64       `json:"cost,omitzero"`
	Duration int64       `json:"duration,omitzero"`
	Error    *ModelError `json:"error,omitzero"`
	// Estimated says that the provider did not tell all that was used, so that Usage,
	// Wasted and Cost are an upper bound.
	Estimated bool   `json:"estimated,omitzero"`
	Parts     []Part `json:"parts,omitempty"`
	// Price is what the tokens cost when the call was made.
	Price *Price `json:"price,omitzero"`
	// Recalled says that the model was not asked: the answer is one that it gave before.
	Recalled *Recalled `json:"recalled,omitzero"`
	// Request is what the provider calls the request by, in its own logs, if it said so.
	Request string `json:"request,omitzero"`
	// Stop is why the model stopped: end, tools, length, refusal.
	Stop string `json:"stop,omitzero"`
	// Stored is how many bytes of the disk the answer took, if it was too long to be kept
	// with the events.
	Stored int64 `json:"stored,omitzero"`
	// Unpriced says that the model has no known price, and Cost means nothing.
	Unpriced bool  `json:"unpriced,omitzero"`
	Usage    Usage `json:"usage"`
	// Wasted is what attempts that failed used besides. It is part of the cost.
	Wasted *Usage `json:"wasted,omitzero"`
}

// Recalled is where an answer comes from that was given before.
type Recalled struct {
	// Asked is the question that it answered, where that was put in other words, Cosine how
	// like that one this question is by the vectors of Embedder, in billionths.
	Asked    *Text  `json:"asked,omitzero"`
	Cosine   int64  `json:"cosine,omitzero"`
	Embedder string `json:"embedder,omitzero"`
	// Hash is that of the model.result with the number Seq of Quest.
	Hash  Hash   `json:"hash"`
	Quest string `json:"quest"`
	Seq   uint64 `json:"seq"`
}

// EmbedderFailed is that vectors were not to be had. What they were for goes on by words alone.
// It is told once in a run.
type EmbedderFailed struct {
	Embedder string `json:"embedder"`
	// For is what the vectors were for.
	For  string `json:"for"`
	Text string `json:"text"`
}

// RelationSet is that an agent has noted a node: a thing, and what it is part of. It is the effect
// of a call of the tool relate, which stands in Answer and Part; a node of that id is replaced.
type RelationSet struct {
	Answer      uint64 `json:"answer"`
	Description string `json:"description,omitzero"`
	ID          string `json:"id"`
	// Kind is what it is: plan, step, file, agent, or any other word.
	Kind string `json:"kind"`
	// Parents are the ids of what it is part of, sorted.
	Parents []string `json:"parents,omitempty"`
	Part    int64    `json:"part"`
	// Status is pending, in_progress, done or failed.
	Status string `json:"status"`
}

// RelationRemoved is that an agent took a node away, by a call of the tool unrelate. What was part
// of it is detached; with Cascade, what is left without a parent goes too.
type RelationRemoved struct {
	Answer  uint64 `json:"answer"`
	Cascade bool   `json:"cascade,omitzero"`
	ID      string `json:"id"`
	Part    int64  `json:"part"`
}

// How like an earlier question one must be whose answer may be taken.
const (
	// CacheExact takes the answer to the same rendering.
	CacheExact = "exact"
	// CacheNear takes that to the same question in other words, too.
	CacheNear = "near"
)

// Price is what tokens cost, in nanodollars for a million of them.
type Price struct {
	CacheWrites int64 `json:"cache_writes,omitzero"`
	Cached      int64 `json:"cached,omitzero"`
	Input       int64 `json:"input,omitzero"`
	Output      int64 `json:"output,omitzero"`
}

// ModelError is why a model gave no answer.
type ModelError struct {
	// After is how long the provider asks to be left alone, in microseconds, if it said so.
	After int64 `json:"after,omitzero"`
	// Kind is one of context, refused, unavailable, invalid, script, stopped, away. After away the
	// turn counts as not taken: the provider answered nobody until the quest came to rest.
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// ErrorAway is the kind of error of a call whose provider answered nobody.
const ErrorAway = "away"

// Untaken reports whether the turn counts as not taken: the provider answered nobody until
// the quest came to rest.
func (b *ModelResult) Untaken() bool { return b.Error != nil && b.Error.Kind == ErrorAway }

// Part is a piece of what a model said.
type Part struct {
	// Args are the arguments of a tool call: JSON as the model wrote it, kept as
	// text because its numbers may not survive canonical form.
	Args *Text  `json:"args,omitzero"`
	ID   string `json:"id,omitzero"`
	// Kind is text, thinking or tool_call.
	Kind string `json:"kind"`
	Name string `json:"name,omitzero"`
	// Opaque goes back to the same provider unchanged.
	Opaque *Text `json:"opaque,omitzero"`
	// Outline is the arguments without their long values, where they are in a
	// blob: what policies see of them.
	Outline string `json:"outline,omitzero"`
	Text    *Text  `json:"text,omitzero"`
}

// The kinds of parts.
const (
	PartText     = "text"
	PartThinking = "thinking"
	PartToolCall = "tool_call"
)

// Usage counts tokens as the provider reported them. Input includes Cached and
// CacheWrites; Output includes Thinking.
type Usage struct {
	CacheWrites int64 `json:"cache_writes,omitzero"`
	Cached      int64 `json:"cached,omitzero"`
	Input       int64 `json:"input,omitzero"`
	Output      int64 `json:"output,omitzero"`
	Thinking    int64 `json:"thinking,omitzero"`
}

// Add adds what something else used.
func (u *Usage) Add(o Usage) {
	u.CacheWrites += o.CacheWrites
	u.Cached += o.Cached
	u.Input += o.Input
	u.Output += o.Output
	u.Thinking += o.Thinking
}
