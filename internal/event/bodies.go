package event

// The members of each struct stand in sorted order, which makes their plain
// encoding canonical. Costs are in nanodollars (1e-9 USD), durations in
// microseconds: integers, so that every machine adds them to the same sum.

// QuestCreated opens every ledger. It pins all that the rules will read: the
// society and its version, the agents with their prompts and tools, the texts
// that the society says, the limits and the seed. A later binary with other
// prompts replays the quest by these.
type QuestCreated struct {
	// Agents in the order in which the rules visit them.
	Agents []AgentSpec `json:"agents"`
	// Cache is exact or near, if answers that models gave before may stand for new ones.
	Cache string `json:"cache,omitzero"`
	// Computer is what each agent works with, if the quest has computers.
	Computer *ComputerSpec `json:"computer,omitzero"`
	// Config are the settings that hold and where each comes from, as a JSON array of objects with key,
	// value and from.
	Config *Ref `json:"config,omitzero"`
	// Context is compact, if a model sums up what its window has no room for any more;
	// otherwise that is cut away.
	Context string `json:"context,omitzero"`
	// Contract is how a contract net works.
	Contract *ContractSpec `json:"contract,omitzero"`
	// Corpus is the folder in which a study looks for papers.
	Corpus *TreeRef `json:"corpus,omitzero"`
	// Data is the folder that was copied into each agent's home.
	Data *TreeRef `json:"data,omitzero"`
	// Discover says that agents begin with few of the servers' tools, and find others when they
	// need them.
	Discover bool `json:"discover,omitzero"`
	// Executors are the outside agents that agents of the quest are, sorted by name.
	Executors []ExecutorPin `json:"executors,omitempty"`
	// Knowledge is what agents that find their tools can find besides, and their rules.
	Knowledge *Knowledge `json:"knowledge,omitzero"`
	// Lab is how a lab works.
	Lab    *LabSpec `json:"lab,omitzero"`
	Limits Limits   `json:"limits"`
	Name   string   `json:"name"`
	// PermissionTimeout is how long a person may think about a permission of an executor, in
	// microseconds, where that is said; ten minutes otherwise.
	PermissionTimeout int64 `json:"permission_timeout,omitzero"`
	// Pins are other files the quest was made with, such as a model's script.
	Pins []Pin `json:"pins,omitempty"`
	// Policies are the rules that every proposal must pass, in the order in which
	// they are asked.
	Policies []PolicySpec `json:"policies,omitempty"`
	// Prepare is a command that runs once in the home that agents begin with.
	Prepare string `json:"prepare,omitzero"`
	Problem Text   `json:"problem"`
	// Repo are the files that agents work on, if those are of a repository or folder.
	Repo *RepoSpec `json:"repo,omitzero"`
	// Rules is the society and the version of its rules, such as solo/4.
	Rules string `json:"rules"`
	Seed  uint64 `json:"seed,string"`
	// Servers are the MCP servers whose tools agents get, sorted by name.
	Servers []ServerPin `json:"servers,omitempty"`
	// Settings are how the society works, as JSON, where it has no member of its own.
	Settings string `json:"settings,omitzero"`
	// Skills are what agents can look up, where their society has them do so.
	Skills *SkillSet `json:"skills,omitzero"`
	// Spec is the quest.yaml as it was given.
	Spec Ref `json:"spec"`
	// Texts are what the society says to agents, by name, sorted.
	Texts    []NamedText `json:"texts,omitempty"`
	Thinking bool        `json:"thinking,omitzero"`
	// Tools are what the rules know of the world's tools that agents have, sorted by name.
	Tools []ToolTraits `json:"tools,omitempty"`
}

// ToolTraits is what the rules know of a tool of the world besides its name: what it says
// of itself.
type ToolTraits struct {
	Name string `json:"name"`
	// Parallel says that the tool has an argument parallel, by which a model lets a call
	// of it run together with those beside it.
	Parallel bool `json:"parallel,omitzero"`
	// Paths are the arguments that are paths of the workspace, or lists of some.
	Paths []string `json:"paths,omitempty"`
	// Reads says that a call has no effect on any other: such calls of a turn run together.
	Reads bool `json:"reads,omitzero"`
}

