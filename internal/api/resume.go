package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/ledger"
)

// Without TLS a session is good for one run of the server (guard.run). A page that was read from
// that run and is still open may go on with the next one all the same. It has a secret, which it
// keeps in its memory alone: whoever takes the port of a dead server can serve another page under
// the same address, and find what a browser stores for it, but not that. Whoever listens now first
// proves to know the secret; then the page proves it, and gets a cookie and a key of the new run.
// The session stays as old as it is. Both proofs name the address, so that nobody at another port
// can have this server make them.

// resumption is what a page says to go on: first a word of its own, then its proof.
type resumption struct {
	ID string `json:"id"`
	// At is the address that the page is at, such as 127.0.0.1:8080.
	At string `json:"at"`
	// Nonce is the page's word, Challenge the server's; Proof is over both.
	Nonce     string `json:"nonce"`
	Challenge string `json:"challenge,omitempty"`
	Proof     string `json:"proof,omitempty"`
}

// sessionJSON is empty for who comes with a token: there is no session.
type sessionJSON struct {
	ID     string `json:"id,omitempty"`
	Secret string `json:"secret,omitempty"`
}

type resumedJSON struct {
	// Proof and Challenge are the answer to the page's word, Key that to its proof.
	Proof     string `json:"proof,omitempty"`
	Challenge string `json:"challenge,omitempty"`
	Key       string `json:"key,omitempty"`
}

// challengeTime is how long a page may take to prove itself.
const challengeTime = time.Minute

func (g *guard) resumeSecret(id string, t *ledger.Token) string {
	return g.derived("lyceum resume 1 " + id + " " + secretOf(t))
}

// proved is what somebody who knows a secret says about words.
func proved(secret string, words ...string) string {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = m.Write([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(m.Sum(nil))
}

// session gives a page what it takes to go on with the next run.
func (s *Server) session(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	for _, c := range r.CookiesNamed(s.guard.cookieName) {
		who, t, err := s.guard.session(r.Context(), c.Value)
		if err != nil {
			return err
		}
		if who.Scope != (Scope{}) && who == callerOf(r) {
			id := idOf(c.Value)
			return s.send(w, http.StatusOK, sessionJSON{id, s.guard.resumeSecret(id, t)})
		}
	}
	return s.send(w, http.StatusOK, sessionJSON{})
}

// resume lets a page go on that belongs to an earlier run of this home's server.
func (s *Server) resume(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var ask resumption
	if err := decode(r, &ask); err != nil {
		return err
	}
	if n := len(ask.Nonce); n < 16 || n > 128 {
		return problemf(http.StatusBadRequest, "nonce", "want 16 to 128 letters that were not used before")
	}
	g := s.guard
	no := "there is no such session, or it has ended: open a link that lyceum serve --link prints"
	if !hears(r, ask.At) {
		return g.refuse(r, "this server is not at the address that the page is at: open a link that lyceum serve --link prints")
	}
	secret := ""
	who, t, err := g.begun(r.Context(), ask.ID, func(t *ledger.Token) bool {
		secret = g.resumeSecret(ask.ID, t)
		return ask.Proof == "" || equal(ask.Proof, proved(secret, "page", ask.At, ask.Nonce, ask.Challenge))
	})
	switch {
	case err != nil:
		return err
	case who.Scope == (Scope{}):
		return g.refuse(r, no)
	case ask.Proof == "":
		return s.send(w, http.StatusOK, resumedJSON{Proof: proved(secret, "server", ask.At, ask.Nonce), Challenge: g.challenge(ask.Nonce, int64(g.fails.clock()))})
	case !g.fresh(ask.Nonce, ask.Challenge):
		return g.refuse(r, "the proof came too late: try again")
	}
	cookie := g.signed(ask.ID, t)
	g.setCookie(w, cookie)
	return s.send(w, http.StatusOK, resumedJSON{Key: g.keyOf(cookie)})
}

// challenge is a word of this run for a page's, at a time.
func (g *guard) challenge(nonce string, at int64) string {
	when := strconv.FormatInt(at, 36)
	return when + "." + g.derived("lyceum challenge 1 "+when+" "+nonce+" "+g.run)
}

// fresh reports whether a challenge is one of this run's, for that word, and not too old.
func (g *guard) fresh(nonce, challenge string) bool {
	when, _, _ := strings.Cut(challenge, ".")
	at, err := strconv.ParseInt(when, 36, 64)
	if err != nil || !equal(challenge, g.challenge(nonce, at)) {
		return false
	}
	age := int64(g.fails.clock()) - at
	return age >= 0 && age <= challengeTime.Microseconds()
}

// hears reports whether a request came in at an address, by the socket and not by what the request
// says: that can be anything. A name is no address, for it can be another's as well.
func hears(r *http.Request, at string) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.String() == at
}
