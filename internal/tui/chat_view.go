package tui

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/chat"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// View draws the screen.
func (m *talkModel) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

// The smallest terminal for a conversation.
const (
	minTalkWidth  = 30
	minTalkHeight = 8
)

func (m *talkModel) screen() string {
	if m.width < minTalkWidth || m.height < minTalkHeight {
		return fit(fmt.Sprintf("Too small: %d×%d.", m.width, m.height), max(m.width, 1))
	}
	head := m.head()
	foot := slices.Concat(m.doingLines(), m.askedLines(), m.inputLines(), m.footLines())
	room := max(m.height-len(head)-len(foot), 1)
	return strings.Join(slices.Concat(head, m.said(room), foot), "\n")
}

// works reports whether something moves.
func (m *talkModel) works() bool {
	if m.state.Status != quest.Running || !m.claimed || m.state.Waiting() || m.state.Stalled() {
		return false
	}
	return slices.ContainsFunc(m.state.Agents, func(a *agent.Agent) bool {
		p := a.Phase()
		return p == agent.Thinking || p == agent.Acting
	})
}

func (m *talkModel) head() []string {
	mark, style := "●", green
	standing := chat.Standing(m.state)
	switch s := m.state; {
	case s.Waiting():
		mark, style = "?", magenta
	case s.Status == quest.Running && !m.claimed:
		mark, style, standing = "○", red, "nobody runs it"
	case s.Status == quest.Finished:
		mark = "✓"
	case s.Status != quest.Running:
		mark, style = "‖", yellow
	}
	left := " " + bold.Render(line(m.state.Name)) + "  " + style.Render(mark+" "+standing)
	spent := view.Several(m.state.Spent.Turns, "turn") + " · " + view.Price(m.state.Spent.Cost, m.state.Spent.Unpriced)
	out := []string{spread(left, faint.Render(spent)+" ", m.width)}
	if m.told.talk.Anchor != "" {
		out = append(out, m.track())
	}
	return append(out, faint.Render(strings.Repeat("─", m.width)))
}

// track is the stages, those that are over and the present one marked.
func (m *talkModel) track() string {
	var parts []string
	at := slices.Index(view.Anchors, m.told.talk.Anchor)
	for i, name := range view.Anchors {
		switch {
		case i == at:
			parts = append(parts, cyan.Render("["+name+"]"))
		default:
			parts = append(parts, faint.Render(name))
		}
	}
	all := " " + strings.Join(parts, faint.Render(" › "))
	if ansi.StringWidth(all) > m.width { // a narrow screen has room for the present one
		all = fmt.Sprintf(" stage %d of %d: %s", at+1, len(view.Anchors), cyan.Render(line(m.told.talk.Anchor)))
	}
	return ansi.Truncate(all, m.width, "…")
}

// said is what fits of the conversation, its end at the bottom.
func (m *talkModel) said(rows int) []string {
	width := m.width - 1
	var out []string // from below
	need := rows + m.top
	push := func(lines []string) {
		for _, l := range slices.Backward(lines) {
			out = append(out, " "+l)
		}
	}
	for _, s := range slices.Backward(m.sending) {
		push(append([]string{faint.Render("you  … sending")}, asWrittenLines(s.text, width)...))
		out = append(out, "")
	}
	if m.live != "" {
		body := strings.Split(Markdown(m.live, width-2, m.look), "\n")
		push(append([]string{bold.Render(line(m.speaker)) + faint.Render("  …")}, indented(body)...))
		out = append(out, "")
	}
	for _, u := range slices.Backward(m.told.all) {
		if len(out) >= need {
			break
		}
		if u.who == detail && !m.details {
			continue
		}
		push(m.utterance(u, width))
		if u.who != news && u.who != detail {
			out = append(out, "")
		}
	}
	m.top = min(m.top, max(len(out)-rows, 0))
	out = out[min(m.top, len(out)):min(m.top+rows, len(out))]
	slices.Reverse(out)
	return padded(out, rows)
}

func asWrittenLines(text string, width int) []string {
	return indented(strings.Split(asWritten(Clean(text), width-2), "\n"))
}

func indented(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, "  "+l)
	}
	return out
}

