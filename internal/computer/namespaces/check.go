package namespaces

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/local"

	"golang.org/x/sys/unix"
)

// Check implements computer.Driver: it starts a computer and runs a program in it. What has
// worked once is not tried again.
func (d *Driver) Check(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.works {
		return nil
	}
	if err := local.Try(ctx, d); err != nil {
		return advise(err, os.ReadFile)
	}
	d.works = true
	return nil
}

// Switches are the settings of the kernel that forbid user namespaces to those who are not
// root, the values with which they do, and what changes that.
var Switches = []struct{ File, Bad, Fix string }{
	{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that gives lyceum the right userns (docs/computers.md)"},
}

// refused says what it means that the process could not be started: mostly that the kernel
// makes no such namespaces for us.
func refused(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && (errors.Is(e, unix.ENOSPC) || errors.Is(e, unix.EPERM) || errors.Is(e, unix.EINVAL)) {
		return fmt.Errorf("the kernel lets nobody here make a user namespace (%w)", e.Err)
	}
	return fmt.Errorf("start in namespaces of its own: %w", err)
}

// advise says what to do about an error. read reads the kernel's settings.
func advise(err error, read func(file string) ([]byte, error)) error {
	if u, ok := errors.AsType[*computer.Unusable](err); ok {
		return u
	}
	u := &computer.Unusable{What: "namespaces", Why: err.Error()}
	text := err.Error()
	switch {
	case errors.Is(err, unix.ENOSYS) || strings.Contains(text, unix.ENOSYS.Error()):
		u.Fix = "use a kernel that is not older than Linux 5.12, or install bubblewrap"
	case strings.Contains(text, "make a proc"), strings.Contains(text, "mount a proc"):
		u.Fix = "run Lyceum outside of a container, or in one whose /proc is not masked"
	default:
		for _, s := range Switches {
			if value, err := read(s.File); err == nil && strings.TrimSpace(string(value)) == s.Bad {
				u.Fix = "let programs make user namespaces: " + s.Fix
				break
			}
		}
	}
	return u
}
