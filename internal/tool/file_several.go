package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// The limits of edit_files.
const (
	maxEdits     = 100
	maxEditFiles = 50
	maxEditBytes = 32 << 20 // of all files together
)

// EditFiles returns the tool edit_files: all edits are made, or none is.
func EditFiles(writing *sync.Mutex) Tool {
	return Tool{
		Tool: model.Tool{
			Name: "edit_files",
			Description: "Replaces several pieces of text at once, in one or more files of your workspace: all of them, or none if one cannot be made. They are made in your order, each on what those before it left. " +
				"As with edit_file, the old text must be there exactly and only once; with all, every place is replaced.",
			Schema: `{"type":"object","properties":{` +
				fmt.Sprintf(`"paths":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"string"},"description":"Paths of all files that are edited, relative to the workspace."},`, maxEditFiles) +
				fmt.Sprintf(`"edits":{"type":"array","minItems":1,"maxItems":%d,"items":{"type":"object","properties":{`, maxEdits) +
				`"path":{"type":"string","description":"Which of the paths; may be left out if there is one."},` +
				`"old":{"type":"string","minLength":1,"description":"The text to replace."},` +
				`"new":{"type":"string","description":"What takes its place; may be empty."},` +
				`"all":{"type":"boolean","description":"Whether to replace every place; false if left out."}` +
				`},"required":["old","new"],"additionalProperties":false},"description":"The edits, in order."}` +
				`},"required":["paths","edits"],"additionalProperties":false}`,
		},
		Writes: true,
		Paths:  []string{"paths"},
		Run: func(_ context.Context, c Call) (string, error) {
			var args struct {
				Paths []string  `json:"paths"`
				Edits []oneEdit `json:"edits"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			writing.Lock()
			defer writing.Unlock()
			s := &several{home: c.room(), rename: c.Home.Rename}
			if err := s.read(args.Paths); err != nil {
				return "", err
			}
			notes, err := s.edit(args.Edits)
			if err != nil {
				return "", fmt.Errorf("%w\nNothing was changed", err)
			}
			if err := s.write(); err != nil {
				return "", err
			}
			return strings.Join(notes, "\n"), nil
		},
	}
}

type oneEdit struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

// several are files that are edited together.
type several struct {
	home   room
	rename func(from, to string) error
	files  []*editedFile
}

type editedFile struct {
	path, name   string
	info         fs.FileInfo
	mode         fs.FileMode
	was, content string
	// temporary holds what is to take the place of the file, until it does; done says that it
	// has.
	temporary string
	done      bool
}

func (s *several) read(paths []string) error {
	size := 0
	for _, path := range paths {
		name, err := local(s.home, path)
		if err != nil {
			return err
		}
		if s.file(name) != nil {
			return fmt.Errorf("%s is among the paths twice", short(path))
		}
		content, mode, err := whole(s.home, path)
		if err != nil {
			return err
		}
		if err := s.home.writes(name); err != nil {
			return err
		}
		info, err := s.home.Stat(name)
		if err != nil {
			return inWords(path, err)
		}
		for _, f := range s.files {
			if os.SameFile(f.info, info) {
				return fmt.Errorf("%s and %s are the same file", short(f.path), short(path))
			}
		}
		if size += len(content); size > maxEditBytes {
			return fmt.Errorf("the files have more than %d MiB together; edit fewer at a time", maxEditBytes>>20)
		}
		s.files = append(s.files, &editedFile{path: path, name: name, info: info, mode: mode, was: content, content: content})
	}
	return nil
}

func (s *several) file(name string) *editedFile {
	for _, f := range s.files {
		if f.name == name {
			return f
		}
	}
	return nil
}

// edit makes the edits, in memory, and says what each did.
func (s *several) edit(edits []oneEdit) (notes []string, err error) {
	for i, e := range edits {
		f := s.files[0]
		if e.Path != "" {
			name, err := local(s.home, e.Path)
			if err == nil {
				f = s.file(name)
			}
			if err == nil && f == nil {
				err = fmt.Errorf("%s is not among the paths", short(e.Path))
			}
			if err != nil {
				return nil, fmt.Errorf("edit %d: %w", i+1, err)
			}
		} else if len(s.files) > 1 {
			return nil, fmt.Errorf("edit %d: it has no path, and there are %d files", i+1, len(s.files))
		}
		edited, note, err := edit(f.path, f.content, e.Old, e.New, e.All)
		if err != nil {
			return nil, fmt.Errorf("edit %d: %w", i+1, err)
		}
		f.content = edited
		notes = append(notes, fmt.Sprintf("edit %d: %s", i+1, note))
	}
	return notes, nil
}

// write puts the files in their places. What can fail is done first, beside them; should a file
// not take its place all the same, those that have are put back.
func (s *several) write() error {
	changed := slices.DeleteFunc(slices.Clone(s.files), func(f *editedFile) bool { return f.content == f.was })
	o, err := ownerOf(s.home.Root)
	if err != nil {
		return inWords(".", err)
	}
	for i, f := range changed {
		f.temporary = filepath.Join(filepath.Dir(f.name), fmt.Sprintf(".edit_files.%d.tmp", i))
		err := remove(s.home, f.temporary)
		if err == nil {
			if err = o.fill(s.home.Root, f.temporary, f.mode, f.content); err != nil {
				err = inWords(f.path, err)
			}
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%w\nNothing was changed", err), s.clean(changed))
		}
	}
	for _, f := range changed {
		if err := s.rename(f.temporary, f.name); err != nil {
			return errors.Join(inWords(f.path, err), s.back(changed))
		}
		f.done = true
	}
	return nil
}

// clean takes away what was put beside the files.
func (s *several) clean(files []*editedFile) (err error) {
	for _, f := range files {
		if f.temporary != "" && !f.done {
			err = errors.Join(err, remove(s.home, f.temporary))
		}
	}
	return err
}

// back puts those files back that were replaced.
func (s *several) back(files []*editedFile) error {
	err := s.clean(files)
	for _, f := range files {
		if !f.done {
			continue
		}
		if failed := replace(s.home, f.name, f.mode, f.was); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s was changed all the same: %w", short(f.path), failed))
		}
	}
	if err == nil {
		return errors.New("nothing was changed")
	}
	return err
}
