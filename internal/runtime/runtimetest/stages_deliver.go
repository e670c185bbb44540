package runtimetest

import (
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"

	"github.com/go-json-experiment/json"
)

// deliveryResult is the row of delivery.call.
func deliveryResult(w *World, call event.Event) event.Body {
	r := &event.DeliveryResult{Call: call.Seq}
	if w.Chance(100) {
		r.Error = "no room"
	}
	return r
}

// outsideBooks hold what is said elsewhere against what was promised, by the events alone: who is
// bound hears each thing once and in order, by a key of its own; who was let go hears nothing
// more, and a fork has nobody.
type outsideBooks struct {
	routing string
	bound   []event.ConversationBound
	// due are the deliveries that are to come, in their order.
	due []delivery
	// keys are all that were used, asked the places of the questions that were said.
	keys  map[string]bool
	asked map[[2]uint64]bool
}

// delivery is something that was said, to a conversation.
type delivery struct {
	said         uint64
	conversation string
}

func newOutsideBooks() outsideBooks {
	return outsideBooks{keys: map[string]bool{}, asked: map[[2]uint64]bool{}}
}

func (b *outsideBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		var set stages.Settings
		if err := json.Unmarshal([]byte(x.Settings), &set); err != nil {
			return err
		}
		b.routing = set.Routing
	case *event.QuestForked:
		b.bound, b.due = nil, nil
	case *event.ConversationBound:
		b.binds(w, x)
	case *event.InteractSaid:
		if x.Reply == study.ReplyBlocking {
			b.asked[[2]uint64{x.Answer, uint64(x.Part)}] = true
		}
		b.tells(w, e.Seq)
	case *event.AgentParked:
		b.tells(w, e.Seq)
	case *event.InteractionOpened:
		if x.Proposal != "" || !b.asked[[2]uint64{x.Answer, uint64(x.Part)}] { // nobody has said it
			b.tells(w, e.Seq)
		}
	case *event.DeliveryCall:
		return b.delivers(w, x)
	}
	return nil
}

func (b *outsideBooks) binds(w *World, x *event.ConversationBound) {
	b.bound = slices.Clone(b.bound)
	i := slices.IndexFunc(b.bound, func(o event.ConversationBound) bool { return o.Conversation == x.Conversation })
	switch {
	case x.Gone:
		b.bound = slices.Delete(b.bound, i, i+1)
		b.due = slices.DeleteFunc(slices.Clone(b.due), func(d delivery) bool { return d.conversation == x.Conversation })
		w.Saw("conversations let go")
		return
	case i < 0:
		i = len(b.bound)
		b.bound = append(b.bound, *x)
	}
	for j := range b.bound {
		if x.Primary {
			b.bound[j].Primary = j == i
		}
	}
	w.Saw("conversations bound")
}

// tells has whoever is to hear something be due for it.
func (b *outsideBooks) tells(w *World, said uint64) {
	if len(b.bound) == 0 {
		return
	}
	if b.routing == study.FanoutAll {
		for _, x := range b.bound {
			b.due = append(b.due, delivery{said, x.Conversation})
		}
		if len(b.bound) > 1 {
			w.Saw("said to several")
		}
		return
	}
	first := b.bound[0]
	for _, x := range b.bound {
		if x.Primary {
			first = x
		}
	}
	b.due = append(b.due, delivery{said, first.Conversation})
}

func (b *outsideBooks) delivers(w *World, x *event.DeliveryCall) error {
	if d := (delivery{x.Said, x.Conversation}); len(b.due) == 0 || b.due[0] != d || x.Connector != "sim" {
		return fmt.Errorf("delivered is %+v to %s, and %v is due", d, x.Connector, b.due)
	}
	if x.Key == "" || b.keys[x.Key] {
		return errors.New("a delivery has no key, or that of another one")
	}
	b.keys[x.Key], b.due = true, b.due[1:]
	w.Saw("deliveries")
	return nil
}
