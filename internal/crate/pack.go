package crate

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"time"
)

// item is a file to be packed. It may be written more than once, and must write
// the same bytes each time.
type item struct {
	size  int64
	write func(io.Writer) error
}

// epoch is the time of every entry, the first that a zip can express: when a
// crate was packed is no part of the quest.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// packer is a zip being written. Every entry is deflated, because readers that
// stream expect it; what would pack too well is deflated without compression.
type packer struct {
	zip   *zip.Writer
	level int
	lim   limits
	// told is called with what was packed, of the total, unless it is nil.
	told        func(done, of int64)
	done, total int64
}

func pack(w io.Writer, items map[string]item, lim limits, told func(done, of int64)) error {
	var total int64
	for _, it := range items {
		total += it.size
	}
	if err := lim.check(len(items), total); err != nil {
		return err
	}
	p := &packer{zip: zip.NewWriter(w), lim: lim, told: told, total: total}
	p.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, p.level) })
	for _, name := range sortedKeys(items) {
		if err := p.add(name, items[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return p.zip.Close()
}

func (p *packer) add(name string, it item) error {
	level, err := p.choose(it)
	if err != nil {
		return err
	}
	p.level = level
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: epoch})
	if err != nil {
		return err
	}
	n := &counter{w: w, each: p.tell}
	if err := it.write(n); err != nil {
		return err
	}
	if n.n != it.size {
		return fmt.Errorf("it has %d bytes, not the %d it is listed with", n.n, it.size)
	}
	return nil
}

// tell says how much more was packed.
func (p *packer) tell(n int) {
	if p.done += int64(n); p.told != nil {
		p.told(p.done, p.total)
	}
}

// choose tries how small a large item becomes: one that packs like a bomb is not
// packed, for Import would take it for one, and neither is one that packs badly.
func (p *packer) choose(it item) (level int, err error) {
	if it.size <= p.lim.small {
		return flate.DefaultCompression, nil
	}
	packed := &counter{w: io.Discard}
	f, err := flate.NewWriter(packed, flate.DefaultCompression)
	if err != nil {
		return 0, err
	}
	if err := it.write(f); err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	if it.size > packed.n*p.lim.ratio || packed.n > it.size-it.size/16 {
		return flate.NoCompression, nil
	}
	return flate.DefaultCompression, nil
}

type counter struct {
	w    io.Writer
	n    int64
	each func(n int) // nil if nobody wants to know
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if c.each != nil {
		c.each(n)
	}
	return n, err
}
