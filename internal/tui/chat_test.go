package tui

import (
	"errors"
	"strings"
	"testing"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// spokenTo is a conversation on a screen, and what a person gave the quest in it.
type spokenTo struct {
	*talkModel
	t        *testing.T
	said     []string
	files    [][]string
	answers  []event.InteractionAnswered
	commands []chat.Command
	refuses  error
}

func conversation(t *testing.T, questions ...quest.Question) *spokenTo {
	c := &spokenTo{t: t}
	src := &ChatSource{
		Read: func(event.Ref) ([]byte, error) { return nil, errors.New("no blob") },
		Say: func(text string, files []string) (int64, string, error) {
			c.said, c.files = append(c.said, text), append(c.files, files)
			return 7, "", c.refuses
		},
		Answer: func(b *event.InteractionAnswered) (string, error) {
			c.answers = append(c.answers, *b)
			return "Answered.", c.refuses
		},
		Command: func(cmd *chat.Command) (string, error) {
			c.commands = append(c.commands, *cmd)
			return "It is so.", nil
		},
	}
	c.talkModel = newChat(src, &Source{}, asking(questions...), Mono)
	c.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return c
}

// press presses keys, and does what follows from them.
func (c *spokenTo) press(keys ...string) {
	for _, k := range keys {
		if cmd := c.key(k); cmd != nil {
			if msg := cmd(); msg != nil {
				c.Update(msg)
			}
		}
	}
}

func (c *spokenTo) shows(want ...string) {
	c.t.Helper()
	screen := ansi.Strip(c.screen())
	for _, w := range want {
		if !strings.Contains(screen, w) {
			c.t.Errorf("the screen does not show %q:\n%s", w, screen)
		}
	}
	lines := strings.Split(screen, "\n")
	if len(lines) > 24 {
		c.t.Errorf("the screen has %d lines, want at most 24", len(lines))
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > 80 {
			c.t.Errorf("a line is wider than the screen: %q", l)
		}
	}
}

func TestAConversation(t *testing.T) {
	t.Parallel()
	t.Run("AMessageIsSent", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		c.press(append(typed(`look at @data.csv \`), "enter")...)
		c.press(append(typed("now"), "enter")...)
		if len(c.said) != 1 || c.said[0] != "look at @data.csv \nnow" || len(c.files[0]) != 1 || c.files[0][0] != "data.csv" {
			t.Fatalf("got %q with %q, want both lines and the file", c.said, c.files)
		}
		c.shows("you  … sending", "look at @data.csv")
		c.told.take(event.Event{Seq: 90, Body: &event.UserMessage{Inbox: 7, Text: event.Text{Text: "look"}}}, c.state)
		c.shows("… queued (90)")
		c.told.take(event.Event{Seq: 91, Actor: "agent-0", Body: &event.ModelCall{}}, c.state)
		if u := c.told.all[len(c.told.all)-1]; c.told.mark(u) != "✓" {
			t.Errorf("after the next turn the mark is %q, want ✓", c.told.mark(u))
		}
	})
	t.Run("WhatIsRefusedComesBack", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		c.refuses = errors.New("there is no file x.csv")
		c.press(append(typed("see @x.csv"), "enter")...)
		if c.line.text != "see @x.csv" || len(c.sending) != 0 {
			t.Errorf("got %q and %d under way, want the text to mend", c.line.text, len(c.sending))
		}
		c.shows("there is no file x.csv")
	})
	t.Run("CommandsAreNoMessages", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		c.press(append(typed("/status"), "enter")...)
		c.shows("/status", "It is so.")
		c.press(append(typed("/stats"), "enter")...)
		c.shows("there is no command /stats; did you mean /status?")
		c.press("ctrl+u")
		c.press(append(typed("//tmp is full"), "enter")...)
		if len(c.commands) != 1 || c.commands[0].Name != "status" || len(c.said) != 1 || c.said[0] != "/tmp is full" {
			t.Errorf("got %v and %q, want one command and one message", c.commands, c.said)
		}
	})
	t.Run("CtrlCAsks", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		if cmd := c.key("ctrl+c"); cmd != nil {
			t.Error("the first Ctrl-C: got an end, want a question")
		}
		c.shows("Leave? The quest stays as it is.")
		c.press("n")
		c.key("ctrl+c")
		if cmd := c.key("y"); cmd == nil {
			t.Error("yes: got nothing, want the end")
		}
	})
	t.Run("AReviewIsTheReviewers", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		given := &event.ReviewGiven{Paper: "paper-1", Round: 1, Source: "reviewer", Summary: "It is \x1b[2Jgood.", Points: []event.ReviewPoint{{Number: 3, Severity: "major", Text: "Why?"}}}
		c.told.take(event.Event{Seq: 90, Actor: "reviewer", Body: given}, c.state)
		c.shows("reviewer", "review", "Review of paper-1, round 1: It is", "point 3, major: Why?")
		if u := c.told.all[len(c.told.all)-1]; u.who != anAgent || u.name != "reviewer" || u.label != "review" {
			t.Errorf("a review is told as that of %q, %q", u.name, u.label)
		}
		c.told.take(event.Event{Seq: 91, Actor: "reviewer", Body: &event.ReviewGiven{Paper: "paper-1", Round: 2, Source: "reviewer", Error: "its model failed"}}, c.state)
		if u := c.told.all[len(c.told.all)-1]; u.who != news || !strings.Contains(u.text, "its model failed") {
			t.Errorf("a review that came to nothing is told as %q", u.text)
		}
	})
	t.Run("HostileWords", func(t *testing.T) {
		t.Parallel()
		c := conversation(t)
		c.told.take(event.Event{Seq: 90, Actor: "agent-0", Body: &event.InteractSaid{Kind: "mile\x1b[2Jstone", Text: event.Text{Text: "a \x1b]0;title\x07 b"}}}, c.state)
		c.hear(spoken{agent: "agent-0", text: "live \x1b[2J"})
		if s := c.screen(); strings.Contains(s, "\x1b[2J") || strings.Contains(s, "\x1b]0") {
			t.Errorf("the terminal would obey an agent: %q", s)
		}
		c.shows("live")
	})
}

func TestQuestionsInAConversation(t *testing.T) {
	t.Parallel()
	c := conversation(t, colour(40))
	c.shows("Question 40 of agent-0", "1  red", "2  blue", "answer ›")
	c.press("enter")
	c.shows("Choose an answer")
	c.press("2", "enter")
	if len(c.answers) != 1 || c.answers[0] != (event.InteractionAnswered{Interaction: 40, Choice: "blue"}) {
		t.Fatalf("by number: got %+v, want blue", c.answers)
	}
	c = conversation(t, colour(40))
	c.press("down", "enter")
	if len(c.answers) != 1 || c.answers[0].Choice != "red" {
		t.Errorf("by arrow: got %+v, want red", c.answers)
	}
	c = conversation(t, colour(40))
	c.press(append(typed("green, if 2 is out"), "enter")...)
	if len(c.answers) != 1 || c.answers[0].Choice != "" || c.answers[0].Text != "green, if 2 is out" {
		t.Errorf("in words: got %+v, want them", c.answers)
	}
	c = conversation(t, colour(40))
	c.press("esc")
	c.press(append(typed("Wait"), "enter")...)
	if len(c.answers) != 0 || len(c.said) != 1 {
		t.Errorf("put aside: got %+v and %q, want a message", c.answers, c.said)
	}
	c.press("esc")
	c.shows("Question 40 of agent-0")
	c.refuses = errors.New("somebody was faster")
	c.press("1", "enter")
	c.shows("somebody was faster", "Question 40 of agent-0")
}
