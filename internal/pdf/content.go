package pdf

import (
	"bytes"
	"math"
	"strings"
)

// matrix is how a place is taken to another: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0}

// times is the matrix that does m first, and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func shift(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// The bounds of what a page does.
const (
	maxForms  = 8       // forms in forms
	maxStack  = 512     // things that are put aside
	maxText   = 4 << 20 // bytes of text
	maxFonts  = 2000
	maxFormed = 20_000 // forms that are drawn
)

// state is what holds for the text that comes next.
type state struct {
	ctm                                        matrix
	font                                       *font
	size, chars, words, stretch, leading, rise float64
}

// scribe writes down the text of pages, as it would be read from left to right and from line to
// line where it stands.
type scribe struct {
	f     *file
	out   strings.Builder
	fonts map[ref]*font
	forms int
	// x and y are where the last character has ended, tall how large it was.
	x, y, tall float64
	any        bool
}

// drawing is a page or a form that is being drawn.
type drawing struct {
	*scribe
	resources  any
	now        state
	aside      []state
	text, line matrix
	deep       int
}

// draw does what a page says.
func (s *scribe) draw(data []byte, resources any, ctm matrix, deep int) {
	d := &drawing{scribe: s, resources: resources, now: state{ctm: ctm, stretch: 1}, text: unit, line: unit, deep: deep}
	r := &reader{data: data, fuel: &s.f.work}
	var args list
	for s.out.Len() < maxText {
		v, ok := r.next()
		if !ok {
			return
		}
		o, is := v.(op)
		if !is {
			if len(args) < 64 {
				args = append(args, v)
			}
			continue
		}
		if o == "BI" {
			skipPicture(r)
		} else {
			d.do(o, args)
		}
		args = args[:0]
	}
}

// skipPicture goes over a picture that stands among what a page does.
func skipPicture(r *reader) {
	n := bytes.Index(r.data[r.at:], []byte("ID"))
	if n < 0 {
		r.at = len(r.data)
		return
	}
	for r.at += n + 2; r.at < len(r.data); {
		n := bytes.Index(r.data[r.at:], []byte("EI"))
		if n < 0 {
			break
		}
		at := r.at + n
		r.at = at + 2
		if space(r.data[at-1]) && (r.at == len(r.data) || space(r.data[r.at])) {
			return
		}
	}
	r.at = len(r.data)
}

// num is an argument that is a number.
func num(args list, i int) float64 {
	if i < 0 || i >= len(args) {
		return 0
	}
	v, _ := args[i].(float64)
	return v
}

func matrixOf(args list) matrix {
	if len(args) < 6 {
		return unit
	}
	return matrix{num(args, 0), num(args, 1), num(args, 2), num(args, 3), num(args, 4), num(args, 5)}
}

// do does one thing. It is long because each has its line.
func (d *drawing) do(o op, args list) {
	now := &d.now
	switch o {
	case "q":
		if len(d.aside) < maxStack {
			d.aside = append(d.aside, *now)
		}
	case "Q":
		if n := len(d.aside); n > 0 {
			*now, d.aside = d.aside[n-1], d.aside[:n-1]
		}
	case "cm":
		now.ctm = matrixOf(args).times(now.ctm)
	case "BT":
		d.text, d.line = unit, unit
	case "Tc":
		now.chars = num(args, 0)
	case "Tw":
		now.words = num(args, 0)
	case "Tz":
		now.stretch = num(args, 0) / 100
	case "TL":
		now.leading = num(args, 0)
	case "Ts":
		now.rise = num(args, 0)
	case "Tf":
		now.size = num(args, 1)
		if len(args) > 0 {
			n, _ := args[0].(name)
			now.font = d.named(n)
		}
	case "gs":
		d.settings(args)
	case "Tm":
		d.line = matrixOf(args)
		d.text = d.line
	case "Td":
		d.move(num(args, 0), num(args, 1))
	case "TD":
		now.leading = -num(args, 1)
		d.move(num(args, 0), num(args, 1))
	case "T*":
		d.move(0, -now.leading)
	case "Tj":
		d.show(args)
	case "'":
		d.move(0, -now.leading)
		d.show(args)
	case "\"":
		now.words, now.chars = num(args, 0), num(args, 1)
		d.move(0, -now.leading)
		d.show(args[min(2, len(args)):])
	case "TJ":
		if len(args) > 0 {
			all, _ := args[0].(list)
			d.show(all)
		}
	case "Do":
		d.form(args)
	}
}

