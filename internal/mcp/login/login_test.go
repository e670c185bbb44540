package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/mcp"
	"lyceum/internal/mcp/login"
	"lyceum/internal/mcp/login/logintest"
	"lyceum/internal/mcp/setting"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drawer is a keyring for a test.
type drawer struct {
	mu   sync.Mutex
	kept map[string]string
}

func (d *drawer) store() login.Store {
	d.kept = map[string]string{}
	return login.Store{
		Get: func(_ context.Context, account string) (string, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.kept[account], nil
		},
		Put: func(_ context.Context, account, secret string) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.kept[account] = secret
			return nil
		},
		Drop: func(_ context.Context, account string) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.kept, account)
			return nil
		},
	}
}

func at(p *logintest.Place) login.Server {
	return login.Server{Address: mcp.Address{URL: p.URL(), Private: p.Private()}, Hint: "run: lyceum mcp login behind"}
}

// person is somebody who agrees to every page, and counts them.
func person(t *testing.T, pages *atomic.Int64) *login.Browser {
	return &login.Browser{Open: func(page, _ string) {
		pages.Add(1)
		go func() {
			if err := logintest.Agree(page); err != nil {
				t.Error(err)
			}
		}()
	}}
}

func logIn(t *testing.T, p *logintest.Place, s login.Server) (*login.Login, error) {
	t.Helper()
	var pages atomic.Int64
	l, tools, err := person(t, &pages).Login(t.Context(), s)
	if err == nil && (tools != 1 || pages.Load() != 1) {
		t.Errorf("the server has %d tools after %d pages, want 1 and 1", tools, pages.Load())
	}
	if err != nil {
		for _, token := range p.Given() {
			if strings.Contains(err.Error(), token) {
				t.Errorf("an error has a token in it: %v", err)
			}
		}
	}
	return l, err
}

