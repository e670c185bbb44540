package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// answered is the view of a lab that has ended, at the size of a terminal.
func answered(t *testing.T) *Model {
	t.Helper()
	s := newState(3, 1)
	s.Status, s.Answer = quest.Finished, &event.Text{Text: "# Primes\n\nThere are **168** " + evil + strings.Repeat("\n\nmore", 40) + "\n\nthe end"}
	src, _ := silent(nil)
	src.ctx = t.Context()
	src.Read = func(event.Ref) ([]byte, error) { return nil, errors.New("there is no blob here") }
	m := NewModel(&src, s, Mono)
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	return m
}

// deliver takes in what the commands of a batch come to, but for those that wait.
func deliver(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			deliver(m, c)
		}
	case loaded:
		m.Update(msg)
	}
}

// TestARunThatHasEndedShowsItsAnswer before anything is pressed: in a line, how sure it is, and
// whole, to be scrolled.
func TestARunThatHasEndedShowsItsAnswer(t *testing.T) {
	t.Parallel()
	m := answered(t)
	if got := ansi.Strip(m.screen()); !strings.Contains(got, "✓ "+m.state.Verdict().Value) || !strings.Contains(got, "a answer") {
		t.Errorf("the screen of a finished quest lacks its answer in a line, or the key for the whole of it:\n%s", got)
	}
	_, cmd := m.Update(over(time.Millisecond))
	deliver(m, cmd)
	got := ansi.Strip(m.screen())
	for _, want := range []string{"─ Answer ", m.state.Verdict().Value, m.state.Verdict().Agree, m.state.Verdict().Sure, "│ # Primes", "There are **168**"} {
		if !strings.Contains(got, want) {
			t.Errorf("the view of a run that has ended lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(m.screen(), "\x1b[2J") || strings.Contains(got, "the end") {
		t.Errorf("the view obeys its answer, or shows more than fits:\n%q", got)
	}
	if m.key("G"); !strings.Contains(ansi.Strip(m.screen()), "│ the end") {
		t.Errorf("the answer cannot be scrolled to its end:\n%s", ansi.Strip(m.screen()))
	}
	m.key("esc")
	if got := ansi.Strip(m.screen()); !strings.Contains(got, "─ Papers ") {
		t.Errorf("esc does not lead back to the lists:\n%s", got)
	}
	deliver(m, m.key("a"))
	if got := ansi.Strip(m.screen()); !strings.Contains(got, "─ Answer ") {
		t.Errorf("a does not open the answer again:\n%s", got)
	}
	if cmd := m.key("q"); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q in the answer does not leave a view whose run has ended")
	}
}

// TestAnAnswerCoversNothingThatIsRead: a person who reads a paper when the run ends goes on reading.
func TestAnAnswerCoversNothingThatIsRead(t *testing.T) {
	t.Parallel()
	m := answered(t)
	m.key("?")
	_, cmd := m.Update(over(time.Millisecond))
	deliver(m, cmd)
	if got := ansi.Strip(m.screen()); !strings.Contains(got, "─ Help ") {
		t.Errorf("the help was covered:\n%s", got)
	}
}

// TestTheLastEventsMayComeLate: the word that a run has ended can come before its last events.
func TestTheLastEventsMayComeLate(t *testing.T) {
	t.Parallel()
	m := answered(t)
	m.state.Status = quest.Running
	_, cmd := m.Update(over(time.Millisecond))
	deliver(m, cmd)
	if m.open != nil {
		t.Fatal("there is an answer of a quest that has not ended")
	}
	m.state.Status = quest.Finished
	m.src.events = make(chan event.Event)
	close(m.src.events) // nobody waits for further ones
	_, cmd = m.Update(happened{})
	deliver(m, cmd)
	if m.open == nil || !m.open.last {
		t.Error("the answer was not opened when the last event came")
	}
}
