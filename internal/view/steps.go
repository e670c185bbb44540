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

// The kinds of steps that others know by name; vocabulary has all of them.
const (
	KindTurn         = "turn"
	KindTool         = "tool"
	KindBlocked      = "blocked"
	KindMessage      = "message"
	KindQuestion     = "question"
	KindAnswer       = "answer"
	KindFailure      = "failure"
	KindChange       = "change"
	KindReproduction = "reproduction"
	KindSearch       = "search"
	KindCompute      = "computation"
)

// step folds an event into the steps.
func (r *reader) step(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.ModelCall, *event.PromptCall:
		r.begin(e, Step{Waiting: true})
		return nil
	case *event.PromptResult:
		return r.returned(e, b)
	case *event.ToolProposed:
		r.parts[e.Seq] = []event.Part{{Kind: event.PartToolCall, ID: b.ID, Name: b.Name, Args: &b.Args}}
		return r.other(e)
	case *event.ModelResult:
		r.parts[e.Seq] = b.Parts
		return r.turn(e, b)
	case *event.ToolCall:
		return r.use(e, b.Answer, b.Part, Step{Tool: e.Tool, Waiting: true})
	case *event.PolicyBlocked:
		return r.blocked(e, b)
	case *event.ToolSkipped:
		return r.use(e, b.Answer, b.Part, Step{Tool: e.Tool, Text: r.words(e), Waiting: true})
	case *event.ToolResult:
		r.lasted(KindTool, b.Duration)
		return r.end(e, b.Call, b.Output, b.Error, b.Duration, !b.Computer.IsZero(), b.Attachments...)
	case *event.ToolAnswered:
		return r.end(e, b.Call, b.Output, b.Error, 0, false, b.Attachments...)
	case *event.UserMessage:
		return r.say(e, "to "+orAll(b.To), b.Text, b.Attachments...)
	case *event.MessageSent:
		return r.say(e, strings.TrimSpace(b.Performative+" to "+b.To), b.Text)
	case *event.QuestFinished:
		return r.say(e, "", b.Answer)
	case *event.QuestFailed:
		return r.say(e, "", event.Text{Text: b.Reason})
	case *event.CliRun:
		r.names.give(b.Command, "command", e.Actor)
		return nil
	case *event.FileDiff:
		if b.Cause == event.CauseOutside {
			r.begin(e, Step{Text: "files were changed from outside", Output: b.After.Hash})
		}
		return nil
	}
	if done, err := named(r.run.Rules).read(r, e); done || err != nil {
		return err
	}
	return r.other(e)
}

// begin adds a step that e is the first event of. If it is a call, its result finds
// it again.
func (r *reader) begin(e event.Event, s Step) {
	w := new(Teller).Tell(e)
	s.Seq, s.Last, s.Actor, s.Kind = e.Seq, e.Seq, e.Actor, w.Kind
	if s.lane = r.names.call(w.concerns); s.lane == "" {
		s.lane = e.Actor
	}
	if s.Waiting {
		r.open[e.Seq] = len(r.run.Steps)
	}
	r.run.Steps = append(r.run.Steps, s)
}

// words is what an event says, with the names that all runs have in common. They are put
// in before the line is cut: a reference that was torn would be none.
func (r *reader) words(e event.Event) string {
	t := Teller{Most: 4 * maxLine, Read: r.blobs}
	return line(r.names.plain(t.Tell(e).Text))
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
	all := []string{b.Stop}
	if b.Error != nil {
		all = append(all, b.Error.Kind, b.Error.Text)
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
			all = append(all, r.names.plain(text))
		}
	}
	r.close(e, b.Call, sum(all...), r.words(e), b.Error != nil, b.Duration)
	return nil
}

// returned ends the turn of an executor.
func (r *reader) returned(e event.Event, b *event.PromptResult) error {
	r.lasted(KindTurn, b.Duration)
	text, err := r.text(b.Text)
	if err != nil {
		return err
	}
	r.close(e, b.Call, sum(b.Stop, b.Error.Text, r.names.plain(text)), r.words(e), b.Failed(), b.Duration)
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
	s := Step{Tool: e.Tool, Text: r.words(e), Waiting: b.Proposal == "tool.call"}
	if b.Proposal == "tool.call" {
		return r.use(e, b.Answer, b.Part, s)
	}
	s.Args = sum(why...)
	r.begin(e, s)
	return nil
}

func (r *reader) end(e event.Event, call uint64, output event.Text, failed bool, duration int64, ran bool, files ...event.Attachment) error {
	text, err := r.text(output)
	if err != nil {
		return err
	}
	if ran {
		text = timeless(text)
	}
	text = r.names.plain(text) + compared(files)
	r.close(e, call, sum(fmt.Sprint(failed), text), line(text), failed, duration)
	return nil
}

// compared is what came with a text, down to the bytes: two steps that differ in a picture
// are not the same.
func compared(files []event.Attachment) string {
	out := ""
	for _, f := range files {
		out += "\n" + fileWords(f) + " sha256:" + f.Ref.Hash.String()
	}
	return out
}

func (r *reader) say(e event.Event, to string, t event.Text, files ...event.Attachment) error {
	text, err := r.text(t)
	if err != nil {
		return err
	}
	text = r.names.plain(text) + compared(files)
	s := Step{Text: line(text), Output: sum(text)}
	if to != "" {
		s.Args = sum(to)
	}
	r.begin(e, s)
	return nil
}

// other makes a step of an event that has no result: all that it says and that is not
// about its place is what came out.
func (r *reader) other(e event.Event) error {
	w := new(Teller).Tell(e)
	if w.Kind == "" {
		return nil
	}
	body, err := event.EncodeBody(e.Body)
	if err != nil {
		return err
	}
	s := Step{Output: sum(r.names.plain(lasting(body, true))), Text: r.words(e)}
	if w.about != "" {
		s.Args = sum(r.names.plain(w.about))
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
