package skill

import (
	"cmp"
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
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"
)

// The bounds of a skill, and of how many there are.
const (
	maxText  = 64 << 10 // SKILL.md
	maxPage  = 512 << 10
	maxSize  = 8 << 20 // all files together
	maxFiles = 256
	maxDepth = 8
	// maxFolders is how many skills one folder may hold.
	maxFolders = 256
)

//go:embed own
var own embed.FS

// Ours are the skills of this binary, by name.
func Ours() []*Skill {
	list, err := own.ReadDir("own")
	if err != nil {
		panic(err) // they are embedded
	}
	all := make([]*Skill, len(list))
	for i, e := range list {
		files, err := fs.Sub(own, path.Join("own", e.Name()))
		if err != nil {
			panic(err)
		}
		if all[i], err = Read(files, e.Name(), "skills/"+e.Name(), OfOurs); err != nil {
			panic(err) // a test reads them
		}
		all[i].Dir = ""
	}
	return all
}

// Folder is where a person's own skills are in a home.
func Folder(home string) string { return filepath.Join(home, "skills") }

// OfTheHome are a person's own skills, by name, and what is wrong with the others. Their
// folders may be links: they are their owner's.
func OfTheHome(home string) (all []*Skill, faults []error) {
	dir := Folder(home)
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("list skills: %w", err)}
	}
	return each(list, dir, OfHome, func(name string) (*os.Root, error) { return os.OpenRoot(filepath.Join(dir, name)) })
}

// All reads the skills of a folder that a person named: the folder is one, or holds some.
// at is its name for people.
func All(dir *os.Root, at, from string) (all []*Skill, faults []error) {
	if _, err := dir.Lstat(File); err == nil {
		s, err := Read(dir.FS(), filepath.Base(at), at, from)
		if err != nil {
			return nil, []error{err}
		}
		return []*Skill{s}, nil
	}
	list, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, []error{fmt.Errorf("list the skills of %s: %w", at, err)}
	}
	return each(list, at, from, dir.OpenRoot)
}

// each reads the skills of a folder, each confined to its own.
func each(list []fs.DirEntry, at, from string, open func(name string) (*os.Root, error)) (all []*Skill, faults []error) {
	names, faults := candidates(list, at)
	for _, name := range names {
		s, err := confined(name, filepath.Join(at, name), from, open)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, s)
	}
	return all, faults
}

func confined(name, at, from string, open func(name string) (*os.Root, error)) (*Skill, error) {
	root, err := open(name)
	if err != nil {
		return nil, fault(at, 0, "%v", cause(err))
	}
	defer root.Close()
	return Read(root.FS(), name, at, from)
}

