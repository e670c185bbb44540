// Package task has what an architect and executors hand each other: the scope of a task, the
// package that goes to an executor, the manifest that comes back, the plan as a person edits
// it; and what is read out of the output of commands.
//
// All of it is hostile: an executor writes manifests and names files, a model writes plans.
// What cannot be right is refused with a sentence that says what to do; nothing is guessed.
package task

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// MaxPaths is how many paths each list of a scope may have, MaxPath how long one may be.
const (
	MaxPaths = 64
	MaxPath  = 300
)

// Own is the folder of a home that is ours: what an executor puts there is read, and is no
// part of its work.
const Own = ".lyceum"

// Scope says which files may change. Include is taken to the letter; what is closed is closed
// in every form that some system takes for the same: in another case, composed otherwise, with
// characters that cannot be seen. Its zero value allows nothing.
type Scope struct {
	of      event.TaskScope
	include []area
	closed  []area
}

// area is a file or a folder with all that is in it.
type area struct {
	// path has no slash at its end, and is empty for all there is.
	path string
	// folder says that the path itself is not meant, only what is in it.
	folder bool
	// why says what closes it.
	why string
}

// Of makes a scope of what is recorded.
func Of(s event.TaskScope) Scope {
	made := Scope{of: s}
	for _, p := range s.Include {
		made.include = append(made.include, areaOf(p))
	}
	for _, p := range s.Exclude {
		made.closed = append(made.closed, closedArea(p, "the task excludes "))
	}
	for _, p := range s.NoTouch {
		made.closed = append(made.closed, closedArea(p, "nobody may touch "))
	}
	return made
}

// Recorded is the scope as an event has it.
func (s Scope) Recorded() event.TaskScope { return s.of }

// With is the scope with more paths closed.
func (s Scope) With(noTouch ...string) Scope {
	of := s.of
	of.NoTouch = slices.Clone(of.NoTouch)
	for _, p := range noTouch {
		if !slices.Contains(of.NoTouch, p) {
			of.NoTouch = append(of.NoTouch, p)
		}
	}
	return Of(of)
}

// Check says what is wrong with a scope that somebody wrote. One without include is wrong.
func (s Scope) Check() error {
	if len(s.of.Include) == 0 {
		return fmt.Errorf("include is empty: name the files or folders that may change, or . for all")
	}
	for _, l := range []struct {
		name  string
		paths []string
	}{{"include", s.of.Include}, {"exclude", s.of.Exclude}, {"no_touch", s.of.NoTouch}} {
		if err := checkPaths(l.name, l.paths); err != nil {
			return err
		}
	}
	for _, a := range s.include {
		if !s.covered(a.fold()) {
			return nil
		}
	}
	return fmt.Errorf("exclude and no_touch close all that include names: nothing is left that may change")
}

func checkPaths(name string, paths []string) error {
	if len(paths) > MaxPaths {
		return fmt.Errorf("%s has %d paths, more than %d: name the folders they are in", name, len(paths), MaxPaths)
	}
	for _, p := range paths {
		if why := OddPath(p); why != "" {
			return fmt.Errorf("%s: %s: %s; write a path below the top of the repository, such as cmd/main.go or docs/", name, plain.Quoted(p, 80), why)
		}
	}
	return nil
}

// OddPath says what is wrong with a path of a scope, and nothing if it may stand there.
func OddPath(p string) string {
	switch {
	case p == "." || p == "./":
		return ""
	case len(p) > MaxPath:
		return fmt.Sprintf("its path has more than %d bytes", MaxPath)
	}
	if strings.ContainsAny(p, "*?[") {
		return "it is a pattern, and a scope has files and folders only"
	}
	return workspace.Odd(strings.TrimSuffix(p, "/"))
}

// Allows reports whether a file or link at a path may be changed, made or removed, and if
// not, why. A rename is a path that goes and one that comes: both have to be allowed.
func (s Scope) Allows(path string) (bool, string) {
	if why := workspace.Strange(path); why != "" {
		return false, why
	}
	folded := fold(path)
	if top, _, _ := strings.Cut(folded, "/"); top == Own {
		return false, Own + " is Lyceum's own"
	}
	for _, a := range s.closed {
		// Whatever stands at a path above a closed one takes its place.
		if a.holds(folded) || a.path == folded || strings.HasPrefix(a.path, folded+"/") {
			return false, a.why
		}
	}
	for _, a := range s.include {
		if a.holds(path) {
			return true, ""
		}
	}
	return false, "the task's include does not name it"
}

