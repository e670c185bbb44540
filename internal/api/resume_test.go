package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

type asks = func(pattern, path string, body any, change ...func(*http.Request)) answer

// pageOf is a page that is open, as far as it goes on with another run.
type pageOf struct {
	t           *testing.T
	id, secret  string
	at          string
	cookie, key string
}

const word = "0123456789abcdef"

func proof(secret string, words ...string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(m.Sum(nil))
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// openPage signs in with a token and remembers what the server gives for the next run.
func (s *server) openPage(t *testing.T, ask asks, secret string) *pageOf {
	t.Helper()
	p := &pageOf{t: t, at: s.web.Listener.Addr().String()}
	p.cookie, p.key = session(s.do("GET", "/?token="+secret, nil, bare).want(t, 303).header)
	var got struct{ ID, Secret string }
	a := ask("GET /api/session", "/api/session", nil, bare, header("Cookie", p.cookie), header("Lyceum-Key", p.key)).want(t, 200)
	must(t, json.Unmarshal(a.body, &got))
	p.id, p.secret = got.ID, got.Secret
	return p
}

// begin says the page's word, and returns what the server answers.
func (p *pageOf) begin(ask asks) (proof, challenge string, code int) {
	p.t.Helper()
	a := ask("POST /api/session", "/api/session", map[string]any{"id": p.id, "at": p.at, "nonce": word}, bare)
	var got struct{ Proof, Challenge string }
	if a.code == 200 {
		must(p.t, json.Unmarshal(a.body, &got))
	}
	return got.Proof, got.Challenge, a.code
}

// finish gives a proof, and takes the cookie and the key that come for a good one.
func (p *pageOf) finish(ask asks, challenge, proof string) int {
	p.t.Helper()
	a := ask("POST /api/session", "/api/session", map[string]any{"id": p.id, "at": p.at, "nonce": word, "challenge": challenge, "proof": proof}, bare)
	if a.code == 200 {
		var got struct{ Key string }
		must(p.t, json.Unmarshal(a.body, &got))
		cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
		if got.Key == "" || cookie == "" {
			p.t.Errorf("a good proof got the cookie %q and the key %q", cookie, got.Key)
		}
		p.cookie, p.key = cookie, got.Key
	}
	return a.code
}

func (p *pageOf) goOn(ask asks) int {
	p.t.Helper()
	theirs, challenge, code := p.begin(ask)
	if code != 200 {
		return code
	}
	if theirs != proof(p.secret, "server", p.at, word) {
		p.t.Errorf("the server does not prove that it knows the secret")
	}
	return p.finish(ask, challenge, proof(p.secret, "page", p.at, word, challenge))
}

// reads is what the page gets with what it has.
func (p *pageOf) reads(s *server) int {
	return s.do("GET", "/api/quests", nil, bare, header("Cookie", p.cookie), header("Lyceum-Key", p.key)).code
}

// askToGoOn goes through a page that goes on, for the document.
func (w *world) askToGoOn(t *testing.T, ask asks) {
	p := w.openPage(t, ask, token)
	if code := p.goOn(ask); code != 200 {
		t.Errorf("a page that goes on got %d", code)
	}
	ask("POST /api/session", "/api/session", map[string]any{"id": "owner.1", "at": p.at, "nonce": word}, bare).want(t, 401)
	ask("POST /api/session", "/api/session", map[string]any{"id": p.id, "at": p.at, "nonce": "short"}, bare).want(t, 400)
}

// again serves the home anew at the address of a server that it stops.
func (h *home) again(s *server, opts api.Options) *server {
	h.t.Helper()
	h.at = s.web.Listener.Addr().String()
	s.stop()
	return h.serve(opts)
}

func plainly(s *server) asks {
	return func(pattern, path string, body any, change ...func(*http.Request)) answer {
		return s.do(strings.Fields(pattern)[0], path, body, change...)
	}
}

// TestAPageGoesOn: a page that is open when its server starts anew proves itself and goes on; what it
// had before is worth nothing, and its session is no younger than it was.
func TestAPageGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	first := h.serve(api.Options{Failures: 1000})
	scope, err := api.ParseScope("read")
	must(t, err)
	issued, secret := api.NewToken(scope, "", first.rt.Clock(), 0)
	must(t, first.rt.Ledger.PutToken(t.Context(), issued))
	p, reader := first.openPage(t, plainly(first), token), first.openPage(t, plainly(first), secret)
	second := h.again(first, api.Options{Failures: 1000})
	for _, page := range []*pageOf{p, reader} {
		if code := page.reads(second); code != 401 {
			t.Errorf("with the cookie and the key of another run the page reads: %d", code)
		}
		if code := page.goOn(plainly(second)); code != 200 {
			t.Fatalf("the page cannot go on: %d", code)
		}
		if code := page.reads(second); code != 200 {
			t.Errorf("the page has gone on, and cannot read: %d", code)
		}
	}
	if a := second.do("POST", "/api/quests", map[string]any{"problem": "x"}, bare, header("Cookie", reader.cookie), header("Lyceum-Key", reader.key)); a.code != 403 {
		t.Errorf("a page of a token for reading made a quest: %d %s", a.code, a.body)
	}
	must(t, second.rt.Ledger.DropToken(t.Context(), issued.ID))
	if code := reader.goOn(plainly(second)); code != 401 {
		t.Errorf("a page whose token is gone goes on: %d", code)
	}
}

