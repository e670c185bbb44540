package runtimetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// studyBooks hold what is said to a researcher, and when it works, against what was promised,
// by the events alone: each message is heard once, in the order of arrival, in one sitting at a
// time, and nothing happens while it waits.
type studyBooks struct {
	autonomous bool
	// queue are the messages that nobody heard yet, the oldest first; heard are all that were.
	queue []uint64
	heard map[uint64]bool
	// sits says that a sitting is under way, number counts them; mail are the messages that it
	// has heard while nothing has come of it, came says that something has.
	sits   bool
	number int64
	mail   []uint64
	came   bool
	// asked is the model's call under way, summing says that it is for a summary, and cut is
	// the last one that was to be cut short.
	asked, cut uint64
	summing    bool
	// questions are those of the researcher that are open.
	questions map[uint64]bool
	// empty and failures are sittings in a row; exited says that a command has ended since the
	// last one.
	empty, failures int
	exited          bool
	// waits says that the quest waited for words when the last batch was done.
	waits bool
	// files are the messages with files whose copies are not there, by what is done about that:
	// the call that makes them, 0 if there is none yet.
	files   map[uint64]uint64
	paper   paperBooks
	outside outsideBooks
	// brief is the sum of the brief, as the events have it.
	brief event.Hash
}

func newStudyBooks() studyBooks {
	return studyBooks{heard: map[uint64]bool{}, questions: map[uint64]bool{}, files: map[uint64]uint64{}, outside: newOutsideBooks()}
}

// retries are how many seconds a model that failed is left alone.
var retries = []int64{10, 60, 360, 1800}

// count holds an event against what was promised.
func (b *studyBooks) count(w *World, e event.Event) error {
	if b.waits && !disturbs(w, e) {
		return errors.New("the quest waits for words, and something happens by itself")
	}
	b.waits = false
	if err := b.outside.count(w, e); err != nil {
		return err
	}
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		b.queue, b.autonomous = []uint64{1}, strings.Contains(x.Settings, `"`+study.Autonomous+`"`)
		b.paper.paperless = strings.Contains(x.Settings, `"paper":"none"`)
		b.brief = quest.HashOfText(x.Problem)
	case *event.UserMessage:
		if len(x.Attachments) > 0 {
			b.files[e.Seq] = 0
		}
		b.hears(e.Seq)
		b.revised(w, x)
	case *event.InteractionOpened:
		if x.Call == 0 && x.Proposal == "" && x.Form == 0 && x.Server == "" {
			b.questions[e.Seq] = true
		}
	case *event.InteractionAnswered:
		if b.questions[x.Interaction] {
			delete(b.questions, x.Interaction)
			b.hears(e.Seq)
		}
	case *event.InteractionWithdrawn:
		delete(b.questions, x.Interaction)
	case *event.MailWithdrawn:
		i := slices.Index(b.queue, x.Message)
		if i < 0 {
			return fmt.Errorf("message %d is withdrawn, and does not wait", x.Message)
		}
		b.queue = slices.Delete(b.queue, i, i+1)
		w.Saw("withdrawn")
	case *event.QuestForked:
		clear(b.questions) // they are the origin's; the fork asks anew
		b.asked = 0
		for m := range b.files {
			b.files[m] = 0
		}
	case *event.FilesCall:
		if call, wanted := b.files[x.Message]; !wanted || call != 0 {
			return fmt.Errorf("the files of message %d are copied again, or it has none", x.Message)
		}
		b.files[x.Message] = e.Seq
	case *event.FilesResult:
		maps.DeleteFunc(b.files, func(_, call uint64) bool { return call == x.Call })
	case *event.QuestResumed:
		b.empty, b.failures = 0, 0
	case *event.CliExit:
		b.exited = b.exited || !b.sits && x.Call != 0 // what a runner runs itself is no command of ours
	case *event.ReviewGiven:
		b.exited = b.exited || !b.sits
		return b.paper.count(w, e)
	case *event.TimerSet:
		return b.timer(w, e, x)
	case *event.AgentParked:
		w.Saw("parked")
	default:
		return b.sitting(w, e)
	}
	return nil
}

