package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// paperJSON is what programs read of a paper. Fields are only added. Content and the
// texts of reviews are there in view only.
type paperJSON struct {
	Ref          string            `json:"ref"`
	Quest        string            `json:"quest"`
	Title        string            `json:"title"`
	Author       string            `json:"author"`
	Status       string            `json:"status"`
	Submitted    event.Time        `json:"submitted"`
	Accepts      int64             `json:"accepts"`
	Rejects      int64             `json:"rejects"`
	Citations    int64             `json:"citations"`
	Votes        int64             `json:"votes"`
	Voters       []string          `json:"voters"`
	Cites        []string          `json:"cites"`
	CitedBy      []string          `json:"cited_by"`
	SelfCitedBy  []string          `json:"self_cited_by"`
	Revises      string            `json:"revises,omitempty"`
	RevisedBy    []string          `json:"revised_by,omitempty"`
	Folder       string            `json:"folder"`
	Attachments  []string          `json:"attachments"`
	Abstract     string            `json:"abstract,omitempty"`
	Claims       []string          `json:"claims"`
	Named        bool              `json:"claims_named"`
	Repeats      []string          `json:"repeats,omitempty"`
	Entrypoint   string            `json:"entrypoint,omitempty"`
	Reproduction *reproductionJSON `json:"reproduction,omitempty"`
	Reviews      []reviewJSON      `json:"reviews"`
	Content      *string           `json:"content,omitempty"`
}

