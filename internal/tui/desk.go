package tui

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
)

// desk is an agent that is looked at: all that it heard and said, what its model says now, and what
// it does.
type desk struct {
	agent string
	told  *history
	calls map[uint64]bool // its tool calls, whose results are the world's
	// until is the last event that was there when it was opened: those before are being read
	// until ready, and what comes meanwhile waits.
	until   uint64
	ready   bool
	waiting []event.Event
}

// transcribed are the events of an agent from before it was looked at.
type transcribed struct {
	agent  string
	until  uint64
	events []event.Event
	err    error
}

// maxTranscript is how many events of an agent are shown.
const maxTranscript = 400

// maxWords is how much of what a model is saying is kept, in bytes.
const maxWords = 8 << 10

// visit opens the desk of an agent. Its past is read beside the screen.
func (m *Model) visit(name string) tea.Cmd {
	d := &desk{agent: name, told: newHistory(m.src.Read), calls: map[uint64]bool{}, until: m.state.Seq}
	m.desk = d
	m.show(&pager{title: line(name), agent: name, text: func(width int) string { return m.deskText(width) }})
	m.scroll(1 << 30)
	src, until := m.src, d.until
	if src.Follow == nil { // there is no ledger to read
		d.ready = true
		return nil
	}
	return func() tea.Msg {
		out := transcribed{agent: name, until: until}
		mine := &desk{agent: name, calls: map[uint64]bool{}}
		for e, err := range src.Follow(src.ctx, 1) {
			if err != nil {
				out.err = err
				break
			}
			if mine.concerns(e) {
				out.events = append(out.events, e)
			}
			if len(out.events) > 2*maxTranscript {
				out.events = append([]event.Event(nil), out.events[maxTranscript:]...)
			}
			if e.Seq >= until {
				break
			}
		}
		return out
	}
}

// concerns reports whether an event belongs to what an agent heard, said and did.
func (d *desk) concerns(e event.Event) bool {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		return true
	case *event.UserMessage:
		return b.To == "" || b.To == d.agent
	case *event.MessageSent:
		return e.Actor == d.agent || b.To == d.agent
	case *event.ToolCall:
		if e.Actor == d.agent {
			d.calls[e.Seq] = true
		}
	case *event.ToolResult:
		return d.calls[b.Call]
	case *event.ToolAnswered:
		return d.calls[b.Call]
	}
	return e.Actor == d.agent
}

// transcribed takes in what was read, and what came meanwhile.
func (m *Model) transcribed(t transcribed) {
	d := m.desk
	if d == nil || d.agent != t.agent || d.until != t.until || d.ready {
		return
	}
	if t.err != nil {
		m.notice = line(t.err.Error())
	}
	d.ready = true
	if n := len(t.events); n > maxTranscript {
		d.told.note(fmt.Sprintf("… %d events before: lyceum trace %s --agent %s", t.events[n-maxTranscript].Seq-1, m.state.Name, d.agent))
		t.events = t.events[n-maxTranscript:]
	}
	for _, e := range append(t.events, d.waiting...) {
		if d.concerns(e) {
			d.told.take(e, m.state)
		}
	}
	d.waiting = nil
	m.refresh()
}

// attend takes in an event as it comes.
func (d *desk) attend(e event.Event, s *quest.State) {
	switch {
	case d == nil || e.Seq <= d.until:
	case !d.ready:
		d.waiting = append(d.waiting, e)
	case d.concerns(e):
		d.told.take(e, s)
	}
}

// hear takes in what a model is saying.
func (m *Model) hear(s spoken) {
	if m.words == nil {
		m.words = map[string]spoken{}
	}
	if last := m.words[s.agent]; !s.again && last.call == s.call {
		s.text = last.text + s.text
	}
	if len(s.text) > maxWords {
		s.text = strings.ToValidUTF8(s.text[len(s.text)-maxWords:], "")
	}
	m.words[s.agent] = s
	if m.open != nil && m.open.agent == s.agent {
		m.refresh()
	}
}

// refresh sets the desk that is open anew. Who has scrolled up stays there.
func (m *Model) refresh() {
	p := m.open
	if p == nil || p.agent == "" {
		return
	}
	atEnd := p.top >= len(p.lines)-m.pageRows()
	if m.show(p); atEnd {
		m.scroll(1 << 30)
	}
}

// deskText is what an agent heard and said, the last at the end, with what it does now.
func (m *Model) deskText(width int) string {
	d := m.desk
	w := &sheet{width: width, look: m.look}
	var a *agent.Agent
	for _, x := range m.state.Agents {
		if x.Name == d.agent {
			a = x
		}
	}
	if a == nil {
		return "There is no such agent any more."
	}
	w.b.WriteString(m.aboutAgent(a)(width))
	w.section("What it heard and said")
	for _, u := range d.told.all {
		head := faint.Render(u.time.Time().Format("15:04:05") + " ")
		if u.who == news || u.who == detail {
			w.b.WriteString(head + strings.Join(indent(u.set(width-len("15:04:05 "), m.look), 9), "\n") + "\n")
			continue
		}
		lines := u.set(width-2, m.look)
		w.b.WriteString(head + bold.Render(line(u.name)) + faint.Render(" "+line(u.label)) + "\n")
		w.b.WriteString(strings.Join(indented(lines), "\n") + "\n")
	}
	if !d.ready {
		w.b.WriteString(faint.Render("Reading what was before …") + "\n")
	}
	// Words and events come by different ways: those of an answer that is in the ledger may be late.
	if words := m.words[d.agent]; words.text != "" && a.Phase() == agent.Thinking && (words.call == 0 || words.call == a.Asked) {
		w.b.WriteString(cyan.Render(string(spinner[m.frame%len(spinner)])) + " " + bold.Render(line(d.agent)) + faint.Render(" says") + "\n")
		w.b.WriteString(strings.Join(asWrittenLines(words.text, width), "\n") + "\n")
	} else if m.state.Status == quest.Running && m.claimed {
		w.b.WriteString(green.Render(string(spinner[m.frame%len(spinner)])) + " " + line(m.doingNow(a)) + "\n")
	}
	return w.b.String()
}

// indent puts lines but the first so far in.
func indent(lines []string, by int) []string {
	out := append([]string(nil), lines...)
	for i := 1; i < len(out); i++ {
		out[i] = strings.Repeat(" ", by) + out[i]
	}
	return out
}

// doingNow is what an agent does, with the command that it runs.
func (m *Model) doingNow(a *agent.Agent) string {
	if a.Phase() != agent.Acting {
		return m.doing(a)
	}
	var out []string
	for _, u := range a.Open {
		if !u.Done {
			out = append(out, strings.TrimSpace(u.Name+" "+view.CallInShort(u.Args.Text)))
		}
	}
	return "runs " + strings.Join(out, "; ")
}
