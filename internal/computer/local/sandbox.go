package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"

	"golang.org/x/sys/unix"
)

// Sandbox is one that runs, by its first process. As JSON it is the handle by which
// another Lyceum finds it.
type Sandbox struct {
	PID int `json:"pid"`
	// Start is when the process began, which tells it from a later one of the same
	// number.
	Start uint64        `json:"start"`
	Group *cgroup.Group `json:"group,omitempty"`
}

// Hold puts a sandbox, whose first process must not run anything yet, into its control
// group. If it fails, the process has been ended.
func (m *Machine) Hold(ctx context.Context, b *computer.Boot, pid int) (s *Sandbox, err error) {
	s = &Sandbox{PID: pid}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Kill(context.WithoutCancel(ctx)))
		}
	}()
	if err = ctx.Err(); err != nil {
		return s, err
	}
	if s.Start, err = startTime(pid); err != nil {
		return s, err
	}
	if m.Groups.Version == 0 {
		return s, nil
	}
	l := b.Spec.Limits
	s.Group, err = m.Groups.Make(b.Name, cgroup.Limits{Memory: l.Memory, Processes: l.Processes, CPUs: l.CPUs})
	if err != nil {
		return s, err
	}
	return s, s.Group.Add(pid)
}

// Handle is the word by which the sandbox is found again.
func (s *Sandbox) Handle() (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}

// find is the sandbox of a handle.
func find(handle string) (*Sandbox, error) {
	var s Sandbox
	if err := json.Unmarshal([]byte(handle), &s); err != nil || s.PID <= 1 {
		return nil, fmt.Errorf("%q is not the handle of a sandbox", handle)
	}
	return &s, nil
}

// Kill ends the sandbox of a handle.
func Kill(ctx context.Context, handle string) error {
	s, err := find(handle)
	if err != nil {
		return err
	}
	return s.Kill(ctx)
}

// Meters are those of the sandbox of a handle, or none if it is no handle.
func Meters(handle string) (m computer.Meters) {
	if s, err := find(handle); err == nil {
		m = s.Meters()
	}
	return m
}

// Kill ends the first process, with which the kernel ends all others, and waits
// until that is done.
func (s *Sandbox) Kill(ctx context.Context) error {
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

// Meters tells how often the sandbox met limits, as far as control groups count that.
func (s *Sandbox) Meters() (m computer.Meters) {
	if s.Group != nil {
		m.Memory, m.Processes = s.Group.Met()
	}
	return m
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
