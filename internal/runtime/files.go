package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// A quest's folder can be read without Lyceum. Its files are written from the
// ledger and can be written again; what they say is what the ledger says.

const (
	summaryFile = "SUMMARY.md"
	noAnswer    = "No answer yet.\n"
)

type questFile struct {
	name string
	data []byte
}

// files returns what the folder of a quest should hold.
func (r *Runtime) files(ctx context.Context, s *quest.State) ([]questFile, error) {
	spec, err := r.Blob(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	problem, err := r.textFile(ctx, "brief.md", s.Problem)
	if err != nil {
		return nil, err
	}
	summary, err := r.summary(ctx, s)
	if err != nil {
		return nil, err
	}
	return []questFile{{"quest.yaml", spec}, problem, summary}, nil
}

// summary is the answer, or that there is none.
func (r *Runtime) summary(ctx context.Context, s *quest.State) (questFile, error) {
	if s.Answer == nil {
		return questFile{summaryFile, []byte(noAnswer)}, nil
	}
	return r.textFile(ctx, summaryFile, *s.Answer)
}

func (r *Runtime) textFile(ctx context.Context, name string, t event.Text) (questFile, error) {
	text, err := agent.Read(t, func(ref event.Ref) ([]byte, error) { return r.Blob(ctx, ref) })
	return questFile{name, []byte(text + "\n")}, err
}

func (r *Runtime) writeFiles(ctx context.Context, name string, s *quest.State) error {
	files, err := r.files(ctx, s)
	if err != nil {
		return fmt.Errorf("write the files of quest %s: %w", name, err)
	}
	for _, f := range files {
		if err := replaceFile(filepath.Join(r.QuestDir(name), f.name), f.data); err != nil {
			return fmt.Errorf("write the files of quest %s: %w", name, err)
		}
	}
	return nil
}

// writeSummary writes what a run has changed in the folder.
func (r *Runtime) writeSummary(ctx context.Context, name string, s *quest.State) error {
	f, err := r.summary(ctx, s)
	if err == nil {
		err = updateFile(filepath.Join(r.QuestDir(name), f.name), f.data)
	}
	if err != nil {
		return fmt.Errorf("write the summary of quest %s: %w", name, err)
	}
	return nil
}

// updateFile writes a file that is there already. A short one is written in
// place: making a file is the most expensive thing there is on some disks. A
// process that is killed in between leaves it empty, never half written.
func updateFile(path string, data []byte) error {
	const page = 4096 // a write within one is not torn by a signal
	if len(data) > page {
		return replaceFile(path, data)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return replaceFile(path, data)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// changedFiles returns the names of those that differ from the ledger. One that
// is not there, or empty, has yet to be written, and is no lie; nor is a summary
// that the quest had before, with one of the answers it gave or none yet: a
// process that was killed did not come to write the new one.
func (r *Runtime) changedFiles(ctx context.Context, name string, s *quest.State, answers []event.Text) ([]string, error) {
	files, err := r.files(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		path := filepath.Join(r.QuestDir(name), f.name)
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		earlier := false
		if f.name == summaryFile {
			if earlier, err = r.earlierSummary(ctx, data, answers); err != nil {
				return nil, err
			}
		}
		if len(data) > 0 && !earlier && !bytes.Equal(data, f.data) {
			out = append(out, path)
		}
	}
	papers, err := r.changedPapers(ctx, name, s)
	return append(out, papers...), err
}

// changedPapers returns the files of papers that are not as the ledger says, and those
// that it does not know of. What is not there has yet to be written; where a paper's
// text is, everything else is, too. A text from before the decision is no lie: a
// process that was killed did not come to write the new one.
func (r *Runtime) changedPapers(ctx context.Context, name string, s *quest.State) (out []string, err error) {
	running, err := r.Ledger.Claimed(name)
	if err != nil {
		return nil, err
	}
	p := &press{rt: r, key: name}
	for _, x := range lab.Library(s).Papers {
		if running && x.Decided == 0 {
			continue // whoever runs the quest may be writing it now
		}
		changed, err := p.changed(ctx, x)
		if err != nil {
			return nil, fmt.Errorf("look at the folder of publication %s: %w", x.Ref, err)
		}
		out = append(out, changed...)
	}
	if running {
		return out, nil
	}
	folders, err := os.ReadDir(filepath.Join(r.QuestDir(name), "publications"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, f := range folders {
		if lab.Library(s).Paper(f.Name()) == nil {
			out = append(out, filepath.Join(r.QuestDir(name), "publications", f.Name()))
		}
	}
	return out, nil
}

// changed returns the files of a paper's folder that are not what the press would
// write.
func (p *press) changed(ctx context.Context, x *paper.Paper) (out []string, err error) {
	want, err := p.wanted(ctx, x)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.folder(x))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(paper.FilePaper); errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was about to be written
	}
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if strings.HasPrefix(f.Name(), ".new-") && want[f.Name()] == nil {
			continue // a killed process had begun to write it
		}
		h, err := hashFile(root, f)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(want[f.Name()], h) {
			out = append(out, filepath.Join(p.folder(x), f.Name()))
		}
	}
	return out, nil
}

// wanted are the hashes that the files of a paper's folder may have. Only its text is
// ever written again: when it is decided, and when its program has been run.
func (p *press) wanted(ctx context.Context, x *paper.Paper) (map[string][]event.Hash, error) {
	out := map[string][]event.Hash{}
	if x.Tree != nil {
		tree, err := blob.ReadTree(ctx, p.rt.Blobs, *x.Tree)
		if err != nil {
			return nil, err
		}
		for _, e := range tree {
			out[e.Name] = []event.Hash{e.Hash}
		}
	}
	early := x.Clone()
	early.Status, early.Decided = event.Submitted, 0
	untried := early.Clone()
	untried.Reproduction = nil
	for _, version := range []*paper.Paper{x, early, untried} {
		files, err := p.files(ctx, version)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out[f.name] = append(out[f.name], event.HashOf(f.data))
		}
	}
	return out, nil
}

// hashFile is the hash of a plain file; of anything else, none.
func hashFile(root *os.Root, e fs.DirEntry) (out event.Hash, err error) {
	if !e.Type().IsRegular() {
		return out, nil
	}
	f, err := root.Open(e.Name())
	if err != nil {
		return out, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return event.Hash(h.Sum(nil)), err
}

func (r *Runtime) earlierSummary(ctx context.Context, data []byte, answers []event.Text) (bool, error) {
	if string(data) == noAnswer {
		return true, nil
	}
	for _, a := range answers {
		f, err := r.textFile(ctx, summaryFile, a)
		if err != nil || bytes.Equal(data, f.data) {
			return err == nil, err
		}
	}
	return false, nil
}
