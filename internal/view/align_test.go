package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// score sums up what an alignment is worth, and checks that it is one.
func score(t *testing.T, a, b []int32, ms []match) (sum int) {
	t.Helper()
	last := match{-1, -1}
	for _, m := range ms {
		if m.a <= last.a || m.b <= last.b || m.a >= len(a) || m.b >= len(b) {
			t.Fatalf("%v after %v in lists of %d and %d", m, last, len(a), len(b))
		}
		if last = m; a[m.a] == b[m.b] {
			sum++
		}
	}
	return sum
}

func equalOnly(a, b []int32) func(i, j int) int64 {
	return func(i, j int) int64 {
		if a[i] == b[j] {
			return Whole
		}
		return 0
	}
}

// longest is the length of the longest common subsequence, the plain way.
func longest(a, b []int32) int {
	row := make([]int, len(b)+1)
	for i := range a {
		before := 0
		for j := range b {
			old := row[j+1]
			if a[i] == b[j] {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			before = old
		}
	}
	return row[len(b)]
}

func TestAlign(t *testing.T) {
	t.Parallel()
	t.Run("FindsTheBestOfShortLists", func(t *testing.T) {
		t.Parallel()
		rng := rand.New(rand.NewPCG(3, 4))
		for range 500 {
			pick := func() (out []int32) {
				for range rng.IntN(20) {
					out = append(out, rng.Int32N(5))
				}
				return out
			}
			a, b := pick(), pick()
			if got, want := score(t, a, b, align(a, b, equalOnly(a, b))), longest(a, b); got != want {
				t.Fatalf("%v and %v: %d in common, found %d", a, b, want, got)
			}
		}
	})
	t.Run("CutsLongListsAtWhatOccursOnce", func(t *testing.T) {
		t.Parallel()
		rng := rand.New(rand.NewPCG(5, 6))
		var a, b []int32
		for i := range int32(20_000) {
			a = append(a, i)
			if rng.IntN(10) > 0 {
				b = append(b, i)
			}
		}
		if got := score(t, a, b, align(a, b, equalOnly(a, b))); got != len(b) {
			t.Errorf("%d of %d found", got, len(b))
		}
	})
	t.Run("TakesWhatIsLikeEachOtherWhereNothingIsEqual", func(t *testing.T) {
		t.Parallel()
		a, b := []int32{1, 2, 3}, []int32{11, 13}
		ms := align(a, b, func(i, j int) int64 {
			if b[j]-a[i] == 10 {
				return 5
			}
			return 0
		})
		if !slices.Equal(ms, []match{{0, 0}, {2, 1}}) {
			t.Errorf("the matches: got %v", ms)
		}
	})
}

// Where lists are cut at what occurs once, which cuts are taken depends on which list
// comes first.
func TestTheOrderOfLongRunsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	pick := func() *Run {
		r := &Run{}
		rare := rng.Perm(30)
		for i := range 700 {
			n := rng.IntN(8)
			if i%23 == 0 {
				n = 100 + rare[i/23%30]
			}
			r.Steps = append(r.Steps, Step{Kind: KindTool, Tool: "t", Args: sum(fmt.Sprint(n)), Output: sum(fmt.Sprint(n % 2))})
		}
		return r
	}
	for round := range 10 {
		a, b := pick(), pick()
		if x, y := Compare(a, b), Compare(b, a); x.Similarity != y.Similarity || x.Steps.Changed != y.Steps.Changed {
			t.Fatalf("round %d: %+v and %+v", round, x.Similarity, y.Similarity)
		}
	}
}

// loop is what an agent does that goes round and round: the worst for an alignment,
// because everything is alike and nothing occurs once.
func loop(steps, words, shift int) *Run {
	rng := rand.New(rand.NewPCG(7, uint64(shift)))
	r := &Run{}
	for i := range steps {
		n := (i + shift) % words
		if rng.IntN(50) == 0 {
			n = rng.IntN(words)
		}
		r.Steps = append(r.Steps, Step{Kind: KindTool, Tool: fmt.Sprint(n % 3), Args: sum(fmt.Sprint(n)), Output: sum(fmt.Sprint(n / 2)), lane: "a"})
	}
	return r
}

// The work grows with the length of the runs, not with its square, and what answers to
// each other is found all the same.
func TestTheWorkOfAnAlignmentIsBounded(t *testing.T) {
	t.Parallel()
	for _, words := range []int{5, 9_000} {
		a, b := loop(10_000, words, 0), loop(10_000, words, 1)
		if s := Compare(a, b).Similarity.Steps; s < Whole*9/10 {
			t.Errorf("%d words: only %s of the steps were found again", words, s)
		}
		x := &interning{words: map[string]int32{}, hashes: map[event.Hash]int32{}, whole: map[features]int32{}}
		l, r := x.lanes(a.Steps)["a"], x.lanes(b.Steps)["a"]
		looks := 0
		align(l.keys, r.keys, func(i, j int) int64 { looks++; return l.is[i].alike(r.is[j]) })
		if most := 10_000 * 2_000; looks > most {
			t.Errorf("%d words: %d pairs were looked at, more than %d", words, looks, most)
		}
	}
}

// A run of 100,000 events has about 50,000 steps.
func BenchmarkCompare(b *testing.B) {
	for _, words := range []int{5, 40_000} {
		left, right := loop(50_000, words, 0), loop(50_000, words, 1)
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			for b.Loop() {
				Compare(left, right)
			}
		})
	}
}

func TestUnified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, want string }{
		"equal":        {"x\ny\n", "x\ny\n", ""},
		"both empty":   {"", "", ""},
		"a line more":  {"x\n", "x\ny\n", "@@ -1 +1,2 @@\n x\n+y\n"},
		"all new":      {"", "x\n", "@@ -0,0 +1 @@\n+x\n"},
		"changed":      {"a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		"no line end":  {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"far apart":    {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		"nothing left": {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
	} {
		if got := unified(diffLines(c.a, c.b)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestLikeness(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int64
	}{
		{"", "", Whole}, {"a b", "a b", Whole}, {"a b", "a c", Whole / 2}, {"a", "b", 0}, {"", "a", 0},
		{"a b", "a  b", Whole - 1}, {"x-y", "x y", 2 * 2 * Whole / 5}, {"größe 1", "größe 2", Whole / 2},
	} {
		if got := likeness(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	var n names
	if got := n.plain("c5 runs"); got != "c5 runs" {
		t.Errorf("a name that stands for itself: got %q", got)
	}
	n.give("c5", "command", "x")
	n.give("c5-web", "command", "x")
	for in, want := range map[string]string{
		"c5 runs": "command:x/1 runs", "see c5.": "see command:x/1.", "c55": "c55", "ac5": "ac5", "c5-web,c5": "command:x/2,command:x/1", "c5-": "command:x/1-", "": "",
	} {
		if got := n.plain(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	if got := line(" a\n\tb  c "); got != "a b c" {
		t.Errorf("one line of several: got %q, want a b c", got)
	}
	long := line(strings.Repeat("ü", 10_000))
	if n := len([]rune(long)); n != maxLine || !strings.HasSuffix(long, "…") {
		t.Errorf("%d characters: %s", n, long)
	}
	if sum("a", "b") == sum("ab") || sum("a") == (event.Hash{}) {
		t.Error("texts run together")
	}
}
