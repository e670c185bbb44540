// Package runtime drives quests: it is the shell around the deterministic core.
//
// One goroutine owns a quest while it runs. It takes all inputs that wait, lets
// the rules decide, appends inputs and decisions in one batch, and only then
// starts the calls among them. Calls run outside, at the same time; each comes
// back as an input. Whatever the owner has in memory can be lost at any moment:
// the ledger is enough to go on from.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
)

// Models finds the model of a name. Pins are the files that the quest was made
// with, by name.
type Models func(name string, pin func(name string) ([]byte, error)) (model.Model, error)

// Runtime is what quests run on. All exported fields must be set.
type Runtime struct {
	Ledger    ledger.Store
	Blobs     blob.Store // those too large for the ledger's own database
	Models    Models
	Tools     *tool.Registry
	Societies []quest.Society
	Clock     Clock
	// Home is the folder with quests/ and cache/.
	Home string
	// Version is this binary's, noted in the ledger.
	Version string

	prompts prompts
}

// QuestDir is where a quest's files stand.
func (r *Runtime) QuestDir(name string) string { return filepath.Join(r.Home, "quests", name) }

// agentDir is an agent's workspace.
func (r *Runtime) agentDir(name, agent string) string {
	return filepath.Join(r.QuestDir(name), "agents", agent)
}

// Blob reads a blob, wherever it is kept, and checks it.
func (r *Runtime) Blob(ctx context.Context, ref event.Ref) ([]byte, error) {
	data, err := r.Ledger.Blob(ctx, ref.Hash)
	if errors.Is(err, ledger.ErrNoBlob) {
		data, err = r.Blobs.Get(ctx, ref.Hash)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != ref.Size {
		return nil, fmt.Errorf("blob %s has %d bytes, its reference says %d", ref.Hash, len(data), ref.Size)
	}
	return data, nil
}

// Load returns a quest's state: from its snapshot, if there is a true one, and
// the events since.
func (r *Runtime) Load(ctx context.Context, name string) (*quest.State, error) {
	s, err := r.loadSnapshot(ctx, name)
	if err != nil {
		return nil, err
	}
	return fold(ctx, r.Ledger, name, s, r.Societies)
}
