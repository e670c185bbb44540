package plain

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestALineThatIsOneStaysAsItIs: what comes out of the short way is what comes out of the long one.
func TestALineThatIsOneStaysAsItIs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "ab c  d\t\r\n~\x7f\x1b é\u0301\u200d…\xff"
	pool := []rune(letters)
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteRune(pool[r.IntN(len(pool))])
		}
		s := b.String()
		if got, want := Line(s), strings.Join(strings.Fields(Text(s)), " "); got != want {
			t.Fatalf("line of %q: got %q, want %q", s, got, want)
		}
	}
}

// TestALineThatIsOneIsNotMadeAnew: a run prints several in each step.
func TestALineThatIsOneIsNotMadeAnew(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { Brief("agent-0 says: a line like most", 100) }); n != 0 {
		t.Errorf("allocations for a line that is one: got %v, want none", n)
	}
}
