package api

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// A token of the store lets somebody do a part of what the owner can. Its secret is shown
// when it is made and is nowhere afterwards: the store has the SHA-256 of it. Whether a token
// holds is looked up with every request, so one that is revoked, by any process, is worth
// nothing from then on.

// SecretPrefix is how secrets begin. What does not begin like that is not looked up.
const SecretPrefix = "lyceum_"

// NewToken makes a token for a store, and its secret. expires is 0 for never.
func NewToken(s Scope, note string, now, expires event.Time) (t ledger.Token, secret string) {
	secret = SecretPrefix + rand.Text() + rand.Text()
	return ledger.Token{
		ID: strings.ToLower(rand.Text()[:8]), Hash: event.HashOf([]byte(secret)), Scope: s.String(), Note: note, Created: now, Expires: expires,
	}, secret
}

// Expired reports whether a token's time is over.
func Expired(t ledger.Token, now event.Time) bool { return t.Expires != 0 && now >= t.Expires }

// callerBy is the holder of a token, nobody if there is none. So is the holder of one whose
// scope this version does not know.
func callerBy(t *ledger.Token, byCookie bool) caller {
	if t == nil {
		return caller{}
	}
	s, err := ParseScope(t.Scope)
	if err != nil {
		return caller{}
	}
	return caller{Scope: s, id: t.ID, byCookie: byCookie}
}

// bySecret finds the token of a secret, nil if none holds. All are compared, each in
// constant time.
func (g *guard) bySecret(ctx context.Context, secret string) (*ledger.Token, error) {
	if g.token == "" || !strings.HasPrefix(secret, SecretPrefix) {
		return nil, nil
	}
	sum := event.HashOf([]byte(secret))
	return g.find(ctx, func(t *ledger.Token) bool { return subtle.ConstantTimeCompare(sum[:], t.Hash[:]) == 1 })
}

// find returns the token that fits and has not expired.
func (g *guard) find(ctx context.Context, fits func(*ledger.Token) bool) (found *ledger.Token, err error) {
	list, err := g.store.Tokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("look up a token: %w", err)
	}
	now := g.fails.clock()
	for i := range list {
		if t := &list[i]; fits(t) && !Expired(*t, now) {
			found = t
		}
	}
	return found, nil
}

// holds reports whether a caller who was let in would be let in again. When the store cannot
// be asked, the answer is no.
func (g *guard) holds(ctx context.Context, who caller) bool {
	if who.until != 0 && g.fails.clock() >= who.until {
		return false
	}
	if who.Scope == owner {
		return true
	}
	t, err := g.find(ctx, func(t *ledger.Token) bool { return t.ID == who.id })
	again := callerBy(t, who.byCookie)
	again.until = who.until
	return err == nil && again == who
}