// LabSpec is how the agents of a lab judge each other's papers.
type LabSpec struct {
	// Deadline is how many turns a reviewer has for a review.
	Deadline int64 `json:"deadline"`
	// Decision is majority or unanimous.
	Decision string `json:"decision"`
	// Reviewers is how many agents review a paper.
	Reviewers int64 `json:"reviewers"`
}

// AgentSpec is how an agent begins, or each of a group of agents.
type AgentSpec struct {
	// Count is how many agents there are of the kind, and First the number of the
	// first: with a count of 2 and a first of 3, agent stands for agent-3 and agent-4.
	// Without a count there is one, and Name is its whole name.
	Count int64 `json:"count,omitzero"`
	// Executor is the outside agent that acts, instead of a model.
	Executor string `json:"executor,omitzero"`
	First    int64  `json:"first,omitzero"`
	// Gateway is what an outside agent may ask of models besides its own.
	Gateway *GatewaySpec `json:"gateway,omitzero"`
	// MaxOutput is how many tokens an answer may have, 0 what the provider takes. If an
	// answer is cut off, it is raised to RaisedOutput, once, if that is set.
	MaxOutput int64  `json:"max_output,omitzero"`
	Model     string `json:"model"`
	Name      string `json:"name"`
	// Price is what the model's tokens cost when the quest was made, if its limits are
	// strict and that is known: calls are reserved for by it.
	Price        *Price `json:"price,omitzero"`
	RaisedOutput int64  `json:"raised_output,omitzero"`
	// System is the system prompt, rendered once at creation.
	System Ref `json:"system"`
	// Thinking is how much the model thinks: none, low, medium, high, a number of tokens,
	// or true for what the provider takes; empty is as the quest says.
	Thinking string `json:"thinking,omitzero"`
	// ToolNames are the names in Tools, sorted: what the rules need of it.
	ToolNames []string `json:"tool_names,omitempty"`
	// Tools is the list of tools with their descriptions and schemas.
	Tools Ref `json:"tools"`
	// Window is how many tokens a request may have.
	Window int64 `json:"window"`
}

// PolicySpec is one rule of a quest, whole: what it is called, what it is made of,
// and how that is set.
type PolicySpec struct {
	Name string `json:"name"`
	// Settings are JSON.
	Settings string `json:"settings,omitzero"`
	// Use names a built-in policy and its version, such as repetition/1, or
	// thread/1 for one that the quest's author wrote; its definition is Settings.
	Use string `json:"use"`
}

// Share is what one agent may use of a quest's limits.
type Share struct {
	// Cost in nanodollars.
	Cost *int64 `json:"cost,omitzero"`
	// Duration in microseconds, of the time its calls took.
	Duration *int64 `json:"duration,omitzero"`
	// Storage in bytes, of what is kept of its files and outputs.
	Storage *int64 `json:"storage,omitzero"`
	Tokens  *int64 `json:"tokens,omitzero"`
	Turns   *int64 `json:"turns,omitzero"`
}

// Limits bound a quest. A limit that is not there does not bind; zero is a
// limit of zero.
type Limits struct {
	// Agent bounds each agent.
	Agent *Share `json:"agent,omitzero"`
	// Cost in nanodollars.
	Cost *int64 `json:"cost,omitzero"`
	// Duration in microseconds, of the time the quest was running.
	Duration *int64 `json:"duration,omitzero"`
	// Storage in bytes, of what is kept of all agents' files and outputs.
	Storage *int64 `json:"storage,omitzero"`
	// Strict says that calls under way do not pass the limits on cost and tokens either: the
	// most that a call can use is reserved before it is made. A quest is made with it, or
	// never has it.
	Strict bool   `json:"strict,omitzero"`
	Tokens *int64 `json:"tokens,omitzero"`
	Turns  *int64 `json:"turns,omitzero"`
}

// NamedText is a short text under a name.
type NamedText struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Pin is a file under a name.
type Pin struct {
	Name string `json:"name"`
	Ref  Ref    `json:"ref"`
}

// QuestStarted says that a process began to run the quest for the first time.
type QuestStarted struct {
	// Limits replace those of the quest where they are set.
	Limits Limits `json:"limits"`
	// NoThinking has models answer without thinking first, from here on.
	NoThinking bool   `json:"no_thinking,omitzero"`
	Version    string `json:"version,omitzero"`
}

