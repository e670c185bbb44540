// Package canary looks for texts that are to be nowhere: keys, in all that a home keeps.
//
// A search of the bytes of the files sees nothing of what a home packs. So blobs are read by their store and the objects of
// git repositories by git; of everything else, the bytes, the name, and where a symbolic link leads.
//
// It fails where it cannot look, and never takes that for an absence: a folder without files, a packed blob that
// is damaged, a repository that git does not read. What it does not see is a text that SQLite has laid over two pages,
// and what somebody else's program has packed or encoded in a way of its own.
package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/blob"
	blobs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
)

// Nowhere fails a test for each place below a folder that has one of the texts.
func Nowhere(t testing.TB, dir string, texts ...string) {
	t.Helper()
	found, err := In(t.Context(), dir, texts...)
	if err != nil {
		t.Errorf("look for what is to be nowhere: %v", err)
	}
	for _, at := range found {
		t.Errorf("%s has what is to be nowhere", at)
	}
}

// In returns the places below a folder that have one of the texts: files and git repositories, by their paths from there.
// The folder may be a file, which is looked at alone. What goes meanwhile is left out, but not a blob
// whose plain file goes because it was packed.
func In(ctx context.Context, dir string, texts ...string) (found []string, err error) {
	if len(texts) == 0 || strings.TrimSpace(strings.Join(texts, "")) == "" {
		return nil, errors.New("there is nothing to look for")
	}
	looked := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		has := false
		switch {
		case d.IsDir():
			has, err = repository(ctx, path, texts)
		case d.Type().IsRegular():
			looked++
			has, err = file(ctx, path, texts)
		case d.Type()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			has = in([]byte(to), texts)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, blob.ErrNotFound) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("look into %s: %w", path, err)
		}
		if has || in([]byte(filepath.Base(name)), texts) {
			found = append(found, name)
		}
		return nil
	})
	if err == nil && looked == 0 {
		err = fmt.Errorf("look into %s: it has no file", dir)
	}
	return found, err
}

// stored are the names that a store gives to blobs.
var stored = regexp.MustCompile(`^([0-9a-f]{64})(\.zst)?$`)

// file looks into a file. A packed blob is unpacked by its store, and so is one that was packed since its file was listed.
func file(ctx context.Context, path string, texts []string) (bool, error) {
	m := stored.FindStringSubmatch(filepath.Base(path))
	if m == nil || m[2] == "" {
		f, err := os.Open(path)
		if err == nil {
			defer f.Close()
			return read(f, texts)
		}
		if m == nil || !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	// A store has it in ab/abcd…; an older one in ab/cd/abcd….
	store := filepath.Dir(filepath.Dir(path))
	if filepath.Base(filepath.Dir(path)) != m[1][:2] {
		store = filepath.Dir(store)
	}
	hash, err := event.ParseHash(m[1])
	if err != nil {
		return false, err
	}
	r, err := blobs.OpenReadOnly(store).OpenAt(ctx, hash, 0)
	if err != nil {
		return false, err
	}
	defer r.Close()
	return read(r, texts)
}

// repository looks into all objects of a git repository, if the folder is the inside of one.
func repository(ctx context.Context, dir string, texts []string) (has bool, err error) {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false, nil
		}
	}
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+dir, "cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
	// Nothing of the machine's settings, and nothing is fetched.
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	has, err = read(out, texts)
	_, rest := io.Copy(io.Discard, out)
	if err := errors.Join(err, rest, cmd.Wait()); err != nil {
		return false, fmt.Errorf("git: %w: %s", err, said.Bytes())
	}
	return has, nil
}

// read looks through what r yields, up to the first text.
func read(r io.Reader, texts []string) (bool, error) {
	longest := 0
	for _, text := range texts {
		longest = max(longest, len(text))
	}
	// The end of a piece stands before the next one: a text may lie over both.
	buf, kept := make([]byte, longest+256<<10), 0
	for {
		n, err := r.Read(buf[kept:])
		piece := buf[:kept+n]
		if in(piece, texts) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, piece[max(0, len(piece)-longest+1):])
	}
}

func in(data []byte, texts []string) bool {
	for _, text := range texts {
		if text != "" && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// Pack puts a text among others into the store in a folder, packed, so that the bytes of its file do not show it: a control.
func Pack(ctx context.Context, store, text string) error {
	var b bytes.Buffer
	for i := range 300 {
		fmt.Fprintf(&b, "At %d the scale says %x grams.\n", i, i*i*7919)
	}
	b.WriteString(text)
	s, err := blobs.Open(store, nil)
	if err != nil {
		return err
	}
	ref, err := s.Put(ctx, b.Bytes())
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	name := ref.Hash.String()
	data, err := os.ReadFile(filepath.Join(store, name[:2], name+".zst"))
	if err == nil && bytes.Contains(data, []byte(text)) {
		err = fmt.Errorf("the packed blob %s shows the text: it controls nothing", name)
	}
	return err
}
