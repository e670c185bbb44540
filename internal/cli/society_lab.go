package cli

import (
	"context"
	"fmt"
	"math"
	"text/tabwriter"

	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// laboratory is how a lab is shown: by its papers.
type laboratory struct{ alone }

func (laboratory) crowded() bool { return true }

func (laboratory) commands(a *app) []*cobra.Command {
	return []*cobra.Command{a.publicationCommand()}
}

func (laboratory) flags(f *keyFlags) {
	f.number("reviewers", "how many agents of a lab review each paper (default 3, or all others if they are fewer)")
}

// describe adds a lab's papers, and the best one whole.
func (laboratory) members(q *questJSON, s *quest.State) {
	for i, ag := range s.Agents {
		j := &q.Agents[i]
		j.OpenReviews, j.Vote, j.CostUSD = lab.Library(s).Asked[ag.Name], lab.Library(s).Votes[ag.Name], knownCost(ag.Cost, ag.Unpriced)
	}
}

func (laboratory) describe(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	papers, _ := lab.Library(s).List(paper.Latest, "", math.MaxInt64, 0)
	for _, p := range papers {
		q.Publications = append(q.Publications, a.paperJSON(q.Quest, s, p))
	}
	best := lab.Library(s).Best()
	if best == nil {
		return nil
	}
	d := tui.NewDocument(lab.Library(s), best, a.rt.QuestDir(q.Quest))
	if err := d.Load(a.readText(ctx)); err != nil {
		return err
	}
	q.Best = a.wholePaper(q.Quest, s, best, d)
	return nil
}

// result says what a lab has found: the best paper first, then all of them and the
// agents.
func (laboratory) result(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if best := lab.Library(s).Best(); best != nil {
		if err := a.printBest(ctx, q.Quest, s, best, true); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.out, "No paper is published yet.\n\n")
	}
	if papers, _ := lab.Library(s).List(paper.Latest, "", math.MaxInt64, 0); len(papers) > 0 {
		if err := a.paperTable(papers); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tTURNS\tPHASE\tOPEN REVIEWS\tCOST\tVOTE\tMODEL\tPARKED")
	for i, ag := range q.Agents {
		vote, parked := "-", "-"
		if ag.Vote != "" {
			vote = ag.Vote[:min(len(ag.Vote), 12)]
		}
		if ag.Parked != "" {
			parked = oneLine(ag.Parked, 80)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%s\t%s\n", ag.Name, ag.Turns, ag.Phase, len(ag.OpenReviews), view.Price(s.Agents[i].Cost, s.Agents[i].Unpriced), vote, oneLine(ag.Model, 60), parked)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\n%-10s %d published, %d submitted, %d rejected; %d of %s voted\n", "papers", q.Papers.Published, q.Papers.Submitted, q.Papers.Rejected, *q.Votes, view.Several(int64(len(q.Agents)), "agent has", "agents have"))
	return nil
}

// ended shows the best paper.
func (laboratory) ended(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	best := lab.Library(s).Best()
	if best == nil {
		return nil
	}
	fmt.Fprintln(a.out)
	a.printVerdict(q)
	return a.printBest(ctx, q.Quest, s, best, false)
}

func (a *app) printBest(ctx context.Context, name string, s *quest.State, best *paper.Paper, reviews bool) error {
	d := tui.NewDocument(lab.Library(s), best, a.rt.QuestDir(name))
	if !reviews {
		d.Reviews = nil
	}
	if err := d.Load(a.readText(ctx)); err != nil {
		return err
	}
	width, look := a.paperLook(false)
	head := "Best paper"
	if best.Votes == 0 {
		head = "Candidate: nobody has voted for a paper"
	}
	fmt.Fprintf(a.out, "%s\n\n%s\n", head, d.Render(width, look))
	return nil
}
