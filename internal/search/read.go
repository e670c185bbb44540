package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"

	"golang.org/x/sys/unix"
)

// The limits of a corpus.
const (
	maxFile      = 16 << 20
	maxDocuments = 200_000
	maxCorpus    = 2 << 30
)

var errTooLarge = fmt.Errorf("larger than %d MiB: split it", maxFile>>20)

// Skipped is something in a corpus that is not searched.
type Skipped struct{ Path, Reason string }

// Read reads the .md and .txt files below a folder. What cannot be used is named with
// a reason, never guessed at; the result does not depend on the folder's order. Links
// are not followed, so nothing is read twice, and nothing outside the folder at all.
// It fails if the folder cannot be read or holds more than a corpus may.
func Read(ctx context.Context, root *os.Root) ([]Document, []Skipped, error) {
	r := reader{ctx: ctx, root: root, maxDocuments: maxDocuments, maxCorpus: maxCorpus}
	if err := walk(&r); err != nil {
		return nil, nil, fmt.Errorf("read the corpus: %w", err)
	}
	slices.SortFunc(r.docs, func(a, b Document) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(r.skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return r.docs, r.skipped, nil
}

func walk(r *reader) error { return fs.WalkDir(r.root.FS(), ".", r.visit) }

type reader struct {
	ctx          context.Context
	root         *os.Root
	docs         []Document
	skipped      []Skipped
	size         int64
	maxDocuments int
	maxCorpus    int64
}

func (r *reader) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case err != nil && name == ".":
		return err
	case err != nil:
		return r.skip(name, d, "cannot be read: "+cause(err))
	case name == ".":
		return nil
	case badName(name):
		return r.skip(name, d, "its name is not plain UTF-8 text: rename it")
	case strings.HasPrefix(d.Name(), "."):
		return r.skip(name, d, "hidden (its name begins with a point)")
	case d.IsDir():
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		return r.skip(name, d, r.link(name))
	case !d.Type().IsRegular():
		return r.skip(name, d, "not a regular file")
	}
	ext := strings.ToLower(path.Ext(name))
	if ext != ".md" && ext != ".txt" {
		return r.skip(name, d, "only .md and .txt files are searched")
	}
	return r.file(name, d, ext == ".md")
}

// skip notes what is left out, with all below it.
func (r *reader) skip(name string, d fs.DirEntry, reason string) error {
	r.skipped = append(r.skipped, Skipped{strings.ToValidUTF8(name, "�"), reason})
	if len(r.skipped) > r.maxDocuments {
		return fmt.Errorf("more than %d files in the folder are of no use: name a folder that holds the corpus alone", r.maxDocuments)
	}
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// link says why a link is not followed. The root refuses to look outside itself.
func (r *reader) link(name string) string {
	info, err := r.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "a link that leads nowhere"
	case err != nil:
		return "a link that leads out of the folder, or in a circle: copy what it points to"
	case info.IsDir():
		return "a link to a folder, whose files are read where they are"
	}
	return "a link to a file in the folder, which is read where it is"
}

// badName refuses names that could not be shown, or would show as something else.
func badName(name string) bool {
	return !utf8.ValidString(name) || plain.Names.In(name)
}

func (r *reader) file(name string, d fs.DirEntry, markdown bool) error {
	data, err := r.open(name)
	if err != nil {
		return r.skip(name, d, cause(err))
	}
	if reason := unusable(data); reason != "" {
		return r.skip(name, d, reason)
	}
	r.size += int64(len(data))
	if len(r.docs) >= r.maxDocuments || r.size > r.maxCorpus {
		return fmt.Errorf("the folder holds more than %d documents or %d MiB, which is the most that is searched: split it", r.maxDocuments, r.maxCorpus>>20)
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	doc := Document{ID: name, Title: title(text, path.Base(name), markdown), Paragraphs: Paragraphs(text, markdown)}
	doc.Contexts = contexts(name, text, doc.Paragraphs, markdown)
	if len(doc.Paragraphs) == 0 {
		return r.skip(name, d, "empty")
	}
	r.docs = append(r.docs, doc)
	return nil
}

// open reads a file whole. It is opened without blocking and looked at again then:
// between the listing and now, a pipe may stand in its place.
func (r *reader) open(name string) ([]byte, error) {
	f, err := r.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxFile {
		return nil, errTooLarge
	}
	// It may grow meanwhile: what counts is what is read.
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errTooLarge
	}
	return data, err
}

// unusable says why bytes are no text, or "".
func unusable(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return "UTF-16: save it as UTF-8"
	case bytes.IndexByte(data, 0) >= 0:
		return "binary: it holds zero bytes"
	case !utf8.Valid(data):
		return fmt.Sprintf("not UTF-8 at byte %d: save it as UTF-8", validPrefix(data))
	}
	return ""
}

func validPrefix(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

// cause is an error without the path in front, which its reader has already.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
