package connector

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Right is what a sender may do with the quest that a conversation is bound to. Each includes
// those before it.
type Right int

// The rights: nothing, to read how it stands, to talk with it, to control it.
const (
	Nothing Right = iota
	Read
	Talk
	Control
)

var rights = [...]string{"nothing", "read", "talk", "control"}

func (r Right) String() string { return rights[r] }

// MarshalText and UnmarshalText write and read a right by its name.
func (r Right) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Right) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRight(string(text))
	return err
}

// ParseRight reads one that can be given.
func ParseRight(text string) (Right, error) {
	if i := slices.Index(rights[:], text); i > 0 {
		return Right(i), nil
	}
	return Nothing, fmt.Errorf("%.40q is no right: there are read, talk and control", text)
}

// Kind is a sort of connector: how its driver is made of what config.yaml says.
type Kind struct {
	// Settings are the names that config.yaml can give a value, besides driver and allow; true
	// stands for those that it must.
	Settings map[string]bool
	// Secrets are what the driver needs and config.yaml must not hold: for "key" it names a
	// variable, with key_variable. True stands for those that there must be.
	Secrets map[string]bool
	// Most is the most that a sender may do by this way, whatever config.yaml says.
	Most Right
	// Open makes a driver. It asks nobody yet: what is wrong with the service comes from Run
	// and Send.
	Open func(Settings) (Driver, error)
}

// Settings are what a driver is made of. Its secrets must get into nothing that it says or
// stores; errors of drivers are looked through for them as well.
type Settings struct {
	// Name is the connector's in config.yaml.
	Name string
	// Values has only names of Kind.Settings, and all that must be there; Secrets likewise.
	Values  map[string]string
	Secrets map[string]string
}

// check finds what is wrong with the names of settings and secrets.
func (k *Kind) check(s Settings) error {
	for _, part := range []struct {
		known  map[string]bool
		given  map[string]string
		suffix string
	}{{k.Settings, s.Values, ""}, {k.Secrets, s.Secrets, Variable}} {
		for _, name := range slices.Sorted(maps.Keys(part.given)) {
			if _, ok := part.known[name]; !ok {
				return fmt.Errorf("connector %s has no setting %.60q: there are %s", s.Name, name+part.suffix, strings.Join(k.Names(), ", "))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part.known)) {
			if part.known[name] && part.given[name] == "" {
				return fmt.Errorf("connector %s needs %s", s.Name, name+part.suffix)
			}
		}
	}
	return nil
}

// Variable is what the name of a setting ends with that names the variable of a secret.
const Variable = "_variable"

// Names are the settings of a kind as config.yaml has them.
func (k *Kind) Names() []string {
	names := slices.Collect(maps.Keys(k.Settings))
	for n := range k.Secrets {
		names = append(names, n+Variable)
	}
	slices.Sort(names)
	return names
}

// Make makes a driver of a kind.
func (k *Kind) Make(s Settings) (Driver, error) {
	if err := k.check(s); err != nil {
		return nil, err
	}
	d, err := k.Open(s)
	if err != nil {
		return nil, fmt.Errorf("connector %s: %w", s.Name, err)
	}
	return d, nil
}
