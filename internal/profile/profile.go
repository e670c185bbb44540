// Package profile holds what agents are good at: the part of their prompt that is
// about a field, the tools they need, and the computer for it.
//
// A profile is a folder with profile.yaml, prompt.md and, for drivers that use
// images, a Dockerfile. Some are built in. A person adds one as a folder of its
// name; one that has the name of a built-in profile takes its place. A folder with
// a fault in it is never passed over in silence, in favour of a built-in one least
// of all: whoever asks for it is told the file and the line.
//
// A quest pins what it takes from a profile, so a profile may change or vanish and
// the quests made with it stay as they are.
package profile

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Profile is one, read and found well.
type Profile struct {
	Name        string
	Description string
	// Tools are those of the world that its agents have; nil means all.
	Tools []string
	// Computer is what a quest gets that says nothing of computers.
	Computer quest.Computer
	// Quest is what holds for a quest that does not say it itself: keys of a society, as in
	// quest.yaml. It is nil for nothing.
	Quest ast.Node
	// Prompt is about the field, in Markdown.
	Prompt string
	// Dockerfile is what an image is built from, nil if there is none.
	Dockerfile []byte
	// Dir is the folder it was read from, empty if it is built in.
	Dir string
	// Replaces says that there is a built-in profile of the same name.
	Replaces bool
}

//go:embed builtin
var builtin embed.FS

// Folder is where a person's own profiles are in a home.
func Folder(home string) string { return filepath.Join(home, "profiles") }

// UnknownError says that there is no profile of a name.
type UnknownError struct {
	Name string
	// Have are the names there are; Dir is where one could be added.
	Have []string
	Dir  string
}

func (e *UnknownError) Error() string {
	if near := plain.Near(e.Name, e.Have); len(near) > 0 {
		return fmt.Sprintf("there is no profile %.80q; did you mean %s? You can add your own as the folder %s", e.Name, strings.Join(near, " or "), e.Dir)
	}
	return fmt.Sprintf("there is no profile %.80q: there are %s; add your own as the folder %s", e.Name, strings.Join(e.Have, ", "), e.Dir)
}

