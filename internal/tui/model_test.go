package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/solo"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// evil is what a terminal would obey.
const evil = "\x1b[2Jcleared\x1b]0;title\a\x9b31mred\u202ereversed\u2066\x00\x7f\rforged\u2028line\ufeff\n\nZ̵̢̛͎̬̗ẃ\u200d\U000e0041"

// newState makes a lab of n agents in all the phases there are, with papers in all
// the statuses.
func newState(agents, papers int) *quest.State { return stateOf(lab.Society{}, agents, papers) }

func stateOf(society quest.Society, agents, papers int) *quest.State {
	s := questtest.Begin(fatal{}, society, questtest.Created(society, 1)).State
	s.Name, s.Status, s.Agents = "primes", quest.Running, nil
	s.Limits = event.Limits{Cost: new(int64(5_000_000_000)), Turns: new(int64(400)), Duration: new(int64(3600e6))}
	s.Spent = quest.Spent{Cost: 1_234_500_000, Turns: 390, Usage: event.Usage{Input: 1_200_000, Output: 34_567}}
	s.Time, s.Since = event.Time(1_800_000_000_000_000), event.Time(1_800_000_000_000_000-754e6)
	for i := range agents {
		a := &agent.Agent{Name: fmt.Sprintf("agent-%d", i), Model: "demo", Turns: int64(i * 3), Cost: int64(i) * 12_345_678}
		switch i % 5 {
		case 0:
			a.Asked = 7
		case 1:
			a.Open = []agent.Use{{Name: "submit_publication"}, {Name: "exec", Done: true}, {Name: "read_file"}}
		case 2:
			a.Parked = "three turns in a row without a tool call"
		case 3:
			a.Failed = &event.ModelError{Kind: "overloaded", Text: "try later"}
		}
		s.Agents = append(s.Agents, a)
	}
	for i := range papers {
		lab.Library(s).Papers = append(lab.Library(s).Papers, newPaper(i))
	}
	if agents > 1 && papers > 0 {
		lab.Library(s).Asked = map[string][]string{"agent-1": {ref(0)}}
		lab.Library(s).Votes = map[string]string{"agent-0": ref(0), "agent-1": ref(0)}
	}
	return s
}

// fatal is for a story that cannot fail.
type fatal struct{}

func (fatal) Helper() {}

func (fatal) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func ref(i int) string { return fmt.Sprintf("%032x", 0xa1b2c3d4+i*7919) }

func newPaper(i int) *paper.Paper {
	p := &paper.Paper{Ref: ref(i), Title: fmt.Sprintf("On the number of primes below 10^%d", i+2), Author: fmt.Sprintf("agent-%d", i%3), Time: 1_800_000_000_000_000, Content: event.Text{Text: "# Primes\n\nThere are many."}}
	review := func(grade string) {
		p.Reviews = append(p.Reviews, paper.Review{Reviewer: "agent-1", Grade: grade, Content: event.Text{Text: "Well done."}})
	}
	switch i % 4 {
	case 0:
		p.Status, p.Cited, p.Votes = event.Published, 3, 2
		p.Reproduction = &event.ReproductionResult{Status: event.SameOutput}
		review(event.Accept)
		review(event.Accept)
		review(event.Reject)
	case 1:
		p.Status = event.Rejected
		p.Reproduction = &event.ReproductionResult{Status: event.Differs}
		review(event.Reject)
		review(event.Reject)
	case 2:
		p.Status, p.Trial = event.Submitted, 9
		p.Title = "A very long title that goes on and on, as titles of papers do, until nobody remembers how it began, and then some more"
	default:
		p.Status = event.Submitted
		p.Title = "素数定理の初等的な証明と、その計算機による検証について：長い題名は切り詰められる"
		review(event.Accept)
		p.Requests = []paper.Request{{Reviewer: "agent-2", State: paper.Open}, {Reviewer: "agent-0", State: paper.Open}}
	}
	return p
}

