package wire

import (
	"bytes"
	"slices"
)

// Events of a stream begin alike: a line of data has the same members before its text as the one before
// it. A sieve keeps how the last such line began, with the lexer's state at each string in it, and goes
// there at once when the next one begins with the same bytes. It does so only while nothing is held and
// nothing was cut, so that the beginning means to the sieve what it meant before.
type template struct {
	text  []byte
	marks []beginning
	// of the line that is being read: where it begins, and whether it may be kept.
	start int64
	on    bool
}

// beginning is a place behind the quotation mark that begins a value: the lexer's state there.
type beginning struct {
	at   int
	id   uint64
	open []level
	name string
}

// The bounds of a template.
const (
	maxTemplate = 1 << 10
	maxMarks    = 12
	maxDeep     = 8
)

// clear reports whether nothing is held, and nothing cut that still stands in what is to be passed on.
func (v *Sieve) clear() bool { return v.raw.depth == 0 && len(v.others) == 0 && len(v.cuts) == 0 }

// jump takes the beginning of a line in, if the last one began so too. It returns how much that is.
func (v *Sieve) jump(p []byte) int {
	t := &v.last
	if t.on = false; len(t.marks) == 0 || !v.clear() {
		return 0
	}
	n := 0
	for n < len(p) && n < len(t.text) && p[n] == t.text[n] {
		n++
	}
	for _, m := range slices.Backward(t.marks) {
		if m.at <= n {
			v.raw.cut = false
			v.lex.resume(m)
			v.begin(m.id)
			return m.at
		}
	}
	return 0
}

// record begins to keep how a line begins.
func (v *Sieve) record() {
	if v.last.on = v.clear(); v.last.on {
		v.last.start, v.last.marks, v.last.text = v.lex.place, v.last.marks[:0], v.last.text[:0]
	}
}

// noted keeps the lexer's state at the beginning of a value.
func (v *Sieve) noted(id uint64) {
	t, at := &v.last, int(v.lex.place-v.last.start)
	if !t.on || at > maxTemplate || len(t.marks) == maxMarks || len(v.lex.open) > maxDeep || v.lex.counts || !v.clear() {
		t.on = false
		return
	}
	t.marks = append(t.marks, beginning{at: at, id: id, open: slices.Clone(v.lex.open), name: string(v.lex.name)})
}

// recorded keeps the bytes of the line, up to its last value.
func (v *Sieve) recorded(line []byte) {
	if t := &v.last; len(t.marks) > 0 && len(t.text) == 0 {
		t.text = append(t.text, line[:t.marks[len(t.marks)-1].at]...)
	}
	v.last.on = false
}

// fresh reports whether a line begins, outside of all JSON.
func (l *lexer) fresh() bool {
	return l.events && l.blank && l.lead == 0 && !l.inside && len(l.open) == 0 && !l.key && !l.counts
}

// resume goes to a place in a line that begins like another one.
func (l *lexer) resume(m beginning) {
	l.place += int64(m.at)
	l.blank, l.lead = false, len(field)
	l.inside, l.odd, l.isName, l.key = true, false, false, false
	l.open, l.name = append(l.open[:0], m.open...), append(l.name[:0], m.name...)
}

// dataLine reports whether p begins with a line of data.
func dataLine(p []byte) bool { return bytes.HasPrefix(p, []byte(field)) }
