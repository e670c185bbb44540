package event

// The events of a lab: papers, reviews, votes. All but what the world found and
// what a program printed are derived.

// ToolPrepared is what the world found in the arguments of a tool that the rules
// answer themselves: they cannot read files or long texts. If it could not be
// prepared, Error is what the agent is told.
type ToolPrepared struct {
	// Abstract is the first paragraph of Content, on one line, cut if it is long.
	Abstract string `json:"abstract,omitzero"`
	Call     uint64 `json:"call"`
	// Citations are the references that Content names, in the order of their first
	// mention, each once.
	Citations []string `json:"citations,omitempty"`
	Content   *Text    `json:"content,omitzero"`
	Error     string   `json:"error,omitzero"`
	// Files are the names in Tree, sorted.
	Files []string `json:"files,omitempty"`
	// Full is the limit on storage that left no room for the texts and files.
	Full *Full `json:"full,omitzero"`
	// Loose are the texts in brackets that are no citations, the first of them.
	Loose []string `json:"loose,omitempty"`
	// Numbers are those of the abstract, as they were written, each once.
	Numbers []string `json:"numbers,omitempty"`
	// Stored is how many bytes of the disk the texts and files took, or will take for the
	// society's own copies of them.
	Stored int64 `json:"stored,omitzero"`
	// Tree is the folder of the attached files.
	Tree *TreeRef `json:"tree,omitzero"`
	// Values are the other arguments that are texts, numbers or truth values, by name,
	// sorted. Each item of a list stands by itself under the list's name, and each member
	// of an object as object.member.
	Values []NamedText `json:"values,omitempty"`
}

// PublicationSubmitted says that an agent, the actor, has handed in a paper.
type PublicationSubmitted struct {
	// Abstract is the first paragraph of the content, on one line, cut if it is long.
	Abstract string `json:"abstract,omitzero"`
	// Answer and Part are where the tool call stands that it was handed in with. They
	// name it for ever: after a fork the call is made again.
	Answer uint64 `json:"answer"`
	// Attachments are the names of the files in Tree.
	Attachments []string `json:"attachments,omitempty"`
	// Citations are the papers it builds on. They count once it is published.
	Citations []string `json:"citations,omitempty"`
	// Claims are the values that the paper stands for: those that its author named, which
	// Named says, or the numbers of its abstract.
	Claims  []string `json:"claims,omitempty"`
	Content Text     `json:"content"`
	// Entrypoint is the attachment that shows what the paper claims when it is run.
	Entrypoint string `json:"entrypoint,omitzero"`
	Named      bool   `json:"named,omitzero"`
	Part       int64  `json:"part"`
	// Ref names the paper: 32 hex digits.
	Ref string `json:"ref"`
	// Repeats are published papers that seem to say the same.
	Repeats []string `json:"repeats,omitempty"`
	// Revises is the rejected paper that this one takes the place of.
	Revises string   `json:"revises,omitzero"`
	Title   string   `json:"title"`
	Tree    *TreeRef `json:"tree,omitzero"`
}

// ReproductionCall asks the world to run a paper's entry point, twice, in a fresh
// computer without network.
type ReproductionCall struct {
	// Claims are the values that are looked for in what it prints.
	Claims     []string `json:"claims,omitempty"`
	Entrypoint string   `json:"entrypoint"`
	// Metrics are the names whose values are read from what it prints, of a study's result.
	Metrics []string `json:"metrics,omitempty"`
	Ref     string   `json:"ref"`
	Tree    TreeRef  `json:"tree"`
}

// ReproductionResult is what a paper's entry point did.
type ReproductionResult struct {
	Call     uint64 `json:"call"`
	Duration int64  `json:"duration,omitzero"`
	// Exit is the exit code of the first run that did not end well.
	Exit int64 `json:"exit,omitzero"`
	// Figures are the values of the metrics that were asked for, as both runs printed them.
	Figures []Figure `json:"figures,omitempty"`
	// Fingerprint is that of the computer it ran in.
	Fingerprint Hash `json:"fingerprint,omitzero"`
	// Full is the quest's limit on storage, if that is used up with what the runs printed.
	Full *Full `json:"full,omitzero"`
	// Missing are the claims that are not in what the first run printed.
	Missing []string `json:"missing,omitempty"`
	// Output is what the first run printed; Second what the second did, if that is
	// something else.
	Output *Ref `json:"output,omitzero"`
	// Printed is the beginning of Output.
	Printed string `json:"printed,omitzero"`
	// Reason says why, where it did not go well.
	Reason string `json:"reason,omitzero"`
	Second *Ref   `json:"second,omitzero"`
	// Status is "same output twice", "differs" or "failed".
	Status string `json:"status"`
	// Stored is how many bytes of the disk it takes to keep what the runs printed.
	Stored int64 `json:"stored,omitzero"`
}

