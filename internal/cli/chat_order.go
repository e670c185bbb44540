package cli

import (
	"context"
	"fmt"

	"lyceum/internal/chat"
	"lyceum/internal/event"
)

// ordered carries out a message that is a command to a study, and reports whether it was one;
// otherwise it returns the words that are to be said.
func (a *app) ordered(ctx context.Context, name, text string, files bool) (words string, done bool, err error) {
	s, err := a.load(ctx, name)
	if err != nil || files || !chat.Commanded(s) {
		return text, false, err
	}
	c, words, err := chat.Parse(text)
	if err != nil {
		return "", false, usageError{err}
	}
	if c == nil {
		return words, false, nil
	}
	said, err := chat.Do(ctx, &noted{talk{a: a, name: name}}, c)
	if err == nil {
		fmt.Fprintln(a.out, printable(said))
	}
	return "", true, err
}

// noted is a quest that is given one command, and not talked with.
type noted struct{ talk }

// Order implements chat.Quest.
func (n *noted) Order(ctx context.Context, b event.Body) (string, error) {
	_, running, err := n.a.post(ctx, n.name, b)
	if err != nil || running || n.a.lookedAfter(ctx, n.name) {
		return "Told the process that runs " + n.name + ".", err
	}
	return "Recorded. Go on with: lyceum run " + n.name, nil
}

// Resume implements chat.Quest.
func (n *noted) Resume(context.Context) (string, error) {
	return "Go on with: lyceum resume " + n.name, nil
}
