package helper

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"lyceum/internal/computer/link"
)

var errUnknown = errors.New("no such command")

// command is one that was started. mu guards what is below it.
type command struct {
	id      string
	spec    link.Command
	pid     int
	mark    uint64
	started time.Time
	input   *os.File // the end to write to, nil if the command has no input
	tty     *os.File // the terminal's master side, if it has one
	// feeding holds one token: whoever has it may write to the input. Only they add to
	// taken.
	feeding chan struct{}

	mu      sync.Mutex
	taken   int64 // bytes that were written to the input
	fed     bool  // nothing more will be
	streams [2]spool
	changed chan struct{}
	end     string // why it is being killed
	met     string
	gone    bool // its first process is gone
	exit    *link.Exit
	timer   *time.Timer
	owner   net.Conn // the connection it belongs to, and its turn
	turn    uint64
}

func (c *command) stir() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// run starts a command for its owner, or finds the one that has its id.
func (h *helper) run(q *link.Request, owner net.Conn, turn uint64) (*command, bool, error) {
	if q.Command == nil || len(q.Command.Args) == 0 {
		return nil, false, errors.New("there is nothing to run")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.lookup(q.ID); c != nil {
		return c, true, nil
	}
	if turn < h.since {
		// Whoever asked has died, and the one that came after was told that there is no such
		// command.
		return nil, false, errors.New("another Lyceum has come since")
	}
	if len(h.commands) >= link.MaxKnown {
		return nil, false, fmt.Errorf("the computer has %d commands already; end and forget some first", link.MaxKnown)
	}
	c := &command{id: q.ID, spec: *q.Command, changed: make(chan struct{}), feeding: make(chan struct{}, 1), started: now(), owner: owner, turn: turn}
	if err := h.launch(c); err != nil {
		return nil, false, err
	}
	h.commands = append(h.commands, c)
	limit := h.config.Wall
	if t := c.spec.Timeout; t > 0 && (limit == 0 || t < limit) {
		limit = t
	}
	if limit > 0 {
		c.timer = time.AfterFunc(time.Duration(limit)*time.Millisecond, func() { h.kill(c, "wall time") })
	}
	h.stir()
	return c, false, nil
}

// lookup finds a command by its id. mu is held.
func (h *helper) lookup(id string) *command {
	for _, c := range h.commands {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (h *helper) find(id string) (*command, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.lookup(id); c != nil {
		return c, nil
	}
	return nil, errUnknown
}

// running lists the commands whose first process is there. mu is held.
func (h *helper) running() (out []*command) {
	for _, c := range h.commands {
		c.mu.Lock()
		if !c.gone {
			out = append(out, c)
		}
		c.mu.Unlock()
	}
	return out
}

func (h *helper) list() []link.Known {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []link.Known{}
	for _, c := range h.commands {
		out = append(out, c.known())
	}
	return out
}

// known is what can be told of a command. What it was called with is for people to
// read: a list of many long ones must still fit into a frame.
func (c *command) known() link.Known {
	c.mu.Lock()
	k := link.Known{ID: c.id, Started: c.started.UnixMilli(), Keep: c.spec.Keep, Exit: c.exit}
	c.mu.Unlock()
	room := link.MaxFrame / 2 / link.MaxKnown
	for _, a := range c.spec.Args {
		// A byte may take six in JSON.
		if most := max(room, 0) / 6; len(a) > most || room <= 0 {
			k.Args = append(k.Args, strings.ToValidUTF8(a[:min(most, len(a))], ""))
			break
		}
		k.Args = append(k.Args, a)
		room -= 6*len(a) + 3
	}
	return k
}

// about is the answer to whoever gets a command. There may be none.
func (c *command) about(attached bool) link.Answer {
	if c == nil || !attached {
		return link.Answer{}
	}
	return link.Answer{Attached: true, Known: []link.Known{c.known()}}
}

// forget drops a command that has ended.
func (h *helper) forget(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range h.commands {
		if c.id != id {
			continue
		}
		c.mu.Lock()
		ended := c.exit != nil
		c.mu.Unlock()
		if !ended {
			return errors.New("the command is still running")
		}
		h.commands = append(h.commands[:i], h.commands[i+1:]...)
		h.stir()
		return nil
	}
	return errUnknown
}

func (h *helper) killID(id string) error {
	c, err := h.find(id)
	if err != nil {
		return err
	}
	h.kill(c, "killed")
	return nil
}

// kill ends a command and all it started. The first reason given is the one that
// is told.
func (h *helper) kill(c *command, why string) {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return
	}
	if c.end == "" {
		c.end = why
	}
	c.mu.Unlock()
	// A first process that gave itself another command's mark is found by its number.
	// It is not yet another's: reap takes it off under the lock.
	h.mu.Lock()
	if c.pid > 0 {
		_ = syscall.Kill(c.pid, syscall.SIGKILL)
	}
	h.mu.Unlock()
	h.killMarked(func(mark uint64) bool { return mark == c.mark || h.nobodys(mark) })
}

// ended is called once a command's first process is gone: what it left behind
// goes too, and then its streams come to an end.
func (h *helper) ended(c *command, status syscall.WaitStatus) {
	took := now().Sub(c.started)
	if c.timer != nil {
		c.timer.Stop()
	}
	crowded := h.crowded()
	c.mu.Lock()
	c.gone = true
	if crowded && c.met == "" {
		c.met = "processes"
	}
	c.mu.Unlock()
	h.killLeftovers()
	h.sweep()
	c.drain(time.Second)
	x := &link.Exit{Code: status.ExitStatus(), Duration: took.Microseconds()}
	if status.Signaled() {
		x.Code, x.Signal = 128+int(status.Signal()), signalName(status.Signal())
	}
	if c.input != nil {
		c.input.Close()
	}
	full := x.Code != 0 && h.ranFull()
	c.mu.Lock()
	x.End, x.Met = c.end, c.met
	if x.Met == "" && (full || x.Signal == "SIGXFSZ") {
		x.Met = "disk"
	}
	x.Out, x.Err = c.streams[0].end(), c.streams[1].end()
	c.exit = x
	c.stir()
	c.mu.Unlock() // never held while the helper's is taken
	h.mu.Lock()
	h.stir()
	h.mu.Unlock()
}

// drain waits until the streams have ended. Somebody of another command may hold
// them open; that is not waited for.
func (c *command) drain(limit time.Duration) {
	late := time.After(limit)
	for {
		c.mu.Lock()
		full := c.streams[0].room() == 0 || c.streams[1].room() == 0
		done, changed := c.streams[0].closed && c.streams[1].closed, c.changed
		c.mu.Unlock()
		if done {
			return
		}
		if full {
			// Lyceum is slow or away. What the command wrote is not lost for that.
			<-changed
			late = time.After(limit)
			continue
		}
		select {
		case <-changed:
		case <-late:
			return
		}
	}
}

// pump reads one stream of a command into its spool.
func (c *command) pump(stream int, f *os.File) {
	defer f.Close()
	buf := make([]byte, 32<<10)
	for {
		c.mu.Lock()
		for c.streams[stream].room() == 0 && c.exit == nil {
			changed := c.changed
			c.mu.Unlock()
			<-changed
			c.mu.Lock()
		}
		room := min(c.streams[stream].room(), len(buf))
		over := c.exit != nil
		c.mu.Unlock()
		var n int
		err := error(os.ErrClosed)
		if !over {
			n, err = f.Read(buf[:room])
		}
		c.mu.Lock()
		if c.exit == nil {
			c.streams[stream].add(buf[:n])
		}
		c.streams[stream].closed = err != nil
		c.stir()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// attach makes a connection the owner of a command, and sends it what the command
// writes until it has ended. If there is another owner, that one has died and we
// have not heard of it yet.
func (h *helper) attach(c *command, conn net.Conn, r *link.Reader, turn uint64, out, errs int64) {
	c.mu.Lock()
	if turn < c.turn {
		// It is we who are late, and somebody else has it already.
		c.mu.Unlock()
		return
	}
	before := c.owner
	c.owner, c.turn = conn, turn
	c.mu.Unlock()
	if before != nil && before != conn {
		before.Close()
		h.abandon(c)
	}
	h.follow(c, conn, r, out, errs)
}

// abandon ends a command whose owner is gone, if it is not one to be kept.
func (h *helper) abandon(c *command) {
	if !c.spec.Keep {
		h.kill(c, "abandoned")
	}
}

// follow sends the owner what the command writes. Another may take its place at any
// time.
func (h *helper) follow(c *command, conn net.Conn, r *link.Reader, out, errs int64) {
	c.mu.Lock()
	c.streams[0].ack(out)
	c.streams[1].ack(errs)
	c.stir()
	c.mu.Unlock()
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.acknowledge(r)
	}()
	err := c.send(conn, left, [2]int64{out, errs})
	c.mu.Lock()
	mine := c.owner == conn
	if mine {
		c.owner = nil
	}
	ended := c.exit != nil
	c.mu.Unlock()
	if err != nil && mine && !ended {
		h.abandon(c)
	}
}

// acknowledge takes what the owner says, until it has left.
func (c *command) acknowledge(r *link.Reader) {
	for {
		k, b, err := r.Next()
		if err != nil {
			return
		}
		switch k {
		case link.KindAck:
			stream, offset, err := link.Ack(b)
			if err != nil || stream != link.KindStdout && stream != link.KindStderr {
				return
			}
			c.mu.Lock()
			c.streams[stream-1].ack(offset)
			c.stir()
			c.mu.Unlock()
		case link.KindInput:
			if c.input != nil {
				_, _ = c.put(b, -1, true)
			}
		case link.KindResize:
			c.resize(b)
		}
	}
}

var errLeft = errors.New("the owner has left")

// send passes on what the command writes. It returns nil once it has told how the
// command ended.
func (c *command) send(conn net.Conn, left <-chan struct{}, at [2]int64) error {
	buf := make([]byte, 0, link.MaxData)
	stream := 0
	for {
		c.mu.Lock()
		var data []byte
		// The streams take turns, or one that never ends would hold up the other.
		for range c.streams {
			stream = 1 - stream
			s := &c.streams[stream]
			at[stream] = max(at[stream], s.base)
			if data = s.from(at[stream], buf); len(data) > 0 {
				break
			}
		}
		exit, changed, mine := c.exit, c.changed, c.owner == conn
		c.mu.Unlock()
		switch {
		case !mine:
			return errLeft
		case len(data) > 0:
			if err := link.WriteData(conn, link.Kind(stream+1), at[stream], data); err != nil {
				return err
			}
			at[stream] += int64(len(data))
		case exit != nil:
			return link.WriteJSON(conn, link.KindExit, exit)
		default:
			select {
			case <-changed:
			case <-left:
				return errLeft
			}
		}
	}
}
