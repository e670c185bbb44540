package tui

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// watched is a view of a lab with a ledger that a test writes.
type watched struct {
	*Model
	t     *testing.T
	past  []event.Event
	acts  []event.Body
	forks []string
}

func watchedLab(t *testing.T, agents int) *watched {
	t.Helper()
	s := newState(agents, 4)
	s.Seq = 100
	w := &watched{t: t}
	src := &Source{
		Follow: func(context.Context, uint64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for _, e := range w.past {
					if !yield(e, nil) {
						return
					}
				}
			}
		},
		Read: func(event.Ref) ([]byte, error) { return nil, errors.New("no blob") },
		Say: func(e event.Event, s *quest.State) string {
			return (&view.Teller{Title: view.Titles(s)}).Tell(e).Sentence()
		},
		Act:    func(b event.Body) (string, error) { w.acts = append(w.acts, b); return "", nil },
		Fork:   func(name string, at uint64) (string, error) { w.forks = append(w.forks, name); return "Forked.", nil },
		Browse: func() (string, error) { return "Opened.", nil },
		ctx:    t.Context(),
	}
	w.Model = NewModel(src, s, Mono)
	w.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
	return w
}

// press presses keys, and takes in what they come to.
func (w *watched) press(keys ...string) {
	for _, k := range keys {
		if cmd := w.key(k); cmd != nil {
			if msg := cmd(); msg != nil {
				w.Update(msg)
			}
		}
	}
}

func (w *watched) shows(want ...string) {
	w.t.Helper()
	screen := ansi.Strip(w.screen())
	for _, text := range want {
		if !strings.Contains(screen, text) {
			w.t.Errorf("the screen does not show %q:\n%s", text, screen)
		}
	}
	for _, l := range strings.Split(screen, "\n") {
		if ansi.StringWidth(l) > 100 {
			w.t.Errorf("a line is wider than the screen: %q", l)
		}
	}
	if strings.Contains(w.screen(), "\x1b[2J") {
		w.t.Errorf("the terminal would obey an agent:\n%q", w.screen())
	}
}

// lacks wants texts not to be shown.
func (w *watched) lacks(texts ...string) {
	w.t.Helper()
	screen := ansi.Strip(w.screen())
	for _, text := range texts {
		if strings.Contains(screen, text) {
			w.t.Errorf("the screen shows %q:\n%s", text, screen)
		}
	}
}

func answer(seq uint64, by, text string) event.Event {
	return event.Event{Seq: seq, Type: "model.result", Actor: by, Time: 1_800_000_000_000_000, Body: &event.ModelResult{Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}}}
}

// TestAnAgentsWordsAsTheyCome: what it heard and said before it was looked at, what comes, what its
// model is saying, and what it runs; nobody else's.
func TestAnAgentsWordsAsTheyCome(t *testing.T) {
	t.Parallel()
	w := watchedLab(t, 3)
	w.past = []event.Event{
		answer(5, "agent-0", "I begin "+evil),
		answer(6, "agent-1", "the words of another"),
		{Seq: 7, Actor: "agent-0", Type: "tool.call", Tool: "calculate", Body: &event.ToolCall{Answer: 5, ID: "1"}},
		{Seq: 8, Actor: "world", Type: "tool.result", Tool: "calculate", Body: &event.ToolResult{Call: 7, Output: event.Text{Text: "forty-two"}}},
		{Seq: 9, Actor: "world", Type: "tool.result", Tool: "calculate", Body: &event.ToolResult{Call: 6, Output: event.Text{Text: "of somebody else"}}},
		{Seq: 100, Actor: "person", Type: "user.message", Body: &event.UserMessage{To: "agent-0", Text: event.Text{Text: "look at 997"}}},
	}
	w.press("enter")
	w.shows("─ agent-0 ", "I begin", "forty-two", "look at 997", "esc back")
	w.lacks("the words of another", "of somebody else", "Reading")
	w.Update(spoken{agent: "agent-1", text: "not here"})
	w.Update(spoken{agent: "agent-0", text: "So I think "})
	w.Update(spoken{agent: "agent-0", text: "that\x1b[2J it is"})
	w.shows("agent-0 says", "So I think that")
	w.lacks("not here")
	w.Update(spoken{agent: "agent-0", text: "Anew", again: true})
	w.lacks("So I think")
	w.Update(spoken{agent: "agent-0", text: "late words", call: 6}) // it answers call 7 by now
	w.lacks("late words", "Anew")
	// What it runs is told with its command.
	a := w.state.Agents[0]
	a.Asked, a.Open = 0, []agent.Use{{Name: "exec", Args: event.Text{Text: `{"command":"python3 sieve.py\n --fast"}`}}}
	delete(w.words, "agent-0")
	w.refresh()
	w.shows("runs exec python3 sieve.py")
	w.press("m")
	w.press(append(typed("and 991"), "enter")...)
	if b, ok := w.acts[0].(*event.UserMessage); !ok || b.To != "agent-0" || b.Text.Text != "and 991" {
		t.Errorf("what was said at an agent's desk: got %+v, want a message to it", w.acts)
	}
	w.shows("Told agent-0.")
	w.press("esc")
	w.shows("─ Agents ")
}