// show makes a model of that size.
func show(s *quest.State, width, height int) *Model {
	src := &Source{
		Folder: "/home/quests/primes",
		Say:    func(e event.Event, _ *quest.State) string { return string(e.Type) },
		Read:   func(event.Ref) ([]byte, error) { return nil, os.ErrNotExist },
		Act:    func(b event.Body) (string, error) { return "asked for " + string(b.Type()), nil },
	}
	m := NewModel(src, s, Colour)
	for i := range 12 {
		m.Update(note(fmt.Sprintf("12:00:%02d  agent-%d hands in a1b2c3d4 “On the number of primes”", i, i)))
	}
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return m
}

// press presses keys, and lets what they ask for happen.
func press(m *Model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		cmd = m.key(k)
		if cmd != nil {
			if msg := cmd(); msg != nil {
				m.Update(msg)
			}
		}
	}
	return cmd
}

// checkScreen wants a screen that fills the terminal, and nothing in it that a
// terminal obeys besides colour.
func checkScreen(t *testing.T, m *Model) string {
	t.Helper()
	screen := m.View().Content
	lines := strings.Split(screen, "\n")
	if len(lines) != m.height {
		t.Errorf("%d lines on a terminal of %d", len(lines), m.height)
	}
	for i, l := range lines {
		if w := ansi.StringWidth(l); w > m.width {
			t.Errorf("line %d has %d cells on a terminal of %d: %q", i, w, m.width, l)
		}
	}
	harmless(t, screen)
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	return out.String()
}

func harmless(t *testing.T, s string) {
	t.Helper()
	rest := sgr.ReplaceAllString(s, "")
	for _, r := range rest {
		if r == '\t' || plain.People.Has(r) {
			t.Fatalf("%U reaches the terminal:\n%q", r, s)
		}
	}
}

// TestScreens compares what is shown with testdata/*.txtar, one file a size.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ width, height int }{{60, 20}, {80, 24}, {100, 30}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			t.Parallel()
			at := func(s *quest.State, keys ...string) string {
				m := show(s, size.width, size.height)
				press(m, keys...)
				return checkScreen(t, m)
			}
			hostileState := newState(3, 2)
			hostileState.Name, hostileState.Reason = "trap", evil
			hostileState.Agents[1].Open[0].Name, hostileState.Agents[2].Parked, hostileState.Agents[0].Name = evil, evil, evil
			lab.Library(hostileState).Papers[0].Title, lab.Library(hostileState).Papers[1].Author = evil, evil
			alone := stateOf(solo.Society{}, 1, 0)
			alone.Limits = event.Limits{}
			paused := newState(3, 0)
			paused.Status = quest.Paused
			screens := []txtar.File{
				{Name: "three agents", Data: []byte(at(newState(3, 4)))},
				{Name: "64 agents, the papers chosen", Data: []byte(at(newState(64, 40), "end", "tab", "down", "down"))},
				{Name: "256 agents, in the middle", Data: []byte(at(newState(256, 500), "pgdown", "pgdown", "pgdown"))},
				{Name: "hostile", Data: []byte(at(hostileState))},
				{Name: "solo", Data: []byte(at(alone))},
				{Name: "paused, nothing handed in", Data: []byte(at(paused))},
				{Name: "a paper", Data: []byte(at(newState(3, 4), "tab", "end", "enter"))},
				{Name: "an agent", Data: []byte(at(newState(3, 4), "down", "enter"))},
				{Name: "to be stopped", Data: []byte(at(newState(3, 4), "s"))},
				{Name: "help", Data: []byte(at(newState(3, 4), "?"))},
			}
			golden(t, fmt.Sprintf("%dx%d.txtar", size.width, size.height), screens)
		})
	}
}

func golden(t *testing.T, name string, screens []txtar.File) {
	t.Helper()
	got := txtar.Format(&txtar.Archive{Files: screens})
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is another; look at it, and if it should be so: go test -update\n%s", name, diff)
	}
}