// QuestPaused says that no new calls may start until the quest is resumed. What
// was under way still comes in.
type QuestPaused struct {
	// Inbox is the number of the command in the quest's inbox, 0 if it came from
	// the owner itself.
	Inbox  int64  `json:"inbox,omitzero"`
	Reason string `json:"reason,omitzero"`
}

// QuestResumed ends a pause, and gives a quest that was stopped, has failed or
// ran into a limit another chance.
type QuestResumed struct {
	Inbox  int64  `json:"inbox,omitzero"`
	Limits Limits `json:"limits"`
	// NoThinking has models answer without thinking first, from here on.
	NoThinking bool   `json:"no_thinking,omitzero"`
	Version    string `json:"version,omitzero"`
}

// QuestStopped says that a person ended the quest before its answer.
type QuestStopped struct {
	Inbox  int64  `json:"inbox,omitzero"`
	Reason string `json:"reason,omitzero"`
}

// QuestFinished says that the quest has its answer.
type QuestFinished struct {
	Answer Text `json:"answer"`
	// NotFound says that the answer is that there is none in what was searched.
	NotFound bool `json:"not_found,omitzero"`
	// Warnings are what stayed open: the quest is completed with warnings.
	Warnings []string `json:"warnings,omitempty"`
}

// QuestFailed says that the quest cannot go on, and why.
type QuestFailed struct {
	Reason string `json:"reason"`
}

// BudgetRaised gives a quest other limits, whether it runs or rests: more, as a rule. One
// that has come to rest at a limit goes on when it is resumed.
type BudgetRaised struct {
	Inbox int64 `json:"inbox,omitzero"`
	// Limits replace those of the quest where they are set.
	Limits Limits `json:"limits"`
}

// QuestRested says that the rules have brought the quest to rest without an answer. It is
// paused: what it lacks can come, and whoever resumes it goes on from here.
type QuestRested struct {
	// Kind is outage, model or no-agreement.
	Kind string `json:"kind"`
	// Reason is the same for people.
	Reason string `json:"reason"`
}

// The kinds of rest that rules bring a quest to.
const (
	// RestOutage: all that is open waits for a provider that was away for longer than
	// anybody is patient.
	RestOutage = "outage"
	// RestModel: the model failed as often as it is tried.
	RestModel = "model"
	// RestNoAgreement: nobody is left who would act, and the society has agreed on nothing.
	RestNoAgreement = "no-agreement"
)

// ProviderLost says that a provider of models answers nobody. That is a state of the world
// and no agent's failure: calls to it stay open and are tried again until it is back.
type ProviderLost struct {
	// Models are those of the quest that it has, sorted.
	Models []string `json:"models"`
	// Patience is how long the quest waits for it, in microseconds.
	Patience int64  `json:"patience"`
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
}

// ProviderBack says that a provider that was lost has answered.
type ProviderBack struct {
	Provider string `json:"provider"`
}

// QuestForked ends the copied part of a fork's ledger. From here on the quest
// has its own name, and goes its own way. What the origin had derived from its
// last input but not recorded yet at that point is decided again.
type QuestForked struct {
	// At is the seq of the last event taken from the origin, Hash its hash.
	At   uint64 `json:"at"`
	From string `json:"from"`
	Hash Hash   `json:"hash"`
	// Model replaces the model of every agent, if set.
	Model string `json:"model,omitzero"`
	Name  string `json:"name"`
	// Pins replace those of the quest by name.
	Pins []Pin `json:"pins,omitempty"`
	// Seed replaces the seed, if Reseed is set.
	Reseed bool   `json:"reseed,omitzero"`
	Seed   uint64 `json:"seed,string,omitzero"`
}

// Attachment is a picture or another file that goes with a text. Only its name stands
// in the event; the bytes are a blob.
type Attachment struct {
	// Media is what the bytes are, by their own account: image/png, image/jpeg,
	// image/gif or image/webp of a picture, which models are shown, text/plain of a
	// text, and some other type of what they are only told about.
	Media string `json:"media"`
	// Name is what the file was called, without folders. It may be anything.
	Name string `json:"name,omitzero"`
	Ref  Ref    `json:"ref"`
}

