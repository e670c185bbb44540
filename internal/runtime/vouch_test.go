package runtime_test

import (
	"context"
	"slices"
	"testing"

	"lyceum/internal/event"
)

// vouched remembers what a voucher is told of a quest's growth.
type vouched struct {
	after []uint64
	each  [][]event.Hash
}

func (*vouched) Begun(context.Context)          {}
func (*vouched) Every() uint64                  { return 3 }
func (*vouched) Rested(context.Context, string) {}

func (v *vouched) Grown(_ string, after uint64, hashes []event.Hash) {
	v.after, v.each = append(v.after, after), append(v.each, slices.Clone(hashes))
}

// TestAVoucherIsToldTheHashes: those of the events since it was last told, as the ledger has them.
func TestAVoucherIsToldTheHashes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	v := &vouched{}
	l.Vouch = v
	q := l.create(plan(t, "q", "", simple))
	l.run(q)
	var all []event.Hash
	for e, err := range l.store.Read(t.Context(), q, 1) {
		must(t, err)
		all = append(all, e.Hash)
	}
	if len(v.each) < 2 {
		t.Fatalf("a quest of %d events told its voucher %d times", len(all), len(v.each))
	}
	for i, hashes := range v.each {
		at := v.after[i]
		if len(hashes) < 3 || !slices.Equal(hashes, all[at:at+uint64(len(hashes))]) {
			t.Errorf("after event %d: %d hashes, which are not those of the ledger", at, len(hashes))
		}
		if i > 0 && at != v.after[i-1]+uint64(len(v.each[i-1])) {
			t.Errorf("after event %d, though the last time it was %d and %d more", at, v.after[i-1], len(v.each[i-1]))
		}
	}
}
