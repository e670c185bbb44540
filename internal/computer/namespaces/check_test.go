package namespaces

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"lyceum/internal/computer"

	"golang.org/x/sys/unix"
)

func TestWhatForbidsNamespacesIsNamedWithWhatAllowsThem(t *testing.T) {
	t.Parallel()
	forbidden := refused(&fs.PathError{Op: "fork/exec", Path: "/proc/self/fd/4", Err: unix.EPERM})
	if !strings.Contains(forbidden.Error(), "user namespace (operation not permitted)") {
		t.Errorf("a fork that is refused: got %q, want that it is about user namespaces", forbidden)
	}
	for name, c := range map[string]struct {
		err      error
		settings map[string]string
		fix      string
	}{
		"NoneAtAll":     {forbidden, map[string]string{"/proc/sys/user/max_user_namespaces": "0\n"}, "sysctl user.max_user_namespaces=10000"},
		"OnlyRoot":      {forbidden, map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0\n"}, "sysctl kernel.unprivileged_userns_clone=1"},
		"AppArmor":      {errors.New("keep mounts to ourselves: permission denied"), map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile"},
		"Allowed":       {forbidden, map[string]string{"/proc/sys/user/max_user_namespaces": "100\n", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n"}, ""},
		"AnOldKernel":   {fmt.Errorf("take /usr: %w", unix.ENOSYS), nil, "Linux 5.12"},
		"AMaskedProc":   {errors.New("make /proc for a computer: mount a proc: operation not permitted"), nil, "whose /proc is not masked"},
		"AlreadySaidSo": {&computer.Unusable{What: "sandboxes", Why: "root may not", Fix: "be another"}, nil, "be another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := advise(c.err, func(file string) ([]byte, error) {
				if text, ok := c.settings[file]; ok {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			})
			u, ok := errors.AsType[*computer.Unusable](err)
			if !ok || !strings.Contains(u.Fix, c.fix) || c.fix == "" && u.Fix != "" {
				t.Errorf("what to do about %v: got %+v, want %q", c.err, err, c.fix)
			}
		})
	}
}
