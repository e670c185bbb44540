package pdf

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// font is what a page says of one: which characters its codes are, and how wide.
type font struct {
	// wide says that codes have two bytes, unless lengths says otherwise for a first byte.
	wide    bool
	lengths [256]uint8
	// to is what the font's own table says, enc what its encoding does.
	to    map[uint32]string
	enc   encoding
	width map[uint32]float64 // in units of the size
	usual float64
	room  *int // of the file
}

// font reads a font.
func (f *file) font(v any) *font {
	d := f.dict(v)
	f.work -= 200 // tables are made for it
	t := &font{to: map[uint32]string{}, width: map[uint32]float64{}, usual: 0.5, room: &f.room}
	if d == nil {
		t.enc, _ = named("StandardEncoding")
		return t
	}
	if s, ok := f.resolve(d["ToUnicode"]).(*stream); ok {
		if data, err := f.decode(s); err == nil {
			f.mapped(t, data)
		}
	}
	if d["Subtype"] == name("Type0") {
		f.composite(t, d)
		return t
	}
	f.simple(t, d)
	return t
}

// simple reads what a font has whose codes are bytes.
func (f *file) simple(t *font, d dict) {
	scale := 0.001
	if d["Subtype"] == name("Type3") {
		if m := f.list(d["FontMatrix"]); len(m) > 0 {
			scale = f.number(m[0], scale)
		}
	}
	first := f.number(d["FirstChar"], 0)
	for i, w := range f.list(d["Widths"]) {
		if code := first + float64(i); code >= 0 && code < 256 {
			t.width[uint32(code)] = f.number(w, 500) * scale
		}
	}
	about := f.dict(d["FontDescriptor"])
	symbols := int(f.number(about["Flags"], 0))&4 != 0
	base, _ := named("StandardEncoding")
	if program, ok := f.resolve(about["FontFile"]).(*stream); ok {
		if own, ok := f.builtIn(program); ok {
			base = own
		}
	} else if d["Subtype"] == name("TrueType") || about["FontFile2"] != nil {
		base, _ = named("WinAnsiEncoding")
	}
	if symbols && (about["FontFile2"] != nil || about["FontFile3"] != nil) || d["Subtype"] == name("Type3") {
		base = encoding{} // codes are whatever its program makes of them
	}
	switch e := f.resolve(d["Encoding"]).(type) {
	case name:
		if own, ok := named(e); ok {
			base = own
		}
	case dict:
		n, _ := f.resolve(e["BaseEncoding"]).(name)
		if own, ok := named(n); ok {
			base = own
		}
		f.differences(&base, e, d["Subtype"] == name("Type3"))
	}
	t.enc = base
}

// differences are codes for which a font names other glyphs.
func (f *file) differences(e *encoding, d dict, drawn bool) {
	code := 0
	for _, v := range f.list(d["Differences"]) {
		switch v := f.resolve(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				e[code] = glyph(string(v))
				// Drawn letters of TeX are called by their codes.
				if n, err := strconv.Atoi(string(bytes.TrimPrefix([]byte(v), []byte("a")))); drawn && err == nil && n == code && n < utf8.RuneSelf && plain.Printable(string(rune(n))) {
					e[code] = string(rune(n))
				}
			}
			code++
		}
	}
}

// builtIn is the encoding that stands in the program of a font of Type 1, in its part that is plain
// text.
func (f *file) builtIn(s *stream) (e encoding, ok bool) {
	data, err := f.decode(s)
	if err != nil {
		return e, false
	}
	if n := bytes.Index(data, []byte("eexec")); n >= 0 {
		data = data[:n]
	}
	at := bytes.Index(data, []byte("/Encoding"))
	if at < 0 {
		return e, false
	}
	r := &reader{data: data[at+len("/Encoding"):], fuel: &f.work}
	var before [2]any
	for range 4 * 300 {
		v, more := r.next()
		switch {
		case !more || v == op("def") && ok:
			return e, ok
		case v == op("StandardEncoding"):
			return named("StandardEncoding")
		case v == op("put"):
			code, isCode := before[0].(float64)
			glyphName, isName := before[1].(name)
			if isCode && isName && code >= 0 && code < 256 {
				e[int(code)], ok = glyph(string(glyphName)), true
			}
		}
		before[0], before[1] = before[1], v
	}
	return e, ok
}

