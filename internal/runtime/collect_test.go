package runtime_test

import (
	"context"
	"testing"

	"lyceum/internal/ledger"
)

// removed is a ledger of which another process removes a quest between its being listed and its being read.
type removed struct{ ledger.Store }

func (r removed) Quests(ctx context.Context) ([]ledger.Head, error) {
	heads, err := r.Store.Quests(ctx)
	return append([]ledger.Head{{Quest: "gone"}}, heads...), err
}

func TestBlobsAreCollectedBesideOthersWhoRemoveQuests(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	l.Ledger = removed{l.Ledger}
	if _, _, err := l.Collect(t.Context()); err != nil {
		t.Errorf("collect: %v, want what is left collected", err)
	}
	l.Ledger = l.Ledger.(removed).Store
	l.sound("q")
}