// Find returns the profile of that name: the person's own in a home, else the
// built-in one.
func Find(home, name string) (*Profile, error) {
	if !event.ValidName(name) {
		return nil, fmt.Errorf("%.80q names no profile: want %s", name, event.NameRule)
	}
	dir := filepath.Join(Folder(home), name)
	if _, err := os.Lstat(dir); err == nil {
		return own(dir, name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for the profile %s: %w", name, err)
	}
	if !isBuiltin(name) {
		have, err := names(home)
		if err != nil {
			return nil, err
		}
		return nil, &UnknownError{name, have, dir}
	}
	files, err := fs.Sub(builtin, path.Join("builtin", name))
	if err != nil {
		return nil, err
	}
	return read(files, name, "profiles/"+name)
}

// List returns all profiles, by name. Those that have faults are left out, and the
// error tells of each.
func List(home string) ([]*Profile, error) {
	all, err := names(home)
	if err != nil {
		return nil, err
	}
	var out []*Profile
	var faults []error
	for _, name := range all {
		p, err := Find(home, name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, p)
	}
	return out, errors.Join(faults...)
}

func isBuiltin(name string) bool {
	info, err := fs.Stat(builtin, path.Join("builtin", name))
	return err == nil && info.IsDir()
}

// names are those of all profiles, sorted, be they well or not.
func names(home string) ([]string, error) {
	ours, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil, err
	}
	theirs, err := os.ReadDir(Folder(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	var out []string
	for _, e := range ours {
		out = append(out, e.Name())
	}
	for _, e := range theirs {
		// A link may lead to a folder. What is hidden, or a plain file such as a
		// README, is nobody's profile.
		if e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// own reads a profile that a person has added.
func own(dir, name string) (*Profile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	defer root.Close()
	p, err := read(root.FS(), name, dir)
	if err != nil {
		return nil, err
	}
	p.Dir, p.Replaces = dir, isBuiltin(name)
	return p, nil
}

// How large the files of a profile may be.
const (
	maxYAML       = 64 << 10
	maxPrompt     = 64 << 10
	maxDockerfile = 256 << 10
)

// read reads the files of a profile. at is the folder's name in errors.
func read(files fs.FS, name, at string) (*Profile, error) {
	p := &Profile{Name: name}
	data, err := text(files, at, "profile.yaml", maxYAML)
	if err != nil {
		return nil, err
	}
	if err := p.readSettings(filepath.Join(at, "profile.yaml"), data); err != nil {
		return nil, err
	}
	if data, err = text(files, at, "prompt.md", maxPrompt); err != nil {
		return nil, err
	}
	if err := checkPrompt(filepath.Join(at, "prompt.md"), data); err != nil {
		return nil, err
	}
	p.Prompt = strings.TrimSpace(string(data))
	data, err = text(files, at, "Dockerfile", maxDockerfile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.Dockerfile = data
	return p, checkDockerfile(filepath.Join(at, "Dockerfile"), data)
}

// missing is a file that a profile must have.
type missing struct{ file string }

func (e *missing) Error() string {
	return e.file + " is not there: a profile has profile.yaml and prompt.md, and may have a Dockerfile"
}
func (*missing) Unwrap() error { return fs.ErrNotExist }

// text reads a file of at most max bytes.
func text(files fs.FS, at, name string, max int64) ([]byte, error) {
	file := filepath.Join(at, name)
	fault := func(format string, args ...any) error {
		return &strictyaml.Error{File: file, Text: fmt.Sprintf(format, args...)}
	}
	// Looked at before it is opened, for to open a pipe is to wait.
	info, err := fs.Stat(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missing{file}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault("it is not a file")
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", file, err)
	case int64(len(data)) > max:
		return nil, fault("it has more than %d bytes", max)
	case !utf8.Valid(data):
		return nil, fault("it is not UTF-8 text")
	}
	return data, nil
}

// maxDescription is what fits a line of a list.
const maxDescription = 200

func (p *Profile) readSettings(file string, data []byte) error {
	root, err := strictyaml.Document(file, data)
	if err != nil {
		return err
	}
	err = strictyaml.Fields(root, "a profile.yaml", map[string]func(ast.Node) error{
		"description": p.readDescription,
		"tools":       p.readTools,
		"computer":    p.readComputer,
		"quest":       p.readQuest,
	})
	if err == nil && p.Description == "" {
		err = strictyaml.At(root, "there is no description: say in a line what the profile is for")
	}
	return strictyaml.InFile(file, err)
}

func (p *Profile) readDescription(n ast.Node) error {
	if err := strictyaml.Word(&p.Description)(n); err != nil {
		return err
	}
	p.Description = strings.TrimSpace(p.Description)
	if len(p.Description) > maxDescription || p.Description == "" || !plain.Printable(p.Description) {
		return strictyaml.At(n, "want one line of at most %d bytes", maxDescription)
	}
	return nil
}

func (p *Profile) readTools(n ast.Node) error {
	p.Tools = []string{} // an empty list is a choice as well
	return strictyaml.Each(n, "tools", func(n ast.Node) error {
		var name string
		if err := strictyaml.Word(&name)(n); err != nil {
			return err
		}
		if slices.Contains(p.Tools, name) {
			return strictyaml.At(n, "%.60s is listed twice", name)
		}
		p.Tools = append(p.Tools, name)
		return nil
	})
}

func (p *Profile) readComputer(n ast.Node) error {
	if err := p.Computer.UnmarshalYAML(n); err != nil {
		return err
	}
	if p.Computer.Dockerfile != "" {
		return strictyaml.At(n, "leave dockerfile out: a profile's is the file Dockerfile beside its profile.yaml")
	}
	return nil
}

// readQuest takes a mapping as it is: only the societies know what can stand in it.
func (p *Profile) readQuest(n ast.Node) error {
	if _, ok := strictyaml.Pairs(n); !ok {
		return strictyaml.At(n, "quest must be a mapping with keys of a society, as in quest.yaml")
	}
	p.Quest = n
	return nil
}

// places are what a society's own prompt is filled in at.
var places = []string{"{{PROBLEM}}", "{{PROFILE}}"}

func checkPrompt(file string, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return &strictyaml.Error{File: file, Text: "it is empty: say what good work is in the field"}
	}
	for i, line := range strings.Split(string(data), "\n") {
		for _, place := range places {
			if at := strings.Index(line, place); at >= 0 {
				return &strictyaml.Error{File: file, Line: i + 1, Column: at + 1, Text: place + " is not filled in here: the society's own prompt has it, and puts this text beside it"}
			}
		}
	}
	return nil
}

// ReadDockerfile reads one that is nobody's profile, wherever it is.
func ReadDockerfile(file string) ([]byte, error) {
	dir := filepath.Dir(file)
	data, err := text(os.DirFS(dir), dir, filepath.Base(file), maxDockerfile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s", file)
	}
	if err != nil {
		return nil, err
	}
	return data, checkDockerfile(file, data)
}

// checkDockerfile sees whether a file begins as a Dockerfile does. The rest is for
// whoever builds the image.
func checkDockerfile(file string, data []byte) error {
	for i, line := range strings.Split(string(data), "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "" || strings.HasPrefix(word, "#") || strings.EqualFold(word, "ARG"):
			continue
		case strings.EqualFold(word, "FROM"):
			return nil
		}
		return &strictyaml.Error{File: file, Line: i + 1, Column: 1, Text: fmt.Sprintf("a Dockerfile begins with FROM, not with %.40q", word)}
	}
	return &strictyaml.Error{File: file, Text: "it has no FROM"}
}
