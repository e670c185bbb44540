package login

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/mcp"
	"lyceum/internal/plain"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Browser is a person at a browser, who logs in.
type Browser struct {
	// Open shows a page of a host to the person. It returns at once.
	Open func(page, host string)
	// Port is where the browser comes back to, on this machine; 0 is any.
	Port int
	// Version is Lyceum's own.
	Version string
}

// visitTime is how long a person may take at a page; maxVisits is how many pages there are: a
// server may want more once it knows who it is.
const (
	visitTime = 5 * time.Minute
	maxVisits = 2
)

// Login sends the person to where the server wants it, and returns the login that came of it
// and how many tools the server has then. A server that wants none is an error.
func (b *Browser) Login(ctx context.Context, s Server) (*Login, int, error) {
	v, err := b.Begin(s)
	if err != nil {
		return nil, 0, err
	}
	defer v.Close()
	c, err := mcp.Dial(ctx, s.Address, mcp.Options{Version: b.Version, Login: v})
	if err != nil {
		return nil, 0, v.fault(err)
	}
	defer c.Close()
	list, err := c.List(ctx)
	if err != nil {
		return nil, 0, v.fault(err)
	}
	if v.login == nil {
		return nil, 0, errors.New("the server wants no login: its tools can be used as they are")
	}
	return v.login, len(list), nil
}

// Visit is a login under way: the SDK's flow, and the place where the browser comes back to.
type Visit struct {
	auth.OAuthHandler
	b      *Browser
	wire   *wire
	client *http.Client
	home   *http.Server
	at     string // where the browser comes back to
	over   sync.WaitGroup

	mu sync.Mutex
	// state is what the browser must bring along, empty if nobody is awaited; back gets what
	// it brings, once.
	state  string
	back   chan url.Values
	visits int
	// login and why are what came of it.
	login *Login
	why   error
}

// Begin makes a login ready. Whoever calls it closes the Visit.
func (b *Browser) Begin(s Server) (*Visit, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(b.Port)))
	if err != nil {
		return nil, fmt.Errorf("wait for the browser: %w", err)
	}
	v := &Visit{b: b, at: "http://" + l.Addr().String() + "/callback"}
	v.client, v.wire = over(s.http(), s.URL, "")
	v.home = &http.Server{Handler: http.HandlerFunc(v.welcome), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	v.over.Go(func() { _ = v.home.Serve(l) })
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: v.at, AuthorizationCodeFetcher: v.fetch, RequestRefreshToken: true, Client: v.client,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Lyceum", RedirectURIs: []string{v.at}, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			l, err := v.wire.made(c, t, s.Settings.Audience)
			if err != nil {
				return nil, v.fail(err)
			}
			v.mu.Lock()
			defer v.mu.Unlock()
			v.login = l
			return oauth2.StaticTokenSource(t), nil
		},
	}
	switch u, _ := url.Parse(s.Settings.Client); {
	case s.Settings.Client == "":
	case s.Secret == "" && u != nil && u.Scheme == "https" && u.Path != "":
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: s.Settings.Client}
	default:
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: s.Settings.Client, Issuer: s.Settings.Issuer}
		if s.Secret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: s.Secret}
		}
	}
	if v.OAuthHandler, err = auth.NewAuthorizationCodeHandler(c); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// Authorize implements auth.OAuthHandler.
func (v *Visit) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	if err := v.OAuthHandler.Authorize(ctx, r, resp); err != nil {
		return v.fail(err)
	}
	return nil
}

// fail keeps the first reason why there is no login: the SDK may try again, in vain.
func (v *Visit) fail(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why == nil {
		v.why = err
	}
	return v.why
}

func (v *Visit) fault(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.why != nil {
		err = v.why
	}
	return fmt.Errorf("log in: %w", fault(err))
}

// Close ends the place where the browser would come back to.
func (v *Visit) Close() {
	_ = v.home.Close()
	v.over.Wait()
	v.client.CloseIdleConnections()
}

// fetch shows the page of a login, and waits until the browser comes back from it.
func (v *Visit) fetch(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.User != nil || !plain.Printable(a.URL) || u.Scheme != "https" && !(u.Scheme == "http" && (u.Hostname() == "127.0.0.1" || u.Hostname() == "localhost" || u.Hostname() == "::1")) {
		return nil, errors.New("the page to log in is no address of https")
	}
	v.mu.Lock()
	if v.visits++; v.visits > maxVisits || v.why != nil {
		defer v.mu.Unlock()
		return nil, errors.Join(v.why, errors.New("the server wants to be logged in to again and again"))
	}
	v.state, v.back = u.Query().Get("state"), make(chan url.Values, 1)
	back := v.back
	v.mu.Unlock()
	v.b.Open(a.URL, u.Host)
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	select {
	case q := <-back:
		if code := q.Get("error"); code != "" {
			return nil, fmt.Errorf("the login was refused: %s", plain.Brief(strings.TrimSpace(code+" "+q.Get("error_description")), 200))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("nobody came back from the browser: %w", ctx.Err())
	}
}

// welcome takes the browser that comes back. Any page can send it here: only who brings the
// state of this login is heard, and once.
func (v *Visit) welcome(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	q := r.URL.Query()
	if r.Method != http.MethodGet || "http://"+r.Host+r.URL.Path != v.at {
		http.NotFound(w, r)
		return
	}
	v.mu.Lock()
	known := v.state != "" && subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(v.state)) == 1
	back := v.back
	if known {
		v.state = ""
	}
	v.mu.Unlock()
	if !known {
		http.Error(w, "This is no answer to a login that Lyceum waits for.", http.StatusBadRequest)
		return
	}
	back <- q
	fmt.Fprintln(w, "Lyceum has what it needs. You can close this page, and see in the terminal what came of it.")
}
