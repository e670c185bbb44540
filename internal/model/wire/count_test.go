package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// However the bytes of a stream are cut, the same events are found in it; a line that is too
// long is none, and hides nothing behind it.
func TestSplitterFindsEvents(t *testing.T) {
	t.Parallel()
	long := "data: " + strings.Repeat("x", maxLine)
	text := ": hi\n\nevent: a\r\ndata: one\r\n\r\ndata:two\ndata: three\n\nid: 7\n\n" + long + "data: forged\n\ndata: four\n\ndata: unfinished"
	for _, step := range []int{1 << 20, 4096, len(text), strings.Index(text, "data: forged")} {
		var got []string
		s := &Splitter{Each: func(data []byte) { got = append(got, string(data)) }}
		for piece := range slices.Chunk([]byte(text), step) {
			if n, err := s.Write(bytes.Clone(piece)); n != len(piece) || err != nil {
				t.Fatalf("%d of %d bytes were taken: %v", n, len(piece), err)
			}
		}
		if want := []string{"one", "two\nthree", "four"}; !slices.Equal(got, want) {
			t.Errorf("in steps of %d: got %.60q, want %q", step, got, want)
		}
		if cap(s.line) > 1<<20 {
			t.Errorf("it holds %d bytes of a line that is over", cap(s.line))
		}
	}
}
