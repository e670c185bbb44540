package runtime

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A state snapshot is a cache: a line with the hash of what follows, then the
// encoded state. It is used only if its hash holds and the ledger has the event
// it claims to stand at. Anything else, and the ledger is folded instead.

func (r *Runtime) snapshotPath(name string) string {
	return filepath.Join(r.Home, "cache", name+".state")
}

func (r *Runtime) loadSnapshot(ctx context.Context, name string) (*quest.State, error) {
	data, err := os.ReadFile(r.snapshotPath(name))
	if err != nil {
		return nil, nil
	}
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	if event.HashOf(body).String() != string(sum) {
		return nil, nil
	}
	s, err := quest.Decode(body, r.Societies)
	if err != nil {
		return nil, nil
	}
	for e, err := range r.Ledger.Read(ctx, name, s.Seq) {
		if err != nil {
			return nil, err
		}
		if e.Seq == s.Seq && e.Hash == s.Hash {
			return s, nil
		}
		break
	}
	return nil, nil
}

// saveSnapshot writes the cache.
func (r *Runtime) saveSnapshot(name string, s *quest.State) error {
	body, err := s.Encode()
	if err != nil {
		return err
	}
	data := append([]byte(event.HashOf(body).String()+"\n"), body...)
	if err := replaceFile(r.snapshotPath(name), data); err != nil {
		return fmt.Errorf("save the snapshot of quest %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file so that a reader sees the old bytes or the new.
func replaceFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
