package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a line of a text diff. Mark is ' ' for both, '-' for the first text only,
// '+' for the second only.
type Line struct {
	Mark byte
	Text string
}

// ids gives equal words equal numbers.
type ids map[string]int32

func (x ids) of(words []string) []int32 {
	out := make([]int32, len(words))
	for i, w := range words {
		id, ok := x[w]
		if !ok {
			id = int32(len(x))
			x[w] = id
		}
		out[i] = id
	}
	return out
}

// common pairs the equal words of two lists.
func common(a, b []string) []match {
	x := ids{}
	left, right := x.of(a), x.of(b)
	return align(left, right, func(i, j int) int64 {
		if left[i] == right[j] {
			return Whole
		}
		return 0
	})
}

// diffLines sets two texts side by side, line by line.
func diffLines(a, b string) []Line {
	left, right := lines(a), lines(b)
	var out []Line
	i, j := 0, 0
	upTo := func(n, m int) {
		for ; i < n; i++ {
			out = append(out, Line{'-', left[i]})
		}
		for ; j < m; j++ {
			out = append(out, Line{'+', right[j]})
		}
	}
	for _, m := range common(left, right) {
		upTo(m.a, m.b)
		out = append(out, Line{' ', left[i]})
		i, j = i+1, j+1
	}
	upTo(len(left), len(right))
	return out
}

// lines splits a text. That it does not end with a line's end is a difference, too.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		return out[:len(out)-1]
	}
	return out
}

// around is how many equal lines are shown around a change.
const around = 3

// unified writes a text diff as patches are written, nothing if the texts are equal.
func unified(all []Line) string {
	show := make([]bool, len(all))
	for i, l := range all {
		if l.Mark != ' ' {
			for k := max(0, i-around); k <= min(len(all)-1, i+around); k++ {
				show[k] = true
			}
		}
	}
	var b strings.Builder
	left, right := 1, 1
	for i := 0; i < len(all); {
		if !show[i] {
			left, right, i = left+1, right+1, i+1 // what is not shown is in both
			continue
		}
		end, n, m := i, 0, 0
		for ; end < len(all) && show[end]; end++ {
			if all[end].Mark != '+' {
				n++
			}
			if all[end].Mark != '-' {
				m++
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(left, n), span(right, m))
		for _, l := range all[i:end] {
			b.WriteByte(l.Mark)
			b.WriteString(l.Text)
			if !strings.HasSuffix(l.Text, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
		left, right, i = left+n, right+m, end
	}
	return b.String()
}

func span(from, n int) string {
	if n == 0 {
		from-- // the line after which there is nothing
	}
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, n)
}

// likeness is how much of two texts is the same, word by word, in millionths: Whole
// only if they are equal.
func likeness(a, b string) int64 {
	if a == b {
		return Whole
	}
	left, right := words(a), words(b)
	same := int64(len(common(left, right)))
	return min(share(2*same, int64(len(left)+len(right))), Whole-1)
}

// share is part of whole in millionths, rounded down; of nothing, all.
func share(part, whole int64) int64 {
	if whole == 0 {
		return Whole
	}
	return part * Whole / whole
}

// words are the words, numbers and signs of a text. White space between them does not
// count as one.
func words(s string) (out []string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		end := i + n
		if letter(r) {
			for end < len(s) {
				r, n := utf8.DecodeRuneInString(s[end:])
				if !letter(r) {
					break
				}
				end += n
			}
		}
		if !unicode.IsSpace(r) {
			out = append(out, s[i:end])
		}
		i = end
	}
	return out
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
