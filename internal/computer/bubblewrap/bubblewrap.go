// Package bubblewrap makes computers with bwrap: namespaces, no daemon, up in
// milliseconds. Programs inside are those of the host's toolchain folders, which
// are there to be read; of the rest of the host there is nothing.
//
// bwrap is never started as root, for then it is no sandbox. When Lyceum is root,
// each agent has a user of the host to itself, which owns the agent's home: the
// owner of that folder is where it is written down. When Lyceum is an ordinary
// user, computers run as that user, in a namespace that maps it to another.
//
// The sandbox does not die with Lyceum, since commands may be kept in it; it ends
// when its helper does, which does so by itself when nobody comes back.
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
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/helper"

	"golang.org/x/sys/unix"
)

// Options may be left empty.
type Options struct {
	// Program is bwrap, looked up in the PATH if empty.
	Program string
	// Groups is where control groups are made. If nil, it is found out.
	Groups *cgroup.Tree
}

// Driver makes computers. Its helper is a copy of this program in memory that
// nobody can change: it must be one that runs helper.Main when its first argument
// is helper.Role.
type Driver struct {
	program string
	groups  *cgroup.Tree
	once    sync.Once
	self    *os.File
	selfErr error
	tools   func() (string, error)
}

// New returns a driver. Whether it works, Check tells.
func New(o Options) *Driver {
	d := &Driver{program: o.Program, groups: o.Groups, tools: sync.OnceValues(toolchain)}
	if d.program == "" {
		d.program, _ = exec.LookPath("bwrap")
	}
	if d.groups == nil {
		d.groups = cgroup.Find("/sys/fs/cgroup", "/proc/self/cgroup")
	}
	return d
}

// Name implements computer.Driver.
func (d *Driver) Name() string { return "bubblewrap" }

// Prepare implements computer.Driver: there is nothing to make, only to look at.
func (d *Driver) Prepare(context.Context, computer.Spec, func(string)) (string, error) {
	if d.program == "" {
		return "", &computer.Unusable{What: "bubblewrap", Why: "the program bwrap is not installed", Fix: "apt-get install bubblewrap"}
	}
	return d.tools()
}

// sandbox is what the handle says.
type sandbox struct {
	PID int `json:"pid"`
	// Start is when the process began, which tells it from a later one of the same
	// number.
	Start uint64        `json:"start"`
	Group *cgroup.Group `json:"group,omitempty"`
}

// Boot implements computer.Driver.
func (d *Driver) Boot(ctx context.Context, b *computer.Boot) (string, error) {
	self, err := d.executable()
	if err != nil {
		return "", err
	}
	user, err := computer.HomeUser(b.Home)
	if err != nil {
		return "", err
	}
	l := b.Spec.Limits
	if !d.groups.Has(cgroup.Memory) {
		b.Config.Memory = l.Memory
	}
	if !d.groups.Has(cgroup.Processes) {
		b.Config.Processes = l.Processes
	}
	if !d.groups.Has(cgroup.CPU) {
		b.Config.CPUs = int((l.CPUs + 999) / 1000)
	}
	w := &launch{ctx: ctx, driver: d, boot: b, self: self, user: user}
	defer w.close()
	s, err := w.start()
	if err != nil {
		return "", err
	}
	handle, err := json.Marshal(s)
	return string(handle), err
}

// executable is this program in memory. It can be run by every user, whatever the
// rights of the file and the folders above it, and changed by none.
func (d *Driver) executable() (*os.File, error) {
	d.once.Do(func() { d.self, d.selfErr = sealed("/proc/self/exe") })
	return d.self, d.selfErr
}

func sealed(path string) (*os.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read this program: %w", err)
	}
	defer in.Close()
	const exec = 0x10 // MFD_EXEC, which kernels before 6.3 do not know
	fd, err := unix.MemfdCreate("lyceum", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|exec)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate("lyceum", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("make a copy of this program in memory: %w", err)
	}
	out := os.NewFile(uintptr(fd), "lyceum")
	if _, err = io.Copy(out, in); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("make a copy of this program in memory: %w", err)
	}
	return out, nil
}

// launch is one start of a sandbox.
type launch struct {
	ctx    context.Context
	driver *Driver
	boot   *computer.Boot
	self   *os.File
	user   int
	files  []*os.File // those the child gets, from descriptor 3 on
	open   []*os.File // all that are to be closed
}

func (w *launch) close() {
	for _, f := range w.open {
		_ = f.Close()
	}
}

