package event

// How a quest is heard elsewhere: conversations of connectors are bound to it, and what it says
// is delivered to them.

// ConversationBound binds a conversation of a connector to a quest, or lets it go. It is an
// order of a person.
type ConversationBound struct {
	Connector string `json:"connector"`
	// Conversation is the service's own name of it.
	Conversation string `json:"conversation"`
	Gone         bool   `json:"gone,omitzero"`
	Inbox        int64  `json:"inbox,omitzero"`
	Primary      bool   `json:"primary,omitzero"`
}

// DeliveryCall has something that was said put into the outbox of the home, for one target.
// DeliveryResult answers it at once: what becomes of it there stops no quest.
type DeliveryCall struct {
	Connector    string `json:"connector"`
	Conversation string `json:"conversation"`
	// Key names the delivery for the service, where it knows keys.
	Key string `json:"key"`
	// Said is the event whose words are delivered.
	Said uint64 `json:"said"`
}

// DeliveryResult says that the outbox has it, or why not.
type DeliveryResult struct {
	Call  uint64 `json:"call"`
	Error string `json:"error,omitzero"`
}

func (*ConversationBound) Type() Type { return "conversation.bound" }
func (*DeliveryCall) Type() Type      { return "delivery.call" }
func (*DeliveryResult) Type() Type    { return "delivery.result" }

// Answers implements Result.
func (b *DeliveryResult) Answers() uint64 { return b.Call }

// Number implements Order.
func (b *ConversationBound) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *ConversationBound) SetNumber(n int64) { b.Inbox = n }
