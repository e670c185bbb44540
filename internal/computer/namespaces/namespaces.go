// Package namespaces makes computers without any other program: this one, started again
// in namespaces of its own, makes the cell it is in and becomes the helper. See package
// cell for that, and local for what is in it.
package namespaces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cell"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/helper"
	"lyceum/internal/computer/local"
	"lyceum/internal/plain"
)

// Options may be left empty.
type Options struct {
	// Groups is where control groups are made. If nil, it is found out.
	Groups *cgroup.Tree
	// WeakLimits is as in link.Config.
	WeakLimits bool
}

// Driver makes computers.
type Driver struct {
	machine *local.Machine

	mu    sync.Mutex
	works bool // a trial has shown it
}

// New returns a driver. Whether it works, Check tells.
func New(o Options) *Driver { return &Driver{machine: local.NewMachine(o.Groups, o.WeakLimits)} }

// Name implements computer.Driver.
func (d *Driver) Name() string { return "namespaces" }

// Close lets go of what the driver made for itself. Computers go on.
func (d *Driver) Close() error { return d.machine.Shown.Close() }

// Prepare implements computer.Driver: there is nothing to make, only to look at.
func (d *Driver) Prepare(context.Context, computer.Spec, func(string)) (string, error) {
	return d.machine.Toolchain()
}

// Boot implements computer.Driver.
func (d *Driver) Boot(ctx context.Context, b *computer.Boot) (string, error) {
	return d.machine.Sandbox(ctx, b, func(l *local.Launch) (*local.Sandbox, error) { return launch{l}.start() })
}

// launch is one start of a sandbox.
type launch struct{ *local.Launch }

func (w launch) start() (*local.Sandbox, error) {
	gateInside, gate, err := w.Pipe()
	if err != nil {
		return nil, err
	}
	report, reportInside, err := w.Pipe()
	if err != nil {
		return nil, err
	}
	cmd, err := w.command()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{cell.Listener - 3: w.Boot.Listener, cell.Program - 3: w.Self, cell.Gate - 3: gateInside, cell.Report - 3: reportInside}
	var s *local.Sandbox
	w.Start(cmd, func(started error) {
		if err = started; err != nil {
			err = refused(err)
			return
		}
		go func() { _ = cmd.Wait() }()
		_, _ = gateInside.Close(), reportInside.Close() // or their ends would not be seen
		s, err = w.enter(cmd.Process.Pid, gate, report)
	})
	return s, err
}

// command is this program in its namespaces, not yet started.
func (w launch) command() (*exec.Cmd, error) {
	plan := cell.Plan{Parts: w.Root(), Open: w.Boot.Spec.Network.Open, Read: w.Boot.Config.Read, Write: w.Boot.Config.Write}
	config, err := json.Marshal(w.Boot.Config)
	if err != nil {
		return nil, err
	}
	plan.Args = []string{"lyceum", helper.Role, string(config)}
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	user, group := w.User, w.User
	if user == 0 {
		user, group = os.Geteuid(), os.Getegid()
	}
	flags := syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWNET
	if w.Boot.Spec.Network.Open {
		flags &^= syscall.CLONE_NEWNET
	}
	cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", cell.Program), helper.Role, cell.Word, w.Boot.Home, string(text))
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = []string{}, "/", w.Said, w.Said
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Cloneflags: uintptr(flags),
		UidMappings: []syscall.SysProcIDMap{{ContainerID: cell.User, HostID: user, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: cell.User, HostID: group, Size: 1}},
		// Root has left its groups before, and nobody inside may change theirs.
		Credential:  &syscall.Credential{Uid: cell.User, Gid: cell.User, NoSetGroups: true},
		AmbientCaps: cell.Capabilities,
		// Until the cell is made. local.Start keeps the thread that this is about.
		Pdeathsig: syscall.SIGKILL,
	}
	return cmd, nil
}

// enter puts the sandbox into its control group, lets it pass the gate, and waits until it
// has become the helper.
func (w launch) enter(pid int, gate, report *os.File) (*local.Sandbox, error) {
	defer context.AfterFunc(w.Context, func() { _ = report.SetReadDeadline(time.Unix(1, 0)) })()
	s, err := w.Machine.Hold(w.Context, w.Boot, pid)
	if err != nil {
		return nil, err
	}
	_, err = gate.Write([]byte{1})
	// One that failed before the gate has said why.
	said, failed := io.ReadAll(io.LimitReader(report, 2000))
	if len(said) > 0 {
		err = errors.New(plain.Quoted(strings.TrimSpace(string(said)), 1000))
	} else if err = errors.Join(err, failed, w.Context.Err()); err == nil {
		return s, nil
	}
	return nil, errors.Join(err, s.Kill(context.WithoutCancel(w.Context)))
}

// Kill implements computer.Driver.
func (d *Driver) Kill(ctx context.Context, handle string) error { return local.Kill(ctx, handle) }

// Meters implements computer.Driver.
func (d *Driver) Meters(handle string) computer.Meters { return local.Meters(handle) }
