// Package tui shows a quest in a terminal, as it happens.
//
// A Model is the state of a quest, folded from its ledger, and what a person looks at
// of it. It changes in Update only, one message at a time, and View is a function of
// it: so a screen can be tested as text. The view has no way into a quest but its
// inbox, and works the same for a quest that another process runs.
//
// Names, titles and texts are agents': whatever is shown goes through Clean first.
package tui

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
)

// The smallest terminal that there is a view for.
const (
	MinWidth  = 60
	MinHeight = 20
)

// pane is one of the two lists.
type pane int

const (
	agentsPane pane = iota
	panelPane
)

// Model is what the screen shows.
type Model struct {
	src   *Source
	state *quest.State
	// claimed says that a process runs the quest.
	claimed bool

	width, height int
	look          Look
	now           event.Time
	frame         int // of the spinners

	focus pane
	// agent is the one that is chosen, by its number.
	agent int
	// panel is what the quest's society shows beside the agents, nil if it shows nothing.
	panel panel
	// told are the last things that happened, the newest last; at is the one that is looked at.
	told []happening
	at   int
	// rates is how fast it spends, words what models are saying, by their agents.
	rates view.Rates
	words map[string]spoken
	// filter is what agents and events have to say to be shown, order how agents are listed.
	filter string
	order  int

	open *pager
	// desk is the agent that was looked at last, write a line that is being written.
	desk  *desk
	write *writing
	// reply is the answer that is being given, nil for none; answered are the questions
	// that were answered here.
	reply    *reply
	answered map[uint64]bool
	asking   bool   // whether the quest is to be stopped
	notice   string // what became of the last key
	// leaving counts the interrupts of a quest that runs in this process.
	leaving int
	// over says that the run whose view this is has ended: it is left to be looked at. keys
	// counts what was pressed.
	over bool
	// shown says that the answer was opened when the run had ended.
	shown bool
	keys  int
	err   error
}

// pager is a text that covers the lists.
type pager struct {
	title string
	// text sets the text for a width.
	text  func(width int) string
	lines []string
	top   int
	// last says that it is the answer: there is nothing that a person must go back to.
	last bool
	// agent is whose desk it is, and events says that it is what happened.
	agent  string
	events bool
}

// maxTold is how many events are kept to be shown.
const maxTold = 200

// NewModel shows a quest as it stands. From then on it is told by Update.
func NewModel(src *Source, s *quest.State, look Look) *Model {
	return &Model{src: src, state: s, claimed: true, look: look, panel: panelOf(s), now: s.Time, focus: agentsPane, answered: map[uint64]bool{}}
}

// The messages of the world.
type (
	// happened are events, in order.
	happened []event.Event
	// ended says that no more will come.
	ended struct{ err error }
	// tick is the time.
	tick time.Time
	// claim says whether somebody runs the quest.
	claim bool
	// said is what became of what a person asked for.
	said struct {
		text string
		err  error
	}
	// loaded is a text that has been read, to be shown.
	loaded struct {
		title string
		text  func(width int, look Look) string
		last  bool
		err   error
	}
	// note is a line that is no event.
	note string
	// over says that the run has ended. The view goes when so long no key was pressed.
	over time.Duration
	// untouched asks whether a key was pressed since there were so many.
	untouched struct {
		keys int
		wait time.Duration
	}
)

// Update takes a message in.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		if m.open != nil {
			m.show(m.open)
		}
	case tea.KeyPressMsg:
		if utf8.RuneCountInString(msg.Text) > 1 && m.compose(msg.Text) { // by an input method
			break
		}
		return m, m.key(msg.String())
	case tea.PasteMsg:
		m.compose(msg.Content)
	case spoken:
		m.hear(msg)
	case transcribed:
		m.transcribed(msg)
	case replied:
		m.replied(msg)
	case happened:
		if err := m.take(msg); err != nil {
			m.err = err
			return m, tea.Quit
		}
		return m, tea.Batch(m.src.next, m.conclude())
	case ended:
		m.err = msg.err
		return m, tea.Quit
	case tick:
		m.now = event.TimeOf(time.Time(msg))
		m.frame++
		m.refresh()
		return m, m.tick()
	case claim:
		m.claimed = bool(msg)
		return m, m.src.after(claimEvery, func(time.Time) tea.Msg { return m.src.watchClaim() })
	case note:
		m.tell(string(msg), false)
	case over:
		m.over = true
		return m, tea.Batch(m.rest(time.Duration(msg)), m.conclude())
	case untouched:
		if msg.keys == m.keys {
			return m, tea.Quit
		}
		return m, m.rest(msg.wait)
	case said:
		if m.notice = msg.text; msg.err != nil {
			m.notice = line(msg.err.Error())
		}
	case loaded:
		if msg.err != nil {
			m.notice = line(msg.err.Error())
			break
		}
		m.show(&pager{title: msg.title, last: msg.last, text: func(width int) string { return msg.text(width, m.look) }})
	}
	return m, nil
}

