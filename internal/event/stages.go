package event

// The events of a study: a long conversation with one researcher, who goes from anchor to
// anchor. What people say is mail, which is delivered; what the researcher does between a
// prompt and its rest is a sitting.

// MailDelivered gives an agent messages that waited for it, in the order in which they came.
type MailDelivered struct {
	// Messages are the user.message events.
	Messages []uint64 `json:"messages"`
	To       string   `json:"to"`
	// With says what brought them: sitting, interact, results, or now.
	With string `json:"with"`
}

// MailWithdrawn says that a message that was not delivered never will be.
type MailWithdrawn struct {
	Message uint64 `json:"message"`
}

// FilesCall has copies of a message's files put into the home of an agent, the actor, before it
// hears the message. FilesResult answers it.
type FilesCall struct {
	Files []FileCopy `json:"files"`
	// Folder is where they are put, below the home.
	Folder  string `json:"folder"`
	Message uint64 `json:"message"`
}

// FileCopy is a file of a message, and what its copy is called.
type FileCopy struct {
	Name string `json:"name"`
	Ref  Ref    `json:"ref"`
}

// FilesResult says whether the copies are there.
type FilesResult struct {
	Call   uint64 `json:"call"`
	Error  string `json:"error,omitzero"`
	Full   *Full  `json:"full,omitzero"`
	Stored int64  `json:"stored,omitzero"`
	// Texts are what can be read of those that are PDFs.
	Texts []FileText `json:"texts,omitempty"`
}

// FileText is the text of a file, in one of its own beside it.
type FileText struct {
	// Name is what that is called, empty if there is none.
	Name string `json:"name,omitzero"`
	// Of is the copy whose text it is.
	Of string `json:"of"`
	// Why says why there is none.
	Why string `json:"why,omitzero"`
}

// StudyOrder is a person's word about the course of a study, which no model reads: stage, now,
// withdraw, waive, approve, use.
type StudyOrder struct {
	Action string `json:"action"`
	Inbox  int64  `json:"inbox,omitzero"`
	// Message is the one that is withdrawn.
	Message uint64 `json:"message,omitzero"`
	Reason  string `json:"reason,omitzero"`
	// What is the anchor to go to, the card that is approved, the skill that is used.
	What string `json:"what,omitzero"`
}

// SittingBegun begins the work of a researcher, the actor. What it is told is a function of the
// state, in blocks; each has its hash here.
type SittingBegun struct {
	Anchor string         `json:"anchor"`
	Blocks []SittingBlock `json:"blocks"`
	Branch string         `json:"branch,omitzero"`
	// Cut names what was left out or shortened, because there was no room.
	Cut []string `json:"cut,omitempty"`
	// Fresh says that it begins with an empty window; otherwise only blocks that changed are
	// said.
	Fresh bool `json:"fresh,omitzero"`
	// Mail are the messages that are delivered with it, the oldest first.
	Mail   []uint64 `json:"mail,omitempty"`
	Number int64    `json:"number"`
	// Recovers says that the last one failed.
	Recovers bool   `json:"recovers,omitzero"`
	Runner   string `json:"runner"`
	Skill    string `json:"skill"`
}

// SittingBlock is a part of what a researcher is told.
type SittingBlock struct {
	Hash Hash   `json:"hash"`
	Name string `json:"name"`
	// Said says that it is part of this prompt, and not only known from an earlier one.
	Said bool  `json:"said,omitzero"`
	Size int64 `json:"size"`
}

// SittingEnded is how the work of a researcher came to rest: rested, failed, cut or interrupted.
type SittingEnded struct {
	// Durable says that it left something: an artifact, a card, a checkpoint, a move, words.
	Durable bool   `json:"durable,omitzero"`
	Number  int64  `json:"number"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitzero"`
}

// AnchorMoved moves a study to another stage. The actor is who moved it.
type AnchorMoved struct {
	Answer uint64 `json:"answer,omitzero"`
	// Because are ids of artifacts, and numbers of events, that it rests on.
	Because []string `json:"because,omitempty"`
	// By says how: tool, person, or the name of the tool that implies it.
	By     string `json:"by"`
	From   string `json:"from"`
	Part   int64  `json:"part,omitzero"`
	Reason string `json:"reason"`
	To     string `json:"to"`
}

// InteractSaid is what a researcher, the actor, says to the people it works for.
type InteractSaid struct {
	Answer uint64   `json:"answer"`
	Files  []string `json:"files,omitempty"`
	// Kind is progress, milestone, decision_request, approval_result or answer.
	Kind    string   `json:"kind"`
	Options []string `json:"options,omitempty"`
	Part    int64    `json:"part,omitzero"`
	// Reply is none, threaded or blocking.
	Reply string `json:"reply"`
	Text  Text   `json:"text"`
	// Thread is where replies to it belong; 0 of one that opens its own, or none.
	Thread uint64 `json:"thread,omitzero"`
}

