package proof

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"lyceum/internal/event"
)

// Tree is the tree of RFC 6962 over the hashes of a quest's events, as a fold: event n is leaf
// n-1, and what a leaf holds is the event's hash. A Tree keeps its right edge alone, one hash for
// each bit of its size, so that it grows by one leaf in constant time and its root is known at
// each size that it has while it grows. The zero Tree is empty.
type Tree struct {
	size uint64
	// edge has the roots of the complete trees that the leaves fall into, the largest first.
	edge []event.Hash
}

// Size is how many events the tree is over.
func (t *Tree) Size() uint64 { return t.size }

// Add takes in the hash of the next event.
func (t *Tree) Add(h event.Hash) {
	node := leaf(h)
	for s := t.size; s&1 == 1; s >>= 1 {
		last := len(t.edge) - 1
		node = join(t.edge[last], node)
		t.edge = t.edge[:last]
	}
	t.edge = append(t.edge, node)
	t.size++
}

// Root is the hash of the tree as it is.
func (t *Tree) Root() event.Hash {
	if t.size == 0 {
		return event.HashOf(nil)
	}
	last := len(t.edge) - 1
	root := t.edge[last]
	for i := last - 1; i >= 0; i-- {
		root = join(t.edge[i], root)
	}
	return root
}

// Clone is a tree that grows apart from t.
func (t *Tree) Clone() *Tree {
	return &Tree{size: t.size, edge: append([]event.Hash(nil), t.edge...)}
}

// Edge is the tree's saved form, from which TreeOf makes it again at its size.
func (t *Tree) Edge() []byte {
	out := make([]byte, 0, len(t.edge)*sha256.Size)
	for _, h := range t.edge {
		out = append(out, h[:]...)
	}
	return out
}

// TreeOf makes a tree of its size and its saved edge.
func TreeOf(size uint64, edge []byte) (*Tree, error) {
	if len(edge) != bits.OnesCount64(size)*sha256.Size {
		return nil, fmt.Errorf("the saved edge of a tree of %d leaves has %d bytes, want %d", size, len(edge), bits.OnesCount64(size)*sha256.Size)
	}
	t := &Tree{size: size}
	for len(edge) > 0 {
		t.edge = append(t.edge, event.Hash(edge[:sha256.Size]))
		edge = edge[sha256.Size:]
	}
	return t, nil
}

func leaf(h event.Hash) event.Hash {
	var b [1 + sha256.Size]byte
	copy(b[1:], h[:])
	return sha256.Sum256(b[:])
}

func join(left, right event.Hash) event.Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// Span is the leaves from Start up to End, End not among them. A proof is the roots of some spans.
type Span struct{ Start, End uint64 }

// split is the largest power of two below n, at which RFC 6962 parts a tree of n leaves.
func split(n uint64) uint64 { return 1 << (bits.Len64(n-1) - 1) }

// Consistency is of which spans a proof is made that a tree of size leaves begins with one of old.
// It is empty if either size needs none.
func Consistency(old, size uint64) ([]Span, error) {
	if old > size {
		return nil, fmt.Errorf("a tree of %d events does not begin with %d", size, old)
	}
	if old == 0 || old == size {
		return nil, nil
	}
	return consistency(old, Span{0, size}, true), nil
}

func consistency(old uint64, s Span, whole bool) []Span {
	if old == s.End {
		if whole {
			return nil
		}
		return []Span{s}
	}
	at := s.Start + split(s.End-s.Start)
	if old <= at {
		return append(consistency(old, Span{s.Start, at}, whole), Span{at, s.End})
	}
	return append(consistency(old, Span{at, s.End}, false), Span{s.Start, at})
}

// Inclusion is of which spans a proof is made that a tree of size leaves has event seq.
func Inclusion(seq, size uint64) ([]Span, error) {
	if seq < 1 || seq > size {
		return nil, fmt.Errorf("event %d is not among the first %d", seq, size)
	}
	return inclusion(seq-1, Span{0, size}), nil
}

func inclusion(index uint64, s Span) []Span {
	if s.End-s.Start == 1 {
		return nil
	}
	at := s.Start + split(s.End-s.Start)
	if index < at {
		return append(inclusion(index, Span{s.Start, at}), Span{at, s.End})
	}
	return append(inclusion(index, Span{at, s.End}), Span{s.Start, at})
}