// TestKeysOfAWatcher: a message to all, a fork, the page, a filter, an order, the events of interest.
func TestKeysOfAWatcher(t *testing.T) {
	t.Parallel()
	w := watchedLab(t, 5)
	w.press("m")
	w.press(typed("hurry")...)
	w.shows("to all agents › hurry")
	w.press("enter")
	if b, ok := w.acts[0].(*event.UserMessage); !ok || b.To != "" || b.Text.Text != "hurry" {
		t.Errorf("a message: got %+v, want one to all", w.acts)
	}
	w.press("F")
	w.press(append(typed("other"), "enter")...)
	if len(w.forks) != 1 || w.forks[0] != "other" {
		t.Errorf("forks: got %q, want other", w.forks)
	}
	w.press("o")
	w.shows("Opened.")

	w.press("/")
	w.press(append(typed("agent-3"), "enter")...)
	w.shows("/agent-3", "agent-3")
	w.lacks("agent-4")
	w.press("esc")
	w.shows("agent-4")
	w.press("S")
	w.shows("Agents by cost.")
	if got := w.agents()[0].Name; got != "agent-4" {
		t.Errorf("by cost: got %s first, want the dearest, agent-4", got)
	}

	w.press("n")
	w.shows("Nothing of interest has happened lately.")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.state.Seq = 200 // what is told here is not folded
	must(w.take([]event.Event{
		{Seq: 101, Type: "quest.stopped", Body: &event.QuestStopped{Reason: "the first one"}},
		answer(102, "agent-1", "chatter"),
		{Seq: 103, Type: "quest.paused", Body: &event.QuestPaused{Reason: "the second one"}},
	}))
	marked := func(want string) {
		t.Helper()
		for _, l := range strings.Split(ansi.Strip(w.screen()), "\n") {
			if strings.Contains(l, "▌") {
				if !strings.Contains(l, want) {
					t.Errorf("the event that is looked at: got %q, want one with %q", l, want)
				}
				return
			}
		}
		t.Errorf("no event is looked at:\n%s", ansi.Strip(w.screen()))
	}
	w.press("n")
	marked("the second one")
	w.press("N")
	marked("the first one")
	w.press("n")
	marked("the second one")
	w.press("n")
	w.shows("There is no further event of interest.")
}

// TestHowFastAQuestSpends: dollars a minute, tokens a second, and when that comes to a limit.
func TestHowFastAQuestSpends(t *testing.T) {
	t.Parallel()
	w := watchedLab(t, 3)
	w.lacks("a minute")
	now := w.state.Time
	w.state.Seq = 200
	for i := range 6 {
		e := answer(uint64(101+i), "agent-0", "so")
		e.Time = now - event.Time((60-10*i)*1e6)
		e.Body.(*event.ModelResult).Cost, e.Body.(*event.ModelResult).Usage = 100_000_000, event.Usage{Input: 900, Output: 100}
		if err := w.take([]event.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	w.Update(tick(now.Time()))
	// $3.77 are left of $5, at $0.60 a minute.
	w.shows("spends $0.60 a minute", "tokens 100/s", "limit on cost in 6 min", "█")
	w.Update(tick(now.Time().Add(10 * time.Minute)))
	w.lacks("a minute")
}

// TestTheAnswerSoFar stands above the lists, with who agrees.
func TestTheAnswerSoFar(t *testing.T) {
	t.Parallel()
	w := watchedLab(t, 3)
	w.shows("◌ On the number of primes below 10^2", "so far: 2 of 3 votes")
}

// TestAllQuestsLive: those that run first, what is chosen stays chosen while rows move, and enter leads
// to it.
func TestAllQuestsLive(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	rows := []TopRow{
		{Quest: "old", State: "finished", Society: "solo", Agents: 1, Price: "$0.10", Cost: 1e8, Updated: at, Answer: "42"},
		{Quest: "busy", State: "running", Society: "lab", Running: true, Agents: 24, Price: "$1.25", Cost: 125e7, Updated: at, Answer: "(168\x1b[2J)", Agree: "39 of 46 papers say so", Rate: view.Rate{Cost: 65e7, Tokens: 812, Spent: [view.Sparks]int64{28: 5, 29: 9}}},
	}
	m := &topModel{ctx: t.Context()}
	m.Update(tea.WindowSizeMsg{Width: 150, Height: 12})
	m.take(rows)
	screen := ansi.Strip(m.screen())
	for _, want := range []string{"2 quests · 1 running · $1.35 in all · $0.65 a minute · 812 tokens/s", "busy", "(168", "39 of 46 papers say so", "█"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen does not show %q:\n%s", want, screen)
		}
	}
	lines := strings.Split(screen, "\n")
	if len(lines) != 12 || !strings.HasPrefix(lines[2], "▌busy") || strings.Contains(m.screen(), "\x1b[2J") {
		t.Errorf("got %d lines, want 12 with the quest that runs first:\n%q", len(lines), screen)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > 150 {
			t.Errorf("a line is wider than the screen: %q", l)
		}
	}
	m.key("j")
	later := slices.Clone(rows)
	later[0].Running, later[1].Running = true, false
	m.take(later)
	if got := m.shown()[m.chosen].Quest; got != "old" {
		t.Errorf("after the rows have moved %s is chosen, want old", got)
	}
	m.key("/")
	for _, k := range typed("lab") {
		m.key(k)
	}
	m.key("enter")
	if got := m.shown(); len(got) != 1 || got[0].Quest != "busy" {
		t.Errorf("a filter: got %v, want busy alone", got)
	}
	if cmd := m.key("enter"); cmd == nil || m.entered != "busy" {
		t.Errorf("enter leads to %q, want busy", m.entered)
	}
}
