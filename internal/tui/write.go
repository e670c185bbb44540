package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// writing is a line that a person writes below all else: a message, a filter, the name of a fork.
type writing struct {
	prompt string
	line   editor
	// each is told the text after each key, done when it is finished. Either may be nil.
	each func(text string)
	done func(text string) tea.Cmd
}

// writeKey does what a key is for while a line is written.
func (m *Model) writeKey(k string) tea.Cmd {
	w := m.write
	switch k {
	case "esc":
		m.write = nil
		if w.each != nil {
			w.each("")
		}
		return nil
	case "enter":
		m.write = nil
		if w.done == nil {
			return nil
		}
		return w.done(strings.TrimSpace(w.line.text))
	case "up", "down":
		return nil
	}
	w.line.key(k)
	if w.each != nil {
		w.each(w.line.text)
	}
	return nil
}

// paste puts a text into what is written: it is one line.
func (w *writing) paste(text string) {
	w.line.insert(strings.Join(strings.Fields(text), " "))
	if w.each != nil {
		w.each(w.line.text)
	}
}

// message writes to an agent, or to all if it is empty.
func (m *Model) message(to string) {
	whom := "all agents"
	if to != "" {
		whom = line(to)
	}
	m.write = &writing{prompt: " to " + whom + " › ", done: func(text string) tea.Cmd {
		if text == "" {
			m.notice = "Nothing was said."
			return nil
		}
		act := m.src.Act
		return func() tea.Msg {
			said, err := act(&event.UserMessage{To: to, Text: event.Text{Text: text}})
			return saidOr(said, err, "Told "+whom+".")
		}
	}}
}

func saidOr(text string, err error, otherwise string) said {
	return said{cmp.Or(text, otherwise), err}
}

// fork makes a quest that goes another way from here on.
func (m *Model) fork() {
	fork, at := m.src.Fork, m.state.Seq
	if fork == nil {
		m.notice = "Forks are made elsewhere: lyceum fork " + m.state.Name
		return
	}
	m.write = &writing{prompt: fmt.Sprintf(" fork after event %d, its name (enter: one is made) › ", at), done: func(text string) tea.Cmd {
		return func() tea.Msg {
			s, err := fork(text, at)
			return said{s, err}
		}
	}}
}

// browse opens the quest on the page.
func (m *Model) browse() tea.Cmd {
	browse := m.src.Browse
	if browse == nil {
		m.notice = "The page is served by: lyceum serve --open"
		return nil
	}
	return func() tea.Msg {
		text, err := browse()
		return said{text, err}
	}
}

// filtering leaves agents and events out that do not say a text.
func (m *Model) filtering() {
	w := &writing{prompt: " show what says › ", each: func(text string) { m.filter, m.agent = strings.ToLower(text), 0 }}
	w.line.insert(m.filter)
	m.write = w
}

// matches reports whether a text says what is looked for.
func (m *Model) matches(texts ...string) bool {
	return m.filter == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), m.filter) })
}

// orders are those that agents can be listed in. The first is that of the quest.
var orders = []struct {
	name string
	less func(a, b *agent.Agent) int
}{
	{"number", func(*agent.Agent, *agent.Agent) int { return 0 }},
	{"cost", func(a, b *agent.Agent) int { return cmp.Compare(b.Cost, a.Cost) }},
	{"turns", func(a, b *agent.Agent) int { return cmp.Compare(b.Turns, a.Turns) }},
	{"what they do", func(a, b *agent.Agent) int { return cmp.Compare(busyness(a), busyness(b)) }},
}

// busyness puts those first that need a look, then those that do something.
func busyness(a *agent.Agent) int {
	switch p := a.Phase(); {
	case a.Failed != nil:
		return 0
	case a.Parked != "":
		return 1
	case p == agent.Acting:
		return 2
	case p == agent.Thinking:
		return 3
	}
	return 4
}

// agents are those that are listed, in the order that a person wants.
func (m *Model) agents() []*agent.Agent {
	if m.filter == "" && m.order == 0 {
		return m.state.Agents
	}
	var out []*agent.Agent
	for _, a := range m.state.Agents {
		if m.matches(a.Name, a.Model, m.doing(a)) {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, orders[m.order].less)
	return out
}

func (m *Model) sort() {
	m.order = (m.order + 1) % len(orders)
	m.agent = 0
	m.notice = "Agents by " + orders[m.order].name + "."
}

// happening is something that happened, in a line. matters says that it is of interest.
type happening struct {
	text    string
	matters bool
}

// happenings are the lines of what happened that say what is looked for.
func (m *Model) happenings() []happening {
	if m.filter == "" {
		return m.told
	}
	return slices.DeleteFunc(slices.Clone(m.told), func(t happening) bool { return !m.matches(t.text) })
}

// jump goes to the next event of interest, or to the one before, among all that were told.
func (m *Model) jump(by int) {
	all := m.happenings()
	at := m.at
	if m.open == nil || !m.open.events {
		at = len(all) // from below: what was last comes first
		by = -1
	}
	for at += by; at >= 0 && at < len(all) && !all[at].matters; at += by {
	}
	if at < 0 || at >= len(all) {
		m.notice = "There is no further event of interest."
		if m.open == nil || !m.open.events {
			m.notice = "Nothing of interest has happened lately."
		}
		return
	}
	m.at = at
	m.show(&pager{title: "Events", events: true, text: func(width int) string {
		var b strings.Builder
		for i, t := range all {
			mark, text := " ", ansi.Truncate(t.text, max(width-1, 1), "…")
			if i == at {
				mark, text = cyan.Render("▌"), bold.Render(text)
			}
			b.WriteString(mark + text + "\n")
		}
		return b.String()
	}})
	m.open.top = 0
	m.scroll(at - m.pageRows()/2)
}
