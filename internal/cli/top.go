package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) topCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "top",
		Short: "Show all quests live: what runs, what it costs a minute, what has come of it",
		Long: `Show all quests of the home, whichever process runs them, as they go: those that run first, with what they
cost, how much a minute, the tokens a second with those of the last five minutes as bars, the answer so far and who
agrees. Enter watches a quest, and leaving it leads back; S sorts, / filters, q leaves. Without a terminal the list
is printed once; lyceum list prints more of each quest.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if err := a.open(false); err != nil {
				if isNoHome(err) {
					fmt.Fprintln(a.out, "There are no quests yet. Try: lyceum run examples/demo-number/quest.yaml")
					return nil
				}
				return err
			}
			t := &top{a: a, seen: map[string]*topQuest{}}
			if !isTerminal(a.in) || !isTerminal(a.out) {
				return t.print(ctx)
			}
			for chosen := ""; ; {
				var err error
				if chosen, err = tui.Top(ctx, t.rows, chosen, a.in, a.out); err != nil || chosen == "" {
					return err
				}
				s, err := a.rt.Load(ctx, chosen)
				if err == nil {
					err = a.watch(ctx, chosen, s)
				}
				if err != nil {
					return err
				}
			}
		},
	}
}

// top is what is known of all quests of a home. Its rows are read by one goroutine at a time.
type top struct {
	a    *app
	seen map[string]*topQuest
}

// topQuest is a quest that runs, folded as far as was read.
type topQuest struct {
	state *quest.State
	rates view.Rates
	// why is why it cannot be read, as of the event at.
	why error
	at  uint64
}

// rows say of each quest what is kept of it as of its head, or fold what has happened since the last
// time.
func (t *top) rows(ctx context.Context) ([]tui.TopRow, error) {
	all, err := t.a.rt.Glances(ctx, glancer.Form)
	if err != nil {
		return nil, err
	}
	out := make([]tui.TopRow, 0, len(all))
	for _, g := range all {
		q, rate, err := t.quest(ctx, g)
		if errors.Is(err, ledger.ErrNoQuest) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		row := tui.TopRow{
			Quest: q.Quest, Society: q.Society, State: q.state(), Running: q.Running, Waits: q.Waiting, Agents: len(q.Agents),
			Price: q.cost, Updated: q.Updated.Time(), Rate: rate,
		}
		if cost, err := quest.ParseUSD(q.AtLeast); err == nil {
			row.Cost = int64(cost)
		}
		if q.CostUSD != nil {
			row.Cost = int64(q.dollars())
		}
		if v := q.Verdict; v != nil {
			if row.Answer, row.Agree = v.Value, v.Agree; v.Candidate {
				row.Answer = "(" + v.Value + ")"
			}
		}
		out = append(out, row)
	}
	return out, nil
}

func (t *top) quest(ctx context.Context, g runtime.Glanced) (*questJSON, view.Rate, error) {
	var k glance
	if g.Body != nil && json.Unmarshal(g.Body, &k) == nil && k.Said != nil {
		delete(t.seen, g.Head.Quest) // it rests, or was only made
		k.Said.cost, k.Said.absent = k.Cost, k.Absent
		return k.Said, view.Rate{}, t.a.stand(ctx, k.Said, k.Inbox)
	}
	s := t.seen[g.Head.Quest]
	if s == nil || s.why != nil && s.at != g.Head.Seq {
		s = t.begin(ctx, g.Head)
		t.seen[g.Head.Quest] = s
	}
	if s.why == nil {
		s.why, s.at = s.catchUp(ctx, t.a, g.Head.Quest), g.Head.Seq
	}
	if s.why != nil {
		if ctx.Err() != nil {
			return nil, view.Rate{}, ctx.Err()
		}
		return unreadable(g.Head, s.why), view.Rate{}, nil
	}
	q := outline(g.Head.Quest, s.state)
	err := t.a.stand(ctx, q, s.state.Inbox)
	rate := view.Rate{}
	if q.Running {
		rate = s.rates.At(runtime.SystemClock())
	}
	return q, rate, err
}

// lookBack is how many events before a quest's last are read for how fast it spends.
const lookBack = 1000

func (t *top) begin(ctx context.Context, h ledger.Head) *topQuest {
	s := &topQuest{at: h.Seq}
	if s.state, s.why = t.a.rt.Load(ctx, h.Quest); s.why != nil {
		return s
	}
	for e, err := range t.a.rt.Ledger.Read(ctx, h.Quest, max(s.state.Seq, lookBack)-lookBack+1) {
		if err != nil || e.Seq > s.state.Seq {
			s.why = err
			break
		}
		s.rates.Take(e)
	}
	return s
}

// catchUp folds what has happened since the last time.
func (s *topQuest) catchUp(ctx context.Context, a *app, name string) error {
	for e, err := range a.rt.Ledger.Read(ctx, name, s.state.Seq+1) {
		if err == nil {
			err = s.state.Fold(e)
		}
		if err != nil {
			return err
		}
		s.rates.Take(e)
	}
	return nil
}

// print prints the rows once, what runs first.
func (t *top) print(ctx context.Context) error {
	rows, err := t.rows(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b tui.TopRow) int {
		switch {
		case a.Running == b.Running:
			return b.Updated.Compare(a.Updated)
		case a.Running:
			return -1
		}
		return 1
	})
	w := tabwriter.NewWriter(t.a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "QUEST\tSTATE\tAGENTS\tCOST\tA MINUTE\tTOKENS/S\tANSWER\tAGREEMENT")
	for _, r := range rows {
		minute, tokens := "-", "-"
		if r.Running {
			minute, tokens = view.Dollars(int64(r.Rate.Cost)), fmt.Sprintf("%.0f", r.Rate.Tokens)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", printable(r.Quest), r.State, r.Agents, r.Price, minute, tokens, dash(r.Answer), dash(r.Agree))
	}
	return w.Flush()
}

// dash is a text for a table, or a dash.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return oneLine(text, 60)
}