// disturbs reports whether an event may be the first after a wait: somebody did something.
func disturbs(w *World, e event.Event) bool {
	if b, ok := e.Body.(*event.TimerFired); ok {
		return strings.HasPrefix(w.Event(b.Call).Body.(*event.TimerSet).Purpose, "outage/") // which somebody told of
	}
	return e.Type.Input()
}

func (b *studyBooks) hears(seq uint64) {
	b.queue = append(b.queue, seq)
	b.empty, b.failures = 0, 0
}

// revised takes in a new text of the brief: of two for the same, the first counts.
func (b *studyBooks) revised(w *World, x *event.UserMessage) {
	switch {
	case x.Document == nil:
	case x.Document.Base != b.brief:
		w.Saw("briefs too late")
	default:
		b.brief = quest.HashOfText(x.Text)
		w.Saw("briefs")
	}
}

// sitting takes in what is about sittings.
func (b *studyBooks) sitting(w *World, e event.Event) error {
	if err := b.paper.count(w, e); err != nil || e.Actor == stages.Reviewer {
		return err
	}
	switch x := e.Body.(type) {
	case *event.SittingBegun:
		return b.begun(w, x)
	case *event.SittingEnded:
		return b.ended(w, x)
	case *event.MailDelivered:
		w.Saw("mail with " + x.With)
		if !b.sits || len(x.Messages) == 0 {
			return errors.New("mail is delivered, and nobody sits, or there is none")
		}
		if x.With == event.WithNow {
			b.cut = b.asked
		}
		return b.takes(w, x.Messages)
	case *event.ModelCall:
		if !b.sits {
			return errors.New("a model is asked between two sittings")
		}
		b.asked, b.summing = e.Seq, x.Compact != nil
	case *event.PromptCall:
		if !b.sits || b.asked != 0 {
			return errors.New("a runner is prompted between two sittings, or twice")
		}
		b.asked = e.Seq
	case *event.PromptResult:
		b.asked = 0
	case *event.ToolProposed, *event.ToolReported, *event.PlanReported, *event.SaidReported:
		b.came, b.mail = true, nil
	case *event.ModelResult:
		b.asked = 0
		if x.Error == nil && !b.summing && slices.ContainsFunc(x.Parts, says) {
			b.came, b.mail = true, nil
		}
	}
	return nil
}

// says reports whether a part of an answer is a word or a call.
func says(p event.Part) bool {
	return p.Kind == event.PartToolCall || p.Kind == event.PartText && p.Text != nil && (p.Text.Ref != nil && p.Text.Ref.Size > 0 || strings.TrimSpace(p.Text.Text) != "")
}

// takes has messages be heard: the oldest ones, in their order, each once.
func (b *studyBooks) takes(w *World, messages []uint64) error {
	if len(messages) > len(b.queue) || !slices.Equal(messages, b.queue[:len(messages)]) {
		return fmt.Errorf("delivered are %v, and %v wait", messages, b.queue)
	}
	b.queue = slices.Clone(b.queue[len(messages):])
	for _, m := range messages {
		if b.heard[m] {
			return fmt.Errorf("message %d is heard twice", m)
		}
		if _, lack := b.files[m]; lack {
			return fmt.Errorf("message %d is heard, and the copies of its files are not there", m)
		}
		b.heard[m] = true
		w.Saw("messages heard")
	}
	if !b.came {
		b.mail = append(b.mail, messages...)
	}
	return nil
}

