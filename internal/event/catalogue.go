package event

import (
	"reflect"
	"slices"
)

// Type names a kind of event, as noun.verb.
type Type string

// Body is what an event says: a pointer to one of the structs of this package.
// The catalogue is closed; a type of another package that has the method is
// still refused, because the catalogue does not hold it.
type Body interface{ Type() Type }

// Result is an event that answers a call, and ends it.
type Result interface {
	Body
	// Answers is the seq of the call.
	Answers() uint64
}

// Keeper is the result of a call of a society's own that may keep something on the disk.
type Keeper interface {
	Result
	// Kept is how many bytes that took, and the quest's limit if they used it up.
	Kept() (stored int64, full *Full)
	// SetKept says so.
	SetKept(stored int64, full *Full)
}

// Report is what an executor says that it did, or wants to do, while it works on a prompt.
type Report interface {
	Body
	// Reported is the seq of the prompt, and how far the executor's output was read.
	Reported() (prompt uint64, at int64)
}

// Order is an input that was put into a quest's inbox. A ledger takes each once, by
// its number there; one that came another way has the number 0.
type Order interface {
	Body
	Number() int64
	SetNumber(int64)
}

// Party is whose word an input is: nobody can derive it, and whoever believes it believes them.
type Party string

// The parties whose word there may be.
const (
	PartyModel  Party = "model"
	PartyPerson Party = "person"
	// PartyServer is a server of MCP, PartyAgent an outside agent.
	PartyServer Party = "server"
	PartyAgent  Party = "agent"
	// PartyMachine is that on which the quest ran: its clock, commands, files, and what it says others told it.
	PartyMachine Party = "machine"
)

// entry is what is known of a type before anything is read.
type entry struct {
	body  reflect.Type
	make  func() Body
	input bool
	// calls says that the event asks the world for something, answered is the call
	// that it is a result of, still says that nothing follows from it.
	calls    bool
	answered Type
	still    bool
	// gated says that policies are asked before it happens.
	gated bool
	// said is whose word an input is. A result that does not say is the machine's.
	said Party
}

func input[B any, P interface {
	*B
	Body
}]() entry {
	return entry{body: reflect.TypeFor[P](), make: func() Body { return P(new(B)) }, input: true}
}

func derived[B any, P interface {
	*B
	Body
}]() entry {
	return entry{body: reflect.TypeFor[P](), make: func() Body { return P(new(B)) }}
}

// asks is a call: the quest waits for the world until a result is there.
func (e entry) asks() entry {
	e.calls = true
	return e
}

// answers is a result of a call of type t.
func (e entry) answers(t Type) entry {
	e.answered = t
	return e
}

// saidBy is an input that is somebody's word.
func (e entry) saidBy(p Party) entry {
	e.said = p
	return e
}

// proposed is an event that policies may refuse, or have a person decide about.
func (e entry) proposed() entry {
	e.gated = true
	return e
}

// leadsNowhere is an event that the rules need not be asked about. Of any other they
// are asked what follows, so that a type nobody thought of cannot leave a quest
// standing.
func (e entry) leadsNowhere() entry {
	e.still = true
	return e
}

//go:generate go run ./eventdoc

