// Package keyring keeps secrets in the keyring of the operating system, by the programs that
// it has for that: secret-tool on Linux, security on macOS.
//
// A secret has a name, its account; the service is always lyceum. Secrets go over standard
// input and output and are never among the arguments of a program, which every user of the
// machine can read. A keyring may ask a person for a password: so everything has a time limit.
package keyring

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// How long a look into the keyring may take, and how long a change, of which a person knows
// and can say a password for it; and how much a secret may have.
const (
	lookTime   = 5 * time.Second
	changeTime = time.Minute
	// MaxSecret is how many bytes a secret may have. secret-tool takes no more.
	MaxSecret = 8 << 10
	// maxLine is how long a line for security may be, which has twice a secret's bytes in it.
	maxLine = 4 << 10
	maxOut  = 16 << 10
)

// ErrNone says that the machine has no keyring that Lyceum knows.
var ErrNone = errors.New("this machine has no keyring that Lyceum can use: on Linux that takes secret-tool (package libsecret-tools) and a keyring in the session, such as gnome-keyring")

// Get asks for a secret. A machine without a keyring has none in it.
func Get(ctx context.Context, account string) (string, error) {
	var command []string
	switch runtime.GOOS {
	case "linux":
		command = []string{"secret-tool", "lookup", "service", "lyceum", "account", account}
	case "darwin":
		command = []string{"security", "find-generic-password", "-s", "lyceum", "-a", account, "-w"}
	}
	out, err := run(ctx, lookTime, "", command...)
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, ErrNone) {
		return "", nil // both tools say so that there is no such secret
	}
	return strings.TrimSuffix(out, "\n"), err
}

// Put stores a secret, in place of the one that the account had.
func Put(ctx context.Context, account, secret string) error {
	if len(secret) > MaxSecret {
		return fmt.Errorf("store a secret in the keyring: it has %d bytes, more than %d", len(secret), MaxSecret)
	}
	var command []string
	switch runtime.GOOS {
	case "linux":
		command = []string{"secret-tool", "store", "--label=lyceum", "service", "lyceum", "account", account}
	case "darwin":
		command = []string{"security", "-i"}
		secret = fmt.Sprintf("add-generic-password -U -s lyceum -a %q -X %s\n", account, hex.EncodeToString([]byte(secret)))
		if len(secret) > maxLine {
			return fmt.Errorf("store a secret in the keyring: it is too long for the program security")
		}
	}
	_, err := run(ctx, changeTime, secret, command...)
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("it was not taken; is there a keyring in this session, and is it unlocked? %w", ErrNone)
	}
	if err != nil {
		return fmt.Errorf("store a secret in the keyring: %w", err)
	}
	return nil
}

// Drop forgets a secret. One that is not there is forgotten already.
func Drop(ctx context.Context, account string) error {
	var command []string
	switch runtime.GOOS {
	case "linux":
		command = []string{"secret-tool", "clear", "service", "lyceum", "account", account}
	case "darwin":
		command = []string{"security", "delete-generic-password", "-s", "lyceum", "-a", account}
	}
	_, err := run(ctx, changeTime, "", command...)
	if _, ok := errors.AsType[*exec.ExitError](err); ok || errors.Is(err, ErrNone) {
		err = nil
	}
	if err == nil { // whoever says that it is gone must have looked
		var left string
		if left, err = Get(ctx, account); err == nil && left != "" {
			err = errors.New("it is still there")
		}
	}
	if err != nil {
		return fmt.Errorf("take a secret out of the keyring: %w", err)
	}
	return nil
}

// Storing is the command by which a person stores a secret, "" if there is none.
func Storing(account string) string {
	switch runtime.GOOS {
	case "linux":
		return "secret-tool store --label=lyceum service lyceum account " + account
	case "darwin":
		return "security add-generic-password -s lyceum -a " + account + " -w"
	}
	return ""
}

// run runs a program of the keyring's. One that is not there is ErrNone.
func run(ctx context.Context, within time.Duration, in string, command ...string) (string, error) {
	if len(command) == 0 {
		return "", ErrNone
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return "", ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.WaitDelay = time.Second
	cmd.Stdin = strings.NewReader(in)
	out := &limited{}
	cmd.Stdout = out
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s did not answer in %s; is it locked?", command[0], within)
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w", command[0], err)
	}
	return string(out.kept), nil
}

// limited keeps the first bytes of what is written to it.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.kept = append(l.kept, p[:min(len(p), maxOut-len(l.kept))]...)
	return len(p), nil
}
