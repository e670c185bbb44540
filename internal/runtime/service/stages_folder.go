package service

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/scratch"
	"lyceum/internal/society/stages"
)

// Write implements runtime.Folder. The history of a quest is written by whoever runs it.
func (Stages) Write(ctx context.Context, q *runtime.Quest) error { return newPages(q).write(ctx) }

// Changed implements runtime.Folder: pages and commits that do not follow from the ledger.
func (Stages) Changed(ctx context.Context, q *runtime.Quest) (out []string, err error) {
	running, err := q.Ledger.Claimed(q.Key)
	if err != nil || running {
		return nil, err // whoever runs the quest may be writing now
	}
	f, err := scratch.New("", "lyceum-git-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if out, err = newPages(q).changed(ctx); err != nil {
		return nil, err
	}
	commits, err := changedCommits(ctx, q, stages.Of(q.State).Study, f.Path)
	return append(out, commits...), err
}

// Finish implements runtime.Folder: it writes and commits what the last process did not come to.
func (Stages) Finish(ctx context.Context, q *runtime.Quest) error {
	return errors.Join(newPages(q).write(ctx), commitAll(ctx, q, stages.Of(q.State).Study))
}

// holds finds what is not so of a folder that was recorded: it has as many files and bytes as is
// said, and none that could not have been taken.
func (w *resultWitness) holds(ctx context.Context, _, e event.Event) (*audit.Difference, error) {
	b := e.Body.(*event.CheckpointResult)
	if b.Tree == nil {
		return nil, nil
	}
	var files, size int64
	large := ""
	err := blob.Files(ctx, w.rt.Blobs, *b.Tree, func(path string, ref event.Ref) error {
		files, size = files+1, size+ref.Size
		if ref.Size > maxKept {
			large = path
		}
		return nil
	})
	differs := func(format string, args ...any) (*audit.Difference, error) {
		return &audit.Difference{Seq: e.Seq, What: fmt.Sprintf(format, args...)}, nil
	}
	switch {
	case err != nil:
		return differs("the tree that was recorded cannot be read: %v", err)
	case files != b.Files || size != b.Size:
		return differs("the tree that was recorded has %d files with %d bytes, and it says %d with %d", files, size, b.Files, b.Size)
	case large != "":
		return differs("the tree that was recorded has the file %q, which is larger than any that is taken", runtime.AtMost(large, 200))
	}
	return nil, nil
}
