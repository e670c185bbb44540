package plain

import (
	"slices"
	"strings"
)

// Near returns the names that may have been meant by a name that is none of them, best first.
func Near(name string, names []string) []string {
	if len(name) > 100 {
		return nil
	}
	var close []string
	for _, n := range names {
		if swapped(strings.ToLower(name), strings.ToLower(n)) {
			close = append(close, n)
		}
	}
	for limit := 1; limit <= 3 && len(close) == 0; limit++ {
		for _, n := range names {
			if distance(strings.ToLower(name), strings.ToLower(n)) <= min(limit, (len(n)+1)/3) {
				close = append(close, n)
			}
		}
	}
	for _, n := range names {
		if !slices.Contains(close, n) && len(name) > 2 && (strings.Contains(n, name) || strings.Contains(name, n)) {
			close = append(close, n)
		}
	}
	return close[:min(len(close), 3)]
}

// swapped reports whether a is b with two neighbours the wrong way round.
func swapped(a, b string) bool {
	for i := 1; i < len(a) && len(a) == len(b); i++ {
		if a[i-1] != b[i-1] {
			return a[i-1] == b[i] && a[i] == b[i-1] && a[i+1:] == b[i+1:]
		}
	}
	return false
}

// distance is how many letters must change to make a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
