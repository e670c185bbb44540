package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	all "lyceum/internal/society"
)

// talks is a researcher that says something to whatever it hears.
const talks = `
rules:
  - on: {last: "cut me"}
    say: "I heard that at once."
  - on: {last: "hang"}
    fault: hang
  - say: "Turn ${turn}."
`

func newStudy(t *testing.T) (*lab, string) {
	l := newLab(t)
	l.Societies = all.All()
	return l, l.create(plan(t, "q", "society: stages\n", talks))
}

func (l *lab) says(name, text string) {
	l.t.Helper()
	_, err := l.Post(l.t.Context(), name, ledger.Command{Key: text, Body: &event.UserMessage{Text: event.Text{Text: text}}})
	must(l.t, err)
}

// delivered are the messages that were, in order.
func delivered(events []event.Event) (out []uint64) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *event.SittingBegun:
			out = append(out, b.Mail...)
		case *event.MailDelivered:
			out = append(out, b.Messages...)
		}
	}
	return out
}

func TestARunLeavesAStudyThatWaitsForWords(t *testing.T) {
	l, name := newStudy(t)
	leave := func() *quest.State {
		s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
		must(t, err)
		return s
	}
	if s := leave(); !s.Waiting() || s.Status != quest.Running {
		t.Fatalf("it is %s, waiting %v: %s", s.Status, s.Waiting(), types(l.events(name)))
	}
	before := l.events(name)
	if leave(); len(l.events(name)) != len(before) {
		t.Errorf("to look again has added %s", types(l.events(name)[len(before):]))
	}
	l.says(name, "And now?")
	leave()
	if got := types(l.events(name)[len(before):]); got != "user.message card.call card.result sitting.begun model.call model.result sitting.ended" {
		t.Errorf("a message leads to %s", got)
	}
	l.sound(name)
}

// Whoever is killed, and whenever: each message is delivered once, in the order of arrival.
func TestMailSurvivesItsProcess(t *testing.T) {
	l, name := newStudy(t)
	for i := range 12 {
		l.says(name, fmt.Sprint("message ", i))
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := l.Run(ctx, name, runtime.RunOptions{Leave: true, OnEvent: func(event.Event, *quest.State) {
			if n++; n > i%5 {
				cancel()
			}
		}})
		cancel()
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
	must(t, err)
	if !s.Waiting() || len(s.Mail) != 0 {
		t.Errorf("it is %s, and %d messages wait", s.Status, len(s.Mail))
	}
	want := []uint64{1}
	for _, e := range l.events(name) {
		if e.Type == "user.message" {
			want = append(want, e.Seq)
		}
	}
	if got := delivered(l.events(name)); !slices.Equal(got, want) || len(want) != 13 {
		t.Errorf("delivered are %v, want %v", got, want)
	}
	l.sound(name)
}

// What is to be heard now cuts the turn short that is under way.
func TestNowCutsTheTurn(t *testing.T) {
	l, name := newStudy(t)
	_, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
	must(t, err)
	l.says(name, "hang")
	asked := 0
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true, Grace: time.Minute, OnEvent: func(e event.Event, _ *quest.State) {
		switch {
		case e.Type == "model.call":
			if asked++; asked == 1 {
				l.says(name, "cut me")
			}
		case e.Type == "user.message" && asked == 1:
			l.post(name, &event.StudyOrder{Action: event.SteerNow})
		}
	}})
	must(t, err)
	if got := types(l.events(name)); !s.Waiting() || !strings.HasSuffix(got, "study.order mail.delivered model.result model.call model.result sitting.ended") {
		t.Errorf("the turn went on: %s", got)
	}
	if words := s.Agent("researcher").Said().Text; words != "I heard that at once." {
		t.Errorf("it says %q", words)
	}
	l.sound(name)
}

// A process that ends between the delivery and the end of the turn leaves nothing to the next one
// but to go on: the turn that was cut is not asked for again.
func TestNowHoldsForTheNextProcess(t *testing.T) {
	l, name := newStudy(t)
	_, err := l.Run(t.Context(), name, runtime.RunOptions{Leave: true})
	must(t, err)
	l.says(name, "hang")
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	_, _ = l.Run(ctx, name, runtime.RunOptions{Leave: true, OnEvent: func(e event.Event, s *quest.State) {
		switch {
		case e.Type == "model.call":
			l.says(name, "cut me")
		case e.Type == "user.message" && s.Sitting != nil:
			l.post(name, &event.StudyOrder{Action: event.SteerNow})
		case e.Type == "mail.delivered":
			kill()
		}
	}})
	if got := types(l.events(name)); !strings.HasSuffix(got, "model.call user.message study.order mail.delivered") {
		t.Fatalf("it was to be killed as soon as the message was delivered, and left %s", got)
	}
	ctx, late := context.WithTimeout(t.Context(), time.Minute)
	defer late()
	s, err := l.Run(ctx, name, runtime.RunOptions{Leave: true})
	if err != nil || !s.Waiting() || s.Agent("researcher").Said().Text != "I heard that at once." {
		t.Fatalf("the next process asked for the turn again: %v, %s", err, types(l.events(name)))
	}
	if got := types(l.events(name)); !strings.HasSuffix(got, "mail.delivered quest.resumed model.result model.call model.result sitting.ended") {
		t.Errorf("the next process leaves %s", got)
	}
	l.sound(name)
}

// overloaded is a model that says when it can be asked again.
type overloaded time.Duration

func (m overloaded) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Answer, error) {
	return nil, &model.Error{Kind: model.Unavailable, Text: "overloaded", After: time.Duration(m)}
}

// What a provider says of when it can be asked again is recorded, and the study waits for that.
func TestAProvidersTimeIsWaitedFor(t *testing.T) {
	for says, want := range map[time.Duration]time.Duration{90 * time.Minute: 90 * time.Minute, 1<<63 - 1: 24 * time.Hour, -1: 10 * time.Second} {
		l := newLab(t)
		l.Societies = all.All()
		l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return overloaded(says), nil }
		name := l.create(plan(t, "q", "society: stages\n", talks))
		ctx, leave := context.WithCancel(t.Context())
		_, _ = l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "timer.set" {
				leave()
			}
		}})
		leave()
		var at, ended event.Time
		for _, e := range l.events(name) {
			switch b := e.Body.(type) {
			case *event.SittingEnded:
				ended = e.Time
			case *event.TimerSet:
				at = b.At
			}
		}
		if got := at - ended; got != event.Time(want.Microseconds()) {
			t.Errorf("a provider that says %v is asked again after %d s, want %v", says, got/1_000_000, want)
		}
	}
}
