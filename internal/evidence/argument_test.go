package evidence

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGrounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n       int
		attacks []Attack
		labels  []Label
		by      []int
	}{
		"Nobody":               {0, nil, []Label{}, []int{}},
		"NoAttacks":            {2, nil, []Label{In, In}, []int{-1, -1}},
		"OneAttack":            {2, []Attack{{0, 1}}, []Label{In, Out}, []int{-1, 0}},
		"Reinstatement":        {3, []Attack{{0, 1}, {1, 2}}, []Label{In, Out, In}, []int{-1, 0, -1}},
		"ChainOfFour":          {4, []Attack{{3, 2}, {2, 1}, {1, 0}}, []Label{Out, In, Out, In}, []int{1, -1, 3, -1}},
		"SelfAttack":           {2, []Attack{{0, 0}, {0, 1}}, []Label{Undecided, Undecided}, []int{-1, -1}},
		"SelfAttackDefeated":   {3, []Attack{{0, 0}, {0, 1}, {2, 0}}, []Label{Out, In, In}, []int{2, -1, -1}},
		"NixonDiamond":         {2, []Attack{{0, 1}, {1, 0}}, []Label{Undecided, Undecided}, []int{-1, -1}},
		"OddCycle":             {3, []Attack{{0, 1}, {1, 2}, {2, 0}}, []Label{Undecided, Undecided, Undecided}, []int{-1, -1, -1}},
		"EvenCycleDecided":     {5, []Attack{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}}, []Label{Out, In, Out, In, In}, []int{3, -1, 1, -1, -1}},
		"FloatingConclusion":   {4, []Attack{{0, 1}, {1, 0}, {0, 2}, {1, 2}, {2, 3}}, []Label{Undecided, Undecided, Undecided, Undecided}, []int{-1, -1, -1, -1}},
		"SmallestAttacker":     {4, []Attack{{2, 3}, {1, 3}, {0, 3}, {0, 1}}, []Label{In, Out, In, Out}, []int{-1, 0, -1, 0}},
		"OnlyOneIn":            {3, []Attack{{0, 2}, {0, 0}, {1, 2}}, []Label{Undecided, In, Out}, []int{-1, -1, 1}},
		"TheSameAttackTwice":   {3, []Attack{{0, 1}, {0, 1}, {1, 2}, {1, 2}}, []Label{In, Out, In}, []int{-1, 0, -1}},
		"AttacksFromNowhere":   {2, []Attack{{-1, 0}, {2, 1}, {0, 7}, {0, 1}}, []Label{In, Out}, []int{-1, 0}},
		"FewerThanNone":        {-3, []Attack{{0, 1}}, []Label{}, []int{}},
		"WeatherAndCloudyDays": {5, []Attack{{1, 0}, {2, 1}, {3, 2}, {2, 3}, {4, 3}}, []Label{In, Out, In, Out, In}, []int{-1, 2, -1, 2, -1}},
	} {
		labels, by := Grounded(c.n, c.attacks)
		if !slices.Equal(labels, c.labels) || !slices.Equal(by, c.by) {
			t.Errorf("%s: %v %v, want %v %v", name, labels, by, c.labels, c.by)
		}
	}
}

// fixpoint is the definition: beginning with nothing, take all arguments each
// attacker of which is attacked by what was taken, until nothing changes.
func fixpoint(n int, attacks []Attack) []bool {
	in := make([]bool, n)
	for {
		next := make([]bool, n)
		for a := range n {
			next[a] = true
			for _, t := range attacks {
				if t.To == a && !slices.ContainsFunc(attacks, func(d Attack) bool { return d.To == t.From && in[d.From] }) {
					next[a] = false
				}
			}
		}
		if slices.Equal(in, next) {
			return in
		}
		in = next
	}
}

func TestGroundedIsTheLeastFixpoint(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Label]int{}
	for range 3000 {
		n := 1 + r.IntN(8)
		attacks := make([]Attack, r.IntN(2*n+1))
		for i := range attacks {
			attacks[i] = Attack{r.IntN(n), r.IntN(n)}
		}
		labels, by := Grounded(n, attacks)
		in := fixpoint(n, attacks)
		for a := range n {
			smallest := -1
			for _, t := range attacks {
				if t.To == a && in[t.From] && (smallest < 0 || t.From < smallest) {
					smallest = t.From
				}
			}
			want := Undecided
			if in[a] {
				want = In
			} else if smallest >= 0 {
				want = Out
			}
			if labels[a] != want || by[a] != smallest {
				t.Fatalf("%d of %d, %v: %v by %d, want %v by %d", a, n, attacks, labels[a], by[a], want, smallest)
			}
			seen[want]++
		}
	}
	if seen[In] < 1000 || seen[Out] < 1000 || seen[Undecided] < 1000 {
		t.Errorf("too few of a kind to show anything: %v", seen)
	}
}

func TestAMillionArguments(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	attacks := make([]Attack, 0, n)
	for a := range n - 1 {
		attacks = append(attacks, Attack{a, a + 1})
	}
	labels, by := Grounded(n, attacks)
	for a := range n {
		if want := []Label{In, Out}[a%2]; labels[a] != want || a%2 == 1 && by[a] != a-1 {
			t.Fatalf("%d is %v by %d", a, labels[a], by[a])
		}
	}
}

func BenchmarkGrounded(b *testing.B) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 2))
	attacks := make([]Attack, 3*n)
	for i := range attacks {
		attacks[i] = Attack{r.IntN(n), r.IntN(n)}
	}
	for b.Loop() {
		Grounded(n, attacks)
	}
}

func BenchmarkMissing(b *testing.B) {
	source := ""
	for range 2000 {
		source += "Ea = 35.0942 kJ/mol and 1,024.12 1/s, R² = 0.986754; "
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		Missing("Ea is 35.09 kJ/mol, A is 1.02e3 1/s [1].", []string{source})
	}
}
