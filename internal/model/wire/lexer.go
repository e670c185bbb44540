package wire

import (
	"math"
	"strings"
	"unicode/utf8"
)

// lexer finds the strings in JSON that passes byte by byte, or in events whose data is such,
// and tells their characters. It never fails: of what is no JSON it makes something.
//
// Escapes are resolved however deep they are: backslashes in a row count as one, since a
// string in JSON in a string of JSON has more of them. So a text is not told as its reader
// has it, but any two that somebody may read as the same are told as the same.
type lexer struct {
	// events says that the stream is of server-sent events: an empty line ends one, and no
	// string goes over the end of a line.
	events bool
	// begin is told of a string, with an id that is the same for all values of one member
	// (of objects with the same index); each of its characters, and where they stand; end that
	// it ends, and whether another with its id may go on from it; passed of an event's end.
	begin  func(id uint64)
	each   func(c byte, from, to int64)
	end    func(goesOn bool)
	passed func()

	// place is where the next byte stands, count how many events have ended. blank says that
	// nothing is in the line yet, lead how much of it is the beginning of a line of data.
	place int64
	count int
	blank bool
	lead  int

	// inside a string: run backslashes have come from start on, and behind them, if four is
	// set, as many digits of a character as are in hex. odd says that the next character does
	// not end the string.
	inside, odd, four bool
	run               int
	start             int64
	hex               []byte

	// Outside: what is open; whether a name comes next, and whether that string is one; the
	// last name; and whether the digits that come are an index.
	open            []level
	key, isName     bool
	name            []byte
	counts, counted bool
	number          uint64
}

// level is an object or an array that is open. name is that of the member that is read, or of
// the one that an array is the value of; which is made of the indices that stand in the object.
type level struct {
	array       bool
	name, which uint64
}

// The bounds of what a lexer keeps: a run, a name, what is open.
const (
	maxRun  = 64
	maxName = 64
	maxOpen = 64
)

// field begins a line of data.
const field = "data:"

// take takes the next byte in.
func (l *lexer) take(c byte) {
	at := l.place
	l.place++
	if l.inside && (c != '\n' || !l.events) {
		l.character(c, at)
		return
	}
	if l.inside {
		l.close()
	}
	if c == '\n' && l.events {
		l.line()
		return
	}
	l.blank = l.blank && c == '\r'
	if l.events && l.lead >= 0 && l.lead < len(field) {
		if c == field[l.lead] {
			l.lead++ // it stands in the middle of JSON, if that has several lines
			return
		}
		l.lead = -1
	}
	l.structure(c)
}

// What is not looked at byte by byte: see Sieve.skip. textual are the bytes of a string, structural
// those around strings, that mean something.
var (
	textual    = [256]bool{'"': true, '\\': true, '\n': true}
	structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true, ',': true, ':': true, '\n': true}
)

// reads reports whether the lexer is in a string, and in no escape: bytes that are not textual are
// characters then.
func (l *lexer) reads() bool { return l.inside && l.run == 0 && !l.four }

// idles reports whether the lexer is outside of strings, behind the beginning of a line, and reads no
// index: bytes that are not structural are nothing then.
func (l *lexer) idles() bool {
	return !l.inside && !l.counts && !l.blank && (!l.events || l.lead < 0 || l.lead == len(field))
}

// begins takes the beginning of a line of data in, if p begins with it.
func (l *lexer) begins(p []byte) bool {
	if !l.events || l.inside || l.lead != 0 || len(p) < len(field) || string(p[:len(field)]) != field {
		return false
	}
	l.place += int64(len(field))
	l.lead, l.blank = len(field), false
	return true
}

// pass takes bytes in of which reads, or idles, says that they mean nothing more. Nobody is told of them.
func (l *lexer) pass(p []byte) {
	l.place += int64(len(p))
	if !l.inside {
		return
	}
	l.odd = false
	if l.isName {
		l.name = append(l.name, p[:min(len(p), maxName-len(l.name))]...)
	}
}

// line says that a line ends.
func (l *lexer) line() {
	if l.blank {
		l.open, l.key, l.counts = l.open[:0], false, false
		l.count++
		l.passed()
	}
	l.blank, l.lead = true, 0
}

