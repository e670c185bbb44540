package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// inServer runs a quest in the server of its home, if one is up, and follows it there.
func (a *app) inServer(ctx context.Context, name string, s *quest.State, noThinking bool, limits event.Limits, asJSON bool) (done bool, err error) {
	c, err := client.Find(ctx, a.home, a.rt.Version, os.Getenv(tokenVariable))
	if errors.Is(err, client.ErrNone) {
		return false, nil
	} else if err != nil {
		return true, fmt.Errorf("run quest %s in the server: %w", name, err)
	}
	defer c.Close()
	a.compare(c.Server())
	if note, err := client.Look(a.home); err == nil && note.Config != config.Sum(a.home) {
		fmt.Fprintln(a.err, otherConfig)
	}
	return true, a.follow(ctx, c, name, s, orderOf(noThinking, limits), asJSON)
}

// tokenVariable is where the command line finds a token to bring to the server instead of
// the home's own.
const tokenVariable = "LYCEUM_TOKEN"

// browserVariable is where the browser of pages is, inside the computers, if it is not at one of the
// usual places.
const browserVariable = "LYCEUM_BROWSER"

// compare says once that the server is of another version than this command line, and what of
// the command line is not for it. They understand each other: where they do not, it does not come
// to this.
func (a *app) compare(server string) {
	if a.weak {
		fmt.Fprintln(a.err, "--weak-limits does not reach lyceum serve, where this runs: start that with it.")
	}
	if server == a.rt.Version {
		return
	}
	theirs := "lyceum " + printable(server)
	if server == "" {
		theirs = "an older lyceum that does not say which"
	}
	fmt.Fprintf(a.err, "The server is %s, and this is lyceum %s. To have the server be this one, stop it and start it again: lyceum serve\n", theirs, a.rt.Version)
}

// orderOf has a quest start with these limits.
func orderOf(noThinking bool, l event.Limits) api.Control {
	set := func(cost, turns, tokens, duration, storage *int64) (out api.LimitSetOrder) {
		if cost != nil {
			out.Cost = new(json.RawMessage(fmt.Sprintf("%q", quest.USD(*cost))))
		}
		out.Turns, out.Tokens, out.Storage = turns, tokens, storage
		if duration != nil {
			out.Seconds = new(float64(*duration) / 1e6)
		}
		return out
	}
	order := api.Control{Action: "start", NoThinking: noThinking, Limits: &api.LimitsOrder{LimitSetOrder: set(l.Cost, l.Turns, l.Tokens, l.Duration, l.Storage)}}
	if each := l.Agent; each != nil {
		order.Limits.Agent = new(set(each.Cost, each.Turns, each.Tokens, each.Duration, each.Storage))
	}
	return order
}

// follow starts a quest in the server and shows what happens until it rests.
func (a *app) follow(ctx context.Context, c *client.Client, name string, s *quest.State, order api.Control, asJSON bool) error {
	if _, err := c.Control(ctx, name, order); err != nil {
		return fmt.Errorf("run quest %s in the server: %w", name, err)
	}
	if a.showing.wanted(a, s, asJSON) {
		return a.showing.follow(ctx, a, name, s)
	}
	p := newProgress(ctx, a, name, asJSON)
	defer p.end()
	if !asJSON && a.prompts() {
		p.asks(s)
		go p.converse(ctx)
	} else if waits, err := a.stillWaits(ctx, name, s); waits || err != nil {
		return errors.Join(a.printOutcome(ctx, name, s, asJSON), err)
	}
	if !asJSON {
		p.trouble("It runs in lyceum serve. Ctrl-C leaves it running; pause it with: lyceum pause " + name)
	}
	for sig, err := range c.Follow(ctx, name, s.Seq) {
		switch {
		case ctx.Err() != nil:
			return a.leftRunning(name)
		case err != nil:
			return fmt.Errorf("the server has gone (%w): what quest %s did so far is recorded; go on with: lyceum run %s", err, name, name)
		case sig.Kind == "delta":
			var d runtime.Delta
			if json.Unmarshal(sig.Data, &d) == nil {
				p.delta(d)
			}
		case sig.Kind == "message":
			if err := s.Fold(sig.Event); err != nil {
				return err
			}
			if p.event(sig.Event, s); p.wrong != nil {
				return p.wrong
			}
			if asJSON || !a.prompts() {
				if waits, err := a.stillWaits(ctx, name, s); waits || err != nil {
					return errors.Join(a.printOutcome(ctx, name, s, asJSON), err)
				}
			}
		case sig.Kind == "end":
			return a.printOutcome(ctx, name, s, asJSON)
		case sig.Kind == "cut":
			return fmt.Errorf("the server has cut the connection: %s", strings.TrimSpace(string(sig.Data)))
		}
	}
	if ctx.Err() != nil {
		return a.leftRunning(name)
	}
	return errors.New("the server went away; it goes on with the quest when it is back: lyceum serve")
}

// leftRunning tells a person who has interrupted this command that the quest is not.
func (a *app) leftRunning(name string) error {
	fmt.Fprintf(a.err, "\nQuest %s goes on in the server. Watch it with: lyceum watch %s\n", name, name)
	return context.Canceled
}

// stillWaits reports whether a quest waits for a person, and nothing was said to it or
// has happened since.
func (a *app) stillWaits(ctx context.Context, name string, s *quest.State) (bool, error) {
	if !s.Waiting() {
		return false, nil
	}
	head, err := a.rt.Ledger.Head(ctx, name)
	if err != nil || head.Seq != s.Seq {
		return false, err
	}
	said, err := a.rt.Ledger.Commands(ctx, name, s.Inbox)
	return err == nil && len(said) == 0, err
}
