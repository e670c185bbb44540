package view

import (
	"testing"

	"lyceum/internal/event"
)

// Who reviews a paper works beside the sittings, and is not heard in the conversation.
func TestWhoWorksBesideTheSittingsIsNotHeard(t *testing.T) {
	t.Parallel()
	says := func(text string) *event.ModelResult {
		return &event.ModelResult{Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}}
	}
	var talk Talk
	for i, e := range []event.Event{
		{Actor: "researcher", Body: &event.SittingBegun{Number: 1}},
		{Actor: "researcher", Body: says("I write.")},
		{Actor: "reviewer", Body: says("I read.")},
	} {
		e.Seq = uint64(i + 1)
		talk.Take(e)
	}
	if talk.Last == nil || talk.Last.By != "researcher" || talk.Last.Text.Text != "I write." {
		t.Errorf("said last is %+v, want the researcher's words", talk.Last)
	}
}
