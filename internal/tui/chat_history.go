package tui

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// history is what was said in a conversation, folded from the ledger, and what was told beside
// it.
type history struct {
	all  []*utterance
	talk view.Talk
	// inboxes are the numbers of the messages that are in it, gone those that were taken back.
	inboxes map[int64]bool
	gone    map[uint64]bool
	read    func(event.Ref) ([]byte, error)
}

// utterance is one thing that was said or happened.
type utterance struct {
	seq   uint64
	who   speaker
	name  string
	label string
	time  event.Time
	text  string
	// lines are the text as it was last set.
	lines []string
	width int
}

// speaker is whose an utterance is.
type speaker int

const (
	aPerson speaker = iota
	anAgent
	theDesk // what is answered from views
	news
	detail
)

func newHistory(read func(event.Ref) ([]byte, error)) *history {
	return &history{inboxes: map[int64]bool{}, gone: map[uint64]bool{}, read: read}
}

// maxSaid is how much of a text is shown.
const maxSaid = 64 << 10

func (h *history) text(t event.Text) string {
	if t.Ref != nil && t.Ref.Size > 16*maxSaid {
		return t.Text + fmt.Sprintf("\n\n(%d bytes)", t.Ref.Size)
	}
	text, err := agent.Read(t, h.read)
	if err != nil {
		return "(cannot be read: " + err.Error() + ")"
	}
	return event.Cut(text, maxSaid)
}

func (h *history) add(u *utterance) { h.all = append(h.all, u) }

func (h *history) note(text string) { h.add(&utterance{who: news, text: text}) }

// reply is what was said to a command.
func (h *history) reply(command, text string) {
	h.add(&utterance{who: theDesk, name: command, text: text})
}

// lately reports whether an agent has just said that.
func (h *history) lately(text string) bool {
	for _, u := range slices.Backward(h.all) {
		switch u.who {
		case anAgent:
			return strings.TrimSpace(u.text) == strings.TrimSpace(text)
		case aPerson:
			return false
		}
	}
	return false
}

// take adds an event; s is the state after it.
func (h *history) take(e event.Event, s *quest.State) {
	h.talk.Take(e)
	u := &utterance{seq: e.Seq, time: e.Time, name: e.Actor, who: anAgent}
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		u.who, u.name, u.text = aPerson, "you", h.text(b.Problem)
		h.add(u)
	case *event.UserMessage:
		h.inboxes[b.Inbox] = true
		u.who, u.name, u.text = aPerson, sender(b.Sender, b.Source), h.text(b.Text)+attached(b.Attachments)
		if b.Document != nil {
			u.text = "(" + b.Document.Name + ")\n" + u.text
		}
		h.add(u)
	case *event.InteractionAnswered:
		u.who, u.name, u.text = aPerson, "you", "→ "+b.Said()
		h.add(u)
	case *event.StudyOrder:
		if b.Action == event.SteerWithdraw {
			h.gone[b.Message] = true
		}
		h.told(e, s, u)
	case *event.ModelResult:
		h.answered(e, b, u)
	case *event.InteractionOpened:
		if u.label, u.text = "asks", h.text(b.Question); !h.lately(u.text) {
			h.add(u)
		}
	case *event.QuestFinished:
		u.name, u.label, u.text = s.Answerer, "answer", h.text(b.Answer)
		if h.lately(u.text) {
			u.who, u.label, u.text = news, "", "finished"
		}
		h.add(u)
	default:
		said, ok := view.SpeechOf(e)
		if !ok {
			h.told(e, s, u)
			break
		}
		u.label, u.text = said.Kind, h.text(said.Text)
		for _, f := range said.Files {
			u.text += "\n\n(file: " + line(f) + ")"
		}
		h.add(u)
	}
}

// answered is what a model said; what it called for, and that it failed, is told as any event.
func (h *history) answered(e event.Event, b *event.ModelResult, u *utterance) {
	var said []string
	calls := b.Error != nil
	for _, p := range b.Parts {
		if p.Kind == event.PartText && p.Text != nil {
			said = append(said, h.text(*p.Text))
		}
		calls = calls || p.Kind == event.PartToolCall
	}
	if u.text = strings.TrimSpace(strings.Join(said, "\n\n")); u.text != "" {
		h.add(u)
	}
	if calls {
		for _, p := range b.Parts {
			if p.Kind == event.PartToolCall {
				h.add(&utterance{who: detail, seq: e.Seq, time: e.Time, text: e.Actor + " calls " + plain.Brief(p.Name+" "+argsOf(&p), 200)})
			}
		}
		if b.Error != nil {
			h.add(&utterance{who: news, seq: e.Seq, time: e.Time, text: e.Actor + " got no answer: " + b.Error.Text})
		}
	}
}

func argsOf(p *event.Part) string {
	if p.Args == nil {
		return ""
	}
	return p.Args.Text
}

// told is what else happens.
func (h *history) told(e event.Event, s *quest.State, u *utterance) {
	t := view.Teller{Most: 200, Read: h.read, Title: view.Titles(s)}
	switch w := t.Tell(e); w.Weight {
	case view.News:
		u.who, u.text = news, w.Sentence()
	case view.Detail:
		u.who, u.text = detail, w.Sentence()
	default:
		return
	}
	h.add(u)
}

func sender(name, source string) string {
	switch {
	case name == "" && source == "":
		return "you"
	case source == "":
		return name
	}
	return strings.TrimSpace(name + " by " + source)
}

func attached(files []event.Attachment) (out string) {
	for _, f := range files {
		out += fmt.Sprintf("\n+ %s (%s, %d bytes)", line(f.Name), line(f.Media), f.Ref.Size)
	}
	return out
}

// mark is how far a message came.
func (h *history) mark(u *utterance) string {
	switch {
	case u.who != aPerson:
		return ""
	case h.gone[u.seq]:
		return "✗ taken back"
	case h.talk.Queued(u.seq):
		return fmt.Sprintf("… queued (%d)", u.seq)
	}
	return "✓"
}

// set makes the lines of an utterance for a width.
func (u *utterance) set(width int, look Look) []string {
	if u.width == width {
		return u.lines
	}
	u.width = width
	text := ""
	switch u.who {
	case anAgent:
		text = Markdown(u.text, width-2, look)
	case theDesk, aPerson:
		text = asWritten(Clean(u.text), width-2)
	default:
		text = asWritten(line(u.text), width-2)
	}
	u.lines = strings.Split(text, "\n")
	return u.lines
}
