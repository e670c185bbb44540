package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

// onServer has run start a quest that exists in the server of its home, if one is up,
// and follow it there. Without a server, and for a quest.yaml, it runs here.
func (a *app) onServer(cmd *cobra.Command) *cobra.Command {
	here := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		home, err := config.Home(a.homeFlag)
		if err != nil || isFile(args[0]) || !event.ValidName(args[0]) {
			return here(cmd, args)
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		c, err := client.Find(ctx, home)
		if err != nil {
			return here(cmd, args)
		}
		defer c.Close()
		order, err := orderOf(cmd)
		if err != nil {
			return err
		}
		s, err := a.load(ctx, args[0])
		if err != nil || s.Status == quest.Finished && s.Spoken < s.Ended {
			return here(cmd, args) // it says what is the matter
		}
		asJSON, _ := cmd.Flags().GetBool("json")
		return a.follow(ctx, c, args[0], s, order, asJSON)
	}
	return cmd
}

// orderOf makes an order of the flags of run.
func orderOf(cmd *cobra.Command) (api.Control, error) {
	order := api.Control{Action: "start"}
	order.NoThinking, _ = cmd.Flags().GetBool("no-thinking")
	read := func(prefix string) (set api.LimitSetOrder, err error) {
		if f := cmd.Flags().Lookup(prefix + "cost"); f.Changed {
			cost := json.RawMessage(fmt.Sprintf("%q", f.Value.String()))
			set.Cost = &cost
		}
		for name, to := range map[string]**int64{"turns": &set.Turns, "tokens": &set.Tokens} {
			if n, err := cmd.Flags().GetInt64(prefix + name); err == nil && cmd.Flags().Changed(prefix+name) {
				*to = &n
			}
		}
		if f := cmd.Flags().Lookup(prefix + "duration"); f.Changed {
			d, err := quest.ParseDuration(f.Value.String())
			if err != nil {
				return set, usagef("--%sduration: %w", prefix, err)
			}
			set.Seconds = new(float64(d) / 1e6)
		}
		return set, nil
	}
	all, err := read("max-")
	if err != nil {
		return order, err
	}
	each, err := read("max-agent-")
	if err != nil {
		return order, err
	}
	order.Limits = &api.LimitsOrder{LimitSetOrder: all}
	if each != (api.LimitSetOrder{}) {
		order.Limits.Agent = &each
	}
	return order, nil
}

// follow starts a quest in the server and shows what happens until it rests.
func (a *app) follow(ctx context.Context, c *client.Client, name string, s *quest.State, order api.Control, asJSON bool) error {
	if _, err := c.Control(ctx, name, order); err != nil {
		return fmt.Errorf("run quest %s in the server: %w", name, err)
	}
	p := newProgress(a, name, asJSON)
	defer p.end()
	if !asJSON {
		p.trouble("It runs in lyceum serve. Ctrl-C leaves it running; pause it with: lyceum pause " + name)
	}
	for sig, err := range c.Follow(ctx, name, s.Seq) {
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(a.err, "\nQuest %s goes on in the server. Watch it with: lyceum watch %s\n", name, name)
			return context.Canceled
		case err != nil:
			return err
		case sig.Kind == "delta":
			var d struct{ Agent, Kind, Text string }
			if json.Unmarshal(sig.Data, &d) == nil {
				p.delta(d.Agent, model.Delta{Kind: d.Kind, Text: d.Text})
			}
		case sig.Kind == "message":
			if err := s.Fold(sig.Event); err != nil {
				return err
			}
			p.event(sig.Event, s)
		case sig.Kind == "end":
			return a.printOutcome(ctx, name, s, asJSON)
		case sig.Kind == "cut":
			return fmt.Errorf("the server has cut the connection: %s", strings.TrimSpace(string(sig.Data)))
		}
	}
	return errors.New("the server went away; it goes on with the quest when it is back: lyceum serve")
}
