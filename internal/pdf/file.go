package pdf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// The bounds of a file.
const (
	maxObjects = 300_000
	maxDecoded = 96 << 20 // of all streams together
	maxStream  = 24 << 20 // of one
	maxFuel    = 3 << 19  // objects that are kept
	maxWork    = 12 << 20 // objects that are read and not kept: what pages do, and tables of fonts
	maxMapped  = 400_000  // characters of all fonts whose meaning or width is known
	maxFollow  = 16       // references in a row
)

// file is a document. Where its objects stand it finds out by itself: tables in which files list
// them are often wrong, and nothing that a table says has to be believed then.
type file struct {
	data    []byte
	objects map[int]any
	// order is how late in the file each object was defined: the last one counts.
	order   map[int]int
	root    any
	decoded int
	// fuel, work and room are what is left of the bounds.
	fuel, work, room int
}

// open finds the objects of a document.
func open(data []byte) (*file, error) {
	f := &file{data: data, objects: map[int]any{}, order: map[int]int{}, fuel: maxFuel, work: maxWork, room: maxMapped}
	if at := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); at < 0 {
		return nil, errors.New("it does not begin as a PDF does")
	}
	trailers := f.scan()
	for _, d := range trailers {
		if f.resolve(d["Encrypt"]) != nil {
			return nil, errors.New("it is encrypted")
		}
	}
	f.unpack()
	for _, d := range trailers {
		if d["Root"] != nil {
			f.root = d["Root"]
		}
	}
	if _, ok := f.resolve(f.root).(dict); !ok {
		f.root = f.catalog()
	}
	if f.root == nil {
		return nil, errors.New("it lists no pages")
	}
	return f, nil
}

// scan reads all objects that stand in the file itself, and what it says of all of them.
func (f *file) scan() (trailers []dict) {
	for at := 0; len(f.objects) < maxObjects && f.fuel > 0; {
		n := bytes.Index(f.data[at:], []byte("obj"))
		t := bytes.Index(f.data[at:max(at, min(len(f.data), at+max(n, 0)))], []byte("trailer"))
		if n < 0 {
			t = bytes.Index(f.data[at:], []byte("trailer"))
		}
		if t >= 0 {
			r := &reader{data: f.data, at: at + t + len("trailer"), refs: true, fuel: &f.fuel}
			if v, ok := r.next(); ok {
				if d, is := v.(dict); is {
					trailers = append(trailers, d)
				}
			}
			at = r.at
			continue
		}
		if n < 0 {
			break
		}
		num, ok := f.numbered(at + n)
		if at += n + len("obj"); !ok {
			continue
		}
		v, end := f.object(at)
		f.objects[num], f.order[num] = v, at
		if s, is := v.(*stream); is && s.dict["Type"] == name("XRef") {
			trailers = append(trailers, s.dict)
		}
		at = end
	}
	return trailers
}

// numbered is the number of the object whose word obj stands at a place.
func (f *file) numbered(at int) (num int, ok bool) {
	i := at - 1
	back := func(is func(byte) bool) int {
		n := 0
		for ; i >= 0 && n < 10 && is(f.data[i]); i-- {
			n++
		}
		return n
	}
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	if back(space) == 0 || back(isDigit) == 0 || back(space) == 0 {
		return 0, false
	}
	end := i + 1
	if back(isDigit) == 0 {
		return 0, false
	}
	for _, c := range f.data[i+1 : end] {
		num = num*10 + int(c-'0')
	}
	return num, num < 1<<30
}

// object reads the object at a place, and says where it ends.
func (f *file) object(at int) (any, int) {
	r := &reader{data: f.data, at: at, refs: true, fuel: &f.fuel}
	v, _ := r.next()
	d, ok := v.(dict)
	if !ok {
		return v, r.at
	}
	end := r.at
	if w, _ := r.next(); w != op("stream") {
		return v, end
	}
	from := r.at
	if from < len(f.data) && f.data[from] == '\r' {
		from++
	}
	if from < len(f.data) && f.data[from] == '\n' {
		from++
	}
	if n, ok := d["Length"].(float64); ok && n >= 0 && n <= float64(len(f.data)-from) {
		to := from + int(n)
		if tail := bytes.TrimLeft(f.data[to:min(len(f.data), to+16)], "\r\n \t"); bytes.HasPrefix(tail, []byte("endstream")) {
			return &stream{d, f.data[from:to]}, to
		}
	}
	to := bytes.Index(f.data[from:], []byte("endstream"))
	if to < 0 {
		return &stream{d, f.data[from:]}, len(f.data)
	}
	return &stream{d, f.data[from : from+to]}, from + to
}