// catalogue is every event there is. Whether a type is an input decides what
// replay feeds in and what it computes again, so it never changes for a type
// that has been released.
var catalogue = map[Type]entry{
	"quest.created":    input[QuestCreated]().saidBy(PartyPerson).leadsNowhere(),
	"quest.started":    input[QuestStarted]().saidBy(PartyPerson),
	"quest.paused":     input[QuestPaused]().saidBy(PartyPerson),
	"quest.resumed":    input[QuestResumed]().saidBy(PartyPerson),
	"quest.stopped":    input[QuestStopped]().saidBy(PartyPerson),
	"quest.finished":   derived[QuestFinished]().proposed().leadsNowhere(),
	"quest.failed":     derived[QuestFailed]().leadsNowhere(),
	"quest.forked":     input[QuestForked]().saidBy(PartyPerson).leadsNowhere(),
	"budget.raised":    input[BudgetRaised]().saidBy(PartyPerson),
	"mode.set":         input[ModeSet]().saidBy(PartyPerson),
	"quest.rested":     derived[QuestRested]().leadsNowhere(),
	"provider.lost":    input[ProviderLost]().saidBy(PartyMachine),
	"provider.back":    input[ProviderBack]().saidBy(PartyMachine),
	"user.message":     input[UserMessage]().saidBy(PartyPerson),
	"message.sent":     derived[MessageSent](),
	"model.call":       derived[ModelCall]().proposed().asks(),
	"model.result":     input[ModelResult]().saidBy(PartyModel).answers("model.call"),
	"embedder.failed":  input[EmbedderFailed]().saidBy(PartyMachine).leadsNowhere(),
	"tool.call":        derived[ToolCall]().proposed().asks(),
	"tool.result":      input[ToolResult]().answers("tool.call"),
	"tool.answered":    derived[ToolAnswered]().answers("tool.call"),
	"tool.skipped":     derived[ToolSkipped](),
	"computer.started": input[ComputerStarted]().saidBy(PartyMachine),
	"cli.run":          input[CliRun]().saidBy(PartyMachine),
	"cli.stdout":       input[CliStdout]().saidBy(PartyMachine),
	"cli.stderr":       input[CliStderr]().saidBy(PartyMachine),
	"cli.exit":         input[CliExit]().saidBy(PartyMachine),
	"file.diff":        input[FileDiff]().saidBy(PartyMachine),
	"net.connection":   input[NetConnection]().saidBy(PartyMachine),
	"policy.blocked":   derived[PolicyBlocked](),
	"policy.failed":    derived[PolicyFailed](),
	"timer.set":        derived[TimerSet]().asks().leadsNowhere(),
	"timer.fired":      input[TimerFired]().answers("timer.set"),
	"budget.exceeded":  derived[BudgetExceeded](),

	"tool.proposed":  input[ToolProposed]().saidBy(PartyAgent),
	"catalogue.call": derived[CatalogueCall]().asks(),
	"tools.shown":    input[ToolsShown]().answers("catalogue.call"),

	"mcp.call":    derived[McpCall]().asks(),
	"mcp.listed":  input[McpListed]().saidBy(PartyServer).answers("mcp.call"),
	"mcp.changed": input[McpChanged]().saidBy(PartyServer),
	"mcp.slow":    input[McpSlow]().saidBy(PartyServer),
	"mcp.updated": input[McpUpdated]().saidBy(PartyServer),
	"mcp.logged":  input[McpLogged]().saidBy(PartyServer).leadsNowhere(),
	"mcp.added":   input[McpAdded]().saidBy(PartyPerson),
	"mcp.removed": input[McpRemoved]().saidBy(PartyPerson),
	"mcp.asked":   input[McpAsked]().saidBy(PartyServer),
	"mcp.replied": derived[McpReplied](),

	"gateway.asked":  input[GatewayAsked]().saidBy(PartyAgent),
	"gateway.call":   derived[GatewayCall]().proposed().asks(),
	"gateway.result": input[GatewayResult]().saidBy(PartyModel).answers("gateway.call"),

	"executor.call":      derived[ExecutorCall]().asks(),
	"executor.ready":     input[ExecutorReady]().saidBy(PartyAgent).answers("executor.call"),
	"session.opened":     input[SessionOpened]().saidBy(PartyAgent),
	"prompt.call":        derived[PromptCall]().proposed().asks(),
	"prompt.begun":       input[PromptBegun]().saidBy(PartyAgent).leadsNowhere(),
	"prompt.result":      input[PromptResult]().saidBy(PartyAgent).answers("prompt.call"),
	"permission.asked":   input[PermissionAsked]().saidBy(PartyAgent),
	"permission.decided": derived[PermissionDecided]().proposed(),
	"tool.reported":      input[ToolReported]().saidBy(PartyAgent),
	"plan.reported":      input[PlanReported]().saidBy(PartyAgent),
	"said.reported":      input[SaidReported]().saidBy(PartyAgent),

	"prepare.call":   derived[PrepareCall]().asks(),
	"prepare.result": input[PrepareResult]().answers("prepare.call"),

	"standing.shown": derived[StandingShown](),
	"guidance.shown": derived[GuidanceShown](),

	"relation.set":     derived[RelationSet](),
	"relation.removed": derived[RelationRemoved](),

	"interaction.opened":   derived[InteractionOpened]().asks(),
	"interaction.answered": input[InteractionAnswered]().saidBy(PartyPerson).answers("interaction.opened"),
	"interaction.expired":  derived[InteractionExpired]().answers("interaction.opened"),

	"interaction.withdrawn": derived[InteractionWithdrawn]().answers("interaction.opened"),

	"tool.prepared":         input[ToolPrepared]().saidBy(PartyMachine),
	"publication.submitted": derived[PublicationSubmitted](),
	"reproduction.call":     derived[ReproductionCall]().asks(),
	"reproduction.result":   input[ReproductionResult]().answers("reproduction.call"),
	"review.requested":      derived[ReviewRequested](),
	"review.expired":        derived[ReviewExpired](),
	"review.submitted":      derived[ReviewSubmitted](),
	"publication.decided":   derived[PublicationDecided](),
	"citation.made":         derived[CitationMade](),
	"vote.cast":             derived[VoteCast](),
	"advisory.sent":         derived[AdvisorySent](),
	"agent.parked":          derived[AgentParked](),

	"belief.updated":      derived[BeliefUpdated](),
	"desire.set":          derived[DesireSet](),
	"intention.formed":    derived[IntentionFormed](),
	"plan.made":           derived[PlanMade](),
	"cfp.issued":          derived[CfpIssued](),
	"bid.submitted":       derived[BidSubmitted](),
	"contract.awarded":    derived[ContractAwarded](),
	"task.completed":      derived[TaskCompleted](),
	"task.failed":         derived[TaskFailed](),
	"search.call":         derived[SearchCall]().asks(),
	"search.result":       input[SearchResult]().answers("search.call"),
	"compute.call":        derived[ComputeCall]().asks(),
	"compute.result":      input[ComputeResult]().answers("compute.call"),
	"claim.made":          derived[ClaimMade](),
	"claim.attacked":      derived[ClaimAttacked](),
	"challenge.raised":    derived[ChallengeRaised](),
	"justification.given": derived[JustificationGiven](),
	"claim.retracted":     derived[ClaimRetracted](),
	"replan.triggered":    derived[ReplanTriggered](),
	"arguments.weighed":   derived[ArgumentsWeighed](),

	"home.call":         derived[HomeCall]().asks(),
	"home.renewed":      input[HomeRenewed]().answers("home.call"),
	"prompt.stopped":    derived[PromptStopped](),
	"task.order":        input[TaskOrder]().saidBy(PartyPerson),
	"session.config":    derived[SessionConfig](),
	"plan.proposed":     derived[PlanProposed](),
	"plan.approved":     derived[PlanApproved](),
	"task.snapshot":     derived[TaskSnapshot](),
	"handover.begun":    derived[HandoverBegun](),
	"handover.ended":    derived[HandoverEnded](),
	"inspection.call":   derived[InspectionCall]().asks(),
	"inspection.result": input[InspectionResult]().answers("inspection.call"),
	"artifact.manifest": derived[ArtifactManifest](),
	"acceptance.call":   derived[AcceptanceCall]().asks(),
	"test.report":       input[TestReport]().answers("acceptance.call"),
	"task.error":        derived[TaskError](),
	"task.clarify":      derived[TaskClarify](),
	"task.clarified":    derived[TaskClarified](),
	"task.judged":       derived[TaskJudged](),
	"task.turned":       derived[TaskTurned](),
	"task.ended":        derived[TaskEnded](),
	"task.summary":      derived[TaskSummary](),
	"merge.call":        derived[MergeCall]().asks(),
	"merge.report":      input[MergeReport]().answers("merge.call"),
	"artifacts.dropped": input[ArtifactsDropped]().saidBy(PartyMachine).leadsNowhere(),
	"blob.redacted":     input[BlobRedacted]().saidBy(PartyPerson).leadsNowhere(),

	"mail.delivered": derived[MailDelivered](),
	"mail.withdrawn": derived[MailWithdrawn](),
	"files.call":     derived[FilesCall]().asks(),
	"files.result":   input[FilesResult]().answers("files.call"),
	"study.order":    input[StudyOrder]().saidBy(PartyPerson),
	"sitting.begun":  derived[SittingBegun](),
	"sitting.ended":  derived[SittingEnded](),
	"anchor.moved":   derived[AnchorMoved](),
	"interact.said":  derived[InteractSaid](),
	"card.written":   derived[CardWritten](),
	"card.promoted":  derived[CardPromoted](),
	"card.call":      derived[CardCall]().asks(),
	"card.result":    input[CardResult]().answers("card.call"),

	"literature.call":    derived[LiteratureCall]().asks(),
	"literature.result":  input[LiteratureResult]().answers("literature.call"),
	"conversation.bound": input[ConversationBound]().saidBy(PartyPerson),
	"delivery.call":      derived[DeliveryCall]().asks(),
	"delivery.result":    input[DeliveryResult]().answers("delivery.call"),

	"branch.prepared":   derived[BranchPrepared](),
	"branch.activated":  derived[BranchActivated](),
	"folder.call":       derived[FolderCall]().asks(),
	"folder.result":     input[FolderResult]().answers("folder.call"),
	"checkpoint.call":   derived[CheckpointCall]().asks(),
	"checkpoint.result": input[CheckpointResult]().answers("checkpoint.call"),
	"checkpoint.made":   derived[CheckpointMade](),
	"artifact.recorded": derived[ArtifactRecorded](),
	"result.recorded":   derived[ResultRecorded](),
	"campaign.created":  derived[CampaignCreated](),
	"baseline.accepted": derived[BaselineAccepted](),
	"baseline.waived":   derived[BaselineWaived](),
	"baseline.call":     derived[BaselineCall]().asks(),
	"baseline.result":   input[BaselineResult]().answers("baseline.call"),

	"outline.submitted": derived[OutlineSubmitted](),
	"bundle.call":       derived[BundleCall]().asks(),
	"bundle.result":     input[BundleResult]().answers("bundle.call"),
	"paper.submitted":   derived[PaperSubmitted](),
	"review.begun":      derived[ReviewBegun](),
	"review.given":      derived[ReviewGiven](),
	"report.call":       derived[ReportCall]().asks(),
	"report.result":     input[ReportResult]().answers("report.call"),
	"point.answered":    derived[PointAnswered](),

	"structure.declared": derived[StructureDeclared](),
	"attempt.proposed":   derived[AttemptProposed](),
	"analysis.call":      derived[AnalysisCall]().proposed().asks(),
	"analysis.result":    input[AnalysisResult]().answers("analysis.call"),
	"marks.call":         derived[MarksCall]().asks(),
	"marks.result":       input[MarksResult]().answers("marks.call"),
	"marks.given":        derived[MarksGiven](),
	"tier.judged":        derived[TierJudged](),
	"reward.given":       derived[RewardGiven](),
	"prediction.made":    derived[PredictionMade](),
	"world.call":         derived[WorldCall]().proposed().asks(),
	"world.observed":     input[WorldObserved]().answers("world.call"),
	"surprise.measured":  derived[SurpriseMeasured](),

	"survey.designed": input[SurveyDesigned]().saidBy(PartyPerson).leadsNowhere(),
	"survey.allotted": derived[SurveyAllotted]().leadsNowhere(),
	"survey.observed": input[SurveyObserved]().saidBy(PartyMachine).leadsNowhere(),
	"survey.finished": derived[SurveyFinished]().leadsNowhere(),
}

