package fs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"lyceum/internal/blob"

	"github.com/klauspost/compress/zstd"
)

// A blob is a plain file, or, where that takes less room, one in the seekable format of
// Zstandard, with .zst behind its name: frames that each hold the next frameSize bytes,
// and at the end, in a frame that decoders pass over, a table of their sizes. So any place
// of a blob is found by reading the table and one frame, and the program zstd reads such
// a file too. Hashes are those of the plain bytes, in either form.
const (
	packed    = ".zst"
	frameSize = 256 << 10

	skippable  = 0x184D2A5E
	seekable   = 0x8F92EAB1
	headBytes  = 8 // of the skippable frame
	rowBytes   = 8 // of the table, for each frame
	footBytes  = 9 // of the table
	maxFrames  = 1 << 27
	leastFrame = 9 // bytes of a frame of Zstandard, at least
)

// coder makes and reads frames. Both parts may be used by many goroutines at once.
var coder = sync.OnceValue(func() (c struct {
	*zstd.Encoder
	*zstd.Decoder
}) {
	var err, derr error
	// The sum of the whole is checked, so frames need none of their own.
	c.Encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(frameSize), zstd.WithLowerEncoderMem(true))
	// A frame that claims to be longer is not ours, and is not made room for.
	c.Decoder, derr = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(frameSize), zstd.WithDecoderMaxWindow(frameSize), zstd.WithDecoderLowmem(true))
	if err := errors.Join(err, derr); err != nil {
		panic(err) // the options are constants
	}
	return c
})

// frame is one row of the table: the bytes of a frame, and of what it holds.
type frame struct{ packed, plain uint32 }

// packer turns plain bytes into frames, as many at a time as it has lanes.
type packer struct {
	frames []frame
	lanes  []lane
}

// lane has room for a frame, plain and packed.
type lane struct{ plain, packed []byte }

// maxLanes is how many frames are packed at a time at most.
const maxLanes = 4

func newPacker(lanes int) *packer {
	p := &packer{lanes: make([]lane, lanes)}
	for i := range p.lanes {
		p.lanes[i].plain = make([]byte, frameSize)
	}
	return p
}

// pack returns the frames of a batch, up to frameSize bytes each, and adds the bytes to a
// sum meanwhile. The frames are good until the next batch.
func (p *packer) pack(batch [][]byte, sum io.Writer) [][]byte {
	var work sync.WaitGroup
	work.Go(func() {
		for _, b := range batch {
			sum.Write(b) // a sum takes everything
		}
	})
	for i, b := range batch {
		work.Go(func() { p.lanes[i].packed = coder().EncodeAll(b, p.lanes[i].packed[:0]) })
	}
	work.Wait()
	out := make([][]byte, len(batch))
	for i, b := range batch {
		out[i] = p.lanes[i].packed
		p.frames = append(p.frames, frame{uint32(len(out[i])), uint32(len(b))})
	}
	return out
}

// table is what comes behind the last frame.
func (p *packer) table() []byte {
	b := make([]byte, 0, headBytes+rowBytes*len(p.frames)+footBytes)
	b = binary.LittleEndian.AppendUint32(b, skippable)
	b = binary.LittleEndian.AppendUint32(b, uint32(rowBytes*len(p.frames)+footBytes))
	for _, f := range p.frames {
		b = binary.LittleEndian.AppendUint32(b, f.packed)
		b = binary.LittleEndian.AppendUint32(b, f.plain)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(p.frames)))
	b = append(b, 0)
	return binary.LittleEndian.AppendUint32(b, seekable)
}

// errForm says that a file is not in the packed form, whatever its name says.
var errForm = errors.New("not a packed blob")

