package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/tool"

	"github.com/go-json-experiment/json"
)

// Proposal is a tool call that an outside agent wants to make.
type Proposal struct {
	Agent string
	// ID tells the agent's calls apart. One that is proposed again, by an agent that did
	// not hear the answer, is the same call: it is not made twice.
	ID         string
	Tool, Args string
}

// Answered is what came of a Proposal.
type Answered struct {
	Text  string
	Error bool
	// Attached are the files that the tool gave with it.
	Attached []event.Attachment
}

// waiters are those who wait for the answers to their proposals.
type waiters struct {
	mu sync.Mutex
	// asked are by agent and id, until the proposal is an event; calls by the event that
	// their result will name.
	asked map[[2]string][]chan<- outcome
	calls map[uint64][]chan<- outcome
}

// outcome is the event that answers a proposal, or why there is none.
type outcome struct {
	event event.Event
	err   error
}

// Use has an outside agent of the quest use a tool, and waits for the answer. The call
// is judged, made and recorded as one that a model asks for.
func (q *Quest) Use(ctx context.Context, p Proposal) (Answered, error) { return q.use(ctx, p) }

func (l *live) propose(ctx context.Context, p Proposal) (out Answered, err error) {
	args, t := event.Text{Text: l.told(p.Tool, Clean(l.rt.Redact(p.Args)))}, &texts{rt: l.rt}
	b := &event.ToolProposed{Args: args, ID: AtMost(l.rt.Redact(p.ID), 128), Name: AtMost(l.rt.Redact(p.Tool), 64)}
	if fits, err := t.fit(ctx, b, []*event.Text{&b.Args}); err != nil || !fits {
		return out, errors.Join(err, errUnfit)
	}
	if b.Args.Ref != nil {
		b.Outline = policy.Outline(args.Text, maxOutlines/2)
	}
	done := make(chan outcome, 1)
	l.waiting.ask(p.Agent, b.ID, done)
	draft := l.input(p.Agent, b)
	draft.Tool, draft.Blobs = "", t.small
	l.mail.put(draft)
	select {
	case o := <-done:
		if o.err != nil {
			return out, o.err
		}
		return l.answered(ctx, o.event)
	case <-ctx.Done():
		return out, ctx.Err()
	case <-l.work.Done():
		return out, l.work.Err()
	}
}

// answered reads the answer to a proposal.
func (l *live) answered(ctx context.Context, e event.Event) (out Answered, err error) {
	var text event.Text
	switch b := e.Body.(type) {
	case *event.ToolResult:
		text, out.Error, out.Attached = b.Output, b.Error, b.Attachments
	case *event.ToolAnswered:
		text, out.Error = b.Output, b.Error
	}
	out.Text, err = agent.Read(text, func(ref event.Ref) ([]byte, error) { return l.rt.Blob(ctx, ref) })
	return out, err
}

func (w *waiters) ask(agent, id string, done chan<- outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked, w.calls = map[[2]string][]chan<- outcome{}, map[uint64][]chan<- outcome{}
	}
	key := [2]string{agent, id}
	w.asked[key] = append(w.asked[key], done)
}

// hear tells those who wait what has become of their proposals. It runs on the owner's
// goroutine, once the events are durable.
func (l *live) hear(inputs []event.Draft, done []event.Event) {
	l.asking.hear(inputs, done, l.state)
	l.servers.forms.hear(inputs, done, l.state)
	l.executors.hear(inputs, done, l.state)
	w := &l.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asked)+len(w.calls) == 0 {
		return
	}
	for _, e := range done {
		switch b := e.Body.(type) {
		case *event.ToolProposed:
			key := [2]string{e.Actor, b.ID}
			w.calls[e.Seq] = w.asked[key]
			delete(w.asked, key)
		case *event.ToolCall:
			w.move(b.Answer, e.Seq)
		case *event.PolicyBlocked:
			w.move(b.Answer, e.Seq)
		case *event.ToolSkipped:
			w.move(b.Answer, e.Seq)
		case *event.ToolResult:
			w.tell(b.Call, outcome{event: e})
		case *event.ToolAnswered:
			w.tell(b.Call, outcome{event: e})
		}
	}
	for _, in := range inputs {
		if b, ok := in.Body.(*event.ToolProposed); ok && len(w.asked[[2]string{in.Actor, b.ID}]) > 0 {
			l.again(in.Actor, b)
		}
	}
}

