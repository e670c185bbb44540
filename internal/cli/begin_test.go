package cli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAProgramBeginsWithLittle: what our packages make before main begins stays far below the four megabytes at
// which Go first collects garbage: regular expressions, tables and the like are made when they are needed.
func TestAProgramBeginsWithLittle(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.env = append(slices.Clip(h.env), "GODEBUG=inittrace=1")
	said := h.run("version").errOut
	all, most := 0, ""
	for line := range strings.Lines(said) {
		var name string
		var at, took float64
		var bytes, allocs int
		if _, err := fmt.Sscanf(line, "init %s @%g ms, %g ms clock, %d bytes, %d allocs", &name, &at, &took, &bytes, &allocs); err != nil {
			continue
		}
		if strings.HasPrefix(name, "lyceum/") && !strings.HasSuffix(name, "test") { // those for tests are not in the program
			all += bytes
			if bytes > 100_000 {
				most += fmt.Sprintf("\n%s: %d bytes", name, bytes)
			}
		}
	}
	if all == 0 {
		t.Fatalf("nothing is told of what is made before main begins: %s", said)
	}
	if limit := 1_600_000; all > limit {
		t.Errorf("our packages make %d bytes before main begins, more than %d:%s", all, limit, most)
	}
	t.Logf("%d bytes%s", all, most)
}
