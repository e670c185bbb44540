package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// questJSON is what list and show print for programs. Fields are only added.
type questJSON struct {
	Quest   string `json:"quest"`
	Society string `json:"society"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	// Running says that a process owns the quest now.
	Running  bool        `json:"running"`
	Events   uint64      `json:"events"`
	Hash     string      `json:"hash"`
	Turns    int64       `json:"turns"`
	Tools    int64       `json:"tool_calls"`
	Tokens   int64       `json:"tokens"`
	CostUSD  string      `json:"cost_usd"`
	Unpriced int64       `json:"unpriced_calls,omitempty"`
	Seconds  float64     `json:"running_seconds"`
	Agents   []agentJSON `json:"agents"`
	Created  event.Time  `json:"created"`
	Updated  event.Time  `json:"updated"`
	Origin   *originJSON `json:"forked_from,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Answer   *string     `json:"answer,omitempty"`
	// Warnings are what stayed open, of a quest that is completed with warnings.
	Warnings []string     `json:"warnings,omitempty"`
	Limits   event.Limits `json:"limits"`
	Seed     string       `json:"seed"`
	// Papers and Votes are there for labs. Best is the paper with the most votes, and
	// Publications are all of them, the latest first; they are there in show.
	view.Tally
	Best         *paperJSON   `json:"best,omitempty"`
	Publications []*paperJSON `json:"publications,omitempty"`
}

type agentJSON struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Phase string `json:"phase"`
	Turns int64  `json:"turns"`
	Tree  string `json:"workspace,omitempty"`
	// Parked says why the agent gets no turns, if it does not. The rest is there for
	// labs: OpenReviews are the papers that it is asked to review.
	Parked      string   `json:"parked,omitempty"`
	OpenReviews []string `json:"open_reviews,omitempty"`
	CostUSD     string   `json:"cost_usd,omitempty"`
	Vote        string   `json:"vote,omitempty"`
}

type originJSON struct {
	Quest string `json:"quest"`
	At    uint64 `json:"at"`
	Hash  string `json:"hash"`
}