type reproductionJSON struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Exit   int64  `json:"exit"`
	// Output and Second are the hashes of what was printed.
	Output string `json:"output,omitempty"`
	Second string `json:"second,omitempty"`
	// Printed is the beginning of the output, Missing the claims that are not in it.
	Printed string   `json:"printed,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

type reviewJSON struct {
	Reviewer string `json:"reviewer"`
	// State is open, done or expired.
	State      string  `json:"state"`
	Grade      string  `json:"grade,omitempty"`
	Confidence int64   `json:"confidence,omitempty"`
	Content    *string `json:"content,omitempty"`
	// Claim, Ran and Counterexample are what the review rests on.
	Claim          string `json:"claim,omitempty"`
	Ran            string `json:"ran,omitempty"`
	Counterexample string `json:"counterexample,omitempty"`
}

func (a *app) publicationCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publication",
		Short: "List and read the papers of a lab",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q: there are publication list and publication view\nSee: lyceum publication --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.publicationListCommand(), a.publicationViewCommand())
	return cmd
}

func (a *app) publicationListCommand() *cobra.Command {
	var status, order string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list <quest>",
		Short: "List the papers of a quest, the latest or the most cited first",
		Args:  exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			status = strings.ToUpper(status)
			if status != "" && !slices.Contains([]string{event.Submitted, event.Published, event.Rejected}, status) {
				return usagef("--status %q: want submitted, published or rejected", status)
			}
			if !slices.Contains([]paper.Order{paper.Latest, paper.Citations}, paper.Order(order)) {
				return usagef("--order %q: want latest or citations", order)
			}
			s, err := a.loadWith(cmd.Context(), args[0], a.read)
			if err != nil {
				return err
			}
			papers, _ := lab.Library(s).List(paper.Order(order), status, math.MaxInt64, 0)
			if asJSON {
				out := []*paperJSON{}
				for _, p := range papers {
					out = append(out, a.paperJSON(args[0], s, p))
				}
				return a.printJSON(out)
			}
			return a.printPapers(args[0], s, papers)
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "only those that are submitted, published or rejected")
	cmd.Flags().StringVar(&order, "order", string(paper.Latest), "latest or citations first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return a.questArg(cmd)
}

func (a *app) printPapers(name string, s *quest.State, papers []*paper.Paper) error {
	switch {
	case len(papers) == 0 && len(lab.Library(s).Papers) > 0:
		fmt.Fprintf(a.out, "Quest %s has no such papers; all of them: lyceum publication list %s\n", name, name)
		return nil
	case len(papers) == 0 && lab.Of(s) == nil:
		fmt.Fprintf(a.out, "Quest %s has no papers: it is no lab. Its answer: lyceum show %s\n", name, name)
		return nil
	case len(papers) == 0:
		fmt.Fprintf(a.out, "Quest %s has no papers yet. Watch it with: lyceum watch %s\n", name, name)
		return nil
	}
	return a.paperTable(papers)
}

// paperTable prints a line for each paper.
func (a *app) paperTable(papers []*paper.Paper) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "REF\tSTATUS\tREVIEWS\tPROGRAM\tCITED\tVOTES\tAUTHOR\tTITLE")
	for _, p := range papers {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", p.Ref[:min(len(p.Ref), 12)], p.Status, reviewsOf(p), programOf(p), p.Cited, p.Votes, p.Author, cmp.Or(oneLine(p.Title, 80), "-"))
	}
	return w.Flush()
}

// reviewsOf counts the grades of a paper, and what is still to come.
func reviewsOf(p *paper.Paper) string {
	accepts, rejects := p.Grades()
	out := fmt.Sprintf("+%d -%d", accepts, rejects)
	open := 0
	for _, r := range p.Requests {
		if r.State == paper.Open {
			open++
		}
	}
	if open > 0 {
		out += fmt.Sprintf(" ?%d", open)
	}
	return out
}

func programOf(p *paper.Paper) string {
	switch {
	case p.Reproduction != nil && len(p.Reproduction.Missing) > 0:
		return fmt.Sprintf("%s, %d of %s not in it", oneLine(p.Reproduction.Status, 20), len(p.Reproduction.Missing), view.Several(int64(len(p.Claims)), "claim"))
	case p.Reproduction != nil:
		return oneLine(p.Reproduction.Status, 20)
	case p.Trial != 0:
		return "runs"
	case p.Entrypoint != "":
		return "waits"
	}
	return "-"
}

// paperJSON is a paper without its texts.
func (a *app) paperJSON(name string, s *quest.State, p *paper.Paper) *paperJSON {
	d := tui.NewDocument(lab.Library(s), p, a.rt.QuestDir(name))
	refs := func(list []tui.Citation) []string {
		out := []string{}
		for _, c := range list {
			out = append(out, c.Ref)
		}
		return out
	}
	accepts, rejects := p.Grades()
	j := &paperJSON{
		Ref: p.Ref, Quest: name, Title: p.Title, Author: p.Author, Status: p.Status, Submitted: p.Time, Accepts: accepts, Rejects: rejects,
		Citations: p.Cited, Votes: p.Votes, Voters: append([]string{}, d.Votes...), Cites: append([]string{}, p.Cites...), CitedBy: refs(d.CitedBy), SelfCitedBy: refs(d.Self),
		Revises: p.Revises, RevisedBy: p.RevisedBy, Folder: d.Folder, Attachments: append([]string{}, p.Attachments...), Entrypoint: p.Entrypoint, Reviews: []reviewJSON{},
		Abstract: p.Abstract, Claims: append([]string{}, p.Claims...), Named: p.Named, Repeats: p.Repeats,
	}
	if r := p.Reproduction; r != nil {
		j.Reproduction = &reproductionJSON{Status: r.Status, Reason: r.Reason, Exit: r.Exit, Printed: r.Printed, Missing: r.Missing}
		if r.Output != nil {
			j.Reproduction.Output = r.Output.Hash.String()
		}
		if r.Second != nil {
			j.Reproduction.Second = r.Second.Hash.String()
		}
	}
	for i, r := range d.Reviews {
		j.Reviews = append(j.Reviews, reviewJSON{Reviewer: r.Reviewer, State: r.State, Grade: r.Grade})
		if i < len(p.Reviews) { // the others are requests
			own := p.Reviews[i]
			j.Reviews[i].Confidence, j.Reviews[i].Claim, j.Reviews[i].Ran, j.Reviews[i].Counterexample = own.Confidence, own.Claim, own.Ran, own.Counterexample
		}
	}
	return j
}

func (a *app) publicationViewCommand() *cobra.Command {
	var in string
	var raw, asJSON bool
	cmd := &cobra.Command{
		Use:   "view <ref>",
		Short: "Read a paper, with its reviews, citations and votes",
		Long: `Read a paper. The first four digits of its reference are enough, if no other paper
