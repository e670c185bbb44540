package wire

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// The bounds of what a sieve holds back.
const (
	// leastSecret is how long a secret is at least: a shorter one would take words apart. Of
	// a text that ends within a secret, as many bytes of it are taken out.
	leastSecret = 8
	// patientEvents is for how many events the beginning of a secret waits for its rest,
	// maxHold how many bytes meanwhile wait behind it.
	patientEvents = 4
	maxHold       = 64 << 10
	// maxThreads is of how many texts that pass in pieces the end is remembered.
	maxThreads = 64
)

// taken stands for a secret.
const taken = "[key]"

// Secrets are what a Sieve takes out. Those that are shorter than eight bytes are none.
type Secrets struct {
	list  []pattern
	first [256]bool
	// inside are the bytes of a text at which a sieve must look, around those outside of texts: what
	// they mean to the lexer, and where a secret may begin.
	inside, around [256]bool
	// lines says that no secret begins with a letter of what begins a line of data.
	lines bool
}

// pattern is a secret in one form. back says for each place how much of the beginning is
// there again when the next byte does not fit.
type pattern struct {
	text string
	back []int
}

// NewSecrets prepares secrets, in the forms that they have in texts and addresses.
func NewSecrets(list ...string) *Secrets {
	s := &Secrets{inside: textual, around: structural, lines: true}
	var known []string
	for _, secret := range list {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), unescaped(secret)} {
			if len(secret) < leastSecret || len(form) < leastSecret || slices.Contains(known, form) {
				continue
			}
			known = append(known, form)
			s.list = append(s.list, newPattern(form))
			s.first[form[0]], s.inside[form[0]], s.around[form[0]] = true, true, true
			s.lines = s.lines && strings.IndexByte(field, form[0]) < 0
		}
	}
	return s
}

func newPattern(text string) pattern {
	p := pattern{text: text, back: make([]int, len(text))}
	for i, n := 1, 0; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = p.back[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		p.back[i] = n
	}
	return p
}

// opens reports whether a secret begins with two bytes.
func (s *Secrets) opens(a, b byte) bool {
	for i := range s.list {
		if t := s.list[i].text; t[0] == a && t[1] == b {
			return true
		}
	}
	return false
}

// next is how much of the secret stands before a byte and with it.
func (p *pattern) next(n int, c byte) int {
	for n > 0 && (n == len(p.text) || p.text[n] != c) {
		n = p.back[n-1]
	}
	if p.text[n] == c {
		n++
	}
	return n
}

// Clean is a text, or an answer that is whole, without secrets. It may be the same bytes.
func (s *Secrets) Clean(text []byte) []byte {
	v := s.Sieve(false)
	out := v.Pass(text)
	if rest := v.End(); len(rest) > 0 {
		return slices.Concat(out, rest)
	}
	return out
}

// Sieve takes secrets out of an answer that passes by: as they stand there, in escapes of
// JSON (also of JSON in JSON), and where their pieces are texts that a client puts together:
// values of the same member, in one event after the other. The beginning of what may become a
// secret is held back, and all behind it; that is mostly nothing. If the rest does not come
// for four events, or 64 KiB wait, the beginning goes on its way, unless it is eight bytes of
// a secret; should the rest come after all, that is taken out.
//
// What remains of JSON is JSON. A sieve belongs to one goroutine.
type Sieve struct {
	*Secrets
	lex lexer
	// held are the bytes from place base on that were not passed on; spare is where the next
	// such go.
	held, spare []byte
	base        int64
	cuts        []cut
	// raw looks at all bytes, whatever they mean. text is the one of the string that is being
	// read, others are of those whose end may be the beginning of a secret.
	raw    *thread
	text   *thread
	others map[uint64]*thread
	idle   []*thread
	last   template
}

// cut is a piece that does not pass. Where it goes on from one before it in its text, nothing
// stands for it.
type cut struct {
	from, to int64
	goesOn   bool
}

// thread is a text of which pieces pass.
type thread struct {
	// at is how much of each secret stands at its end, depth the most of these.
	at    []int
	depth int
	// tail has the last bytes of the text that were not passed on, at most depth; cut says
	// that the one before was taken out.
	tail []mark
	cut  bool
	// id is which text it is, event the one after that in which the last of it came.
	id    uint64
	event int
}

// mark is a byte of a text: where it stands in the stream, as what.
type mark struct {
	from, to int64
	cut      bool
}

