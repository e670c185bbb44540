package repo

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
)

// id is the name of an object in a repository of ours. These have SHA-1, the one format
// that every git reads.
type id [sha1.Size]byte

func (i id) String() string { return hex.EncodeToString(i[:]) }

// The types of objects, as packs number them.
const (
	commitObject = 1
	treeObject   = 2
	blobObject   = 3
)

var typeNames = map[int]string{commitObject: "commit", treeObject: "tree", blobObject: "blob"}

// packer writes objects into a pack, each once, and the pack's index beside it. The same
// objects in the same order make the same bytes.
type packer struct {
	f    *os.File
	w    *bufio.Writer
	size int64
	sums map[id]packed
	z    *zlib.Writer
}

// packed is where an object stands, and the checksum of its bytes there.
type packed struct {
	offset int64
	crc    uint32
}

// newPacker writes a pack into a file that is its own from now on.
func newPacker(f *os.File) (_ *packer, err error) {
	p := &packer{f: f, w: bufio.NewWriterSize(f, 256<<10), sums: map[id]packed{}}
	if p.z, err = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed); err != nil {
		return nil, err
	}
	// How many objects there are is known in the end.
	return p, p.write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00"))
}

func (p *packer) write(b []byte) error {
	p.size += int64(len(b))
	_, err := p.w.Write(b)
	return err
}

// maxPack is how long a pack may be: beyond that its index would have another form.
const maxPack = 1<<31 - 1

// add writes an object of size bytes.
func (p *packer) add(kind int, size int64, content io.Reader) (id, error) {
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", typeNames[kind], size)
	if size <= inMemory {
		data, err := io.ReadAll(io.LimitReader(content, size+1))
		if err != nil {
			return id{}, err
		}
		if int64(len(data)) != size {
			return id{}, fmt.Errorf("an object has another size than %d bytes", size)
		}
		sum.Write(data)
		name := id(sum.Sum(nil))
		if _, ok := p.sums[name]; ok {
			return name, nil
		}
		crc, offset := crc32.NewIEEE(), p.size
		if err := p.object(kind, size, bytes.NewReader(data), crc, nil); err != nil {
			return id{}, err
		}
		p.sums[name] = packed{offset, crc.Sum32()}
		return name, nil
	}
	// A long one is written as it is read. If it was there, it is there twice, and the index
	// knows the later.
	crc, offset := crc32.NewIEEE(), p.size
	if err := p.object(kind, size, content, crc, sum); err != nil {
		return id{}, err
	}
	name := id(sum.Sum(nil))
	if _, ok := p.sums[name]; ok {
		return name, p.drop(offset)
	}
	p.sums[name] = packed{offset, crc.Sum32()}
	return name, nil
}

// drop takes back what was written from an offset on.
func (p *packer) drop(offset int64) error {
	err := p.w.Flush()
	if err == nil {
		err = p.f.Truncate(offset)
	}
	if err == nil {
		_, err = p.f.Seek(offset, io.SeekStart)
	}
	p.size = offset
	return err
}

// object writes an object's header and content.
func (p *packer) object(kind int, size int64, content io.Reader, crc hash.Hash32, sum hash.Hash) error {
	head := []byte{byte(kind<<4) | byte(size&15)}
	for rest := size >> 4; rest > 0; rest >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(rest&0x7f))
	}
	crc.Write(head)
	if err := p.write(head); err != nil {
		return err
	}
	out := &counted{p: p, crc: crc}
	p.z.Reset(out)
	if sum != nil {
		content = io.TeeReader(content, sum)
	}
	n, err := io.Copy(p.z, io.LimitReader(content, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("an object has another size than %d bytes", size)
	}
	if err == nil {
		err = p.z.Close()
	}
	if err == nil && p.size > maxPack {
		err = errors.New("the files are too large for a repository in each home: give a smaller folder")
	}
	return err
}

// counted is a pack that notes what was written.
type counted struct {
	p   *packer
	crc hash.Hash32
}

func (c *counted) Write(b []byte) (int, error) {
	c.crc.Write(b)
	return len(b), c.p.write(b)
}

// gitEntry is a name in a tree of git.
type gitEntry struct {
	name, mode string
	id         id
}

// tree writes a tree. git sorts folders as if their names ended with a slash.
func (p *packer) tree(entries []gitEntry) (id, error) {
	key := func(e gitEntry) string {
		if e.mode == modeFolder {
			return e.name + "/"
		}
		return e.name
	}
	slices.SortFunc(entries, func(a, b gitEntry) int { return cmp.Compare(key(a), key(b)) })
	var data bytes.Buffer
	for _, e := range entries {
		data.WriteString(strings.TrimPrefix(e.mode, "0") + " " + e.name + "\x00")
		data.Write(e.id[:])
	}
	return p.add(treeObject, int64(data.Len()), &data)
}

const modeFolder = "040000"

// finish writes the pack's end, and returns its index and what both are called without the
// ending.
func (p *packer) finish() (name string, index []byte, err error) {
	if err := p.w.Flush(); err != nil {
		return "", nil, err
	}
	if _, err := p.f.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(len(p.sums))), 8); err != nil {
		return "", nil, err
	}
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return "", nil, err
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, p.f); err != nil {
		return "", nil, err
	}
	end := sum.Sum(nil)
	if _, err := p.f.Write(end); err != nil {
		return "", nil, err
	}
	return "pack-" + hex.EncodeToString(end), p.index(end), nil
}

// index is the index of a pack, in its version 2.
func (p *packer) index(pack []byte) []byte {
	names := make([]id, 0, len(p.sums))
	for name := range p.sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b id) int { return bytes.Compare(a[:], b[:]) })
	out := []byte("\xfftOc\x00\x00\x00\x02")
	n := 0
	for first := range 256 {
		for n < len(names) && int(names[n][0]) <= first {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	for _, name := range names {
		out = append(out, name[:]...)
	}
	for _, name := range names {
		out = binary.BigEndian.AppendUint32(out, p.sums[name].crc)
	}
	for _, name := range names {
		out = binary.BigEndian.AppendUint32(out, uint32(p.sums[name].offset))
	}
	out = append(out, pack...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
