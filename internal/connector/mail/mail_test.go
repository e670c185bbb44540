package mail_test

import (
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/connectortest"
	"lyceum/internal/connector/mail"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(s *connectortest.Mail, patience time.Duration) mail.Options {
	return mail.Options{
		Address: s.Address, IMAP: s.IMAP, SMTP: s.SMTP, User: "lab", Password: s.Password, Secret: "a secret of the lab",
		Keys: s.Signer, Patience: patience, Poll: time.Second,
	}
}

func open(t *testing.T, o mail.Options) *mail.Driver {
	t.Helper()
	d, err := mail.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDriver(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]bool{"Told": true, "Asking": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Exercise(t, func(t *testing.T) *connectortest.Rig {
				s := connectortest.OpenMail(t)
				s.Idle = idle
				return &connectortest.Rig{
					Service: s, Conversation: "ann@example.org", Keyed: true, Silent: true, Without: []connectortest.Trick{connectortest.Away},
					Secrets: []string{s.Password, "AGxhYgB2ZXJ5IHNlY3Jld", "very secret"},
					Open:    func(patience time.Duration) connector.Driver { return open(t, options(s, patience)) },
				}
			})
		})
	}
}
