// Package helper is the first process inside a computer.
//
// It runs commands for Lyceum, which speaks to it over package link, and as pid 1
// it is father to all that they leave behind. It has no rights that the commands
// do not have; what protects it from them is that pid 1 gets no signal it does not
// handle, and that it cannot be traced or read (see package confine).
//
// A command ends when its first process ends, and everything it started ends with
// it, whatever sessions or parents those have taken. For this each command carries
// a mark that a process can neither drop nor copy from another: see mark.
//
// When Lyceum goes away without a word, commands that are not to be kept are
// killed at once. The others go on, and what they write waits in a window. A
// computer that nobody holds ends by itself.
package helper

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lyceum/internal/computer/cell"
	"lyceum/internal/computer/confine"
	"lyceum/internal/computer/link"

	"golang.org/x/sys/unix"
)

// Role is the name under which the Lyceum binary is the helper, and nothing else.
const Role = "lyceum-helper"

// Main is the helper. It returns the exit code of the whole computer.
func Main(args []string) int {
	if err := run(args); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		return 1
	}
	return 0
}

func run(args []string) error {
	if len(args) > 0 && args[0] == cell.Word {
		return cell.Main(args)
	}
	if len(args) != 1 {
		return errors.New("the helper of a computer is started by Lyceum, not by hand")
	}
	if os.Getpid() != 1 {
		// It ends whatever is no command's, which anywhere else is everything.
		return errors.New("the helper of a computer must be its first process")
	}
	var c link.Config
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	// First of all, for this starts the program once more.
	if c.CPUs > 0 {
		// Before that: afterwards nobody may any more.
		if err := pinTo(c.CPUs); err != nil {
			return err
		}
	}
	report, err := confine.Apply(confine.Options{Read: c.Read, Write: c.Write})
	if err != nil {
		return fmt.Errorf("confine the computer: %w", err)
	}
	// Every signal is taken and dropped: those that the language's runtime would die
	// of could be sent by anything inside.
	signal.Notify(make(chan os.Signal, 1))
	// The one we need has a channel of its own: no flood of others can drown it, and
	// one that waits stands for all that came meanwhile.
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	// A thread that waits for a process to start must not be the only one, and from
	// here on the number stays: changing it stops all.
	runtime.GOMAXPROCS(4)
	prepareThreads()
	if err := ignoreFaults(); err != nil {
		return err
	}
	// What was inherited is for this process alone.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keep inherited files to ourselves: %w", err)
	}
	listener, err := listener(c)
	if err != nil {
		return err
	}
	// It is left to the end of the process: whoever finds it gone looks for what was said.
	h := &helper{config: c, report: report, aside: lookAside(c), changed: make(chan struct{}), ports: map[string]*port{}}
	if err := h.openPorts(); err != nil {
		return err
	}
	if err := h.limit(); err != nil {
		return err
	}
	if err := mayWatch(c, "/proc"); err != nil {
		return err
	}
	go h.reap(children)
	go h.watch()
	go h.expire()
	return h.serve(listener)
}

// listener is the socket on which Lyceum is heard: inherited, or asked for.
func listener(c link.Config) (net.Listener, error) {
	var f *os.File
	if c.Bootstrap == "" {
		// Only if it is one: else the number is some other file's, and would be closed
		// with this one.
		f = os.NewFile(3, "listener")
	} else {
		var err error
		if f, err = fetchListener(c.Bootstrap); err != nil {
			return nil, fmt.Errorf("get the socket from Lyceum: %w", err)
		}
	}
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("listen for Lyceum: %w", err)
	}
	return l, nil
}

// fetchListener gets the socket over another one. A container cannot inherit it.
func fetchListener(path string) (*os.File, error) {
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	oob := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	syscall.CloseOnExec(fds[0])
	return os.NewFile(uintptr(fds[0]), "listener"), nil
}

// helper is the state of a computer. mu guards what is below it.
type helper struct {
	config link.Config
	report confine.Report
	ports  map[string]*port // they do not change once it serves
	aside  int              // a file by which the disk is seen past the home's own quota, or -1
	walk   atomic.Int64     // how long it took to look through the home, in nanoseconds

	mu       sync.Mutex
	commands []*command
	marks    uint64 // how many marks were given out
	holders  int    // connections that keep the computer up
	since    uint64 // the turn of the last Lyceum that came
	epoch    int64  // the highest that was heard of
	changed  chan struct{}
}

