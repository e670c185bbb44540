package provider

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

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

// get returns the key, "" if the server wants none.
func (k *keeper) get(ctx context.Context) (string, error) {
	if len(k.server.variables) == 0 {
		return "", nil
	}
	for _, v := range k.server.variables {
		if key := k.getenv(v); key != "" {
			return key, fault(key, "in "+v)
		}
	}
	key, from, err := k.fromKeyring(ctx)
	if err != nil {
		return "", k.missing(err)
	}
	if key == "" {
		return "", k.missing(nil)
	}
	return key, fault(key, "in the keyring for "+from)
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

// missing says how to give the key.
func (k *keeper) missing(err error) error {
	why := ""
	if err != nil {
		why = fmt.Sprintf(" (the keyring: %v)", err)
	}
	names := strings.Join(k.server.variables, " or ")
	store := storing(k.server.variables[0])
	if store != "" {
		store = ", or store it with: " + store
	}
	return fmt.Errorf("there is no key for %s%s: set %s%s", k.server.name, why, names, store)
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

// How long the keyring may take, and how much it may say. It may ask the user for
// a password.
const (
	keyringTime = 5 * time.Second
	keyringSize = 16 << 10
)

// keyring asks the operating system for a key. A machine without a keyring has no
// key in it.
func keyring(ctx context.Context, variable string) (string, error) {
	command := looking(variable)
	if command == nil {
		return "", nil
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, keyringTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.WaitDelay = time.Second
	out := &limited{}
	cmd.Stdout = out
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s did not answer in %s; is it locked?", command[0], keyringTime)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", nil // both tools say so that there is no such key
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w", command[0], err)
	}
	return strings.TrimSuffix(string(out.kept), "\n"), nil
}

// looking is the command that prints a key.
func looking(variable string) []string {
	switch runtime.GOOS {
	case "linux":
		return []string{"secret-tool", "lookup", "service", "lyceum", "account", variable}
	case "darwin":
		return []string{"security", "find-generic-password", "-s", "lyceum", "-a", variable, "-w"}
	}
	return nil
}

// storing is the command that asks for a key and stores it.
func storing(variable string) string {
	switch runtime.GOOS {
	case "linux":
		return "secret-tool store --label=lyceum service lyceum account " + variable
	case "darwin":
		return "security add-generic-password -s lyceum -a " + variable + " -w"
	}
	return ""
}

// limited keeps the first bytes of what is written to it.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), keyringSize-len(l.kept))]...)
	return len(p), nil
}
