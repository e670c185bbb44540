package computer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/computer/link"
	"lyceum/internal/plain"
)

// maxPending is how much of a command's output is kept in memory before it gets a
// log. Most commands never need one; until then the helper keeps it as well.
const maxPending = 128 << 10

// capture takes what one command writes. mu guards what is below it.
type capture struct {
	c        *Computer
	head     logHead
	keep     bool
	conn     net.Conn
	attached bool
	before   Meters // what had been met when it began
	// fed is closed when the command has what it was to read first.
	fed  atomic.Pointer[chan struct{}]
	done chan struct{}

	mu      sync.Mutex
	streams [2]stream
	changed chan struct{} // closed when there is more; nil if nobody waits
	had     int64         // bytes of stdout that a reader has
	log     *logFile
	exit    *link.Exit
	err     error
	flooded bool
}

// stream is what is known of one of a command's outputs.
type stream struct {
	pending []byte // not in the log, if there is one
	size    int64  // bytes so far, pending included
	head    []byte
	tail    []byte // the last bytes after the head, at least MaxTail of them
}

func (s *stream) add(b []byte) {
	s.size += int64(len(b))
	n := min(len(b), MaxHead-len(s.head))
	s.head = append(s.head, b[:n]...)
	s.tail = append(s.tail, b[n:]...)
	if extra := len(s.tail) - MaxTail; extra > MaxTail {
		s.tail = append(s.tail[:0], s.tail[extra:]...)
	}
}

// newCapture prepares to take a command's output, going on with its log if an
// earlier Lyceum had begun one.
func newCapture(c *Computer, q link.Request, ahead int64) (*capture, error) {
	k := &capture{c: c, done: make(chan struct{}), head: logHead{ID: q.ID, Started: now().UnixMilli()}}
	if q.Command != nil {
		k.head.Args, k.keep, k.before = q.Command.Args, q.Command.Keep, c.meters()
		k.head.Ahead = ahead
	}
	l, err := openLog(c.logPath(q.ID), true, func(s Stream, b []byte) { k.streams[s-1].add(b) })
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	k.log, k.head, k.keep = l, l.head, true
	return k, nil
}

// recognize takes what the helper knows of a command that an earlier Lyceum
// started and that has no log.
func (k *capture) recognize(a link.Answer) {
	if !a.Attached || len(a.Known) != 1 || k.log != nil {
		return
	}
	n := a.Known[0]
	for room, i := 8<<10, 0; i < len(n.Args); i++ {
		if room -= len(n.Args[i]) + 1; room < 0 {
			n.Args = n.Args[:i]
		}
	}
	k.head.Args, k.head.Started, k.keep = n.Args, n.Started, n.Keep
}

// safe is how far the streams are in the log.
func (k *capture) safe() (out, errs int64) { return k.streams[0].size, k.streams[1].size }

func (c *Computer) logPath(id string) string { return filepath.Join(c.place.Dir, "log", id) }

// isFed waits until the command has read what it was given at its start, or has
// ended, or the next would be read before it.
func (k *capture) isFed(ctx context.Context) error {
	fed := k.fed.Load()
	if fed == nil {
		return nil
	}
	select {
	case <-*fed:
	case <-k.done:
	case <-ctx.Done():
		return fmt.Errorf("the command has not read yet what it was given at its start: %w", ctx.Err())
	}
	return nil
}

// take reads what the helper sends until the command has ended.
func (k *capture) take(r *link.Reader) {
	defer close(k.done)
	defer k.conn.Close()
	for {
		kind, b, err := r.Next()
		k.mu.Lock()
		over := false
		if err != nil {
			k.lost()
			over = true
		} else if over, err = k.frame(kind, b); err != nil {
			k.err, over = err, true
		}
		k.stir()
		k.mu.Unlock()
		if over {
			return
		}
	}
}

// lost is called when the helper is gone. If it is not we who left, the computer
// has ended, and the command with it.
func (k *capture) lost() {
	k.c.mu.Lock()
	left := k.c.down
	k.c.mu.Unlock()
	if left {
		k.err = ErrStopped
		return
	}
	x := &link.Exit{Code: -1, End: EndStopped, Duration: max(now().UnixMilli()-k.head.Started, 0) * 1000}
	k.err = k.end(x)
}

