package event

// The events of a contract net: a plan, tenders for its parts, what was found and
// computed, claims and what became of them. Scores, relevance and probabilities are
// integers: billionths where they are compared with others' figures to nine places,
// thousandths elsewhere.

// ContractSpec is how a contract net works.
type ContractSpec struct {
	// Audit is lite, standard or strict.
	Audit string `json:"audit"`
	// Corpus is the folder that researchers search.
	Corpus *TreeRef `json:"corpus,omitzero"`
	// Embedder names what makes vectors of texts, empty if there are none.
	Embedder string `json:"embedder,omitzero"`
	// WaitUntil is when the work may begin, 0 for at once.
	WaitUntil Time `json:"wait_until,omitzero"`
}

// BeliefUpdated says what an agent, the actor, holds to be so from here on.
type BeliefUpdated struct {
	Belief string `json:"belief"`
	Reason string `json:"reason"`
	Value  string `json:"value"`
}

// DesireSet says what an agent, the actor, wants.
type DesireSet struct {
	Desire string `json:"desire"`
	Reason string `json:"reason"`
}

// IntentionFormed says what an agent, the actor, has decided to do, or not to do.
type IntentionFormed struct {
	// Dropped says that it has decided against it.
	Dropped bool `json:"dropped,omitzero"`
	// Intention is research, compute, audit or wait.
	Intention string `json:"intention"`
	Reason    string `json:"reason"`
	// Words are those of the task that led to it.
	Words []string `json:"words,omitempty"`
}

// PlanMade is what is to be done, in parts.
type PlanMade struct {
	// Answer and Part are where the tool call stands that it was made with, if a model
	// made it.
	Answer uint64     `json:"answer,omitzero"`
	Part   int64      `json:"part,omitzero"`
	Steps  []PlanStep `json:"steps"`
}

// PlanStep is a part of a plan.
type PlanStep struct {
	// Around is the number of a source: the paragraphs around it are to be read.
	Around int64 `json:"around,omitzero"`
	// Kind is research, compute, audit or wait.
	Kind string `json:"kind"`
	// Limit is how many paragraphs a search may bring.
	Limit int64  `json:"limit,omitzero"`
	Task  string `json:"task"`
	// Text is a query, a program's name, or what is to be computed.
	Text  string `json:"text,omitzero"`
	Until Time   `json:"until,omitzero"`
	// Without are workers that are not asked: they had their chance.
	Without []string `json:"without,omitempty"`
}

// CfpIssued calls for bids for a part of the plan.
type CfpIssued struct {
	Kind string   `json:"kind"`
	Task string   `json:"task"`
	Text string   `json:"text,omitzero"`
	To   []string `json:"to"`
}

// BidSubmitted is a worker's, the actor's, offer, in thousandths.
type BidSubmitted struct {
	Capability int64 `json:"capability"`
	// Cfp is the call for bids that it answers.
	Cfp         uint64 `json:"cfp"`
	Cost        int64  `json:"cost"`
	Latency     int64  `json:"latency"`
	Probability int64  `json:"probability"`
	// Score is what the bid is worth, in billionths.
	Score int64  `json:"score"`
	Task  string `json:"task"`
}

// ContractAwarded gives a part of the plan to the best bidder that has not failed at
// it.
type ContractAwarded struct {
	Bid   uint64 `json:"bid"`
	Score int64  `json:"score"`
	Task  string `json:"task"`
	To    string `json:"to"`
}

// TaskCompleted says that a worker, the actor, has done its part.
type TaskCompleted struct {
	// Award is the contract.awarded, 0 for what needs no worker.
	Award uint64 `json:"award,omitzero"`
	// Sources are the numbers of what it found, as the answer cites them.
	Sources []int64 `json:"sources,omitempty"`
	Task    string  `json:"task"`
}

// TaskFailed says that a worker, the actor, could not do its part.
type TaskFailed struct {
	Award  uint64 `json:"award,omitzero"`
	Reason string `json:"reason"`
	Task   string `json:"task"`
}

// SearchCall asks the world to search the corpus.
type SearchCall struct {
	// Doc and Paragraph are what the method around reads: that paragraph and those beside
	// it.
	Doc   string `json:"doc,omitzero"`
	Limit int64  `json:"limit"`
	// Method is lexical, hybrid or around.
	Method    string `json:"method"`
	Paragraph int64  `json:"paragraph,omitzero"`
	Query     string `json:"query"`
	Task      string `json:"task"`
}

