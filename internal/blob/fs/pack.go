package fs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// Large blobs are stored plain, for whoever stores them waits, and packed beside that. Each
// has a mark, an empty file in the folder marks, from before it gets its name until it is
// packed or has turned out not to pack. So what a process leaves undone, the next finds. A
// mark that is lost, in a power cut say, costs room and nothing else.
//
// A blob is packed as one is put: written under a temporary name, read back and summed up,
// flushed, renamed, its folder flushed. Only then the plain file goes. Whoever is killed on
// the way leaves the plain file, or both. Whoever has the plain file open reads on.
const (
	marks    = "todo"
	packFile = ".pack" // held alone by whoever packs a blob: one process at a time
)

const (
	// samples is how many frames of a long blob are packed to find out whether it pays.
	samples = 16
	// quiet is for how long nobody must have written before a blob is packed, patience how
	// long the packer waits for that.
	quiet    = 200 * time.Millisecond
	patience = time.Minute
	// rivals is how long the packer waits while another process packs.
	rivals = 5 * time.Second
)

// errNoGain says that a blob takes as much room packed.
var errNoGain = errors.New("packing does not pay")

// errGiveWay says that somebody needs the store who cannot wait for a blob to be packed.
var errGiveWay = errors.New("packing gives way")

// mark notes that a blob is to be packed. Where that fails, it stays plain.
func (s *Store) mark(h event.Hash) {
	f, err := os.OpenFile(filepath.Join(s.dir, marks, h.String()), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_ = f.Close()
	}
}

