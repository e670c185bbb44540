package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// Step is what a reader would call one step: a model's turn, a call of a tool with
// its result, a publication, a review, a vote, a bid, a claim.
type Step struct {
	// Seq is the event it began with, Last the one it ended with.
	Seq   uint64 `json:"seq"`
	Last  uint64 `json:"last"`
	Actor string `json:"actor"`
	Kind  string `json:"kind"`
	// Tool is what was used: a tool, a method of search, what a program was run by.
	Tool string `json:"tool,omitempty"`
	// Text is what it says, in a line.
	Text string `json:"text"`
	// Args and Output are the hashes of what went in and what came out, without what
	// is another in every run. Zero means that there was nothing.
	Args   event.Hash `json:"arguments,omitzero"`
	Output event.Hash `json:"output,omitzero"`
	// Duration in microseconds, where it is known.
	Duration int64 `json:"duration,omitempty"`
	// Failed says that it came to nothing; Waiting, that nothing came yet.
	Failed  bool `json:"failed,omitempty"`
	Waiting bool `json:"waiting,omitempty"`

	// lane is whom or what the step concerns: its order counts among those of the same
	// lane, and in relation to others it is chance.
	lane string
}

// The kinds of steps that are not named after their event.
const (
	KindTurn         = "turn"
	KindTool         = "tool"
	KindBlocked      = "blocked"
	KindMessage      = "message"
	KindAnswer       = "answer"
	KindFailure      = "failure"
	KindChange       = "change"
	KindReproduction = "reproduction"
	KindSearch       = "search"
	KindCompute      = "computation"
)

// silent are events that are no steps: they say how the quest was driven, follow from
// other steps, or are parts of them.
var silent = map[event.Type]bool{
	"quest.created": true, "quest.started": true, "quest.paused": true, "quest.resumed": true, "quest.stopped": true, "quest.forked": true,
	"computer.started": true, "cli.stdout": true, "cli.stderr": true, "cli.exit": true, "tool.prepared": true,
	"timer.set": true, "timer.fired": true, "advisory.sent": true,
}

// kinds are what readers call events that are steps of their own.
var kinds = map[event.Type]string{
	"publication.submitted": "publication", "publication.decided": "decision", "review.requested": "review request",
	"review.expired": "review expired", "review.submitted": "review", "citation.made": "citation", "vote.cast": "vote",
	"agent.parked": "parked", "policy.failed": "policy failed", "budget.exceeded": "limit", "net.connection": "connection",
	"belief.updated": "belief", "desire.set": "desire", "intention.formed": "intention", "plan.made": "plan", "cfp.issued": "call for bids",
	"bid.submitted": "bid", "contract.awarded": "award", "task.completed": "task done", "task.failed": "task failed",
	"claim.made": "claim", "claim.attacked": "attack", "claim.retracted": "retraction", "challenge.raised": "challenge",
	"justification.given": "justification", "replan.triggered": "replan", "arguments.weighed": "weighing",
}

// step folds an event into the steps.
func (r *reader) step(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		r.begin(e, Step{Kind: KindTurn, Waiting: true})
		return nil
	case *event.ModelResult:
		r.parts[e.Seq] = b.Parts
		return r.turn(e, b)
	case *event.ToolCall:
		return r.use(e, b.Answer, b.Part, Step{Kind: KindTool, Tool: e.Tool, Waiting: true})
	case *event.PolicyBlocked:
		return r.blocked(e, b)
	case *event.ToolResult:
		r.lasted(KindTool, b.Duration)
		return r.end(e, b.Call, b.Output, b.Error, b.Duration, !b.Computer.IsZero())
	case *event.ToolAnswered:
		return r.end(e, b.Call, b.Output, b.Error, 0, false)
	case *event.UserMessage:
		return r.say(e, KindMessage, "to "+orAll(b.To), b.Text)
	case *event.MessageSent:
		return r.say(e, KindMessage, strings.TrimSpace(b.Performative+" to "+b.To), b.Text)
	case *event.QuestFinished:
		return r.say(e, KindAnswer, "", b.Answer)
	case *event.QuestFailed:
		return r.say(e, KindFailure, "", event.Text{Text: b.Reason})
	case *event.CliRun:
		r.names.give(b.Command, "command", e.Actor)
		return nil
	case *event.FileDiff:
		if b.Cause == event.CauseOutside {
			r.begin(e, Step{Kind: KindChange, Text: "files were changed from outside", Output: b.After.Hash})
		}
		return nil
	}
	return r.found(e)
}

