package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// TopRow is a quest among others.
type TopRow struct {
	Quest, Society, State, Answer, Agree string
	// Running says that a process works on it now, Waits that it waits for a person.
	Running, Waits bool
	Agents         int
	// Cost is in nanodollars, Price as people write it.
	Cost    int64
	Price   string
	Updated time.Time
	Rate    view.Rate
}

// topModel is what the screen of all quests shows. It changes in Update only.
type topModel struct {
	ctx  context.Context
	rows func(context.Context) ([]TopRow, error)

	all           []TopRow
	read          bool
	width, height int
	order, chosen int
	filter        string
	write         *writing
	notice        string
	// entered is the quest that a person wants to see.
	entered string
	err     error
}

// listedRows is what was read.
type listedRows struct {
	rows []TopRow
	err  error
}

// topEvery is how often quests are looked at.
const topEvery = time.Second

// Top shows all quests, live, until a person leaves or chooses one, whose name it returns.
func Top(ctx context.Context, rows func(context.Context) ([]TopRow, error), chosen string, in io.Reader, out io.Writer) (string, error) {
	m := &topModel{ctx: ctx, rows: rows, entered: chosen}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	_, err := p.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return m.entered, cmp.Or(err, m.err)
}

// Init begins to look.
func (m *topModel) Init() tea.Cmd { return m.look }

func (m *topModel) look() tea.Msg {
	rows, err := m.rows(m.ctx)
	return listedRows{rows, err}
}

// Update takes a message in.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	case tea.PasteMsg:
		if m.write != nil {
			m.write.paste(msg.Content)
		}
	case listedRows:
		if msg.err != nil {
			m.err = msg.err
			return m, tea.Quit
		}
		m.take(msg.rows)
		return m, func() tea.Msg {
			timer := time.NewTimer(topEvery)
			defer timer.Stop()
			select {
			case <-timer.C:
				return m.look()
			case <-m.ctx.Done():
				return nil
			}
		}
	}
	return m, nil
}

// take shows what was read. The quest that was chosen stays chosen, wherever it stands now.
func (m *topModel) take(rows []TopRow) {
	name := m.entered // the one that a person comes back from
	if shown := m.shown(); m.chosen < len(shown) {
		name = shown[m.chosen].Quest
	}
	m.all, m.entered, m.read = rows, "", true
	if i := slices.IndexFunc(m.shown(), func(r TopRow) bool { return r.Quest == name }); i >= 0 {
		m.chosen = i
	}
	m.chosen = max(min(m.chosen, len(m.shown())-1), 0)
}

// topOrders are those that quests can be listed in.
var topOrders = []struct {
	name string
	less func(a, b TopRow) int
}{
	{"what runs", func(a, b TopRow) int {
		return cmp.Or(-compareTruth(a.Running, b.Running), -compareTruth(a.Waits, b.Waits), b.Updated.Compare(a.Updated))
	}},
	{"cost", func(a, b TopRow) int { return cmp.Compare(b.Cost, a.Cost) }},
	{"dollars a minute", func(a, b TopRow) int {
		return cmp.Or(cmp.Compare(b.Rate.Cost, a.Rate.Cost), cmp.Compare(b.Rate.Tokens, a.Rate.Tokens))
	}},
	{"name", func(a, b TopRow) int { return cmp.Compare(a.Quest, b.Quest) }},
}

func compareTruth(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// shown are the quests that say what is looked for, in order.
func (m *topModel) shown() []TopRow {
	out := slices.DeleteFunc(slices.Clone(m.all), func(r TopRow) bool {
		return m.filter != "" && !strings.Contains(strings.ToLower(strings.Join([]string{r.Quest, r.Society, r.State, r.Answer}, " ")), m.filter)
	})
	slices.SortStableFunc(out, topOrders[m.order].less)
	return out
}

func (m *topModel) key(k string) tea.Cmd {
	m.notice = ""
	if m.write != nil && k != "ctrl+c" {
		return m.writeKey(k)
	}
	switch k {
	case "q", "ctrl+c":
		return tea.Quit
	case "esc":
		m.filter = ""
	case "enter":
		if all := m.shown(); m.chosen < len(all) {
			m.entered = all[m.chosen].Quest
			return tea.Quit
		}
	case "S":
		m.order = (m.order + 1) % len(topOrders)
		m.notice = "By " + topOrders[m.order].name + "."
	case "/":
		m.write = &writing{prompt: " show what says › ", each: func(text string) { m.filter, m.chosen = strings.ToLower(text), 0 }}
		m.write.line.insert(m.filter)
	default:
		if by, ok := steps(k, max(m.height-5, 1)); ok {
			m.chosen = min(max(m.chosen+by, 0), max(len(m.shown())-1, 0))
		}
	}
	return nil
}

func (m *topModel) writeKey(k string) tea.Cmd {
	w := m.write
	switch k {
	case "esc":
		m.write, m.filter = nil, ""
	case "enter":
		m.write = nil
	default:
		w.line.key(k)
		w.each(w.line.text)
	}
	return nil
}

// View draws the screen.
func (m *topModel) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen = true
	return v
}

