package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// For each quest a server runs in the background there is a mark file in the home. The
// next server reads the marks to know which quests to resume. A mark holds the hash of
// the quest's first event: another quest of the same name is not the one that was meant.
// Of a quest that waits for a person it also says how the quest stands, so that the next
// server need not read a thousand ledgers of which nobody wants anything. A process that runs a quest without a server removes its mark.

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

// Mark is a quest that a server ran when it ended.
type Mark struct {
	Name string
	// Rest is how it stands if it waits for a person, nil if its ledger must be read to know.
	Rest *Rest
}

// Rest is what a server knows of a quest that waits for a person.
type Rest struct {
	// Seq and Hash are of its last event: if there are others, nothing here holds.
	Seq  uint64
	Hash event.Hash
	// Inbox is the last command that it has taken, Due when its first question expires, 0 for
	// never.
	Inbox int64
	Due   event.Time
}

// RestOf is how a quest stands that waits for a person.
func RestOf(s *quest.State) *Rest {
	return &Rest{Seq: s.Seq, Hash: s.Hash, Inbox: s.Inbox, Due: s.Due()}
}

// At reports whether it holds for a ledger that ends there.
func (r *Rest) At(head ledger.Head) bool { return r.Seq == head.Seq && r.Hash == head.Hash }

const restForm = "waits %d %s %d %d\n"

// markRest adds to a quest's mark how it stands. The caller has claimed the quest.
func (r *Runtime) markRest(name string, rest *Rest) error {
	data, err := os.ReadFile(r.markPath(name))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	return ReplaceFile(r.markPath(name), fmt.Appendf(nil, "%s\n"+restForm, first, rest.Seq, rest.Hash, rest.Inbox, rest.Due))
}

// readRest reads what markRest wrote, nil if that is not there.
func readRest(line string) *Rest {
	var rest Rest
	var hash string
	if n, err := fmt.Sscanf(line, restForm, &rest.Seq, &hash, &rest.Inbox, &rest.Due); n != 4 || err != nil {
		return nil
	}
	var err error
	if rest.Hash, err = event.ParseHash(hash); err != nil {
		return nil
	}
	return &rest
}

// Marked are the quests that a server ran when it ended.
func (r *Runtime) Marked(ctx context.Context) ([]Mark, error) {
	list, err := os.ReadDir(r.marks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look which quests the last server ran: %w", err)
	}
	var all []Mark
	for _, f := range list {
		if m := r.MarkOf(ctx, f.Name()); m != nil {
			all = append(all, *m)
		}
	}
	return all, nil
}

// MarkOf is the mark of a quest, nil if it has none. One that another quest of the name left
// is taken away.
func (r *Runtime) MarkOf(ctx context.Context, name string) *Mark {
	if !event.ValidName(name) {
		return nil
	}
	data, err := os.ReadFile(r.markPath(name))
	if err != nil {
		return nil
	}
	mine, more, _ := strings.Cut(string(data), "\n")
	first, err := r.first(ctx, name)
	switch {
	case err != nil && !errors.Is(err, ledger.ErrNoQuest):
		return nil
	case err != nil || mine != first.String():
		r.Unmark(name)
		return nil
	}
	m := &Mark{Name: name, Rest: readRest(more)}
	if head, err := r.Ledger.Head(ctx, name); m.Rest != nil && (err != nil || !m.Rest.At(head)) {
		m.Rest = nil
	}
	return m
}

// first is the hash of a quest's first event.
func (r *Runtime) first(ctx context.Context, name string) (event.Hash, error) {
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		return e.Hash, err
	}
	return event.Hash{}, ledger.ErrNoQuest
}
