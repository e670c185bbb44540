package policy

import (
	"fmt"
	"slices"

	"lyceum/internal/behavior"
	"lyceum/internal/workspace"
)

// pathArguments are the names under which tools take paths that do not say which of their
// arguments are some.
var pathArguments = []string{"path", "paths", "file", "files", "folder", "dir", "cwd", "from", "to", "source", "target", "destination", "file_path", "filename", "src", "dst", "output", "root"}

// paths are the paths in the arguments of a call, clean. They are not all if some
// argument cannot be read.
func paths(f *Facts) (out []string, all bool) {
	if f.Args == nil {
		return named(f), true
	}
	if !f.Args.looked {
		f.Args.looked = true
		f.Args.paths, f.Args.all = findPaths(f)
	}
	return f.Args.paths, f.Args.all
}

// Paths are the paths in the arguments of a call, as far as they can be read.
func Paths(f *Facts) []string {
	out, _ := paths(f)
	return out
}

func findPaths(f *Facts) (out []string, all bool) {
	names := f.Paths
	if names == nil {
		names = pathArguments
	}
	all, out = true, named(f)
	take := func(v behavior.Value) {
		switch v.Kind {
		case behavior.Text:
			out = append(out, pathOf(v.Text))
		case behavior.Unknown, behavior.List, behavior.Object:
			all = false // what is in there, nobody has looked at
		}
	}
	for _, name := range names {
		v := f.Args.field([]string{name})
		if v.Kind != behavior.List {
			take(v)
		}
		for _, item := range v.Items {
			take(item)
		}
	}
	return out, all
}

func named(f *Facts) (out []string) {
	for _, text := range f.Named {
		out = append(out, pathOf(text))
	}
	return out
}

// pathOf is the file of a workspace that a text names. One that no tool of Lyceum's takes
// for a path is judged like any other: a stranger's may.
func pathOf(text string) string {
	path, _ := workspace.Path(text)
	return path
}

// within finds the folders that paths of a call are in.
func within(f *Facts, folders []string) (in []string, all bool) {
	ps, all := paths(f)
	for _, dir := range folders {
		if slices.ContainsFunc(ps, func(p string) bool { return workspace.Under(p, pathOf(dir)) }) {
			in = append(in, dir)
		}
	}
	return in, all
}

func checkFolders(key string, folders []string) error {
	if len(folders) == 0 {
		return fmt.Errorf("%s: name at least one folder or file", key)
	}
	if slices.Contains(folders, "") {
		return fmt.Errorf("%s: one of them is empty; . is the whole workspace", key)
	}
	return nil
}

// noTouch keeps tools away from some files and folders. Paths are compared as tools
// read them, however they are written. What links lead to, and what a tool finds that
// walks through folders, the tool sees to: it is told what is closed to it. What a
// program does by itself is a sandbox's affair.
type noTouch struct {
	Paths []string `json:"paths" yaml:"paths"`
	// Tools are those it is for; none means all.
	Tools []string `json:"tools,omitempty" yaml:"tools"`

	// wide says that a tool which writes files stands for all that do. In the first version it stood for
	// itself and those that came later.
	wide bool
}

// fileWriters are the tools that change files, in the order in which they came.
var fileWriters = []string{"write_file", "edit_file", "edit_files", "move_file", "delete_file"}

func (s *noTouch) check() error { return checkFolders("paths", s.Paths) }

// closes reports whether the policy is for a tool. What is closed to a tool that writes files is closed to
// all of them: each could do what the others must not.
func (s *noTouch) closes(tool string) bool {
	if len(s.Tools) == 0 || slices.Contains(s.Tools, tool) {
		return true
	}
	named, closed := fileWriters, fileWriters
	if !s.wide {
		named, closed = fileWriters[:2], fileWriters[2:]
	}
	return slices.Contains(closed, tool) && slices.ContainsFunc(named, func(w string) bool { return slices.Contains(s.Tools, w) })
}

// Closed are the files and folders of a workspace that are closed to a tool, whoever calls
// it and with whatever arguments.
func (g *Gate) Closed(tool string) (out []string) {
	for _, s := range g.closing {
		if !s.closes(tool) {
			continue
		}
		for _, text := range s.Paths {
			out = append(out, pathOf(text))
		}
	}
	return out
}

