package agent

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// records are what the translation reads of a quest, from its ledger. They belong to one
// goroutine at a time.
type records struct {
	rt   *runtime.Runtime
	name string
	// state and views are what the events up to the state's seq come to, nil before somebody
	// asks.
	state *quest.State
	views *view.Views
}

// maxShown is how many bytes of a text a client is shown, maxNodes how many parts of a quest
// are looked at for a plan.
const (
	maxShown = 64 << 10
	maxNodes = 20_000
)

func (r *records) Text(ctx context.Context, t event.Text) (string, error) {
	if t.Ref == nil || t.Ref.Size > 16*maxShown && t.Text != "" {
		return t.Text, nil
	}
	data, err := r.rt.Blob(ctx, *t.Ref)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(event.Cut(string(data), maxShown), "\uFFFD"), nil
}

func (r *records) Event(ctx context.Context, seq uint64) (event.Event, error) {
	for e, err := range r.rt.Ledger.Read(ctx, r.name, seq) {
		return e, err
	}
	return event.Event{}, fmt.Errorf("quest %s has no event %d", r.name, seq)
}

func (r *records) Blob(ctx context.Context, ref event.Ref) ([]byte, error) {
	return r.rt.Blob(ctx, ref)
}

// File implements acp.Differ.
func (r *records) File(ctx context.Context, tree event.TreeRef, path string) (string, bool) {
	e, err := repo.At(ctx, r.rt.Blobs, tree, path)
	if err != nil || e == nil || e.Kind != blob.File || e.Size > maxShown {
		return "", false
	}
	data, err := r.rt.Blob(ctx, e.Ref())
	return string(data), err == nil && utf8.Valid(data) && !bytes.ContainsRune(data, 0)
}

func (r *records) Nodes(ctx context.Context) ([]view.Node, error) {
	next := uint64(1)
	if r.state != nil {
		next = r.state.Seq + 1
	}
	for e, err := range r.rt.Ledger.Read(ctx, r.name, next) {
		if err == nil && r.state == nil {
			r.views = new(view.Views)
			r.state, err = quest.New(e, r.rt.Societies)
		}
		if err == nil {
			err = r.state.Fold(e)
		}
		if err != nil {
			r.state = nil // from the beginning, the next time
			return nil, err
		}
		r.views.Take(e, r.state)
	}
	if r.views == nil {
		return nil, nil
	}
	nodes, _, _ := r.views.Canvas.Graph(0, maxNodes)
	return nodes, nil
}
