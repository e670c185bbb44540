// Package local is what drivers share whose computers are made on this machine, of its
// own programs, without a daemon: which parts of the host a computer shows, the
// program that becomes its helper, the user it runs as, and its first process, by which
// it is found again, limited and ended.
//
// The host's programs are those of its toolchain folders, which are there to be read;
// of the rest of the host there is nothing.
//
// When Lyceum is root, each agent has a user of the host to itself, which owns the
// agent's home: the owner of that folder is where it is written down. When Lyceum is an
// ordinary user, computers run as that user, in a namespace that maps it to another.
//
// A sandbox does not die with Lyceum, since commands may be kept in it; it ends when
// its helper does, which does so by itself when nobody comes back.
package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/self"

	"golang.org/x/sys/unix"
)

// Machine is this machine as drivers need it.
type Machine struct {
	// Groups is where control groups are made.
	Groups *cgroup.Tree
	// Weak lets computers start where not all that they use can be counted: see link.Config.
	Weak bool
	// Program returns this program in memory, where nobody can change it: it must be
	// one that runs helper.Main when its first argument is helper.Role.
	Program func() (*os.File, error)
	// Shown is a copy of it that has a path, for computers that are to show it: what is in
	// memory cannot be mounted.
	Shown self.Copy
	// Toolchain is the digest of the programs that a computer shows.
	Toolchain func() (string, error)
}

// program is one for all drivers of a process.
var program = sync.OnceValues(func() (*os.File, error) { return sealed("/proc/self/exe") })

// NewMachine looks for control groups if groups is nil; the rest is found out when it
// is first asked for.
func NewMachine(groups *cgroup.Tree, weak bool) *Machine {
	if groups == nil {
		groups = cgroup.Find("/sys/fs/cgroup", "/proc/self/cgroup")
	}
	return &Machine{
		Groups:    groups,
		Weak:      weak,
		Program:   program,
		Toolchain: sync.OnceValues(toolchain),
	}
}

// Limit has the helper hold those limits that no control group does.
func (m *Machine) Limit(b *computer.Boot) {
	l := b.Spec.Limits
	b.Config.Weak = m.Weak
	if !m.Groups.Has(cgroup.Memory) {
		b.Config.Memory = l.Memory
	}
	if !m.Groups.Has(cgroup.Processes) {
		b.Config.Processes = l.Processes
	}
	if !m.Groups.Has(cgroup.CPU) {
		b.Config.CPUs = int((l.CPUs + 999) / 1000)
	}
}

// sealed is a program in memory. It can be run by every user, whatever the rights of the
// file and the folders above it, and changed by none.
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
		err = seal(fd)
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("make a copy of this program in memory: %w", err)
	}
	return out, nil
}

// seal lets nobody change a file in memory any more. On a busy machine the kernel may not be
// done with what was just written to it, and says so.
func seal(fd int) (err error) {
	for range 100 {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}
