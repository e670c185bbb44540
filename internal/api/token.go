package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
)

// TokenFile is the file of a home that holds the token.
const TokenFile = "token"

var tokenForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Token returns the token of a home, which is made if there is none. Two processes that
// start at the same time get the same one: it is written beside its place, and put there
// by a link, which fails if another was faster.
func Token(home string) (string, error) {
	path := filepath.Join(home, TokenFile)
	token, err := ReadToken(home)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // it never fails
	f, err := os.OpenFile(filepath.Join(home, ".token-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("make the token: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = io.WriteString(f, hex.EncodeToString(fresh)+"\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("make the token: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the token: %w", err)
	}
	return ReadToken(home)
}

// ReadToken returns the token of a home that has one.
func ReadToken(home string) (string, error) {
	path := filepath.Join(home, TokenFile)
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("others can read %s: take their rights away with chmod 600, or delete it to have a new token made", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if !tokenForm.MatchString(token) {
		return "", fmt.Errorf("%s does not hold a token of 64 hex digits: delete it, and a new one is made", path)
	}
	return token, nil
}

// CheckToken refuses what cannot be a server's token.
func CheckToken(token string) error {
	if !tokenForm.MatchString(token) {
		return errors.New("a server's token has 64 hex digits: make one with openssl rand -hex 32")
	}
	return nil
}

// SetToken makes a token that a person has chosen that of a home, in the place of the one that it
// has: the programs of this machine find it there.
func SetToken(home, token string) error {
	if err := CheckToken(token); err != nil {
		return err
	}
	if has, err := ReadToken(home); err == nil && has == token {
		return nil
	}
	if err := runtime.ReplaceFile(filepath.Join(home, TokenFile), []byte(token+"\n")); err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	return nil
}

// The note in which a store that many servers share has the hash of their token: it opens nothing,
// and no copy of the store has it.
const (
	tokenNote = ledger.Grant + "server"
	tokenKey  = "token"
)

// ErrOtherToken says that the servers that share a store have another token.
var ErrOtherToken = errors.New("the servers that share this ledger have another token")

// AgreeOn has all servers that share a store take the same token: the first says which, and whoever
// comes with another, or with none, gets ErrOtherToken. With replace it is the new one.
func AgreeOn(ctx context.Context, store ledger.Notes, token string, replace bool) error {
	hash := []byte(event.HashOf([]byte(token)).String())
	for {
		has, err := store.Note(ctx, tokenNote, tokenKey)
		switch {
		case err != nil:
			return fmt.Errorf("look which token the servers of this ledger have: %w", err)
		case token == "" && has.Body == nil, token != "" && bytes.Equal(has.Body, hash):
			return nil
		case token == "" || has.Body != nil && !replace:
			return ErrOtherToken
		}
		if swapped, err := store.SwapNote(ctx, ledger.Note{Kind: tokenNote, Key: tokenKey, Body: hash}, has.Body); err != nil || swapped {
			return err
		}
	}
}

// TokenReader knows the token of a home and notices when another takes its place. Its zero
// value is ready.
type TokenReader struct {
	mu    sync.Mutex
	seen  fs.FileInfo
	token string
}

// Read returns the token, empty if there is none.
func (t *TokenReader) Read(home string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Stat(filepath.Join(home, TokenFile))
	if err != nil {
		return t.token // one that was removed may still open a server
	}
	if t.seen == nil || !os.SameFile(info, t.seen) || !info.ModTime().Equal(t.seen.ModTime()) {
		if token, err := ReadToken(home); err == nil {
			t.token, t.seen = token, info
		}
	}
	return t.token
}