// Sieve makes a sieve for one answer. events says that the answer is a stream of
// server-sent events.
func (s *Secrets) Sieve(events bool) *Sieve {
	v := &Sieve{Secrets: s, others: map[uint64]*thread{}}
	v.lex = lexer{events: events, begin: v.begin, each: v.each, end: v.leave, passed: func() { v.expire(patientEvents) }}
	v.raw = v.thread(0)
	return v
}

// Pass takes the next piece of an answer in, and returns what may go on. That is valid until
// the next call.
func (v *Sieve) Pass(p []byte) []byte {
	if len(v.list) == 0 {
		return p
	}
	from := 0
	for i := 0; i < len(p); {
		if v.lex.fresh() && dataLine(p[i:]) {
			v.recorded(p[from:])
			if n := v.jump(p[i:]); n > 0 {
				i += n
				continue
			}
			v.record()
			from = i
		}
		if i += v.skip(p[i:]); i < len(p) {
			v.look(p[i])
			i++
		}
	}
	v.recorded(p[from:])
	return v.decided(p)
}

// look takes a byte in.
func (v *Sieve) look(c byte) {
	if v.raw.depth > 0 || v.first[c] {
		v.feed(v.raw, c, v.lex.place, v.lex.place+1)
	} else {
		v.raw.cut = false
	}
	v.lex.take(c)
}

// decided returns what may go on once p was taken in.
func (v *Sieve) decided(p []byte) []byte {
	if len(v.held) > 0 {
		v.held = append(v.held, p...)
		p = v.held
	}
	if v.lex.place-v.free() > maxHold {
		v.expire(-1)
	}
	return v.release(p, v.free())
}

// skip passes over the bytes at the beginning of p that mean nothing, one by one, to the lexer or to a
// secret, and returns how many those are. Almost all of an answer is such.
func (v *Sieve) skip(p []byte) (n int) {
	if v.raw.depth > 0 || v.text != nil && v.text.depth > 0 {
		return 0
	}
	if v.lines && v.lex.begins(p) {
		n = len(field)
		v.raw.cut = false
	}
	var stops, means *[256]bool
	switch {
	case v.lex.reads():
		stops, means = &v.inside, &textual
	case v.lex.idles():
		stops, means = &v.around, &structural
	default:
		return n
	}
	from := n
	for n < len(p) {
		if c := p[n]; stops[c] && (means[c] || n+1 == len(p) || means[p[n+1]] || v.opens(c, p[n+1])) {
			break
		}
		n++
	}
	if n > from {
		v.lex.pass(p[from:n])
		v.raw.cut = false
		if v.text != nil {
			v.text.cut = false
		}
	}
	return n
}

// End returns what is left.
func (v *Sieve) End() []byte {
	if len(v.list) == 0 {
		return nil
	}
	v.lex.flush()
	v.settle(v.raw)
	v.expire(-1)
	return v.release(v.held, v.lex.place)
}

// release returns the bytes up to a place without what is cut, and holds the rest.
func (v *Sieve) release(all []byte, to int64) []byte {
	n := int(to - v.base)
	out := all[:n]
	if len(v.cuts) > 0 {
		out = v.render(out)
	}
	v.spare = append(v.spare[:0], all[n:]...)
	v.held, v.spare = v.spare, v.held
	if cap(v.spare) > 2*maxHold {
		v.spare = nil
	}
	v.base = to
	return out
}

// render leaves out of the bytes from base on what is cut.
func (v *Sieve) render(in []byte) []byte {
	slices.SortStableFunc(v.cuts, func(a, b cut) int { return int(a.from - b.from) })
	out := make([]byte, 0, len(in)+len(taken))
	end, done := v.base+int64(len(in)), 0
	at := v.base
	for done < len(v.cuts) && v.cuts[done].from < end {
		c := v.cuts[done]
		for done++; done < len(v.cuts) && v.cuts[done].from == c.from; done++ { // the same, seen twice
			c.to, c.goesOn = max(c.to, v.cuts[done].to), c.goesOn || v.cuts[done].goesOn
		}
		if c.from > at {
			out = append(out, in[at-v.base:c.from-v.base]...)
			at = c.from
		}
		if !c.goesOn {
			out = append(out, taken...)
		}
		at = max(at, min(c.to, end))
	}
	v.cuts = slices.Delete(v.cuts, 0, done)
	return append(out, in[at-v.base:]...)
}

