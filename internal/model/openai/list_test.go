package openai

import (
	"strconv"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/wire"
)

// TestWhatIsKeptChangesNoByte: a request is the same whether or not most of it was written before.
func TestWhatIsKeptChangesNoByte(t *testing.T) {
	t.Parallel()
	chat := NewChat(&wire.Client{}, Options{Provider: "acme", ReasoningField: "reasoning", AfterTools: "Go on."})
	responses := NewResponses(&wire.Client{}, Options{Provider: "acme"})
	t.Run("Chat", func(t *testing.T) { modeltest.ExerciseKept(t, "m", chat.request) })
	t.Run("Responses", func(t *testing.T) { modeltest.ExerciseKept(t, "m", responses.request) })
}

// TestATurnIsWrittenOnce: what a request writes does not grow with the history.
func TestATurnIsWrittenOnce(t *testing.T) {
	t.Parallel()
	m := NewChat(&wire.Client{}, Options{})
	written := 0
	l := list{name: "messages", fields: m.fields, fits: m.fits, items: func(t turn) []any { written++; return m.items(t) }}
	r := model.Request{Model: "m", Memo: new(model.Memo)}
	for i := range 500 {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: strconv.Itoa(i)}}})
		before := written
		if _, err := l.write(m, &r); err != nil {
			t.Fatal(err)
		}
		if n := written - before; n > 3 {
			t.Fatalf("request %d wrote %d turns, want at most 3", i, n)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: event.PartText, Text: "so"}}})
	}
}
