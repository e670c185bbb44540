package runtime_test

import (
	"context"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// asks has an agent ask and then answer.
const asks = `
rules:
  - on: {turn: 1}
    call: [{tool: ask_person, args: {question: "Which colour?", options: [red, blue]}}]
  - on: {tool: ask_person, result: "A person answers: blue"}
    say: "Blue, then."
`

func (l *lab) reply(name string, seq uint64, choice string) {
	l.t.Helper()
	_, err := l.Post(l.t.Context(), name, ledger.Command{Body: &event.InteractionAnswered{Interaction: seq, Choice: choice}})
	must(l.t, err)
}

func TestARunLeavesAQuestThatWaits(t *testing.T) {
	l := newLab(t)
	name := l.create(plan(t, "q", "may_ask: true\n", asks))
	leave := func() *quest.State {
		s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
		must(t, err)
		return s
	}
	s := leave()
	if !s.Waiting() || len(s.Open()) != 1 || s.Status != quest.Running {
		t.Fatalf("it is %s, waiting %v: %s", s.Status, s.Waiting(), types(l.events(name)))
	}
	before := l.events(name)
	if leave(); len(l.events(name)) != len(before) {
		t.Errorf("to look again has added %s", types(l.events(name)[len(before):]))
	}
	if claimed, err := l.Ledger.Claimed(name); err != nil || claimed {
		t.Errorf("somebody has it: %v %v", claimed, err)
	}
	l.reply(name, s.Open()[0].Seq, "blue")
	s = leave()
	if s.Status != quest.Finished || s.Answer.Text != "Blue, then." {
		t.Fatalf("it is %s: %s", s.Status, types(l.events(name)))
	}
	if got := types(l.events(name)[len(before):]); !strings.HasPrefix(got, "interaction.answered tool.answered model.call") {
		t.Errorf("an answer leads to %s", got)
	}
	l.sound(name)
}

// A run that does not leave waits with the quest, and takes the answer from its inbox.
func TestARunWaitsForAPerson(t *testing.T) {
	l := newLab(t)
	name := l.create(plan(t, "q", "may_ask: true\n", asks))
	asked := make(chan uint64, 1)
	done := make(chan *quest.State, 1)
	go func() {
		s, err := l.Run(t.Context(), name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "interaction.opened" {
				asked <- e.Seq
			}
		}})
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	l.reply(name, <-asked, "blue")
	if s := <-done; s.Status != quest.Finished {
		t.Errorf("it is %s", s.Status)
	}
	l.sound(name)
}

// Whoever is killed while a quest waits takes nothing with them.
func TestAWaitSurvivesItsProcess(t *testing.T) {
	l := newLab(t)
	name := l.create(plan(t, "q", "may_ask: true\n", asks))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "interaction.opened" {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("the run was not broken off")
	}
	s, err := l.Load(t.Context(), name)
	must(t, err)
	l.reply(name, s.Open()[0].Seq, "blue")
	l.reply(name, s.Open()[0].Seq, "red") // too late
	if s = l.run(name); s.Status != quest.Finished {
		t.Errorf("it is %s: %s", s.Status, types(l.events(name)))
	}
	if n := strings.Count(types(l.events(name)), "interaction.answered"); n != 1 {
		t.Errorf("%d answers were taken", n)
	}
	l.sound(name)
}