// UserMessage is a person's word to the quest.
type UserMessage struct {
	// Attachments go with the text, which may be empty then.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Conversation is where it was said, as its source names it.
	Conversation string `json:"conversation,omitzero"`
	// Document says that the text is a new one of a document of the quest.
	Document *Revision `json:"document,omitzero"`
	Inbox    int64     `json:"inbox,omitzero"`
	// Reply is what it answers: a question, or something that an agent said.
	Reply uint64 `json:"reply,omitzero"`
	// Sender is who said it, and Source by which way it came; empty for the owner, here.
	Sender string `json:"sender,omitzero"`
	Source string `json:"source,omitzero"`
	Text   Text   `json:"text"`
	// To names an agent; empty means all of them.
	To string `json:"to,omitzero"`
}

// Revision is about a new text of a document. It counts if nobody has changed the document since
// its writer read it.
type Revision struct {
	// Base is the hash of the text that was read.
	Base Hash   `json:"base"`
	Name string `json:"name"`
}

// MessageSent is what the rules say to an agent, or one agent, the actor, to another.
type MessageSent struct {
	// Answer and Part are where the tool call stands that it was sent with, if an agent
	// did.
	Answer uint64 `json:"answer,omitzero"`
	Part   int64  `json:"part,omitzero"`
	// Performative is what the message does, between agents.
	Performative string `json:"performative,omitzero"`
	// Policy is the one that asked for it, if one did.
	Policy string `json:"policy,omitzero"`
	// Quiet says that it is for the record: the agent hears of it in another way.
	Quiet bool `json:"quiet,omitzero"`
	// Reply is the message that it answers.
	Reply uint64 `json:"reply,omitzero"`
	Text  Text   `json:"text"`
	To    string `json:"to"`
}

// ToolCall asks the world to run a tool, or shows that the rules themselves are
// about to answer. The arguments stand in the model's answer.
type ToolCall struct {
	// Answer is the seq of the model.result, Part the index of the call in it.
	Answer uint64 `json:"answer"`
	ID     string `json:"id"`
	Part   int64  `json:"part"`
}

// ToolResult is what the world answered to a tool.call. What the call did to the
// agent's files, a file.diff before it says.
type ToolResult struct {
	// Attachments are pictures and files that the tool gave besides.
	Attachments []Attachment `json:"attachments,omitempty"`
	Call        uint64       `json:"call"`
	// Computer is the fingerprint of the computer that the result depends on.
	Computer Hash  `json:"computer,omitzero"`
	Duration int64 `json:"duration,omitzero"`
	// Error says that Output tells the agent what went wrong.
	Error bool `json:"error,omitzero"`
	// Full is the limit on storage that kept the agent's files from being recorded after the
	// call: the agent's tree is still the one of before.
	Full *Full `json:"full,omitzero"`
	// Outcome is how the call went, for policies: an object in JSON, such as {"exit":1} of a
	// command. Not every tool tells one.
	Outcome string `json:"outcome,omitzero"`
	Output  Text   `json:"output"`
	// Stored is how many bytes of the disk the call took for files, outputs and results.
	Stored int64 `json:"stored,omitzero"`
}

// MaxOutcome is how long the outcome of a call may be, in bytes.
const MaxOutcome = 1 << 10

// Full is a limit on storage that left no room for something.
type Full struct {
	// Max is the limit in bytes, be it the quest's own or the default; Used is how much of
	// it was used.
	Max int64 `json:"max"`
	// Of is agent or quest: whose limit it is.
	Of   string `json:"of"`
	Used int64  `json:"used"`
}

// Whose limit on storage it is.
const (
	FullAgent = "agent"
	FullQuest = "quest"
)

// ToolAnswered is what the rules themselves answered to a tool.call: a tool of
// the quest's own domain, or a refusal. It is another type than tool.result so
// that a reader can tell inputs from derived events by type.
type ToolAnswered struct {
	// Attachments are pictures and files that go with the answer.
	Attachments []Attachment `json:"attachments,omitempty"`
	Call        uint64       `json:"call"`
	Error       bool         `json:"error,omitzero"`
	Output      Text         `json:"output"`
}

