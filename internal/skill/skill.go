// Package skill reads skills: folders of instructions that agents look things up in.
//
// A skill is a folder with a file SKILL.md: front matter that says its name and what it is
// for, and below that what to do. Further files may lie beside it: those it links to are its
// references, those in scripts are programs, those in assets are things to take along.
//
// Whoever wrote a folder is not trusted: it is read within bounds, without following links
// out of it, and what cannot be seen in a text is refused. A fault is told with its file and
// line and costs that skill alone. What is read is read once and kept, so that what was
// looked at is what is pinned.
package skill

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// File is the one that makes a folder a skill.
const File = "SKILL.md"

// Where skills come from, the first before the others.
const (
	OfQuest = "quest"
	OfHome  = "home"
	OfOurs  = "ours"
)

// What a skill is for, where it says so.
const (
	// RoleStage is that of a stage of a study.
	RoleStage = "stage"
	// RoleCross is that of what comes up in any stage.
	RoleCross = "cross-cutting"
)

// Skill is one, read and found well.
type Skill struct {
	Name        string
	Description string
	// Role is a stage's or cross-cutting, empty for neither.
	Role string
	// Tools are those that it is content with; nil means that it does not say. They narrow
	// what an agent has, and never give it more.
	Tools []string
	// Body is what to do, in Markdown; it begins at line Begins of the file.
	Body   string
	Begins int
	// Links are those of the body that lead to files of the folder. References are the
	// Markdown files among them, found by the text of their links.
	Links      []Link
	References []Link
	Scripts    []Script
	// Assets are the paths of files in assets.
	Assets []string
	// Files are all that is pinned, by their paths, sorted.
	Files []Content
	// Warnings are what is odd about it, with its place.
	Warnings []error
	// From is OfQuest, OfHome or OfOurs, and Dir the folder it was read from, as people
	// know it; empty if it is ours.
	From, Dir string
}

// Content is a file of a skill.
type Content struct {
	Path string
	Data []byte
	Exec bool
}

// Script is a program of a skill.
type Script struct {
	// Name is that of the file, without its ending.
	Name string
	Path string
	// Interpreter is what its first line says runs it.
	Interpreter string
}

// file returns a file of the skill, nil if it has none there.
func (s *Skill) file(name string) *Content {
	i, ok := slices.BinarySearchFunc(s.Files, name, func(f Content, name string) int { return cmp.Compare(f.Path, name) })
	if !ok {
		return nil
	}
	return &s.Files[i]
}

// The bounds of front matter.
const (
	maxName        = 64
	maxDescription = 1024
	maxTools       = 64
	maxTool        = 128
)

// NameRule is what a skill may be called, for people.
const NameRule = "1 to 64 of a-z, 0-9 and -"

// ValidName reports whether a skill may be called so.
func ValidName(name string) bool {
	return len(name) >= 1 && len(name) <= maxName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// parse reads SKILL.md. at is its name in faults.
func (s *Skill) parse(at string, data []byte) error {
	matter, body, begins, err := split(at, data)
	if err != nil {
		return err
	}
	root, err := strictyaml.Document(at, matter)
	if err != nil {
		return err
	}
	folder := s.Name
	s.Name = ""
	err = strictyaml.Fields(root, "the front matter of a "+File, map[string]func(ast.Node) error{
		"name":          func(n ast.Node) error { return s.readName(n, folder) },
		"description":   s.readDescription,
		"role":          strictyaml.Choice(&s.Role, RoleStage, RoleCross),
		"allowed-tools": s.readTools,
		// What others write there, and nobody here reads.
		"license":       strictyaml.Word(new(string)),
		"compatibility": strictyaml.Word(new(string)),
		"metadata":      ignored,
	})
	switch {
	case err != nil:
	case s.Name == "":
		err = strictyaml.At(root, "there is no name: want that of the folder, %s", folder)
	case s.Description == "":
		err = strictyaml.At(root, "there is no description: say in a line what the skill is for and when to use it")
	case strings.TrimSpace(body) == "":
		err = &strictyaml.Error{Line: begins, Column: 1, Text: "there is nothing below the front matter: say what to do"}
	}
	s.Body, s.Begins = body, begins
	return inFile(at, err)
}

// inFile names the file in what is wrong with it, however much that is.
func inFile(file string, err error) error {
	many, ok := err.(strictyaml.Faults)
	if !ok {
		return strictyaml.InFile(file, err)
	}
	named := make([]error, len(many))
	for i, err := range many {
		named[i] = strictyaml.InFile(file, err)
	}
	return strictyaml.Join(named)
}

// split takes the front matter from a SKILL.md. The matter has its first line, so that lines
// count as in the file.
func split(at string, data []byte) (matter []byte, body string, begins int, err error) {
	const bar = "---"
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	lines := strings.SplitAfter(string(data), "\n")
	if strings.TrimRight(lines[0], " \t\n") != bar {
		return nil, "", 0, &strictyaml.Error{File: at, Line: 1, Column: 1, Text: "it does not begin with front matter: want a line ---, then name and description, then a line ---"}
	}
	size := len(lines[0])
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\n") == bar {
			return data[:size], string(data[size+len(line):]), i + 3, nil
		}
		size += len(line)
	}
	return nil, "", 0, &strictyaml.Error{File: at, Line: 1, Column: 1, Text: "the front matter has no end: want a line --- below it"}
}

