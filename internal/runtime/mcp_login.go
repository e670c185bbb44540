package runtime

import (
	"context"
	"errors"
	"strings"
	"sync"

	"lyceum/internal/mcp"
	"lyceum/internal/mcp/login"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// logins are those of all quests of a runtime, so that two of them do not renew the same one.
// It is made when the first server is connected to.
type logins struct {
	once   sync.Once
	keeper login.Keeper
}

// keeper is where tokens come from. Each that is used is secret from then on.
func (r *Runtime) keeper() *login.Keeper {
	r.logins.once.Do(func() {
		store := login.Store{
			Get:  func(context.Context, string) (string, error) { return "", nil },
			Put:  func(context.Context, string, string) error { return errors.New("nothing is kept here") },
			Drop: func(context.Context, string) error { return nil },
		}
		if r.Servers.Logins != nil {
			store = *r.Servers.Logins
		}
		r.logins.keeper.Store, r.logins.keeper.Secret = store, r.headers.add
	})
	return &r.logins.keeper
}

// login is where tokens for the server come from, nil if none are sent to it.
func (s *served) login(to mcp.Address) auth.OAuthHandler {
	if !s.set.LogsIn() {
		return nil
	}
	at := login.Server{Address: to, Hint: "a person runs: lyceum mcp login --url " + s.set.URL}
	if known, ok := s.l.rt.Servers.Known[s.server]; ok && known.URL == s.set.URL {
		at.Hint = "a person runs: lyceum mcp login " + s.server
	}
	if s.set.Login != nil {
		at.Settings = *s.set.Login
		if at.Settings.Secret != "" {
			at.Secret = s.variable(at.Settings.Secret)
		}
	}
	return s.l.rt.keeper().Handler(at)
}

// variable is what a variable holds that may be sent.
func (s *served) variable(name string) string {
	if s.l.rt.Servers.Variable == nil {
		return ""
	}
	return strings.TrimSpace(s.l.rt.Servers.Variable(name))
}
