package view

import (
	"cmp"
	"slices"
)

// match says that what stands at a in the one list answers to what stands at b in the
// other.
type match struct{ a, b int }

// Whole is the score of two things that are the same. Scores and similarities are in
// millionths: integers, so that every machine has the same figure.
const Whole = 1_000_000

// How much work is put into finding the best alignment of a stretch: up to exactCells
// pairs are all tried; longer stretches are first cut at what occurs once in both, and
// what then is still longer than maxCells, into pieces of equal shares.
const (
	exactCells = 250_000
	maxCells   = 2_000_000
	maxCuts    = 8
)

// align pairs the places of two lists so that order is kept and the sum of the scores
// is high: the highest, where the lists are short. Keys are equal where the score is
// Whole. The time is bounded by the lists' length, however alike their parts are.
func align(a, b []int32, score func(i, j int) int64) []match {
	x := &aligner{a: a, b: b, score: score}
	x.stretch(0, len(a), 0, len(b), 0)
	return x.out
}

type aligner struct {
	a, b  []int32
	score func(i, j int) int64
	out   []match
	// dirs and rows are the memory of the last stretch.
	dirs []byte
	rows [2][]int64
}

// stretch aligns a[i:n] with b[j:m].
func (x *aligner) stretch(i, n, j, m, cuts int) {
	for i < n && j < m && x.a[i] == x.b[j] {
		x.out = append(x.out, match{i, j})
		i, j = i+1, j+1
	}
	tail := 0
	for i < n-tail && j < m-tail && x.a[n-tail-1] == x.b[m-tail-1] {
		tail++
	}
	n, m = n-tail, m-tail
	if i < n && j < m {
		x.middle(i, n, j, m, cuts)
	}
	for k := range tail {
		x.out = append(x.out, match{n + k, m + k})
	}
}

func (x *aligner) middle(i, n, j, m, cuts int) {
	if (n-i)*(m-j) > exactCells && cuts < maxCuts {
		if fixed := x.once(i, n, j, m); len(fixed) > 0 {
			for _, f := range fixed {
				x.stretch(i, f.a, j, f.b, cuts+1)
				x.out = append(x.out, f)
				i, j = f.a+1, f.b+1
			}
			x.stretch(i, n, j, m, cuts+1)
			return
		}
	}
	pieces := 1
	for ((n-i)/pieces+1)*((m-j)/pieces+1) > maxCells {
		pieces++
	}
	for k := range pieces {
		x.exact(i+(n-i)*k/pieces, i+(n-i)*(k+1)/pieces, j+(m-j)*k/pieces, j+(m-j)*(k+1)/pieces)
	}
}

// once finds what occurs exactly once on both sides, and of that the longest run that
// is in order on both.
func (x *aligner) once(i, n, j, m int) []match {
	type seen struct{ count, at int }
	left, right := map[int32]seen{}, map[int32]seen{}
	for k := i; k < n; k++ {
		left[x.a[k]] = seen{left[x.a[k]].count + 1, k}
	}
	for k := j; k < m; k++ {
		right[x.b[k]] = seen{right[x.b[k]].count + 1, k}
	}
	var all []match
	for k := i; k < n; k++ {
		if r := right[x.a[k]]; left[x.a[k]].count == 1 && r.count == 1 {
			all = append(all, match{k, r.at})
		}
	}
	return rising(all)
}

// rising is the longest run of matches whose b rises too.
func rising(all []match) []match {
	var ends []int // of the runs of each length, the one that ends lowest
	before := make([]int, len(all))
	for k, m := range all {
		at, _ := slices.BinarySearchFunc(ends, m.b, func(e, b int) int { return cmp.Compare(all[e].b, b) })
		before[k] = -1
		if at > 0 {
			before[k] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, k)
		} else {
			ends[at] = k
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([]match, len(ends))
	for at, k := len(out)-1, ends[len(ends)-1]; at >= 0; at, k = at-1, before[k] {
		out[at] = all[k]
	}
	return out
}

const (
	both byte = iota
	onlyA
	onlyB
)

// exact tries all pairs.
func (x *aligner) exact(i, n, j, m int) {
	h, w := n-i, m-j
	if h == 0 || w == 0 {
		return
	}
	x.dirs = slices.Grow(x.dirs[:0], h*w)[:h*w]
	for k := range x.rows {
		x.rows[k] = slices.Grow(x.rows[k][:0], w+1)[:w+1]
		clear(x.rows[k])
	}
	// From the end, so that the way is then read from the beginning.
	below, row := x.rows[0], x.rows[1]
	for p := h - 1; p >= 0; p-- {
		row[w] = 0
		for q := w - 1; q >= 0; q-- {
			best, dir := below[q], onlyA
			if row[q+1] > best {
				best, dir = row[q+1], onlyB
			}
			if s := x.score(i+p, j+q); s > 0 && s+below[q+1] >= best {
				best, dir = s+below[q+1], both
			}
			row[q], x.dirs[p*w+q] = best, dir
		}
		below, row = row, below
	}
	for p, q := 0, 0; p < h && q < w; {
		switch x.dirs[p*w+q] {
		case both:
			x.out = append(x.out, match{i + p, j + q})
			p, q = p+1, q+1
		case onlyA:
			p++
		default:
			q++
		}
	}
}
