package wire

import (
	"bytes"
	"testing"
)

// TestAnAnswerHasSoMuchRoomAndNoMore: what a server sends without an end is not kept without one.
func TestAnAnswerHasSoMuchRoomAndNoMore(t *testing.T) {
	t.Parallel()
	c := new(Client)
	var texts Room
	if err := texts.Take(c, maxAnswer-2, 1, 1); err != nil {
		t.Errorf("texts of %d bytes: got %v, want room for them", maxAnswer, err)
	}
	if err := texts.Take(c, 1); err == nil {
		t.Errorf("texts of %d bytes: got room for them, want an error", maxAnswer+1)
	}
	var parts Room
	for n := range maxParts {
		if err := parts.Part(c); err != nil {
			t.Fatalf("part %d: got %v, want room for it", n+1, err)
		}
	}
	if err := parts.Part(c); err == nil {
		t.Errorf("part %d: got room for it, want an error", maxParts+1)
	}
	deep := bytes.Repeat([]byte("{["), maxNested/2)
	if nested(deep) || !nested(append(deep, '[')) {
		t.Errorf("an event of %d objects and lists, and of one more: want the first taken and the other not", maxNested)
	}
}
