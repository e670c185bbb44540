package api

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
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
// of the home, by its token or the cookie made of it, or the holder of a token in the store.
// What a caller may have is said by the table of routes.
type guard struct {
	pass               pass
	token              string
	cookieName, cookie string
	hosts              []string
	secure             bool
	fails              failures
	version            string
	store              ledger.Tokens
}

// ownHeader is one that a form of another site cannot send.
const ownHeader = "Lyceum-Request"

func newGuard(o *Options, rt *runtime.Runtime) *guard {
	g := &guard{token: o.Token, secure: o.Secure, version: rt.Version, store: rt.Ledger, fails: failures{clock: rt.Clock, burst: float64(o.Failures)}}
	// A browser keeps cookies by host and not by port: servers of two homes need two names.
	g.cookieName, g.cookie = "lyceum-"+g.derived("lyceum cookie name")[:8], g.derived("lyceum cookie 1")
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// derived is something for a purpose that only who has the home's token can make.
func (g *guard) derived(purpose string) string {
	mac := hmac.New(sha256.New, []byte(g.token))
	mac.Write([]byte(purpose))
	return hex.EncodeToString(mac.Sum(nil))
}

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
	who, err := g.caller(r)
	switch {
	case err != nil:
		return r, err
	case who.Scope == Scope{}:
		return r, g.refuse(r, "no credentials: open the link that lyceum serve printed, or send Authorization: Bearer with what is in the file token of the home, or with a token that lyceum token create made and that is neither revoked nor expired")
	case who.byCookie && changes(r) && len(origin) == 0 && r.Header.Get(ownHeader) == "":
		return r, problemf(http.StatusForbidden, "Origin", "a change by cookie needs an Origin or the header %s", ownHeader)
	case row == nil:
		return r, nothingAt(r)
	}
	if err := greet(w.Header(), r.Header, g.version); err != nil {
		return r, err
	}
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, who)), nil
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// welcome makes a cookie of the token in the link that is opened first. The cookie is good
// for what the token is good for.
func (g *guard) welcome(w http.ResponseWriter, r *http.Request, given string) error {
	cookie := g.cookie
	if !equal(given, g.token) && !g.pass.use(given, g.fails.clock()) {
		t, err := g.bySecret(r.Context(), given)
		if err != nil {
			return err
		}
		if t == nil {
			return g.refuse(r, "the link's token is not one of this home, or no longer: open the link that lyceum serve printed last, or ask for a new token")
		}
		cookie = g.cookieOf(t)
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName, Value: cookie, Path: "/", HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
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
// cookie beside it does not make up for a wrong one, nor widen a narrow one.
func (g *guard) caller(r *http.Request) (caller, error) {
	if g.token == "" {
		return caller{}, nil
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if equal(given, g.token) {
			return caller{Scope: owner}, nil
		}
		t, err := g.bySecret(r.Context(), given)
		return callerBy(t, false), err
	}
	for _, c := range r.CookiesNamed(g.cookieName) {
		if equal(c.Value, g.cookie) {
			return caller{Scope: owner, byCookie: true}, nil
		}
		t, err := g.byCookie(r.Context(), c.Value)
		if t != nil || err != nil {
			return callerBy(t, true), err
		}
	}
	return caller{}, nil
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

// pass is a token for one use, within a minute. It is for a link that others on the
// machine can read: in the arguments of the program that opens it.
type pass struct {
	mu    sync.Mutex
	code  string
	until event.Time
}

func (p *pass) make(now event.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.until = rand.Text()+rand.Text(), now+60e6
	return p.code
}

func (p *pass) use(given string, now event.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !equal(given, p.code) || now > p.until {
		return false
	}
	p.code = ""
	return true
}

// Pass makes a token that opens the page once, within a minute. The last one counts.
func (s *Server) Pass() string { return s.guard.pass.make(s.rt.Clock()) }

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
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
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