// TestEverySizeIsFilledAndNotMore goes through sizes that nobody has thought of.
func TestEverySizeIsFilledAndNotMore(t *testing.T) {
	t.Parallel()
	for _, s := range []*quest.State{newState(3, 4), newState(256, 300), newState(1, 0)} {
		m := show(s, MinWidth, MinHeight)
		for width := MinWidth; width < 230; width += 7 {
			for _, height := range []int{20, 21, 27, 33, 64} {
				m.Update(tea.WindowSizeMsg{Width: width, Height: height})
				checkScreen(t, m)
				press(m, "tab", "enter")
				checkScreen(t, m)
				press(m, "esc")
			}
		}
	}
}

func TestATerminalThatIsTooSmallIsTold(t *testing.T) {
	t.Parallel()
	m := show(newState(3, 3), 40, 10)
	if s := m.View().Content; !strings.Contains(s, "needs 60×20") || !strings.Contains(s, "40×10") {
		t.Errorf("it says %q", s)
	}
	m.Update(tea.WindowSizeMsg{Width: 1, Height: 1})
	m.View()
	m.Update(tea.WindowSizeMsg{})
	m.View()
}

func TestKeys(t *testing.T) {
	t.Parallel()
	t.Run("PausesAndResumes", func(t *testing.T) {
		t.Parallel()
		m := show(newState(3, 3), 80, 24)
		press(m, "p")
		if m.notice != "asked for quest.paused" {
			t.Errorf("the notice after p: got %q, want that a pause was asked for", m.notice)
		}
		m.state.Status = quest.Paused
		press(m, "p")
		if m.notice != "asked for quest.resumed" {
			t.Errorf("p again: %q", m.notice)
		}
	})
	t.Run("StopsOnlyWhenItIsMeant", func(t *testing.T) {
		t.Parallel()
		m := show(newState(3, 3), 80, 24)
		press(m, "s", "n")
		if m.notice != "Not stopped." {
			t.Errorf("the notice after s and n: got %q, want that nothing was stopped", m.notice)
		}
		press(m, "y")
		if m.notice != "" {
			t.Errorf("y alone: %q", m.notice)
		}
		press(m, "s", "y")
		if m.notice != "asked for quest.stopped" {
			t.Errorf("the notice after s and y: got %q, want that a stop was asked for", m.notice)
		}
	})
	t.Run("QLeavesAQuestOfAnotherProcess", func(t *testing.T) {
		t.Parallel()
		for _, k := range []string{"q", "ctrl+c"} {
			cmd := show(newState(3, 3), 80, 24).key(k)
			if cmd == nil {
				t.Fatalf("%s does nothing", k)
			}
			if _, ok := cmd().(tea.QuitMsg); !ok {
				t.Errorf("%s does not quit", k)
			}
		}
	})
	t.Run("AQuestOfThisProcessIsPausedFirst", func(t *testing.T) {
		t.Parallel()
		m, times := show(newState(3, 3), 80, 24), 0
		m.src.Interrupt = func() { times++ }
		if cmd := m.key("ctrl+c"); cmd != nil || times != 1 {
			t.Fatalf("the first Ctrl-C quits, or does not interrupt (%d times)", times)
		}
		if s := checkScreen(t, m); !strings.Contains(s, "Stopping: what is under way comes in first") || !strings.Contains(s, "pausing") {
			t.Errorf("it does not say so:\n%s", s)
		}
		cmd := m.key("ctrl+c")
		if cmd == nil || times != 2 {
			t.Fatalf("the second Ctrl-C does not leave, or does not interrupt (%d times)", times)
		}
	})
	t.Run("TheChosenPaperStaysChosenWhenOthersCome", func(t *testing.T) {
		t.Parallel()
		m := show(newState(3, 5), 100, 30)
		press(m, "tab", "down", "down")
		before := m.panel.(*papers).chosen()
		lab.Library(m.state).Papers = append(lab.Library(m.state).Papers, newPaper(5), newPaper(6))
		if m.panel.(*papers).chosen() != before || before != 2 {
			t.Errorf("paper %d was chosen, now it is %d", before, m.panel.(*papers).chosen())
		}
		press(m, "home")
		lab.Library(m.state).Papers = append(lab.Library(m.state).Papers, newPaper(7))
		if m.panel.(*papers).chosen() != 7 {
			t.Errorf("the newest was chosen, now it is %d of 8", m.panel.(*papers).chosen())
		}
	})
	t.Run("APaperIsSetAnewForAnotherWidth", func(t *testing.T) {
		t.Parallel()
		s := newState(3, 1)
		lab.Library(s).Papers[0].Content.Text = strings.Repeat("word ", 300)
		m := show(s, 60, 20)
		press(m, "tab", "enter", "end")
		narrow := len(m.open.lines)
		m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
		if len(m.open.lines) >= narrow || m.open.top != 0 {
			t.Errorf("%d lines, then %d, from %d on", narrow, len(m.open.lines), m.open.top)
		}
		checkScreen(t, m)
		press(m, "esc")
		if m.open != nil {
			t.Error("esc does not close it")
		}
	})
	t.Run("APaperThatCannotBeReadIsTold", func(t *testing.T) {
		t.Parallel()
		s := newState(3, 1)
		lab.Library(s).Papers[0].Content = event.Text{Ref: &event.Ref{Size: 3}}
		m := show(s, 80, 24)
		press(m, "tab", "enter")
		if m.open != nil || !strings.Contains(m.notice, "read paper "+ref(0)) {
			t.Errorf("it says %q", m.notice)
		}
	})
}