func (s *noTouch) thread() (behavior.Thread, error) {
	who := "No tool may"
	if len(s.Tools) > 0 {
		who = list(s.Tools) + " may not"
	}
	return guard(fmt.Sprintf("%s be given a path in %s.", who, list(s.Paths)), behavior.Ban{
		Match: when{"tool.call with a path in " + list(s.Paths), func(e behavior.Event) bool {
			f := facts(e)
			if e.Type != "tool.call" && e.Type != "permission.decided" || !s.closes(f.Tool) {
				return false
			}
			in, all := within(f, s.Paths)
			return len(in) > 0 || !all
		}},
		Why: func(e behavior.Event) string {
			if in, _ := within(facts(e), s.Paths); len(in) > 0 {
				return fmt.Sprintf("%s must not be touched. Leave it as it is, and work elsewhere.", list(in))
			}
			return fmt.Sprintf("%s must not be touched, and the paths in these arguments cannot be read. Write them as short, valid JSON.", list(s.Paths))
		},
	}), nil
}

// oneAtATime has the tools that work in a folder do so one after another.
type oneAtATime struct {
	Domains []string `json:"domains" yaml:"domains"`
	// Shared says that the folders are the same for all agents. Otherwise each
	// has its own.
	Shared bool `json:"shared,omitzero" yaml:"shared"`
}

// defers says that it tells a proposal to wait.
func (s *oneAtATime) defers() bool { return true }

func (s *oneAtATime) check() error { return checkFolders("domains", s.Domains) }

func (s *oneAtATime) thread() (behavior.Thread, error) {
	return behavior.Thread{
		Text:  fmt.Sprintf("In each of %s one tool works at a time.", list(s.Domains)),
		Scope: behavior.Of("tool.call"),
		Start: func() behavior.Behavior {
			d := &domains{set: s}
			d.bids = behavior.Bids{
				Wait: behavior.Of("tool.call", "tool.result", "tool.answered", "quest.forked"),
				Block: []behavior.Ban{{
					Match: when{"tool.call in a folder where another is at work", func(e behavior.Event) bool {
						return e.Type == "tool.call" && len(d.busy(facts(e))) > 0
					}},
					Why: func(e behavior.Event) string {
						return fmt.Sprintf("Another call is at work in %s. Call again when it has ended.", list(d.busy(facts(e))))
					},
					Later: true,
				}},
			}
			return d
		},
	}, nil
}

// domains knows which calls are at work where.
type domains struct {
	tally[[]work]
	set  *oneAtATime
	bids behavior.Bids
}

// work is a call that has not ended, and the folders it may work in.
type work struct {
	Call uint64   `json:"call"`
	In   []string `json:"in"`
}

func (d *domains) Bids() behavior.Bids { return d.bids }

// place is where a call works: the folders its paths are in. If they cannot be
// read it may be any of them.
func (d *domains) place(f *Facts) []string {
	in, all := within(f, d.set.Domains)
	if !all {
		return d.set.Domains
	}
	return in
}

// whose is under which name an agent's calls are kept.
func (d *domains) whose(f *Facts) string {
	if d.set.Shared {
		return "all"
	}
	return f.Agent
}

func (d *domains) busy(f *Facts) (in []string) {
	open := d.known(d.whose(f))
	if open == nil {
		return nil
	}
	for _, dir := range d.place(f) {
		if slices.ContainsFunc(*open, func(w work) bool { return slices.Contains(w.In, dir) }) {
			in = append(in, dir)
		}
	}
	return in
}

func (d *domains) Next(e behavior.Event) bool {
	f := facts(e)
	switch e.Type {
	case "quest.forked": // the origin's calls are the origin's
		d.forget("")
	case "tool.call":
		if in := d.place(f); len(in) > 0 {
			open := d.of(d.whose(f))
			*open = append(*open, work{f.Call, in})
		}
	default:
		if open := d.known(d.whose(f)); open != nil {
			*open = slices.DeleteFunc(*open, func(w work) bool { return w.Call == f.Call })
			if len(*open) == 0 {
				d.forget(d.whose(f))
			}
		}
	}
	return true
}