// SearchResult is what a search found, the best first.
type SearchResult struct {
	Anchors []Anchor `json:"anchors,omitempty"`
	Call    uint64   `json:"call"`
	// Documents and Paragraphs are how many were searched, Skipped how many files of
	// the corpus could not be.
	Documents  int64  `json:"documents,omitzero"`
	Duration   int64  `json:"duration,omitzero"`
	Error      string `json:"error,omitzero"`
	Paragraphs int64  `json:"paragraphs,omitzero"`
	Skipped    int64  `json:"skipped,omitzero"`
	// Words are those of the question that say what it is about.
	Words []WordWeight `json:"words,omitempty"`
}

// WordWeight is what a word of a question is worth in a corpus.
type WordWeight struct {
	// Unknown says that neither the word nor another one for it is in the corpus.
	Unknown bool `json:"unknown,omitzero"`
	// Weight is in thousandths: the rarer a word, the more.
	Weight int64  `json:"weight"`
	Word   string `json:"word"`
}

// Anchor is where in the corpus something stands.
type Anchor struct {
	// Context is what stands over the paragraph: the file's name, the title, headings.
	Context string `json:"context,omitzero"`
	// Cover is how much of the question the paragraph covers, from 0 to 1, in
	// billionths: an absolute measure, unlike the relevance.
	Cover int64  `json:"cover,omitzero"`
	Doc   string `json:"doc"`
	// Hash is that of the whole paragraph.
	Hash Hash `json:"hash"`
	// Paragraph counts from 1.
	Paragraph int64 `json:"paragraph"`
	// Relevance is the score in relation to the others' and to what was asked for, from
	// 0 to 1, in billionths; Score is in billionths too.
	Relevance int64 `json:"relevance"`
	Score     int64 `json:"score"`
	// Snippet is a part of the paragraph, to the letter.
	Snippet string `json:"snippet"`
	Title   string `json:"title,omitzero"`
}

// ComputeCall asks the world to run a program on the quest's data.
type ComputeCall struct {
	// Answer and Part are where the tool call stands that it was made with, if an agent
	// wrote the program.
	Answer uint64 `json:"answer,omitzero"`
	// Code is the program, where it is one text.
	Code *Ref `json:"code,omitzero"`
	// Engine is what it is to be run by: python or builtin.
	Engine string `json:"engine"`
	// Entrypoint is the file of Tree that is run, where an agent wrote it.
	Entrypoint string `json:"entrypoint,omitzero"`
	Part       int64  `json:"part,omitzero"`
	// Program is its name.
	Program string   `json:"program"`
	Task    string   `json:"task"`
	Tree    *TreeRef `json:"tree,omitzero"`
}

// ComputeResult is what a program printed.
type ComputeResult struct {
	Call uint64 `json:"call"`
	// Command is what was run.
	Command  string `json:"command,omitzero"`
	Duration int64  `json:"duration,omitzero"`
	// Engine is what ran it, with its version.
	Engine string `json:"engine,omitzero"`
	// Error says why there is no result: the program's own words, or those of the
	// computer.
	Error string `json:"error,omitzero"`
	Exit  int64  `json:"exit,omitzero"`
	// Fingerprint is that of the computer it ran in.
	Fingerprint Hash `json:"fingerprint,omitzero"`
	// Full is the quest's limit on storage, if that is used up with what the call stored.
	Full   *Full `json:"full,omitzero"`
	Output Text  `json:"output"`
	// Plots are the pictures that one of the binary's own programs drew, as SVG.
	Plots []Ref `json:"plots,omitempty"`
	// Printed is the whole output but for those.
	Printed *Ref `json:"printed,omitzero"`
	// Stored is how many bytes of the disk those took.
	Stored int64 `json:"stored,omitzero"`
}

// ClaimMade is a sentence of the answer and what it rests on.
type ClaimMade struct {
	// Answer and Part are where the tool call stands that it was made with, if a model
	// made it.
	Answer uint64 `json:"answer,omitzero"`
	Claim  int64  `json:"claim"`
	// Confidence in thousandths.
	Confidence int64 `json:"confidence"`
	Part       int64 `json:"part,omitzero"`
	// Sources are numbers of what was found or computed.
	Sources []int64 `json:"sources,omitempty"`
	Text    string  `json:"text"`
}

