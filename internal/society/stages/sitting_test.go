package stages_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
)

// talk is a study under way.
type talk struct{ *questtest.Story }

// begin begins a study. settings is JSON, empty for none.
func begin(t *testing.T, settings string, tools ...string) talk {
	t.Helper()
	b := questtest.Created(stages.Society{}, 0, tools...)
	b.Agents[0].Name, b.Settings, b.Problem.Text = stages.Researcher, settings, "How fast is it?"
	return talk{questtest.Begin(t, stages.Society{}, b)}
}

const autonomous = `{"anchor":"scout","mode":"autonomous","runner":"native"}`

func (k talk) says(text string) []event.Event {
	return k.Answer(stages.Researcher, questtest.Says(text))
}

func (k talk) message(text string) []event.Event {
	return k.Take("person", &event.UserMessage{Text: event.Text{Text: text}})
}

// window is what the model is shown, as one text.
func (k talk) window() string {
	var words []string
	for _, m := range k.State.Agent(stages.Researcher).Transcript.Messages {
		for _, p := range m.Parts {
			words = append(words, p.Text.Text)
		}
	}
	return strings.Join(words, "\n")
}

// all are the bodies of a type, in order.
func all[B event.Body](events []event.Event) (out []B) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

func kinds(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func TestASittingBeginsWithTheProblemAndRests(t *testing.T) {
	k := begin(t, "", "interact")
	if got := kinds(k.Start()); got != "sitting.begun model.call" {
		t.Fatalf("a start leads to %q", got)
	}
	first := all[*event.SittingBegun](k.Events)[0]
	if first.Number != 1 || !first.Fresh || first.Anchor != "scout" || first.Skill != "scout" || !slices.Equal(first.Mail, []uint64{1}) {
		t.Errorf("the first sitting is %+v", first)
	}
	if k.State.Waiting() || !strings.Contains(k.window(), "How fast is it?") || !strings.Contains(k.window(), "Sitting 1") {
		t.Errorf("waiting %v, and the model is shown %q", k.State.Waiting(), k.window())
	}
	if got := kinds(k.says("Fast.")); got != "sitting.ended" {
		t.Errorf("an answer leads to %q", got)
	}
	if !k.State.Waiting() || k.State.Rest() != "waiting" || k.State.Status != quest.Running {
		t.Errorf("after a sitting it is %s, waiting %v", k.State.Status, k.State.Waiting())
	}
	k.Sound()
	if got := kinds(k.message("And how slow?")); got != "sitting.begun model.call" {
		t.Errorf("a message to a waiting quest leads to %q", got)
	}
	second := all[*event.SittingBegun](k.Events)[1]
	if second.Number != 2 || second.Fresh || len(second.Mail) != 1 {
		t.Errorf("the second sitting is %+v", second)
	}
	k.Sound()
}

var _ = model.StopEnd
