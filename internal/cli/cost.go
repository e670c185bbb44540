package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// costJSON is what cost prints for programs.
type costJSON struct {
	By    string        `json:"by"`
	Rows  []view.Charge `json:"rows"`
	Total view.Charge   `json:"total"`
	// Imported are quests that others paid, which are left out.
	Imported []string `json:"imported,omitempty"`
}

func (a *app) costCommand() *cobra.Command {
	var asJSON bool
	var by, since, until string
	ways := slices.Sorted(maps.Keys(view.BillBy))
	cmd := &cobra.Command{
		Use:   "cost [quest...]",
		Short: "What quests have cost, by quest, model, agent or day",
		Long: `Say what models have cost: all quests of the home, or those that are named, by quest, model,
agent or day. What a fork has from its origin was paid there: it counts once, and as the origin's.
What others paid for, in a quest that was imported, is left out unless the quest is named.

  lyceum cost
  lyceum cost --by model --since 2026-11-01
  lyceum cost my-lab --by agent`,
		RunE: func(cmd *cobra.Command, args []string) error {
			bill := &view.Bill{By: view.BillBy[by]}
			if bill.By == nil {
				return usagef("--by: %q is none of %s", by, strings.Join(ways, ", "))
			}
			var err error
			if bill.Since, err = day("since", since, 0); err != nil {
				return err
			}
			if bill.Until, err = day("until", until, 1); err != nil {
				return err
			}
			out := costJSON{By: by, Rows: []view.Charge{}}
			if err := a.look(); err == nil {
				if out.Imported, err = a.bill(cmd, bill, args); err != nil {
					return err
				}
			} else if !isNoHome(err) {
				return err
			}
			out.Rows, out.Total = bill.Charges()
			if asJSON {
				return a.printJSON(out)
			}
			return a.printCost(&out)
		},
	}
	cmd.Flags().StringVar(&by, "by", "quest", "what is put together: "+strings.Join(ways, ", "))
	cmd.Flags().StringVar(&since, "since", "", "leave out what was before this day, such as 2026-11-01")
	cmd.Flags().StringVar(&until, "until", "", "leave out what was after this day")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	complete(cmd, "by", func(*cobra.Command) []string { return ways })
	return a.questArg(cmd)
}

// day reads a flag with a day, and adds some.
func day(flag, value string, more int) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, value, time.Local)
	if err != nil {
		return at, usagef("--%s: %.40q is no day, such as 2026-11-01", flag, value)
	}
	return at.AddDate(0, 0, more), nil
}

// bill reads the quests that are named, or all of this home.
func (a *app) bill(cmd *cobra.Command, bill *view.Bill, named []string) (imported []string, err error) {
	ctx := cmd.Context()
	names := named
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	if len(named) == 0 {
		heads, err := a.rt.Ledger.Quests(ctx)
		if err != nil {
			return nil, err
		}
		for _, h := range heads {
			names = append(names, h.Quest)
		}
	}
	for _, name := range names {
		if len(named) == 0 {
			if from, err := a.rt.Imported(ctx, name); err != nil {
				return nil, err
			} else if from != nil {
				imported = append(imported, name)
				continue
			}
		}
		for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
			if err != nil {
				return nil, err
			}
			bill.Take(name, e)
		}
	}
	return imported, nil
}

func (a *app) printCost(c *costJSON) error {
	if len(c.Rows) == 0 {
		fmt.Fprintln(a.out, "No model has answered yet.")
	} else {
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s\tCOST\tANSWERS\tREAD\tFROM CACHE\tWRITTEN\n", strings.ToUpper(c.By))
		row := func(name string, r view.Charge) {
			price := view.Price(int64(r.Cost), r.Unpriced)
			if r.Estimated > 0 && r.Unpriced == 0 {
				price = "at most " + price
			}
			share := "0 %"
			if r.Input > 0 {
				share = fmt.Sprintf("%d %%", r.Cached*100/r.Input)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(name), price, view.Number(r.Answers), view.Number(r.Input), share, view.Number(r.Output))
		}
		for _, r := range c.Rows {
			row(r.By, r)
		}
		row("all", c.Total)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if len(c.Imported) > 0 {
		fmt.Fprintf(a.out, "Left out: %s, which others paid for.\n", printable(strings.Join(c.Imported, ", ")))
	}
	return nil
}