// call calls the tool behind a login.
func call(t *testing.T, k *login.Keeper, s login.Server) (string, error) {
	t.Helper()
	c, err := mcp.Dial(t.Context(), s.Address, mcp.Options{Login: k.Handler(s)})
	if err != nil {
		return "", err
	}
	defer c.Close()
	r, err := c.Call(t.Context(), "secret", []byte(`{}`), 0)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

func TestALoginIsKeptUsedAndRenewed(t *testing.T) {
	p, d := logintest.New(t), &drawer{}
	store := d.store()
	var hidden sync.Map
	k := &login.Keeper{Store: store, Secret: func(s string) { hidden.Store(s, true) }}
	s := at(p)
	_, err := call(t, k, s)
	if _, ok := errors.AsType[*mcp.LoginError](err); !ok || !strings.Contains(err.Error(), "wants a login: run: lyceum mcp login behind") || len(p.Asked()) != 0 {
		t.Fatalf("without a login: got %v, want what a person can do", err)
	}
	l, err := logIn(t, p, s)
	if err != nil {
		t.Fatal(err)
	}
	if l.Issuer != p.Auth.URL || l.Resource != p.URL() || l.TokenURL != p.Auth.URL+"/token" || l.Refresh == "" || l.Revoke == "" {
		t.Errorf("the login is %+v", l)
	}
	if err := store.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	works := func(when string) {
		t.Helper()
		if text, err := call(t, k, s); err != nil || text != p.Word {
			t.Fatalf("%s: it says %q, %v", when, text, err)
		}
	}
	works("after the login, in a process that has looked before")
	p.Void()
	works("with a token that the server does not take any more")
	asked := p.Asked()
	if last := asked[len(asked)-1]; len(asked) != 2 || last.Get("grant_type") != "refresh_token" || last.Get("resource") != p.URL() || last.Get("client_id") != "registered" {
		t.Errorf("tokens were asked for with %v: want a refresh, for this server", asked)
	}
	// The place gives each refresh token once: a new process must have the new one.
	k = &login.Keeper{Store: store, Secret: func(s string) { hidden.Store(s, true) }}
	p.Void()
	works("in a new process")
	for _, token := range p.Given() {
		if _, ok := hidden.Load(token); !ok {
			t.Errorf("the token %s was used, and nobody was told that it is secret", token)
		}
	}
	// A server that takes no token does not have one after another made.
	n := len(p.Asked())
	p.Void()
	for range 3 {
		if _, err := call(t, k, s); err == nil || !strings.Contains(err.Error(), "renewed just now") {
			t.Errorf("a server that takes no token: %v", err)
		}
	}
	if got := len(p.Asked()); got != n {
		t.Errorf("%d more tokens were asked for", got-n)
	}
	p.Set(func(l *logintest.Lies) { l.Ended = true })
	k = &login.Keeper{Store: store}
	if _, err := call(t, k, s); err == nil || !strings.Contains(err.Error(), "the login has ended") || strings.Contains(err.Error(), "leaked") {
		t.Errorf("a login that was taken back: got %v, want that a person logs in, and nothing of the place's own words", err)
	}
	if err := store.Forget(t.Context(), p.URL()); err != nil || len(d.kept) != 0 {
		t.Errorf("forgotten, and there is %v: %v", d.kept, err)
	}
}

// A token that is about to end is renewed before it is sent.
func TestATokenThatEndsIsRenewedBefore(t *testing.T) {
	p, d := logintest.New(t), &drawer{}
	k, s := &login.Keeper{Store: d.store()}, at(p)
	p.Set(func(l *logintest.Lies) { l.Expires = 5 })
	l, err := logIn(t, p, s)
	if err != nil {
		t.Fatal(err)
	}
	p.Set(func(l *logintest.Lies) { l.Expires = 0 })
	if err := k.Store.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	n := p.Refused()
	if text, err := call(t, k, s); err != nil || text != p.Word || len(p.Asked()) != 2 || p.Refused() != n {
		t.Errorf("it says %q, %v, after %d requests for tokens, want 2, and the server has refused %d, want none", text, err, len(p.Asked()), p.Refused()-n)
	}
}

// Two processes renew at the same time: the later one finds what the faster one has kept.
func TestAnotherProcessWasFaster(t *testing.T) {
	p, d := logintest.New(t), &drawer{}
	store, s := d.store(), at(p)
	l, err := logIn(t, p, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	slow := &login.Keeper{Store: store}
	if _, err := call(t, slow, s); err != nil {
		t.Fatal(err)
	}
	p.Void()
	if _, err := call(t, &login.Keeper{Store: store}, s); err != nil {
		t.Fatal(err)
	}
	if text, err := call(t, slow, s); err != nil || text != p.Word || len(p.Asked()) != 2 {
		t.Errorf("the slower one says %q, %v, after %d requests, want 2", text, err, len(p.Asked()))
	}
}

func TestClientCredentials(t *testing.T) {
	p, d := logintest.New(t), &drawer{}
	s := at(p)
	s.Settings = setting.Login{Grant: setting.ClientCredentials, Client: "us", Secret: "US_SECRET", Issuer: p.Auth.URL}
	s.Secret = logintest.Secret
	k := &login.Keeper{Store: d.store()}
	for range 2 {
		if text, err := call(t, k, s); err != nil || text != p.Word {
			t.Fatalf("it says %q, %v", text, err)
		}
	}
	if asked := p.Asked(); len(asked) != 1 || asked[0].Get("resource") != p.URL() || len(d.kept) != 0 {
		t.Errorf("asked %v, kept %v: want one request, for this server, and nothing kept", asked, d.kept)
	}
	for why, change := range map[string]func(*login.Server){
		"does not match": func(s *login.Server) { s.Settings.Issuer = "https://other.example" },
		"refuses":        func(s *login.Server) { s.Secret = "wrong-one" },
		"US_SECRET":      func(s *login.Server) { s.Secret = "" },
	} {
		other := s
		change(&other)
		n := len(p.Asked())
		if _, err := call(t, k, other); err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "wrong-one") {
			t.Errorf("got %v, want %q", err, why)
		}
		if why != "refuses" && len(p.Asked()) != n {
			t.Errorf("%s: the secret was sent", why)
		}
	}
	p.Set(func(l *logintest.Lies) { l.Audience = "https://bank.example" })
	p.Void()
	if _, err := call(t, &login.Keeper{Store: d.store()}, s); err == nil || !strings.Contains(err.Error(), "is for https://bank.example") {
		t.Errorf("a token for another: got %v", err)
	}
}

func TestLiesAreSeenThrough(t *testing.T) {
	var reached atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	}))
	defer inner.Close()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, err := fmt.Fprint(w, `{"issuer":"`)
		for piece := strings.Repeat("x", 64<<10); err == nil; {
			_, err = fmt.Fprint(w, piece)
		}
	}
	for _, c := range []struct {
		name string
		lie  logintest.Lies
		want string
	}{
		{"a wrong issuer in the metadata", logintest.Lies{Issuer: "https://other.example"}, "does not match issuer"},
		{"a wrong issuer to the browser", logintest.Lies{Iss: "https://other.example"}, "does not match expected issuer"},
		{"a token for another", logintest.Lies{Audience: "https://bank.example"}, "is for https://bank.example"},
		{"a redirect of the token's request", logintest.Lies{Elsewhere: inner.URL + "/token"}, "another host"},
		{"endless metadata", logintest.Lies{Meta: endless}, "more than 1 MiB"},
		{"metadata that are no JSON", logintest.Lies{Meta: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }}, "content type"},
		{"a redirect of the metadata", logintest.Lies{Meta: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner.URL, http.StatusFound) }}, "another host"},
		{"tokens at a private address", logintest.Lies{TokenURL: inner.URL + "/token"}, "private_addresses"},
		{"a page that is a script", logintest.Lies{Meta: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": "http://" + r.Host, "authorization_endpoint": "javascript:alert(1)", "token_endpoint": "http://" + r.Host + "/token",
				"registration_endpoint": "http://" + r.Host + "/register", "code_challenge_methods_supported": []string{"S256"}})
		}}, "scheme"},
		{"a person who refuses", logintest.Lies{Refuse: true}, "refused: access_denied"},
	} {
		p := logintest.New(t)
		p.Lies = c.lie
		if l, err := logIn(t, p, at(p)); err == nil || !strings.Contains(err.Error(), c.want) || l != nil {
			t.Errorf("%s: got %+v, %v, want %q", c.name, l, err, c.want)
		}
	}
	// A server that says that it is described at a private address: nobody looks there, and
	// the login goes on by what stands where it should.
	p := logintest.New(t)
	p.Resource = inner.URL + "/meta"
	if _, err := logIn(t, p, at(p)); err != nil {
		t.Errorf("described elsewhere: %v", err)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("a private address that is not listed was reached %d times", n)
	}
	p = logintest.New(t)
	p.Audience = "desk"
	s := at(p)
	s.Settings.Audience = "desk"
	if _, err := logIn(t, p, s); err != nil {
		t.Errorf("a token for another that its owner names: %v", err)
	}
	p = logintest.New(t)
	p.Opaque = true
	if _, err := logIn(t, p, at(p)); err != nil {
		t.Errorf("a token that says nothing: %v", err)
	}
}

