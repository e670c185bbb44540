package stages_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
	"lyceum/internal/society/stages"
)

// brief is a message that gives the study another brief.
func (k talk) brief(base event.Hash, text string) []event.Event {
	return k.Take("person", &event.UserMessage{Document: &event.Revision{Base: base, Name: quest.BriefFile}, Text: event.Text{Text: text}})
}

// A person's brief is heard like any message, and is what the study is about from then on. The question
// that is open stays so.
func TestANewBrief(t *testing.T) {
	k := begin(t, "", "interact")
	k.Start()
	k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: "interact", Args: `{"kind":"decision_request","text":"Which?"}`}))
	k.says("I wait.")
	asked := stages.Of(k.State).Study.Question
	if asked == 0 || k.State.Brief().Text != "How fast is it?" {
		t.Fatalf("the question is %d, the brief %q", asked, k.State.Brief().Text)
	}
	first := k.State.BriefRevision()
	if got := kinds(k.brief(first, "How slow is it?")); got != "sitting.begun model.call" {
		t.Errorf("a brief to a waiting study leads to %q", got)
	}
	at := k.State.Briefings[0].Seq
	for _, want := range []string{"which is what brief.md says from now on:]\nHow slow is it?", "brief.md, as a person changed it with message "} {
		if !strings.Contains(k.window(), want) {
			t.Errorf("the model is shown %q, want %q in it", k.window(), want)
		}
	}
	if k.State.Brief().Text != "How slow is it?" || stages.Of(k.State).Study.Question != asked {
		t.Errorf("the brief is %q, and question %d is open, want the new one and %d", k.State.Brief().Text, stages.Of(k.State).Study.Question, asked)
	}
	if k.State.Problem.Text != "How fast is it?" || k.State.SavedBrief(first, event.HashOf([]byte("How slow is it?"))) != at || !k.State.TookBrief(at) {
		t.Errorf("the problem is %q, the revisions %+v", k.State.Problem.Text, k.State.Briefings)
	}
	k.Sound()

	// Whoever wrote for the one before is late: it is heard, and does not count.
	k.brief(first, "How far is it?")
	if k.State.Brief().Text != "How slow is it?" || len(k.State.Briefings) != 1 || len(k.State.Mail) != 1 {
		t.Errorf("a late brief: %q, %d revisions, %d messages wait", k.State.Brief().Text, len(k.State.Briefings), len(k.State.Mail))
	}
	// It is not taken back, as words are.
	if err := k.State.Accepts("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: k.State.Mail[0].Seq}); err == nil || !strings.Contains(err.Error(), "save another instead") {
		t.Errorf("a brief is taken back: %v", err)
	}
	k.says("So.")
	if !strings.Contains(k.window(), "a text for brief.md that does not count, since somebody had changed that meanwhile:]\nHow far is it?") {
		t.Errorf("the model is shown %q", k.window())
	}
	k.brief(k.State.BriefRevision(), "How far?")
	k.brief(k.State.BriefRevision(), "How slow is it?")
	if n := len(k.State.Briefings); n != 3 || k.State.Briefings[0].Text.Text != "" || k.State.BriefRevision() != event.HashOf([]byte("How slow is it?")) {
		t.Errorf("%d revisions, %+v, want three and the text of the last alone", n, k.State.Briefings)
	}
	k.Sound()
}

func TestBriefsThatAreRefused(t *testing.T) {
	k := begin(t, "", "interact")
	k.Start()
	ref := event.RefOf([]byte(strings.Repeat("x", quest.MaxBrief+1)))
	say := func(change func(*event.UserMessage)) *event.UserMessage {
		m := &event.UserMessage{Document: &event.Revision{Name: quest.BriefFile}, Text: event.Text{Text: "x"}}
		change(m)
		return m
	}
	for want, m := range map[string]*event.UserMessage{
		`"status.md" is no document that people write`: say(func(m *event.UserMessage) { m.Document.Name = "status.md" }),
		"answers nothing": say(func(m *event.UserMessage) { m.Reply = 3 }),
		"has no files":    say(func(m *event.UserMessage) { m.Attachments = []event.Attachment{{Ref: ref}} }),
		"this text has 0": say(func(m *event.UserMessage) { m.Text = event.Text{} }),
		"has 65537":       say(func(m *event.UserMessage) { m.Text = event.Text{Ref: &ref} }),
	} {
		if err := k.State.Accepts("person", m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a refusal with %q", err, want)
		}
	}
	if err := k.State.Accepts("person", say(func(*event.UserMessage) {})); err != nil {
		t.Errorf("a late one: %v, want that it is heard", err)
	}
	other := questtest.Begin(t, solo.Society{}, questtest.Created(solo.Society{}, 0))
	if err := other.State.Accepts("person", say(func(*event.UserMessage) {})); err == nil || !strings.Contains(err.Error(), "say in a message what is to be different") {
		t.Errorf("a quest without mail: %v, want a refusal", err)
	}
}
