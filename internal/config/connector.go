package config

import (
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Connector is a way by which people elsewhere talk with quests. Which settings its driver has
// is for package connector to know.
type Connector struct {
	Driver string
	// Allow are the senders who may say something, each with a right: read, talk or control.
	Allow map[string]string
	// Values are its settings. Variables are those that hold its secrets, by the name that the
	// driver knows a secret by: key_variable names that of "key".
	Values    map[string]string
	Variables map[string]string
}

const (
	maxConnectors = 32
	maxAllowed    = 1000
	maxSender     = 200
)

var (
	connectorName = plain.Form{First: "a-z", Rest: "a-z0-9-", Most: 32}
	settingName   = plain.Form{First: "a-z", Rest: "a-z0-9_", Most: 40}
	connectRights = []string{"read", "talk", "control"}
)

func readConnector(name string, n ast.Node) (Connector, error) {
	c := Connector{Allow: map[string]string{}, Values: map[string]string{}, Variables: map[string]string{}}
	if !connectorName.MatchString(name) || name == "local" {
		return c, strictyaml.At(n, "%.40q cannot name a connector: small letters, digits and - can, at most 32, and local is the page and the command line", name)
	}
	known := c.fields()
	pairs, _ := strictyaml.Pairs(n)
	for _, p := range pairs {
		key, err := strictyaml.Key(p, map[string]bool{})
		if err != nil {
			return c, err
		}
		if known[key] == nil && settingName.MatchString(key) {
			known[key] = c.setting(key)
		}
	}
	err := fields(n, "a connector", known)
	if err == nil && c.Driver == "" {
		err = strictyaml.At(n, "a connector needs driver, such as webhook")
	}
	return c, err
}

// fields are those that every driver has.
func (c *Connector) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"driver": word(&c.Driver),
		"allow":  values("allow", maxAllowed, &c.Allow, checkAllowed),
	}
}

// setting reads one of the driver's: a value, or the name of the variable of a secret. A value
// that is named like a secret is refused.
func (c *Connector) setting(key string) func(ast.Node) error {
	if secret, ok := strings.CutSuffix(key, "_variable"); ok && secret != "" {
		return func(n ast.Node) error {
			var v string
			err := variable(&v)(n)
			c.Variables[secret] = v
			return err
		}
	}
	if secretive(key) {
		return nil // fields says where keys belong
	}
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		if len(text) > maxValue || !plain.Printable(text) {
			return strictyaml.At(n, "%s must be a text that can be printed", key)
		}
		c.Values[key] = text
		return nil
	}
}

// checkAllowed refuses what is no sender, and no right.
func checkAllowed(n ast.Node, sender, right string) error {
	if sender == "" || len(sender) > maxSender || !plain.Printable(sender) {
		return strictyaml.At(n, "allow: a sender is a name of at most %d bytes, as the service has it", maxSender)
	}
	for _, r := range connectRights {
		if r == right {
			return nil
		}
	}
	return strictyaml.At(n, "allow: %.40q is no right: want %s", right, strings.Join(connectRights, ", "))
}
