package agent

import (
	"runtime"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// TestARenderingDoesNotCopyForEachAside: what the rules say by the way goes into the message before it. A long
// conversation with something like that in each turn is rendered with work that grows as it does, not with its square,
// and what was given out before stays as it was.
func TestARenderingDoesNotCopyForEachAside(t *testing.T) {
	const turns = 4000
	tr := &Transcript{}
	say := func(role model.Role, text string, aside bool) {
		tr.Messages = append(tr.Messages, Message{Role: role, Aside: aside, Parts: []Part{{Kind: event.PartText, Text: event.Text{Text: text}}}})
	}
	for range turns {
		say(model.User, "q", false)
		say(model.User, "by the way", true)
		say(model.Assistant, "a", false)
	}
	r := &Rendering{}
	render := func() []model.Message {
		t.Helper()
		got, err := r.Messages(tr, &event.ModelCall{Last: int64(len(tr.Messages)) - 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := render(); len(got) != 2*turns || len(got[0].Parts) != 2 {
		t.Fatalf("%d messages, the first of %d parts: want %d, of 2", len(got), len(got[0].Parts), 2*turns)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 {
		t.Errorf("rendering %d messages took %d MB: they are copied for each aside", len(tr.Messages), used>>20)
	}
	say(model.User, "more", false)
	given := render()
	say(model.User, "by the way", true)
	if last := render(); len(given) != len(last) || len(given[len(given)-1].Parts) != 1 || len(last[len(last)-1].Parts) != 2 {
		t.Errorf("an aside has changed a rendering that was given out: %d parts and then %d", len(given[len(given)-1].Parts), len(last[len(last)-1].Parts))
	}
}