// take folds events in.
func (m *Model) take(events []event.Event) error {
	for _, e := range events {
		// What the view began with is only told.
		if e.Seq > m.state.Seq {
			if err := m.state.Fold(e); err != nil {
				return fmt.Errorf("the ledger of quest %s at %d: %w", m.state.Name, e.Seq, err)
			}
		}
		if r, ok := m.panel.(reader); ok {
			r.take(e)
		}
		m.rates.Take(e)
		if e.Type == "model.result" {
			delete(m.words, e.Actor) // said, and in the ledger
		}
		m.desk.attend(e, m.state)
		if text := m.src.Say(e, m.state); text != "" {
			for l := range strings.SplitSeq(text, "\n") {
				m.tell(e.Time.Time().Format("15:04:05")+"  "+line(l), view.Matters(e))
			}
		}
	}
	m.withdrawn()
	m.refresh()
	return nil
}

func (m *Model) tell(text string, matters bool) {
	m.told = append(m.told, happening{line(text), matters})
	if n := len(m.told); n > 2*maxTold {
		m.told = append([]happening(nil), m.told[n-maxTold:]...)
		m.at = max(m.at-(n-maxTold), 0)
	}
}

// compose takes a text that was not typed key by key, and reports whether anybody writes.
func (m *Model) compose(text string) bool {
	switch {
	case m.write != nil:
		m.write.paste(text)
	case m.reply != nil && !m.reply.sent:
		m.reply.write(text)
	}
	return m.write != nil || m.reply != nil
}

// key does what a key is for.
func (m *Model) key(k string) tea.Cmd {
	m.notice = ""
	m.keys++
	switch {
	case k == "ctrl+c":
		return m.leave()
	case m.asking:
		m.asking = false
		if k == "y" || k == "Y" {
			return m.ask(&event.QuestStopped{Reason: "stopped by a person"})
		}
		m.notice = "Not stopped."
		return nil
	case m.write != nil:
		return m.writeKey(k)
	case m.reply != nil:
		return m.replyKey(k)
	case m.open != nil && m.open.last && m.over && k == "q":
		return m.leave()
	case m.open != nil:
		m.page(k)
		return nil
	}
	return m.command(k)
}

// command does what a key is for where the lists are.
func (m *Model) command(k string) tea.Cmd {
	switch k {
	case "m":
		m.message("")
	case "F":
		m.fork()
	case "o":
		return m.browse()
	case "/":
		m.filtering()
	case "S":
		m.sort()
	case "n", "N":
		m.jump(-1)
	case "esc":
		m.filter = ""
	case "a":
		if m.concluded() {
			return m.readAnswer()
		}
		m.answer(0)
	case "q":
		return m.leave()
	case "p":
		if m.state.Status == quest.Paused {
			return m.ask(&event.QuestResumed{})
		}
		return m.ask(&event.QuestPaused{Reason: "paused by a person"})
	case "s":
		m.asking = true
	case "?":
		m.show(&pager{title: "Help", text: func(int) string { return help }})
	case "tab", "shift+tab", "left", "right", "h", "l":
		if m.panel != nil {
			m.focus = 1 - m.focus
		}
	case "enter":
		return m.enter()
	default:
		m.move(k)
	}
	return nil
}

// leave ends the view. A quest that runs here is paused first, and the view ends with
// it; the second time nothing is waited for.
func (m *Model) leave() tea.Cmd {
	if m.src.Interrupt == nil || m.over {
		return tea.Quit
	}
	m.src.Interrupt()
	if m.leaving++; m.leaving > 1 {
		return tea.Quit
	}
	return nil
}

// rest waits for a person who looks at a run that has ended.
func (m *Model) rest(wait time.Duration) tea.Cmd {
	keys := m.keys
	return m.src.after(wait, func(time.Time) tea.Msg { return untouched{keys, wait} })
}

func (m *Model) ask(b event.Body) tea.Cmd {
	act := m.src.Act
	return func() tea.Msg {
		text, err := act(b)
		return said{text, err}
	}
}

