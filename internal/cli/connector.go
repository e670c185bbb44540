package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) connectorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "connector",
		Short: "Let people elsewhere talk with quests: webhooks, e-mail, chats",
		Long: `Connectors are ways by which people elsewhere talk with studies. They stand in config.yaml;
lyceum serve receives and sends, see docs/connectors.md. A conversation that is bound to a quest hears what the quest
says, and who may talk there talks with it.`,
		Args: exactArgs(0, "list, pair, unpair, bind, unbind, dead, retry or send"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.connectorListCommand(), a.connectorPairCommand(), a.connectorUnpairCommand(), a.connectorBindCommand(), a.connectorUnbindCommand(),
		a.connectorDeadCommand(), a.connectorRetryCommand(), a.connectorSendCommand())
	return cmd
}

// connectorJSON is what is known of a connector.
type connectorJSON struct {
	Connector string              `json:"connector"`
	Driver    string              `json:"driver"`
	Ready     bool                `json:"ready"`
	Fault     string              `json:"fault,omitempty"`
	Allow     map[string]string   `json:"allow"`
	Paired    []connector.Paired  `json:"paired"`
	Bound     []connector.Binding `json:"bound"`
	Waiting   int                 `json:"waiting"`
	Dead      int                 `json:"dead"`
	Refused   int64               `json:"refused"`
}