// frame takes in one message. What cannot be true ends the capture.
func (k *capture) frame(kind link.Kind, b []byte) (over bool, err error) {
	switch kind {
	case link.KindStdout, link.KindStderr:
		s := &k.streams[kind-1]
		at, data, err := link.Data(b)
		if err != nil || at != s.size {
			return true, errors.Join(fmt.Errorf("the helper sent output at %d instead of %d", at, s.size), err)
		}
		s.add(data)
		s.pending = append(s.pending, data...)
		if k.log == nil && (k.keep || len(k.streams[0].pending)+len(k.streams[1].pending) > maxPending) {
			if err := k.startLog(); err != nil {
				return true, err
			}
		}
		return false, k.flush(false)
	case link.KindExit:
		x, err := parseExit(b)
		if err != nil {
			return true, err
		}
		if x.Out != k.streams[0].size || x.Err != k.streams[1].size {
			return true, fmt.Errorf("the helper sent %d and %d bytes of output and says it was %d and %d", k.streams[0].size, k.streams[1].size, x.Out, x.Err)
		}
		return true, k.end(x)
	}
	return true, fmt.Errorf("the helper sent a frame of kind %q", kind)
}

func (k *capture) startLog() (err error) {
	k.log, err = createLog(k.c.logPath(k.head.ID), k.head)
	return err
}

// flush writes whole lines to the log, and tells the helper that they are safe.
func (k *capture) flush(last bool) error {
	if k.log == nil {
		return nil
	}
	before := k.log.size
	defer func() { k.c.grew(k.log.size - before) }()
	for i := range k.streams {
		s := &k.streams[i]
		n, err := k.log.add(Stream(i+1), s.pending, last)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		s.pending = append(s.pending[:0], s.pending[n:]...)
		k.acknowledge(Stream(i + 1))
	}
	limit := k.c.saved.Fingerprint.Limits.Disk
	if k.log.size > limit && !k.flooded {
		k.flooded = true
		k.c.spawn(func() { _ = k.c.Kill(k.c.ctx, k.head.ID) })
	}
	if k.log.size > limit+limit/8+afterFlood {
		return errors.New("the command was killed for writing too much, and the helper goes on sending")
	}
	return nil
}

// afterFlood is how much may still come of a command that is being killed.
const afterFlood = 16 << 20

func (k *capture) end(x *link.Exit) error {
	if k.log != nil && k.log.exit != nil {
		// An earlier Lyceum came as far as this. What it wrote down stays.
		k.exit = k.log.exit
		_ = k.log.close()
	} else {
		k.judge(x)
		k.exit = x
		if err := k.flush(true); err != nil || k.log == nil {
			return err
		}
		if err := k.log.finish(x); err != nil {
			return err
		}
	}
	// The log has it all. The helper need not keep it too, nor the computer stay up
	// for it, so this is not given up when the computer is let go of.
	k.c.spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(k.c.ctx), time.Second)
		defer cancel()
		_, _ = k.c.tell(ctx, link.Request{Op: link.OpForget, ID: k.head.ID})
	})
	return nil
}

// judge names the limit that a command which did not end well has met while it ran.
func (k *capture) judge(x *link.Exit) {
	if k.flooded {
		x.End = EndDisk
	}
	if x.Code == 0 || x.Met != "" {
		return
	}
	now := k.c.meters()
	switch memory := now.Memory > k.before.Memory; {
	case memory && x.End == "" && x.Signal == "SIGKILL":
		x.End = EndMemory
	case memory:
		x.Met = EndMemory
	case now.Processes > k.before.Processes:
		x.Met = EndProcesses
	}
}

// result is how the command ended. done is closed.
func (k *capture) result() (*Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.exit == nil {
		return nil, errors.Join(ErrStopped, k.err)
	}
	if k.err != nil {
		return nil, k.err
	}
	x := k.exit
	return &Result{
		ID: k.head.ID, Exit: x.Code, Signal: x.Signal, End: x.End, Met: x.Met,
		Duration: time.Duration(x.Duration) * time.Microsecond, Stdout: k.output(Stdout), Stderr: k.output(Stderr),
	}, nil
}

func (k *capture) output(which Stream) Output {
	s := &k.streams[which-1]
	tail := s.tail[max(len(s.tail)-MaxTail, 0):]
	o := Output{Head: slices.Clone(s.head), Tail: slices.Clone(tail), Size: s.size}
	if k.log == nil {
		whole := slices.Concat(s.head, s.tail)
		o.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
	} else {
		log := k.log
		o.open = func() (io.ReadCloser, error) {
			k.mu.Lock()
			defer k.mu.Unlock()
			return log.open(which)
		}
	}
	return o
}