// steps are how far keys go in a list, in rows; pages count as the rows there are.
func steps(k string, page int) (by int, ok bool) {
	switch k {
	case "up", "k":
		return -1, true
	case "down", "j":
		return 1, true
	case "pgup", "b":
		return -page, true
	case "pgdown", "space", " ", "f":
		return page, true
	case "home", "g":
		return -1 << 30, true
	case "end", "G":
		return 1 << 30, true
	}
	return 0, false
}

func (m *Model) move(k string) {
	by, ok := steps(k, max(1, m.layout().rows-1))
	if !ok {
		return
	}
	if m.focus == agentsPane {
		m.agent = min(max(m.agent+by, 0), max(len(m.agents())-1, 0))
		return
	}
	m.panel.move(by)
}

// enter opens what is chosen.
func (m *Model) enter() tea.Cmd {
	if m.focus == agentsPane {
		if all := m.agents(); m.agent < len(all) {
			return m.visit(all[m.agent].Name)
		}
		return nil
	}
	open, why := m.panel.open(m.src)
	m.notice = why
	return open
}

// fact is something that there is to say, and what it is called.
type fact struct{ name, value string }

// aboutAgent is what there is to say of an agent, as it stands now.
func (m *Model) aboutAgent(a *agent.Agent) func(width int) string {
	facts := []fact{
		{"model", a.Model}, {"phase", a.Phase().String()}, {"tools", tools(a)}, {"parked", a.Parked}, {"turns", fmt.Sprint(a.Turns)}, {"cost", dollars(a.Cost)},
		{"tokens", thousands(a.Tokens)}, {"time in calls", span(a.Duration)},
	}
	if a.Failed != nil {
		facts = append(facts, fact{"model failed", a.Failed.Text})
	}
	if m.panel != nil {
		facts = append(facts, m.panel.about(a.Name)...)
	}
	return func(width int) string {
		w := &sheet{width: width, look: m.look}
		for _, f := range facts {
			w.fact(f.name, f.value)
		}
		return w.b.String()
	}
}

// show opens a text, or sets it anew for another width.
func (m *Model) show(p *pager) {
	p.lines = strings.Split(strings.TrimRight(p.text(max(m.width-4, 20)), "\n"), "\n")
	m.open = p
	m.scroll(0)
}

func (m *Model) scroll(by int) {
	p := m.open
	p.top = max(0, min(p.top+by, len(p.lines)-m.pageRows()))
}

func (m *Model) page(k string) {
	switch k {
	case "q", "esc", "enter", "?":
		m.open, m.desk = nil, nil
		return
	case "m":
		if m.open.agent != "" {
			m.message(m.open.agent)
			return
		}
	case "n", "N":
		if m.open.events {
			m.jump(map[string]int{"n": 1, "N": -1}[k])
			return
		}
	}
	if by, ok := steps(k, max(1, m.pageRows()-1)); ok {
		m.scroll(by)
	}
}

// busy reports whether something moves.
func (m *Model) busy() bool {
	if m.state.Status != quest.Running || !m.claimed || m.state.Waiting() || m.state.Stalled() {
		return false
	}
	for _, a := range m.state.Agents {
		if p := a.Phase(); p == agent.Thinking || p == agent.Acting {
			return true
		}
	}
	return false
}

// Init begins to follow the quest.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.src.next, m.tick(), m.src.watchClaim) }

// tick asks for the time: often while there is something that moves.
func (m *Model) tick() tea.Cmd {
	every := time.Second
	if m.busy() {
		every = 120 * time.Millisecond
	}
	return m.src.after(every, func(t time.Time) tea.Msg { return tick(t) })
}

const help = `tab        the other list
↑ ↓        move, also j k; page up, page down, home, end
enter      read the paper, or what the agent heard, says and runs
n N        the last event of interest; there, n the next and N the one before
/          show agents and events that say something; esc shows all
S          sort agents: by number, cost, turns, what they do
m          say something to all agents; while you read one, to that one
a          answer what the quest asks, or read its answer
F          fork the quest after its last event
o          open the quest in the browser, where lyceum serve is up
p          pause the quest, or let it go on
s          stop the quest; asks first
q          leave; a quest that runs here is paused first
Ctrl-C     the same; a second time leaves at once
?          this page

Papers     ● published   ◌ submitted   × rejected
Reviews    ✓ accepts   ✗ rejects   · to come
Run        = same twice   ? claim not in it   ≠ differs   ! failed   … under way
Agents     ⠋ thinks or acts   ‖ parked   · waits for its turn   ? asks you

Everything here is in the ledger: lyceum trace <quest>. What agents
wrote is shown without what a terminal would obey.`