func TestAnInterruptedQuestDoesNotSpinAndItsTimeStandsStill(t *testing.T) {
	t.Parallel()
	m := show(newState(3, 0), 80, 24)
	later := tick(m.state.Time.Time().Add(3600e9))
	m.Update(later)
	if s := checkScreen(t, m); !strings.Contains(s, "1:12:34") || !strings.Contains(s, string(spinner[1])) {
		t.Errorf("an hour later:\n%s", s)
	}
	m.Update(claim(false))
	s := checkScreen(t, m)
	if !strings.Contains(s, "interrupted") || !strings.Contains(s, "12:34") || strings.Contains(s, "1:12:34") || strings.Contains(s, string(spinner[1])) {
		t.Errorf("nobody runs it:\n%s", s)
	}
}

// TestAQuestWaitsForItsProvider: the view says for which, and nothing spins. An agent that has
// something else to do makes the quest a running one.
func TestAQuestWaitsForItsProvider(t *testing.T) {
	t.Parallel()
	story := questtest.Begin(t, lab.Society{}, questtest.Created(lab.Society{}, 2))
	story.Start()
	story.Take("core", &event.ProviderLost{Models: []string{"m"}, Patience: 3600e6, Provider: "far\x1b[2J", Reason: "connection refused"})
	later := func() string {
		m := show(story.State, 160, 24)
		m.Update(tick(story.State.Time.Time().Add(3600e9)))
		return checkScreen(t, m)
	}
	if s := later(); !strings.Contains(s, "◌ waiting for far") || !strings.Contains(s, "◌ agent-1 waiting for far") || strings.Contains(s, "1:00:0") || strings.Contains(s, string(spinner[1])) {
		t.Errorf("an hour after the provider went: want a quest and agents that wait for it, and a time that stands still:\n%s", s)
	}
	story.Take("core", &event.ProviderBack{Provider: "far\x1b[2J"})
	if s := later(); !strings.Contains(s, "● running") || !strings.Contains(s, string(spinner[1])+" agent-1 thinking") {
		t.Errorf("the provider is back, want a quest that runs and agents that think:\n%s", s)
	}
	story.Sound()
}

func TestBarsTellHowMuchIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, most int64
		want    string
	}{{0, 100, "░░░░░░░░░░"}, {1, 100, "█░░░░░░░░░"}, {50, 100, "█████░░░░░"}, {99, 100, "█████████░"}, {100, 100, "██████████"}, {250, 100, "██████████"}, {0, 0, "██████████"}} {
		if got := ansi.Strip(bar(c.n, c.most, 10)); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.most, got, c.want)
		}
	}
}
