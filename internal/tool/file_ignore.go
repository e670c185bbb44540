package tool

import (
	"fmt"
	"io"
	"path"

	"lyceum/internal/workspace"
)

const ignoredSchema = `"ignored":{"type":"boolean","description":"Whether to show what .gitignore files name, too; false if left out."}`

// ignoring leaves out what the .gitignore files of a workspace name, and git's own folder. It
// remembers what that was.
type ignoring struct {
	rules *workspace.Ignores
	first []string
	count int
}

// ignoring is what a tool leaves out that shows what is there; nil, which leaves out nothing, if
// all is wanted.
func (r room) ignoring(all bool) *ignoring {
	if all {
		return nil
	}
	return &ignoring{rules: workspace.NewIgnores(r.gitignore)}
}

// gitignore reads one. What is no plain file, is closed, is too long, or cannot be read, is none.
func (r room) gitignore(name string) ([]byte, error) {
	info, err := r.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, _, err := open(r, name)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, workspace.MaxIgnoreFile+1))
	if err != nil || len(data) > workspace.MaxIgnoreFile {
		return nil, nil
	}
	return data, nil
}

// leaves reports whether a file or folder is left out. Its parents were asked about before.
func (g *ignoring) leaves(at string, dir bool) bool {
	if g == nil {
		return false
	}
	if dir && workspace.DotGit(path.Base(at)) {
		return true // as the tools say of themselves
	}
	if named, _ := g.rules.Names(at, dir); !named { // gitignore has no errors
		return false
	}
	if dir {
		at += "/"
	}
	if g.count++; len(g.first) < 5 {
		g.first = append(g.first, label(short(at)))
	}
	return true
}

// notes says what was left out.
func (g *ignoring) notes() string {
	if g == nil {
		return ""
	}
	text := ""
	if g.count > 0 {
		list := ""
		for i, name := range g.first {
			if i > 0 {
				list += ", "
			}
			list += name
		}
		if more := g.count - len(g.first); more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		text = fmt.Sprintf("(left out, as .gitignore says: %s; with ignored: true they are there)\n", list)
	}
	if g.rules.Tired() {
		text += "(the .gitignore files take too long to follow: from some place on nothing was left out)\n"
	}
	return text
}