// give hands a file to the child and returns its number there.
func (w *launch) give(f *os.File) int {
	w.files = append(w.files, f)
	return 2 + len(w.files)
}

// pipe makes one whose one end the child gets.
func (w *launch) pipe(childReads bool) (ours *os.File, number int, err error) {
	r, p, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	w.open = append(w.open, r, p)
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

func (w *launch) start() (*sandbox, error) {
	w.give(w.boot.Listener)
	program := w.give(w.self)
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
	w.open = append(w.open, spare)
	w.give(spare)
	gate, gateFD, err := w.pipe(true)
	if err != nil {
		return nil, err
	}
	args, err := w.arguments()
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(w.boot.Config)
	if err != nil {
		return nil, err
	}
	args = append(args, "--info-fd", strconv.Itoa(infoFD), "--block-fd", strconv.Itoa(gateFD), "--",
		"/proc/self/fd/"+strconv.Itoa(program), helper.Role, string(config))
	said, err := os.OpenFile(filepath.Join(w.boot.Dir, "boot.log"), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	w.open = append(w.open, said)
	cmd := exec.Command(w.driver.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = []string{}, "/", said, said, w.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if w.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(w.user), Gid: uint32(w.user)}
		err = startStaged(cmd, w.boot.Home)
	} else {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start bwrap: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	for _, f := range w.files[2:] {
		_ = f.Close() // or the end of the child's pipes would not be seen
	}
	s, err := w.enter(info, gate)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, explain(err, said)
	}
	return s, nil
}

// enter puts the sandbox, which waits at the gate, into its control group, and then
// lets it run.
func (w *launch) enter(info, gate *os.File) (*sandbox, error) {
	defer context.AfterFunc(w.ctx, func() { _ = info.SetReadDeadline(time.Unix(1, 0)) })()
	var child struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(info).Decode(&child); err != nil || child.PID <= 1 {
		return nil, errors.Join(errors.New("bwrap did not start a sandbox"), w.ctx.Err())
	}
	s := &sandbox{PID: child.PID}
	err := func() (err error) {
		if s.Start, err = startTime(s.PID); err != nil {
			return err
		}
		if w.driver.groups.Version == 0 {
			return nil
		}
		l := w.boot.Spec.Limits
		s.Group, err = w.driver.groups.Make(w.boot.Name, cgroup.Limits{Memory: l.Memory, Processes: l.Processes, CPUs: l.CPUs})
		if err != nil {
			return err
		}
		return s.Group.Add(s.PID)
	}()
	if err == nil {
		_, err = gate.Write([]byte{1})
	}
	if err != nil {
		// What waits at the gate would wait for ever.
		return nil, errors.Join(err, s.kill(context.WithoutCancel(w.ctx)))
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

// startTime is when a process began, in ticks of the kernel's clock.
func startTime(pid int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return 0, fmt.Errorf("process %d has no start time", pid)
	}
	return strconv.ParseUint(f[19], 10, 64)
}

// Kill implements computer.Driver.
func (d *Driver) Kill(ctx context.Context, handle string) error {
	var s sandbox
	if err := json.Unmarshal([]byte(handle), &s); err != nil || s.PID <= 1 {
		return fmt.Errorf("%q is not a sandbox of bubblewrap", handle)
	}
	return s.kill(ctx)
}

// kill ends the first process, with which the kernel ends all others, and waits
// until that is done.
func (s *sandbox) kill(ctx context.Context) error {
	fd, err := unix.PidfdOpen(s.PID, 0)
	if err == nil {
		defer unix.Close(fd)
		// The number may be another process's by now. The open descriptor is not.
		if t, err := startTime(s.PID); err == nil && (s.Start == 0 || t == s.Start) {
			if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("end a sandbox: %w", err)
			}
			if err := gone(ctx, fd); err != nil {
				return err
			}
		}
	}
	if s.Group != nil {
		return s.Group.Remove(ctx)
	}
	return nil
}

// gone waits until a process has ended.
func gone(ctx context.Context, fd int) error {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 50)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for the end of a sandbox: %w", err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("wait for the end of a sandbox: %w", ctx.Err())
		}
	}
}

// Meters implements computer.Driver.
func (d *Driver) Meters(handle string) (m computer.Meters) {
	var s sandbox
	if json.Unmarshal([]byte(handle), &s) == nil && s.Group != nil {
		m.Memory, m.Processes = s.Group.Met()
	}
	return m
}
