package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// asking is a lab in which these questions are open and nobody else works.
func asking(questions ...quest.Question) *quest.State {
	s := newState(3, 1)
	for _, a := range s.Agents {
		a.Asked, a.Open, a.Failed = 0, nil, nil
	}
	for _, q := range questions {
		s.Questions = append(s.Questions, q)
		s.Calls[q.Seq] = quest.Call{Kind: "interaction.opened", Agent: q.Asker}
	}
	return s
}

func colour(seq uint64) quest.Question {
	return quest.Question{Seq: seq, Asker: "agent-0", Body: event.InteractionOpened{Blocking: true, Question: event.Text{Text: "Which colour?\nIt is for the door."}, Options: []string{"red", "blue"}}}
}

func why(seq uint64) quest.Question {
	return quest.Question{Seq: seq, Asker: "agent-1", Body: event.InteractionOpened{Question: event.Text{Text: "And why?"}}}
}

func proposal(seq uint64) quest.Question {
	return quest.Question{Seq: seq, Asker: "agent-2", Body: event.InteractionOpened{
		Blocking: true, Proposal: "tool.call", Question: event.Text{Text: "agent-2 wants to call write_file. It writes."}, Options: []string{"yes", "no"},
		Default: "no", Expires: event.Time(1_800_000_000_000_000 + 3600e6),
	}}
}

// posts gives what a model puts into the inbox.
func posts(m *Model, fail error) *[]*event.InteractionAnswered {
	var all []*event.InteractionAnswered
	m.src.Act = func(b event.Body) (string, error) {
		all = append(all, b.(*event.InteractionAnswered))
		return "", fail
	}
	return &all
}

func typed(text string) (keys []string) {
	for _, r := range text {
		if r == ' ' {
			keys = append(keys, "space")
		} else {
			keys = append(keys, string(r))
		}
	}
	return keys
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	shows := func(t *testing.T, m *Model, want ...string) {
		t.Helper()
		screen := checkScreen(t, m)
		for _, w := range want {
			if !strings.Contains(screen, w) {
				t.Errorf("the screen does not show %q:\n%s", w, screen)
			}
		}
	}
	sent := func(t *testing.T, got []*event.InteractionAnswered, want ...event.InteractionAnswered) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d answers were posted, want %d", len(got), len(want))
		}
		for i := range want {
			if *got[i] != want[i] {
				t.Errorf("the answer is %+v, want %+v", *got[i], want[i])
			}
		}
	}
	t.Run("AreSeenBesideTheLists", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12), why(13), proposal(14)), 80, 24)
		shows(t, m, "? waiting", "? agent-0 asks: Which colour? It is for the door.", "(and 1 more) agent-1 asks: And why?", "a answer", "asks you")
		m.Update(claim(false)) // nobody need run it
		shows(t, m, "? waiting")
		if m.busy() {
			t.Error("something moves while all wait")
		}
	})
	t.Run("AnOptionByItsNumber", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12)), 80, 24)
		got := posts(m, nil)
		press(m, "a")
		shows(t, m, "Question 12 of agent-0", "It is for the door.", "1  red", "2  blue", "In your own words:", "enter send")
		press(m, "enter")
		shows(t, m, "Choose an answer first")
		press(m, "2")
		shows(t, m, "› 2  blue")
		press(m, "enter")
		sent(t, *got, event.InteractionAnswered{Interaction: 12, Choice: "blue"})
		if m.reply != nil || m.notice != "Answered." || len(m.asked()) != 0 {
			t.Errorf("after the answer it says %q, and asks %d things", m.notice, len(m.asked()))
		}
	})
	t.Run("AnOptionByArrows", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12)), 80, 24)
		got := posts(m, nil)
		press(m, "a", "down", "down", "up", "enter")
		sent(t, *got, event.InteractionAnswered{Interaction: 12, Choice: "red"})
	})
	t.Run("OwnWords", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12)), 80, 24)
		got := posts(m, nil)
		press(m, append([]string{"a", "1"}, typed("green, not 2q?")...)...)
		m.Update(tea.PasteMsg{Content: " or\x1b[2J so"})
		shows(t, m, "In your own words: green, not 2q? or�[2J so▏")
		press(m, "backspace", "backspace", "backspace", "enter")
		sent(t, *got, event.InteractionAnswered{Interaction: 12, Text: "green, not 2q? or\uFFFD[2J"})
	})
	t.Run("AProposalIsAnsweredWithYesOrNoAndAWord", func(t *testing.T) {
		t.Parallel()
		m := show(asking(proposal(14)), 80, 24)
		got := posts(m, nil)
		press(m, "a")
		shows(t, m, "agent-2 wants to call write_file. It writes.", "A word with it:", "If nobody answers by 2027-01-15T09:00:00.000000Z: no")
		press(m, append([]string{"x", "enter"}, "backspace")...)
		press(m, "up", "n")
		press(m, append(append([]string{"n", "down", "down"}, typed("Not now.")...), "enter")...)
		sent(t, *got, event.InteractionAnswered{Interaction: 14, Choice: "no", Text: "Not now."})
	})
	t.Run("TabGoesToTheNextOne", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12), why(13)), 80, 24)
		got := posts(m, nil)
		press(m, "a", "tab")
		shows(t, m, "Question 13 of agent-1", "Answer: ▏")
		press(m, append(typed("So"), "tab")...)
		shows(t, m, "Question 12 of agent-0")
		press(m, "tab")
		press(m, append(typed("It fades."), "enter")...)
		sent(t, *got, event.InteractionAnswered{Interaction: 13, Text: "It fades."})
	})
	t.Run("WhatIsRefusedIsKept", func(t *testing.T) {
		t.Parallel()
		m := show(asking(why(13)), 80, 24)
		posts(m, errors.New("the disk is full"))
		press(m, append(append([]string{"a"}, typed("It fades.")...), "enter")...)
		shows(t, m, "the disk is full", "Answer: It fades.▏")
		press(m, "esc")
		if m.reply != nil || len(m.asked()) != 1 {
			t.Error("esc does not lead back, or the question is gone")
		}
	})
	t.Run("OneThatIsAnsweredElsewhereCloses", func(t *testing.T) {
		t.Parallel()
		m := show(asking(colour(12)), 80, 24)
		press(m, "a", "1")
		m.state.Questions = nil
		m.withdrawn()
		shows(t, m, "Question 12 is not open any more: somebody else has answered it")
	})
	t.Run("WithoutAnyThereIsNothingToAnswer", func(t *testing.T) {
		t.Parallel()
		m := show(newState(3, 1), 80, 24)
		press(m, "a")
		shows(t, m, "Nothing is asked.")
	})
	t.Run("FitEverySize", func(t *testing.T) {
		t.Parallel()
		trap := colour(12)
		trap.Asker, trap.Body.Question.Text = evil, strings.Repeat(evil+" words ", 80)
		for i := range 8 {
			trap.Body.Options = append(trap.Body.Options, fmt.Sprint(evil, i))
		}
		m := show(asking(trap, why(13), proposal(14)), MinWidth, MinHeight)
		press(m, "a", "3", "pgdown")
		for width := MinWidth; width < 200; width += 17 {
			for _, height := range []int{20, 23, 50} {
				m.Update(tea.WindowSizeMsg{Width: width, Height: height})
				checkScreen(t, m)
			}
		}
		press(m, "esc")
		for width := MinWidth; width < 200; width += 17 {
			for _, height := range []int{20, 23, 50} {
				m.Update(tea.WindowSizeMsg{Width: width, Height: height})
				checkScreen(t, m)
			}
		}
	})
}