// describe gathers what there is to say about a quest. Texts are read only if
// they are wanted.
func (a *app) describe(ctx context.Context, name string, s *quest.State, texts bool) (*questJSON, error) {
	running, err := a.rt.Ledger.Claimed(name)
	if err != nil {
		return nil, err
	}
	q := &questJSON{
		Quest: name, Society: nameOf(s.Rules), Status: string(s.Status), Reason: s.Reason, Running: running,
		Events: s.Seq, Hash: s.Hash.String(), Turns: s.Spent.Turns, Tools: s.Spent.Tools,
		Tokens: s.Spent.Usage.Input + s.Spent.Usage.Output, CostUSD: quest.USD(s.Spent.Cost).String(), Unpriced: s.Spent.Unpriced,
		Seconds: float64(s.Elapsed(s.Time)) / 1e6, Created: s.Created, Updated: s.Time, Limits: s.Limits, Warnings: s.Warnings, Seed: fmt.Sprint(s.Seed),
		Tally: view.Of(s).Tally(s),
	}
	for _, ag := range s.Agents {
		j := agentJSON{Name: ag.Name, Model: ag.Model, Phase: ag.Phase().String(), Turns: ag.Turns, Parked: ag.Parked}
		if ag.Tree != nil {
			j.Tree = ag.Tree.Hash.String()
		}
		q.Agents = append(q.Agents, j)
	}
	if s.Origin != nil {
		q.Origin = &originJSON{s.Origin.From, s.Origin.At, s.Origin.Hash.String()}
	}
	if err := societyOf(s).describe(ctx, a, q, s, texts); err != nil || !texts {
		return q, err
	}
	read := func(ref event.Ref) ([]byte, error) { return a.rt.Blob(ctx, ref) }
	if q.Problem, err = agent.Read(s.Problem, read); err != nil {
		return nil, err
	}
	if s.Answer != nil {
		answer, err := agent.Read(*s.Answer, read)
		if err != nil {
			return nil, err
		}
		q.Answer = &answer
	}
	return q, nil
}

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the quests",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			out := []*questJSON{}
			if err := a.open(false); err == nil {
				if out, err = a.list(ctx); err != nil {
					return err
				}
			} else if !isNoHome(err) {
				return err
			}
			if asJSON {
				return a.printJSON(out)
			}
			return a.printList(out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) list(ctx context.Context) ([]*questJSON, error) {
	heads, err := a.rt.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	out := []*questJSON{}
	for _, h := range heads {
		s, err := a.rt.Load(ctx, h.Quest)
		if err != nil {
			// One quest that cannot be read does not hide the others.
			status := "damaged"
			if other, ok := errors.AsType[*quest.UnknownRulesError](err); ok {
				status, err = "other rules", other
			} else if other, ok := errors.AsType[*policy.UnknownError](err); ok {
				status, err = "other rules", other
			}
			out = append(out, &questJSON{Quest: h.Quest, Status: status, Reason: err.Error(), Events: h.Seq, Hash: h.Hash.String(), Agents: []agentJSON{}})
			continue
		}
		q, err := a.describe(ctx, h.Quest, s, false)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

func (a *app) printList(quests []*questJSON) error {
	if len(quests) == 0 {
		fmt.Fprintln(a.out, "There are no quests yet. Try: lyceum run examples/primes/quest.yaml")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "QUEST\tSOCIETY\tSTATUS\tPAPERS\tVOTES\tCOST\tTOKENS\tAGENTS\tMODEL\tRUNNING")
	for _, q := range quests {
		papers, votes, running := "-", "-", "no"
		if q.Papers != nil {
			papers = fmt.Sprintf("%d/%d/%d", q.Papers.Published, q.Papers.Submitted, q.Papers.Rejected)
			votes = fmt.Sprint(*q.Votes)
		}
		if q.Running {
			running = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\n", q.Quest, cmp.Or(q.Society, "-"), q.state(), papers, votes, q.cost(), q.Tokens, len(q.Agents), q.models(), running)
	}
	if slices.ContainsFunc(quests, func(q *questJSON) bool { return q.Papers != nil }) {
		defer fmt.Fprintln(a.out, "Papers: published/submitted/rejected.")
	}
	return w.Flush()
}

// state is the status as a person wants it: a quest that should be running and
// is not was interrupted.
func (q *questJSON) state() string {
	if q.Status == string(quest.Running) && !q.Running {
		return "interrupted"
	}
	if len(q.Warnings) > 0 {
		return "completed_with_warnings"
	}
	return q.Status
}

// models names the agents' models, each once.
func (q *questJSON) models() string {
	var names []string
	for _, ag := range q.Agents {
		if name := oneLine(ag.Model, 60); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "-"
	case 1, 2:
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

func (q *questJSON) cost() string {
	if q.Unpriced > 0 {
		return "unknown"
	}
	return "$" + q.CostUSD
}

func (a *app) showCommand() *cobra.Command {
	var asJSON, evidence, beliefs bool
	var at uint64
	cmd := &cobra.Command{
		Use:   "show <quest>",
		Short: "Show a quest: its question, its answer, and what it took",
		Long: `Show a quest: its question, its answer, and what it took.

With --evidence it walks from each claim of a contract net's answer to the paragraph or
the program's output that it rests on, and checks the hashes: exit 1 if one does not
hold. With --beliefs it shows what the agents believed, wanted and intended, with --at
after any event.`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := a.load(ctx, args[0])
			if err == nil && at > 0 {
				s, err = a.rt.At(ctx, args[0], at)
			}
			switch {
			case err != nil:
				return err
			case evidence:
				return a.printEvidence(ctx, args[0], s, asJSON)
			case beliefs:
				return a.printBeliefs(s, asJSON)
			}
			return a.printQuest(ctx, args[0], s, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&evidence, "evidence", false, "walk from each claim to what it rests on, and check it")
	cmd.Flags().BoolVar(&beliefs, "beliefs", false, "show what the agents believe, want and intend")
	cmd.Flags().Uint64Var(&at, "at", 0, "show the quest as it was after this event (default: the last)")
	return a.questArg(cmd)
}

// load opens the home and a quest in it.
func (a *app) load(ctx context.Context, name string) (*quest.State, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := a.open(false); err != nil {
		return nil, err
	}
	return a.rt.Load(ctx, name)
}

func (a *app) printQuest(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	q, err := a.describe(ctx, name, s, true)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(q)
	}
	fmt.Fprintf(a.out, "%s: %s", q.Quest, q.state())
	if q.Reason != "" {
		fmt.Fprintf(a.out, " (%s)", printable(q.Reason))
	}
	fmt.Fprintf(a.out, "\n\n%s\n\n", indent(printable(strings.TrimSpace(q.Problem))))
	if err := societyOf(s).result(ctx, a, q, s); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%-10s %d turns, %d tool calls, %d tokens, %s, %.1f s\n", "spent", q.Turns, q.Tools, q.Tokens, q.cost(), q.Seconds)
	if limits := limitsOf(s); limits != "" {
		fmt.Fprintf(a.out, "%-10s %s\n", "budget", limits)
	}
	fmt.Fprintf(a.out, "%-10s %d events, last %s\n", "ledger", q.Events, q.Hash)
	if q.Origin != nil {
		fmt.Fprintf(a.out, "%-10s %s at %d\n", "forked", q.Origin.Quest, q.Origin.At)
	}
	fmt.Fprintf(a.out, "%-10s %s\n", "folder", a.rt.QuestDir(name))
	return nil
}

// limitsOf says how much of each limit of a quest is used.
func limitsOf(s *quest.State) string {
	var out []string
	add := func(limit string, used int64, most *int64) {
		if most != nil {
			out = append(out, policy.Amount(limit, used)+" of "+policy.Amount(limit, *most))
		}
	}
	add("cost", s.Spent.Cost, s.Limits.Cost)
	add("turns", s.Spent.Turns, s.Limits.Turns)
	add("tokens", s.Spent.Usage.Input+s.Spent.Usage.Output, s.Limits.Tokens)
	add("duration", s.Elapsed(s.Time), s.Limits.Duration)
	return strings.Join(out, ", ")
}

// printOutcome is what run ends with. A quest without an answer is a failure.
func (a *app) printOutcome(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	if asJSON {
		if err := a.printQuest(ctx, name, s, true); err != nil {
			return err
		}
	} else if err := a.printEnd(ctx, name, s); err != nil {
		return err
	}
	if s.Status != quest.Finished {
		return errFailed
	}
	return nil
}

// agentLimit is the limit that an agent has come up against, if that is why the
// quest rests.
func agentLimit(s *quest.State) string {
	for _, g := range s.Agents {
		if o := s.Over(g); g.Parked != "" && o != nil && o.Of == "agent" {
			return o.Limit
		}
	}
	return ""
}

func (a *app) printEnd(ctx context.Context, name string, s *quest.State) error {
	q, err := a.describe(ctx, name, s, true)
	if err != nil {
		return err
	}
	if err := societyOf(s).ended(ctx, a, q, s); err != nil {
		return err
	}
	switch s.Status {
	case quest.Finished:
	case quest.Exceeded:
		fmt.Fprintf(a.out, "\nStopped: the limit on %s is reached. Go on with a higher one: lyceum run %s --max-%s …\n", s.Reason, name, s.Reason)
	case quest.Failed:
		if limit := agentLimit(s); limit != "" {
			fmt.Fprintf(a.out, "\nFailed: %s\nGo on with a higher limit: lyceum run %s --max-agent-%s …\n", printable(s.Reason), name, limit)
			break
		}
		fmt.Fprintf(a.out, "\nFailed: %s\nTry again from here with: lyceum run %s\n", printable(s.Reason), name)
	default:
		fmt.Fprintf(a.out, "\nThe quest is %s. Go on with: lyceum run %s\n", s.Status, name)
	}
	fmt.Fprintf(a.out, "%d turns, %d tool calls, %d tokens, %s. Every step: lyceum trace %s. Proof: lyceum replay %s\n",
		q.Turns, q.Tools, q.Tokens, q.cost(), name, name)
	return nil
}

func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(a.out, plain.JSON(b.String()))
	return err
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
