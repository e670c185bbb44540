package provider

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"lyceum/internal/keyring"
	"lyceum/internal/plain"
)

// keeper finds the key of one provider.
type keeper struct {
	server  server
	getenv  func(string) string
	keyring func(ctx context.Context, variable string) (string, error)

	mu     sync.Mutex
	stored string // what the keyring had
}

// Where keys come from.
const (
	FromEnvironment = "environment"
	FromKeyring     = "keyring"
)

// get returns the key, "" if the server wants none.
func (k *keeper) get(ctx context.Context) (string, error) {
	key, _, err := k.find(ctx)
	return key, err
}

// find returns the key, and where it came from.
func (k *keeper) find(ctx context.Context) (key, from string, err error) {
	if len(k.server.variables) == 0 {
		return "", "", nil
	}
	for _, v := range k.server.variables {
		if key := k.getenv(v); key != "" {
			return key, FromEnvironment, fault(key, "in "+v)
		}
	}
	key, variable, err := k.fromKeyring(ctx)
	if err != nil {
		return "", "", k.missing(err)
	}
	if key == "" {
		return "", "", k.missing(nil)
	}
	return key, FromKeyring, fault(key, "in the keyring for "+variable)
}

func (k *keeper) fromKeyring(ctx context.Context) (key, variable string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stored != "" {
		return k.stored, k.server.variables[0], nil
	}
	for _, v := range k.server.variables {
		if key, err = k.keyring(ctx, v); key != "" {
			k.stored = key
			return key, v, nil
		}
		if err != nil {
			return "", v, err
		}
	}
	return "", "", nil
}

// NoKey begins what is said where a key is missing; the variable that wants it follows. A
// server's word of it is a text, too.
const NoKey = "there is no key for "

// missing says how to give the key.
func (k *keeper) missing(err error) error {
	why := ""
	if err != nil {
		why = fmt.Sprintf(" (the keyring: %v)", err)
	}
	names := strings.Join(k.server.variables, " or ")
	store := keyring.Storing(k.server.variables[0])
	if store != "" {
		store = ", or store it with: " + store
	}
	return fmt.Errorf(NoKey+"%s%s: set %s%s", k.server.name, why, names, store)
}

// all returns the keys that are known without asking the keyring.
func (k *keeper) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	if k.stored != "" {
		out = append(out, k.stored)
	}
	for _, v := range k.server.variables {
		if key := strings.TrimSpace(k.getenv(v)); len(key) >= 8 && !placeholder.MatchString(key) {
			out = append(out, key)
		}
	}
	return out
}

// placeholder is what stands where a key is to be put.
var placeholder = regexp.MustCompile(`(?i)^([<\[{$].*|[x*._-]+|none|null|nil|false|true|todo|test|key|secret|token|changeme|change[-_]me|(sk-)?(dummy|fake)[-_]?(key)?)$` +
	`|your[-_]|^your|api[-_]?key|placeholder|replace[-_]|\.\.\.|…|insert[-_]`)

// fault says why a key cannot be one. It does not repeat it.
func fault(key, where string) error {
	switch {
	case len(key) > 4096:
		return fmt.Errorf("the key %s has %d bytes, which no key has: set it to the key alone", where, len(key))
	case strings.TrimSpace(key) != key:
		return fmt.Errorf("the key %s has a space or the end of a line before or after it: set it again without", where)
	case strings.ContainsAny(key[:1]+key[len(key)-1:], "\"'`"):
		return fmt.Errorf("the key %s has quotation marks around it: set it again without", where)
	case placeholder.MatchString(key):
		return fmt.Errorf("the key %s is a placeholder: set it to the key that the provider gave you", where)
	case plain.ASCII(key, len(key)) != key || strings.Contains(key, " "):
		return fmt.Errorf("the key %s has a space, the end of a line or another character in it that no key has: copy it again, in one piece", where)
	}
	return nil
}
