package evidence

// Attack is one argument against another, each by its number.
type Attack struct{ From, To int }

// Label is what becomes of an argument.
type Label int

// An argument is undecided until its attackers are out, which brings it in, or
// one of them is in, which puts it out. Those that attack each other in a circle
// may stay so.
const (
	Undecided Label = iota
	In
	Out
)

func (l Label) String() string {
	switch l {
	case In:
		return "in"
	case Out:
		return "out"
	}
	return "undecided"
}

// Grounded returns the grounded extension of an argumentation framework (Dung
// 1995) of n arguments: each one's label and, for those out, the smallest
// argument in the extension that attacks it, else -1. It is the most cautious
// answer, and there is always exactly one. An attack by or on an argument that
// does not exist is left out.
//
// It takes time in proportion to arguments and attacks, and no recursion.
func Grounded(n int, attacks []Attack) (labels []Label, by []int) {
	n = max(n, 0)
	labels, by = make([]Label, n), make([]int, n)
	first, targets, open := graph(n, attacks)
	var ready []int
	for a := range n {
		by[a] = -1
		if open[a] == 0 {
			labels[a] = In
			ready = append(ready, a)
		}
	}
	// Each argument is ready once at most, and each attack is looked at twice: as
	// that of an argument in, and as that of one which this put out.
	for len(ready) > 0 {
		a := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, b := range targets[first[a]:first[a+1]] {
			if labels[b] == Out {
				by[b] = min(by[b], a)
				continue
			}
			labels[b], by[b] = Out, a
			for _, c := range targets[first[b]:first[b+1]] {
				// One that is in or out never gets here: its last attack was warded off
				// before, or is by an argument that is in.
				if open[c]--; open[c] == 0 {
					labels[c] = In
					ready = append(ready, c)
				}
			}
		}
	}
	return labels, by
}

// graph sorts the attacks by who attacks: those of a are targets[first[a]:first[a+1]].
// open counts the attacks on each that are not yet warded off.
func graph(n int, attacks []Attack) (first, targets, open []int) {
	first, open = make([]int, n+1), make([]int, n)
	real := func(t Attack) bool { return t.From >= 0 && t.From < n && t.To >= 0 && t.To < n }
	for _, t := range attacks {
		if real(t) {
			first[t.From+1]++
			open[t.To]++
		}
	}
	for a := range n {
		first[a+1] += first[a]
	}
	targets = make([]int, first[n])
	next := append([]int(nil), first...)
	for _, t := range attacks {
		if real(t) {
			targets[next[t.From]] = t.To
			next[t.From]++
		}
	}
	return first, targets, open
}
