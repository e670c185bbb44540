package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// For each quest a server runs in the background there is a mark file in the home. The
// next server reads the marks to know which quests to resume. A mark holds the hash of
// the quest's first event: another quest of the same name is not the one that was meant.
// A process that runs a quest without a server removes its mark.

func (r *Runtime) markPath(name string) string { return filepath.Join(r.marks(), name) }

func (r *Runtime) marks() string { return filepath.Join(r.Home, "serving") }

// mark notes that a server of this home runs a quest, or forgets it. The caller has
// claimed the quest.
func (r *Runtime) mark(ctx context.Context, name string, served bool) error {
	if !served {
		return r.unmark(name)
	}
	first, err := r.first(ctx, name)
	if err == nil {
		err = ReplaceFile(r.markPath(name), []byte(first.String()+"\n"))
	}
	if err != nil {
		return fmt.Errorf("note that a server runs it: %w", err)
	}
	return nil
}

func (r *Runtime) unmark(name string) error { return RemoveIfThere(r.markPath(name)) }

// Unmark takes away a mark that is of no more use, unless somebody runs the quest now.
// If that fails it is looked at again.
func (r *Runtime) Unmark(name string) {
	release, err := r.Ledger.Claim(name)
	if err != nil {
		return
	}
	defer release()
	_ = r.unmark(name)
}

// IsMarked reports whether a server runs a quest, or goes on with it when it is back.
func (r *Runtime) IsMarked(name string) bool {
	_, err := os.Stat(r.markPath(name))
	return err == nil
}

// Marked are the quests that a server ran when it ended.
func (r *Runtime) Marked(ctx context.Context) ([]string, error) {
	list, err := os.ReadDir(r.marks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look which quests the last server ran: %w", err)
	}
	var names []string
	for _, f := range list {
		name := f.Name()
		if !event.ValidName(name) {
			continue
		}
		data, err := os.ReadFile(r.markPath(name))
		if err != nil {
			continue
		}
		if first, err := r.first(ctx, name); err == nil && string(data) == first.String()+"\n" {
			names = append(names, name)
		} else if err == nil || errors.Is(err, ledger.ErrNoQuest) {
			r.Unmark(name)
		}
	}
	return names, nil
}

// first is the hash of a quest's first event.
func (r *Runtime) first(ctx context.Context, name string) (event.Hash, error) {
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		return e.Hash, err
	}
	return event.Hash{}, ledger.ErrNoQuest
}
