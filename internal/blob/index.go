package blob

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"lyceum/internal/event"
)

// Index remembers what a Snapshot read, so that the next one need not read it
// again. It is a cache: without it, or with that of another folder or store, a
// Snapshot gives the same tree and takes longer. nil is an empty index.
//
// It believes that a file with the same size, times and inode has the same
// content. Only one thing is known to break that: a program that writes through
// a memory mapping moves the times when it first touches a page, not with each
// store, so what it writes later can go unnoticed until it touches the page anew.
type Index struct {
	files map[string]known
	trees map[string]event.Hash
	// since is that of the store which all of these were seen in, nil if nobody knows. It does
	// not outlive the process.
	since any
}

type known struct {
	stamp stamp
	hash  event.Hash
}

// stamp is what the file system says about a file without reading it. The ctime
// is the honest part: no program can set it back.
type stamp struct {
	size, mtime, ctime int64
	inode, dev         uint64
}

// settled reports whether any change after the moment start must show in the
// stamp. A file changed in the same tick of the file system's clock could be
// changed again in that tick and look the same, which is what git calls racy; and
// the clock of another file system says nothing about this one's ticks.
func (s stamp) settled(start stamp) bool {
	return s.dev == start.dev && s.mtime < start.mtime && s.ctime < start.mtime
}

// clock returns the time by the file system's own clock, as the stamp of a new
// file. Where none can be made it returns the zero stamp, before which nothing is
// settled: the folder is then read in full each time. The file has a name only on
// systems that know no other, and a crash at that very moment leaves it behind.
func clock(root *os.Root) stamp {
	f, err := nameless(root)
	if err != nil {
		name := ".lyceum-clock-" + rand.Text()
		if f, err = root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return stamp{}
		}
		defer root.Remove(name)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stamp{}
	}
	s, _ := stampOf(info)
	return s
}

func newIndex() *Index {
	return &Index{files: map[string]known{}, trees: map[string]event.Hash{}}
}

// after is an empty index of a store, with room for what an earlier one has.
func (x *Index) after(store Store) *Index {
	next := &Index{since: since(store)}
	if x == nil {
		x = new(Index)
	}
	next.files, next.trees = make(map[string]known, len(x.files)), make(map[string]event.Hash, len(x.trees))
	return next
}

// holds reports whether a store has all that the index has, for certain.
func (x *Index) holds(of any) bool { return x != nil && of != nil && x.since == of }

func (x *Index) file(path string, s stamp) (event.Hash, bool) {
	if x == nil {
		return event.Hash{}, false
	}
	k, ok := x.files[path]
	return k.hash, ok && k.stamp == s
}

func (x *Index) tree(path string, h event.Hash) bool {
	if x == nil {
		return false
	}
	was, ok := x.trees[path]
	return ok && was == h
}

const indexMagic = "lyceum index 1\n"

// MarshalBinary implements encoding.BinaryMarshaler. Equal indexes give equal
// bytes, and the sum at the end keeps a torn file from being believed.
func (x *Index) MarshalBinary() ([]byte, error) {
	if x == nil {
		x = newIndex()
	}
	b := []byte(indexMagic)
	b = binary.AppendUvarint(b, uint64(len(x.files)))
	for _, path := range slices.Sorted(maps.Keys(x.files)) {
		k := x.files[path]
		b = appendPath(b, path)
		for _, n := range []int64{k.stamp.size, k.stamp.mtime, k.stamp.ctime} {
			b = binary.AppendVarint(b, n)
		}
		b = binary.AppendUvarint(b, k.stamp.inode)
		b = binary.AppendUvarint(b, k.stamp.dev)
		b = append(b, k.hash[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(x.trees)))
	for _, path := range slices.Sorted(maps.Keys(x.trees)) {
		h := x.trees[path]
		b = append(appendPath(b, path), h[:]...)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

func appendPath(b []byte, path string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(path))), path...)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. After an error x is
// empty and as good as absent.
func (x *Index) UnmarshalBinary(data []byte) error {
	*x = *newIndex()
	body := len(data) - sha256.Size
	if body < len(indexMagic) || !bytes.HasPrefix(data, []byte(indexMagic)) {
		return errors.New("decode index: not an index; take the next snapshot without it")
	}
	if sum := sha256.Sum256(data[:body]); !bytes.Equal(sum[:], data[body:]) {
		return errors.New("decode index: the sum does not match; take the next snapshot without it")
	}
	c := cursor{rest: data[len(indexMagic):body]}
	got := newIndex()
	for range c.uvarint() {
		path := c.path()
		s := stamp{size: c.varint(), mtime: c.varint(), ctime: c.varint(), inode: c.uvarint(), dev: c.uvarint()}
		got.files[path] = known{s, c.hash()}
		if c.bad {
			break
		}
	}
	for range c.uvarint() {
		path := c.path()
		got.trees[path] = c.hash()
		if c.bad {
			break
		}
	}
	if c.bad || len(c.rest) > 0 {
		return fmt.Errorf("decode index: malformed with %d bytes to go; take the next snapshot without it", len(c.rest))
	}
	*x = *got
	return nil
}

// cursor reads fields one after the other. Once bad it stays bad and reads
// zeros, so the loops above need to ask only once per turn.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	c.skip(n)
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.rest)
	c.skip(n)
	return v
}

func (c *cursor) skip(n int) {
	if n <= 0 || n > len(c.rest) {
		c.bad, c.rest = true, nil
		return
	}
	c.rest = c.rest[n:]
}

func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.rest)) {
		c.bad, c.rest = true, nil
		return nil
	}
	got := c.rest[:n]
	c.rest = c.rest[n:]
	return got
}

func (c *cursor) path() string { return string(c.take(c.uvarint())) }

func (c *cursor) hash() (h event.Hash) {
	copy(h[:], c.take(uint64(len(h))))
	return h
}
