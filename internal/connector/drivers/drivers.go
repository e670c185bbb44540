// Package drivers is the table of all sorts of connectors. Whoever writes another adds a line.
package drivers

import (
	"lyceum/internal/connector"
	"lyceum/internal/connector/mail"
	"lyceum/internal/connector/matrix"
	"lyceum/internal/connector/slack"
	"lyceum/internal/connector/telegram"
	"lyceum/internal/connector/webhook"
)

// Kinds are all there are, by the names that config.yaml calls them.
func Kinds() map[string]connector.Kind {
	return map[string]connector.Kind{
		"mail":     mail.Kind(),
		"matrix":   matrix.Kind(),
		"slack":    slack.Kind(),
		"telegram": telegram.Kind(),
		"webhook":  webhook.Kind(),
	}
}
