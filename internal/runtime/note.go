package runtime

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/go-json-experiment/json"
)

// A home knows things of a quest that its ledger does not say, because the ledger goes on to
// others: each stands in a file of the quest's name, with the hash of the quest's first event,
// so that nothing of a quest that was removed is said of the next one with its name.

// readNote reads what a file of the home says; it is false if there is none.
func readNote(path string, into any) (there bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return err == nil, err
}

// isAbout tells whether a note with this hash is about the quest that has the name now.
func (r *Runtime) isAbout(ctx context.Context, name string, first event.Hash) (bool, error) {
	now, err := r.first(ctx, name)
	return err == nil && now == first, err
}

// keepNote writes a note, which is on disk when it returns.
func (r *Runtime) keepNote(path string, note any) error {
	data, err := json.Marshal(note)
	if err == nil {
		err = ReplaceFile(path, append(data, '\n'))
	}
	for _, p := range []string{path, filepath.Dir(path), r.Home} {
		if err == nil {
			err = flush(p)
		}
	}
	return err
}

// flush has a file or a folder reach the disk.
func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// first is the hash of a quest's first event.
func (r *Runtime) first(ctx context.Context, name string) (event.Hash, error) {
	if head, err := r.Ledger.Head(ctx, name); err == nil && head.Seq == 1 {
		return head.Hash, nil // it was just made, and is its last
	}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		return e.Hash, err
	}
	return event.Hash{}, ledger.ErrNoQuest
}