// CardWritten is a card of a study's memory: a new one, or another revision of one.
type CardWritten struct {
	Answer uint64 `json:"answer"`
	ID     string `json:"id"`
	// Kind is papers, ideas, decisions, episodes, knowledge or templates.
	Kind string `json:"kind"`
	Part int64  `json:"part,omitzero"`
	// Revision counts from 1.
	Revision int64    `json:"revision"`
	Stage    string   `json:"stage"`
	Summary  string   `json:"summary"`
	Tags     []string `json:"tags,omitempty"`
	Text     Text     `json:"text"`
	Title    string   `json:"title"`
}

// CardPromoted offers a card to all studies of a home. It enters their prompts once a person
// has approved it.
type CardPromoted struct {
	Answer   uint64 `json:"answer"`
	ID       string `json:"id"`
	Part     int64  `json:"part,omitzero"`
	Revision int64  `json:"revision"`
}

// CardCall has cards of the home looked for, or one put there. CardResult answers it.
type CardCall struct {
	// Action is put, approve, search or read.
	Action string `json:"action"`
	// Answer and Part are where the tool call stands that it is made for, if it is for one.
	Answer uint64   `json:"answer,omitzero"`
	ID     string   `json:"id,omitzero"`
	Kinds  []string `json:"kinds,omitempty"`
	Part   int64    `json:"part,omitzero"`
	Query  string   `json:"query,omitzero"`
	// Revision is the one of the card that is put or approved.
	Revision int64 `json:"revision,omitzero"`
	// Text is what is put there, as it stands in its file.
	Text *Text `json:"text,omitzero"`
}

// CardResult is what became of a card.call.
type CardResult struct {
	Call  uint64     `json:"call"`
	Cards []HomeCard `json:"cards,omitempty"`
	Error string     `json:"error,omitzero"`
}

// HomeCard is a card of the home.
type HomeCard struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Quest   string `json:"quest"`
	Summary string `json:"summary"`
	// Text is the whole card, where one was read.
	Text  *Text  `json:"text,omitzero"`
	Title string `json:"title"`
}

// LiteratureCall has papers looked for, for a tool call of the actor's: among what the study has,
// and outside if it says so. LiteratureResult answers it.
type LiteratureCall struct {
	Answer uint64 `json:"answer"`
	// Limit is how many are wanted from each place.
	Limit int64 `json:"limit"`
	// Outside says that arXiv is asked.
	Outside bool   `json:"outside,omitzero"`
	Part    int64  `json:"part,omitzero"`
	Query   string `json:"query"`
}

// LiteratureResult is what was found.
type LiteratureResult struct {
	Call uint64 `json:"call"`
	// Here is what was found among what the study has, in lines; Error is why that could not be
	// looked through.
	Error string `json:"error,omitzero"`
	Here  string `json:"here,omitzero"`
	// Papers are those that arXiv has; Unasked is why it did not tell.
	Papers  []FoundPaper `json:"papers,omitempty"`
	Unasked string       `json:"unasked,omitzero"`
}

// FoundPaper is a paper as arXiv tells of it.
type FoundPaper struct {
	// Authors are the first of them.
	Authors   []string `json:"authors,omitempty"`
	ID        string   `json:"id"`
	Published string   `json:"published,omitzero"`
	Summary   string   `json:"summary,omitzero"`
	Title     string   `json:"title"`
}

// The words of a person about the course of a study.
const (
	SteerStage    = "stage"
	SteerNow      = "now"
	SteerWithdraw = "withdraw"
	SteerWaive    = "waive"
	SteerApprove  = "approve"
	SteerUse      = "use"
)

// The ways of a message to its reader.
const (
	WithSitting  = "sitting"
	WithInteract = "interact"
	WithResults  = "results"
	WithNow      = "now"
)

// The ends of a sitting.
const (
	SittingRested      = "rested"
	SittingFailed      = "failed"
	SittingCut         = "cut"
	SittingInterrupted = "interrupted"
)

func (*MailDelivered) Type() Type { return "mail.delivered" }
func (*MailWithdrawn) Type() Type { return "mail.withdrawn" }
func (*FilesCall) Type() Type     { return "files.call" }
func (*FilesResult) Type() Type   { return "files.result" }
func (*StudyOrder) Type() Type    { return "study.order" }
func (*SittingBegun) Type() Type  { return "sitting.begun" }
func (*SittingEnded) Type() Type  { return "sitting.ended" }
func (*AnchorMoved) Type() Type   { return "anchor.moved" }
func (*InteractSaid) Type() Type  { return "interact.said" }
func (*CardWritten) Type() Type   { return "card.written" }
func (*CardPromoted) Type() Type  { return "card.promoted" }
func (*CardCall) Type() Type      { return "card.call" }
func (*CardResult) Type() Type    { return "card.result" }

// Answers implements Result.
func (b *FilesResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *FilesResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *FilesResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

func (*LiteratureCall) Type() Type   { return "literature.call" }
func (*LiteratureResult) Type() Type { return "literature.result" }

// Answers implements Result.
func (b *LiteratureResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *CardResult) Answers() uint64 { return b.Call }

// Number implements Order.
func (b *StudyOrder) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *StudyOrder) SetNumber(n int64) { b.Inbox = n }
