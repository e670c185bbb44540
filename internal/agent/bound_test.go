package agent_test

import (
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// TestBound: what a call can read at most is never less than the bytes of what is new in
// it, and where a provider has counted, hardly more than that.
func TestBound(t *testing.T) {
	t.Parallel()
	ref := event.RefOf([]byte(strings.Repeat("s", 10_000)))
	a := agent.New(event.AgentSpec{Name: "a", Model: "m", System: ref, Tools: ref, Window: 1000, MaxOutput: 500}, false)
	a.Told(event.Text{Text: strings.Repeat("q", 5000)})
	input, output := a.Bound("")
	if whole := int64(25_000); input < whole || input > whole+3000 || output != 500 {
		t.Errorf("before anybody counted: got %d and %d, want a little more than the %d bytes, and 500", input, output, whole)
	}
	say := func(seq uint64, input, output int64) {
		a.Called(seq, a.NextCall())
		a.Heard(seq+1, &event.ModelResult{Call: seq, Stop: model.StopTools, Usage: event.Usage{Input: input, Output: output}, Parts: []event.Part{
			{Kind: event.PartToolCall, ID: "c", Name: "look", Args: &event.Text{Text: "{}"}},
		}})
		a.Used(seq+2, &event.ToolCall{Answer: seq + 1})
		a.Got(seq+3, seq+2, event.Text{Text: strings.Repeat("r", 300)}, false)
	}
	say(10, 6000, 100)
	if input, _ = a.Bound(""); input < 6400 || input > 6600 {
		t.Errorf("after 6100 tokens were counted, with 300 bytes since: got %d, want a little more than 6400", input)
	}
	// The window is full and is cut: what is left is no more than it was.
	for seq := uint64(20); a.Transcript.First == 0 && seq < 200; seq += 10 {
		say(seq, 6000, 100)
	}
	if a.Transcript.First == 0 {
		t.Fatal("the window was never cut: the test shows nothing")
	}
	if input, _ = a.Bound(""); input < 400 || input > 6600 {
		t.Errorf("after the window was cut: got %d, want no more than before", input)
	}
	cost, tokens := a.Reserve("")
	if cost < 1<<60 || tokens != input+500 {
		t.Errorf("without a price: got a cost of %d and %d tokens, want a cost that nothing suffices for, and %d", cost, tokens, input+500)
	}
	a.Price = &event.Price{Input: 1_000_000, Cached: 100_000, CacheWrites: 2_000_000, Output: 10_000_000}
	if cost, _ = a.Reserve(""); cost != 2*input+10*500 {
		t.Errorf("got a cost of %d, want all input at the price of cache writes: %d", cost, 2*input+10*500)
	}
}