// utterance are the lines of one, with who said it and how far it came above.
func (m *talkModel) utterance(u *utterance, width int) []string {
	body := u.set(width, m.look)
	clock := u.time.Time().Local().Format("15:04")
	switch u.who {
	case news, detail:
		out := []string{}
		for i, l := range body {
			mark := "· "
			if i > 0 {
				mark = "  "
			}
			out = append(out, faint.Render(mark+l))
		}
		return out
	case theDesk:
		return append([]string{yellow.Render(line(u.name))}, indented(body)...)
	case aPerson:
		mark := m.told.mark(u)
		style := faint
		if strings.HasPrefix(mark, "…") {
			style = yellow
		}
		out := []string{cyan.Render(line(u.name)) + faint.Render("  "+clock+"  ") + style.Render(mark)}
		bar := cyan.Render("│ ")
		for _, l := range body {
			out = append(out, bar+l)
		}
		return out
	}
	head := bold.Render(line(u.name)) + faint.Render("  "+clock)
	if u.label != "" {
		head += "  " + labelStyle(u.label).Render(line(strings.ReplaceAll(u.label, "_", " ")))
	}
	return append([]string{head}, indented(body)...)
}

func labelStyle(label string) lipgloss.Style {
	switch label {
	case "asks", "decision_request":
		return magenta
	case "milestone", "answer":
		return green
	}
	return faint
}

var spins = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// doingLines say what goes on now.
func (m *talkModel) doingLines() []string {
	if !m.works() {
		return nil
	}
	var doing []string
	for _, a := range m.state.Agents {
		switch a.Phase() {
		case agent.Thinking:
			doing = append(doing, line(a.Name)+" thinks")
		case agent.Acting:
			for _, u := range a.Open {
				if !u.Done {
					doing = append(doing, line(a.Name)+" runs "+line(u.Name))
				}
			}
		}
	}
	text := strings.Join(doing, ", ")
	if t := m.told.talk; t.Sits {
		text += fmt.Sprintf(" · sitting %d", t.Sitting)
	}
	return []string{fit(" "+green.Render(spins[m.frame%len(spins)])+" "+faint.Render(text), m.width)}
}

// askedLines are the options of the question that is open.
func (m *talkModel) askedLines() (out []string) {
	q := m.question()
	if q == nil {
		return nil
	}
	out = append(out, magenta.Render(fit(fmt.Sprintf(" ? Question %d of %s: %s", q.Seq, line(q.Asker), line(q.Body.Question.Text)), m.width)))
	n := len(q.Body.Options)
	from, to := around(max(m.chosen, 0), n, min(n, max(m.height/3, 2)))
	for i := from; i < to; i++ {
		text := "   " + number(i) + "  " + line(q.Body.Options[i])
		if i == m.chosen {
			out = append(out, bold.Render(fit(" › "+text[3:], m.width)))
			continue
		}
		out = append(out, fit(text, m.width))
	}
	return out
}

func (m *talkModel) inputLines() []string {
	out := []string{faint.Render(strings.Repeat("─", m.width))}
	for _, f := range m.files {
		out = append(out, yellow.Render(fit(" + "+line(f), m.width)))
	}
	prompt := cyan.Render(" › ")
	if m.question() != nil {
		prompt = magenta.Render(" answer › ")
	}
	return append(out, m.line.lines(prompt, m.width, min(max(m.height/3, 1), 8))...)
}

// maxNotice is how many lines a notice has at most.
const maxNotice = 5

// footLines are a notice, as far as there is room for it, or the keys that there are.
func (m *talkModel) footLines() []string {
	if m.leaving || m.notice == "" {
		return []string{m.footLine()}
	}
	var out []string
	for _, l := range strings.Split(asWritten(m.notice, m.width-2), "\n") {
		out = append(out, yellow.Render(fit(" "+l, m.width)))
	}
	return out[:min(len(out), maxNotice, max(m.height/4, 1))]
}

func (m *talkModel) footLine() string {
	switch {
	case m.leaving && m.src.Here != nil && m.src.Here():
		return yellow.Render(fit(" Leave? What is under way here breaks off; lyceum chat or run goes on from there. y/n", m.width))
	case m.leaving:
		return yellow.Render(fit(" Leave? The quest stays as it is. y/n", m.width))
	case m.top > 0:
		return keys(m.width, "pgup pgdn", "scroll", "esc", "to the end")
	case m.question() != nil && len(m.question().Body.Options) > 0:
		return keys(m.width, "1-9 ↑↓", "choose", "enter", "answer", "esc", "not now", "ctrl-c", "leave")
	}
	return keys(m.width, "enter", "send", "alt-enter", "new line", "/help", "commands", "@path", "file", "pgup", "scroll", "ctrl-c", "leave")
}
