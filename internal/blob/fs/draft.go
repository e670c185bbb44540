package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	goruntime "runtime"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// draft is a blob that is being written. Whatever it writes is charged for first, and only
// as long as the disk has room.
type draft struct {
	ctx     context.Context
	s       *Store
	f       *os.File
	tight   bool  // it is in the packed form
	hollow  bool  // it has holes
	most    int64 // bytes that it may have, if not zero
	written int64 // bytes of the file, without holes
	charged int64 // bytes of whole blocks
}

// promptly is up to which length a blob is packed before it is written: that costs less than
// the file of its own that a mark is, and the second flush that packing it later takes.
const promptly = 64 << 10

// whole writes data, in the form that takes less room if it is packed at once.
func (d *draft) whole(data []byte) error {
	if d.s.when == AtOnce || d.s.when == Later && len(data) <= promptly {
		if tight, ok := packAll(data); ok {
			d.tight = true
			return d.add(tight)
		}
		return d.add(data)
	}
	return d.lay(data, true)
}

// stream writes what r yields. Up to one frame it is written as by whole.
func (d *draft) stream(r io.Reader) (event.Ref, error) {
	first := make([]byte, frameSize)
	n, err := io.ReadFull(r, first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return event.RefOf(first[:n]), d.whole(first[:n])
	}
	if err != nil {
		return event.Ref{}, err
	}
	if d.s.when == AtOnce {
		return d.frames(first, r, min(goruntime.GOMAXPROCS(0), maxLanes))
	}
	return d.plain(first, r)
}

// plain writes a stream as it is, of which it has the first frame.
func (d *draft) plain(buf []byte, r io.Reader) (event.Ref, error) {
	sum, total := sha256.New(), int64(0)
	for n := len(buf); ; {
		last := n < len(buf)
		sum.Write(buf[:n])
		total += int64(n)
		if err := d.lay(buf[:n], last); err != nil {
			return event.Ref{}, err
		}
		if last {
			return event.Ref{Hash: event.Hash(sum.Sum(nil)), Size: total}, nil
		}
		var err error
		if n, err = io.ReadFull(r, buf); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return event.Ref{}, err
		}
	}
}

var zeros [blob.Block]byte

// lay writes plain bytes, and leaves a hole for each block of zeros: a home can have files
// that are holes but for a few bytes, and they are to cost no more here than there. What
// comes before the last bytes is whole blocks.
func (d *draft) lay(b []byte, last bool) error {
	for len(b) > 0 {
		n, hole := 0, false
		for n < len(b) {
			block := b[n:min(n+blob.Block, len(b))]
			zero := bytes.Equal(block, zeros[:len(block)])
			if n > 0 && zero != hole {
				break
			}
			n, hole = n+len(block), zero
		}
		if hole {
			if _, err := d.f.Seek(int64(n), io.SeekCurrent); err != nil {
				return err
			}
			d.hollow = true
		} else if err := d.add(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	if !last || !d.hollow {
		return nil
	}
	// The last bytes may be a hole.
	size, err := d.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return d.f.Truncate(size)
}

// frames packs a stream, of which it has the first frame: several frames at a time, and
// the sum beside them, or packing would take longer than writing what it saves.
func (d *draft) frames(first []byte, r io.Reader, lanes int) (event.Ref, error) {
	d.tight = true
	sum, total := sha256.New(), int64(0)
	p := newPacker(lanes)
	for batch, last := [][]byte{first}, false; ; {
		for !last && len(batch) < len(p.lanes) {
			n, err := io.ReadFull(r, p.lanes[len(batch)].plain[:frameSize])
			last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			if err != nil && !last {
				return event.Ref{}, err
			}
			if n > 0 {
				batch = append(batch, p.lanes[len(batch)].plain[:n])
			}
		}
		for _, b := range batch {
			total += int64(len(b))
		}
		for _, b := range p.pack(batch, sum) {
			if err := d.add(b); err != nil {
				return event.Ref{}, err
			}
		}
		if last {
			return event.Ref{Hash: event.Hash(sum.Sum(nil)), Size: total}, d.add(p.table())
		}
		batch = batch[:0]
	}
}

// add writes bytes to the file.
func (d *draft) add(b []byte) error {
	if d.most > 0 && d.written+int64(len(b)) > d.most {
		return errNoGain
	}
	if err := d.room(int64(len(b))); err != nil {
		return err
	}
	n, err := d.f.Write(b)
	d.written += int64(n)
	return err
}

// room asks for n more bytes.
func (d *draft) room(n int64) error {
	more := blob.Blocks(d.written+n) - d.charged
	if more <= 0 {
		return nil
	}
	if err := d.s.room(more); err != nil {
		return err
	}
	if err := blob.Charge(d.ctx, more); err != nil {
		return err
	}
	d.charged += more
	return nil
}

// giveBack is for a draft that came to nothing.
func (d *draft) giveBack() {
	_ = blob.Charge(d.ctx, -d.charged) // giving back is never refused
	d.charged = 0
}
