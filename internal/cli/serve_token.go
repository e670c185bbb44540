package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/api"
	"lyceum/internal/ledger"
)

// tokenFileVariable names a file that holds the server's token.
const tokenFileVariable = "LYCEUM_TOKEN_FILE"

// chosenToken is the token that a person has chosen for the server, empty if the home's own is to do. A secret of
// lyceum token create is one that the command line brings to a server, and none of the server's own.
func chosenToken() (string, error) {
	token, from := strings.TrimSpace(os.Getenv(tokenVariable)), tokenVariable
	if token == "" || strings.HasPrefix(token, api.SecretPrefix) {
		path := os.Getenv(tokenFileVariable)
		if path == "" {
			return "", nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("read the token that %s names: %w", tokenFileVariable, err)
		}
		token, from = strings.TrimSpace(string(data)), tokenFileVariable
	}
	if err := api.CheckToken(token); err != nil {
		return "", usagef("%s: %w", from, err)
	}
	return token, nil
}

// serverToken is the token of the server that is about to be up: the one that was chosen, else the home's own. Servers
// that share a ledger have the same one.
func (a *app) serverToken(ctx context.Context, replace bool) (string, error) {
	token, err := chosenToken()
	if err != nil {
		return "", err
	}
	chosen := token != ""
	if !chosen {
		// A home that has none gets one only if there is no other to agree with.
		if token, err = api.ReadToken(a.home); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if err := a.agreeOn(ctx, token, replace); err != nil {
		return "", err
	}
	if chosen {
		return token, api.SetToken(a.home, token)
	}
	if token != "" {
		return token, nil
	}
	if token, err = api.Token(a.home); err != nil {
		return "", err
	}
	return token, a.agreeOn(ctx, token, replace)
}

// agreeOn sees to it that servers that share the ledger have one token.
func (a *app) agreeOn(ctx context.Context, token string, replace bool) error {
	if _, shared := a.rt.Ledger.(ledger.Pool); !shared {
		return nil
	}
	err := api.AgreeOn(ctx, a.rt.Ledger, token, replace)
	if errors.Is(err, api.ErrOtherToken) {
		return fmt.Errorf("%w than this one: set %s (or %s, a file) to theirs, or copy the file token from the home of one of them to %s. To have all of them take this one, start this server with --replace-token, and the others again with this token",
			err, tokenVariable, tokenFileVariable, filepath.Join(a.home, api.TokenFile))
	}
	return err
}