// again finds what a proposal that was not taken is: a call that was proposed before, and
// that has its answer or waits for it; or one that cannot come now.
func (l *live) again(name string, b *event.ToolProposed) {
	w, key := &l.waiting, [2]string{name, b.ID}
	list := w.asked[key]
	delete(w.asked, key)
	if a := l.state.Agent(name); a != nil {
		if i := slices.IndexFunc(a.Open, func(u agent.Use) bool { return u.Outside && u.ID == b.ID }); i >= 0 {
			at := a.Open[i].Answer
			if a.Open[i].Call != 0 {
				at = a.Open[i].Call
			}
			w.calls[at] = append(w.calls[at], list...)
			return
		}
		if i := slices.IndexFunc(a.Proposed, func(p agent.Proposed) bool { return p.ID == b.ID }); i >= 0 {
			tellAll(list, l.recorded(a.Proposed[i].Result))
			return
		}
	}
	tellAll(list, outcome{err: fmt.Errorf("the call is not taken: %w", l.state.Check(name, b))})
}

// recorded is an event of the ledger.
func (l *live) recorded(seq uint64) outcome {
	for e, err := range l.rt.Ledger.Read(l.work, l.key, seq) {
		return outcome{e, err}
	}
	return outcome{err: fmt.Errorf("there is no event %d", seq)}
}

func (w *waiters) move(from, to uint64) {
	if list := w.calls[from]; list != nil {
		w.calls[to] = append(w.calls[to], list...)
		delete(w.calls, from)
	}
}

func (w *waiters) tell(call uint64, o outcome) {
	tellAll(w.calls[call], o)
	delete(w.calls, call)
}

func tellAll(list []chan<- outcome, o outcome) {
	for _, done := range list {
		done <- o
	}
}

// Show drafts the input that gives an agent tools besides those that it has, and takes
// others away that came from the sources of these. What stays keeps its place in the list.
// It runs on the goroutine that owns the quest. What runs them is added to Extra.
func (q *Quest) Show(ctx context.Context, name string, tools []tool.Tool, sources ...string) (d event.Draft, err error) {
	a := q.State.Agent(name)
	if a == nil {
		return d, fmt.Errorf("quest %s has no agent %s", q.State.Name, name)
	}
	list, err := q.Blob(ctx, a.Tools)
	if err != nil {
		return d, err
	}
	var old []model.Tool
	if err := json.Unmarshal(list, &old); err != nil {
		return d, fmt.Errorf("read the tools of %s: %w", name, err)
	}
	b := &event.ToolsShown{}
	var all []model.Tool
	add := func(t model.Tool, s event.ShownTool) {
		all = append(all, t)
		s.Name = t.Name
		b.Shown = append(b.Shown, s)
	}
	shown := func(t tool.Tool) event.ShownTool {
		return event.ShownTool{Source: t.Source, Trust: t.Trust, Paths: t.Paths, Reads: t.Reads}
	}
	for _, t := range old {
		from := a.Sources[t.Name]
		i := slices.IndexFunc(tools, func(n tool.Tool) bool { return n.Name == t.Name })
		switch {
		case i >= 0: // it may have changed
			add(tools[i].Tool, shown(tools[i]))
		case from.Source == "" || !slices.Contains(sources, from.Source):
			add(t, from)
		}
	}
	for _, t := range tools {
		if !slices.ContainsFunc(old, func(o model.Tool) bool { return o.Name == t.Name }) {
			add(t.Tool, shown(t))
		}
	}
	if list, err = json.Marshal(all); err != nil {
		return d, fmt.Errorf("tools of %s: %w", name, err)
	}
	t := &texts{rt: q.Runtime}
	if b.Tools, err = t.put(ctx, list); err != nil {
		return d, err
	}
	return event.Draft{Time: q.Clock(), Actor: name, Body: b, Blobs: t.small}, nil
}