// found folds what the world was asked for besides tools, and the rest.
func (r *reader) found(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.ReproductionCall:
		r.begin(e, Step{Kind: KindReproduction, Text: "runs " + line(b.Entrypoint), Args: sum(b.Entrypoint, b.Tree.Hash.String()), Waiting: true})
	case *event.ReproductionResult:
		r.lasted(KindReproduction, b.Duration)
		r.close(e, b.Call, sum(b.Status, fmt.Sprint(b.Exit), refHash(b.Output), refHash(b.Second)), b.Status, b.Status != event.Reproduced, b.Duration)
	case *event.SearchCall:
		r.begin(e, Step{Kind: KindSearch, Tool: b.Method, Text: line(b.Query), Args: sum(b.Query, fmt.Sprint(b.Limit)), Waiting: true})
	case *event.SearchResult:
		r.lasted(KindSearch, b.Duration)
		all := []string{b.Error}
		for _, a := range b.Anchors {
			all = append(all, a.Doc, fmt.Sprint(a.Paragraph), a.Hash.String(), fmt.Sprint(a.Score))
		}
		r.close(e, b.Call, sum(all...), fmt.Sprintf("%d anchors", len(b.Anchors)), b.Error != "", b.Duration)
	case *event.ComputeCall:
		r.begin(e, Step{Kind: KindCompute, Tool: b.Engine, Text: line(b.Program), Args: sum(b.Program, b.Entrypoint, refHash(b.Code), treeHash(b.Tree)), Waiting: true})
	case *event.ComputeResult:
		r.lasted(KindCompute, b.Duration)
		text, err := r.text(b.Output)
		if err != nil {
			return err
		}
		r.close(e, b.Call, sum(fmt.Sprint(b.Exit), b.Error, refHash(b.Printed), r.names.plain(text)), line(text), b.Error != "" || b.Exit != 0, b.Duration)
	default:
		return r.other(e)
	}
	return nil
}

// begin adds a step that e is the first event of. If it is a call, its result finds
// it again.
func (r *reader) begin(e event.Event, s Step) {
	s.Seq, s.Last, s.Actor = e.Seq, e.Seq, e.Actor
	if s.lane = r.concerns(e.Body); s.lane == "" {
		s.lane = e.Actor
	}
	if s.Waiting {
		r.open[e.Seq] = len(r.run.Steps)
	}
	r.run.Steps = append(r.run.Steps, s)
}

// concerns is the agent or paper that something is about which the rules do for all
// of them.
func (r *reader) concerns(b event.Body) string {
	switch b := b.(type) {
	case *event.MessageSent:
		return b.To
	case *event.ReviewRequested:
		return b.Reviewer
	case *event.ReviewExpired:
		return b.Reviewer
	case *event.ReproductionCall:
		return r.names.call(b.Ref)
	case *event.PublicationDecided:
		return r.names.call(b.Ref)
	case *event.CitationMade:
		return r.names.call(b.Ref)
	}
	return ""
}

// close ends the step of a call. One whose call is not open is passed over: a fork
// may have left it behind.
func (r *reader) close(e event.Event, call uint64, output event.Hash, text string, failed bool, duration int64) {
	i, ok := r.open[call]
	if !ok {
		return
	}
	delete(r.open, call)
	s := &r.run.Steps[i]
	s.Last, s.Output, s.Failed, s.Duration, s.Waiting = e.Seq, output, failed, duration, false
	if text != "" {
		s.Text = strings.TrimPrefix(s.Text+" → "+text, " → ")
	}
}