// TestNobodyElseGoesOn: without the secret, with a proof for another word, address or session, too late
// or at another port, nobody comes in.
func TestNobodyElseGoesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{Failures: 1000})
	ask := plainly(s)
	p := s.openPage(t, ask, token)
	_, challenge, _ := p.begin(ask)
	good := proof(p.secret, "page", p.at, word, challenge)
	for what, try := range map[string]func(p pageOf) int{
		"the server's own proof": func(p pageOf) int {
			theirs, challenge, _ := p.begin(ask)
			return p.finish(ask, challenge, theirs)
		},
		"a proof with the key in place of the secret": func(p pageOf) int { return p.finish(ask, challenge, proof(p.key, "page", p.at, word, challenge)) },
		"no challenge":                  func(p pageOf) int { return p.finish(ask, "", proof(p.secret, "page", p.at, word, "")) },
		"a challenge of one's own":      func(p pageOf) int { return p.finish(ask, "zzzz.00", proof(p.secret, "page", p.at, word, "zzzz.00")) },
		"a proof for another challenge": func(p pageOf) int { return p.finish(ask, challenge+"0", good) },
		"another session": func(p pageOf) int {
			p.id = "owner.1"
			return p.goOn(ask)
		},
		"a name in place of the address": func(p pageOf) int {
			_, port, _ := net.SplitHostPort(p.at)
			p.at = "localhost:" + port
			return p.goOn(ask)
		},
		"the address of another port": func(p pageOf) int {
			p.at = "127.0.0.1:1"
			_, _, code := p.begin(func(pattern, path string, body any, change ...func(*http.Request)) answer {
				return ask(pattern, path, body, append(change, func(r *http.Request) { r.Host = p.at })...)
			})
			return code
		},
	} {
		if code := try(*p); code != 401 {
			t.Errorf("%s: got %d, want 401", what, code)
		}
	}
	if code := p.finish(ask, challenge, good); code != 200 {
		t.Errorf("the page itself cannot go on: %d", code)
	}
}

// TestGoingOnHasATime: a proof that comes late is none, and a session ends as if nobody had gone on.
func TestGoingOnHasATime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var passed atomic.Int64
	h.clock = func() event.Time { return runtime.SystemClock() + event.Time(passed.Load()) }
	s := h.serve(api.Options{Failures: 1000})
	ask := plainly(s)
	p := s.openPage(t, ask, token)
	_, challenge, _ := p.begin(ask)
	passed.Store((2 * time.Minute).Microseconds())
	if code := p.finish(ask, challenge, proof(p.secret, "page", p.at, word, challenge)); code != 401 {
		t.Errorf("a proof after two minutes: got %d, want 401", code)
	}
	passed.Store((api.SessionTime - time.Hour).Microseconds())
	if code := p.goOn(ask); code != 200 {
		t.Errorf("shortly before its end a session cannot go on: %d", code)
	}
	passed.Store((api.SessionTime + time.Hour).Microseconds())
	if code := p.reads(s); code != 401 {
		t.Errorf("a session that went on has outlived its end: %d", code)
	}
	if code := p.goOn(ask); code != 401 {
		t.Errorf("a session that has ended goes on: %d", code)
	}
}