// ToolSkipped says that a tool call of an agent, the actor, is not made: the quest came to
// rest while calls before it in the same turn were under way. It is answered by a
// tool.answered that names this event as its call.
type ToolSkipped struct {
	// Answer and Part are where the tool call stands, ID is its own.
	Answer uint64 `json:"answer"`
	ID     string `json:"id"`
	Part   int64  `json:"part"`
	// Reason is what the quest became: paused, stopped or exceeded; or prompt, if the prompt
	// of an executor was over before.
	Reason string `json:"reason"`
}

// SkippedPrompt is the reason of a call that the prompt of an executor left behind.
const SkippedPrompt = "prompt"

// PolicyBlocked says that a proposal of an agent, the actor, was refused. It takes
// no effect. A refused tool call is answered by a tool.answered that names this
// event as its call; a refused answer, by a message; an agent whose model call is
// refused is parked until somebody speaks to it or the quest is resumed.
type PolicyBlocked struct {
	// Answer and Part are where the refused tool call stands, ID is its own. Of a request
	// to the gateway, Answer is the gateway.asked.
	Answer uint64 `json:"answer,omitzero"`
	// By are the policies that refused it.
	By   []Blocker `json:"by"`
	ID   string    `json:"id,omitzero"`
	Part int64     `json:"part,omitzero"`
	// Proposal is the type of event that was proposed: model.call, prompt.call, tool.call, gateway.call
	// or quest.finished.
	Proposal Type `json:"proposal"`
}

// Blocker is a policy that refuses something.
type Blocker struct {
	Policy string `json:"policy"`
	Reason string `json:"reason"`
}

// PolicyFailed says that a policy broke down. From here on it refuses everything
// that it could ever have refused: a fault does not open the gate.
type PolicyFailed struct {
	Policy string `json:"policy"`
	Reason string `json:"reason"`
}

// TimerSet asks to be told when a time has come.
type TimerSet struct {
	At Time `json:"at"`
	// Purpose says what the timer is for, such as duration.
	Purpose string `json:"purpose"`
}

// TimerFired says that the time of a timer.set has come.
type TimerFired struct {
	Call uint64 `json:"call"`
}

// BudgetExceeded says that a limit of the quest is reached: no new call starts
// until the quest is resumed with a higher one.
type BudgetExceeded struct {
	// Limit is cost, duration, storage, tokens or turns.
	Limit string `json:"limit"`
	Max   int64  `json:"max"`
	// Next is what the next call can use at most, where the limits are strict and what is
	// left is less than that.
	Next int64 `json:"next,omitzero"`
	Used int64 `json:"used"`
}

func (*QuestCreated) Type() Type    { return "quest.created" }
func (*QuestStarted) Type() Type    { return "quest.started" }
func (*QuestPaused) Type() Type     { return "quest.paused" }
func (*QuestResumed) Type() Type    { return "quest.resumed" }
func (*QuestStopped) Type() Type    { return "quest.stopped" }
func (*QuestFinished) Type() Type   { return "quest.finished" }
func (*QuestFailed) Type() Type     { return "quest.failed" }
func (*QuestForked) Type() Type     { return "quest.forked" }
func (*BudgetRaised) Type() Type    { return "budget.raised" }
func (*QuestRested) Type() Type     { return "quest.rested" }
func (*ProviderLost) Type() Type    { return "provider.lost" }
func (*ProviderBack) Type() Type    { return "provider.back" }
func (*UserMessage) Type() Type     { return "user.message" }
func (*MessageSent) Type() Type     { return "message.sent" }
func (*ModelCall) Type() Type       { return "model.call" }
func (*ModelResult) Type() Type     { return "model.result" }
func (*EmbedderFailed) Type() Type  { return "embedder.failed" }
func (*RelationSet) Type() Type     { return "relation.set" }
func (*RelationRemoved) Type() Type { return "relation.removed" }
func (*ToolCall) Type() Type        { return "tool.call" }
func (*ToolResult) Type() Type      { return "tool.result" }
func (*ToolAnswered) Type() Type    { return "tool.answered" }
func (*ToolSkipped) Type() Type     { return "tool.skipped" }
func (*PolicyBlocked) Type() Type   { return "policy.blocked" }
func (*PolicyFailed) Type() Type    { return "policy.failed" }
func (*TimerSet) Type() Type        { return "timer.set" }
func (*TimerFired) Type() Type      { return "timer.fired" }
func (*BudgetExceeded) Type() Type  { return "budget.exceeded" }