func (m *topModel) screen() string {
	if m.width < 40 || m.height < 6 {
		return fit(fmt.Sprintf("Too small: %d×%d.", m.width, m.height), max(m.width, 1))
	}
	lines := []string{m.head(), faint.Render(m.row(" ", "quest", "state", "agents", "cost", "a minute", "tok/s", "last 5 minutes", "answer, and who agrees"))}
	all, rows := m.shown(), m.height-3
	from, to := around(m.chosen, len(all), rows)
	for i, r := range all[from:to] {
		mark := " "
		if from+i == m.chosen {
			mark = cyan.Render("▌")
		}
		minute, tokens := "", ""
		if r.Rate.Cost > 0 {
			minute = dollars(int64(r.Rate.Cost))
		}
		if r.Rate.Tokens > 0 {
			tokens = thousands(int64(math.Round(r.Rate.Tokens)))
		}
		answer := line(r.Answer)
		if r.Agree != "" {
			answer += faint.Render(" · " + line(r.Agree))
		}
		lines = append(lines, m.row(mark, line(r.Quest), stateStyle(r).Render(line(r.State)), fmt.Sprint(r.Agents), line(r.Price), minute, tokens, cyan.Render(view.Bars(shorter(r.Rate.Spent[:]))), answer))
	}
	if len(all) == 0 && m.read {
		lines = append(lines, faint.Render("   No quest here says that. lyceum run begins one."))
	}
	return strings.Join(append(padded(lines, m.height-1), m.foot(place(from, to, len(all)))), "\n")
}

// shorter puts each two numbers together.
func shorter(counts []int64) (out []int64) {
	for i := 0; i+1 < len(counts); i += 2 {
		out = append(out, counts[i]+counts[i+1])
	}
	return out
}

func stateStyle(r TopRow) lipgloss.Style {
	switch {
	case r.Waits:
		return magenta
	case r.Running, r.State == "finished":
		return green
	case r.State == "failed", r.State == "damaged", r.State == "interrupted":
		return red
	}
	return yellow
}

// head sums up.
func (m *topModel) head() string {
	running, cost, rate, tokens := 0, int64(0), 0.0, 0.0
	for _, r := range m.all {
		if r.Running {
			running++
		}
		cost += r.Cost
		rate += r.Rate.Cost
		tokens += r.Rate.Tokens
	}
	facts := []string{view.Several(int64(len(m.all)), "quest"), fmt.Sprintf("%d running", running), dollars(cost) + " in all"}
	if rate > 0 {
		facts = append(facts, dollars(int64(rate))+" a minute")
	}
	if tokens > 0 {
		facts = append(facts, thousands(int64(math.Round(tokens)))+" tokens/s")
	}
	left := " " + bold.Render("Quests")
	if m.filter != "" {
		left += " /" + line(m.filter)
	}
	return spread(left, faint.Render(strings.Join(facts, " · "))+" ", m.width)
}

// row sets the columns: what does not fit is left out from the right.
func (m *topModel) row(mark, name, state, agents, cost, minute, tokens, bars, answer string) string {
	out := mark + fit(name, min(max(m.width/4, 14), 32)) + " " + fit(state, 12) + right(cost, 9)
	for _, c := range []struct {
		text  string
		width int
		left  bool
	}{{minute, 9, false}, {tokens, 7, false}, {agents, 7, false}, {bars, sparked, true}} {
		if ansi.StringWidth(out)+c.width+1 > m.width {
			continue
		}
		if out += " "; c.left {
			out += fit(c.text, c.width)
		} else {
			out += right(c.text, c.width-1)
		}
	}
	if room := m.width - ansi.StringWidth(out) - 2; room > 12 {
		out += "  " + fit(answer, room)
	}
	return fit(out, m.width)
}

// sparked is how wide the bars of a row are.
const sparked = view.Sparks / 2

func (m *topModel) foot(where string) string {
	switch {
	case m.write != nil:
		return fit(m.write.line.lines(m.write.prompt, m.width, 1)[0], m.width)
	case m.notice != "":
		return yellow.Render(fit(" "+m.notice, m.width))
	}
	return spread(keys(max(m.width-ansi.StringWidth(where)-1, 1), "q", "quit", "enter", "watch", "↑↓", "move", "S", "sort", "/", "filter"), faint.Render(where)+" ", m.width)
}
