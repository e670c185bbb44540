package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// RuleFile is the name of a file that tells agents how to work on what lies beside it and below.
const RuleFile = "AGENTS.md"

// The bounds of rules: of one text, of how many there are, and of how much is looked through.
const (
	maxRule        = 64 << 10
	maxRules       = 64
	maxRuleDepth   = 12
	maxRuleEntries = 20_000
)

// Rule is a text that tells agents how to work.
type Rule struct {
	// Path is where it stands, below the root.
	Path string
	// Link is the words by which the root's rules link to it, at Line; empty for one that holds
	// where it stands.
	Link string
	Line int
	Text string
}

// Rules reads the rules of a folder: the AGENTS.md at its root, what that one links to, and
// those of the folders below, in this order. at is the folder's name for people. skip says of
// paths that they are not looked at; nor is what .gitignore names, or is hidden. What cannot
// be read is told, and costs itself alone.
func Rules(files fs.FS, at string, skip func(name string) bool) (all []Rule, faults []error) {
	r := &ruleReader{reader: reader{files: files, at: at}, skip: skip}
	r.ignores = workspace.NewIgnores(r.ignored)
	if text, ok := r.take(RuleFile); ok {
		r.all = append(r.all, Rule{Path: RuleFile, Text: text})
		r.linked(text)
	}
	r.below(".", 0)
	return r.all, r.faults
}

type ruleReader struct {
	reader
	skip    func(name string) bool
	ignores *workspace.Ignores
	all     []Rule
	faults  []error
	seen    int
	full    bool
}

// ignored reads a .gitignore.
func (r *ruleReader) ignored(name string) ([]byte, error) {
	data, _, err := r.content(name, workspace.MaxIgnoreFile)
	if err != nil {
		return nil, nil // none, or none that counts
	}
	return data, nil
}

// leaves reports whether a path is not looked at.
func (r *ruleReader) leaves(name string, dir bool) bool {
	if strings.HasPrefix(path.Base(name), ".") || r.skip != nil && r.skip(name) {
		return true
	}
	named, _ := r.ignores.Names(name, dir) // gitignore has no errors
	return named
}

// leavesAny reports whether a path, or a folder that it is in, is not looked at.
func (r *ruleReader) leavesAny(name string) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		if r.leaves(strings.Join(parts[:i+1], "/"), i+1 < len(parts)) {
			return true
		}
	}
	return false
}

// take reads a text; one that is not there is no fault.
func (r *ruleReader) take(name string) (string, bool) {
	if _, err := fs.Stat(r.files, name); errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	data, err := r.text(name, maxRule)
	if err != nil {
		r.faults = append(r.faults, err)
		return "", false
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
	return text, text != ""
}

// linked takes what the root's rules link to.
func (r *ruleReader) linked(text string) {
	if line, why := monstrous(text); line > 0 {
		r.faults = append(r.faults, fault(path.Join(r.at, RuleFile), line, "its links are not followed: %s", why))
		return
	}
	links, _ := Links(text)
	for _, l := range links {
		if !isPage(l.Path) {
			continue
		}
		told := func(format string, args ...any) {
			r.faults = append(r.faults, fault(path.Join(r.at, RuleFile), l.Line, format, args...))
		}
		to, err := inside(".", l.Path)
		switch {
		case err != nil:
			told("the link %v: it is not followed", err)
			continue
		case path.Base(to) == RuleFile || slices.ContainsFunc(r.all, func(o Rule) bool { return o.Path == to }):
			continue // it holds where it stands, or is there
		case r.leavesAny(to):
			told("the link %.120q leads to what is ignored: it is not followed", l.Path)
			continue
		case len(r.all) >= maxRules:
			told("there are more than %d rules: the link %.120q is not followed", maxRules, l.Path)
			return
		}
		if _, err := fs.Stat(r.files, to); errors.Is(err, fs.ErrNotExist) {
			told("the link %.120q leads to nothing", l.Path)
			continue
		}
		if text, ok := r.take(to); ok {
			r.all = append(r.all, Rule{Path: to, Link: cmp.Or(plain.Brief(l.Text, 120), to), Line: l.Line, Text: text})
		}
	}
}

// below takes the rules of the folders in a folder, those of each before those deeper in it.
func (r *ruleReader) below(dir string, depth int) {
	if r.full || depth > maxRuleDepth {
		return
	}
	for _, name := range r.folders(dir) {
		at := path.Join(dir, name)
		if r.leaves(at, true) {
			continue
		}
		if len(r.all) >= maxRules || r.seen > maxRuleEntries {
			r.full = true
			r.faults = append(r.faults, fmt.Errorf("%s: there is more than is looked through for rules: those of %s and what comes after it are left out", r.at, at))
			return
		}
		if rule := path.Join(at, RuleFile); !r.leaves(rule, false) {
			if text, ok := r.take(rule); ok {
				r.all = append(r.all, Rule{Path: rule, Text: text})
			}
		}
		if r.below(at, depth+1); r.full {
			return
		}
	}
}

// folders are the names of those in a folder, in order. One that cannot be read has none.
func (r *ruleReader) folders(dir string) (names []string) {
	f, err := r.files.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	list, err := d.ReadDir(maxRuleEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	r.seen += len(list)
	for _, e := range list {
		if e.IsDir() && plain.Printable(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