// unpack reads the objects that stand in streams.
func (f *file) unpack() {
	type packed struct {
		s  *stream
		at int
	}
	var all []packed
	for num, v := range f.objects {
		if s, ok := v.(*stream); ok && s.dict["Type"] == name("ObjStm") {
			all = append(all, packed{s, f.order[num]})
		}
	}
	slices.SortFunc(all, func(a, b packed) int { return cmp.Compare(a.at, b.at) })
	for _, p := range all {
		data, err := f.decode(p.s)
		first, n := f.number(p.s.dict["First"], 0), f.number(p.s.dict["N"], 0)
		if err != nil || first < 0 || first > float64(len(data)) || n < 0 {
			continue
		}
		head := &reader{data: data[:int(first)], fuel: &f.fuel}
		for i := 0; i < int(min(n, maxObjects)) && len(f.objects) < maxObjects; i++ {
			num, ok := head.next()
			at, also := head.next()
			if !ok || !also {
				break
			}
			no, _ := num.(float64)
			from, is := at.(float64)
			if !is || from < 0 || from > float64(len(data))-first || f.order[int(no)] > p.at {
				continue
			}
			r := &reader{data: data, at: int(first + from), refs: true, fuel: &f.fuel}
			f.objects[int(no)], _ = r.next()
			f.order[int(no)] = p.at
		}
	}
}

// catalog is the object that lists the pages, of a file that does not say which one that is.
func (f *file) catalog() any {
	best := -1
	for num, v := range f.objects {
		if d, ok := v.(dict); ok && d["Type"] == name("Catalog") && (best < 0 || f.order[num] > f.order[best]) {
			best = num
		}
	}
	if best < 0 {
		return nil
	}
	return f.objects[best]
}

// resolve follows references.
func (f *file) resolve(v any) any {
	for range maxFollow {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.objects[int(r)]
	}
	return nil
}

func (f *file) dict(v any) dict {
	switch v := f.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

// list is a list that somebody is about to go through.
func (f *file) list(v any) list {
	l, _ := f.resolve(v).(list)
	if f.work -= len(l) / 4; f.work <= 0 {
		return nil
	}
	return l
}

func (f *file) number(v any, otherwise float64) float64 {
	if n, ok := f.resolve(v).(float64); ok {
		return n
	}
	return otherwise
}

// page is one of the document, with what it inherits.
type page struct {
	dict      dict
	resources any
}

// maxPages is how many pages are read.
const maxPages = 2000

// pages are those of the document, in order.
func (f *file) pages() (out []page, err error) {
	seen := map[ref]bool{}
	var walk func(v any, resources any, deep int)
	walk = func(v any, resources any, deep int) {
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		d := f.dict(v)
		if d == nil || deep > maxNesting || len(out) >= maxPages {
			return
		}
		if d["Resources"] != nil {
			resources = d["Resources"]
		}
		if kids := f.list(d["Kids"]); kids != nil {
			for _, k := range kids {
				walk(k, resources, deep+1)
			}
			return
		}
		out = append(out, page{d, resources})
	}
	walk(f.dict(f.root)["Pages"], nil, 0)
	if len(out) == 0 {
		return nil, errors.New("it has no pages")
	}
	return out, nil
}

// contents are what a page does.
func (f *file) contents(p page) (out []byte, err error) {
	parts := f.list(p.dict["Contents"])
	if parts == nil {
		parts = list{p.dict["Contents"]}
	}
	for _, v := range parts {
		s, ok := f.resolve(v).(*stream)
		if !ok {
			continue
		}
		data, err := f.decode(s)
		if err != nil {
			return nil, fmt.Errorf("a page cannot be unpacked: %w", err)
		}
		out = append(append(out, data...), '\n')
	}
	return out, nil
}