// structure takes a byte that is in no string.
func (l *lexer) structure(c byte) {
	top := l.top()
	if l.counts && c >= '0' && c <= '9' {
		l.number, l.counted = l.number*10+uint64(c-'0'), true
		return
	}
	if l.counts && l.counted {
		top.which += mix(hash(l.name), l.number+1)
		l.counts = false
	}
	switch c {
	case '"':
		l.string(top)
	case '{':
		l.push(level{})
		l.key = true
	case '[':
		l.push(level{array: true, name: top.name})
		l.key = false
	case '}', ']':
		if n := len(l.open); n > 0 {
			l.open = l.open[:n-1]
		}
		l.key, l.counts = false, false
	case ',':
		l.key, l.counts = !top.array && len(l.open) > 0, false
	case ':':
		l.key, l.counts, l.counted, l.number = false, len(l.open) > 0 && index(string(l.name)), false, 0
	}
}

// top is what is open, and something of no meaning if nothing is.
func (l *lexer) top() *level {
	if n := len(l.open); n > 0 {
		return &l.open[n-1]
	}
	return &level{}
}

func (l *lexer) push(v level) {
	if len(l.open) >= maxOpen { // nothing that anybody reads is so deep
		l.open = l.open[:0]
	}
	l.open = append(l.open, v)
}

// string begins one.
func (l *lexer) string(top *level) {
	l.inside, l.odd, l.isName = true, false, l.key
	if l.isName {
		l.name = l.name[:0]
		l.begin(0)
		return
	}
	id := top.name
	for _, v := range l.open {
		id = mix(id, v.which)
	}
	l.begin(max(1, id))
}

// close ends the string that is open.
func (l *lexer) close() {
	l.loose()
	l.inside = false
	if l.isName {
		l.top().name = hash(l.name)
	}
	l.end(!l.isName)
}

// flush ends what is open at the end of all.
func (l *lexer) flush() {
	if l.inside {
		l.close()
	}
}

// pending is where an escape begins that is not whole.
func (l *lexer) pending() int64 {
	if l.run > 0 {
		return l.start
	}
	return math.MaxInt64
}

// tell tells a character.
func (l *lexer) tell(c byte, from, to int64) {
	if l.isName && len(l.name) < maxName {
		l.name = append(l.name, c)
	}
	l.each(c, from, to)
}

// loose tells backslashes, and what was taken for digits behind them, as what they are.
func (l *lexer) loose() {
	if l.run == 0 {
		return
	}
	at := l.start + int64(l.run)
	l.tell('\\', l.start, at)
	l.run = 0
	if !l.four {
		return
	}
	l.four = false
	l.tell('u', at, at+1)
	for i, c := range l.hex {
		l.tell(c, at+1+int64(i), at+2+int64(i))
	}
}

// escapes are the characters that a letter behind a backslash is, 0 for one that is none. It is a table: each letter of an answer asks it.
var escapes = [256]byte{'"': '"', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// character takes a byte of a string.
func (l *lexer) character(c byte, at int64) {
	if l.four {
		if l.digit(c, at) {
			return
		}
		l.loose()
	}
	if c == '\\' {
		if l.odd = !l.odd; l.run == 0 {
			l.start = at
		}
		if l.run++; l.run == maxRun {
			l.loose()
		}
		return
	}
	odd := l.odd
	l.odd = false
	switch e := escapes[c]; {
	case c == '"' && !odd:
		l.close()
	case l.run == 0:
		l.tell(c, at, at+1)
	case c == 'u':
		l.four, l.hex = true, l.hex[:0]
	case e != 0:
		l.run = 0
		l.tell(e, l.start, at+1)
	default:
		l.loose()
		l.tell(c, at, at+1)
	}
}

// digit takes a byte that may be one of the four of a character, and reports whether it is.
func (l *lexer) digit(c byte, at int64) bool {
	if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
		return false
	}
	if l.hex = append(l.hex, c); len(l.hex) < 4 {
		return true
	}
	r := rune(0)
	for _, d := range l.hex {
		r = r<<4 | rune(strings.IndexByte("0123456789abcdef", d|0x20))
	}
	l.run, l.four = 0, false
	var b [utf8.UTFMax]byte
	from := l.start
	for i := range utf8.EncodeRune(b[:], r) { // all but the first take no room
		l.tell(b[i], from, at+1)
		from = at + 1
	}
	return true
}

// hash and mix make ids of names and numbers.
func hash(name []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range name {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func mix(a, b uint64) uint64 {
	a ^= b * 0x9e3779b97f4a7c15
	a ^= a >> 32
	return a * 0xd6e8feb86659fd93
}

// index reports whether a member says which of several texts an object is of.
func index(name string) bool { return name == "index" || strings.HasSuffix(name, "_index") }
