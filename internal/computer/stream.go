package computer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lyceum/internal/computer/link"
)

// A command's three streams are bytes that have places, counted from 0 and the same for
// every Lyceum that comes to the command. Whoever speaks with a program notes how far
// they are, and goes on from there after a crash: reading at a place gives the same
// bytes again, and writing at a place what was written there before changes nothing.

// ReadAt fills p with what a command wrote to a stream, from an offset on. It waits
// until there is at least one byte. Behind the last one of a command that has ended
// there is io.EOF, and further on ErrGap: what was there was lost with the computer.
func (c *Computer) ReadAt(ctx context.Context, id string, s Stream, offset int64, p []byte) (int, error) {
	if offset < 0 || s != Stdout && s != Stderr {
		return 0, fmt.Errorf("a command has no stream %d with an offset %d", s, offset)
	}
	k, err := c.known(ctx, id)
	if err != nil || len(p) == 0 {
		return 0, err
	}
	for {
		n, changed, err := k.readAt(s, offset, p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// readAt returns what there is now, or what is closed when there is more.
func (k *capture) readAt(which Stream, offset int64, p []byte) (n int, changed <-chan struct{}, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if which == Stdout && offset > k.had {
		k.had = offset
		k.acknowledge(Stdout)
	}
	s := &k.streams[which-1]
	switch {
	case offset < s.size:
		if n = s.copyAt(offset, p); n == 0 {
			// All that is not in memory is in the log: see stream.add and logFile.add.
			n, err = k.log.readAt(which, offset, p)
		}
		if n == 0 && err == nil {
			err = fmt.Errorf("the log of the command %s has no byte %d of its %s", k.head.ID, offset, which)
		}
		return n, nil, err
	case k.err != nil:
		if k.exit == nil {
			return 0, nil, errors.Join(ErrStopped, k.err)
		}
		return 0, nil, k.err
	case k.exit != nil && offset == s.size:
		return 0, nil, io.EOF
	case k.exit != nil:
		return 0, nil, fmt.Errorf("%w: the command's %s ended at %d, before %d", ErrGap, which, s.size, offset)
	}
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	return 0, k.changed, nil
}

// copyAt copies what stands at an offset, as far as it is in memory.
func (s *stream) copyAt(offset int64, p []byte) int {
	if offset < int64(len(s.head)) {
		return copy(p, s.head[offset:])
	}
	if begin := s.size - int64(len(s.tail)); offset >= begin {
		return copy(p, s.tail[offset-begin:])
	}
	return 0
}

// stir tells whoever waits that there is more. mu is held.
func (k *capture) stir() {
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
}

// acknowledge tells the helper what it need not keep: what is in the log, and no more
// than the reader may be behind. What it keeps, the command cannot write more of. mu is
// held.
func (k *capture) acknowledge(which Stream) {
	if k.conn == nil || k.log == nil || k.exit != nil {
		return
	}
	s := &k.streams[which-1]
	safe := s.size - int64(len(s.pending))
	if which == Stdout && k.head.Ahead > 0 {
		safe = min(safe, k.had+k.head.Ahead)
	}
	// Whoever is gone need not be told.
	_ = link.WriteAck(k.conn, link.Kind(which), safe)
}

// unbind lets a command's output come, however far behind its reader is: it is to end.
func (k *capture) unbind() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.head.Ahead > 0 {
		k.head.Ahead = 0
		k.acknowledge(Stdout)
	}
}

// Follow reads a stream of a command from an offset on, until the command has ended or
// ctx has.
func (c *Computer) Follow(ctx context.Context, id string, s Stream, offset int64) *Following {
	return &Following{c: c, ctx: ctx, id: id, stream: s, offset: offset}
}

// Following is a stream that is read. One goroutine at a time may use it.
type Following struct {
	c      *Computer
	ctx    context.Context
	id     string
	stream Stream
	offset int64
}

// Offset is where the next byte stands. Who begins there again misses nothing.
func (f *Following) Offset() int64 { return f.offset }

// Read implements io.Reader.
func (f *Following) Read(p []byte) (int, error) {
	n, err := f.c.ReadAt(f.ctx, f.id, f.stream, f.offset, p)
	f.offset += int64(n)
	return n, err
}

// WriteAt gives a command what it reads at an offset of its input, and waits until the
// command has room for it. What stands there already is not written again, so whoever
// does not know how far they came says all of it once more; it must be the same bytes.
// An offset behind the end is refused with ErrGap. end says that nothing more comes. A
// command that has ended takes nothing, and what it took nobody knows: Wait tells how it
// ended.
//
// It returns how far the input is, as far as that is known, also with an error; nil at
// 0 asks for just that. What a command was started with, its Stdin, counts. Of several
// who write at the same time, the later may be refused.
func (c *Computer) WriteAt(ctx context.Context, id string, offset int64, data []byte, end bool) (int64, error) {
	if offset < 0 {
		return 0, fmt.Errorf("a command's input has no offset %d", offset)
	}
	if c.report.Version < link.Version {
		return 0, ErrEarlier
	}
	if k := c.ours(id); k != nil {
		if err := k.isFed(ctx); err != nil {
			return 0, err
		}
	}
	a, err := c.put(ctx, link.Request{Op: link.OpFeed, ID: id, At: offset, End: end, Patient: true}, data)
	taken := min(max(a.Taken, 0), 1<<62)
	if want := offset + int64(len(data)); err == nil && taken < want {
		err = fmt.Errorf("the helper says that it has input up to %d, and took it up to %d", want, taken)
	}
	return taken, err
}
