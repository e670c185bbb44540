// Package analysis looks at what somebody made without running any of it: whether its files
// parse, whether what they refer to is there, whether a person who cannot see it can use it, and
// whether what was declared of it stands in it.
//
// It is a function of the files, of what was declared, and of Version: whoever has the same
// version says the same of the same tree. Files are a stranger's. Whatever is in them, there is
// an answer, in a time that grows with their size; what is too much for that is a finding.
package analysis

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Version names what looks. It changes with every change of what is found.
const Version = "lyceum rules 1"

// The kinds of things that are made.
const (
	Web     = "web"
	Program = "program"
)

// Bounds of what is looked at. A file beyond MaxFile is not read, and whatever has more files
// or bytes is refused.
const (
	MaxFiles = 2000
	MaxFile  = 1 << 20
	MaxBytes = 8 << 20
	// maxFound is how many findings are told; the others are counted.
	maxFound = 200
	maxShown = 160
)

// Entry is the page that a browser opens.
const Entry = "index.html"

// programs are what a program may be called that is run, by the one that counts first.
var programs = []string{"main", "main.py", "main.sh", "main.js", "main.mjs"}

// Start is the file of a program that is run, nothing if there is none.
func Start(has func(path string) bool) string {
	for _, p := range programs {
		if has(p) {
			return p
		}
	}
	return ""
}

// The kinds of findings.
const (
	Failed      = "failed"
	Unavailable = "unavailable"
	Told        = "told"
)

// File is one of a tree.
type File struct {
	Path string
	// Size is how many bytes it has, Data is all of them, or nil if it was too long to be read.
	Size int64
	Data []byte
	// Link says that it is a symbolic link: nothing follows it.
	Link bool
}

// Report is what was found, in a fixed order. More counts findings that are not listed.
type Report struct {
	Findings []event.WorldFinding
	More     int64
	Failed   bool
}

// Look says what is to be said of a tree of one kind, for which something was declared.
func Look(files []File, declared *event.WorldStructure, kind string) Report {
	l := &look{files: map[string]*File{}, work: maxWork}
	if !l.fits(files) {
		return l.report()
	}
	for i := range files {
		f := &files[i]
		l.files[f.Path] = f
		if f.Link {
			l.fail(f.Path, 0, "reference", "files and folders", "a symbolic link, which nothing follows")
		}
	}
	l.begins(kind)
	for i := range files {
		if f := &files[i]; !f.Link {
			l.file(f, kind)
		}
	}
	if kind != Program {
		l.loops(declared)
	}
	return l.report()
}

// maxWork bounds what is done beyond one pass over the files: going through elements for their
// names, and through ids.
const maxWork = 4_000_000

type look struct {
	files map[string]*File
	pages []*page
	found []event.WorldFinding
	// told counts those of found that do not block.
	told int
	more int64
	bad  bool
	// work is what is left of maxWork; tired says that this was told.
	work  int
	tired bool
	// made says that scripts make elements, so that pages do not tell what there is; named that
	// they set texts.
	made, named bool
}

func (l *look) fits(files []File) bool {
	var sum int64
	for _, f := range files {
		sum += f.Size
	}
	switch {
	case len(files) == 0:
		l.fail("", 0, "entry", "files", "an empty folder")
	case len(files) > MaxFiles:
		l.fail("", 0, "size", fmt.Sprintf("at most %d files", MaxFiles), fmt.Sprintf("%d files", len(files)))
	case sum > MaxBytes:
		l.fail("", 0, "size", fmt.Sprintf("at most %d bytes", MaxBytes), fmt.Sprintf("%d bytes", sum))
	default:
		return true
	}
	return false
}

// begins looks for what is opened or run first.
func (l *look) begins(kind string) {
	if kind == Program {
		if Start(func(p string) bool { f := l.files[p]; return f != nil && !f.Link }) == "" {
			l.fail("", 0, "entry", "a program at the top of the folder: "+strings.Join(programs, ", "), "none")
		}
		return
	}
	if f := l.files[Entry]; f == nil || f.Link {
		l.fail(Entry, 0, "entry", "a page "+Entry+" at the top of the folder", "none")
	}
}

// file looks at one file, as its name says.
func (l *look) file(f *File, kind string) {
	read := readers(kind)[strings.ToLower(path.Ext(f.Path))]
	switch {
	case read == nil:
	case int64(len(f.Data)) != f.Size:
		l.fail(f.Path, 0, "size", fmt.Sprintf("at most %d bytes", MaxFile), fmt.Sprintf("%d bytes", f.Size))
	default:
		read(l, f.Path, f.Data)
	}
}

// readers are what reads files, by the ends of their names.
func readers(kind string) map[string]func(*look, string, []byte) {
	script := func(l *look, p string, data []byte) { l.script(p, 1, data, asFile) }
	data := func(l *look, p string, data []byte) { l.data(p, 1, data) }
	out := map[string]func(*look, string, []byte){".json": data, ".js": script, ".mjs": script, ".go": (*look).golang}
	if kind != Program {
		style := func(l *look, p string, data []byte) { l.style(p, 1, data) }
		out[".html"], out[".htm"], out[".css"] = (*look).page, (*look).page, style
	}
	return out
}

func (l *look) fail(at string, line int, check, expected, observed string) {
	l.note(at, line, check, Failed, expected, observed)
}

// note keeps a finding. What blocks is kept before what does not.
func (l *look) note(at string, line int, check, kind, expected, observed string) {
	if len(l.found) >= maxFound && (kind != Failed || l.told == 0) {
		l.more++
		l.bad = l.bad || kind == Failed
		return
	}
	f := event.WorldFinding{
		Check: check, Kind: kind, Required: kind == Failed, Path: shown(at), Line: int64(line),
		Expected: shown(expected), Observed: shown(observed),
	}
	l.bad = l.bad || f.Required
	if len(l.found) < maxFound {
		l.found = append(l.found, f)
		if !f.Required {
			l.told++
		}
		return
	}
	l.told--
	l.more++
	l.found[slices.IndexFunc(l.found, func(o event.WorldFinding) bool { return !o.Required })] = f
}

// spend reports whether there is work left for so much.
func (l *look) spend(n int) bool {
	if l.work -= n; l.work > 0 {
		return true
	}
	if !l.tired {
		l.tired = true
		l.fail("", 0, "size", "pages that can be gone through", "elements that name each other so often that looking would take too long")
	}
	return false
}

func (l *look) report() Report {
	slices.SortStableFunc(l.found, func(a, b event.WorldFinding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Check, b.Check), strings.Compare(a.Observed, b.Observed))
	})
	return Report{Findings: l.found, More: l.more, Failed: l.bad}
}

// shown is a stranger's text in a finding.
func shown(s string) string { return plain.Brief(plain.Line(plain.Cut(s, 4*maxShown)), maxShown) }
