// Package login gets tokens for MCP servers that want them, and keeps them.
//
// A login belongs to the address of a server, not to a name: whoever writes a quest.yaml
// chooses names, and no name leads a token elsewhere. Logins are kept in the keyring of the
// operating system and nowhere else. What a server says of where to log in is believed once,
// while a person looks on (Browser); from then on its tokens are refreshed where they came
// from and nowhere else, whatever the server says.
//
// The official SDK finds the place and speaks OAuth: authorization code with PKCE, and client
// credentials. On top of it, tokens that say who issued them and whom they are for are held
// to that.
package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lyceum/internal/keyring"
	"lyceum/internal/mcp"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Server is one that a login is for.
type Server struct {
	mcp.Address
	// Settings are what its owner says of logins; the zero value says nothing.
	Settings setting.Login
	// Secret is what the variable of Settings.Secret holds.
	Secret string
	// Hint is what a person does to log in, such as a command.
	Hint string
	// HTTP speaks with the place to log in; nil is Address.Outside.
	HTTP *http.Client
}

func (s *Server) http() *http.Client {
	if s.HTTP != nil {
		return s.HTTP
	}
	return s.Outside()
}

// Login is what is kept of one.
type Login struct {
	// Server is the address that it is for, Resource what the server calls itself.
	Server   string `json:"server"`
	Resource string `json:"resource"`
	// Issuer made the tokens; more are had at TokenURL, by Client.
	Issuer   string   `json:"issuer"`
	TokenURL string   `json:"token_url"`
	Client   string   `json:"client"`
	Secret   string   `json:"secret,omitzero"`
	Style    int      `json:"style,omitzero"`
	Scopes   []string `json:"scopes,omitempty"`
	// Revoke is where tokens are given back, empty if nowhere.
	Revoke  string    `json:"revoke,omitzero"`
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
}

// Store keeps logins. Its zero value is the keyring of the operating system.
type Store struct {
	Get  func(ctx context.Context, account string) (string, error)
	Put  func(ctx context.Context, account, secret string) error
	Drop func(ctx context.Context, account string) error
}

func (s Store) filled() Store {
	if s.Get == nil {
		return Store{keyring.Get, keyring.Put, keyring.Drop}
	}
	return s
}

// account is what a login is called in the keyring: its host, for a person who looks there,
// and a hash of the address, which may be long.
func account(server string) string {
	sum := sha256.Sum256([]byte(server))
	host := ""
	if u, err := url.Parse(server); err == nil {
		host = u.Host
	}
	return "mcp:" + host + ":" + hex.EncodeToString(sum[:12])
}

// Load is the login of a server, nil if there is none.
func (s Store) Load(ctx context.Context, server string) (*Login, error) {
	text, err := s.filled().Get(ctx, account(server))
	if err != nil || text == "" {
		return nil, err
	}
	l := &Login{}
	// The error would repeat what is in it.
	if json.Unmarshal([]byte(text), l) != nil || l.Server != server || l.Access == "" || l.TokenURL == "" {
		return nil, errors.New("what the keyring has of this login cannot be read: log out and in again")
	}
	return l, nil
}

// Save keeps a login in place of the one before.
func (s Store) Save(ctx context.Context, l *Login) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return s.filled().Put(ctx, account(l.Server), string(data))
}

// Forget drops the login of a server.
func (s Store) Forget(ctx context.Context, server string) error {
	return s.filled().Drop(ctx, account(server))
}

// Check tries whether a login could be kept, before a person is sent to make one.
func (s Store) Check(ctx context.Context) error {
	if err := s.filled().Put(ctx, "mcp:check", "nothing"); err != nil {
		return err
	}
	return s.filled().Drop(ctx, "mcp:check")
}

