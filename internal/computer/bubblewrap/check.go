package bubblewrap

import (
	"context"
	"errors"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/local"
)

// Check implements computer.Driver: it starts a computer and runs a program in it.
func (d *Driver) Check(ctx context.Context) error {
	if err := local.Try(ctx, d); err != nil {
		return advise(err)
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