// Any page can send a browser to the place where Lyceum waits for it. Only the state of the
// login that is under way is heard, and once.
func TestOnlyTheRightVisitorIsHeard(t *testing.T) {
	p := logintest.New(t)
	status := func(page string) int {
		resp, err := http.Get(page)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	defer http.DefaultClient.CloseIdleConnections()
	b := &login.Browser{Open: func(page, host string) {
		u, err := url.Parse(page)
		if err != nil || host != u.Host {
			t.Errorf("it shows %s of %s: %v", page, host, err)
			return
		}
		back := u.Query().Get("redirect_uri")
		if !strings.HasPrefix(back, "http://127.0.0.1:") {
			t.Errorf("the browser comes back to %s", back)
		}
		for _, wrong := range []string{back, back + "?code=x", back + "?code=x&state=wrong", back + "?error=access_denied&state=", strings.Replace(back, "/callback", "/", 1) + "?state=" + u.Query().Get("state")} {
			if got := status(wrong); got != http.StatusBadRequest && got != http.StatusNotFound {
				t.Errorf("%s is answered with %d", wrong, got)
			}
		}
		alone := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := alone.Get(page)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
		right := resp.Header.Get("Location")
		if first, second := status(right), status(right); first != http.StatusOK || second == http.StatusOK {
			t.Errorf("the right visitor is answered with %d, and again with %d", first, second)
		}
	}}
	if _, _, err := b.Login(t.Context(), at(p)); err != nil {
		t.Fatal(err)
	}
	// A place that brings back another state gets nobody anywhere: the person gives up.
	p = logintest.New(t)
	p.State = "another"
	ctx, cancel := context.WithCancel(t.Context())
	b.Open = func(page, _ string) {
		if got := status(page); got != http.StatusBadRequest {
			t.Errorf("another state is answered with %d", got)
		}
		cancel()
	}
	if l, _, err := b.Login(ctx, at(p)); err == nil || l != nil || len(p.Asked()) != 0 {
		t.Errorf("another state: got %+v, %v, %d requests for tokens, want none", l, err, len(p.Asked()))
	}
}

func TestALoginIsOfAnAddressAndOfNoOther(t *testing.T) {
	p, d := logintest.New(t), &drawer{}
	store := d.store()
	l, err := logIn(t, p, at(p))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Save(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	var sent sync.Map
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"), true)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer other.Close()
	s := at(p)
	s.URL, s.Private = other.URL+"/mcp", append(s.Private, strings.TrimPrefix(other.URL, "http://"))
	if _, err := call(t, &login.Keeper{Store: store}, s); err == nil || !strings.Contains(err.Error(), "wants a login") {
		t.Errorf("got %v", err)
	}
	sent.Range(func(header, _ any) bool {
		if header != "" {
			t.Errorf("another server was sent %v", header)
		}
		return true
	})
	// Nor does it help to put one where another belongs.
	d.kept = map[string]string{}
	_ = store.Save(t.Context(), l)
	for account, text := range d.kept {
		d.kept = map[string]string{account: strings.Replace(text, p.URL(), "https://x.example/", 1)}
	}
	if got, err := store.Load(t.Context(), p.URL()); got != nil || err == nil {
		t.Errorf("a login of another server was loaded: %+v, %v", got, err)
	}
}
