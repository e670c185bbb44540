package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A quest's folder can be read without Lyceum. Its files are written from the
// ledger and can be written again; what they say is what the ledger says.

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
	out := []questFile{{"quest.yaml", spec}, problem}
	if s.Answer != nil {
		answer, err := r.textFile(ctx, "SUMMARY.md", *s.Answer)
		if err != nil {
			return nil, err
		}
		out = append(out, answer)
	}
	return out, nil
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

// writeAnswer writes what a run has added to the folder. An answer that a run
// has taken back is taken away.
func (r *Runtime) writeAnswer(ctx context.Context, name string, s *quest.State) error {
	path := filepath.Join(r.QuestDir(name), "SUMMARY.md")
	if s.Answer == nil {
		return removeIfThere(path)
	}
	f, err := r.textFile(ctx, "SUMMARY.md", *s.Answer)
	if err == nil {
		err = replaceFile(path, f.data)
	}
	if err != nil {
		return fmt.Errorf("write the answer of quest %s: %w", name, err)
	}
	return nil
}

// changedFiles returns the names of those that differ from the ledger. One that
// is not there is no lie.
func (r *Runtime) changedFiles(ctx context.Context, name string, s *quest.State) ([]string, error) {
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
		if !bytes.Equal(data, f.data) {
			out = append(out, path)
		}
	}
	return out, nil
}
