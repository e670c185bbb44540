package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"lyceum/internal/mcp"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/plain"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Keeper is the logins of a process: all that use a server use the same tokens, and renew them
// one after another. The zero value uses the keyring of the operating system.
type Keeper struct {
	Store Store
	// Secret is told each value that may be in no text, before it is used; nil is told none.
	Secret func(string)

	mu  sync.Mutex
	all map[string]*held
}

// held is the login of one server. Whoever has the turn reads and changes what is below it.
type held struct {
	k    *Keeper
	s    Server
	turn chan struct{}

	looked bool
	login  *Login
	// renewed is when a new token was asked for last, why what was wrong with it.
	renewed time.Time
	why     error
}

// How often a token is renewed at most: a server that takes none does not have Lyceum ask for
// one after another.
const renewEvery = 10 * time.Second

// Handler is what a connection to a server gets tokens by.
func (k *Keeper) Handler(s Server) auth.OAuthHandler {
	key := strings.Join([]string{s.URL, s.Settings.Grant, s.Settings.Client, s.Settings.Issuer, s.Settings.Audience, s.Secret, s.Hint}, "\n")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[string]*held{}
	}
	h := k.all[key]
	if h == nil {
		h = &held{k: k, s: s, turn: make(chan struct{}, 1)}
		k.all[key] = h
	}
	return h
}

func (k *Keeper) hide(secrets ...string) {
	for _, s := range secrets {
		if s != "" && k.Secret != nil {
			k.Secret(s)
		}
	}
}

func (h *held) hold(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *held) release() { <-h.turn }

// source is a held login for one request.
type source struct {
	ctx context.Context
	h   *held
}

// TokenSource implements auth.OAuthHandler.
func (h *held) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	return source{ctx, h}, nil
}

// Token is what is sent with a request: nothing if there is no login, or none that still
// holds. Then the server says what it wants, and Authorize is asked.
func (s source) Token() (*oauth2.Token, error) {
	h := s.h
	if err := h.hold(s.ctx); err != nil {
		return nil, err
	}
	defer h.release()
	if h.s.Settings.Grant != setting.ClientCredentials && !h.looked {
		h.looked = true
		// A keyring that fails is told when the server wants a login.
		if l, err := h.k.Store.Load(s.ctx, h.s.URL); err == nil {
			h.keep(l)
		}
	}
	if h.login != nil && !h.login.fresh(now()) && h.login.Refresh != "" && now().Sub(h.renewed) >= renewEvery {
		_ = h.renew(s.ctx) // what is wrong with it is told when the server wants a login
	}
	if h.login == nil || !h.login.fresh(now()) {
		return nil, nil
	}
	return &oauth2.Token{AccessToken: h.login.Access}, nil
}

func (h *held) keep(l *Login) {
	h.login = l
	if l != nil {
		h.k.hide(l.secrets()...)
	}
}

// Authorize implements auth.OAuthHandler. It renews the token that a server did not take, once;
// the request is then tried again. It never sends anybody to a browser.
func (h *held) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	defer resp.Body.Close()
	challenges, _ := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if resp.StatusCode == http.StatusForbidden {
		for _, c := range challenges {
			if c.Params["error"] == "insufficient_scope" {
				return h.wants("the login does not allow what was asked, which takes the scope %s", plain.Brief(c.Params["scope"], 100))
			}
		}
		return nil // the request is refused, login or not
	}
	used := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if err := h.hold(ctx); err != nil {
		return err
	}
	defer h.release()
	if h.s.Settings.Grant == setting.ClientCredentials {
		return h.byCredentials(ctx, r, resp, used)
	}
	l, err := h.k.Store.Load(ctx, h.s.URL)
	switch {
	case err != nil:
		return h.wants("the server wants a login (the keyring: %v)", err)
	case l == nil:
		h.keep(nil)
		return h.wants("the server wants a login")
	}
	other := l.Access != used
	h.keep(l)
	switch {
	case other && l.fresh(now()):
		return nil // somebody has logged in, or renewed it
	case l.Refresh == "":
		return h.wants("the login has ended")
	case now().Sub(h.renewed) < renewEvery && h.why != nil:
		return h.why
	case now().Sub(h.renewed) < renewEvery:
		return h.wants("the server does not take a token that was renewed just now")
	}
	return h.renew(ctx)
}