// Meets reports whether two scopes could change the same file: a/ meets a/b.go, a does not
// meet ab, and a point meets all. What they exclude does not count.
func (s Scope) Meets(o Scope) bool {
	for _, a := range s.include {
		for _, b := range o.include {
			if a, b := a.fold(), b.fold(); a.over(b) || b.over(a) {
				return true
			}
		}
	}
	return false
}

// Within says why a scope is not within another, and nothing if it is: it then allows
// nothing that the other does not.
func (s Scope) Within(o Scope) error {
	for i, a := range s.include {
		if !slices.ContainsFunc(o.include, func(b area) bool { return b.over(a) && (!b.folder || a.folder || a.path != b.path) }) {
			return fmt.Errorf("include: %s is not within %s", plain.Quoted(s.of.Include[i], 80), list(o.of.Include))
		}
	}
	for _, c := range o.closed {
		meets := func(a area) bool { a = a.fold(); return a.over(c) || c.over(a) }
		if slices.ContainsFunc(s.include, meets) && !s.covered(c) {
			return fmt.Errorf("%s, and this scope does not: keep it in exclude or no_touch", c.why)
		}
	}
	return nil
}

// Narrower says why a scope is not strictly smaller than another, and nothing if it is.
func (s Scope) Narrower(than Scope) error {
	if err := s.Within(than); err != nil {
		return err
	}
	if than.bare().Within(s.bare()) == nil {
		return fmt.Errorf("the scope is the same as before: include less than %s, or exclude some of it", list(than.of.Include))
	}
	return nil
}

// bare is a scope that does not tell a folder from its content.
func (s Scope) bare() Scope {
	s.include, s.closed = slices.Clone(s.include), slices.Clone(s.closed)
	for _, l := range [][]area{s.include, s.closed} {
		for i := range l {
			l[i].folder = false
		}
	}
	return s
}

// covered reports whether all of an area, in its folded form, is closed.
func (s Scope) covered(a area) bool {
	return slices.ContainsFunc(s.closed, func(c area) bool { return c.over(a) })
}

func list(paths []string) string {
	if len(paths) == 0 {
		return "anything"
	}
	short := make([]string, 0, 6)
	for i, p := range paths {
		if i == 5 {
			short = append(short, fmt.Sprintf("and %d more", len(paths)-i))
			break
		}
		short = append(short, plain.Bare(p, 80))
	}
	return strings.Join(short, ", ")
}

func areaOf(p string) area {
	if p == "." || p == "./" {
		return area{}
	}
	path, folder := strings.CutSuffix(p, "/")
	if path == "" { // no path; it must not mean all there is
		return area{path: "\x00"}
	}
	return area{path: path, folder: folder}
}

func closedArea(p, why string) area {
	a := areaOf(p).fold()
	a.why = why + plain.Bare(p, 80)
	return a
}

func (a area) fold() area {
	a.path = fold(a.path)
	return a
}

// holds reports whether a path is in an area.
func (a area) holds(path string) bool {
	return a.path == "" || path == a.path && !a.folder || strings.HasPrefix(path, a.path+"/")
}

// over reports whether an area has all of another, but for the path of a folder itself.
func (a area) over(b area) bool {
	return a.path == "" || a.path == b.path || strings.HasPrefix(b.path, a.path+"/")
}

// fold is a path in the form in which all paths are the same that some system takes for the
// same.
func fold(p string) string {
	if ascii(p) {
		p = strings.ToLower(p)
	} else {
		p = strings.Map(func(r rune) rune {
			if plain.People.Has(r) {
				return -1
			}
			return r
		}, p)
		// A fold can give what composes anew, and what is composed can fold again.
		for range 3 {
			p = norm.NFKC.String(cases.Fold().String(norm.NFKD.String(p)))
		}
	}
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if short := strings.TrimRight(part, " ."); short != "" { // Windows cuts these off
			parts[i] = short
		}
	}
	return strings.Join(parts, "/")
}

// Folded is a path in the form that it shares with all that some system takes for it.
func Folded(path string) string { return fold(path) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
