package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
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
	// Rest is why the quest came to rest without an answer: waiting, paused, no-agreement,
	// outage, budget, stopped or failed.
	Rest string `json:"rest,omitempty"`
	// Waiting says that nobody works until a person has answered one of the Questions.
	Waiting   bool            `json:"waiting,omitempty"`
	Questions []view.Question `json:"questions,omitempty"`
	// absent are the providers that all wait for.
	absent string
	// Running says that a process works on the quest now, Held that one has it: it may rest
	// there, paused or waiting.
	Running bool   `json:"running"`
	Held    bool   `json:"held"`
	Events  uint64 `json:"events"`
	Hash    string `json:"hash"`
	Turns   int64  `json:"turns"`
	Tools   int64  `json:"tool_calls"`
	Tokens  int64  `json:"tokens"`
	// CostUSD is null if the cost of a call is unknown; AtLeast then is what is known.
	CostUSD  *string `json:"cost_usd"`
	AtLeast  string  `json:"cost_at_least_usd,omitempty"`
	Unpriced int64   `json:"unpriced_calls,omitempty"`
	// Estimated counts calls whose provider did not tell what they used: the cost is then
	// an upper bound.
	Estimated int64 `json:"estimated_calls,omitempty"`
	// Recalled counts calls that were answered from the cache of answers, at no cost.
	Recalled int64       `json:"recalled_calls,omitempty"`
	Seconds  float64     `json:"running_seconds"`
	Agents   []agentJSON `json:"agents"`
	Created  event.Time  `json:"created"`
	Updated  event.Time  `json:"updated"`
	Origin   *originJSON `json:"forked_from,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Answer   *string     `json:"answer,omitempty"`
	// Verdict is the answer in a line: the value, who agrees, how sure.
	Verdict *quest.Verdict `json:"verdict,omitempty"`
	// Warnings are what stayed open, of a quest that is completed with warnings.
	Warnings []string `json:"warnings,omitempty"`
	// NotFound says that the answer is that there is none in what was searched.
	NotFound bool         `json:"not_found,omitempty"`
	Limits   event.Limits `json:"limits"`
	Seed     string       `json:"seed"`
	// Papers and Votes are there for labs. Best is the paper with the most votes, and
	// Publications are all of them, the latest first; they are there in show.
	view.Tally
	// cost is what it has cost, for people.
	cost         string
	Best         *paperJSON   `json:"best,omitempty"`
	Publications []*paperJSON `json:"publications,omitempty"`
	// Study is what a study has come to; it is there in show.
	Study *studyJSON `json:"study,omitempty"`
	// Work is what an architect has planned and what became of it; it is there in show.
	Work *view.TaskList `json:"work,omitempty"`
	// Attempts are what a maker made, at a glance; they are there in show.
	Attempts []view.AttemptCard `json:"attempts,omitempty"`
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
	CostUSD     *string  `json:"cost_usd,omitempty"`
	Vote        string   `json:"vote,omitempty"`
}

type originJSON struct {
	Quest string `json:"quest"`
	At    uint64 `json:"at"`
	Hash  string `json:"hash"`
}

// outline is what a quest's state alone says of it, in a list.
func outline(name string, s *quest.State) *questJSON {
	q := &questJSON{
		Quest: name, Society: s.Society(), Status: string(s.Status), Reason: s.Reason,
		Events: s.Seq, Hash: s.Hash.String(), Turns: s.Spent.Turns, Tools: s.Spent.Tools,
		Tokens: s.Spent.Usage.Input + s.Spent.Usage.Output, Unpriced: s.Spent.Unpriced, Estimated: s.Spent.Estimated, Recalled: s.Spent.Recalled,
		Seconds: float64(s.Elapsed(s.Time)) / 1e6, Created: s.Created, Updated: s.Time, Limits: s.Limits, Warnings: s.Warnings, NotFound: s.NotFound, Seed: fmt.Sprint(s.Seed),
		Tally: view.Of(s).Tally(s), Rest: s.Rest(), Waiting: s.Waiting(), Questions: view.Questions(s, nil), Verdict: s.Verdict(),
	}
	q.CostUSD = knownCost(s.Spent.Cost, s.Spent.Unpriced)
	if q.CostUSD == nil {
		q.AtLeast = quest.USD(s.Spent.Cost).String()
	}
	if q.cost = view.Price(s.Spent.Cost, s.Spent.Unpriced); s.Spent.Estimated > 0 && s.Spent.Unpriced == 0 {
		q.cost = "at most " + q.cost
	}
	if s.Stalled() {
		q.absent = oneLine(s.Absent(), 60)
	}
	if len(s.Outages) > 0 {
		q.Reason = s.Outage()
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
	societyOf(s).members(q, s)
	return q
}

// describe gathers what there is to say about a quest. Texts are read only if
// they are wanted.
func (a *app) describe(ctx context.Context, name string, s *quest.State, texts bool) (*questJSON, error) {
	q := outline(name, s)
	err := a.stand(ctx, q, s.Inbox)
	if err != nil || !texts {
		return q, err
	}
	if err := societyOf(s).describe(ctx, a, q, s); err != nil {
		return nil, err
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

// sortings are the orders of a list: the first by name, the others with the greatest or the
// latest first.
var sortings = map[string]func(a, b *questJSON) int{
	"name":    func(a, b *questJSON) int { return cmp.Compare(a.Quest, b.Quest) },
	"created": func(a, b *questJSON) int { return b.Created.Time().Compare(a.Created.Time()) },
	"updated": func(a, b *questJSON) int { return b.Updated.Time().Compare(a.Updated.Time()) },
	"tokens":  func(a, b *questJSON) int { return cmp.Compare(b.Tokens, a.Tokens) },
	"turns":   func(a, b *questJSON) int { return cmp.Compare(b.Turns, a.Turns) },
	"status":  func(a, b *questJSON) int { return cmp.Compare(a.state(), b.state()) },
	"cost":    func(a, b *questJSON) int { return cmp.Compare(b.dollars(), a.dollars()) },
}

// dollars is what a quest has cost; nobody knows it of some, which come first.
func (q *questJSON) dollars() quest.USD {
	if q.CostUSD == nil {
		return math.MaxInt64
	}
	usd, _ := quest.ParseUSD(*q.CostUSD)
	return usd
}

// knownCost is an amount for programs, nil if there are calls of which nobody knows it.
func knownCost(nanodollars, unpriced int64) *string {
	if unpriced > 0 {
		return nil
	}
	return new(quest.USD(nanodollars).String())
}

func (a *app) listCommand() *cobra.Command {
	var asJSON, running bool
	var order string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the quests",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			out := []*questJSON{}
			by := sortings[order]
			if by == nil {
				return usagef("--sort: %q is none of %s", order, strings.Join(slices.Sorted(maps.Keys(sortings)), ", "))
			}
			if err := a.look(); err == nil {
				if out, err = a.list(ctx); err != nil {
					return err
				}
				a.leftBehind(ctx)
			} else if !isNoHome(err) {
				return err
			}
			any := len(out) > 0
			if running {
				out = slices.DeleteFunc(out, func(q *questJSON) bool { return !q.Running })
			}
			slices.SortStableFunc(out, by)
			if asJSON {
				return a.printJSON(out)
			}
			if running && any && len(out) == 0 {
				fmt.Fprintln(a.out, "No quest is running. lyceum list shows all of them.")
				return nil
			}
			return a.printList(out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&running, "running", false, "only quests that a process runs now")
	cmd.Flags().StringVar(&order, "sort", "name", "the order: "+strings.Join(slices.Sorted(maps.Keys(sortings)), ", "))
	complete(cmd, "sort", func(*cobra.Command) []string { return slices.Sorted(maps.Keys(sortings)) })
	return cmd
}

// unreadable is a quest that cannot be read, which does not hide the others.
func unreadable(h ledger.Head, err error) *questJSON {
	status := "damaged"
	if other, ok := errors.AsType[*quest.UnknownRulesError](err); ok {
		status, err = "other rules", other
	} else if other, ok := errors.AsType[*policy.UnknownError](err); ok {
		status, err = "other rules", other
	}
	return &questJSON{Quest: h.Quest, Status: status, Reason: err.Error(), Events: h.Seq, Hash: h.Hash.String(), Agents: []agentJSON{}, cost: "unknown"}
}

func (a *app) printList(quests []*questJSON) error {
	if len(quests) == 0 {
		fmt.Fprintln(a.out, "There are no quests yet. Try: lyceum run examples/demo-number/quest.yaml")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "QUEST\tSOCIETY\tSTATUS\tPAPERS\tVOTES\tCOST\tTOKENS\tAGENTS\tMODEL\tHELD\tANSWER")
	for _, q := range quests {
		papers, votes, held := "-", "-", "-"
		if q.Papers != nil {
			papers = fmt.Sprintf("%d/%d/%d", q.Papers.Published, q.Papers.Submitted, q.Papers.Rejected)
			votes = fmt.Sprint(*q.Votes)
		}
		if q.Held {
			held = "by a process"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", q.Quest, cmp.Or(q.Society, "-"), q.state(), papers, votes, q.cost, view.Number(q.Tokens), len(q.Agents), q.models(), held, q.answer())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if slices.ContainsFunc(quests, func(q *questJSON) bool { return q.Papers != nil }) {
		fmt.Fprintln(a.out, "Papers: published/submitted/rejected.")
	}
	for _, q := range quests {
		a.printQuestions(q.Quest, q.Questions)
	}
	return nil
}

// state is the status as a person wants it: a quest that should be running and
// is not was interrupted.
func (q *questJSON) state() string {
	if q.Waiting {
		return "waiting"
	}
	if q.Held && q.absent != "" {
		return "waiting for " + q.absent
	}
	if q.Status == string(quest.Running) && !q.Held {
		return "interrupted"
	}
	if len(q.Warnings) > 0 {
		return "completed_with_warnings"
	}
	return q.Status
}

// answer is a quest's answer as a list shows it.
func (q *questJSON) answer() string {
	switch v := q.Verdict; {
	case v == nil || v.Value == "":
		return "-"
	case v.Candidate:
		return "(" + oneLine(v.Value, 40) + ")"
	default:
		return fmt.Sprintf("%s, sure: %s", oneLine(v.Value, 40), v.Sure)
	}
}

// printVerdict says the answer in a line of its own, and who agrees.
func (a *app) printVerdict(q *questJSON) {
	v := q.Verdict
	if v == nil {
		return
	}
	name := "answer"
	if v.Candidate {
		name = "candidate"
	}
	fmt.Fprintf(a.out, "%-10s %s\n", name, cmp.Or(oneLine(v.Value, 200), "-"))
	for _, part := range v.Parts() {
		fmt.Fprintf(a.out, "%-10s %s\n", "", oneLine(part, 300))
	}
	fmt.Fprintln(a.out)
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

func (a *app) showCommand() *cobra.Command {
	var asJSON, evidence, beliefs, asks bool
	var at uint64
	cmd := &cobra.Command{
		Use:   "show <quest>",
		Short: "Show a quest: its question, its answer, and what it took",
		Long: `Show a quest: its question, its answer, and what it took.

