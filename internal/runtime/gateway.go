package runtime

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// Gateway is where an outside agent of the quest finds models: a handler for the port
// gateway of its computer. It is asked for on the goroutine that owns the quest, and
// answers for as long as the run lasts.
func (q *Quest) Gateway(name string) (http.Handler, error) { return q.gateway(name) }

func (l *live) gateway(name string) (http.Handler, error) {
	a := l.state.Agent(name)
	switch {
	case a == nil || a.Mind() != agent.ByOutside:
		return nil, fmt.Errorf("quest %s has no outside agent %s: only those have a gateway", l.key, name)
	case a.Model == "":
		return nil, fmt.Errorf("quest %s names no model that agent %s may ask for", l.key, name)
	}
	spec := event.GatewaySpec{}
	if a.Gateway != nil {
		spec = *a.Gateway
	}
	ways := map[string]gateway.Model{}
	for _, m := range modelsOf(a) {
		way, err := l.way(l.work, m)
		if err != nil {
			return nil, err
		}
		ways[m] = way
	}
	own := a.Model
	return &gateway.Handler{
		Agent: name, Quest: l.key, Own: own, Any: spec.Any, Allowed: spec.Tools, Models: ways, Clock: l.rt.Clock, Secrets: l.rt.secrets,
		Ask: func(ctx context.Context, b *event.GatewayAsked) (gateway.Call, error) { return l.ask(ctx, name, b) },
	}, nil
}

// modelsOf are those that an outside agent may ask for, its own first.
func modelsOf(a *agent.Agent) []string {
	if a.Model == "" {
		return nil
	}
	out := []string{a.Model}
	if a.Gateway != nil {
		out = append(out, a.Gateway.Models...)
	}
	return slices.Compact(out)
}

// way is how a model is asked: at its provider, or here.
func (l *live) way(ctx context.Context, name string) (way gateway.Model, err error) {
	if l.rt.Forward != nil {
		if way.Upstream, err = l.rt.Forward(name); err != nil {
			return way, BadPlan("model %s: %w", name, err)
		}
	}
	if way.Upstream == nil {
		if way.Local, err = l.rt.Models(name, l.pin(ctx)); err != nil {
			return way, BadPlan("model %s: %w", name, err)
		}
	}
	return way, nil
}

// openGateway finds the models of an outside agent, so that a missing key or a wrong name
// is told before anything is recorded.
func (l *live) openGateway(ctx context.Context, a *agent.Agent) error {
	for _, name := range modelsOf(a) {
		for _, limits := range []event.Limits{l.state.Limits, l.opts.Limits} {
			if err := l.rt.CheckCost(name, limits); err != nil {
				return err
			}
		}
		if _, err := l.way(ctx, name); err != nil {
			return err
		}
	}
	return l.rt.checkPrice(a)
}

// askers are requests to the gateway that wait for the gate, or for their result to be
// durable.
type askers struct {
	mu sync.Mutex
	// asked are by agent and id until they go out, calls by their gateway.call after.
	asked map[[2]string]*request
	calls map[uint64]*request
}

// request is one that an outside agent waits for.
type request struct {
	live *live
	name string
	// taken says that it is an event, server that it is an MCP server's.
	taken, server bool
	// verdict is sent to once: nil, or why it does not go out.
	verdict chan error
	call    uint64
	model   string
	// ended has what came of it; durable is closed when that is on disk.
	ended   chan *event.GatewayResult
	durable chan struct{}
}

// ask puts a request to the gate, and waits until it may go out.
func (l *live) ask(ctx context.Context, name string, b *event.GatewayAsked) (gateway.Call, error) {
	return l.askWith(ctx, name, b, nil)
}

// askWith asks with blobs that the request names.
func (l *live) askWith(ctx context.Context, name string, b *event.GatewayAsked, blobs [][]byte) (gateway.Call, error) {
	b.ID = strings.ToLower(rand.Text())
	b.Model, b.Path = AtMost(l.rt.Redact(b.Model), 200), AtMost(l.rt.Redact(b.Path), 300)
	b.Most, b.Size = counted(b.Most), count(b.Size)
	r := &request{live: l, name: name, server: b.Server != "", verdict: make(chan error, 1), ended: make(chan *event.GatewayResult, 1), durable: make(chan struct{})}
	w, key := &l.asking, [2]string{name, b.ID}
	w.mu.Lock()
	if w.asked == nil {
		w.asked, w.calls = map[[2]string]*request{}, map[uint64]*request{}
	}
	w.asked[key] = r
	w.mu.Unlock()
	d := l.input(name, b)
	d.Parent, d.Blobs = b.For, blobs
	l.mail.put(d)
	select {
	case err := <-r.verdict:
		if err != nil {
			return nil, err
		}
		return r, nil
	case <-l.work.Done():
		return nil, l.work.Err()
	case <-ctx.Done():
	}
	w.mu.Lock()
	_, waits := w.asked[key]
	delete(w.asked, key)
	w.mu.Unlock()
	if !waits && <-r.verdict == nil { // it was let pass in this very moment
		r.ended <- &event.GatewayResult{Error: leftBefore}
	}
	return nil, ctx.Err()
}