// free is up to where all is decided.
func (v *Sieve) free() int64 {
	at := min(v.lex.place, v.lex.pending())
	least := func(t *thread) {
		if t == nil {
			return
		}
		for _, m := range t.tail {
			if !m.cut {
				at = min(at, m.from)
				return
			}
		}
	}
	least(v.raw)
	least(v.text)
	for _, t := range v.others {
		least(t)
	}
	return max(at, v.base)
}

// thread returns one for a text.
func (v *Sieve) thread(id uint64) *thread {
	if n := len(v.idle); n > 0 {
		t := v.idle[n-1]
		v.idle = v.idle[:n-1]
		t.id = id
		return t
	}
	return &thread{at: make([]int, len(v.list)), id: id}
}

// begin says that a string begins, which goes on from others with the same id.
func (v *Sieve) begin(id uint64) {
	if v.last.on && id != 0 {
		v.noted(id)
	}
	if v.text = v.others[id]; v.text == nil {
		v.text = v.thread(id)
		return
	}
	delete(v.others, id)
}

// each takes a byte of the string that is being read.
func (v *Sieve) each(c byte, from, to int64) {
	if v.text.depth > 0 || v.first[c] {
		v.feed(v.text, c, from, to)
		return
	}
	v.text.cut = false
}

// leave says that the string ends. goesOn says that its text may go on in another.
func (v *Sieve) leave(goesOn bool) {
	t := v.text
	v.text = nil
	if t.depth == 0 && !t.cut {
		v.idle = append(v.idle, t)
		return
	}
	if !goesOn {
		v.settle(t)
		v.forget(t)
		return
	}
	if len(v.others) >= maxThreads {
		for id, old := range v.others {
			v.settle(old)
			v.forget(old)
			delete(v.others, id)
		}
	}
	t.event = v.lex.count + 1
	v.others[t.id] = t
}

// feed adds a byte to a text, and cuts the secret that ends with it.
func (v *Sieve) feed(t *thread, c byte, from, to int64) {
	t.depth = 0
	whole := 0
	for i := range v.list {
		p := &v.list[i]
		n := p.next(t.at[i], c)
		if t.at[i], t.depth = n, max(t.depth, n); n == len(p.text) {
			whole = max(whole, n)
		}
	}
	t.tail = append(t.tail, mark{from: from, to: to})
	if drop := len(t.tail) - t.depth; drop > 0 {
		t.cut = t.tail[drop-1].cut
		t.tail = append(t.tail[:0], t.tail[drop:]...)
	}
	if whole > 0 {
		v.cut(t, whole)
	}
}

// cut takes the last n bytes of a text out.
func (v *Sieve) cut(t *thread, n int) {
	from := max(0, len(t.tail)-n)
	for i := from; i < len(t.tail); i++ {
		goesOn := t.cut
		if i > 0 {
			goesOn = t.tail[i-1].cut
		}
		m := &t.tail[i]
		if !m.cut {
			m.cut = true
			v.cuts = append(v.cuts, cut{from: m.from, to: m.to, goesOn: goesOn})
			continue
		}
		for k := range v.cuts {
			if v.cuts[k].from == m.from {
				v.cuts[k].goesOn = v.cuts[k].goesOn || goesOn
			}
		}
	}
}

// settle decides on the end of a text whose rest has not come: it passes, unless it is much of
// a secret.
func (v *Sieve) settle(t *thread) {
	if t.depth >= leastSecret {
		v.cut(t, t.depth)
	}
	if n := len(t.tail); n > 0 {
		t.cut = t.tail[n-1].cut
		t.tail = t.tail[:0]
	}
}

// forget makes a thread one of no text.
func (v *Sieve) forget(t *thread) {
	clear(t.at)
	t.depth, t.cut, t.tail = 0, false, t.tail[:0]
	v.idle = append(v.idle, t)
}

// expire settles texts that have not gone on for so many events, -1 all of them.
func (v *Sieve) expire(events int) {
	for _, t := range v.others {
		if v.lex.count-t.event >= events {
			v.settle(t)
		}
	}
}

// unescaped is a secret as a lexer tells it.
func unescaped(s string) string {
	var b bytes.Buffer
	l := lexer{inside: true, each: func(c byte, _, _ int64) { b.WriteByte(c) }}
	for i := range len(s) {
		if s[i] == '"' && !l.odd { // it would end there
			l.loose()
			b.WriteByte('"')
			l.place++
			continue
		}
		l.take(s[i])
	}
	l.loose()
	return b.String()
}
