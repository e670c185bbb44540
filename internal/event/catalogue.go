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

type entry struct {
	body  reflect.Type
	make  func() Body
	input bool
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

//go:generate go run ./eventdoc

// catalogue is every event there is. Whether a type is an input decides what
// replay feeds in and what it computes again, so it never changes for a type
// that has been released.
var catalogue = map[Type]entry{
	"quest.created":    input[QuestCreated](),
	"quest.started":    input[QuestStarted](),
	"quest.paused":     input[QuestPaused](),
	"quest.resumed":    input[QuestResumed](),
	"quest.stopped":    input[QuestStopped](),
	"quest.finished":   derived[QuestFinished](),
	"quest.failed":     derived[QuestFailed](),
	"quest.forked":     input[QuestForked](),
	"user.message":     input[UserMessage](),
	"message.sent":     derived[MessageSent](),
	"model.call":       derived[ModelCall](),
	"model.result":     input[ModelResult](),
	"tool.call":        derived[ToolCall](),
	"tool.result":      input[ToolResult](),
	"tool.answered":    derived[ToolAnswered](),
	"computer.started": input[ComputerStarted](),
	"cli.run":          input[CliRun](),
	"cli.stdout":       input[CliStdout](),
	"cli.stderr":       input[CliStderr](),
	"cli.exit":         input[CliExit](),
	"file.diff":        input[FileDiff](),
	"net.connection":   input[NetConnection](),
	"policy.blocked":   derived[PolicyBlocked](),
	"policy.failed":    derived[PolicyFailed](),
	"timer.set":        derived[TimerSet](),
	"timer.fired":      input[TimerFired](),
	"budget.exceeded":  derived[BudgetExceeded](),

	"tool.prepared":         input[ToolPrepared](),
	"publication.submitted": derived[PublicationSubmitted](),
	"reproduction.call":     derived[ReproductionCall](),
	"reproduction.result":   input[ReproductionResult](),
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
	"search.call":         derived[SearchCall](),
	"search.result":       input[SearchResult](),
	"compute.call":        derived[ComputeCall](),
	"compute.result":      input[ComputeResult](),
	"claim.made":          derived[ClaimMade](),
	"claim.attacked":      derived[ClaimAttacked](),
	"challenge.raised":    derived[ChallengeRaised](),
	"justification.given": derived[JustificationGiven](),
	"claim.retracted":     derived[ClaimRetracted](),
	"replan.triggered":    derived[ReplanTriggered](),
	"arguments.weighed":   derived[ArgumentsWeighed](),
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

// Refs returns the blobs and trees that a body names, in the order of its
// members.
func Refs(b Body) (blobs []Ref, trees []TreeRef) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			switch x := v.Interface().(type) {
			case Ref:
				blobs = append(blobs, x)
			case TreeRef:
				trees = append(trees, x)
			default:
				for i := range v.NumField() {
					walk(v.Field(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(b))
	return blobs, trees
}
