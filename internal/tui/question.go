package tui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// reply is an answer that a person is about to give. It covers the lists.
type reply struct {
	question quest.Question
	// chosen is an option, -1 for none. Nothing is chosen at first: two keys pressed in a
	// hurry must not say yes.
	chosen int
	// writing says that what is typed are words: an answer of its own, or what goes with a
	// choice about a proposal.
	writing bool
	text    string
	sent    bool
	top     int // the first line of the question that is seen
}

// replied says what became of an answer.
type replied struct {
	seq  uint64
	text string
	err  error
}

// maxReply is how many bytes of words are taken.
const maxReply = 8 << 10

// asked are the questions that wait for an answer, without those that were answered here.
func (m *Model) asked() []quest.Question {
	return slices.DeleteFunc(m.state.Open(), func(q quest.Question) bool { return m.answered[q.Seq] })
}

// asks reports whether an agent waits for a person.
func (m *Model) asks(agent string) bool {
	return slices.ContainsFunc(m.asked(), func(q quest.Question) bool { return q.Asker == agent && q.Body.Blocking })
}

// maxAsked is how many lines there are for questions beside the lists.
const maxAsked = 2

// askedLines are the questions in short, the oldest first.
func (m *Model) askedLines(n int) (out []string) {
	open := m.asked()
	for i, q := range open {
		if i == n {
			break
		}
		words := line(q.Asker) + " asks: " + line(q.Body.Question.Text)
		if q.Body.Proposal != "" { // the question says who wants what
			words = line(q.Body.Question.Text)
		}
		if rest := len(open) - n; i == n-1 && rest > 0 {
			words = fmt.Sprintf("(and %d more) ", rest) + words
		}
		out = append(out, magenta.Render(fit(" ? "+words, m.width)))
	}
	return out
}

// answer opens a question, the oldest or the one after another.
func (m *Model) answer(after uint64) {
	open := m.asked()
	if len(open) == 0 {
		m.notice = "Nothing is asked."
		return
	}
	i := slices.IndexFunc(open, func(q quest.Question) bool { return q.Seq > after })
	q := open[max(i, 0)]
	m.reply = &reply{question: q, chosen: -1, writing: len(q.Body.Options) == 0}
}

// replyKey does what a key is for while an answer is given.
func (m *Model) replyKey(k string) tea.Cmd {
	r := m.reply
	if r.sent && k != "esc" {
		return nil
	}
	switch k {
	case "esc":
		m.reply = nil
	case "tab", "shift+tab":
		m.answer(r.question.Seq)
	case "enter":
		return m.send()
	case "up", "down":
		r.move(k == "down")
	case "pgup":
		r.top = max(0, r.top-5)
	case "pgdown":
		r.top += 5
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(r.text)
		r.text = r.text[:len(r.text)-size]
	case "ctrl+u":
		r.text = ""
	case "space":
		r.write(" ")
	default:
		if utf8.RuneCountInString(k) == 1 && !r.pick(k) {
			r.write(k)
		}
	}
	return nil
}

// move goes through the options, and to the words after them.
func (r *reply) move(down bool) {
	n := len(r.question.Body.Options)
	at := r.chosen
	if r.writing {
		at = n
	}
	if down {
		at = min(at+1, n)
	} else {
		at = max(at-1, 0)
	}
	if r.writing = at == n; !r.writing {
		r.chosen = at
	} else if r.question.Body.Proposal == "" {
		r.chosen = -1 // words are an answer of their own
	}
}

// pick chooses an option by its number, yes and no also by their first letter. Whoever
// writes already goes on writing.
func (r *reply) pick(k string) bool {
	if r.writing {
		return false
	}
	for i, o := range r.question.Body.Options {
		if k == number(i) || r.question.Body.Proposal != "" && strings.EqualFold(k, o[:1]) {
			r.chosen = i
			return true
		}
	}
	return false
}

// number is how an option is chosen: 1 to 9, and 0 for the tenth.
func number(i int) string { return fmt.Sprint((i + 1) % 10) }

