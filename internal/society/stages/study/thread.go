package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// What a researcher says, and how it wants to be answered.
const (
	Progress  = "progress"
	Milestone = "milestone"
	Request   = "decision_request"
	Approval  = "approval_result"
	Answer    = "answer"

	ReplyNone     = "none"
	ReplyThreaded = "threaded"
	ReplyBlocking = "blocking"
)

// Complete is the tool whose words are the quest's answer.
const Complete = "complete"

// Kinds and Replies are all of them.
var (
	Kinds   = []string{Progress, Milestone, Request, Approval, Answer}
	Replies = []string{ReplyNone, ReplyThreaded, ReplyBlocking}
)

// Reply is how something of a kind is answered if nobody says: requests block, news are
// threaded, the rest wants no reply.
func Reply(kind string) string {
	switch kind {
	case Request:
		return ReplyBlocking
	case Progress, Milestone:
		return ReplyThreaded
	}
	return ReplyNone
}

// Thread is something said that replies belong to.
type Thread struct {
	// Seq is the interact.said that opened it, Interaction the question that it is, 0 if it
	// is none.
	Seq         uint64
	Interaction uint64 `json:",omitzero"`
	Kind        string
	// Text is the beginning of what was said.
	Text string
	// Blocking says that it is a question; Closed, that nobody waits for its answer any more.
	Blocking bool `json:",omitzero"`
	Closed   bool `json:",omitzero"`
}

// Question is what people are asked, as it was said, for as long as its answer is waited for.
type Question struct {
	agent.Place
	Text    string
	Options []string `json:",omitempty"`
}

// Routed is a message that was not delivered yet, with the thread it belongs to, 0 for none.
type Routed struct {
	Seq, Thread uint64
	// Answers says that it answers the question that is waited for; Closes, that it was given
	// to the question itself, which nobody is asked any more.
	Answers bool `json:",omitzero"`
	Closes  bool `json:",omitzero"`
}

// Exchange is something said by people or to them.
type Exchange struct {
	Seq    uint64
	Time   event.Time
	Who    string
	Kind   string `json:",omitzero"`
	Thread uint64 `json:",omitzero"`
	Text   string
}

// maxWords is how many exchanges a prompt shows, and maxExchange how many bytes of each.
const (
	maxWords    = 12
	maxExchange = 600
)

// thread is the one with that number: of what was said, or of the question that it is.
func (s *Study) thread(seq uint64) *Thread {
	for i := len(s.Threads) - 1; i >= 0; i-- {
		if t := &s.Threads[i]; seq != 0 && (t.Seq == seq || t.Interaction == seq) {
			return t
		}
	}
	return nil
}

// Waits is the question that the study waits for, nil if there is none.
func (s *Study) Waits() *Thread { return s.thread(s.Question) }

// Route is the thread that a reply goes to: the one it names, else the open question, else the
// last thread; 0 if there is none.
func (s *Study) Route(reply uint64) uint64 {
	switch t := s.thread(reply); {
	case t != nil:
		return t.Seq
	case s.Question != 0:
		return s.Question
	case len(s.Threads) > 0:
		return s.Threads[len(s.Threads)-1].Seq
	}
	return 0
}

// MayReply says why nothing can be replied to that number.
func (s *Study) MayReply(reply uint64) error {
	switch t := s.thread(reply); {
	case reply == 0:
	case t == nil:
		return fmt.Errorf("there is nothing to reply to at %d: leave the number out, or name something that was said", reply)
	case t.Blocking && t.Closed:
		return fmt.Errorf("the question %d is closed: say it without the number", reply)
	}
	return nil
}

// Repeats reports whether something was said already, without a word of anybody between.
func (s *Study) Repeats(kind string, text string) bool {
	return kind == Progress && s.Progress == event.HashOf([]byte(text))
}

// heard takes in a message.
func (s *Study) heard(e event.Event, reply uint64, sender string, text event.Text) {
	thread := s.Route(reply)
	s.letter(Routed{Seq: e.Seq, Thread: thread, Answers: thread != 0 && thread == s.Question}, e, sender, opening(text))
}

// revised takes in a new text of a document. It answers nothing.
func (s *Study) revised(e event.Event, b *event.UserMessage) {
	s.letter(Routed{Seq: e.Seq}, e, b.Sender, event.Shorten("("+b.Document.Name+") "+opening(b.Text), maxExchange))
}

// letter adds what a person said.
func (s *Study) letter(r Routed, e event.Event, sender, words string) {
	s.Letters = append(s.Letters, r)
	if sender == "" {
		sender = "person"
	}
	s.exchange(Exchange{Seq: e.Seq, Time: e.Time, Who: sender, Thread: r.Thread, Text: words})
	s.Progress = event.Hash{}
	s.Empty, s.Failures = 0, 0
}