func (a *app) connectorListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List connectors: whether they are ready, who may do what, what is bound, waits and is dead",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			list, err := a.listConnectors(cmd.Context())
			switch {
			case err != nil:
				return err
			case asJSON:
				return a.printJSON(list)
			case len(list) == 0:
				fmt.Fprintln(a.err, "config.yaml has no connectors: see docs/connectors.md")
			}
			for _, c := range list {
				a.printConnector(c)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) listConnectors(ctx context.Context) ([]connectorJSON, error) {
	box := a.box()
	paired, err1 := box.Pairs(ctx)
	bound, err2 := box.Bindings(ctx)
	sent, err3 := box.Deliveries(ctx)
	refused, err4 := box.Refusals(ctx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	all := connectors(ctx, a.config)
	out := []connectorJSON{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := connectorJSON{Connector: name, Driver: a.config.Connectors[name].Driver, Ready: all[name].Fault == nil, Allow: a.config.Connectors[name].Allow, Paired: []connector.Paired{}, Bound: []connector.Binding{}}
		if !c.Ready {
			c.Fault = a.rt.Redact(all[name].Fault.Error())
		}
		for _, p := range paired {
			if p.Connector == name {
				c.Paired = append(c.Paired, p)
			}
		}
		for _, b := range bound {
			if b.Connector == name {
				c.Bound = append(c.Bound, b)
			}
		}
		for _, d := range sent {
			switch {
			case d.Connector != name:
			case d.State == connector.Waiting:
				c.Waiting++
			case d.State == connector.Dead:
				c.Dead++
			}
		}
		for _, r := range refused {
			if r.Connector == name {
				c.Refused = r.Count
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func (a *app) printConnector(c connectorJSON) {
	ready := "ready"
	if !c.Ready {
		ready = c.Fault
	}
	fmt.Fprintf(a.out, "%s (%s): %s\n", c.Connector, printable(c.Driver), printable(ready))
	for _, s := range slices.Sorted(maps.Keys(c.Allow)) {
		fmt.Fprintf(a.out, "  %s may %s\n", printable(s), c.Allow[s])
	}
	for _, p := range c.Paired {
		fmt.Fprintf(a.out, "  %s may %s, paired %s\n", printable(p.Sender), p.Right, p.Time.Time().Format("2006-01-02 15:04 UTC"))
	}
	for _, b := range c.Bound {
		fmt.Fprintf(a.out, "  %s is bound to quest %s\n", printable(b.Conversation), printable(b.Quest))
	}
	fmt.Fprintf(a.out, "  %s, %d dead; %s refused\n", view.Several(int64(c.Waiting), "delivery waits", "deliveries wait"), c.Dead, view.Several(int64(c.Refused), "message was", "messages were"))
}

// known refuses a connector that config.yaml does not have.
func (a *app) knownConnector(name string) error {
	if _, ok := a.config.Connectors[name]; !ok {
		return usagef("config.yaml has no connector %q: there are %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(a.config.Connectors)), ", "), "none"))
	}
	return nil
}

func (a *app) connectorPairCommand() *cobra.Command {
	right := "talk"
	cmd := &cobra.Command{
		Use:   "pair <connector> [quest]",
		Short: "Make a code: whoever sends it there first, within ten minutes, may talk",
		Long: `Make a code. Whoever sends it to the connector first, within ten minutes, has the right that
--rights says from then on. With a quest the conversation in which it was sent is bound to that quest as well.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			r, err := connector.ParseRight(right)
			if err != nil {
				return usagef("--rights: %w", err)
			}
			if err := a.knownConnector(args[0]); err != nil {
				return err
			}
			p := connector.Pairing{Connector: args[0], Right: r}
			if len(args) > 1 {
				p.Quest = args[1]
				if _, err := a.rt.Ledger.Head(cmd.Context(), p.Quest); err != nil {
					return fmt.Errorf("pair for quest %s: %w", p.Quest, err)
				}
			}
			box := a.box()
			code, until, err := box.Pair(cmd.Context(), p)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, code)
			fmt.Fprintf(a.err, "Send this code to %s before %s UTC. It is good once. lyceum serve must be up.\n", args[0], until.Time().Format("15:04:05"))
			return nil
		},
	}
	cmd.Flags().StringVar(&right, "rights", right, "what the sender may do: read, talk or control")
	return cmd
}

func (a *app) connectorUnpairCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unpair <connector> <sender>",
		Short: "Take back what a sender may do by a code",
		Args:  exactArgs(2, "a connector and a sender, as lyceum connector list shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			box := a.box()
			had, err := box.Unpair(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			if !had {
				return usagef("%s was not paired with %q: see lyceum connector list", args[0], args[1])
			}
			fmt.Fprintf(a.err, "%s may do nothing by %s any more, unless config.yaml lets them.\n", printable(args[1]), args[0])
			return nil
		},
	}
}

func (a *app) connectorBindCommand() *cobra.Command {
	var primary bool
	cmd := &cobra.Command{
		Use:   "bind <connector> <conversation> <quest>",
		Short: "Bind a conversation to a quest: it hears what the quest says, and is heard by it",
		Args:  exactArgs(3, "a connector, a conversation as the service names it, and a quest"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			if err := a.knownConnector(args[0]); err != nil {
				return err
			}
			return a.bind(cmd.Context(), connector.Binding{Connector: args[0], Conversation: args[1], Quest: args[2], Primary: primary})
		},
	}
	cmd.Flags().BoolVar(&primary, "primary", false, "make it the one that hears all, where not all do")
	return cmd
}

// bind puts the binding into the box and then tells the quest. Whoever is killed between the two
// gives the command again, or a server tells the quest.
func (a *app) bind(ctx context.Context, x connector.Binding) error {
	s, err := a.load(ctx, x.Quest)
	if err != nil {
		return err
	}
	order := &event.ConversationBound{Connector: x.Connector, Conversation: x.Conversation, Primary: x.Primary}
	if err := s.Accepts("person", order); err != nil {
		return usageError{err}
	}
	box := a.box()
	bound, err := box.Bind(ctx, x, func(quest string) (bool, error) { return gone(ctx, a.rt, quest) })
	if errors.Is(err, connector.ErrBound) {
		return fmt.Errorf("bind %s: %w; let it go with: lyceum connector unbind %s %s", x.Conversation, err, x.Connector, x.Conversation)
	}
	if err != nil {
		return err
	}
	if err := a.tellBound(ctx, bound, order); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "The conversation %s of %s is bound to quest %s.\n", printable(x.Conversation), x.Connector, x.Quest)
	return nil
}

// tellBound puts an order about a binding into the quest's inbox, once.
func (a *app) tellBound(ctx context.Context, x *connector.Binding, order *event.ConversationBound) error {
	if _, err := a.rt.Post(ctx, x.Quest, ledger.Command{Key: x.Key(order.Gone), Body: order}); err != nil {
		return err
	}
	if _, err := a.rt.Settle(ctx, x.Quest); err != nil && !errors.Is(err, ledger.ErrClaimed) {
		return err
	}
	return nil
}

func (a *app) connectorUnbindCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unbind <connector> <conversation>",
		Short: "Let a conversation go: it hears nothing more, and is not heard",
		Args:  exactArgs(2, "a connector and a conversation, as lyceum connector list shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			ctx, box := cmd.Context(), a.box()
			x, err := box.Bound(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if x == nil {
				return usagef("the conversation %q of %s is bound to no quest: see lyceum connector list", args[1], args[0])
			}
			err = a.tellBound(ctx, x, &event.ConversationBound{Connector: x.Connector, Conversation: x.Conversation, Gone: true})
			if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
				return err
			}
			if err := box.Unbind(ctx, x); err != nil {
				return err
			}
			fmt.Fprintf(a.err, "The conversation %s of %s is bound to quest %s no more.\n", printable(x.Conversation), x.Connector, x.Quest)
			return nil
		},
	}
}

func (a *app) connectorDeadCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "List what could not be delivered",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			box := a.box()
			all, err := box.Deliveries(cmd.Context())
			if err != nil {
				return err
			}
			dead := []connector.Delivery{}
			for _, d := range all {
				if d.State == connector.Dead {
					dead = append(dead, d)
				}
			}
			if asJSON {
				return a.printJSON(dead)
			}
			for _, d := range dead {
				fmt.Fprintf(a.out, "%s  %s %s, quest %s, %s: %s\n", d.Key, d.Connector, printable(d.Conversation), cmp.Or(d.Quest, "-"), view.Several(int64(d.Tries), "try", "tries"), printable(d.Error))
			}
			if len(dead) == 0 {
				fmt.Fprintln(a.err, "Nothing is dead.")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) connectorRetryCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "retry <delivery> | --all",
		Short: "Send again what could not be delivered",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("name a delivery, as lyceum connector dead shows it, or say --all")
			}
			if err := a.open(true); err != nil {
				return err
			}
			key := ""
			if !all {
				key = args[0]
			}
			box := a.box()
			n, err := box.Retry(cmd.Context(), key)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.err, "%s to be sent again by lyceum serve, or by lyceum connector send\n", view.Several(int64(n), "delivery waits", "deliveries wait"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all that are dead")
	return cmd
}

func (a *app) connectorSendCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "send",
		Short: "Send what waits and can be sent now, without a server",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.open(true); err != nil {
				return err
			}
			o := a.office(cmd.Context())
			if o == nil {
				return usagef("config.yaml has no connectors: see docs/connectors.md")
			}
			a.flush(cmd.Context(), o)
			return nil
		},
	}
}
