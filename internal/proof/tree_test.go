package proof_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"

	"golang.org/x/mod/sumdb/tlog"
)

// hashes are n different hashes, as events have them.
func hashes(n int) []event.Hash {
	out := make([]event.Hash, n)
	for i := range out {
		out[i] = sha256.Sum256(binary.BigEndian.AppendUint64([]byte("event"), uint64(i)))
	}
	return out
}

func stream(list []event.Hash) iter.Seq2[event.Hash, error] {
	return func(yield func(event.Hash, error) bool) {
		for _, h := range list {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// other is a log that somebody else's program keeps of the same events.
type other struct{ stored []tlog.Hash }

func (o *other) ReadHashes(at []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range at {
		if i >= int64(len(o.stored)) {
			return nil, fmt.Errorf("no hash %d", i)
		}
		out = append(out, o.stored[i])
	}
	return out, nil
}

func otherOf(t testing.TB, list []event.Hash) *other {
	t.Helper()
	o := &other{}
	for i, h := range list {
		more, err := tlog.StoredHashes(int64(i), h[:], o)
		if err != nil {
			t.Fatal(err)
		}
		o.stored = append(o.stored, more...)
	}
	return o
}

func same(a []event.Hash, b []tlog.Hash) bool {
	return slices.EqualFunc(a, b, func(x event.Hash, y tlog.Hash) bool { return x == event.Hash(y) })
}

func grown(list []event.Hash) *proof.Tree {
	t := &proof.Tree{}
	for _, h := range list {
		t.Add(h)
	}
	return t
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestRootsAndProofsAreThoseOfAnotherProgram: golang.org/x/mod/sumdb/tlog finds the same.
func TestRootsAndProofsAreThoseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	const most = 200
	list := hashes(most)
	o := otherOf(t, list)
	roots := make([]event.Hash, most+1)
	trees := make([]*proof.Tree, most+1)
	for n := range most + 1 {
		trees[n] = grown(list[:n])
		roots[n] = trees[n].Root()
		want := must[tlog.Hash](t)(tlog.TreeHash(int64(n), o))
		if roots[n] != event.Hash(want) {
			t.Fatalf("the root of %d events is %s here and %x elsewhere", n, roots[n], want)
		}
		again, err := proof.TreeOf(uint64(n), trees[n].Edge())
		if err != nil || again.Root() != roots[n] {
			t.Fatalf("a tree of %d events, saved and read again, has another root (%v)", n, err)
		}
	}
	for n := 1; n <= most; n++ {
		for m := 1; m <= n; m++ {
			checkPair(t, o, list, trees[m], uint64(m), uint64(n), roots)
		}
	}
}

func checkPair(t *testing.T, o *other, list []event.Hash, known *proof.Tree, m, n uint64, roots []event.Hash) {
	t.Helper()
	got := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Consistency(m, n)), known, stream(list[m:])))
	whole := got
	some := (m+n)%8 == 0 || n < 20
	if some { // the same without an edge
		whole = must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Consistency(m, n)), nil, stream(list)))
	}
	want := must[tlog.TreeProof](t)(tlog.ProveTree(int64(n), int64(m), o))
	if !same(got, want) || !slices.Equal(got, whole) {
		t.Fatalf("the proof that %d events begin with %d is %v here (%v of all events), %v elsewhere", n, m, got, whole, want)
	}
	if err := proof.CheckConsistency(m, roots[m], n, roots[n], got); err != nil {
		t.Fatalf("the proof that %d events begin with %d: %v", n, m, err)
	}
	if !some {
		return
	}
	path := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Inclusion(m, n)), nil, stream(list)))
	if want := must[tlog.RecordProof](t)(tlog.ProveRecord(int64(n), int64(m-1), o)); !same(path, want) {
		t.Fatalf("the proof that %d events have event %d is %v here, %v elsewhere", n, m, path, want)
	}
	if err := proof.CheckInclusion(m, list[m-1], n, roots[n], path); err != nil {
		t.Fatalf("the proof that %d events have event %d: %v", n, m, err)
	}
	if m > 1 {
		if proof.CheckInclusion(m-1, list[m-1], n, roots[n], path) == nil {
			t.Fatalf("event %d of %d is believed to be event %d", m, n, m-1)
		}
	}
}

