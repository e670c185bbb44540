package acp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// TestAMoveOfAStudyIsAPlan: whoever follows a study over the protocol sees its stages as a plan, those
// before the one it is at as done.
func TestAMoveOfAStudyIsAPlan(t *testing.T) {
	t.Parallel()
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Time: 1, Actor: "researcher", Body: &event.AnchorMoved{By: "tool", From: "scout", To: "idea", Reason: "Enough"}})
	if err != nil {
		t.Fatal(err)
	}
	all := Translate(t.Context(), "q", nil, e)
	if len(all) != 2 || all[0].Update.Plan == nil || all[1].Update.CurrentModeUpdate == nil || all[1].Update.CurrentModeUpdate.CurrentModeId != "idea" {
		t.Fatalf("a move gives %d updates, want a plan and the mode idea", len(all))
	}
	var got []string
	for _, x := range all[0].Update.Plan.Entries {
		got = append(got, x.Content+" "+string(x.Status))
	}
	want := "scout completed, baseline completed, idea in_progress, experiment pending, analysis-campaign pending, write pending, finalize pending"
	if strings.Join(got, ", ") != want {
		data, _ := json.Marshal(all[0])
		t.Errorf("the plan: %q, want %q\n%s", got, want, data)
	}
}

// TestWhatAReviewerSaysIsTheReviewers: a client joins chunks to one message, so the words of whoever
// works beside the sittings have a name before them, live or not, and those that come after have one as
// well. Nobody reads what the rules say to a reviewer. The review is told with its points.
func TestWhatAReviewerSaysIsTheReviewers(t *testing.T) {
	t.Parallel()
	v := NewVoice("q", words{})
	var got strings.Builder
	seq := uint64(0)
	tell := func(actor string, b event.Body) {
		seq++
		for _, n := range v.Event(t.Context(), event.Event{Seq: seq, Actor: actor, Type: b.Type(), Body: b}) {
			if m := n.Update.AgentMessageChunk; m != nil {
				got.WriteString(m.Content.Text.Text)
			}
			if m := n.Update.UserMessageChunk; m != nil {
				got.WriteString("<" + m.Content.Text.Text + ">")
			}
		}
	}
	says := func(actor, text string) {
		tell(actor, &event.ModelResult{Call: seq, Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}})
	}
	says("researcher", "I write.")
	says("researcher", " On.")
	tell("reviewer", &event.ReviewBegun{Paper: "paper-1"})
	n, _ := v.Delta(runtime.Delta{Agent: "reviewer", Call: seq, First: true, Kind: event.PartText, Text: "I re"})
	got.WriteString(n.Update.AgentMessageChunk.Content.Text.Text)
	says("reviewer", "I read.")
	tell("core", &event.MessageSent{To: "reviewer", Text: event.Text{Text: "Hand it in."}})
	tell("core", &event.MessageSent{To: "researcher", Text: event.Text{Text: "Go on."}})
	says("reviewer", " Well.")
	tell("reviewer", &event.ReviewGiven{Paper: "paper-1", Round: 1, Source: "reviewer", Summary: "Good.", Points: []event.ReviewPoint{{Number: 3, Severity: "major", Text: "Why?"}}})
	tell("reviewer", &event.ReviewGiven{Paper: "paper-1", Round: 2, Source: "reviewer", Error: "none"})
	says("researcher", "I mend.")
	says("researcher", " More.")
	want := "I write. On.\n\n**reviewer:** I read.<Go on.> Well.\n\nReview of paper-1, round 1: Good.\n\n- point 3, major: Why?\n\n\n\n**researcher:** I mend. More."
	if got.String() != want {
		t.Errorf("told is %q, want %q", got.String(), want)
	}
}

// TestWhatAResearcherSaysIsToldOnce: what it says with interact is told, as paragraphs of their own and
// with the files that it names; a question comes as one, and what completes the study as its answer.
func TestWhatAResearcherSaysIsToldOnce(t *testing.T) {
	t.Parallel()
	v := NewVoice("q", words{})
	var got strings.Builder
	seq := uint64(0)
	tell := func(tool string, b event.Body) {
		seq++
		for _, n := range v.Event(t.Context(), event.Event{Seq: seq, Actor: "researcher", Tool: tool, Type: b.Type(), Body: b}) {
			if m := n.Update.AgentMessageChunk; m != nil {
				got.WriteString(m.Content.Text.Text)
			}
		}
	}
	text := func(s string) event.Text { return event.Text{Text: s} }
	says := func(s string) {
		tell("", &event.ModelResult{Call: seq, Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: s}}}})
	}
	says("I look.")
	tell("interact", &event.InteractSaid{Kind: "milestone", Reply: "threaded", Text: text("The data are read."), Files: []string{"notes.md", "a\nb"}})
	tell("interact", &event.InteractSaid{Kind: "answer", Reply: "none", Text: text("By the mean.")})
	says("I ask.")
	tell("interact", &event.InteractSaid{Kind: "decision_request", Reply: "blocking", Text: text("Which error?")})
	tell("", &event.InteractionOpened{Blocking: true, Question: text("Which error?")})
	tell("complete", &event.InteractSaid{Kind: "answer", Reply: "none", Text: text("It is the mean.")})
	tell("", &event.QuestFinished{Answer: text("It is the mean.")})
	want := "I look.\n\nThe data are read.\n\n(file: notes.md)\n\n(file: a b)\n\n\n\nBy the mean.\n\nI ask." +
		"\n\nQuestion 6: Which error?\nAnswer with: lyceum answer q 6 …\n\nIt is the mean."
	if got.String() != want {
		t.Errorf("told is %q, want %q", got.String(), want)
	}
}

// words reads texts that stand in their events.
type words struct{ Reader }

func (words) Text(_ context.Context, t event.Text) (string, error) { return t.Text, nil }
