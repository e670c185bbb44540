package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// key does what a key is for.
func (m *talkModel) key(k string) tea.Cmd {
	m.notice = ""
	if m.leaving {
		return m.leave(k)
	}
	switch k {
	case "ctrl+c":
		m.leaving = true
	case "ctrl+d":
		if m.line.text == "" {
			m.leaving = true
		} else {
			m.line.key("delete")
		}
	case "enter":
		return m.enter()
	case "esc":
		m.escape()
	case "tab":
		m.complete()
	case "pgup", "ctrl+up", "shift+up":
		m.top += max(m.height/2, 1)
	case "pgdown", "ctrl+down", "shift+down":
		m.top = max(0, m.top-max(m.height/2, 1))
	case "ctrl+o":
		m.details = !m.details
	case "ctrl+l":
		return tea.ClearScreen
	default:
		if !m.choose(k) {
			m.line.key(k)
		}
	}
	return nil
}

// leave asks once before the conversation ends; the quest is left as it is.
func (m *talkModel) leave(k string) tea.Cmd {
	switch k {
	case "y", "Y", "enter", "ctrl+c", "ctrl+d":
		return tea.Quit
	}
	m.leaving = false
	return nil
}

// escape lets go of one thing after the other: the choice, the files, the question.
func (m *talkModel) escape() {
	q := m.question()
	switch {
	case m.top > 0:
		m.top = 0
	case m.chosen >= 0:
		m.chosen = -1
	case len(m.files) > 0:
		m.files = nil
		m.notice = "No file goes with it."
	case q != nil:
		m.aside[q.Seq] = true
		m.notice = "Put aside: what you write is a message. esc takes the question up again."
	case len(m.aside) > 0:
		clear(m.aside)
	}
}

// choose goes through the options of a question while nothing is written, and picks one by its
// number, or yes and no by their letters.
func (m *talkModel) choose(k string) bool {
	q := m.question()
	if q == nil || m.line.text != "" || len(q.Body.Options) == 0 {
		return false
	}
	n := len(q.Body.Options)
	switch k {
	case "up":
		m.chosen = max(m.chosen-1, 0)
		return true
	case "down":
		m.chosen = min(m.chosen+1, n-1)
		return true
	}
	for i, o := range q.Body.Options {
		if k == number(i) && i < 10 || q.Body.Proposal != "" && strings.EqualFold(k, o[:1]) {
			m.chosen = i
			return true
		}
	}
	return false
}

// enter sends what is written: an answer, a command, or a message.
func (m *talkModel) enter() tea.Cmd {
	q := m.question()
	if m.line.escaped() {
		m.line.newline()
		return nil
	}
	text := strings.TrimSpace(m.line.text)
	switch {
	case strings.HasPrefix(text, "/") && len(m.files) == 0:
		return m.command(text)
	case q != nil && len(m.files) == 0 && len(chat.Files(text)) == 0:
		return m.reply(q, text)
	case text == "" && len(m.files) == 0:
		return nil
	}
	return m.say(text)
}

func (m *talkModel) say(text string) tea.Cmd {
	files := append(slices.Clone(m.files), chat.Files(text)...)
	m.line.take()
	kept := m.files
	m.files, m.top = nil, 0
	m.sends++
	s := &sent{number: m.sends, text: text}
	m.sending = append(m.sending, s)
	say := m.src.Say
	return func() tea.Msg {
		inbox, note, err := say(text, files)
		return posted{number: s.number, inbox: inbox, note: note, err: err, text: text, files: kept}
	}
}

// reply answers a question, by a choice or in words.
func (m *talkModel) reply(q *quest.Question, text string) tea.Cmd {
	b := &event.InteractionAnswered{Interaction: q.Seq, Text: text}
	if m.chosen >= 0 {
		b.Choice = q.Body.Options[m.chosen]
	}
	if n := len(q.Body.Options); n > 0 && m.chosen < 0 && isNumber(text) && !slices.ContainsFunc(q.Body.Options, isNumber) {
		m.notice = fmt.Sprintf("There is no answer %s: there are 1 to %d. Words are an answer, too.", text, n)
		return nil
	}
	if err := q.Check(b); err != nil || b.Choice+b.Text == "" {
		m.notice = "Choose an answer by its number or with ↑ and ↓; esc puts the question aside."
		if len(q.Body.Options) == 0 {
			m.notice = "Write an answer; esc puts the question aside."
		}
		return nil
	}
	m.line.take()
	m.answered[q.Seq], m.chosen, m.top = true, -1, 0
	answer := m.src.Answer
	return func() tea.Msg {
		said, err := answer(b)
		return given{text: said, question: b.Interaction, err: err}
	}
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// command does what begins with a slash: what is for this screen here, the rest in the quest.
func (m *talkModel) command(text string) tea.Cmd {
	name, args, _ := strings.Cut(text, " ")
	switch name {
	case "/quit", "/exit":
		return tea.Quit
	case "/attach":
		m.attach(strings.TrimSpace(args))
		return nil
	}
	c, words, err := chat.Parse(text)
	if err != nil {
		m.notice = line(err.Error())
		return nil
	}
	if c == nil {
		if q := m.question(); q != nil {
			return m.reply(q, words)
		}
		return m.say(words)
	}
	m.line.take()
	do := m.src.Command
	return func() tea.Msg {
		said, err := do(c)
		if c.Name == "help" {
			said += "\n" + hereHelp
		}
		return given{title: text, text: said, err: err}
	}
}

const hereHelp = `/attach <path>                 a file goes with the next message; so does @path in it
/quit                          leave; the quest stays as it is
alt-enter, or \ at the end     another line        ↑ ↓        what you wrote before
ctrl-a ctrl-e ctrl-w ctrl-u    edit the line       pgup pgdn  scroll
tab                            complete            ctrl-o     show or hide what agents do
esc                            put a question aside, or take it up again`

// attach has a file go with the next message.
func (m *talkModel) attach(path string) {
	if path == "" {
		m.notice = "/attach wants a path: /attach data.csv"
		return
	}
	m.line.take()
	m.files = append(m.files, strings.Trim(path, `"`))
	m.notice = "It goes with your next message; esc takes it away."
}

// complete completes a command or a path.
func (m *talkModel) complete() {
	begin := m.line.wordBefore()
	if m.line.pos > 0 && strings.HasSuffix(m.line.text[:m.line.pos], " ") {
		begin = m.line.pos
	}
	word := m.line.text[begin:m.line.pos]
	var found []string
	lead := ""
	switch {
	case begin == 0 && strings.HasPrefix(word, "/"):
		lead = "/"
		for _, c := range chat.Commands {
			found = append(found, c.Name)
		}
		found = append(found, "attach", "quit")
	case strings.HasPrefix(word, "@"), strings.HasPrefix(m.line.text, "/attach "):
		lead = word[:len(word)-len(strings.TrimPrefix(word, "@"))]
		if m.src.Paths != nil {
			found = m.src.Paths(word[len(lead):])
		}
	default:
		return
	}
	rest := word[len(lead):]
	found = slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, rest) })
	if len(found) == 0 {
		return
	}
	common := found[0]
	for _, f := range found {
		for !strings.HasPrefix(f, common) {
			common = common[:len(common)-1]
		}
	}
	if len(found) == 1 && !strings.HasSuffix(common, string(filepath.Separator)) {
		common += " "
	} else if len(found) > 1 && common == rest {
		m.notice = line(strings.Join(found[:min(len(found), 12)], "  "))
	}
	m.line.insert(strings.ToValidUTF8(common[len(rest):], ""))
}
