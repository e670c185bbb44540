package drivers_test

import (
	"strings"
	"testing"

	"lyceum/internal/connector"
	"lyceum/internal/connector/drivers"
)

// A connector is made of what docs/connectors.md says, and of nothing less.
func TestKindsAreMadeOfTheirSettings(t *testing.T) {
	t.Parallel()
	settings := map[string]connector.Settings{
		"mail": {
			Values:  map[string]string{"address": "lab@lyceum.example", "imap": "mail.lyceum.example:993", "smtp": "mail.lyceum.example:465", "user": "lab", "folder": "Lab"},
			Secrets: map[string]string{"key": "very secret", "secret": "sixteen letters or more"},
		},
		"matrix":   {Values: map[string]string{"url": "https://matrix.example.org"}, Secrets: map[string]string{"key": "syt_x"}},
		"slack":    {Secrets: map[string]string{"app": "xapp-1", "bot": "xoxb-1"}},
		"telegram": {Secrets: map[string]string{"key": "123:abc"}},
	}
	kinds := drivers.Kinds()
	for name, s := range settings {
		s.Name = "mine"
		kind := kinds[name]
		if d, err := kind.Make(s); err != nil || d == nil {
			t.Errorf("make %s of its settings: %v", name, err)
		}
		if want := connector.Control; name != "mail" && kind.Most != want || name == "mail" && kind.Most != connector.Talk {
			t.Errorf("%s gives the right to %s at most", name, kind.Most)
		}
		for secret := range s.Secrets {
			without := connector.Settings{Name: "mine", Values: s.Values, Secrets: map[string]string{}}
			for k, v := range s.Secrets {
				if k != secret {
					without.Secrets[k] = v
				}
			}
			if _, err := kind.Make(without); kind.Secrets[secret] && (err == nil || !strings.Contains(err.Error(), secret)) {
				t.Errorf("%s without its %s: got %v, want an error that names it", name, secret, err)
			}
		}
	}
	// A token goes over the network only by TLS.
	for name, url := range map[string]string{"matrix": "http://matrix.example.org", "slack": "http://slack.example", "telegram": "http://telegram.example"} {
		s := settings[name]
		s.Values = map[string]string{"url": url}
		kind := kinds[name]
		if _, err := kind.Make(s); err == nil {
			t.Errorf("%s is made for %s, want https alone", name, url)
		}
	}
}