// Types returns the names of the catalogue, sorted.
func Types() []Type {
	var out []Type
	for t := range catalogue {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// New returns an empty body of type t, or nil if there is no such type.
func New(t Type) Body {
	if e, ok := catalogue[t]; ok {
		return e.make()
	}
	return nil
}

// known reports whether b is the catalogue's own struct for its type.
func known(b Body) bool { return reflect.TypeOf(b) == catalogue[b.Type()].body }

// Input reports whether events of type t come from outside the core.
func (t Type) Input() bool { return catalogue[t].input }

// Call reports whether events of type t ask the world for something.
func (t Type) Call() bool { return catalogue[t].calls }

// Answered is the type of call that results of type t answer, empty if t is none.
func (t Type) Answered() Type { return catalogue[t].answered }

// Proposal reports whether policies are asked before an event of type t happens.
func (t Type) Proposal() bool { return catalogue[t].gated }

// Word is whose word events of type t are, empty for what is derived.
func (t Type) Word() Party {
	e := catalogue[t]
	if e.said == "" && e.input && e.answered != "" {
		return PartyMachine
	}
	return e.said
}

// LeadsNowhere reports whether nothing follows from events of type t.
func (t Type) LeadsNowhere() bool { return catalogue[t].still }

// Refs returns the blobs and trees that a body names, in the order of its
// members.
func Refs(b Body) (blobs []Ref, trees []TreeRef) {
	walk(reflect.ValueOf(b), func(part any) bool {
		switch x := part.(type) {
		case Ref:
			blobs = append(blobs, x)
		case TreeRef:
			trees = append(trees, x)
		default:
			return true
		}
		return false
	})
	return blobs, trees
}

// walk shows each struct in a value, from the outside in, and goes into those of which into says so.
func walk(v reflect.Value, into func(part any) bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), into)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), into)
		}
	case reflect.Struct:
		if into(v.Interface()) {
			for i := range v.NumField() {
				walk(v.Field(i), into)
			}
		}
	}
}