func (d *drawing) move(x, y float64) {
	d.line = shift(x, y).times(d.line)
	d.text = d.line
}

// named is a font of the resources.
func (d *drawing) named(n name) *font {
	v := d.f.dict(d.f.dict(d.resources)["Font"])[n]
	r, shared := v.(ref)
	if t := d.fonts[r]; shared && t != nil {
		return t
	}
	t := d.f.font(v)
	if shared && len(d.fonts) < maxFonts {
		d.fonts[r] = t
	}
	return t
}

// settings takes a font out of a set of settings, if one is there.
func (d *drawing) settings(args list) {
	if len(args) == 0 {
		return
	}
	n, _ := args[0].(name)
	if pair := d.f.list(d.f.dict(d.f.dict(d.f.dict(d.resources)["ExtGState"])[n])["Font"]); len(pair) == 2 {
		d.now.font, d.now.size = d.f.font(pair[0]), d.f.number(pair[1], 1)
	}
}

// form draws a form, which has resources of its own.
func (d *drawing) form(args list) {
	if len(args) == 0 || d.deep >= maxForms || d.forms >= maxFormed {
		return
	}
	n, _ := args[0].(name)
	s, ok := d.f.resolve(d.f.dict(d.f.dict(d.resources)["XObject"])[n]).(*stream)
	if !ok || d.f.resolve(s.dict["Subtype"]) != name("Form") {
		return
	}
	d.forms++
	data, err := d.f.decode(s)
	if err != nil {
		return
	}
	resources := s.dict["Resources"]
	if resources == nil {
		resources = d.resources
	}
	ctm := d.now.ctm
	if m := d.f.list(s.dict["Matrix"]); len(m) == 6 {
		ctm = matrixOf(m).times(ctm)
	}
	d.draw(data, resources, ctm, d.deep+1)
}

// show writes texts, with numbers between them that move the place.
func (d *drawing) show(args list) {
	t, now := d.now.font, &d.now
	if t == nil {
		return
	}
	for _, v := range args {
		switch v := v.(type) {
		case float64:
			d.text = shift(-v/1000*now.size*now.stretch, 0).times(d.text)
		case word:
			t.codes(v, func(s shown) {
				d.put(s)
				wide := s.width*now.size + now.chars
				if s.blank {
					wide += now.words
				}
				d.text = shift(wide*now.stretch, 0).times(d.text)
				d.ended()
			})
		}
	}
}

// place is where the next character begins, the direction of its line, and how tall it is.
func (d *drawing) place() (x, y, ux, uy, tall float64) {
	m := shift(0, d.now.rise).times(d.text).times(d.now.ctm)
	along := math.Hypot(m[0], m[1])
	if along == 0 || math.IsNaN(along) || math.IsInf(along, 0) {
		along, m[0], m[1] = 1, 1, 0
	}
	return m[4], m[5], m[0] / along, m[1] / along, math.Abs(d.now.size) * math.Hypot(m[2], m[3])
}

func (d *drawing) ended() { d.x, d.y, _, _, _ = d.place() }

// put writes a character, behind the break or the blank that is between it and the last one.
func (d *drawing) put(s shown) {
	x, y, ux, uy, tall := d.place()
	dx, dy := x-d.x, y-d.y
	along, across := dx*ux+dy*uy, math.Abs(dx*uy-dy*ux)
	high := max(tall, d.tall)
	switch {
	case !d.any:
	case across > 1.7*high:
		d.rupture("\n\n")
	case across > 0.5*high, along < -high:
		d.rupture("\n")
	case along > 0.15*high:
		d.rupture(" ")
	}
	d.any, d.tall = true, tall
	if strings.TrimSpace(s.text) == "" {
		d.rupture(" ")
		return
	}
	d.out.WriteString(s.text)
}

// rupture writes a blank or a break, unless one is there that is as large.
func (d *drawing) rupture(s string) {
	out := d.out.String()
	if out == "" || strings.HasSuffix(out, s) || s == " " && strings.HasSuffix(out, "\n") {
		return
	}
	if s == "\n\n" && strings.HasSuffix(out, "\n") {
		s = "\n"
	}
	d.out.WriteString(s)
}