// stir tells whoever waits that something changed. mu is held.
func (h *helper) stir() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *helper) serve(l net.Listener) error {
	for turn := uint64(1); ; turn++ {
		c, err := accept(l)
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			h.handle(c, turn)
		}()
	}
}

// hold counts somebody who needs the computer, until release is called.
func (h *helper) hold() (release func()) {
	count := func(n int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.holders += n
		h.stir()
	}
	count(1)
	return func() { count(-1) }
}

// admit refuses whoever owned the quest before somebody that was here: a Lyceum that stood still for too long, and
// does not know it yet.
func (h *helper) admit(epoch int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if epoch != 0 && epoch < h.epoch {
		return fmt.Errorf("epoch %d is over: the computer is that of epoch %d", epoch, h.epoch)
	}
	h.epoch = max(h.epoch, epoch)
	return nil
}

// handle serves one connection. Turns say in which order they came.
func (h *helper) handle(c net.Conn, turn uint64) {
	r := &link.Reader{R: c}
	var q link.Request
	if err := r.JSON(link.KindRequest, &q); err != nil {
		return
	}
	answer := func(a link.Answer, err error) bool {
		if err != nil {
			a.Error = err.Error()
			a.Unknown = errors.Is(err, errUnknown)
		}
		return link.WriteJSON(c, link.KindAnswer, a) == nil && err == nil
	}
	if err := h.admit(q.Epoch); err != nil {
		answer(link.Answer{Stale: true}, err)
		return
	}
	switch q.Op {
	case link.OpRun:
		cmd, attached, err := h.run(&q, c, turn)
		told := answer(cmd.about(attached), err)
		switch {
		case told && attached:
			h.attach(cmd, c, r, turn, q.Out, q.Err)
		case told:
			h.follow(cmd, c, r, q.Out, q.Err)
		case err == nil && !attached:
			// Whoever asked for it left before they heard of it.
			h.abandon(cmd)
		}
	case link.OpAttach:
		cmd, err := h.find(q.ID)
		if answer(cmd.about(true), err) {
			h.attach(cmd, c, r, turn, q.Out, q.Err)
		}
	case link.OpInput:
		answer(link.Answer{}, h.input(&q, r))
	case link.OpFeed:
		answer(h.feed(&q, r))
	case link.OpKill:
		answer(link.Answer{}, h.killID(q.ID))
	case link.OpForget:
		answer(link.Answer{}, h.forget(q.ID))
	case link.OpList:
		answer(link.Answer{Known: h.list()}, nil)
	case link.OpHold:
		if q.New {
			h.mu.Lock()
			h.since = max(h.since, turn)
			h.mu.Unlock()
		}
		defer h.hold()()
		if answer(link.Answer{}, nil) {
			_, _ = io.Copy(io.Discard, c)
		}
	case link.OpTunnel:
		p := h.ports[cmp.Or(q.Port, link.ProxyPort)]
		if p == nil {
			answer(link.Answer{}, fmt.Errorf("the computer has no port %q", q.Port))
			return
		}
		p.lend(c)
	case link.OpPing:
		answer(link.Answer{Seccomp: h.report.Seccomp, Landlock: h.report.Landlock, Quota: h.config.Quota, Version: link.Version, Ports: h.config.Ports}, nil)
	case link.OpStop:
		answer(link.Answer{}, nil)
		os.Exit(0)
	default:
		answer(link.Answer{}, fmt.Errorf("there is no operation %q", q.Op))
	}
}

// expire ends the computer when nobody has held it for long enough. A command that
// was kept counts until it is forgotten: what it wrote and how it ended is only here
// until somebody comes for it.
func (h *helper) expire() {
	for {
		h.mu.Lock()
		held, kept, changed := h.holders > 0, len(h.running()) > 0 || h.keeps(), h.changed
		h.mu.Unlock()
		wait := h.config.Idle
		if kept {
			wait = h.config.Linger
		}
		if held {
			<-changed
			continue
		}
		select {
		case <-changed:
		case <-time.After(time.Duration(wait) * time.Millisecond):
			// Whoever came at the last moment waits for the lock, and gets no answer
			// from a computer that ends.
			h.mu.Lock()
			if h.changed == changed {
				os.Exit(0)
			}
			h.mu.Unlock()
		}
	}
}

// keeps reports whether there are commands that somebody wanted to be kept. mu is
// held.
func (h *helper) keeps() bool {
	return slices.ContainsFunc(h.commands, func(c *command) bool { return c.spec.Keep })
}
