package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
)

// deliveries answers delivery.call: what was said goes into the outbox of the home, and whoever
// runs the connectors sends it. A call that was interrupted is made again: the outbox has each
// key once. Nothing that goes wrong here is more to the quest than a line.
type deliveries struct {
	q   *runtime.Quest
	box connector.Box
}

// Start implements runtime.Service.
func (s *deliveries) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.DeliveryCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.DeliveryResult{Call: e.Seq}
		if err := s.put(ctx, b); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			r.Error = runtime.AtMost(s.q.Redact(err.Error()), 1000)
		}
		return []event.Draft{s.q.Result(e.Seq, e.Actor, r)}, nil
	}, nil
}

// put puts it into the outbox, if the home knows of the binding: what comes from elsewhere, an
// imported ledger say, binds nothing here.
func (s *deliveries) put(ctx context.Context, b *event.DeliveryCall) error {
	bound, err := s.box.Bound(ctx, b.Connector, b.Conversation)
	if err != nil {
		return err
	}
	if bound == nil || bound.Quest != s.q.Key {
		return fmt.Errorf("the conversation %.80q of %.40q is not bound to this quest here: lyceum connector bind", b.Conversation, b.Connector)
	}
	d := connector.Delivery{Key: b.Key, Connector: b.Connector, Conversation: b.Conversation, Quest: s.q.Key, Said: b.Said}
	for e, err := range s.q.Ledger.Read(ctx, s.q.Key, b.Said) {
		if err != nil {
			return err
		}
		if err := s.words(ctx, e, &d); err != nil {
			return err
		}
		return s.box.Put(ctx, d)
	}
	return errors.New("there is nothing at that place of the ledger")
}

// words fills in what an event says.
func (s *deliveries) words(ctx context.Context, e event.Event, d *connector.Delivery) error {
	var text event.Text
	d.Time = e.Time
	switch b := e.Body.(type) {
	case *event.InteractSaid:
		d.Kind, d.Options, text = b.Kind, b.Options, b.Text
		if len(b.Files) > 0 {
			text.Text += "\n\nFiles: " + strings.Join(b.Files, ", ")
		}
	case *event.InteractionOpened:
		d.Kind, d.Options, text = "question", b.Options, b.Question
	case *event.AgentParked:
		d.Kind, text = "notice", event.Text{Text: b.Reason}
	default:
		return fmt.Errorf("a %s says nothing to people", e.Type)
	}
	words, err := s.q.Joined(ctx, []event.Text{text})
	d.Text = event.Shorten(s.q.Redact(words), maxDelivered)
	return err
}

// maxDelivered is how many bytes of a text are delivered.
const maxDelivered = 16 << 10

// The states of what a quest has delivered, for people.
const (
	DeliveryQueued  = "queued"  // it waits, for the first try or the next
	DeliverySent    = "sent"    // the service has it
	DeliveryDead    = "dead"    // nobody tries any more, until a person says so
	DeliveryFailed  = "failed"  // the outbox did not take it
	DeliveryUnknown = "unknown" // it is too long ago, or was not delivered from this home
)

// Delivered is what became of something that a quest said to a conversation elsewhere.
type Delivered struct {
	State string `json:"state"`
	Tries int    `json:"tries"`
	// Last is when something became of it, Next when it is tried next.
	Last event.Time `json:"last,omitzero"`
	Next event.Time `json:"next,omitzero"`
	// Error is what was wrong with the last try, in a service's words perhaps.
	Error string `json:"error,omitempty"`
	// Retry is the command that sends a dead one again.
	Retry string `json:"retry,omitempty"`
}

// DeliveredBy says what became of a delivery.call of a quest; result is its answer, nil if there is
// none yet. A ledger that came from elsewhere may name any key: the outbox is asked for those of
// this quest alone.
func DeliveredBy(ctx context.Context, r *runtime.Runtime, quest string, call *event.DeliveryCall, result *event.DeliveryResult) (Delivered, error) {
	if result != nil && result.Error != "" {
		return Delivered{State: DeliveryFailed, Error: safe(r, result.Error)}, nil
	}
	box := connector.Box{Notes: r.Ledger, Clock: r.Clock}
	d, err := box.Delivery(ctx, call.Key)
	switch {
	case err != nil:
		return Delivered{}, err
	case d == nil && result == nil:
		return Delivered{State: DeliveryQueued}, nil
	case d == nil || d.Quest != quest:
		return Delivered{State: DeliveryUnknown}, nil
	}
	out := Delivered{State: DeliverySent, Tries: d.Tries, Last: d.Last, Next: d.Next, Error: safe(r, d.Error)}
	switch d.State {
	case connector.Waiting:
		out.State = DeliveryQueued
	case connector.Dead:
		out.State, out.Retry = DeliveryDead, "lyceum connector retry "+d.Key
	}
	return out, nil
}

// maxFault is how many bytes of what a service says are shown.
const maxFault = 300

// safe is a stranger's error as people are shown it: in one line, without keys.
func safe(r *runtime.Runtime, text string) string { return plain.Brief(r.Redact(text), maxFault) }
