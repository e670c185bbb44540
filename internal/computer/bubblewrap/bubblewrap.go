// Package bubblewrap makes computers with bwrap: namespaces, no daemon, up in
// milliseconds. What is in them, package local says.
//
// bwrap is never started as root, for then it is no sandbox.
package bubblewrap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/helper"
	"lyceum/internal/computer/local"

	"golang.org/x/sys/unix"
)

// Options may be left empty.
type Options struct {
	// Program is bwrap, looked up in the PATH if empty.
	Program string
	// Groups is where control groups are made. If nil, it is found out.
	Groups *cgroup.Tree
	// WeakLimits is as in link.Config.
	WeakLimits bool
}

// Driver makes computers.
type Driver struct {
	program string
	machine *local.Machine
}

// New returns a driver. Whether it works, Check tells.
func New(o Options) *Driver {
	d := &Driver{program: o.Program, machine: local.NewMachine(o.Groups, o.WeakLimits)}
	if d.program == "" {
		d.program, _ = exec.LookPath("bwrap")
	}
	return d
}

// Name implements computer.Driver.
func (d *Driver) Name() string { return "bubblewrap" }

// Close lets go of what the driver made for itself. Computers go on.
func (d *Driver) Close() error { return d.machine.Shown.Close() }

// Prepare implements computer.Driver: there is nothing to make, only to look at.
func (d *Driver) Prepare(context.Context, computer.Spec, func(string)) (string, error) {
	if d.program == "" {
		return "", &computer.Unusable{What: "bubblewrap", Why: "the program bwrap is not installed", Fix: "apt-get install bubblewrap"}
	}
	return d.machine.Toolchain()
}

// Boot implements computer.Driver.
func (d *Driver) Boot(ctx context.Context, b *computer.Boot) (string, error) {
	return d.machine.Sandbox(ctx, b, func(l *local.Launch) (*local.Sandbox, error) {
		w := &launch{Launch: l, program: d.program}
		return w.start()
	})
}

// launch is one start of a sandbox.
type launch struct {
	*local.Launch
	program string     // bwrap
	files   []*os.File // those the child gets, from descriptor 3 on
}

// give hands a file to the child and returns its number there.
func (w *launch) give(f *os.File) int {
	w.files = append(w.files, f)
	return 2 + len(w.files)
}

// pipe makes one whose one end the child gets.
func (w *launch) pipe(childReads bool) (ours *os.File, number int, err error) {
	r, p, err := w.Pipe()
	if err != nil {
		return nil, 0, err
	}
	if childReads {
		return p, w.give(r), nil
	}
	return r, w.give(p), nil
}

// text hands a short text to the child as a file to read.
func (w *launch) text(s string) (int, error) {
	ours, n, err := w.pipe(true)
	if err != nil {
		return 0, err
	}
	_, err = io.WriteString(ours, s)
	return n, errors.Join(err, ours.Close())
}

func (w *launch) start() (*local.Sandbox, error) {
	w.give(w.Boot.Listener)
	program := w.give(w.Self)
	info, infoFD, err := w.pipe(false)
	if err != nil {
		return nil, err
	}
	// bwrap holds the reading end too. Were we killed now, it would else die of writing,
	// and leave a child that waits for it for ever.
	copied, err := unix.FcntlInt(info.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	spare := os.NewFile(uintptr(copied), "info")
	w.Keep(spare)
	w.give(spare)
	gate, gateFD, err := w.pipe(true)
	if err != nil {
		return nil, err
	}
	args, err := w.arguments()
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(w.Boot.Config)
	if err != nil {
		return nil, err
	}
	args = append(args, "--info-fd", strconv.Itoa(infoFD), "--block-fd", strconv.Itoa(gateFD), "--",
		"/proc/self/fd/"+strconv.Itoa(program), helper.Role, string(config))
	cmd := exec.Command(w.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = []string{}, "/", w.Said, w.Said, w.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if w.User != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(w.User), Gid: uint32(w.User)}
	}
	var s *local.Sandbox
	w.Start(cmd, func(started error) {
		if started != nil {
			err = fmt.Errorf("start bwrap: %w", started)
			return
		}
		go func() { _ = cmd.Wait() }()
		for _, f := range w.files[2:] {
			_ = f.Close() // or the end of the child's pipes would not be seen
		}
		if s, err = w.enter(info, gate); err != nil {
			err = explain(err, w.Said)
		}
	})
	return s, err
}

// namedWithin is how long bwrap may take, on a busy machine, until it says which process
// the sandbox is.
const namedWithin = 20 * time.Second

// enter puts the sandbox, which waits at the gate, into its control group, and then
// lets it run.
//
// Whoever does not wait any longer is held up until bwrap has said which process the
// sandbox is. bwrap itself is never killed: its child would wait for it for ever, as the
// first process of a namespace, which no signal ends but one from here. If bwrap says
// nothing, the gate falls open with us, and what is behind it ends by itself: see expire of
// package helper.
func (w *launch) enter(info, gate *os.File) (*local.Sandbox, error) {
	late := time.AfterFunc(namedWithin, func() { _ = info.SetReadDeadline(time.Unix(1, 0)) })
	defer late.Stop()
	var child struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(info).Decode(&child); err != nil || child.PID <= 1 {
		return nil, errors.Join(errors.New("bwrap did not start a sandbox"), w.Context.Err())
	}
	s, err := w.Machine.Hold(w.Context, w.Boot, child.PID)
	if err != nil {
		return nil, err
	}
	if _, err = gate.Write([]byte{1}); err != nil {
		// What waits at the gate would wait for ever.
		return nil, errors.Join(err, s.Kill(context.WithoutCancel(w.Context)))
	}
	return s, nil
}

// explain adds what bwrap said to an error.
func explain(err error, said *os.File) error {
	b := make([]byte, 2000)
	n, _ := said.ReadAt(b, 0)
	text := strings.TrimSpace(string(bytes.ToValidUTF8(b[:n], nil)))
	if text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, text)
}

// Kill implements computer.Driver.
func (d *Driver) Kill(ctx context.Context, handle string) error { return local.Kill(ctx, handle) }

// Meters implements computer.Driver.
func (d *Driver) Meters(handle string) computer.Meters { return local.Meters(handle) }