// marked reports whether anything is to be packed.
func (s *Store) marked() bool {
	dir, err := os.Open(filepath.Join(s.dir, marks))
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

// Pack packs every blob that is still to be packed, and returns when that is done. It gets
// blob.ErrBusy while another process packs, and a *blob.FullError where the disk has no room
// for the packed form beside the plain one. Blobs that cannot be packed stay as they are.
func (s *Store) Pack(ctx context.Context) error {
	s.pace.wanted.Add(1) // the packer leaves it to us
	defer s.pace.wanted.Add(-1)
	if err := s.packMarked(ctx, func() wait { return context.Context.Err }); err != nil {
		return fmt.Errorf("pack blobs of %s: %w", s.dir, err)
	}
	return nil
}

// wait is called before each piece of work, and may take its time.
type wait func(context.Context) error

// packMarked packs what is marked, each blob with a wait of its own.
func (s *Store) packMarked(ctx context.Context, each func() wait) error {
	if s.isClosed() {
		return ErrClosed
	}
	dir, err := os.Open(filepath.Join(s.dir, marks))
	if err != nil {
		return err
	}
	defer dir.Close()
	var failed error // the last one: there may be many
	for {
		names, err := dir.Readdirnames(256)
		if errors.Is(err, io.EOF) {
			return failed
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			h, err := event.ParseHash(name)
			if err != nil {
				continue // not ours
			}
			err = s.packMark(ctx, h, each())
			if ctx.Err() != nil || blob.Full(err) || errors.Is(err, ErrClosed) || errors.Is(err, errGiveWay) || errors.Is(err, blob.ErrBusy) {
				return err
			}
			if err != nil {
				failed = err
			}
		}
	}
}

func (s *Store) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

// packMark packs a blob and takes its mark away.
func (s *Store) packMark(ctx context.Context, h event.Hash, calm wait) error {
	if err := calm(ctx); err != nil {
		return err
	}
	s.packing.Lock()
	defer s.packing.Unlock()
	if s.isClosed() { // which cannot change while packing is held
		return ErrClosed
	}
	lock, err := openLock(s.dir, packFile)
	if err != nil {
		return err
	}
	if err := flock(lock, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() { _ = release(lock) }()
	err = s.packOne(ctx, h, calm)
	var damage *blob.DamageError
	if err != nil && !errors.Is(err, errNoGain) && !errors.As(err, &damage) {
		return err
	}
	return removeIfThere(filepath.Join(s.dir, marks, h.String()))
}

// packOne puts a packed blob in the place of a plain one.
func (s *Store) packOne(ctx context.Context, h event.Hash, calm wait) error {
	f, tight, err := s.find(h)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil // collected
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if tight {
		return nil // by another
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !promising(f, info.Size()) {
		return errNoGain
	}
	room := taken(info)
	// Whoever put the blob has paid for it.
	free := blob.WithSpend(ctx, func(int64) error { return nil })
	return s.write(free, func(d *draft) (event.Ref, error) {
		d.most = room
		ref, err := d.one(&paced{ctx, f, calm})
		switch {
		case err != nil:
			return event.Ref{}, err
		case ref.Hash != h:
			return event.Ref{}, &blob.DamageError{Hash: h, Where: f.Name()}
		case !pays(d.written, room):
			return event.Ref{}, errNoGain
		}
		return ref, d.proof(ref, func(r io.Reader) io.Reader { return &paced{ctx, r, calm} })
	})
}

// one packs what r yields, a frame at a time, whatever else goes on.
func (d *draft) one(r io.Reader) (event.Ref, error) {
	first := make([]byte, frameSize)
	n, err := io.ReadFull(r, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return event.Ref{}, err
	}
	return d.frames(first[:n], r, 1)
}

// proof reads a packed draft back. The plain file goes for it, so nobody's word is taken.
func (d *draft) proof(ref event.Ref, through func(io.Reader) io.Reader) error {
	f, err := os.Open(d.f.Name())
	if err != nil {
		return err
	}
	bad := &blob.DamageError{Hash: ref.Hash, Where: f.Name()}
	in, err := newUnpacker(f, 0, bad)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, through(in)); err != nil {
		return err
	}
	if event.Hash(sum.Sum(nil)) != ref.Hash {
		return bad
	}
	return nil
}

// promising packs a few frames of a long blob: one that does not pack is not written a
// second time to find that out.
func promising(f *os.File, size int64) bool {
	frames := size / frameSize
	if frames <= samples {
		return size > blob.Block
	}
	var plain, tight int
	in, out := make([]byte, frameSize), []byte(nil)
	for i := range int64(samples) {
		n, err := f.ReadAt(in, frames*i/samples*frameSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return true // whoever reads it all will say
		}
		out = coder().EncodeAll(in[:n], out[:0])
		plain, tight = plain+n, tight+len(out)
	}
	return tight < plain-plain/16
}

// paced is a reader that waits before it reads.
type paced struct {
	ctx  context.Context
	in   io.Reader
	calm wait
}

func (p *paced) Read(b []byte) (int, error) {
	if err := p.calm(p.ctx); err != nil {
		return 0, err
	}
	return p.in.Read(b)
}

// pace tells when nobody writes. A snapshot is many writes with gaps between them, and the
// packer is not to slip into those.
type pace struct {
	quiet    time.Duration // for so long nobody must have written
	patience time.Duration // for so long the packer waits for that, for each blob
	under    atomic.Int64  // writes under way
	ended    atomic.Int64  // how many there were
	seen     atomic.Int64  // how many of those were before the last quiet
	wanted   atomic.Int64  // how many want that nothing is packed
}

// begin notes that a write is under way, until end is called.
func (p *pace) begin() (end func()) {
	p.under.Add(1)
	return func() {
		p.ended.Add(1)
		p.under.Add(-1)
	}
}

// calm reports whether nobody has written since it was quiet.
func (p *pace) calm() bool { return p.under.Load() == 0 && p.ended.Load() == p.seen.Load() }

// waiter returns what waits until nobody writes. It has patience for one blob: in a store
// that is never quiet, blobs are packed all the same, slowly.
func (p *pace) waiter() wait {
	left := p.patience
	return func(ctx context.Context) error {
		for !p.calm() && left > 0 && p.wanted.Load() == 0 {
			before, pause := p.ended.Load(), max(p.quiet, time.Millisecond)
			if err := rest(ctx, pause); err != nil {
				return err
			}
			left -= pause
			p.seen.Store(before)
		}
		if p.wanted.Load() > 0 {
			return errGiveWay
		}
		return ctx.Err()
	}
}

// rest waits, at most as long as its context.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// press is the packer of a store: a goroutine that begins with the first mark and ends with
// the store.
type press struct {
	ctx   context.Context
	stop  context.CancelFunc
	news  chan struct{} // something was marked
	start sync.Once
	work  sync.WaitGroup
	used  atomic.Bool // this store has marked something
}

// nudge says that something was marked.
func (p *press) nudge(s *Store) {
	p.start.Do(func() { p.work.Go(func() { s.attend(p.ctx) }) })
	select {
	case p.news <- struct{}{}:
	default: // it knows already
	}
}

// end stops the packer, in the middle of a blob if need be, and waits for that.
func (p *press) end() {
	if p.stop == nil {
		return // of a store that is only read
	}
	p.start.Do(func() {}) // nor does it begin any more
	p.stop()
	p.work.Wait()
}

// attend packs what is marked, whenever nobody writes. A blob that cannot be packed keeps
// its mark, for the next time that something is marked or the store is opened.
func (s *Store) attend(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.press.news:
		}
		for again := true; again; {
			err := s.packMarked(ctx, s.pace.waiter)
			switch {
			case errors.Is(err, blob.ErrBusy):
				// That process may have looked for marks before ours was made.
				_ = rest(ctx, rivals)
			case errors.Is(err, errGiveWay):
				_ = rest(ctx, s.pace.quiet)
			default:
				again = false
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// parting is how long Close packs at most.
const parting = time.Second

// farewell packs what this store has put and nobody has packed yet, as long as one may wait
// for that.
func (s *Store) farewell() {
	if !s.press.used.Load() {
		return
	}
	// Whoever closes the store has no context left.
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	_ = s.Pack(ctx) // what is left keeps its mark
}
