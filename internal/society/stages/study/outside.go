package study

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// How what is said goes to conversations elsewhere. The ledger has it in any case.
const (
	PrimaryPlusLocal = "primary_plus_local"
	PrimaryOnly      = "primary_only"
	FanoutAll        = "fanout_all"
)

// Routings are all of them.
var Routings = []string{PrimaryPlusLocal, PrimaryOnly, FanoutAll}

// Outside is who hears the study elsewhere, and what they are yet to hear.
type Outside struct {
	Routing string  `json:",omitzero"`
	Bound   []Bound `json:",omitempty"`
	// Unsent is what was said and not yet put into the outbox, the oldest first.
	Unsent []Unsent `json:",omitempty"`
}

// Bound is a conversation that is bound to the study.
type Bound struct {
	Connector, Conversation string
	Primary                 bool `json:",omitzero"`
}

// Unsent is an event whose words are to be delivered to a conversation.
type Unsent struct {
	Said                    uint64
	Connector, Conversation string
}

// maxBound is how many conversations a study is bound to.
const maxBound = 32

// MayBind says why a conversation cannot be bound.
func (o *Outside) MayBind(b *event.ConversationBound) error {
	switch known := o.bound(b) >= 0; {
	case b.Connector == "" || b.Conversation == "":
		return fmt.Errorf("a binding names a connector and a conversation")
	case b.Gone && !known:
		return fmt.Errorf("the conversation is not bound to this quest")
	case !b.Gone && !known && len(o.Bound) >= maxBound:
		return fmt.Errorf("%d conversations are bound to this quest already", maxBound)
	}
	return nil
}

func (o *Outside) bound(b *event.ConversationBound) int {
	return slices.IndexFunc(o.Bound, func(x Bound) bool { return x.Connector == b.Connector && x.Conversation == b.Conversation })
}

// bind takes in that a conversation is bound, or let go: then it hears nothing of what was not
// put into the outbox.
func (o *Outside) bind(b *event.ConversationBound) {
	if err := o.MayBind(b); err != nil {
		panic("conversation.bound: " + err.Error())
	}
	i := o.bound(b)
	if b.Gone {
		o.Bound = slices.Delete(o.Bound, i, i+1)
		o.Unsent = slices.DeleteFunc(o.Unsent, func(u Unsent) bool { return u.Connector == b.Connector && u.Conversation == b.Conversation })
		return
	}
	if i < 0 {
		i = len(o.Bound)
		o.Bound = append(o.Bound, Bound{Connector: b.Connector, Conversation: b.Conversation})
	}
	if b.Primary {
		for j := range o.Bound {
			o.Bound[j].Primary = j == i
		}
	}
}

// Targets are the conversations that hear what is said now: all that are bound, or the primary
// one, which is the first if nobody says.
func (o *Outside) Targets() []Bound {
	if o.Routing == FanoutAll || len(o.Bound) == 0 {
		return o.Bound
	}
	i := max(slices.IndexFunc(o.Bound, func(b Bound) bool { return b.Primary }), 0)
	return o.Bound[i : i+1]
}

// tell has the words of an event delivered.
func (o *Outside) tell(e event.Event) {
	for _, t := range o.Targets() {
		o.Unsent = append(o.Unsent, Unsent{e.Seq, t.Connector, t.Conversation})
	}
}

// called takes in that something goes into the outbox.
func (o *Outside) called(b *event.DeliveryCall) {
	if len(o.Unsent) == 0 || o.Unsent[0] != (Unsent{b.Said, b.Connector, b.Conversation}) {
		panic(fmt.Sprintf("delivery.call is about event %d, which is not what is to be delivered", b.Said))
	}
	o.Unsent = slices.Delete(o.Unsent, 0, 1)
}

// applyOutside takes in what concerns people elsewhere.
func (s *Study) applyOutside(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ConversationBound:
		s.bind(b)
	case *event.DeliveryCall:
		s.called(b)
	case *event.InteractSaid, *event.AgentParked:
		s.tell(e)
	case *event.InteractionOpened:
		// One that was said is told by that.
		if t := s.thread(e.Seq); t == nil {
			s.tell(e)
		}
	}
}
