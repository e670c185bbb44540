package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/ledger"
)

// On a store that many nodes share a quest may have gone on elsewhere since it ran here. The files of
// its agents are then those of another time: they are made again, from the last trees recorded.
// Whose they are is told by the epoch of the claim under which they were last used, in a file of
// the cache: they hold if the taking before this one was that.

const cachedEpoch = "epoch"

// epochOf is the epoch of a claim, 0 on a store of one machine, whose claims nobody else can take.
func epochOf(claim ledger.Claim) int64 {
	if fenced, ok := claim.(ledger.Fenced); ok {
		return fenced.Epoch()
	}
	return 0
}

// moveHere makes the files of a quest that was claimed this node's own.
func (r *Runtime) moveHere(ctx context.Context, name string, claim ledger.Claim) error {
	fenced, ok := claim.(ledger.Fenced)
	if !ok {
		return nil
	}
	last, err := r.lastEpoch(name)
	if err != nil {
		return err
	}
	if last == 0 || last != fenced.Before() {
		if err := r.leaveHere(ctx, name); err != nil {
			return fmt.Errorf("make its files as they are recorded: %w", err)
		}
	}
	return ReplaceFile(r.cachePath(name, cachedEpoch), strconv.AppendInt(nil, fenced.Epoch(), 10))
}

// lastEpoch is that of the claim under which a quest's files were last used here, 0 if nobody knows.
func (r *Runtime) lastEpoch(name string) (int64, error) {
	data, err := os.ReadFile(r.cachePath(name, cachedEpoch))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	last, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0, nil // there is none, or it is torn
	}
	return last, nil
}

// leaveHere ends what runs here for a quest, and removes its agents' files.
func (r *Runtime) leaveHere(ctx context.Context, name string) error {
	if err := r.stopComputers(ctx, name, 0); err != nil {
		return err
	}
	for _, d := range []string{"agents", "computers"} {
		if err := RemoveTree(filepath.Join(r.QuestDir(name), d)); err != nil {
			return err
		}
	}
	return nil
}

// overtaken reports whether an append was refused because the claim is lost: the refusal may come before the word that
// it is.
func overtaken(ctx context.Context, claim ledger.Claim, err error) bool {
	fenced, ok := claim.(ledger.Fenced)
	return ok && errors.Is(err, ledger.ErrConflict) && errors.Is(fenced.Sure(ctx), ledger.ErrLost)
}

// leaveTime is how long the computers of a quest that goes on elsewhere may take to end.
const leaveTime = 30 * time.Second

// gone ends the computers of a quest whose claim was lost: what they do is of no use any more. If another process of
// this home has the quest by now, they are its own.
func (r *Runtime) gone(ctx context.Context, name string, claim ledger.Claim) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer cancel()
	epoch := epochOf(claim)
	if last, err := r.lastEpoch(name); err != nil || last > epoch && epoch != 0 {
		return err
	}
	return r.stopComputers(ctx, name, epoch)
}

// sure waits until nobody can have given this owner up, where somebody may.
func (l *live) sure(ctx context.Context) error {
	if l.fenced == nil {
		return nil
	}
	return l.fenced.Sure(ctx)
}
