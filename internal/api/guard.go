package api

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
)

// guard lets requests in. It asks three things: whether the request was meant for this
// server (Host), whether another site's page sent it (Origin), and who sends it: the owner
// of the home, or the holder of a token in the store, by the token or by a session that a
// link with it has begun. What a caller may have is said by the table of routes.
type guard struct {
	passes     passes
	token      string
	cookieName string
	hosts      []string
	secure     bool
	fails      failures
	version    string
	store      ledger.Tokens
	// run is part of every cookie where browsers cannot tell this server from another that
	// listens on its port after it has died: what they would give away then is worth nothing.
	// It is empty where they come by TLS.
	run string
}

func newGuard(o *Options, rt *runtime.Runtime) *guard {
	g := &guard{token: o.Token, secure: o.Secure, version: rt.Version, store: rt.Ledger, fails: failures{clock: rt.Clock, burst: float64(o.Failures)}}
	g.passes.started = rt.Clock()
	if !o.Secure {
		g.run = rand.Text()
	}
	// A browser keeps cookies by host and not by port: servers of two homes need two names.
	g.cookieName = "lyceum-" + g.derived("lyceum cookie name")[:8]
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// derived is something for a purpose that only who has the home's token can make.
func (g *guard) derived(purpose string) string { return hex.EncodeToString(derived(g.token, purpose)) }

// admit returns a request with its caller, or says why it may not pass. row is what it asks
// for, nil for what is not in the table of routes: nobody gets that. It answers itself when
// the link with a token is opened: by a cookie, and a redirect to where the token is not in
// the address.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, row *route) (*http.Request, error) {
	if !g.ours(r.Host) {
		return r, problemf(http.StatusForbidden, "Host", "this server is not called %.100q: use the address that lyceum serve printed, or give the name with --host", r.Host)
	}
	origin := r.Header.Values("Origin")
	if len(origin) > 1 || len(origin) == 1 && !g.sameOrigin(origin[0], r.Host) {
		return r, problemf(http.StatusForbidden, "Origin", "a page of %.100q may not use this server, which is asked for as %.100q: a proxy in front must pass the Host on as people type it", origin[0], r.Host)
	}
	if given, ok := opening(r); ok {
		return r, g.welcome(w, r, given)
	}
	if row != nil && row.need == open {
		return r, nil
	}
	who, alone, err := g.caller(r)
	switch {
	case err != nil:
		return r, err
	case alone:
		return r, g.refuse(r, "a cookie alone is worth nothing here, for every port of this machine is given it: the page brings a key besides, and this browser has lost it. Open a link that lyceum serve --link prints")
	case who.Scope == Scope{}:
		return r, g.refuse(r, "no credentials: open a link that lyceum serve --link prints, or send Authorization: Bearer with what is in the file token of the home, or with a token that lyceum token create made and that is neither revoked nor expired")
	case who.byCookie && !ownPage(r):
		return r, problemf(http.StatusForbidden, "Sec-Fetch-Site", "only this server's own page may use the browser's session")
	case row == nil:
		return r, nothingAt(r)
	}
	if err := greet(w.Header(), r.Header, g.version); err != nil {
		return r, err
	}
	if who.byCookie {
		r = withoutKey(r)
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, who)), nil
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// welcome begins a session for who opens a link. The session is good for what the link's token
// is good for.
func (g *guard) welcome(w http.ResponseWriter, r *http.Request, given string) error {
	if equal(given, g.token) || g.passes.use(g.token, given, g.fails.clock()) {
		g.signIn(w, r, nil)
		return nil
	}
	t, err := g.bySecret(r.Context(), given)
	if err != nil {
		return err
	}
	if t != nil {
		g.signIn(w, r, t)
		return nil
	}
	no := g.refuse(r, "the link's token is not one of this home, or no longer: a link opens once; lyceum serve --link prints another")
	if no.status == http.StatusUnauthorized && strings.Contains(r.Header.Get("Accept"), "text/html") {
		// A person is told by the page, which goes on if the browser is signed in already.
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	return no
}

func (g *guard) refuse(r *http.Request, text string) *problem {
	if !g.fails.allow(r.RemoteAddr) {
		return problemf(http.StatusTooManyRequests, "", "too many wrong credentials: wait a minute")
	}
	return problemf(http.StatusUnauthorized, "Authorization", "%s", text)
}

// opening returns the token of the link that is opened first.
func opening(r *http.Request) (string, bool) {
	if r.Method != http.MethodGet || r.URL.Path != "/" || !strings.Contains(r.URL.RawQuery, "token=") {
		return "", false
	}
	q := r.URL.Query()
	return q.Get("token"), q.Has("token")
}

func equal(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// caller is who sends a request, the zero value for nobody. A bearer token counts alone: a
// cookie beside it does not make up for a wrong one, nor widen a narrow one. alone says that
// nobody sends it, but a browser's cookie without the key.
func (g *guard) caller(r *http.Request) (who caller, alone bool, err error) {
	if g.token == "" {
		return caller{}, false, nil
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if equal(given, g.token) {
			return caller{Scope: owner}, false, nil
		}
		t, err := g.bySecret(r.Context(), given)
		return callerBy(t, false), false, err
	}
	return g.bySession(r)
}

// ours reports whether a Host header names this server. A site whose name was made to
// resolve to this machine has its own name in it.
func (g *guard) ours(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" || slices.Contains(g.hosts, name) {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// sameOrigin reports whether a page is this server's own. Where browsers come by TLS, one
// that came without is not: anybody on the way could have written it.
func (g *guard) sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http" && !g.secure) && strings.EqualFold(u.Host, host)
}

// headers are on every answer.
func headers(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Content-Security-Policy", csp)
	h.Set("Cache-Control", "no-store")
}

// csp lets the page use what this server sends and nothing else. Styles may be inline
// because graphs place their nodes by them.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// failures is a bucket of wrong credentials for each address: so many at once, and then
// one for each second that passes.
type failures struct {
	clock runtime.Clock
	burst float64
	mu    sync.Mutex
	seen  map[string]bucket
}

type bucket struct {
	left float64
	at   event.Time
}

// maxAddresses is how many addresses are remembered.
const maxAddresses = 4096

func (f *failures) allow(remote string) bool {
	host := addressOf(remote)
	now := f.clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil || len(f.seen) >= maxAddresses {
		f.seen = map[string]bucket{} // forgetting is better than growing
	}
	b, ok := f.seen[host]
	if !ok {
		b = bucket{f.burst, now}
	}
	b.left, b.at = min(f.burst, b.left+float64(max(now-b.at, 0))/1e6), now
	allowed := b.left >= 1
	if allowed {
		b.left--
	}
	f.seen[host] = b
	return allowed
}
