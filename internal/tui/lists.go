package tui

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/quest"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// doing is what an agent does now.
func (m *Model) doing(a *agent.Agent) string {
	if a.Parked != "" {
		return "parked: " + strings.TrimPrefix(line(a.Parked), line(a.Name)+" ")
	}
	if o := m.misses(a); o != nil {
		return "waiting for " + line(o.Provider)
	}
	if a.Phase() != agent.Acting {
		return a.Phase().String()
	}
	return tools(a)
}

// misses is the outage that an agent's call waits for, nil if there is none.
func (m *Model) misses(a *agent.Agent) *quest.Outage {
	if a.Phase() != agent.Thinking {
		return nil
	}
	return m.state.Away(a)
}

// tools are those that an agent waits for.
func tools(a *agent.Agent) string {
	var names []string
	for _, u := range a.Open {
		if !u.Done {
			names = append(names, line(u.Name))
		}
	}
	return strings.Join(names, ", ")
}

// sign is an agent's phase as one character.
func (m *Model) sign(a *agent.Agent) (string, lipgloss.Style) {
	running := m.state.Status == quest.Running && m.claimed
	switch phase := a.Phase(); {
	case a.Parked != "":
		return "‖", red
	case a.Failed != nil:
		return "!", red
	case m.asks(a.Name):
		return "?", magenta
	case !running:
		return "·", faint
	case m.misses(a) != nil:
		return "◌", yellow
	case phase == agent.Thinking:
		return string(spinner[m.frame%len(spinner)]), cyan
	case phase == agent.Acting:
		return string(spinner[m.frame%len(spinner)]), green
	case phase == agent.Answered:
		return "✓", green
	}
	return "·", faint
}

// The columns of numbers, with the space before them.
const (
	turnsWidth = 6
	costWidth  = 8
	askedWidth = 4
)

func (m *Model) agentList(l layout) []string {
	s := m.state
	inner := l.left - 2
	// What is not there at all needs no column, and a narrow list says less.
	showAsked, showTurns, showCost := m.panel != nil, inner >= 28, inner >= 36
	numbers := 0
	if showTurns {
		numbers += turnsWidth
	}
	if showCost {
		numbers += costWidth
	}
	if showAsked {
		numbers += askedWidth
	}
	name := 6
	for _, a := range s.Agents {
		name = max(name, ansi.StringWidth(line(a.Name)))
	}
	name = min(name, max(inner/3, 8))
	what := max(inner-3-name-1-numbers, 0)

	row := func(mark, sign, who, does, turns, cost, asked string) string {
		out := mark + sign + " " + fit(who, name) + " " + does
		if showTurns {
			out += right(turns, turnsWidth)
		}
		if showCost {
			out += right(cost, costWidth)
		}
		if showAsked {
			out += right(asked, askedWidth)
		}
		return out
	}
	rows := []string{faint.Render(row(" ", " ", "agent", fit("does", what), "turns", "cost", "rev"))}
	all := m.agents()
	from, to := around(m.agent, len(all), l.rows)
	for i, a := range all[from:to] {
		sign, style := m.sign(a)
		asked := ""
		if showAsked {
			asked = some(int64(len(m.panel.asked(a.Name))))
		}
		now := m.doing(a)
		if m.asks(a.Name) {
			now = "asks you"
		}
		does := style.Render(fit(now, what))
		rows = append(rows, row(m.mark(agentsPane, from+i == m.agent), style.Render(sign), line(a.Name), does, fmt.Sprint(a.Turns), dollars(a.Cost), asked))
	}
	return frame(m.agentsTitle(), place(from, to, len(all)), padded(rows, l.lists-2), l.left, m.focus == agentsPane && m.panel != nil)
}

// agentsTitle counts those that do something, where one cannot see all.
func (m *Model) agentsTitle() string {
	busy, parked := 0, 0
	for _, a := range m.state.Agents {
		switch phase := a.Phase(); {
		case a.Parked != "":
			parked++
		case phase == agent.Thinking, phase == agent.Acting:
			busy++
		}
	}
	out := bold.Render("Agents")
	if busy > 0 {
		out += fmt.Sprintf(" %d busy", busy)
	}
	if parked > 0 {
		out += fmt.Sprintf(" %d parked", parked)
	}
	if m.filter != "" {
		out += " /" + line(m.filter)
	}
	return out
}

func (m *Model) mark(p pane, chosen bool) string {
	if chosen && m.focus == p {
		return cyan.Render("▌")
	}
	return " "
}

// some leaves zeros out: what there is should be seen.
func some(n int64) string {
	if n == 0 {
		return ""
	}
	return thousands(n)
}
