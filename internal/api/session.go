package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// A session is a browser that has opened a link. It holds two things. A cookie says which token
// was in the link and when that was. But a browser gives a cookie to every port of a host, so
// whoever else listens on this machine may come to have it. Hence the key: it follows from the
// cookie, for who has the home's token, and only the page of this origin ever learns of it, from
// behind the # of the address that the link leads to, which no browser sends to anybody. The
// page brings it with each request, and the cookie alone opens nothing.
//
// A session ends after SessionTime, and with its token. The server keeps nothing of it.

// SessionTime is how long a browser is signed in.
const SessionTime = 7 * 24 * time.Hour

// keyHeader is where the page brings the key. What a browser fetches by itself, a live stream,
// a picture or a download, has it as the parameter keyParameter, which is for reading alone.
const (
	keyHeader    = "Lyceum-Key"
	keyParameter = "key"
)

// ofOwner stands in a cookie in place of the name of a token of the store.
const ofOwner = "owner"

// cookieFor makes the cookie of a session that begins now. t is nil for the owner's.
func (g *guard) cookieFor(t *ledger.Token, now event.Time) string {
	name := ofOwner
	if t != nil {
		name = t.ID
	}
	return g.signed(name+"."+strconv.FormatInt(int64(now), 36), t)
}

// signed is the cookie of a session, which proves that this home's server saw the secret of the
// token it names. id is that name and the beginning.
func (g *guard) signed(id string, t *ledger.Token) string {
	return id + "." + g.derived("lyceum cookie 3 "+id+" "+secretOf(t)+" "+g.run)
}

func secretOf(t *ledger.Token) string {
	if t == nil {
		return ""
	}
	return t.Hash.String()
}

// keyOf is what the page must bring besides the cookie.
func (g *guard) keyOf(cookie string) string { return g.derived("lyceum page 1 " + cookie) }

// session is who a cookie of a request stands for, nobody if it is not good, or no longer. It
// does not look at the key.
func (g *guard) session(ctx context.Context, cookie string) (caller, *ledger.Token, error) {
	return g.begun(ctx, idOf(cookie), func(t *ledger.Token) bool { return equal(cookie, g.signed(idOf(cookie), t)) })
}

// idOf is what of a cookie is no proof.
func idOf(cookie string) string { return cookie[:max(strings.LastIndexByte(cookie, '.'), 0)] }

// begun is whose session an id names, nobody's if it has ended, and its token. proves says whether
// there is proof of it, by a token that it might be of.
func (g *guard) begun(ctx context.Context, id string, proves func(*ledger.Token) bool) (caller, *ledger.Token, error) {
	name, begun, _ := strings.Cut(id, ".")
	at, err := strconv.ParseInt(begun, 36, 64)
	now, end := g.fails.clock(), event.Time(at)+event.Time(SessionTime.Microseconds())
	if err != nil || at <= 0 || event.Time(at) > now || now >= end {
		return caller{}, nil, nil
	}
	if name == ofOwner {
		if !proves(nil) {
			return caller{}, nil, nil
		}
		return caller{Scope: owner, byCookie: true, until: end}, nil, nil
	}
	t, err := g.find(ctx, func(t *ledger.Token) bool { return t.ID == name && proves(t) })
	if t == nil || err != nil {
		return caller{}, nil, err
	}
	who := callerBy(t, true)
	who.until = end
	return who, t, nil
}

// bySession is who sends a request by a cookie with its key. alone says that there is a good
// cookie, without.
func (g *guard) bySession(r *http.Request) (who caller, alone bool, err error) {
	given := r.Header.Get(keyHeader)
	if given == "" && !changes(r) {
		given = r.URL.Query().Get(keyParameter)
	}
	for _, c := range r.CookiesNamed(g.cookieName) {
		who, _, err := g.session(r.Context(), c.Value)
		if err != nil {
			return caller{}, false, err
		}
		if who.Scope == (Scope{}) {
			continue
		}
		if equal(given, g.keyOf(c.Value)) {
			return who, false, nil
		}
		alone = true
	}
	return caller{}, alone, nil
}

// ownPage reports whether a browser says that a request is this page's own, or a person's. One of
// another port is of the same site to it, and not of the same origin. Old browsers say nothing.
func ownPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// withoutKey is a request without the key in its address: no handler need know it, and no log
// has it.
func withoutKey(r *http.Request) *http.Request {
	if !strings.Contains(r.URL.RawQuery, keyParameter+"=") {
		return r
	}
	var rest []string
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if !strings.HasPrefix(part, keyParameter+"=") {
			rest = append(rest, part)
		}
	}
	out, at := *r, *r.URL
	at.RawQuery = strings.Join(rest, "&")
	out.URL, out.RequestURI = &at, at.RequestURI()
	return &out
}

// signIn begins a session, and leads to the page, which takes its key from the address.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request, t *ledger.Token) {
	cookie := g.cookieFor(t, g.fails.clock())
	g.setCookie(w, cookie)
	w.Header().Set("Cache-Control", "no-store")
	to := url.URL{Path: "/", Fragment: "key=" + g.keyOf(cookie)}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (g *guard) setCookie(w http.ResponseWriter, cookie string) {
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName, Value: cookie, Path: "/", HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteStrictMode, MaxAge: int(SessionTime.Seconds()),
	})
}