// composite reads what a font has whose codes have several bytes.
func (f *file) composite(t *font, d dict) {
	t.wide, t.usual, t.lengths = true, 1, [256]uint8{}
	if s, ok := f.resolve(d["Encoding"]).(*stream); ok {
		if data, err := f.decode(s); err == nil {
			how := &font{to: map[uint32]string{}, room: new(int)}
			f.mapped(how, data)
			t.lengths = how.lengths
		}
	}
	below := f.list(d["DescendantFonts"])
	if len(below) == 0 {
		return
	}
	cid := f.dict(below[0])
	t.usual = f.number(cid["DW"], 1000) / 1000
	w := f.list(cid["W"])
	for i := 0; i+1 < len(w); {
		from := f.number(w[i], -1)
		if each := f.list(w[i+1]); each != nil {
			for k, v := range each {
				t.wider(from+float64(k), f.number(v, 1000))
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			break
		}
		to, wide := f.number(w[i+1], -1), f.number(w[i+2], 1000)
		for c := from; c <= to && c-from < 65536 && *t.room > 0; c++ {
			t.wider(c, wide)
		}
		i += 3
	}
}

func (t *font) wider(code, width float64) {
	if code >= 0 && code < 1<<24 && *t.room > 0 {
		*t.room--
		t.width[uint32(code)] = width / 1000
	}
}

// mapped reads a table of codes and characters.
func (f *file) mapped(t *font, data []byte) {
	r := &reader{data: data, fuel: &f.work}
	var args list
	for {
		v, ok := r.next()
		if !ok {
			return
		}
		o, is := v.(op)
		if !is {
			if len(args) < maxList {
				args = append(args, v)
			}
			continue
		}
		switch o {
		case "endcodespacerange":
			t.spaces(args)
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				t.maps(args[i], 0, args[i+1], 0)
			}
		case "endbfrange":
			t.ranges(args)
		}
		args = args[:0]
	}
}

// spaces takes in how many bytes codes have that begin with a byte.
func (t *font) spaces(args list) {
	for i := 0; i+1 < len(args); i += 2 {
		lo, _ := args[i].(word)
		hi, _ := args[i+1].(word)
		if len(lo) == 0 || len(lo) != len(hi) || len(lo) > 4 {
			continue
		}
		for b := int(lo[0]); b <= int(hi[0]); b++ {
			t.lengths[b] = uint8(len(lo))
		}
	}
}

// ranges takes in codes in a row.
func (t *font) ranges(args list) {
	for i := 0; i+2 < len(args); i += 3 {
		lo, ok := code(args[i])
		hi, also := code(args[i+1])
		if !ok || !also || hi < lo || hi-lo > 65535 {
			continue
		}
		each, isList := args[i+2].(list)
		for n := range hi - lo + 1 {
			switch {
			case *t.room <= 0:
				return
			case !isList:
				t.maps(args[i], n, args[i+2], n)
			case int(n) < len(each):
				t.maps(args[i], n, each[n], 0)
			}
		}
	}
}

func code(v any) (out uint32, ok bool) {
	w, ok := v.(word)
	if len(w) == 0 || len(w) > 4 {
		return 0, false
	}
	for i := range len(w) {
		out = out<<8 | uint32(w[i])
	}
	return out, ok
}

// maps takes in what a code shows, both so many behind what is said.
func (t *font) maps(from any, plus uint32, to any, next uint32) {
	c, ok := code(from)
	w, is := to.(word)
	if !ok || !is || *t.room <= 0 || len(w) > 64 {
		return
	}
	*t.room--
	var units []uint16
	for i := 0; i+1 < len(w); i += 2 {
		units = append(units, uint16(w[i])<<8|uint16(w[i+1]))
	}
	if len(w) == 1 {
		units = []uint16{uint16(w[0])}
	}
	if len(units) > 0 {
		units[len(units)-1] += uint16(next)
	}
	t.to[c+plus] = string(utf16.Decode(units))
}

// shown is a code of a text, what it shows and how wide that is.
type shown struct {
	text  string
	width float64
	blank bool // it is widened by the spacing of words
}

// codes takes a text apart. What nobody knows is U+FFFD.
func (t *font) codes(w word, each func(shown)) {
	for i := 0; i < len(w); {
		n := 1
		if t.wide {
			n = 2
			if own := int(t.lengths[w[i]]); own > 0 {
				n = own
			}
		}
		n = min(n, len(w)-i)
		c, _ := code(word(w[i : i+n]))
		i += n
		s := shown{width: t.usual, blank: n == 1 && c == 32}
		if wide, ok := t.width[c]; ok {
			s.width = wide
		}
		var ok bool
		if s.text, ok = t.to[c]; !ok && !t.wide && c < 256 {
			s.text = t.enc[c]
			ok = s.text != ""
		}
		if !ok {
			s.text = "�"
		}
		each(s)
	}
}