// leftBefore says why a request that passed the gate was not sent.
const leftBefore = "the agent did not wait: nothing was sent"

// Model implements gateway.Call.
func (r *request) Model() string { return r.model }

// End implements gateway.Call.
func (r *request) End(b *event.GatewayResult) error {
	r.ended <- b
	select {
	case <-r.durable:
		return nil
	case <-r.live.work.Done():
		return r.live.work.Err()
	}
}

// hear tells those who wait what has become of their requests. It runs on the owner's
// goroutine, once the events are durable.
func (w *askers) hear(inputs []event.Draft, done []event.Event, s *quest.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked)+len(w.calls) == 0 {
		return
	}
	for _, e := range done {
		switch b := e.Body.(type) {
		case *event.GatewayAsked:
			if r := w.asked[[2]string{e.Actor, b.ID}]; r != nil {
				r.taken = true
			}
		case *event.PolicyBlocked:
			if key := [2]string{e.Actor, b.ID}; b.Proposal == "gateway.call" && w.asked[key] != nil {
				w.asked[key].verdict <- refused(b)
				delete(w.asked, key)
			}
		case *event.GatewayResult:
			if r := w.calls[b.Call]; r != nil {
				close(r.durable)
				delete(w.calls, b.Call)
			}
		}
	}
	for _, in := range inputs {
		b, ok := in.Body.(*event.GatewayAsked)
		if !ok {
			continue
		}
		key := [2]string{in.Actor, b.ID}
		if r := w.asked[key]; r != nil && !r.taken {
			r.verdict <- untaken(s, in.Actor, b)
			delete(w.asked, key)
		}
	}
	if s.Status != quest.Running {
		w.rest()
	}
}

// errResting is told to servers that wait for a person while the quest is about to rest: it
// does not wait for them.
var errResting = errors.New("the quest is about to rest")

// rest lets servers go that wait for a person. mu is held.
func (w *askers) rest() {
	for key, r := range w.asked {
		if r.server {
			r.verdict <- errResting
			delete(w.asked, key)
		}
	}
}

// untaken is what an agent is told of a request that cannot come now. That a limit was
// reached, each one is told.
func untaken(s *quest.State, name string, b *event.GatewayAsked) error {
	if s.Status == quest.Exceeded {
		return &gateway.Refusal{Text: "The quest has reached its limit on " + s.Reason + ".", Spent: true}
	}
	return fmt.Errorf("the request is not taken: %w", cmp.Or(s.Check(name, b), errors.New("try again")))
}

// refused is what an agent is told of a request that did not pass the gate.
func refused(b *event.PolicyBlocked) error {
	e := &gateway.Refusal{}
	var lines []string
	for _, by := range b.By {
		e.Spent = e.Spent || by.Policy == "budget"
		lines = append(lines, "Refused by the policy "+by.Policy+": "+by.Reason)
	}
	e.Text = strings.Join(lines, " ")
	return e
}

// pass takes the request that a call is for, nil if nobody waits for it.
func (w *askers) pass(seq uint64, name string, b *event.GatewayCall) *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := [2]string{name, b.ID}
	r := w.asked[key]
	if r != nil {
		delete(w.asked, key)
		r.call, r.model = seq, b.Model
		w.calls[seq] = r
	}
	return r
}

// gatewayService lets requests go out. Who sends them is the handler, on the goroutine of
// the agent's connection.
type gatewayService struct{}

func (gatewayService) start(ctx context.Context, l *live, e event.Event) error {
	r := l.asking.pass(e.Seq, e.Actor, e.Body.(*event.GatewayCall))
	begun := l.rt.Clock()
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		b := &event.GatewayResult{Error: leftBefore}
		if r != nil {
			r.verdict <- nil
			select {
			case b = <-r.ended:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		b.Call, b.Usage, b.Cost, b.Size = e.Seq, counted(b.Usage), count(b.Cost), count(b.Size)
		b.Error, b.Request = AtMost(l.rt.Redact(b.Error), 2000), AtMost(plain.Line(l.rt.Redact(b.Request)), maxRequest)
		d := l.input(e.Actor, b)
		d.Parent, b.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	})
	return nil
}

// mayRepeat says that a request is sent once, whatever becomes of it: it is not kept, and
// nobody waits for its answer.
func (gatewayService) mayRepeat(context.Context, *live, uint64, quest.Call) bool { return false }

// lost is the result of a request that was under way when the process died: it is charged
// for all that it may have used.
func (gatewayService) lost(seq uint64, c quest.Call, known func(string) Known) event.Draft {
	b := &event.GatewayResult{Call: seq, Error: "cut: Lyceum ended while the request was under way; it is not sent again"}
	if !c.Count {
		b.Estimated = true
		if c.Most != nil {
			b.Usage = *c.Most
		}
		k := known(c.Model)
		if b.Unpriced = !k.Priced; k.Price != nil {
			b.Price, b.Cost = k.Price, count(k.Price.Most(b.Usage.Input, b.Usage.Output))
		}
	}
	return event.Draft{Parent: seq, Actor: c.Agent, Body: b}
}

var _ gateway.Call = (*request)(nil)