// Read returns lines of a command's log from line from on, at most limit of them. A
// negative from counts from the end.
func (c *Computer) Read(ctx context.Context, id string, from int64, limit int) (*Lines, error) {
	k, err := c.known(ctx, id)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log == nil {
		if err := k.startLog(); err != nil {
			return nil, err
		}
		if err := k.flush(k.exit != nil); err != nil {
			return nil, err
		}
		if k.exit != nil {
			if err := k.log.finish(k.exit); err != nil {
				return nil, err
			}
		}
	}
	out := &Lines{Process: k.process(), Partial: map[Stream][]byte{}}
	if out.Lines, err = k.log.read(from, limit); err != nil {
		return nil, err
	}
	out.Next = k.log.last + 1
	if n := len(out.Lines); n > 0 {
		out.Next = out.Lines[n-1].Seq + 1
	} else if from > 0 {
		out.Next = max(from, 1)
	}
	for i := range k.streams {
		if p := k.streams[i].pending; len(p) > 0 {
			out.Partial[Stream(i+1)] = slices.Clone(p)
		}
	}
	return out, nil
}

// process is how the command stands. mu is held.
func (k *capture) process() Process {
	p := Process{ID: k.head.ID, Args: k.head.Args, Running: true, Started: time.UnixMilli(k.head.Started)}
	if k.log != nil {
		p.Lines = k.log.last
	}
	if k.exit != nil {
		p.ended(k.exit)
	}
	return p
}

func (k *capture) lines() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log != nil {
		return k.log.last
	}
	return int64(bytes.Count(k.streams[0].pending, []byte{'\n'}) + bytes.Count(k.streams[1].pending, []byte{'\n'}))
}

func (k *capture) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log != nil {
		_ = k.log.close()
	}
}

// fromLog finds a command that no helper knows any more by its log. If it had not
// ended when its computer did, it ended then.
func (c *Computer) fromLog(id string) (*capture, error) {
	k, err := newCapture(c, link.Request{ID: id}, 0)
	if err != nil {
		return nil, err
	}
	if k.log == nil {
		return nil, ErrUnknown
	}
	if k.exit = k.log.exit; k.exit != nil {
		_ = k.log.close()
	} else {
		k.exit = &link.Exit{Code: -1, End: EndStopped}
		if err := k.log.finish(k.exit); err != nil {
			k.close()
			return nil, err
		}
	}
	close(k.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.captures[id] = k
	return k, nil
}

// parseExit reads how a command ended, and lets nothing pass that cannot be.
func parseExit(b []byte) (*link.Exit, error) {
	x := new(link.Exit)
	if err := json.Unmarshal(b, x); err != nil {
		return nil, fmt.Errorf("the helper's word on how a command ended: %w", err)
	}
	x.Signal, x.End, x.Met = plain.Quoted(x.Signal, 20), endWord(x.End), endWord(x.Met)
	x.Code, x.Duration = min(max(x.Code, -1), 255), min(max(x.Duration, 0), 1<<50)
	return x, nil
}

// logged adds the commands of which there is only a log.
func (c *Computer) logged(ctx context.Context, out []Process, seen map[string]bool) ([]Process, error) {
	names, err := os.ReadDir(filepath.Join(c.place.Dir, "log"))
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if seen[n.Name()] || !ValidID(n.Name()) {
			continue
		}
		p, err := c.fromRecord(ctx, n.Name())
		if errors.Is(err, ErrUnknown) {
			continue // it was forgotten meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Process) int {
		return compareTime(a.Started, b.Started, a.ID, b.ID)
	})
	return out, nil
}

// fromRecord tells how a command stands that the helper did not know a moment ago.
// Of one that is over, nothing but this is kept in memory.
func (c *Computer) fromRecord(ctx context.Context, id string) (Process, error) {
	if c.ours(id) == nil {
		l, err := openLog(c.logPath(id), false, nil)
		if errors.Is(err, os.ErrNotExist) {
			return Process{}, ErrUnknown
		}
		if err != nil {
			return Process{}, err
		}
		defer l.f.Close()
		if l.exit != nil {
			return (&capture{head: l.head, log: l, exit: l.exit}).process(), nil
		}
	}
	// It may have begun since, so the helper is asked once more.
	k, err := c.known(ctx, id)
	if err != nil {
		return Process{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.process(), nil
}

func compareTime(a, b time.Time, ida, idb string) int {
	if n := a.Compare(b); n != 0 {
		return n
	}
	return strings.Compare(ida, idb)
}
