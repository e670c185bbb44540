package cli

import (
	"context"
	"fmt"

	"lyceum/internal/api"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// defaultConfirm is above which estimate a run is confirmed, in nanodollars.
const defaultConfirm = 5_000_000_000

// confirmCost is that of a configuration.
func confirmCost(conf *config.Config) int64 {
	if conf == nil || conf.ConfirmCost == nil {
		return defaultConfirm
	}
	return *conf.ConfirmCost
}

// yesFlag lets a run begin whatever it is going to cost.
func (t *telling) yesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&t.yes, "yes", false, "do not ask before a run that will cost more than confirm_cost of config.yaml")
}

// before says what a person should know before a quest runs, and has a run confirmed that is going
// to be dear.
func (a *app) before(ctx context.Context, name string, s *quest.State, limits event.Limits, asJSON bool) error {
	if !asJSON && costs(s) && s.Limits == (event.Limits{}) && limits == (event.Limits{}) {
		fmt.Fprintln(a.err, "No limit is set: the quest runs until it has an answer. --max-cost, --max-turns or --max-duration set one.")
	}
	if o := s.OverWith(limits); o != nil && s.Status == quest.Exceeded {
		return nil // it does not run
	}
	if !asJSON {
		a.foretell(s, limits)
	}
	if !costs(s) {
		return nil
	}
	return a.weigh(ctx, name, s, limits, asJSON, "--max-cost")
}

// weigh says what a run will cost by what such quests took in this home. Above confirm_cost a person
// is asked; where nobody sits there, --yes or a limit on the cost, set as limit says, has said it before.
func (a *app) weigh(ctx context.Context, name string, s *quest.State, limits event.Limits, asJSON bool, limit string) error {
	fresh := []ledger.Glance{}
	w, err := api.Weigh(ctx, a.rt, name, s.Society(), modelsOf(s), &fresh)
	if err != nil {
		return fmt.Errorf("see what quests like %s have cost: %w", name, err)
	}
	a.rt.KeepGlances(ctx, api.Glancer.Form, fresh)
	w.Spent, w.Limit, w.Confirm = s.Spent.Cost, s.Limits.Cost, confirmCost(a.config)
	if limits.Cost != nil {
		w.Limit = limits.Cost
	}
	if !asJSON && !a.telling.quiet {
		fmt.Fprintln(a.err, printable(w.Words()))
	}
	if a.telling.yes || !w.Dear() || limits.Cost != nil { // who sets a limit for this run has said how much it may be
		return nil
	}
	if !asJSON && a.prompts() {
		sure, err := a.confirm(ctx, fmt.Sprintf("That is more than %s (confirm_cost in config.yaml). Run it? [y/N] ", view.Dollars(w.Confirm)))
		if err != nil || sure {
			return err
		}
		fmt.Fprintf(a.err, "Not run. Quest %s stays as it is; run it with: lyceum run %s\n", name, name)
		return errResting
	}
	if w.Limit != nil {
		return nil
	}
	return usagef("quest %s: %s. That is more than %s (confirm_cost in config.yaml), and nobody can be asked: give --yes, or a limit with %s", name, w.Words(), view.Dollars(w.Confirm), limit)
}

// beforeTalk is weigh for a quest that somebody is going to talk with: one that will run for it, and that
// nobody runs already.
func (a *app) beforeTalk(ctx context.Context, name string, asJSON bool) error {
	s, err := a.rt.Load(ctx, name)
	if err != nil || !runs(s) || !costs(s) {
		return err
	}
	if taken, err := a.rt.Ledger.Claimed(name); err != nil || taken {
		return err
	}
	return a.weigh(ctx, name, s, event.Limits{}, asJSON, fmt.Sprintf("lyceum limit %s --max-cost", name))
}

// modelsOf are the models of a quest's agents, one for each that has one.
func modelsOf(s *quest.State) (models []string) {
	for _, g := range s.Agents {
		models = append(models, g.Model)
	}
	return models
}

// confirmUSD is confirmCost in dollars.
func confirmUSD(conf *config.Config) string { return quest.USD(confirmCost(conf)).String() }