func (h *held) wants(why string, args ...any) error {
	return &mcp.LoginError{Why: fmt.Sprintf(why, args...) + ": " + h.s.Hint}
}

// renew gets a new token where the old one came from, and keeps it.
func (h *held) renew(ctx context.Context) error {
	h.renewed = now()
	h.why = h.refresh(ctx)
	return h.why
}

func (h *held) refresh(ctx context.Context) error {
	l := *h.login
	client, _ := over(h.s.http(), l.Server, l.Resource)
	defer client.CloseIdleConnections()
	c := &oauth2.Config{ClientID: l.Client, ClientSecret: l.Secret, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: oauth2.AuthStyle(l.Style)}}
	t, err := c.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), &oauth2.Token{RefreshToken: l.Refresh}).Token()
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.ErrorCode != "" {
		// Another process may have been faster, and the old token is good for nothing then.
		if late, err := h.k.Store.Load(ctx, l.Server); err == nil && late != nil && late.Access != l.Access && late.fresh(now()) {
			h.keep(late)
			return nil
		}
		return h.wants("the login has ended (%v)", fault(err))
	}
	if err != nil {
		return fmt.Errorf("renew the login: %w", fault(err))
	}
	h.k.hide(t.AccessToken, t.RefreshToken)
	if err := l.take(t, h.s.Settings.Audience); err != nil {
		return fmt.Errorf("renew the login: %w", err)
	}
	h.login = &l
	// What cannot be kept can be used: the next process finds out.
	_ = h.k.Store.Save(context.WithoutCancel(ctx), &l)
	return nil
}

// byCredentials gets a token by the client's own secret.
func (h *held) byCredentials(ctx context.Context, r *http.Request, resp *http.Response, used string) error {
	if h.login != nil && h.login.Access != used && h.login.fresh(now()) {
		return nil // somebody else got one
	}
	switch soon := now().Sub(h.renewed) < renewEvery; {
	case soon && h.why != nil:
		return h.why
	case soon:
		return &mcp.LoginError{Why: "the server does not take a token that was made just now for the client " + plain.Brief(h.s.Settings.Client, 100)}
	}
	h.renewed = now()
	h.why = h.ask(ctx, r, resp)
	return h.why
}

// ask asks for a token in the name of the client.
func (h *held) ask(ctx context.Context, r *http.Request, resp *http.Response) error {
	if h.s.Secret == "" {
		return &mcp.LoginError{Why: "the variable " + h.s.Settings.Secret + ", which its login wants, holds nothing that can be sent"}
	}
	h.k.hide(h.s.Secret)
	client, w := over(h.s.http(), h.s.URL, "")
	defer client.CloseIdleConnections()
	c, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: &oauthex.ClientCredentials{ClientID: h.s.Settings.Client, Issuer: h.s.Settings.Issuer, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: h.s.Secret}},
		HTTPClient:  client,
	})
	if err != nil {
		return err
	}
	var t *oauth2.Token
	if err = c.Authorize(ctx, r, resp); err == nil {
		var s oauth2.TokenSource
		if s, err = c.TokenSource(ctx); err == nil {
			t, err = s.Token()
		}
	}
	if err != nil {
		return &mcp.LoginError{Why: "log in by client credentials: " + fault(err).Error()}
	}
	h.k.hide(t.AccessToken)
	l := &Login{Server: h.s.URL, Resource: w.named(), Issuer: h.s.Settings.Issuer}
	if err := l.take(t, h.s.Settings.Audience); err != nil {
		return &mcp.LoginError{Why: "log in by client credentials: " + err.Error()}
	}
	h.login = l
	return nil
}