// answered takes in the answer to a question that the study put. Those of others are not its
// business.
func (s *Study) answered(e event.Event, b *event.InteractionAnswered) {
	if t := s.thread(b.Interaction); t != nil && t.Interaction == b.Interaction {
		s.heard(e, b.Interaction, "", event.Text{Text: b.Said()})
		s.Letters[len(s.Letters)-1].Closes = true
	}
}

// opened notes which question the people are asked for a thread: both came of one tool call.
func (s *Study) opened(e event.Event, b *event.InteractionOpened) {
	if q := s.Unasked(); q != nil && q.Place == (agent.Place{Answer: b.Answer, Part: b.Part}) && b.Proposal == "" {
		s.Waits().Interaction = e.Seq
	}
}

// Unasked is the question that people are yet to be asked, nil if there is none.
func (s *Study) Unasked() *Question {
	if t := s.Waits(); t != nil && t.Interaction == 0 {
		return s.Asked
	}
	return nil
}

// closed takes in that nobody wants the answer to a question any more.
func (s *Study) closed(interaction uint64) {
	t := s.thread(interaction)
	if t == nil || t.Interaction != interaction {
		return
	}
	t.Closed = true
	if s.Question == t.Seq {
		s.Question = 0
	}
}

// delivered takes letters out. One that answers the question closes it.
func (s *Study) delivered(messages []uint64) {
	for _, seq := range messages {
		if r := s.dropLetter(seq); r.Answers && r.Thread == s.Question {
			s.thread(s.Question).Closed = true
			s.Question = 0
		}
	}
}

// dropLetter takes one out. The quest holds the order of letters, and knows those that are
// none of the study's.
func (s *Study) dropLetter(seq uint64) (r Routed) {
	s.Letters = slices.DeleteFunc(s.Letters, func(l Routed) bool {
		if l.Seq == seq {
			r = l
		}
		return l.Seq == seq
	})
	return r
}

// unsaid forgets a message that was withdrawn: no prompt shows it. If it was the answer to the
// question, people are asked again.
func (s *Study) unsaid(seq uint64) {
	if r := s.dropLetter(seq); r.Closes && r.Answers && r.Thread == s.Question {
		s.Waits().Interaction = 0
	}
	s.Words = slices.DeleteFunc(s.Words, func(x Exchange) bool { return x.Seq == seq })
}

// said takes in what the researcher says.
func (s *Study) said(e event.Event, b *event.InteractSaid) {
	if !slices.Contains(Kinds, b.Kind) || !slices.Contains(Replies, b.Reply) {
		panic(fmt.Sprintf("interact.said has the kind %.40q and the reply %.40q", b.Kind, b.Reply))
	}
	if b.Thread != 0 && s.thread(b.Thread) == nil {
		panic(fmt.Sprintf("interact.said belongs to a thread %d that is none", b.Thread))
	}
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	if e.Tool == Complete {
		s.Concluded, s.Conclusion = e.Seq, b.Text.Text
	}
	text := opening(b.Text)
	if b.Reply != ReplyNone {
		t := Thread{Seq: e.Seq, Kind: b.Kind, Text: text, Blocking: b.Reply == ReplyBlocking}
		s.Threads = append(s.Threads, t)
		if t.Blocking {
			s.Question, s.Asked = e.Seq, &Question{agent.Place{Answer: b.Answer, Part: b.Part}, b.Text.Text, b.Options}
		}
		s.trimThreads()
	}
	s.exchange(Exchange{Seq: e.Seq, Time: e.Time, Who: e.Actor, Kind: b.Kind, Thread: b.Thread, Text: text})
	s.Progress = event.Hash{}
	if b.Kind == Progress {
		s.Progress = event.HashOf([]byte(b.Text.Text))
	}
}

// trimThreads forgets the oldest threads that nobody waits for.
func (s *Study) trimThreads() {
	for i := 0; len(s.Threads) > maxThreads && i < len(s.Threads); {
		if t := &s.Threads[i]; t.Seq == s.Question || t.Blocking && !t.Closed {
			i++
			continue
		}
		s.Threads = slices.Delete(s.Threads, i, i+1)
	}
}

func (s *Study) exchange(x Exchange) {
	s.Words = append(s.Words, x)
	if n := len(s.Words) - maxWords; n > 0 {
		s.Words = slices.Delete(s.Words, 0, n)
	}
}

// opening is the beginning of a text on one line. The rules do not see one that is in a blob.
func opening(t event.Text) string {
	if t.Text == "" && t.Ref != nil {
		return fmt.Sprintf("(%d bytes)", t.Ref.Size)
	}
	return event.Shorten(strings.Join(strings.Fields(t.Text), " "), maxExchange)
}
