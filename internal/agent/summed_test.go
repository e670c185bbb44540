package agent

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

func TestRulesSumUpTheOlderHalf(t *testing.T) {
	a := New(event.AgentSpec{Name: "a", Model: "m", Window: 1_000_000}, false)
	a.Told(event.Text{Text: "The problem."})
	for i := range 8 {
		seq := uint64(10 * (i + 1))
		if _, _, ok := a.ToSum(); ok && i == 0 {
			t.Error("there is nothing to sum up yet")
		}
		a.Called(seq, a.NextCall())
		if _, _, ok := a.ToSum(); ok {
			t.Error("the window is moved while the model is asked")
		}
		a.Heard(seq+1, &event.ModelResult{Call: seq, Stop: model.StopTools, Parts: []event.Part{{Kind: event.PartToolCall, ID: "x", Name: "look", Args: &event.Text{Text: "{}"}}}})
		a.Used(seq+2, &event.ToolCall{Answer: seq + 1})
		a.Got(seq+3, seq+2, event.Text{Text: strings.Repeat("much ", 100)}, false)
	}
	first, last, ok := a.ToSum()
	if !ok || first != 0 || last < 4 || a.Summable(first, last-1) || !a.Summable(first, last) {
		t.Fatalf("messages %d to %d can be summed up: %v", first, last, ok)
	}
	before := a.Transcript.Size
	was := a.NextCall().Rendering
	a.Summarized(&event.TaskSummary{First: first, Last: last, Text: event.Text{Text: "In short."}})
	c := a.NextCall()
	if c.First != last+1 || c.Head != 0 || c.Rendering == was || a.Transcript.Size >= before {
		t.Errorf("the next call shows messages from %d on behind %d, of %d tokens instead of %d", c.First, c.Head, a.Transcript.Size, before)
	}
	if m := a.Transcript.Summary; m == nil || m.Parts[0].Text.Text != "In short." {
		t.Errorf("in their place stands %+v", m)
	}
}