has them. On a terminal its Markdown is typeset; elsewhere, and with --raw, it stays
as it was written. What agents wrote has a bar at its left, and nothing of it that a
terminal would obey is printed.`,
		Args: exactArgs(1, "a paper's reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			name, s, p, err := a.findPaper(ctx, args[0], in)
			if err != nil {
				return err
			}
			d := tui.NewDocument(lab.Library(s), p, a.rt.QuestDir(name))
			if err := d.Load(a.readText(ctx)); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(a.wholePaper(name, s, p, d))
			}
			width, look := a.paperLook(raw)
			_, err = fmt.Fprint(a.out, d.Render(width, look))
			return err
		},
	}
	cmd.Flags().StringVar(&in, "quest", "", "look in this quest only")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the Markdown as it was written")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) wholePaper(name string, s *quest.State, p *paper.Paper, d *tui.Document) *paperJSON {
	j := a.paperJSON(name, s, p)
	j.Content = &d.Content
	for i, r := range d.Reviews {
		if r.Grade != "" {
			j.Reviews[i].Content = &r.Content
		}
	}
	return j
}

func (a *app) readText(ctx context.Context) func(event.Text) (string, error) {
	return func(t event.Text) (string, error) {
		return agent.Read(t, func(ref event.Ref) ([]byte, error) { return a.rt.Blob(ctx, ref) })
	}
}

// maxLine is the longest line that is good to read.
const maxLine = 100

// paperLook is how a paper is shown where the output goes to.
func (a *app) paperLook(raw bool) (width int, look tui.Look) {
	f, ok := a.out.(*os.File)
	if !ok || raw || !term.IsTerminal(int(f.Fd())) {
		return maxLine, tui.Plain
	}
	width = 80
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		width = w
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return min(width, maxLine), tui.Mono
	}
	return min(width, maxLine), tui.Colour
}

// minPrefix is how much of a reference must be given.
const minPrefix = 4

// findPaper looks for the paper that a reference, or the beginning of one, means.
func (a *app) findPaper(ctx context.Context, ref, in string) (string, *quest.State, *paper.Paper, error) {
	ref = strings.ToLower(strings.Trim(ref, "[]"))
	if len(ref) < minPrefix || len(ref) > 32 || strings.Trim(ref, "0123456789abcdef") != "" {
		return "", nil, nil, usagef("%q is no reference: want its 32 hex digits, or the first %d or more\nSee the papers of a quest with: lyceum publication list <quest>", ref, minPrefix)
	}
	names, err := a.questsToSearch(ctx, in)
	if err != nil {
		return "", nil, nil, err
	}
	type hit struct {
		quest string
		state *quest.State
		paper *paper.Paper
	}
	var hits []hit
	var unread []error
	for _, name := range names {
		s, err := a.rt.Load(ctx, name)
		if err != nil {
			if in != "" {
				return "", nil, nil, err
			}
			unread = append(unread, err) // another quest may have it
			continue
		}
		for _, p := range lab.Library(s).Papers {
			if strings.HasPrefix(p.Ref, ref) {
				hits = append(hits, hit{name, s, p})
			}
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0].quest, hits[0].state, hits[0].paper, nil
	case len(hits) == 0 && len(unread) > 0:
		return "", nil, nil, fmt.Errorf("no paper begins with %s in the quests that can be read; these cannot: %w", ref, errors.Join(unread...))
	case len(hits) == 0:
		return "", nil, nil, fmt.Errorf("no paper begins with %s\nSee the papers of a quest with: lyceum publication list <quest>", ref)
	}
	text := fmt.Sprintf("%d papers begin with %s: give more of the reference, or --quest", len(hits), ref)
	for _, h := range hits[:min(len(hits), 10)] {
		text += fmt.Sprintf("\n  %s  %s  %s", h.paper.Ref, h.quest, oneLine(h.paper.Title, 60))
	}
	return "", nil, nil, usageError{errors.New(text)}
}

func (a *app) questsToSearch(ctx context.Context, in string) (names []string, err error) {
	if in != "" {
		if err := checkName(in); err != nil {
			return nil, err
		}
	}
	if err := a.read(); err != nil {
		return nil, err
	}
	if in != "" {
		return []string{in}, nil
	}
	heads, err := a.rt.Ledger.Quests(ctx)
	for _, h := range heads {
		names = append(names, h.Quest)
	}
	return names, err
}