// ClaimAttacked says that two claims cannot both hold, and which is against which.
type ClaimAttacked struct {
	From   int64  `json:"from"`
	Reason string `json:"reason"`
	To     int64  `json:"to"`
}

// ChallengeRaised says what is weak about a claim, or about the answer as a whole.
type ChallengeRaised struct {
	Challenge int64 `json:"challenge"`
	// Claim is 0 for the answer as a whole.
	Claim  int64  `json:"claim,omitzero"`
	Reason string `json:"reason"`
	// Rule is the one that it does not keep.
	Rule string `json:"rule"`
}

// JustificationGiven answers a challenge with further sources for the claim.
type JustificationGiven struct {
	Challenge int64   `json:"challenge"`
	Reason    string  `json:"reason"`
	Sources   []int64 `json:"sources,omitempty"`
}

// ClaimRetracted takes a claim back.
type ClaimRetracted struct {
	Challenge int64  `json:"challenge,omitzero"`
	Claim     int64  `json:"claim"`
	Reason    string `json:"reason"`
}

// ReplanTriggered says that the work goes into another round.
type ReplanTriggered struct {
	// Challenges are those that nobody could answer.
	Challenges []int64 `json:"challenges"`
	Reason     string  `json:"reason"`
	Round      int64   `json:"round"`
}

// ArgumentsWeighed says which claims stand, by the grounded extension of all claims,
// challenges, justifications and what attacks what.
type ArgumentsWeighed struct {
	Defeated  []Defeat `json:"defeated,omitempty"`
	Stand     []int64  `json:"stand,omitempty"`
	Undecided []int64  `json:"undecided,omitempty"`
}

// Defeat is a claim that does not stand, and what defeated it, such as claim 2 or
// challenge 1.
type Defeat struct {
	By    string `json:"by"`
	Claim int64  `json:"claim"`
}

// The performatives of messages.
const (
	Inform     = "inform"
	Confirm    = "confirm"
	Disconfirm = "disconfirm"
	Request    = "request"
	Query      = "query"
	Propose    = "propose"
	Commit     = "commit"
	Agree      = "accept"
	Decline    = "reject"
	Cfp        = "cfp"
	Bid        = "bid"
	Award      = "award"
	Challenge  = "challenge"
	Justify    = "justify"
	Retract    = "retract"
)

// Performatives are all of them.
var Performatives = []string{
	Inform, Confirm, Disconfirm, Request, Query, Propose, Commit, Agree, Decline, Cfp, Bid, Award, Challenge, Justify, Retract,
}

// Performative is what an event does as a message from one agent to others, empty if it
// is none.
func Performative(b Body) string {
	switch b := b.(type) {
	case *MessageSent:
		return b.Performative
	case *CfpIssued:
		return Cfp
	case *BidSubmitted:
		return Bid
	case *ContractAwarded:
		return Award
	case *ChallengeRaised:
		return Challenge
	case *JustificationGiven:
		return Justify
	case *ClaimRetracted:
		return Retract
	}
	return ""
}

func (*BeliefUpdated) Type() Type      { return "belief.updated" }
func (*DesireSet) Type() Type          { return "desire.set" }
func (*IntentionFormed) Type() Type    { return "intention.formed" }
func (*PlanMade) Type() Type           { return "plan.made" }
func (*CfpIssued) Type() Type          { return "cfp.issued" }
func (*BidSubmitted) Type() Type       { return "bid.submitted" }
func (*ContractAwarded) Type() Type    { return "contract.awarded" }
func (*TaskCompleted) Type() Type      { return "task.completed" }
func (*TaskFailed) Type() Type         { return "task.failed" }
func (*SearchCall) Type() Type         { return "search.call" }
func (*SearchResult) Type() Type       { return "search.result" }
func (*ComputeCall) Type() Type        { return "compute.call" }
func (*ComputeResult) Type() Type      { return "compute.result" }
func (*ClaimMade) Type() Type          { return "claim.made" }
func (*ClaimAttacked) Type() Type      { return "claim.attacked" }
func (*ChallengeRaised) Type() Type    { return "challenge.raised" }
func (*JustificationGiven) Type() Type { return "justification.given" }
func (*ClaimRetracted) Type() Type     { return "claim.retracted" }
func (*ReplanTriggered) Type() Type    { return "replan.triggered" }
func (*ArgumentsWeighed) Type() Type   { return "arguments.weighed" }
