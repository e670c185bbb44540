package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model/respond"
	"lyceum/internal/model/wire"
)

// patience is how long an agent may take to send a request, and to take a piece of an
// answer: a slot of the provider's is not held for one that does not listen.
func (h *Handler) patience() time.Duration { return cmp.Or(h.Patience, time.Minute) }

// exchange is a request and its answer.
type exchange struct {
	*Handler
	w     http.ResponseWriter
	r     *http.Request
	route route
	wish  *wish
	model Model
	most  event.Usage
	call  Call
	// hidden are the secrets, once somebody has asked for them.
	hidden *wire.Secrets
}

// serve reads a request, puts it to the gate, and has it answered.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, rt route) {
	body, done := h.read(w, r, rt)
	defer done()
	if body == nil {
		return
	}
	wish, err := look(rt, body, h.Allowed)
	if denied := (*deniedError)(nil); errors.As(err, &denied) {
		fail(w, rt.wire, http.StatusForbidden, denied.Error())
		return
	}
	if err != nil {
		fail(w, rt.wire, http.StatusBadRequest, "the request cannot be read: "+short(err.Error()))
		return
	}
	name, m, ok := h.find(wish.model)
	switch {
	case !ok:
		fail(w, rt.wire, http.StatusForbidden, fmt.Sprintf("the quest lists no model %q for this agent; it may ask %s", short(wish.model), strings.Join(h.names(), ", ")))
		return
	case m.Upstream != nil && !m.Upstream.Speaks(rt.wire):
		fail(w, rt.wire, http.StatusForbidden, fmt.Sprintf("the model %s is asked in the format %s, and this is %s", name, m.Upstream.Format(), rt.wire))
		return
	}
	x := &exchange{Handler: h, w: w, r: r, route: rt, wish: wish, model: m, most: most(m, body, wish)}
	asked := &event.GatewayAsked{
		Wire: rt.wire, Path: rt.path, Model: name, Count: rt.count, Hash: event.HashOf(body), Size: int64(len(body)), Most: x.most,
	}
	if h.Any || h.Models[wish.model] != (Model{}) {
		asked.Model = wish.model
	}
	if x.call, err = h.Ask(r.Context(), asked); err != nil {
		x.refused(err)
		return
	}
	if m.Upstream == nil {
		x.answer(body)
		return
	}
	x.forward(body)
}

// most is what a request can use at most.
func most(m Model, body []byte, w *wish) event.Usage {
	if m.Upstream == nil {
		return event.Usage{Input: int64(len(body)), Output: w.limit}
	}
	return m.Upstream.Most(int64(len(body)), w.limit)
}

// refused tells the agent why its request does not go out.
func (x *exchange) refused(err error) {
	no := (*Refusal)(nil)
	switch {
	case errors.As(err, &no) && no.Spent:
		overspent(x.w, x.route.wire, no.Text)
	case errors.As(err, &no):
		fail(x.w, x.route.wire, http.StatusForbidden, no.Text)
	default:
		fail(x.w, x.route.wire, http.StatusServiceUnavailable, "the quest takes no requests now: "+short(err.Error()))
	}
}

// read takes the body in, within bounds of size and time. It is nil if the agent was told
// what is wrong with it; done gives its room back.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, rt route) (body []byte, done func()) {
	done = func() {}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != "application/json") {
		fail(w, rt.wire, http.StatusBadRequest, "the body must be application/json")
		return nil, done
	}
	if r.Header.Get("Content-Encoding") != "" {
		fail(w, rt.wire, http.StatusBadRequest, "the body must not be compressed")
		return nil, done
	}
	control := http.NewResponseController(w)
	late := time.AfterFunc(h.patience(), func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	defer late.Stop()
	in := http.MaxBytesReader(w, r.Body, maxBody)
	var out bytes.Buffer
	held := int64(0)
	done = func() { h.held.Add(-held) }
	if n := r.ContentLength; n > 0 && n <= 1<<20 {
		out.Grow(int(n) + bytes.MinRead)
	}
	for {
		n, err := io.CopyN(&out, in, 64<<10)
		held += n
		if h.held.Add(n) > maxHeld {
			fail(w, rt.wire, http.StatusServiceUnavailable, "the requests of this agent are too large together: wait for one of them")
			return nil, done
		}
		tooLarge := (*http.MaxBytesError)(nil)
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && out.Len() > 0:
			return out.Bytes(), done
		case errors.As(err, &tooLarge):
			fail(w, rt.wire, http.StatusRequestEntityTooLarge, fmt.Sprintf("a request has at most %d MiB", maxBody>>20))
		case errors.Is(err, io.EOF):
			fail(w, rt.wire, http.StatusBadRequest, "the request is empty")
		default:
			w.Header().Set("Connection", "close")
			fail(w, rt.wire, http.StatusRequestTimeout, "the request did not come whole, or took too long")
		}
		return nil, done
	}
}

