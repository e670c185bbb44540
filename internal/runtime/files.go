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
	read := func(ref event.Ref) ([]byte, error) { return r.Blob(ctx, ref) }
	spec, err := read(s.Spec)
	if err != nil {
		return nil, err
	}
	problem, err := agent.Read(s.Problem, read)
	if err != nil {
		return nil, err
	}
	out := []questFile{{"quest.yaml", spec}, {"brief.md", []byte(problem + "\n")}}
	if s.Answer != nil {
		answer, err := agent.Read(*s.Answer, read)
		if err != nil {
			return nil, err
		}
		out = append(out, questFile{"SUMMARY.md", []byte(answer + "\n")})
	}
	return out, nil
}

func (r *Runtime) writeFiles(ctx context.Context, name string, s *quest.State) error {
	files, err := r.files(ctx, s)
	if err != nil {
		return fmt.Errorf("write the files of quest %s: %w", name, err)
	}
	for _, f := range files {
		path := filepath.Join(r.QuestDir(name), f.name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.data) {
			continue
		}
		if err := replaceFile(path, f.data); err != nil {
			return fmt.Errorf("write the files of quest %s: %w", name, err)
		}
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
