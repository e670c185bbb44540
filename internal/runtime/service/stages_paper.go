package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// paperFiles are the files of a study's paper in its folder: those of the last revision, to the
// byte. What only an earlier one had is removed; what anybody else has put there stays.
type paperFiles struct {
	// seq is the paper.submitted that they are of, 0 before there is one.
	seq   uint64
	files []study.Page
	// before are the hashes that files had in earlier revisions, by path.
	before map[string]map[event.Hash]bool
}

// of are the files of the paper now. The trees of papers are read once for each revision.
func (f *paperFiles) of(ctx context.Context, rt *runtime.Runtime, s *study.Study) ([]study.Page, error) {
	last := s.Paper()
	if last == nil || last.Seq == f.seq {
		return f.files, nil
	}
	next := paperFiles{seq: last.Seq, before: map[string]map[event.Hash]bool{}}
	for _, p := range s.Papers {
		err := blob.Files(ctx, rt.Blobs, p.Tree, func(name string, ref event.Ref) error {
			name = study.PaperDir + "/" + name
			if p == last {
				next.files = append(next.files, study.Page{Path: name, Key: ref.Hash.String(), File: &ref})
				return nil
			}
			if next.before[name] == nil {
				next.before[name] = map[event.Hash]bool{}
			}
			next.before[name][ref.Hash] = true
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the files of %s: %w", p.ID, err)
		}
	}
	*f = next
	return f.files, nil
}

// was reports whether a file is as an earlier revision had it: whoever was killed did not come to
// write the new one.
func (f *paperFiles) was(path string, data []byte) bool { return f.before[path][event.HashOf(data)] }

// tidy removes what only an earlier revision had.
func (f *paperFiles) tidy(dir string) error {
	now := map[string]bool{}
	for _, x := range f.files {
		now[x.Path] = true
	}
	for path := range f.before {
		name := filepath.Join(dir, filepath.FromSlash(path))
		data, err := os.ReadFile(name)
		if now[path] || err != nil || !f.was(path, data) {
			continue
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