// renamed is the body with the provider's name of the model.
func (x *exchange) renamed(body []byte) wire.Body {
	name := x.model.Upstream.Name()
	if x.wish.to == 0 || name == x.wish.model {
		return wire.Body{body}
	}
	return wire.Body{body[:x.wish.from], respond.Write(name), body[x.wish.to:]}
}

// betas are the beginnings of what Anthropic's clients may switch on: how an answer is made,
// not what it can reach, nor what it costs.
var betas = []string{
	"claude-code-", "interleaved-thinking-", "fine-grained-tool-streaming-", "prompt-caching-", "extended-cache-ttl-", "token-counting-", "token-efficient-tools-",
	"context-management-", "effort-", "structured-outputs-", "output-128k-", "prompt-caching-scope-", "adaptive-thinking-", "redact-thinking-", "thinking-token-count-",
}

var version = [...]string{"2023-06-01", "2023-01-01"}

// header is what goes out of the agent's.
func (x *exchange) header() http.Header {
	h := http.Header{"Accept": {"application/json"}}
	if x.wish.stream {
		h.Set("Accept", "text/event-stream")
	}
	if x.route.wire != event.WireAnthropic {
		return h
	}
	h.Set("Anthropic-Version", version[0])
	if x.r.Header.Get("Anthropic-Version") == version[1] {
		h.Set("Anthropic-Version", version[1])
	}
	var on []string
	for _, word := range strings.Split(strings.Join(x.r.Header.Values("Anthropic-Beta"), ","), ",") {
		word = strings.TrimSpace(word)
		for _, known := range betas {
			if strings.HasPrefix(word, known) && len(word) < 64 && plainWord(word) {
				on = append(on, word)
				break
			}
		}
	}
	if len(on) > 0 && len(on) <= 32 {
		h.Set("Anthropic-Beta", strings.Join(on, ","))
	}
	return h
}

func plainWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// secrets are all that must not be in an answer.
func (x *exchange) secrets() *wire.Secrets {
	if x.hidden != nil {
		return x.hidden
	}
	var list []string
	if x.Secrets != nil {
		list = x.Secrets()
	}
	if up := x.model.Upstream; up != nil {
		list = append(slices.Clone(list), up.Key())
	}
	x.hidden = wire.NewSecrets(list...)
	return x.hidden
}

// clean is a message without secrets, or pieces of the key.
func (x *exchange) clean(text string) string {
	if up := x.model.Upstream; up != nil {
		text = up.Redact(text)
	}
	return string(x.secrets().Clean([]byte(text)))
}

// end records what came of the request. Nothing is left to tell the agent if that fails.
func (x *exchange) end(res *event.GatewayResult) bool {
	if x.route.count {
		res.Usage, res.Estimated = event.Usage{}, false
	}
	return x.call.End(res) == nil
}

// bill says what an answer cost by the provider's price.
func (x *exchange) bill(res *event.GatewayResult) {
	if x.route.count || res.Usage == (event.Usage{}) {
		return
	}
	price := x.model.Upstream.Price()
	if price == nil {
		res.Unpriced = true
		return
	}
	res.Price, res.Cost = price, price.Cost(res.Usage)
	if res.Estimated && res.Usage.Cached+res.Usage.CacheWrites == 0 {
		res.Cost = price.Most(res.Usage.Input, res.Usage.Output)
	}
}

// give writes an answer that is whole. An agent that does not take it in time loses its
// connection, and not the place of another request.
func (x *exchange) give(body []byte) {
	_, watch, stop := x.watched()
	defer stop()
	watch.Reset(x.patience())
	_, _ = x.w.Write(body)
}

// watched is a context that ends when an agent does not take what it is sent, too.
func (x *exchange) watched() (ctx context.Context, watch *time.Timer, stop func()) {
	ctx, cancel := context.WithCancel(x.r.Context())
	control := http.NewResponseController(x.w)
	watch = time.AfterFunc(x.patience(), func() {
		cancel()
		_ = control.SetWriteDeadline(time.Unix(1, 0))
	})
	watch.Stop()
	return ctx, watch, func() { watch.Stop(); cancel() }
}