func (b *studyBooks) begun(w *World, x *event.SittingBegun) error {
	switch {
	case b.sits:
		return fmt.Errorf("sitting %d begins during another", x.Number)
	case x.Number != b.number+1:
		return fmt.Errorf("sitting %d begins after %d", x.Number, b.number)
	case len(x.Mail) != len(b.queue):
		return fmt.Errorf("sitting %d begins with %d messages of %d", x.Number, len(x.Mail), len(b.queue))
	case len(x.Mail) == 0 && !x.Recovers && !b.exited && (!b.autonomous || b.empty >= 3):
		return fmt.Errorf("sitting %d begins by itself after %d that left nothing", x.Number, b.empty)
	case len(x.Mail) == 0 && !x.Recovers && len(b.questions) > 0 && !b.exited:
		return fmt.Errorf("sitting %d begins, and a question waits for its answer", x.Number)
	}
	size := int64(0)
	for _, k := range x.Blocks {
		if k.Name != "system" {
			size += k.Size
		}
	}
	if size > quest.MaxPrompt {
		return fmt.Errorf("sitting %d begins with %d bytes", x.Number, size)
	}
	b.sits, b.number, b.came, b.mail, b.exited = true, x.Number, false, nil, false
	w.Saw("sittings")
	if !x.Fresh {
		w.Saw("sittings in the same window")
	}
	return b.takes(w, x.Mail)
}

// ended takes in the end of a sitting. What one has heard that came to nothing was not heard.
func (b *studyBooks) ended(w *World, x *event.SittingEnded) error {
	if !b.sits || x.Number != b.number || b.asked != 0 {
		return fmt.Errorf("sitting %d ends, and is not under way, or a model is asked", x.Number)
	}
	b.sits = false
	w.Saw("sittings " + x.Outcome)
	if x.Durable {
		b.empty, b.failures = 0, 0
	}
	failed := x.Outcome == event.SittingFailed || x.Outcome == event.SittingInterrupted
	switch {
	case failed && !b.came:
		for _, m := range b.mail {
			delete(b.heard, m)
			w.Saw("messages led again")
		}
		b.queue = append(slices.Clone(b.mail), b.queue...)
		fallthrough
	case failed:
		b.failures++
	case x.Outcome == event.SittingRested && !x.Durable:
		b.empty++
		b.failures = 0
	}
	return nil
}

// timer holds the wait for a model that failed against the table.
func (b *studyBooks) timer(w *World, e event.Event, x *event.TimerSet) error {
	if x.Purpose != "sitting/retry" {
		return nil
	}
	w.Saw("retries")
	if b.failures < 1 || b.failures > len(retries) || int64(x.At-e.Time) != retries[b.failures-1]*1_000_000 {
		return fmt.Errorf("after %d failures it is waited for %d s", b.failures, (x.At-e.Time)/1_000_000)
	}
	return nil
}

// watch holds the state against the books.
func (b *studyBooks) watch(w *World, s *quest.State) error {
	switch {
	case !slices.Equal(s.Waits(), b.queue):
		return fmt.Errorf("the state has %v wait, and %v do", s.Waits(), b.queue)
	case s.BriefRevision() != b.brief:
		return errors.New("the brief of the state is not the last text that was based on the one before it")
	case (s.Sitting != nil) != b.sits:
		return fmt.Errorf("the state has a sitting: %v; the ledger: %v", s.Sitting != nil, b.sits)
	case s.Status == quest.Running && len(b.questions) > 1:
		return fmt.Errorf("%d questions are open", len(b.questions))
	case s.Status == quest.Running && len(b.outside.due) > 0:
		return fmt.Errorf("%d things were said, and nobody elsewhere is told: %v", len(b.outside.due), b.outside.due)
	case stages.Of(s).Study.Waits() != nil && len(b.questions) == 0 && s.Status == quest.Running && !b.sits && len(b.queue) == 0:
		return errors.New("it waits for the answer to a question that nobody is asked")
	}
	if b.waits = s.Waiting(); b.waits {
		w.Saw("waits")
		if !b.sits && len(b.queue) > 0 {
			return errors.New("it waits for words, and has some")
		}
	}
	return nil
}
