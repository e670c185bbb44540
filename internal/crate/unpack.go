package crate

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// archive is a zip whose entries are known to be of those a crate can have, each
// there once, a plain file, and within the limits. Their content is not known.
// It is a blob.Store that cannot be written to, so that trees can be walked and
// a ledger replayed before anything of it is stored.
type archive struct {
	files map[string]*zip.File
	blobs map[event.Hash]*zip.File
	lim   limits
}

var _ blob.Store = (*archive)(nil)

func unpack(r io.ReaderAt, size int64, lim limits) (*archive, error) {
	m := &metered{r: r}
	m.left.Store(lim.directory)
	z, err := zip.NewReader(m, size)
	if err != nil {
		return nil, fmt.Errorf("it is not a zip file, or a damaged one: %w", err)
	}
	m.left.Store(1<<63 - 1)
	a := &archive{files: map[string]*zip.File{}, blobs: map[event.Hash]*zip.File{}, lim: lim}
	var unpacked, packed uint64
	for _, f := range z.File {
		if err := a.admit(f); err != nil {
			return nil, fmt.Errorf("entry %q: %w", f.Name, err)
		}
		unpacked, packed = unpacked+f.UncompressedSize64, packed+f.CompressedSize64
		if packed > uint64(size) {
			return nil, fmt.Errorf("entry %q: the entries share their bytes", f.Name)
		}
		if err := lim.check(len(a.files)+len(a.blobs), int64(min(unpacked, 1<<62))); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{metadataFile, ledgerFile, briefFile, specFile, previewFile} {
		if a.files[name] == nil {
			return nil, fmt.Errorf("entry %q is missing: it is not an exported quest", name)
		}
	}
	return a, nil
}

// admit takes an entry in by its header. The names are those of a list, so no
// path can lead anywhere.
func (a *archive) admit(f *zip.File) error {
	switch {
	case f.Mode().Type() != 0:
		return errors.New("it is a link, a folder or a device; a crate has only files")
	case f.Flags&1 != 0:
		return errors.New("it is encrypted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("it is packed by method %d, which is unknown here", f.Method)
	case f.UncompressedSize64 > uint64(a.lim.total):
		return fmt.Errorf("it has %d bytes, more than the %d that a crate may have", f.UncompressedSize64, a.lim.total)
	case f.UncompressedSize64 > uint64(a.lim.small) && f.UncompressedSize64/uint64(a.lim.ratio) > f.CompressedSize64:
		return fmt.Errorf("its %d bytes unpack to %d: that is a bomb, not a file", f.CompressedSize64, f.UncompressedSize64)
	}
	switch {
	case strings.HasPrefix(f.Name, paperFolder), // which may be there, the ledger tells
		slices.Contains([]string{metadataFile, ledgerFile, briefFile, specFile, previewFile, summaryFile, proofFile}, f.Name):
		if a.files[f.Name] != nil {
			return errors.New("it is there twice")
		}
		a.files[f.Name] = f
		return nil
	}
	h, err := event.ParseHash(f.Name[strings.LastIndexByte(f.Name, '/')+1:])
	if err != nil || blobPath(h) != f.Name {
		return errors.New("an exported quest has no such file")
	}
	if a.blobs[h] != nil {
		return errors.New("it is there twice")
	}
	a.blobs[h] = f
	return nil
}

// ledger reads the events and checks that they form a chain.
func (a *archive) ledger(ctx context.Context) ([]event.Event, error) {
	f := a.files[ledgerFile]
	if f.UncompressedSize64 > uint64(a.lim.ledger) {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", ledgerFile, f.UncompressedSize64, a.lim.ledger)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	lines := bufio.NewReaderSize(r, a.lim.line+1)
	var events []event.Event
	var last event.Event
	for {
		e, err := nextEvent(lines, last)
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: seq %d: %w", ledgerFile, last.Seq+1, err)
		}
		events, last = append(events, e), e
	}
}

// nextEvent reads the line after that of last, the zero Event at the beginning.
// At the end of the file it says io.EOF.
func nextEvent(lines *bufio.Reader, last event.Event) (e event.Event, err error) {
	line, err := lines.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) > 0:
		return e, errors.New("the line has no end")
	case err == bufio.ErrBufferFull:
		return e, fmt.Errorf("the line is longer than %d bytes", lines.Size()-1)
	case err != nil:
		return e, err
	}
	if e, err = event.Parse(bytes.Clone(line[:len(line)-1])); err != nil {
		return e, err
	}
	return e, e.Follows(last.Seq, last.Hash)
}

// Open implements blob.Store.
func (a *archive) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	f := a.blobs[h]
	if f == nil {
		return nil, fmt.Errorf("entry %s: %w", blobPath(h), blob.ErrNotFound)
	}
	r, err := openEntry(ctx, f)
	if err != nil {
		return nil, err
	}
	return blob.Verify(r, h, "entry "+f.Name), nil
}

// Get implements blob.Store. It is asked for texts, so it refuses what no text
// can be.
func (a *archive) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	r, err := a.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if n := a.blobs[h].UncompressedSize64; n > uint64(a.lim.text) {
		return nil, fmt.Errorf("entry %s: a text of %d bytes, more than %d", blobPath(h), n, a.lim.text)
	}
	return io.ReadAll(r)
}

// Has implements blob.Store.
func (a *archive) Has(_ context.Context, h event.Hash) (bool, error) { return a.blobs[h] != nil, nil }

var errReadOnly = errors.New("a crate cannot be written to")

// Put implements blob.Store.
func (a *archive) Put(context.Context, []byte) (event.Ref, error) { return event.Ref{}, errReadOnly }

// Create implements blob.Store.
func (a *archive) Create(context.Context, io.Reader) (event.Ref, error) {
	return event.Ref{}, errReadOnly
}

// openEntry reads the content of an entry. It never yields more bytes than the
// header says; archive/zip sees to that, and to the entry's checksum.
func openEntry(ctx context.Context, f *zip.File) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", f.Name, err)
	}
	return &entryReader{blob.Interruptible(ctx, r), r, f.Name}, nil
}

// entryReader says in its errors where it was reading.
type entryReader struct {
	io.Reader
	io.Closer
	name string
}

func (r *entryReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("entry %s: %w", r.name, err)
	}
	return n, err
}

// metered bounds how much of a file is read, so that a zip which is one long
// list of entries does not become a list in memory.
type metered struct {
	r    io.ReaderAt
	left atomic.Int64
}

func (m *metered) ReadAt(p []byte, off int64) (int, error) {
	if m.left.Add(-int64(len(p))) < 0 {
		return 0, errors.New("its list of entries is too long")
	}
	return m.r.ReadAt(p, off)
}
