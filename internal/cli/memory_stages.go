package cli

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/memory"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"

	"github.com/spf13/cobra"
)

func (a *app) memoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "List, search, show and approve the cards of studies",
		Long: `A card is what a study keeps for later. Those it offers to all studies are in memory/ of
Lyceum's home; they enter the prompts of others once you have approved them.`,
		Args: exactArgs(0, "list, search, show or approve"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.memoryListCommand(), a.memorySearchCommand(), a.memoryShowCommand(), a.memoryApproveCommand())
	return cmd
}

// cardJSON is a card; list and search leave its text out.
type cardJSON struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Title    string     `json:"title"`
	Quest    string     `json:"quest"`
	Stage    string     `json:"stage"`
	Origin   string     `json:"origin,omitempty"`
	Tags     []string   `json:"tags"`
	Revision int64      `json:"revision"`
	Updated  event.Time `json:"updated"`
	// Scope is quest, or global for one that is offered to all studies. Approved says that a
	// person lets it into their prompts.
	Scope    string `json:"scope"`
	Approved bool   `json:"approved"`
	Summary  string `json:"summary"`
	Text     string `json:"text,omitempty"`
}

func homeCard(c *memory.Card) cardJSON {
	return cardJSON{
		ID: c.ID, Kind: c.Kind, Title: c.Title, Quest: c.Quest, Stage: c.Stage, Origin: c.Origin, Tags: append([]string{}, c.Tags...), Revision: c.Revision,
		Updated: c.Updated, Scope: "global", Approved: c.Approved != 0, Summary: study.Summary(c.Text), Text: c.Text,
	}
}

func questCard(name string, c *study.Card) cardJSON {
	j := cardJSON{
		ID: c.ID, Kind: c.Kind, Title: c.Title, Quest: name, Stage: c.Stage, Tags: append([]string{}, c.Tags...), Revision: c.Revision, Updated: c.Changed,
		Scope: "quest", Approved: c.Approved, Summary: c.Summary, Text: c.Text.Text,
	}
	if c.Promoted == c.Revision {
		j.Scope = "global"
	}
	return j
}

// cards are those of a quest, or of the home, the newest first; and what is wrong with files of
// the home.
func (a *app) cards(ctx context.Context, name string) (out []cardJSON, faults, err error) {
	if name != "" {
		s, err := a.loadWith(ctx, name, a.read)
		if err != nil {
			return nil, nil, err
		}
		m := stages.Of(s)
		if m == nil {
			return nil, nil, usagef("quest %s has no cards: its society is %s", name, s.Society())
		}
		for _, c := range m.Study.Recent("", len(m.Study.Cards)) {
			out = append(out, questCard(name, c))
		}
		return out, nil, nil
	}
	home, err := config.Home(a.homeFlag)
	if err != nil {
		return nil, nil, err
	}
	all, broken, err := memory.Open(home).Cards(ctx)
	for _, c := range all {
		out = append(out, homeCard(c))
	}
	return out, errors.Join(broken...), err
}

func (a *app) printCards(list []cardJSON, asJSON bool) error {
	if asJSON {
		short := []cardJSON{}
		for _, c := range list {
			c.Text = ""
			short = append(short, c)
		}
		return a.printJSON(short)
	}
	for _, c := range list {
		mark := c.Scope
		if c.Approved {
			mark = "approved"
		}
		fmt.Fprintf(a.out, "%s  %-9s  %-8s  %s: %s\n", c.ID, c.Kind, mark, plain.Brief(c.Quest, 40), plain.Brief(c.Title, 80))
	}
	return nil
}

func (a *app) memoryListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [quest]",
		Short: "List the cards of a quest, or those of the home, the newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, faults, err := a.cards(cmd.Context(), argument(args))
			if err != nil {
				return err
			}
			return errors.Join(a.printCards(list, asJSON), faults)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// argument is the first one, empty if there is none.
func argument(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) memorySearchCommand() *cobra.Command {
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "search <words>",
		Short: "Find cards of the home, or of a quest, by their words",
		Args:  exactArgs(1, "what to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, _, err := a.cards(cmd.Context(), name)
			if err != nil {
				return err
			}
			byID, all := map[string]cardJSON{}, []*memory.Card{}
			for _, c := range list {
				byID[c.ID] = c
				all = append(all, &memory.Card{ID: c.ID, Title: c.Title, Text: c.Text})
			}
			hits, err := memory.Find(cmd.Context(), all, args[0], 20)
			found := []cardJSON{}
			for _, h := range hits {
				found = append(found, byID[h.ID])
			}
			return errors.Join(err, a.printCards(found, asJSON))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&name, "quest", "", "search the cards of this quest")
	return cmd
}

// card finds one by its id, of a quest or of the home.
func (a *app) card(ctx context.Context, name, id string) (*cardJSON, error) {
	list, _, err := a.cards(ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].ID == id {
			return &list[i], nil
		}
	}
	return nil, usagef("there is no card %s: lyceum memory list shows those there are", printable(plain.Brief(id, 60)))
}

func (a *app) memoryShowCommand() *cobra.Command {
	var asJSON bool
	var name string
	cmd := &cobra.Command{
		Use:   "show <id>",
		Short: "Show a card of the home, or of a quest",
		Args:  exactArgs(1, "the id of a card"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.card(cmd.Context(), name, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(c)
			}
			fmt.Fprintf(a.out, "%s\nid        %s, revision %d\nkind      %s, %s\nquest     %s\napproved  %v\n\n%s\n", plain.Line(c.Title), c.ID, c.Revision, c.Kind, c.Scope, plain.Line(c.Quest), c.Approved, plain.Text(c.Text))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&name, "quest", "", "show a card of this quest")
	return cmd
}

func (a *app) memoryApproveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "approve <id>",
		Short: "Let a card of the home into the prompts of other studies",
		Args:  exactArgs(1, "the id of a card"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.card(cmd.Context(), "", args[0])
			if err != nil {
				return err
			}
			// The ledger has who said so, and of which revision.
			s, running, err := a.post(cmd.Context(), c.Quest, &event.StudyOrder{Action: event.SteerApprove, What: fmt.Sprintf("%s/%d", c.ID, c.Revision)})
			if err != nil {
				return err
			}
			if running {
				fmt.Fprintf(a.out, "Told the process that runs %s that the card is approved.\n", printable(c.Quest))
				return nil
			}
			return a.approved(cmd.Context(), s, c)
		},
	}
}

// approved does what the rules will ask for when the quest runs again, which then is done.
func (a *app) approved(ctx context.Context, s *quest.State, c *cardJSON) error {
	if err := memory.Open(a.home).Approve(ctx, s.Name, c.ID, c.Revision, "person", a.rt.Clock()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "The card %s is approved: other studies are shown it.\n", c.ID)
	return nil
}