With --evidence it walks from each claim of a contract net's answer to the paragraph or
the program's output that it rests on, and checks the hashes: exit 1 if one does not
hold. With --beliefs it shows what the agents believed, wanted and intended, with --at
after any event. With --asks it shows what the quest asks for: models, computers, a
network, an image; and what an imported one is allowed of it.`,
		Args: exactArgs(1, "a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := a.loadWith(ctx, args[0], a.look)
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
			case asks:
				return a.showAsks(ctx, args[0], s, asJSON)
			}
			return a.printQuest(ctx, args[0], s, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&evidence, "evidence", false, "walk from each claim to what it rests on, and check it")
	cmd.Flags().BoolVar(&beliefs, "beliefs", false, "show what the agents believe, want and intend")
	cmd.Flags().BoolVar(&asks, "asks", false, "show what the quest asks for, and what it is allowed")
	cmd.Flags().Uint64Var(&at, "at", 0, "show the quest as it was after this event (default: the last)")
	return a.questArg(cmd)
}

// load opens the home and a quest in it.
func (a *app) load(ctx context.Context, name string) (*quest.State, error) {
	return a.loadWith(ctx, name, func() error { return a.open(false) })
}

func (a *app) loadWith(ctx context.Context, name string, open func() error) (*quest.State, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := open(); err != nil {
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
	if q.Held && !q.Running {
		fmt.Fprint(a.out, ", held by a process")
	}
	fmt.Fprintf(a.out, "\n\n%s\n\n", indent(printable(strings.TrimSpace(q.Problem))))
	a.printVerdict(q)
	if err := societyOf(s).result(ctx, a, q, s); err != nil {
		return err
	}
	a.printQuestions(name, q.Questions)
	fmt.Fprintf(a.out, "%-10s %s, %.1f s\n", "spent", q.spent(), q.Seconds)
	if limits := limitsOf(s); limits != "" {
		fmt.Fprintf(a.out, "%-10s %s\n", "budget", limits)
	}
	fmt.Fprintf(a.out, "%-10s %s, last %s\n", "ledger", view.Several(int64(q.Events), "event"), q.Hash)
	if q.Origin != nil {
		fmt.Fprintf(a.out, "%-10s %s at %d\n", "forked", q.Origin.Quest, q.Origin.At)
	}
	fmt.Fprintf(a.out, "%-10s %s\n", "folder", a.rt.QuestDir(name))
	withheld, err := a.rt.Restrictions(ctx, name, s)
	for _, line := range withheld {
		fmt.Fprintln(a.out, printable(line))
	}
	return err
}

// spent says what a quest took.
func (q *questJSON) spent() string {
	said := q.cost
	if said == "unknown" {
		said = "cost unknown"
	}
	turns := view.Several(q.Turns, "turn")
	if q.Recalled > 0 {
		turns += fmt.Sprintf(" (%s from the cache)", view.Number(q.Recalled))
	}
	return strings.Join([]string{turns, view.Several(q.Tools, "tool call"), view.Several(q.Tokens, "token"), said}, ", ")
}

// limitsOf says how much of each limit of a quest is used.
func limitsOf(s *quest.State) string {
	var out []string
	add := func(used string, most *int64, say func(int64) string) {
		if most != nil {
			out = append(out, used+" of "+say(*most))
		}
	}
	limit := func(name string) func(int64) string { return func(n int64) string { return view.Limit(name, n) } }
	add(view.Price(s.Spent.Cost, s.Spent.Unpriced), s.Limits.Cost, limit("cost"))
	add(view.Number(s.Spent.Turns), s.Limits.Turns, limit("turns"))
	add(view.Number(s.Spent.Usage.Input+s.Spent.Usage.Output), s.Limits.Tokens, limit("tokens"))
	add(fmt.Sprintf("%.1f s", float64(s.Elapsed(s.Time))/1e6), s.Limits.Duration, limit("duration"))
	if s.Limits.Storage != nil || s.Full != nil {
		most, _ := s.Storage()
		add(policy.Room(s.Spent.Stored), &most, func(n int64) string { return policy.Room(n) + " of storage" })
	}
	return strings.Join(out, ", ")
}

// printOutcome is what run ends with. A quest that has come to rest without an answer has
// an exit code of its own; one that failed or was stopped is a failure, and so is one whose
// answer is that there is none.
func (a *app) printOutcome(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	if asJSON {
		if err := a.printQuest(ctx, name, s, true); err != nil {
			return err
		}
	} else if err := a.printEnd(ctx, name, s); err != nil {
		return err
	}
	switch s.Rest() {
	case "":
		if s.NotFound {
			return errFailed
		}
		return nil
	case string(quest.Stopped), string(quest.Failed):
		return errFailed
	}
	return errResting
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
	case quest.Running:
		if s.HasMail() && len(q.Questions) == 0 {
			fmt.Fprintf(a.out, "The quest waits for your words. Talk with it: lyceum chat %s (or: lyceum message %s \"…\")\n", name, name)
			break
		}
		fmt.Fprintln(a.out, "The quest waits for a person.")
		a.printQuestions(name, q.Questions)
		if s.HasMail() {
			fmt.Fprintf(a.out, "\nOr talk with it: lyceum chat %s\n", name)
		}
		fmt.Fprintf(a.out, "\nThen go on with: lyceum run %s\n", name)
	case quest.Exceeded:
		fmt.Fprintf(a.out, "\nStopped: the limit on %s is reached. Go on with a higher one: lyceum run %s --max-%s …\n", s.Reason, name, s.Reason)
	case quest.Failed:
		if limit := agentLimit(s); limit != "" {
			fmt.Fprintf(a.out, "\nFailed: %s\nGo on with a higher limit: lyceum run %s --max-agent-%s …\n", printable(s.Reason), name, limit)
			break
		}
		fmt.Fprintf(a.out, "\nFailed: %s\nTry again from here with: lyceum run %s\n", printable(s.Reason), name)
	default:
		why := string(s.Status)
		if s.Rested != "" {
			why += " (" + s.Rested + "). " + strings.TrimSuffix(printable(s.Reason), ".")
		}
		fmt.Fprintf(a.out, "\nThe quest is %s. Go on with: lyceum run %s\n", why, name)
		if s.Rested == event.RestNoAgreement {
			fmt.Fprintf(a.out, "Or say something to the agents first: lyceum message %s \"…\"\n", name)
		}
	}
	fmt.Fprintf(a.out, "%s. Every step: lyceum trace %s. Proof: lyceum replay %s\n", q.spent(), name, name)
	return nil
}

func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if a.telling.form == streamed {
		v = map[string]any{"outcome": v}
	} else {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(a.out, plain.JSON(b.String()))
	return err
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
