package tui

import (
	"fmt"
	"strings"
	"time"

	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// layout is how the screen is divided. From above: a header, the lists, what happened
// last, the budget, the keys.
type layout struct {
	left, right int // widths of the lists
	lists       int // height of the lists, frames included
	rows        int // rows of a list
	told        int // lines of what happened, 0 where the right list is that
	bars        int // lines of the budget
	asked       int // lines of what a person is asked
	verdict     int // 1 where the answer stands in a line
	rates       int // 1 where it is told how fast the quest spends
}

// inARow is how wide a terminal must be for the four bars of the budget.
const inARow = 132

func (m *Model) layout() layout {
	l := layout{bars: 2, told: min(max((m.height-16)/3, 2), 10)}
	if m.width >= inARow {
		l.bars = 1
	}
	listed := 0
	if m.panel != nil {
		listed = m.panel.length()
	} else {
		l.told = 0
	}
	l.asked = min(len(m.asked()), maxAsked)
	if m.verdictLine() != "" {
		l.verdict = 1
	}
	if m.rateLine() != "" {
		l.rates = 1
	}
	rest := 2 + l.bars + l.asked + l.verdict + l.rates // header and keys
	if l.told > 0 {
		rest += l.told + 1
	}
	l.lists = m.height - rest
	// Short lists leave room for what happened. They take it back at once when they
	// grow, rather than line by line.
	need := max(len(m.state.Agents), listed) + 3
	if half := max((l.lists+l.told)/2, 7); l.told > 0 && need <= half && half < l.lists {
		l.told += l.lists - half
		l.lists = half
	}
	l.rows = max(l.lists-3, 1) // the frame, and the names of the columns
	l.left = min(max(m.width*2/5, 26), 64)
	l.right = m.width - l.left
	return l
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

func (m *Model) screen() string {
	if m.width < MinWidth || m.height < MinHeight {
		return m.tooSmall()
	}
	if m.open != nil {
		return strings.Join(append(m.pagerLines(), m.footer()), "\n")
	}
	if m.reply != nil {
		return strings.Join(append(m.replyLines(), m.footer()), "\n")
	}
	l := m.layout()
	lines := append([]string{m.header()}, m.askedLines(l.asked)...)
	if l.verdict > 0 {
		lines = append(lines, m.verdictLine())
	}
	left := m.agentList(l)
	right := m.toldList(l)
	if m.panel != nil {
		right = m.panel.list(m, l)
	}
	for i := range left {
		lines = append(lines, left[i]+right[i])
	}
	if l.told > 0 {
		lines = append(lines, faint.Render("── Events "+strings.Repeat("─", m.width-10)))
		lines = append(lines, m.lastTold(l.told, m.width)...)
	}
	if l.rates > 0 {
		lines = append(lines, m.rateLine())
	}
	lines = append(lines, m.budget(l.bars)...)
	lines = append(lines, m.footer())
	return strings.Join(lines, "\n")
}

func (m *Model) tooSmall() string {
	text := fmt.Sprintf("The view needs %d×%d characters; here are %d×%d. q leaves.", MinWidth, MinHeight, m.width, m.height)
	lines := strings.Split(ansi.Wrap(text, max(m.width, 1), ""), "\n")
	return strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n")
}

// status is how the quest stands, as a person wants to know it.
func (m *Model) status() (string, lipgloss.Style) {
	s := m.state
	switch {
	case s.Status == quest.Running && m.leaving > 0:
		return "● pausing", yellow
	case s.Waiting():
		return "? waiting", magenta
	case s.Status == quest.Running && !m.claimed:
		return "○ interrupted", red
	case s.Stalled():
		return "◌ waiting for " + line(s.Absent()), yellow
	case s.Status == quest.Running:
		return "● running", green
	case s.Status == quest.Finished:
		return "✓ finished", green
	case s.Rested != "":
		return "‖ paused: " + line(s.Rested), yellow
	case s.Status == quest.Paused:
		return "‖ paused", yellow
	case s.Status == quest.Failed:
		return "✗ failed", red
	case s.Status == quest.Exceeded:
		return "■ out of " + line(s.Reason), yellow
	}
	return "○ " + line(string(s.Status)), yellow
}

func (m *Model) header() string {
	s := m.state
	status, style := m.status()
	left := " " + bold.Render(line(s.Name)) + "  " + style.Render(status)
	facts := []string{line(s.Society()), view.Several(int64(len(s.Agents)), "agent")}
	if m.panel != nil {
		facts = append(facts, m.panel.counts()...)
	}
	facts = append(facts, span(m.elapsed()))
	// What does not fit is left out from the middle: the time is always there.
	for len(facts) > 1 && ansi.StringWidth(left)+2+ansi.StringWidth(strings.Join(facts, " · "))+1 > m.width {
		facts = append(facts[:len(facts)-2], facts[len(facts)-1])
	}
	return spread(left, faint.Render(strings.Join(facts, " · "))+" ", m.width)
}

// elapsed is how long the quest has run. Nobody counts while nobody runs it.
func (m *Model) elapsed() int64 {
	if !m.claimed {
		return m.state.Elapsed(m.state.Time)
	}
	return m.state.Elapsed(max(m.now, m.state.Time))
}

func (m *Model) footer() string {
	switch {
	case m.asking:
		return yellow.Render(fit(" Stop the quest? lyceum run goes on with it later. y/n", m.width))
	case m.write != nil:
		return fit(m.write.line.lines(m.write.prompt, m.width, 1)[0], m.width)
	case m.notice != "":
		return yellow.Render(fit(" "+line(m.notice), m.width))
	case m.reply != nil && m.reply.sent:
		return yellow.Render(fit(" Sending…", m.width))
	case m.reply != nil:
		pairs := []string{"enter", "send", "esc", "back"}
		if len(m.reply.question.Body.Options) > 0 {
			pairs = append(pairs, "1-9 ↑↓", "choose")
		}
		if len(m.asked()) > 1 {
			pairs = append(pairs, "tab", "next question")
		}
		return keys(m.width, pairs...)
	case m.leaving > 0:
		return yellow.Render(fit(" Stopping: what is under way comes in first. Ctrl-C leaves at once.", m.width))
	case m.open != nil && m.open.last && m.over:
		return keys(m.width, "↑↓", "scroll", "space", "page", "esc", "the quest", "q", "leave")
	case m.open != nil && m.open.agent != "":
		return keys(m.width, "esc", "back", "m", "message", "↑↓", "scroll", "G", "the end, as it comes")
	case m.open != nil && m.open.events:
		return keys(m.width, "esc", "back", "n", "next of interest", "N", "the one before", "↑↓", "scroll")
	case m.open != nil:
		return keys(m.width, "↑↓", "scroll", "space", "page", "esc", "back")
	}
	if m.concluded() {
		return keys(m.width, "q", "quit", "a", "answer", "?", "help", "enter", "read", "tab", "list", "↑↓", "move", "m", "message", "n", "events", "F", "fork", "o", "browser")
	}
	pause := "pause"
	if m.state.Status == quest.Paused {
		pause = "resume"
	}
	pairs := []string{"q", "quit", "?", "help", "p", pause, "s", "stop", "enter", "read", "tab", "list", "↑↓", "move", "m", "message", "n", "events", "/", "filter", "S", "sort", "F", "fork", "o", "browser"}
	if len(m.asked()) > 0 {
		pairs = append([]string{"a", "answer"}, pairs...)
	}
	return keys(m.width, pairs...)
}

// keys names keys and what they do, as many as fit.
func keys(width int, pairs ...string) string {
	out := ""
	for i := 0; i+1 < len(pairs); i += 2 {
		next := out + " " + bold.Render(pairs[i]) + " " + faint.Render(pairs[i+1]) + " "
		if ansi.StringWidth(next) > width {
			break
		}
		out = next
	}
	return fit(out, width)
}

// frame puts lines into a box of that width, with a title above and a note below.
func frame(title, below string, lines []string, width int, chosen bool) []string {
	style := faint
	if chosen {
		style = cyan
	}
	title = ansi.Truncate(title, width-6, "…")
	top := style.Render("╭─ ") + title + style.Render(" "+strings.Repeat("─", max(0, width-5-ansi.StringWidth(title)))+"╮")
	if below != "" {
		below = " " + below + " "
	}
	out := []string{top}
	for _, l := range lines {
		out = append(out, style.Render("│")+fit(l, width-2)+style.Render("│"))
	}
	return append(out, style.Render("╰"+strings.Repeat("─", max(0, width-3-ansi.StringWidth(below)))+below+"─╯"))
}

// around is the part of a list that is shown: rows of n, with the chosen one in it.
func around(chosen, n, rows int) (from, to int) {
	from = max(0, min(chosen-rows/2, n-rows))
	return from, min(n, from+rows)
}

// place says which part of a list that is.
func place(from, to, n int) string {
	if to-from >= n {
		return ""
	}
	return fmt.Sprintf("%d–%d of %d", from+1, to, n)
}

// padded makes a list exactly so many lines.
func padded(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

func (m *Model) lastTold(n, width int) []string {
	all := m.happenings()
	out := make([]string, 0, n)
	for _, t := range all[max(0, len(all)-n):] {
		out = append(out, fit(" "+t.text, width))
	}
	return padded(out, n)
}

// toldList is what stands at the right where a society shows nothing.
func (m *Model) toldList(l layout) []string {
	return frame("Events", "", m.lastTold(l.lists-2, l.right-2), l.right, false)
}

func (m *Model) pageRows() int { return max(m.height-3, 1) }

func (m *Model) pagerLines() []string {
	p, rows := m.open, m.pageRows()
	to := min(len(p.lines), p.top+rows)
	lines := make([]string, 0, rows)
	for _, l := range p.lines[p.top:to] {
		lines = append(lines, " "+l)
	}
	return frame(bold.Render(ansi.Truncate(p.title, max(m.width-8, 1), "…")), place(p.top, to, len(p.lines)), padded(lines, rows), m.width, true)
}

// span is a time in microseconds for people.
func span(us int64) string {
	d := time.Duration(us) * time.Microsecond
	h, mm, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, mm, s)
	}
	return fmt.Sprintf("%02d:%02d", mm, s)
}

// dollars is an amount of nanodollars, with as many places as it needs.
func dollars(nano int64) string {
	if nano != 0 && nano < 10_000_000 {
		return fmt.Sprintf("$%.4f", float64(nano)/1e9)
	}
	return fmt.Sprintf("$%.2f", float64(nano)/1e9)
}

// thousands is a number that fits into a column.
func thousands(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