// Revoked tells the place where a login comes from that it is over. A place that knows no such
// thing is not told.
func (l *Login) Revoked(ctx context.Context, s Server) error {
	if l.Revoke == "" {
		return nil
	}
	token := l.Refresh // what it has made ends with it
	if token == "" {
		token = l.Access
	}
	form := url.Values{"token": {token}, "client_id": {l.Client}}
	if l.Secret != "" {
		form.Set("client_secret", l.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	if r.URL.Scheme != "https" && root(l.Revoke) != root(l.TokenURL) {
		return errors.New("tell the place to log in: its address is none of https")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := s.http()
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("tell the place to log in: %w", fault(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("tell the place to log in: it answers %s", plain.Brief(resp.Status, 100))
	}
	return nil
}

// secrets are the values of a login that no text may have.
func (l *Login) secrets() []string { return []string{l.Access, l.Refresh, l.Secret} }

// Ended reports whether nothing can be had with the login any more, as far as anybody can tell
// from here.
func (l *Login) Ended() bool { return l.Refresh == "" && !l.fresh(now()) }

// early is how long before its end a token is renewed.
const early = 30 * time.Second

// fresh reports whether the token can be sent.
func (l *Login) fresh(now time.Time) bool {
	return l.Access != "" && (l.Expires.IsZero() || now.Before(l.Expires.Add(-early)))
}

// maxToken is how long a token may be: it goes into a header and into the keyring.
const maxToken = 6 << 10

// take puts the tokens of an answer into the login, if they are what was asked for.
func (l *Login) take(t *oauth2.Token, audience string) error {
	switch {
	case !strings.EqualFold(t.Type(), "Bearer"):
		return fmt.Errorf("the token is of the type %s, and not Bearer", plain.Brief(t.Type(), 40))
	case t.AccessToken == "" || len(t.AccessToken)+len(t.RefreshToken) > maxToken:
		return fmt.Errorf("the tokens are empty, or have more than %d bytes", maxToken)
	case plain.ASCII(t.AccessToken, maxToken) != t.AccessToken || strings.ContainsAny(t.AccessToken, " \t"):
		return errors.New("the token has characters that no token has")
	}
	if err := claims(t.AccessToken, l.Issuer, l.Resource, audience); err != nil {
		return err
	}
	l.Access, l.Expires = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		l.Refresh = t.RefreshToken
	}
	return nil
}

// claims holds a token to what it says of itself. A token that says nothing, for it is no JWT,
// passes: only the server can tell what it is. A token for somebody else does not: the server
// could use it there in the person's name.
func claims(token, issuer, resource, audience string) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil
	}
	var c struct {
		Issuer   any `json:"iss"`
		Audience any `json:"aud"`
	}
	if json.Unmarshal(data, &c) != nil {
		return nil
	}
	if iss, ok := c.Issuer.(string); ok && strings.TrimSuffix(iss, "/") != strings.TrimSuffix(issuer, "/") {
		return fmt.Errorf("the token says that %s issued it, and not %s", plain.Brief(iss, 100), plain.Brief(issuer, 100))
	}
	var for_ []string
	switch a := c.Audience.(type) {
	case nil:
		return nil
	case string:
		for_ = []string{a}
	case []any:
		for _, one := range a {
			if text, ok := one.(string); ok {
				for_ = append(for_, text)
			}
		}
	}
	if oauthex.MatchesResource(for_, resource) || audience != "" && slices.Contains(for_, audience) {
		return nil
	}
	return fmt.Errorf("the token is for %s, and not for %s: it is not used; if it is meant, say so with audience under login", plain.Brief(strings.Join(for_, ", "), 200), plain.Brief(resource, 200))
}

// fault says what went wrong without repeating what was sent or came back.
func fault(err error) error {
	if wanted, ok := errors.AsType[*mcp.LoginError](err); ok {
		return wanted
	}
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		code := answer.ErrorCode
		if code == "" && answer.Response != nil {
			code = answer.Response.Status
		}
		return fmt.Errorf("the place where tokens are had refuses: %s", plain.Brief(code, 100))
	}
	if answer, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return fmt.Errorf("the place to log in does not let Lyceum register: %s; if you have a client there, name it with login in config.yaml", plain.Brief(answer.ErrorCode, 100))
	}
	text := err.Error()
	if i := strings.Index(text, "registration failed with status"); i >= 0 {
		text = "the place to log in does not let Lyceum register; if you have a client there, name it with login in config.yaml"
	}
	return errors.New(plain.Brief(text, 300))
}
