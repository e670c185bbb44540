package computertest

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, known, want string }{
		"ItStaysInside":       {"", "", ""},
		"ItGotOut":            {"read a secret", "", "it got out: read a secret"},
		"AKnownHoleIsOpen":    {"read a secret", "files are shared", ""},
		"AKnownHoleHasClosed": {"", "files are shared", "take it off the list (files are shared)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := verdict(c.got, c.known); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("verdict on %q, known as %q: got %q, want %q", c.got, c.known, got, c.want)
			}
		})
	}
}