func TestProofsOfLargerTreesAgree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 1))
	list := hashes(5000)
	o := otherOf(t, list)
	for range 100 {
		n := 2 + random.Uint64N(4999)
		m := 1 + random.Uint64N(n)
		got := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Consistency(m, n)), nil, stream(list)))
		var theirs tlog.TreeProof
		for _, h := range got {
			theirs = append(theirs, tlog.Hash(h))
		}
		a, b := grown(list[:m]).Root(), grown(list[:n]).Root()
		if err := tlog.CheckTree(theirs, int64(n), tlog.Hash(b), int64(m), tlog.Hash(a)); err != nil {
			t.Errorf("another program does not believe our proof that %d events begin with %d: %v", n, m, err)
		}
		path := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Inclusion(m, n)), nil, stream(list)))
		if want := must[tlog.RecordProof](t)(tlog.ProveRecord(int64(n), int64(m-1), o)); !same(path, want) {
			t.Errorf("the proof that %d events have event %d differs from another program's", n, m)
		}
	}
}

// TestAWrongProofIsRefused: whatever is changed in a proof that held, it holds no more.
func TestAWrongProofIsRefused(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 2))
	list := hashes(300)
	for range 500 {
		n := 2 + random.Uint64N(298)
		m := 1 + random.Uint64N(n-1)
		a, b := grown(list[:m]).Root(), grown(list[:n]).Root()
		path := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Consistency(m, n)), nil, stream(list)))
		for what, err := range map[string]error{
			"another old root":    proof.CheckConsistency(m, b, n, b, path),
			"another new root":    proof.CheckConsistency(m, a, n, a, path),
			"one more hash":       proof.CheckConsistency(m, a, n, b, append(slices.Clone(path), a)),
			"one hash less":       proof.CheckConsistency(m, a, n, b, path[:len(path)-1]),
			"a changed hash":      proof.CheckConsistency(m, a, n, b, flipped(path, random)),
			"no proof":            proof.CheckConsistency(m, a, n, b, nil),
			"sizes the other way": proof.CheckConsistency(n, b, m, a, path),
		} {
			if err == nil {
				t.Fatalf("from %d to %d events with %s: the proof is believed", m, n, what)
			}
		}
		if err := proof.CheckConsistency(m, a, n, b, path); err != nil {
			t.Fatalf("the proof itself, from %d to %d: %v", m, n, err)
		}
	}
	if err := proof.CheckConsistency(0, event.HashOf(nil), 5, grown(list[:5]).Root(), nil); err != nil {
		t.Errorf("everything begins with nothing: %v", err)
	}
	if err := proof.CheckConsistency(5, list[0], 5, list[1], nil); !errors.Is(err, proof.ErrInconsistent) {
		t.Errorf("two roots of one size: got %v, want ErrInconsistent", err)
	}
}

func flipped(path []event.Hash, random *rand.Rand) []event.Hash {
	out := slices.Clone(path)
	out[random.IntN(len(out))][random.IntN(32)] ^= 1 << random.IntN(8)
	return out
}

func TestProveNeedsItsEvents(t *testing.T) {
	t.Parallel()
	list := hashes(10)
	spans := must[[]proof.Span](t)(proof.Consistency(3, 10))
	if _, err := proof.Prove(spans, nil, stream(list[:9])); err == nil {
		t.Error("a proof of ten events is made of nine")
	}
	if _, err := proof.Prove(spans, grown(list[:4]), stream(list[4:])); err == nil {
		t.Error("a proof from three events is made of an edge at four, which does not have what it takes")
	}
	if _, err := proof.TreeOf(3, make([]byte, 32)); err == nil {
		t.Error("a tree of three leaves is made of an edge of one hash")
	}
}

// BenchmarkAMillionEvents: what a root and a proof of consistency cost, all events' hashes at hand.
func BenchmarkAMillionEvents(b *testing.B) {
	list := hashes(1_000_000)
	half := grown(list[:500_000])
	spans := must[[]proof.Span](b)(proof.Consistency(500_000, 1_000_000))
	b.Run("Root", func(b *testing.B) {
		for b.Loop() {
			grown(list).Root()
		}
	})
	b.Run("ConsistencyOfAll", func(b *testing.B) {
		for b.Loop() {
			must[[]event.Hash](b)(proof.Prove(spans, nil, stream(list)))
		}
	})
	b.Run("ConsistencyFromTheEdge", func(b *testing.B) {
		for b.Loop() {
			must[[]event.Hash](b)(proof.Prove(spans, half, stream(list[500_000:])))
		}
	})
}