// write adds to the words.
func (r *reply) write(text string) {
	if !r.writing {
		r.writing = true
		if r.question.Body.Proposal == "" {
			r.chosen = -1
		}
	}
	if text = Clean(text); len(r.text)+len(text) <= maxReply {
		r.text += text
	}
}

// send puts the answer into the quest's inbox, if it is one.
func (m *Model) send() tea.Cmd {
	r := m.reply
	b := &event.InteractionAnswered{Interaction: r.question.Seq, Text: strings.TrimSpace(r.text)}
	if r.chosen >= 0 {
		b.Choice = r.question.Body.Options[r.chosen]
	}
	if b.Choice == "" && (b.Text == "" || r.question.Body.Proposal != "") {
		m.notice = "Choose an answer first, by its number or with ↑ and ↓."
		if len(r.question.Body.Options) == 0 {
			m.notice = "Write an answer first."
		}
		return nil
	}
	r.sent = true
	act, seq := m.src.Act, r.question.Seq
	return func() tea.Msg {
		text, err := act(b)
		return replied{seq, text, err}
	}
}

// replied takes in what became of an answer. What was refused is kept to be mended.
func (m *Model) replied(msg replied) {
	mine := m.reply != nil && m.reply.question.Seq == msg.seq
	if msg.err != nil {
		m.notice = line(msg.err.Error())
		if mine {
			m.reply.sent = false
		}
		return
	}
	if m.notice = msg.text; m.notice == "" {
		m.notice = "Answered."
	}
	m.answered[msg.seq] = true
	if mine {
		m.reply = nil
	}
}

// withdrawn closes an answer whose question is not open any more.
func (m *Model) withdrawn() {
	r := m.reply
	if r == nil || slices.ContainsFunc(m.state.Open(), func(q quest.Question) bool { return q.Seq == r.question.Seq }) {
		return
	}
	if m.reply = nil; !r.sent {
		m.notice = fmt.Sprintf("Question %d is not open any more: somebody else has answered it, or its time is up.", r.question.Seq)
	}
}

// replyLines draw the question, its options and the words.
func (m *Model) replyLines() []string {
	r, rows, width := m.reply, m.pageRows(), max(m.width-4, 20)
	b := &r.question.Body
	var below []string
	for i, o := range b.Options {
		mark := "  "
		if i == r.chosen {
			mark = "› "
		}
		text := fit(mark+number(i)+"  "+line(o), width)
		if i == r.chosen {
			text = bold.Render(text)
		}
		below = append(below, text)
	}
	name := "Answer"
	switch {
	case b.Proposal != "":
		name = "A word with it"
	case len(b.Options) > 0:
		name = "In your own words"
	}
	cursor := ""
	if r.writing {
		cursor = "▏"
	}
	words := strings.Split(ansi.Wrap(name+": "+r.text+cursor, width, ""), "\n")
	below = append(append(below, ""), words[max(0, len(words)-3):]...)
	if b.Expires != 0 {
		then := "it goes on without an answer"
		if b.Default != "" {
			then = line(b.Default)
		}
		below = append(below, "", faint.Render(fit("If nobody answers by "+b.Expires.String()+": "+then, width)))
	}
	room := max(rows-len(below)-1, 2)
	asked := strings.Split(ansi.Wrap(Clean(b.Question.Text), width, ""), "\n")
	r.top = max(0, min(r.top, len(asked)-room))
	to := min(len(asked), r.top+room)
	lines := make([]string, 0, rows)
	for _, l := range append(append(slices.Clone(asked[r.top:to]), ""), below...) {
		lines = append(lines, " "+l)
	}
	title := fmt.Sprintf("Question %d of %s", r.question.Seq, line(r.question.Asker))
	return frame(bold.Render(ansi.Truncate(title, max(m.width-8, 1), "…")), place(r.top, to, len(asked)), padded(lines, rows), m.width, true)
}
