package tui

import (
	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// concluded reports whether the quest has ended with an answer that can be read.
func (m *Model) concluded() bool {
	return m.state.Status == quest.Finished && m.state.Answer != nil
}

// conclude opens the answer of a run that has ended, once. The last events may come after
// the word that there will be no more. What a person is reading or writing stays.
func (m *Model) conclude() tea.Cmd {
	if !m.over || m.shown || !m.concluded() {
		return nil
	}
	m.shown = true
	if m.open != nil || m.reply != nil || m.asking {
		return nil
	}
	return m.readAnswer()
}

// readAnswer reads the answer of a quest that has ended.
func (m *Model) readAnswer() tea.Cmd {
	verdict, text, read := m.state.Verdict(), *m.state.Answer, m.src.Read
	return func() tea.Msg {
		answer, err := agent.Read(text, read)
		return loaded{title: "Answer", last: true, err: err, text: func(width int, look Look) string {
			return answerSheet(verdict, answer, width, look)
		}}
	}
}

// answerSheet is an answer to be read: in a line, who agrees and how sure that makes it, and
// whole. What agents wrote has a bar at its left, as in papers.
func answerSheet(v *quest.Verdict, answer string, width int, look Look) string {
	w := &sheet{width: max(width, 20), look: look}
	if v != nil {
		w.put("", w.style(bold, line(v.Value)))
		w.put("", "")
		w.fact("agreement", v.Agree)
		w.put(w.style(faint, fit("sure", factWidth)), w.style(sureStyle(v.Sure), line(v.Sure))+because(v.Why))
		w.fact("stands in", v.Source)
		w.section("In full")
	}
	w.quote(answer)
	return w.b.String()
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + line(why) + ")"
}

// verdictLine is the answer in a line with who agrees: of a quest that has ended, or the best there is
// so far.
func (m *Model) verdictLine() string {
	v := m.state.Verdict()
	if v == nil {
		return ""
	}
	value := bold.Render(line(event.Shorten(v.Value, maxPrinted)))
	if !m.concluded() {
		return spread(" "+yellow.Render("◌")+" "+value, faint.Render("  so far: "+ansi.Truncate(line(v.Agree), m.width/2, "…"))+" ", m.width)
	}
	end := faint.Render("sure: ") + sureStyle(v.Sure).Render(line(v.Sure)) + " "
	if agree := line(v.Agree); agree != "" && len(agree) < m.width/2 {
		end = faint.Render("  "+agree+" · ") + end
	}
	return spread(" "+green.Render("✓")+" "+value, end, m.width)
}
