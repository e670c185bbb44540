// Package gateway is where programs inside a computer find models, without a key: a handler
// for the port gateway that speaks the formats of the providers.
//
// A request is read whole and looked through before anything happens: only paths that
// generate, count or list, only models that the quest lists, and only kinds of tools and
// content that are known to stay where they are. Then it is put to the gate of the quest,
// goes out with the provider's key, otherwise unchanged but for the name of the model, and
// its answer passes back byte by byte, but for secrets, should a provider send some back: in
// their place stands "[key]". What it used is on disk before the agent has the end
// of the answer. A failure is told in the words of the format that was spoken.
//
// Whoever asks is hostile. Nothing of a request but its body and a few headers goes out,
// nothing of an answer but its body and a few headers comes in, and all of it has bounds.
package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// Upstream is a model at its provider.
type Upstream interface {
	// Name is what the provider calls the model.
	Name() string
	// Format is what the provider speaks; Speaks reports whether requests of another
	// format can go there all the same.
	Format() string
	Speaks(format string) bool
	// Counter reads what an answer used.
	Counter(format string) wire.Counter
	// Price is nil if nobody knows it. Most is what a request of so many bytes can use at
	// most, whose answer has at most limit tokens; 0 is a request that does not say.
	Price() *event.Price
	Most(size, limit int64) event.Usage
	// Key must not come back in an answer; Redact takes it, and pieces of it, out of a text.
	Key() string
	Redact(text string) string
	// Send makes one request. An error that is a *wire.UnsentError says that nothing went
	// out.
	Send(ctx context.Context, quest, format, verb string, header http.Header, body wire.Body) (*http.Response, error)
}

// Model is how a model is asked: at its provider, or here.
type Model struct {
	Upstream Upstream
	Local    model.Model
}

// Call is a request that has passed the gate.
type Call interface {
	// Model is the one that the quest means.
	Model() string
	// End says what came of it, and returns once that is durable. It is called once.
	End(*event.GatewayResult) error
}

// Refusal says that a request did not pass the gate.
type Refusal struct {
	Text string
	// Spent says that a limit is reached.
	Spent bool
}

func (r *Refusal) Error() string { return r.Text }

// Handler answers an outside agent. Its exported fields do not change once it serves.
type Handler struct {
	// Quest and Agent are whose requests these are.
	Quest, Agent string
	// Models are those that the quest lists for the agent, by the quest's names; Own is the
	// agent's own. Any lets every other name mean that one.
	Models map[string]Model
	Own    string
	Any    bool
	// Allowed are types of tools and content that are let pass though they lead out.
	Allowed []string
	// Ask puts a request to the gate, and waits until it may go out. A *Refusal says that it
	// may not.
	Ask func(ctx context.Context, b *event.GatewayAsked) (Call, error)
	// Secrets are texts that must not get into a computer, besides the keys of models. It may
	// be nil.
	Secrets func() []string
	// Clock is the time that answers are dated with.
	Clock func() event.Time
	// Most is how many requests may be under way, 32 if zero; Patience how long the agent may
	// take to send one, or to take a piece of an answer, a minute if zero.
	Most     int64
	Patience time.Duration

	open, held atomic.Int64
}

// The bounds of what an agent may send and get.
const (
	maxOpen   = 32
	maxBody   = 32 << 20
	maxHeld   = 128 << 20 // of all bodies that are held at a time
	maxAnswer = 16 << 20  // of one that is not streamed, or of the end of one that is
	maxFault  = 256 << 10 // of an error of the provider
	maxName   = 200
)

// admits reports whether the token of a request was made for this agent: for its name, or
// for a task of it, as agent-0/task-3.
func (h *Handler) admits(r *http.Request) bool {
	who, _, _ := strings.Cut(computer.Caller(r.Context()), "/")
	return who == h.Agent
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rt, known := routeOf(r)
	if !h.admits(r) {
		fail(w, rt.wire, http.StatusUnauthorized, "this token is not for agent "+h.Agent)
		return
	}
	if !known {
		fail(w, rt.wire, http.StatusForbidden, fmt.Sprintf("%s %s is nothing that the gateway passes on: it generates, counts tokens and lists models", short(r.Method), short(r.URL.Path)))
		return
	}
	if h.open.Add(1) > cmp.Or(h.Most, maxOpen) {
		h.open.Add(-1)
		w.Header().Set("Retry-After", "1")
		fail(w, rt.wire, http.StatusTooManyRequests, "too many requests of this agent are under way: wait for one of them")
		return
	}
	defer h.open.Add(-1)
	if rt.verb == verbList {
		h.list(w, rt)
		return
	}
	h.serve(w, r, rt)
}

// find is the model that a name means, and its name in the quest.
func (h *Handler) find(name string) (own string, m Model, ok bool) {
	if m, ok := h.Models[name]; ok {
		return name, m, true
	}
	for _, own := range slices.Sorted(maps.Keys(h.Models)) {
		if up := h.Models[own].Upstream; up != nil && up.Name() == name {
			return own, h.Models[own], true
		}
	}
	if h.Any {
		return h.Own, h.Models[h.Own], true
	}
	return "", Model{}, false
}

// names are those that a list of models shows, the agent's own first.
func (h *Handler) names() []string {
	out := []string{h.Own}
	for _, name := range slices.Sorted(maps.Keys(h.Models)) {
		if name != h.Own {
			out = append(out, name)
		}
	}
	return out
}

// short is a stranger's word for a message.
func short(s string) string { return event.Shorten(strings.ToValidUTF8(s, "?"), 100) }
