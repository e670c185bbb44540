package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/connector"
	"lyceum/internal/event"
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
