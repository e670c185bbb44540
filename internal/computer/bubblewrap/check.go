package bubblewrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/computer"
)

// Check implements computer.Driver: it starts a computer and runs a program in it.
func (d *Driver) Check(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "lyceum-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	c, err := computer.Open(ctx, d, computer.Place{Home: home, Dir: filepath.Join(dir, "computer")}, computer.Spec{}, computer.Options{})
	if err != nil {
		return advise(err)
	}
	defer c.Stop(ctx)
	r, err := c.Run(ctx, computer.Command{ID: "check", Args: []string{"true"}})
	if err != nil {
		return advise(err)
	}
	if r.Exit != 0 {
		return &computer.Unusable{What: "bubblewrap", Why: "a program in a computer did not run: " + strings.TrimSpace(string(r.Stderr.Head))}
	}
	return nil
}

// advise says what to do about what bwrap says.
func advise(err error) error {
	if u, ok := errors.AsType[*computer.Unusable](err); ok {
		return u
	}
	text := err.Error()
	u := &computer.Unusable{What: "bubblewrap", Why: text}
	switch {
	case strings.Contains(text, "Unknown option"):
		u.Fix = "install bubblewrap 0.8 or newer"
	case strings.Contains(text, "uid map") || strings.Contains(text, "RTM_NEWADDR"):
		u.Fix = "let programs make user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or install an AppArmor profile for bwrap"
	case strings.Contains(text, "amespace") || strings.Contains(text, "No space left on device") && strings.Contains(text, "clone"):
		u.Fix = "let programs make user namespaces: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000"
	}
	return u
}
