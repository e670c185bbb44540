package computertest

import (
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/helper"
)

// shows holds that programs inside find this one where they are told to, that it has no
// rights there but theirs, and that it does not become a second helper for them.
func (l *lab) shows(t *testing.T) {
	t.Parallel()
	s := l.opts.Spec
	s.Program = true
	m := l.bootWith(t, s, computer.Options{})
	if got := m.sh(computer.Program + " " + AttemptRole + " whoami | grep -c '^euid'; " + computer.Program + " " + AttemptRole + " whoami | grep euid; id -u"); !strings.HasPrefix(got, "1\neuid ") {
		t.Errorf("a program that runs this one says %q, want its user", got)
	}
	if got := m.sh("(echo x >> " + computer.Program + ") 2>/dev/null && echo wrote; rm -f " + computer.Program + " 2>/dev/null && echo removed; chmod 777 " + computer.Program + " 2>/dev/null && echo changed; true"); got != "" {
		t.Errorf("a program changed the one that is only there to be run: %q", got)
	}
	for _, role := range []string{helper.Role + " '{}'", helper.Role + " cell /home '{}'"} {
		if got := m.sh(computer.Program + " " + role + " 2>&1 || echo refused"); !strings.HasSuffix(got, "refused\n") {
			t.Errorf("a program that wants to be the helper (%s) is told %q, want a refusal", role, got)
		}
	}
	// It is there over a restart of Lyceum, and no reason for another computer.
	before := m.Fingerprint()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = l.at(t, m.place, s, computer.Options{Found: true})
	if m.Fingerprint().Hash() != before.Hash() || !m.Fingerprint().Program {
		t.Errorf("the same computer has the fingerprint %+v, before %+v", m.Fingerprint(), before)
	}
	if l.driver.Name() == "docker" {
		return // there it is the helper's own
	}
	if got := l.boot(t).sh("ls " + computer.Program + " 2>/dev/null; true"); got != "" {
		t.Errorf("a computer that is to show nothing shows %q", got)
	}
}