// candidates are the names of what may be skills. What is hidden, or a plain file such as a
// README, is nobody's skill.
func candidates(list []fs.DirEntry, at string) (names []string, faults []error) {
	for _, e := range list {
		if e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(names) == maxFolders {
			return names, []error{fmt.Errorf("%s holds more than %d folders: the others are not read", at, maxFolders)}
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// Read reads the skill of a folder. at is its name for people. What is wrong is a
// *strictyaml.Error, or several of them joined.
func Read(files fs.FS, name, at, from string) (*Skill, error) {
	s := &Skill{Name: name, From: from, Dir: at}
	if !ValidName(name) {
		return nil, fault(at, 0, "a skill is not called %.80q: want %s", name, NameRule)
	}
	r := reader{files: files, at: at}
	text, err := r.text(File, maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault(at, 0, "there is no %s: a skill is a folder with one", File)
	}
	if err != nil {
		return nil, err
	}
	page := filepath.Join(at, File)
	if err := s.parse(page, text); err != nil {
		return nil, err
	}
	if err := r.folder(".", 0); err != nil {
		return nil, err
	}
	s.Files = r.found
	slices.SortFunc(s.Files, func(a, b Content) int { return cmp.Compare(a.Path, b.Path) })
	if f := s.file(File); f == nil || string(f.Data) != string(text) {
		return nil, fault(page, 0, "it changed while it was read: try again")
	}
	if err := strictyaml.Join(s.link(page)); err != nil {
		return nil, err
	}
	s.find(at)
	return s, nil
}

// reader reads the files of a skill.
type reader struct {
	files fs.FS
	at    string
	found []Content
	size  int64
}

func (r *reader) folder(dir string, depth int) error {
	if depth > maxDepth {
		return r.fault(dir, "folders stand in each other more than %d deep", maxDepth)
	}
	list, err := r.list(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") {
			continue // of an editor, or of git
		}
		if !plain.Printable(e.Name()) {
			return r.fault(dir, "a name in it has characters that cannot be seen: %.80q", e.Name())
		}
		if e.IsDir() {
			err = r.folder(name, depth+1)
		} else {
			err = r.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list is what stands in a folder, in order. One that holds too much is not read to its end.
func (r *reader) list(dir string) ([]fs.DirEntry, error) {
	f, err := r.files.Open(dir)
	if err != nil {
		return nil, r.fault(dir, "%v", err)
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, r.fault(dir, "it is no folder")
	}
	list, err := d.ReadDir(4 * maxFiles)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, r.fault(dir, "%v", err)
	case len(list) == 4*maxFiles:
		return nil, r.fault(dir, "it holds more than a skill may have: %d files", maxFiles)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// file takes a file. A link to one within the folder stands for it; a link to anywhere else
// is refused.
func (r *reader) file(name string) error {
	if len(r.found) == maxFiles {
		return r.fault(".", "it has more than %d files", maxFiles)
	}
	data, exec, err := r.content(name, maxSize-r.size)
	if err != nil {
		return err
	}
	r.size += int64(len(data))
	if strings.EqualFold(path.Ext(name), ".md") {
		if err := r.readable(name, data, maxPage); err != nil {
			return err
		}
	}
	r.found = append(r.found, Content{Path: name, Data: data, Exec: exec})
	return nil
}

// text reads a file that people and agents read.
func (r *reader) text(name string, most int64) ([]byte, error) {
	data, _, err := r.content(name, maxSize)
	if err != nil {
		return nil, err
	}
	return data, r.readable(name, data, most)
}

func (r *reader) content(name string, most int64) (data []byte, exec bool, err error) {
	// Looked at before it is opened, for to open a pipe is to wait.
	info, err := fs.Stat(r.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == File:
		return nil, false, err
	case err != nil && strings.Contains(err.Error(), "path escapes"): // os has no error to compare with
		return nil, false, r.fault(name, "it is a link that leads out of the folder: copy what it leads to")
	case err != nil:
		return nil, false, r.fault(name, "%v", cause(err))
	case info.IsDir():
		return nil, false, r.fault(name, "it is a link to a folder: copy what it leads to")
	case !info.Mode().IsRegular():
		return nil, false, r.fault(name, "it is not a file")
	}
	f, err := r.files.Open(name)
	if err != nil {
		return nil, false, r.fault(name, "%v", cause(err))
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, false, r.fault(name, "%v", cause(err))
	case int64(len(data)) > most:
		return nil, false, r.fault(name, "with it the skill has more than %d MiB", maxSize>>20)
	}
	return data, info.Mode()&0o100 != 0, nil
}

// readable refuses a text that has what cannot be seen.
func (r *reader) readable(name string, data []byte, most int64) error {
	if int64(len(data)) > most {
		return r.fault(name, "it has %d bytes: at most %d are allowed", len(data), most)
	}
	if !utf8.Valid(data) {
		return r.fault(name, "it is not UTF-8 text")
	}
	line := 1
	for text := range strings.Lines(string(data)) {
		if odd := unseen(strings.TrimRight(text, "\r\n")); odd != 0 {
			return fault(filepath.Join(r.at, name), line, "there is a character that cannot be seen (%U): take it out", odd)
		}
		line++
	}
	return nil
}

// unseen is the first character of a text that people are not shown, 0 if there is none.
func unseen(text string) rune {
	told := []rune(plain.Told(text, 0))
	for i, r := range []rune(text) {
		if i < len(told) && told[i] == unicode.ReplacementChar && r != unicode.ReplacementChar {
			return r
		}
	}
	return 0
}

func (r *reader) fault(name, format string, args ...any) error {
	return fault(filepath.Join(r.at, name), 0, format, args...)
}

func fault(file string, line int, format string, args ...any) error {
	return &strictyaml.Error{File: file, Line: line, Column: min(line, 1), Text: fmt.Sprintf(format, args...)}
}

// cause is an error of a file without its name, which the fault says.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
