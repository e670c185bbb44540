package api

import (
	"fmt"
	"net/http"
	"strings"

	"lyceum/internal/event"
)

// need is what a route asks of its caller. The first asks for most, so that a row that
// forgets to say is the owner's alone.
type need int

const (
	// admin is for what makes, forks or removes quests, and for what spends more than the
	// owner allowed: the home's own token.
	admin need = iota
	// steer is for orders to the quest in the path.
	steer
	// read is for looking at the quest in the path. Without one in its path a route looks
	// at all quests together, and a token for one quest does not do.
	read
	// known is for what every token may have: what the program is, and lists of which each
	// caller is shown its own part by the handler.
	known
	// open is for everybody: the files of the page.
	open
)

func (n need) String() string { return [...]string{"admin", "steer", "read", "known", "open"}[n] }

// Scope is what a credential is good for. The zero value is good for nothing.
type Scope struct {
	// word is owner, read, steer or quest; quest is the name that goes with the last.
	word, quest string
}

// owner is the scope of the home's own token. No other token can have it.
var owner = Scope{word: "owner"}

// ParseScope reads the scope of a token: read, steer or quest:<name>.
func ParseScope(text string) (Scope, error) {
	word, name, named := strings.Cut(text, ":")
	switch {
	case !named && (word == "read" || word == "steer"):
		return Scope{word: word}, nil
	case named && word == "quest" && event.ValidName(name):
		return Scope{word, name}, nil
	case named && word == "quest":
		return Scope{}, fmt.Errorf("quest name %q: want %s", clip(name), event.NameRule)
	}
	return Scope{}, fmt.Errorf("scope %q: want read, steer or quest:<name>", clip(text))
}

// Quest is the only quest that a scope is for, empty if it is for all.
func (s Scope) Quest() string { return s.quest }

func (s Scope) String() string {
	if s.quest != "" {
		return s.word + ":" + s.quest
	}
	return s.word
}

// allows reports whether a scope is enough for a route. quest is the one in the route's
// path, empty if the route has none.
func (s Scope) allows(n need, quest string) bool {
	switch {
	case n == open || s == owner:
		return true
	case s == Scope{} || n == admin:
		return false
	case n == known:
		return true
	case s.word == "quest":
		return s.quest == quest
	}
	return n == read || s.word == "steer"
}

// enough names the scopes that a route takes, for people.
func enough(n need, quest string) string {
	of := ""
	if quest != "" {
		of = " or quest:" + clip(quest)
	}
	switch n {
	case admin:
		return "the home's own, which is in its file token"
	case steer:
		return "of scope steer" + of
	}
	if of != "" {
		return "of scope read, steer" + of
	}
	return "of scope read or steer"
}

// caller is who asks.
type caller struct {
	Scope
	// id names the token in the store; the owner's has none.
	id string
	// byCookie says that it is a browser's session, which ends at until.
	byCookie bool
	until    event.Time
}

// key tells callers apart: the owner of the home, and each token of the store.
func (c caller) key() string {
	if c.id == "" {
		return c.Scope.String()
	}
	return c.id
}

// must refuses a caller whose scope is not enough.
func (c caller) must(n need, quest string) error {
	if c.allows(n, quest) {
		return nil
	}
	return problemf(http.StatusForbidden, "Authorization", "this needs a token %s; yours is of scope %s", enough(n, quest), c.Scope)
}

// callerKey is where a request's context has its caller.
type callerKey struct{}

// callerOf is who sent a request. One that no guard has seen comes from nobody.
func callerOf(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}
