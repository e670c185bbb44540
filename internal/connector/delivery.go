package connector

import (
	"errors"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
)

// Delivery is something that is said to one conversation: a line of the outbox.
type Delivery struct {
	// Key names it for the service, and is the same for every try.
	Key          string   `json:"key"`
	Connector    string   `json:"connector"`
	Conversation string   `json:"conversation"`
	Quest        string   `json:"quest,omitzero"`
	Said         uint64   `json:"said,omitzero"`
	Kind         string   `json:"kind,omitzero"`
	Text         string   `json:"text,omitzero"`
	Options      []string `json:"options,omitempty"`
	// Files go with it. Reply is the message that it answers, as the service names it.
	Files []Attached `json:"files,omitempty"`
	Reply string     `json:"reply,omitzero"`
	// Time is when it was said, Created when it was put here, First when it was tried first,
	// and Last when something became of it last.
	Time    event.Time `json:"time"`
	Created event.Time `json:"created"`
	First   event.Time `json:"first,omitzero"`
	Last    event.Time `json:"last,omitzero"`
	Tries   int        `json:"tries,omitzero"`
	State   string     `json:"state"`
	// Error is what was wrong with the last try.
	Error string `json:"error,omitzero"`
}

// The states of a delivery.
const (
	Waiting = "waiting"
	Sent    = "sent"
	Dead    = "dead"
)

const (
	// lifetime is how long a delivery is tried.
	lifetime = 3 * 24 * time.Hour
	// longest is the most that is waited between two tries, unless the service wants more;
	// mostLater is the most it is granted.
	longest   = time.Hour
	mostLater = 24 * time.Hour
	// kept is how long it is known of a delivery that it was sent, and of a message that it
	// was heard.
	kept = 30 * 24 * time.Hour
	// never is when nobody need look at something.
	never = event.Time(1<<53 - 1)
	// maxError is how many bytes of an error are kept.
	maxError = 500
)

// settled is what becomes of a delivery after a try at a time, and when it is to be looked at
// next. first is how long is waited after the first try that fails; then twice as long each time.
func settled(d Delivery, err error, now event.Time, first time.Duration) (Delivery, event.Time) {
	d.Tries++
	d.Last = now
	if d.First == 0 {
		d.First = now
	}
	if err == nil {
		// Its words have no further use.
		d.State, d.Error, d.Text, d.Options, d.Files = Sent, "", "", nil, nil
		return d, now + event.Time(kept.Microseconds())
	}
	d.Error = event.Shorten(err.Error(), maxError)
	var refused *Refused
	if errors.As(err, &refused) || now-d.First >= event.Time(lifetime.Microseconds()) {
		d.State = Dead
		return d, never
	}
	wait := longest
	if shift := d.Tries - 1; shift < 20 {
		wait = min(first<<shift, longest)
	}
	var later *Later
	if errors.As(err, &later) {
		wait = max(wait, min(later.After, mostLater))
	}
	return d, now + event.Time(wait.Microseconds())
}

// again is a delivery that a person has sent once more: it has three days anew.
func again(d Delivery, now event.Time) Delivery {
	d.State, d.First, d.Tries, d.Last = Waiting, 0, 0, now
	return d
}

// lane is what is delivered in order.
type lane struct{ connector, conversation string }

// next are those of the waiting deliveries that can be sent at a time: what was said first in
// each conversation, unless something of it is under way. What is tried again later holds up
// what was said after it in that conversation, and nothing else.
func next(waiting []entry, now event.Time, busy map[lane]bool) (out []entry) {
	waiting = slices.Clone(waiting)
	slices.SortFunc(waiting, func(a, b entry) int { return int(min(max(a.note.Number-b.note.Number, -1), 1)) })
	seen := map[lane]bool{}
	for _, e := range waiting {
		l := lane{e.Connector, e.Conversation}
		if !seen[l] && !busy[l] && e.note.Due <= now {
			out = append(out, e)
		}
		seen[l] = true
	}
	return out
}

// hide takes secrets out of a text.
func hide(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[key]")
		}
	}
	return text
}