func (s *Skill) readName(n ast.Node, folder string) error {
	if err := strictyaml.Word(&s.Name)(n); err != nil {
		return err
	}
	if !ValidName(s.Name) {
		return strictyaml.At(n, "%.80q: want %s", s.Name, NameRule)
	}
	if s.Name != folder {
		return strictyaml.At(n, "%s is not the name of the folder, %.80q: they must be the same", s.Name, folder)
	}
	return nil
}

func (s *Skill) readDescription(n ast.Node) error {
	if err := strictyaml.Word(&s.Description)(n); err != nil {
		return err
	}
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	switch size := len([]rune(s.Description)); {
	case size == 0:
		return strictyaml.At(n, "it is empty")
	case size > maxDescription:
		return strictyaml.At(n, "it has %d characters: at most %d are allowed", size, maxDescription)
	case unseen(s.Description) != 0: // an escape of YAML can write it
		return strictyaml.At(n, "it has a character that cannot be seen (%U)", unseen(s.Description))
	}
	return nil
}

// readTools reads a list, or a line of names with blanks or commas between them, as both
// are common.
func (s *Skill) readTools(n ast.Node) error {
	s.Tools = []string{} // an empty list is a choice as well
	if text, ok := strictyaml.String(n); ok {
		for _, name := range toolNames(text) {
			if err := s.addTool(n, name); err != nil {
				return err
			}
		}
		return nil
	}
	return strictyaml.Each(n, "allowed-tools", func(n ast.Node) error {
		var name string
		if err := strictyaml.Word(&name)(n); err != nil {
			return err
		}
		return s.addTool(n, name)
	})
}

func (s *Skill) addTool(n ast.Node, name string) error {
	switch {
	case name == "" || len(name) > maxTool || unseen(name) != 0 || strings.ContainsAny(name, "\n\t"):
		return strictyaml.At(n, "%.40q is no name of a tool: want 1 to %d characters", name, maxTool)
	case len(s.Tools) == maxTools:
		return strictyaml.At(n, "there are more than %d", maxTools)
	case !slices.Contains(s.Tools, name):
		s.Tools = append(s.Tools, name)
	}
	return nil
}

// toolNames splits a line of names. What stands in brackets belongs to the name before.
func toolNames(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		}
		return depth == 0 && (r == ' ' || r == ',' || r == '\n' || r == '\t')
	})
}

func ignored(ast.Node) error { return nil }

// find sorts the files of a skill into what they are for.
func (s *Skill) find(at string) {
	for _, f := range s.Files {
		top, _, below := strings.Cut(f.Path, "/")
		switch {
		case !below:
		case top == "assets":
			s.Assets = append(s.Assets, f.Path)
		case top == "scripts":
			first, _, _ := bytes.Cut(f.Data, []byte("\n"))
			line, ok := strings.CutPrefix(string(first), "#!")
			if line = strings.TrimSpace(line); !ok || line == "" || len(line) > maxTool || unseen(string(f.Data)) != 0 {
				s.warn(path.Join(at, f.Path), 1, "it is not offered as a program: its first line does not say what runs it (#!…), or it is no text")
				continue
			}
			name := path.Base(f.Path)
			s.Scripts = append(s.Scripts, Script{Name: strings.TrimSuffix(name, path.Ext(name)), Path: f.Path, Interpreter: line})
		}
	}
}

func (s *Skill) warn(file string, line int, format string, args ...any) {
	s.Warnings = append(s.Warnings, fault(file, line, format, args...))
}
