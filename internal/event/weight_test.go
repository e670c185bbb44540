package event_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

func TestShortenedTextsFit(t *testing.T) {
	t.Parallel()
	for _, s := range append([]string{"", "plain", strings.Repeat("\x01", 50), strings.Repeat("\"\\", 50), strings.Repeat("日本", 50)}, texts...) {
		for n := range 130 {
			cut := event.Cut(s, n)
			if !strings.HasPrefix(s, cut) {
				t.Fatalf("%q is no beginning of %q", cut, s)
			}
			b, err := json.Marshal(cut)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(b) - 2; got > n || got > event.Weight(cut) {
				t.Errorf("%q cut to %d takes %d, and weighs %d", s, n, got, event.Weight(cut))
			}
			if short := event.Shorten(s, n); (short == s) != (cut == s) {
				t.Errorf("%q shortened to %d is %q", s, n, short)
			}
		}
	}
}