// readTable reads the table of a packed file and checks that it adds up: to the length of
// the file, and to frames that are no longer than ours. What a table declares is believed
// only then, so a forged one costs no memory.
func readTable(f *os.File) (frames []frame, plain int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	foot := make([]byte, footBytes)
	if info.Size() < headBytes+footBytes {
		return nil, 0, errForm
	}
	if _, err := f.ReadAt(foot, info.Size()-footBytes); err != nil {
		return nil, 0, err
	}
	n := int64(binary.LittleEndian.Uint32(foot))
	size := headBytes + rowBytes*n + footBytes
	if foot[4] != 0 || binary.LittleEndian.Uint32(foot[5:]) != seekable || n > maxFrames || size+leastFrame*n > info.Size() {
		return nil, 0, errForm
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, info.Size()-size); err != nil {
		return nil, 0, err
	}
	if binary.LittleEndian.Uint32(b) != skippable || int64(binary.LittleEndian.Uint32(b[4:])) != size-headBytes {
		return nil, 0, errForm
	}
	frames = make([]frame, n)
	sum := size
	for i := range frames {
		row := b[headBytes+rowBytes*i:]
		frames[i] = frame{binary.LittleEndian.Uint32(row), binary.LittleEndian.Uint32(row[4:])}
		sum += int64(frames[i].packed)
		plain += int64(frames[i].plain)
		if frames[i].plain > frameSize || i < len(frames)-1 && frames[i].plain != frameSize {
			return nil, 0, errForm
		}
	}
	if sum != info.Size() {
		return nil, 0, errForm
	}
	return frames, plain, nil
}

// unpacker reads the plain bytes of a packed file. What cannot be unpacked ends it with
// damaged.
type unpacker struct {
	f       *os.File
	frames  []frame // not read yet
	at      int64   // where they begin
	in, out []byte
	rest    []byte // of out
	damaged error
}

// newUnpacker begins to read at a place of the plain bytes. It closes the file if it
// cannot.
func newUnpacker(f *os.File, from int64, damaged error) (*unpacker, error) {
	frames, plain, err := readTable(f)
	if errors.Is(err, errForm) {
		err = damaged
	}
	if err == nil && from < 0 || from > plain {
		err = errors.Join(err, fmt.Errorf("read at %d of %d bytes", from, plain))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	u := &unpacker{f: f, frames: frames, damaged: damaged}
	for range from / frameSize {
		u.at += int64(u.frames[0].packed)
		u.frames = u.frames[1:]
	}
	if skip := from % frameSize; skip > 0 {
		if err := u.next(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		u.rest = u.rest[skip:]
	}
	return u, nil
}

// next unpacks a frame.
func (u *unpacker) next() (err error) {
	if len(u.frames) == 0 {
		return io.EOF
	}
	now := u.frames[0]
	// A frame that takes more than what it holds, and what is around it, is none of ours.
	if now.packed > frameSize+frameSize/2 {
		return u.damaged
	}
	u.in = append(u.in[:0], make([]byte, now.packed)...)
	if _, err := u.f.ReadAt(u.in, u.at); err != nil {
		return err
	}
	if u.out, err = coder().DecodeAll(u.in, u.out[:0]); err != nil || len(u.out) != int(now.plain) {
		return u.damaged
	}
	u.at, u.frames, u.rest = u.at+int64(now.packed), u.frames[1:], u.out
	return nil
}

func (u *unpacker) Read(p []byte) (int, error) {
	for len(u.rest) == 0 {
		if err := u.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

func (u *unpacker) Close() error { return u.f.Close() }

// pays reports whether bytes that are packed to so many take clearly fewer blocks than
// plain ones do.
func pays(packed, plain int64) bool {
	return packed < plain-plain/16 && blob.Blocks(packed) < blob.Blocks(plain)
}

// packAll packs bytes whole, and reports whether that pays.
func packAll(data []byte) ([]byte, bool) {
	if len(data) <= blob.Block {
		return nil, false // it takes a block of the disk, however it is packed
	}
	out := pack(data)
	return out, pays(int64(len(out)), int64(len(data)))
}

func pack(data []byte) []byte {
	var out []byte
	p := &packer{lanes: make([]lane, maxLanes)}
	for rest := data; len(rest) > 0; {
		var batch [][]byte
		for len(batch) < maxLanes && len(rest) > 0 {
			n := min(len(rest), frameSize)
			batch, rest = append(batch, rest[:n]), rest[n:]
		}
		for _, b := range p.pack(batch, io.Discard) {
			out = append(out, b...)
		}
	}
	return append(out, p.table()...)
}
