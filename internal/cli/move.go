package cli

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/blob/s3"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// Moved is what lyceum move says of a quest.
type Moved struct {
	Quest  string `json:"quest"`
	Events uint64 `json:"events"`
	// Already says that it had moved before.
	Already bool `json:"already,omitempty"`
	// Error is why it stayed.
	Error string `json:"error,omitempty"`
}

func (a *app) moveCommand() *cobra.Command {
	var to, blobs string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "move --to <address> [quest...]",
		Short: "Have quests go on in another ledger: from the home to PostgreSQL, or back",
		Long: `Bring quests, all or those that are named, from the ledger of this home to another:
events, the blobs they name, what was said to a quest and it has not taken, what was
signed of it, whether it is to run; and the tokens of the home. Each is verified there.
Where it was it can still be read, and does not run any more.

A quest that runs stays, and is named: stop its server first. A move that was killed is
given again and goes on. Then write the new address into config.yaml (ledger, blobs).

  lyceum move --to postgres://ada@db.example.org/lyceum
  lyceum --ledger postgres://ada@db.example.org/lyceum move --to home`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usagef("say where to: --to postgres://user@host:5432/lyceum, or --to home")
			}
			if err := a.open(false); err != nil {
				return err
			}
			target, err := a.openTarget(cmd.Context(), to, blobs)
			if err != nil {
				return err
			}
			list, err := a.moveAll(cmd.Context(), target, args, asJSON)
			if asJSON && list != nil {
				err = errors.Join(err, a.printJSON(list))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the ledger that quests move to: postgres://user@host:5432/lyceum, or home")
	cmd.Flags().StringVar(&blobs, "to-blobs", "", "where blobs move to: s3://bucket/space, or home (default: they stay where they are)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// target is where quests move to.
type target struct {
	rt    *runtime.Runtime
	where string
}

// openTarget opens the stores that quests move to. Blobs stay where they are unless another place is named.
func (a *app) openTarget(ctx context.Context, to, blobs string) (*target, error) {
	p, err := placesOf(to, nil)
	if err != nil {
		return nil, err
	}
	if p.blobs = a.places.blobs; blobs != "" {
		if p.blobs = firstOf(blobs); p.blobs != "" {
			if _, err := s3.Parse(p.blobs); err != nil {
				return nil, usagef("%w (--to-blobs)", err)
			}
		}
	}
	if p == a.places {
		return nil, usagef("the quests are there already: %s", shownPlace(p.ledger))
	}
	if p.ledger == a.places.ledger {
		return nil, usagef("blobs move with their ledger alone: name another with --to")
	}
	s := new(stores)
	if p.blobs == a.places.blobs {
		s.blobs = a.rt.Blobs
	} else if err := s.openBlobs(ctx, a.home, a.config, p.blobs); err != nil {
		return nil, err
	}
	if err := s.openLedger(ctx, a.home, p.ledger, true, a.saying()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	rt, closeAll, err := assemble(a.home, a.config, a.saying(), opened(s.ledger), s.blobs)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	a.closes = append(a.closes, func() error { return errors.Join(closeAll(), s.close()) })
	return &target{rt, shownPlace(p.ledger)}, nil
}

// moveAll moves quests one by one. One that cannot move does not hold the others up.
func (a *app) moveAll(ctx context.Context, to *target, names []string, quiet bool) (list []Moved, err error) {
	if len(names) == 0 {
		heads, err := a.rt.Ledger.Quests(ctx)
		if err != nil {
			return nil, err
		}
		for _, h := range heads {
			names = append(names, h.Quest)
		}
	}
	failed := false
	for _, name := range names {
		m := Moved{Quest: name}
		err := a.moveOne(ctx, to, &m)
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
		if err != nil {
			m.Error, failed = err.Error(), true
		}
		list = append(list, m)
		if !quiet {
			a.tellMoved(to, m)
		}
	}
	if err := moveTokens(ctx, a.rt.Ledger, to.rt.Ledger); err != nil {
		return list, err
	}
	if failed {
		return list, errFailed
	}
	if !quiet {
		fmt.Fprintf(a.out, "All of it is in %s. To work there from now on, write ledger: %s into config.yaml.\n", printable(to.where), printable(to.where))
	}
	return list, nil
}

func (a *app) moveOne(ctx context.Context, to *target, m *Moved) error {
	where, err := a.rt.MovedTo(ctx, m.Quest)
	if err != nil || where != "" {
		m.Already = where != ""
		return err
	}
	m.Events, err = a.rt.Move(ctx, to.rt, m.Quest, to.where, func() error {
		rep, err := audit.Verify(ctx, to.rt, m.Quest, nil)
		if err == nil && rep.Difference != nil {
			err = fmt.Errorf("it is there, but does not hold: %w", rep.Difference)
		}
		return err
	})
	if errors.Is(err, ledger.ErrClaimed) {
		err = fmt.Errorf("%w: stop it, or its server, and give the command again", err)
	}
	return err
}

func (a *app) tellMoved(to *target, m Moved) {
	switch {
	case m.Error != "":
		fmt.Fprintf(a.out, "%s stays: %s\n", m.Quest, printable(m.Error))
	case m.Already:
		fmt.Fprintf(a.out, "%s has moved before.\n", m.Quest)
	default:
		fmt.Fprintf(a.out, "%s: %s brought to %s, verified there.\n", m.Quest, view.Several(int64(m.Events), "event"), printable(to.where))
	}
}

// moveTokens brings what opens servers of the home; never a secret, for stores have only their hashes.
func moveTokens(ctx context.Context, from, to ledger.Tokens) error {
	all, err := from.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if err := to.PutToken(ctx, t); err != nil && !errors.Is(err, ledger.ErrToken) {
			return fmt.Errorf("move the token %s: %w", t.ID, err)
		}
	}
	return nil
}