// Prove finds the roots of spans in one pass over events' hashes. The hashes begin after those
// that known has, nil for an empty tree: what a proof takes of the events before stands in known
// itself, if the proof is one of consistency from known's size. So such a proof takes as long as
// the quest grew since, however long it is.
func Prove(spans []Span, known *Tree, hashes iter.Seq2[event.Hash, error]) ([]event.Hash, error) {
	if known == nil {
		known = &Tree{}
	}
	out := make([]event.Hash, len(spans))
	var open []int // spans that are yet to come, in the order in which they start
	var most uint64
	for i, s := range spans {
		if h, ok := known.node(s); ok {
			out[i] = h
			continue
		}
		if s.Start < known.size || s.Start >= s.End {
			return nil, fmt.Errorf("events %d to %d are not at hand to prove anything of", s.Start+1, s.End)
		}
		open, most = append(open, i), max(most, s.End)
	}
	if len(open) == 0 {
		return out, nil
	}
	slices.SortFunc(open, func(a, b int) int { return cmp.Compare(spans[a].Start, spans[b].Start) })
	for n, i := range open[1:] {
		if spans[i].Start < spans[open[n]].End {
			return nil, fmt.Errorf("two spans have event %d", spans[i].Start+1)
		}
	}
	at, in, t := known.size, -1, Tree{}
	for h, err := range hashes {
		if err != nil {
			return nil, err
		}
		if len(open) > 0 && at == spans[open[0]].Start {
			in, open = open[0], open[1:]
			t.size, t.edge = 0, t.edge[:0]
		}
		if in >= 0 {
			t.Add(h)
		}
		if at++; in >= 0 && at == spans[in].End {
			out[in], in = t.Root(), -1
		}
		if at == most {
			return out, nil
		}
	}
	return nil, fmt.Errorf("there are %d events, %d are needed", at, most)
}

// node is the root of a span that is one of the edge's.
func (t *Tree) node(s Span) (event.Hash, bool) {
	var at uint64
	for i, rest := 0, t.size; rest > 0; i++ {
		end := at + 1<<(bits.Len64(rest)-1)
		if (s == Span{at, end}) {
			return t.edge[i], true
		}
		rest -= end - at
		at = end
	}
	return event.Hash{}, false
}

// ErrInconsistent says that a proof does not lead from one root to the other.
var ErrInconsistent = errors.New("the proof does not lead there: these are two histories, or the proof is of others")

// CheckConsistency tells whether a proof shows that the tree of size and root begins with that of
// old and oldRoot.
func CheckConsistency(old uint64, oldRoot event.Hash, size uint64, root event.Hash, path []event.Hash) error {
	switch {
	case old > size:
		return fmt.Errorf("a tree of %d events does not begin with %d", size, old)
	case old == 0 || old == size:
		if len(path) != 0 || old == size && oldRoot != root || old == 0 && oldRoot != event.HashOf(nil) {
			return ErrInconsistent
		}
		return nil
	}
	if old&(old-1) == 0 {
		path = append([]event.Hash{oldRoot}, path...)
	}
	if len(path) == 0 {
		return ErrInconsistent
	}
	fn, sn := old-1, size-1
	for fn&1 == 1 {
		fn, sn = fn>>1, sn>>1
	}
	fr, sr := path[0], path[0]
	for _, h := range path[1:] {
		if sn == 0 {
			return ErrInconsistent
		}
		if fn&1 == 1 || fn == sn {
			fr, sr = join(h, fr), join(h, sr)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			sr = join(sr, h)
		}
		fn, sn = fn>>1, sn>>1
	}
	if sn != 0 || fr != oldRoot || sr != root {
		return ErrInconsistent
	}
	return nil
}

// CheckInclusion tells whether a proof shows that the tree of size and root has an event of a
// hash at seq.
func CheckInclusion(seq uint64, hash event.Hash, size uint64, root event.Hash, path []event.Hash) error {
	if seq < 1 || seq > size {
		return fmt.Errorf("event %d is not among the first %d", seq, size)
	}
	fn, sn, r := seq-1, size-1, leaf(hash)
	for _, h := range path {
		if sn == 0 {
			return ErrInconsistent
		}
		if fn&1 == 1 || fn == sn {
			r = join(h, r)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			r = join(r, h)
		}
		fn, sn = fn>>1, sn>>1
	}
	if sn != 0 || r != root {
		return ErrInconsistent
	}
	return nil
}