// Figure is what two runs printed for a metric; empty is nothing, or no decimal.
type Figure struct {
	First  string `json:"first,omitzero"`
	Name   string `json:"name"`
	Second string `json:"second,omitzero"`
}

// The outcomes of a reproduction.
const (
	SameOutput = "same output twice"
	Differs    = "differs"
	NotRun     = "failed"
)

// ReviewRequested asks an agent to review a paper.
type ReviewRequested struct {
	// Deadline is the turn of the reviewer by which the review must be there.
	Deadline int64 `json:"deadline"`
	// Of is how many agents are asked to review the paper at first.
	Of       int64  `json:"of"`
	Ref      string `json:"ref"`
	Reviewer string `json:"reviewer"`
}

// ReviewExpired says that an agent is no longer asked: it took too long, or has been
// parked.
type ReviewExpired struct {
	// Instead is the agent that will be asked in its place; nobody, if none is left.
	Instead  string `json:"instead,omitzero"`
	Ref      string `json:"ref"`
	Reviewer string `json:"reviewer"`
}

// ReviewSubmitted is an agent's, the actor's, judgement of a paper.
type ReviewSubmitted struct {
	// Answer and Part are where the tool call stands.
	Answer uint64 `json:"answer"`
	// Claim is what the paper claims, in the reviewer's words.
	Claim string `json:"claim,omitzero"`
	// Confidence is how sure the reviewer is, from 1 to 5.
	Confidence int64 `json:"confidence,omitzero"`
	Content    Text  `json:"content"`
	// Counterexample is the case that the reviewer tried to break the claim with.
	Counterexample string `json:"counterexample,omitzero"`
	// Grade is ACCEPT or REJECT.
	Grade string `json:"grade"`
	Part  int64  `json:"part"`
	// Ran is what the reviewer checked and ran, or why nothing.
	Ran string `json:"ran,omitzero"`
	Ref string `json:"ref"`
}

// The grades of a review.
const (
	Accept = "ACCEPT"
	Reject = "REJECT"
)

// PublicationDecided says what became of a paper. That is said once.
type PublicationDecided struct {
	Accepts int64  `json:"accepts"`
	Ref     string `json:"ref"`
	Rejects int64  `json:"rejects"`
	// Status is PUBLISHED or REJECTED.
	Status string `json:"status"`
}

// The statuses of a paper.
const (
	Submitted = "SUBMITTED"
	Published = "PUBLISHED"
	Rejected  = "REJECTED"
)

// CitationMade says that a paper that was published cites others. Self are those by
// the same author: they do not count.
type CitationMade struct {
	Ref  string   `json:"ref"`
	Self []string `json:"self,omitempty"`
	To   []string `json:"to,omitempty"`
}

// VoteCast is an agent's, the actor's, current vote for the best answer; an empty Ref
// takes it back.
type VoteCast struct {
	// Answer and Part are where the tool call stands.
	Answer uint64 `json:"answer"`
	Part   int64  `json:"part"`
	Ref    string `json:"ref,omitzero"`
}

// AdvisorySent tells agents what happened. Each hears it once, after the results of
// its next turn.
type AdvisorySent struct {
	// Except is the one agent that is not told, where To is empty and all others are.
	Except string `json:"except,omitzero"`
	// Kind is unshown, review-requested, review-received, decided, announced, updated or expired. All
	// but the last wake an agent that has been parked for doing nothing, or because
	// its model failed.
	Kind string   `json:"kind"`
	Ref  string   `json:"ref,omitzero"`
	Text Text     `json:"text"`
	To   []string `json:"to,omitempty"`
}

// AgentParked says that an agent, the actor, gets no more turns until something
// happens that concerns it, or a person speaks to it. One whose model call was
// refused, by a policy.blocked, waits for a person.
type AgentParked struct {
	Reason string `json:"reason"`
}

// The kinds of advisories.
const (
	AdviseRequested = "review-requested"
	AdviseReceived  = "review-received"
	AdviseDecided   = "decided"
	AdviseAnnounced = "announced"
	AdviseExpired   = "expired"
	AdviseUnshown   = "unshown"
	AdviseUpdated   = "updated"
)

func (*ToolPrepared) Type() Type         { return "tool.prepared" }
func (*PublicationSubmitted) Type() Type { return "publication.submitted" }
func (*ReproductionCall) Type() Type     { return "reproduction.call" }
func (*ReproductionResult) Type() Type   { return "reproduction.result" }
func (*ReviewRequested) Type() Type      { return "review.requested" }
func (*ReviewExpired) Type() Type        { return "review.expired" }
func (*ReviewSubmitted) Type() Type      { return "review.submitted" }
func (*PublicationDecided) Type() Type   { return "publication.decided" }
func (*CitationMade) Type() Type         { return "citation.made" }
func (*VoteCast) Type() Type             { return "vote.cast" }
func (*AdvisorySent) Type() Type         { return "advisory.sent" }
func (*AgentParked) Type() Type          { return "agent.parked" }
