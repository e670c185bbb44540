package api

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
)

// PassTime is how long a pass can be used.
const PassTime = 5 * time.Minute

// Pass makes a token that opens the page once, within PassTime. It is for a link that others
// can read: on a screen, in a log, among the arguments of the program that opens it. Whoever
// has the home's token can make one, and need not ask the server for it.
func Pass(token string, now event.Time) string {
	text := strconv.FormatInt(int64(now), 10) + "." + rand.Text()
	return text + "." + hex.EncodeToString(derived(token, passPurpose+text))
}

const passPurpose = "lyceum pass 1 "

// Pass makes a pass for this server.
func (s *Server) Pass() string { return Pass(s.guard.token, s.rt.Clock()) }

// passes are those that were used. The server knows of none from before it was started, so
// it takes none from before: they may have been used.
type passes struct {
	started event.Time
	mu      sync.Mutex
	used    map[string]event.Time // when each was made; it is forgotten once it has expired
}

// use reports whether a token in a link is a pass that nobody has used, and uses it up.
func (p *passes) use(token, given string, now event.Time) bool {
	made, rest, _ := strings.Cut(given, ".")
	nonce, mac, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseInt(made, 10, 64)
	at := event.Time(n)
	if err != nil || token == "" || !equal(mac, hex.EncodeToString(derived(token, passPurpose+made+"."+nonce))) {
		return false
	}
	expired := func(at event.Time) bool { return now-at > event.Time(PassTime.Microseconds()) }
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, at := range p.used {
		if expired(at) {
			delete(p.used, k)
		}
	}
	if _, again := p.used[given]; again || at < p.started || at > now || expired(at) {
		return false
	}
	if p.used == nil {
		p.used = map[string]event.Time{}
	}
	p.used[given] = at
	return true
}
