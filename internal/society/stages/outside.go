package stages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// send puts what was said into the outbox, for one conversation.
func send(s *quest.State, m *Memory, e event.Event) []event.Draft {
	if len(m.Study.Unsent) == 0 {
		return nil
	}
	u := m.Study.Unsent[0]
	return one(e, "core", &event.DeliveryCall{Connector: u.Connector, Conversation: u.Conversation, Key: deliveryKey(s, u), Said: u.Said})
}

// deliveryKey names a delivery. The hash of the last event stands for the quest and all that
// happened in it, so that no other quest has the same.
func deliveryKey(s *quest.State, u study.Unsent) string {
	sum := sha256.Sum256(fmt.Appendf([]byte("lyceum delivery\n"), "%s %d %q %q", s.Hash, u.Said, u.Connector, u.Conversation))
	return hex.EncodeToString(sum[:16])
}

// MayBind implements quest.Bindable.
func (m *Memory) MayBind(b *event.ConversationBound) error { return m.Study.MayBind(b) }

// Bound implements quest.Bindable.
func (m *Memory) Bound(b *event.ConversationBound) bool {
	return slices.Contains(m.Study.Bound, study.Bound{Connector: b.Connector, Conversation: b.Conversation, Primary: b.Primary})
}

// audience are those who hear what is said: here, and by connectors.
func audience(m *Memory) string {
	var out []string
	if m.Settings.Routing != study.PrimaryOnly || len(m.Study.Bound) == 0 {
		out = append(out, "local")
	}
	for _, t := range m.Study.Targets() {
		out = append(out, t.Connector)
	}
	return strings.Join(out, ", ")
}
