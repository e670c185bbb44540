package view

import (
	"fmt"

	"lyceum/internal/event"
)

// relay is what the views know of a relay.
type relay struct{ agents }

func (relay) words() dictionary {
	return dictionary{
		word("pass", func(t *Teller, e event.Event, b *event.TokenPassed) Words {
			return Words{By: e.Actor, Text: "passes the token to " + t.cut(b.To), Weight: News}
		}),
		word("", func(_ *Teller, _ event.Event, b *event.TokenCount) Words {
			return Words{Text: fmt.Sprintf("asks what comes after %d", b.So)}
		}),
		word("", func(_ *Teller, _ event.Event, b *event.TokenCounted) Words {
			return Words{Text: fmt.Sprintf("counts %d", b.Count), Weight: Detail}
		}),
	}
}