func (r *reader) turn(e event.Event, b *event.ModelResult) error {
	r.lasted(KindTurn, b.Duration)
	all, words := []string{b.Stop}, []string{}
	if b.Error != nil {
		all, words = append(all, b.Error.Kind, b.Error.Text), append(words, b.Error.Kind+": "+line(b.Error.Text))
	}
	for _, p := range b.Parts {
		all = append(all, p.Kind, p.Name)
		for i, t := range []*event.Text{p.Text, p.Args} {
			if t == nil {
				continue
			}
			text, err := r.text(*t)
			if err != nil {
				return err
			}
			if i == 1 {
				text = lasting([]byte(text), false)
			}
			text = r.names.plain(text)
			if i == 0 && p.Kind == event.PartText {
				words = append(words, line(text))
			}
			all = append(all, text)
		}
		if p.Kind == event.PartToolCall {
			words = append(words, "calls "+line(p.Name))
		}
	}
	r.close(e, b.Call, sum(all...), line(strings.Join(words, "; ")), b.Error != nil, b.Duration)
	return nil
}

// use begins a step about a tool call, whose arguments stand in a model's answer.
func (r *reader) use(e event.Event, answer uint64, part int64, s Step) error {
	parts := r.parts[answer]
	if part >= 0 && part < int64(len(parts)) && parts[part].Args != nil {
		args, err := r.text(*parts[part].Args)
		if err != nil {
			return err
		}
		args = r.names.plain(lasting([]byte(args), false))
		s.Args, s.Text = sum(args), strings.TrimPrefix(s.Text+": "+line(args), ": ")
	}
	r.begin(e, s)
	return nil
}

func (r *reader) blocked(e event.Event, b *event.PolicyBlocked) error {
	why := []string{string(b.Proposal)}
	for _, by := range b.By {
		why = append(why, by.Policy+": "+by.Reason)
	}
	s := Step{Kind: KindBlocked, Tool: e.Tool, Text: line(strings.Join(why, "; ")), Waiting: b.Proposal == "tool.call"}
	if b.Proposal == "tool.call" {
		return r.use(e, b.Answer, b.Part, s)
	}
	s.Args = sum(why...)
	r.begin(e, s)
	return nil
}

func (r *reader) end(e event.Event, call uint64, output event.Text, failed bool, duration int64, ran bool) error {
	text, err := r.text(output)
	if err != nil {
		return err
	}
	if ran {
		text = timeless(text)
	}
	text = r.names.plain(text)
	r.close(e, call, sum(fmt.Sprint(failed), text), line(text), failed, duration)
	return nil
}

func (r *reader) say(e event.Event, kind, to string, t event.Text) error {
	text, err := r.text(t)
	if err != nil {
		return err
	}
	text = r.names.plain(text)
	s := Step{Kind: kind, Text: line(text), Output: sum(text)}
	if to != "" {
		s.Args = sum(to)
	}
	r.begin(e, s)
	return nil
}

// other makes a step of an event that has no result: all that it says and that is not
// about its place is what came out.
func (r *reader) other(e event.Event) error {
	if silent[e.Type] {
		return nil
	}
	s := Step{Kind: kinds[e.Type]}
	if s.Kind == "" {
		s.Kind = strings.ReplaceAll(string(e.Type), ".", " ")
	}
	if b, ok := e.Body.(*event.PublicationSubmitted); ok {
		text, err := r.text(b.Content)
		if err != nil {
			return err
		}
		text = r.names.plain(text)
		r.papers[b.Ref] = &cited{name: r.names.give(b.Ref, "paper", e.Actor), content: sum(b.Title, text)}
		s.Args, s.Output, s.Text = sum(b.Title), sum(text, treeHash(b.Tree), r.names.plain(b.Revises)), line(b.Title)
		r.begin(e, s)
		return nil
	}
	body, err := event.EncodeBody(e.Body)
	if err != nil {
		return err
	}
	said := r.names.plain(lasting(body, true))
	s.Output, s.Text = sum(said), line(gist(e.Body, said, r.names))
	if about := subject(e.Body); about != "" {
		s.Args = sum(r.names.plain(about))
	}
	r.begin(e, s)
	return nil
}

// sum is the hash of several texts, each kept apart from the next.
func sum(texts ...string) event.Hash {
	var b []byte
	for _, t := range texts {
		b = fmt.Appendf(b, "%d:", len(t))
		b = append(b, t...)
	}
	return event.HashOf(b)
}

func refHash(r *event.Ref) string {
	if r == nil {
		return ""
	}
	return r.Hash.String()
}

func treeHash(r *event.TreeRef) string {
	if r == nil {
		return ""
	}
	return r.Hash.String()
}

func orAll(to string) string {
	if to == "" {
		return "all"
	}
	return to
}
