package pdf

import (
	"bytes"
	"math"
)

// What a file is made of. Numbers are float64, the rest is nil, bool or one of these.
type (
	name   string
	word   string // bytes in parentheses or in hexadecimal
	op     string // anything else: what a page does, or a keyword
	ref    int    // the number of another object
	list   []any
	dict   map[name]any
	stream struct {
		dict dict
		raw  []byte
	}
)

// maxNesting is how deep lists and dictionaries go, maxList how long they are.
const (
	maxNesting = 32
	maxList    = 100_000
)

// reader reads objects one after the other. It never fails: what is no object is an op, and the
// end comes early if the fuel is used up.
type reader struct {
	data []byte
	at   int
	// refs says that two numbers and an R are a reference, as everywhere but in pages.
	refs bool
	fuel *int
	deep int
}

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skip goes over blanks and comments.
func (r *reader) skip() {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; {
		case space(c):
			r.at++
		case c == '%':
			if n := bytes.IndexAny(r.data[r.at:], "\r\n"); n >= 0 {
				r.at += n
			} else {
				r.at = len(r.data)
			}
		default:
			return
		}
	}
}

// next is the next object; ok is false at the end. Long ones take more fuel.
func (r *reader) next() (v any, ok bool) {
	from := r.at
	r.skip()
	*r.fuel -= 1 + (r.at-from)/16
	if r.at >= len(r.data) || *r.fuel <= 0 {
		return nil, false
	}
	switch c := r.data[r.at]; {
	case c == '<' && r.at+1 < len(r.data) && r.data[r.at+1] == '<':
		r.at += 2
		return r.dict(), true
	case c == '[':
		r.at++
		return r.list(), true
	}
	from = r.at
	v = r.single()
	*r.fuel -= (r.at - from) / 16
	return v, true
}

// single is an object that has no others in it.
func (r *reader) single() any {
	switch c := r.data[r.at]; {
	case c == '/':
		return r.name()
	case c == '(':
		return r.literal()
	case c == '<':
		return r.hex()
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
		return r.number()
	case delimiter(c):
		if r.at++; c == '>' && r.at < len(r.data) && r.data[r.at] == '>' {
			r.at++
			return op(">>")
		}
		return op(string(c))
	}
	return r.keyword()
}

func (r *reader) regular() []byte {
	from := r.at
	for r.at < len(r.data) && !space(r.data[r.at]) && !delimiter(r.data[r.at]) {
		r.at++
	}
	return r.data[from:r.at]
}

func (r *reader) keyword() any {
	switch w := string(r.regular()); w {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	default:
		return op(w)
	}
}

func (r *reader) name() any {
	r.at++
	raw := r.regular()
	if bytes.IndexByte(raw, '#') < 0 {
		return name(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if hi, lo := digit(raw, i+1), digit(raw, i+2); raw[i] == '#' && hi >= 0 && lo >= 0 {
			out = append(out, byte(hi<<4|lo))
			i += 2
			continue
		}
		out = append(out, raw[i])
	}
	return name(out)
}

// digit is the value of a hexadecimal digit, -1 if there is none.
func digit(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// number reads a number, or a reference.
func (r *reader) number() any {
	v, whole := r.figure()
	if !r.refs || !whole || v < 0 || v > 1<<30 {
		return v
	}
	back := r.at
	r.skip()
	if r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		if _, whole := r.figure(); whole {
			if r.skip(); r.at < len(r.data) && r.data[r.at] == 'R' && (r.at+1 == len(r.data) || space(r.data[r.at+1]) || delimiter(r.data[r.at+1])) {
				r.at++
				return ref(v)
			}
		}
	}
	r.at = back
	return v
}

// figure reads digits. What cannot be read is 0.
func (r *reader) figure() (v float64, whole bool) {
	raw := r.regular()
	sign, scale := 1.0, 0.0
	whole = true
	for _, c := range raw {
		switch {
		case c == '-':
			sign = -1
		case c == '.':
			scale, whole = 1, false
		case c >= '0' && c <= '9':
			v = v*10 + float64(c-'0')
			scale *= 10
		}
	}
	if scale > 1 {
		v /= scale
	}
	if v *= sign; math.Abs(v) > 1e12 || math.IsNaN(v) {
		return 0, false
	}
	return v, whole
}

// escapes are what letters behind a backslash are.
var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// literal reads bytes in parentheses.
func (r *reader) literal() any {
	var out []byte
	open := 0
	for r.at < len(r.data) {
		c := r.data[r.at]
		r.at++
		switch {
		case c == '(':
			if open++; open == 1 {
				continue
			}
		case c == ')':
			if open--; open == 0 {
				return word(out)
			}
		case c == '\\' && r.at < len(r.data):
			out = r.escaped(out)
			continue
		}
		out = append(out, c)
	}
	return word(out)
}

// escaped reads what stands behind a backslash.
func (r *reader) escaped(out []byte) []byte {
	c := r.data[r.at]
	r.at++
	if e, ok := escapes[c]; ok {
		return append(out, e)
	}
	switch {
	case c == '\r' && r.at < len(r.data) && r.data[r.at] == '\n':
		r.at++
		return out
	case c == '\r' || c == '\n':
		return out
	case c < '0' || c > '7':
		return append(out, c)
	}
	v := int(c - '0')
	for i := 0; i < 2 && r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '7'; i++ {
		v = v<<3 | int(r.data[r.at]-'0')
		r.at++
	}
	return append(out, byte(v))
}

// hex reads bytes in hexadecimal.
func (r *reader) hex() any {
	r.at++
	var out []byte
	half := -1
	for r.at < len(r.data) && r.data[r.at] != '>' {
		d := digit(r.data, r.at)
		r.at++
		switch {
		case d < 0:
		case half < 0:
			half = d
		default:
			out = append(out, byte(half<<4|d))
			half = -1
		}
	}
	r.at++
	if half >= 0 {
		out = append(out, byte(half<<4))
	}
	return word(out)
}

// list reads up to the bracket that closes it.
func (r *reader) list() any {
	out := list{}
	if r.deep++; r.deep > maxNesting {
		*r.fuel = 0
	}
	defer func() { r.deep-- }()
	for {
		v, ok := r.next()
		if !ok || v == op("]") {
			return out
		}
		if len(out) < maxList {
			out = append(out, v)
		}
	}
}

// dict reads up to the brackets that close it.
func (r *reader) dict() any {
	out := dict{}
	if r.deep++; r.deep > maxNesting {
		*r.fuel = 0
	}
	defer func() { r.deep-- }()
	for {
		k, ok := r.next()
		if !ok || k == op(">>") {
			return out
		}
		key, is := k.(name)
		if !is {
			continue
		}
		v, ok := r.next()
		if !ok || v == op(">>") {
			return out
		}
		if len(out) < maxList {
			out[key] = v
		}
	}
}
