package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// Summary is a quest at a glance.
type Summary struct {
	Name    string `json:"name"`
	Society string `json:"society"`
	Rules   string `json:"rules"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	// Question is the first line of what is asked that says something.
	Question string `json:"question,omitempty"`
	Running  bool   `json:"running"`
	Held     bool   `json:"held"`
	Here     bool   `json:"held_here"`
	// Questions is how many wait for an answer.
	Questions int      `json:"open_questions"`
	Agents    int      `json:"agents"`
	Models    []string `json:"models"`
	view.Tally
	// Cost is null if there are calls of which nobody knows it; AtLeast then is what is known.
	Cost     *view.USD `json:"cost_usd"`
	AtLeast  *view.USD `json:"cost_at_least_usd,omitempty"`
	Unpriced int64     `json:"unpriced_calls"`
	// Estimated counts calls of which only an upper bound of the cost is known.
	Estimated int64 `json:"estimated_calls,omitzero"`
	// Recalled counts calls that were answered from the cache, at no cost.
	Recalled int64      `json:"recalled_calls,omitzero"`
	Turns    int64      `json:"turns"`
	Tools    int64      `json:"tool_calls"`
	Tokens   int64      `json:"tokens"`
	Seconds  float64    `json:"seconds"`
	Limits   Limits     `json:"limits"`
	Events   uint64     `json:"events"`
	Hash     string     `json:"hash"`
	Created  event.Time `json:"created"`
	Updated  event.Time `json:"updated"`
	Origin   *Origin    `json:"forked_from,omitempty"`
	Activity view.Spark `json:"activity"`
	// Verdict is the answer in a line.
	Verdict *quest.Verdict `json:"verdict,omitempty"`
}

// Origin is where a fork came from.
type Origin struct {
	Quest string `json:"quest"`
	At    uint64 `json:"at"`
	Hash  string `json:"hash"`
}

// Detail is a quest.
type Detail struct {
	Summary
	Problem string  `json:"problem"`
	Spec    string  `json:"spec"`
	Seed    string  `json:"seed"`
	Answer  *string `json:"answer,omitempty"`
	view.Facts
	// Conclusion is what stands behind the answer, absent while nobody has proposed one.
	Conclusion *view.Conclusion `json:"conclusion,omitempty"`
	Team       []Agent          `json:"team"`
	// Questions are those that wait for a person's answer, the oldest first.
	Questions []view.Question `json:"questions"`
	// Modes are the ways in which the society can work, Mode is the one in which it does; a society
	// that has one way alone has none.
	Modes []Mode `json:"modes"`
	Mode  string `json:"mode,omitempty"`
	// Related is how many things agents have noted, with what they are part of.
	Related int `json:"related,omitempty"`

	Warnings []string    `json:"warnings"`
	Policies []PolicyUse `json:"policies"`
	Computer string      `json:"computer,omitempty"`
	Trouble  string      `json:"trouble,omitempty"`
	// Imported is there for a quest that came from elsewhere.
	Imported *ImportedQuest `json:"imported,omitempty"`
}

// Mode is a way in which a society works.
type Mode struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// ImportedQuest is what a quest from elsewhere asks for, and what it gets of it.
type ImportedQuest struct {
	Asks     runtime.Asks      `json:"asks"`
	Allowed  runtime.Allowance `json:"allowed"`
	Withheld []string          `json:"withheld"`
}

// imported is what there is to say of a quest that came from elsewhere, nil of any other.
func (s *Server) imported(ctx context.Context, name string, st *quest.State) (*ImportedQuest, error) {
	im, err := s.rt.Imported(ctx, name)
	if im == nil || err != nil {
		return nil, err
	}
	out := &ImportedQuest{Allowed: im.Allowed}
	if out.Asks, err = s.rt.Asks(ctx, st); err != nil {
		return nil, err
	}
	withheld, err := s.rt.Restrictions(ctx, name, st)
	out.Withheld = append([]string{}, withheld...)
	return out, err
}

// PolicyUse is a policy of a quest.
type PolicyUse struct {
	Name string `json:"name"`
	Use  string `json:"use"`
}

// statusText is the status as a person wants it.
func statusText(s quest.Status, claimed, warned, waiting bool) string {
	switch {
	case waiting:
		return "waiting"
	case s == quest.Running && !claimed:
		return "interrupted"
	case s == quest.Finished && warned:
		return "completed_with_warnings"
	}
	return string(s)
}

// knownCost is an amount, nil if there are calls of which nobody knows it.
func knownCost(nanodollars, unpriced int64) *view.USD {
	if unpriced > 0 {
		return nil
	}
	return new(view.USD(nanodollars))
}

// stand fills in what can change without an event: whether somebody has the quest.
func (s *Server) stand(sum *Summary, status quest.Status, warned, waiting bool) (err error) {
	if sum.Held, err = s.rt.Ledger.Claimed(sum.Name); err != nil {
		return err
	}
	sum.Running = sum.Held && status == quest.Running
	sum.Here = s.keeper.Has(sum.Name) || s.keeper.Waits(sum.Name)
	sum.Status = statusText(status, sum.Held, warned, waiting)
	return nil
}

func (s *Server) summary(b *book) (Summary, error) {
	out := outline(b.name, b.state)
	err := s.stand(&out, b.state.Status, len(b.state.Warnings) > 0, b.state.Waiting())
	return out, err
}

// outline is what a quest's state alone says of it.
func outline(name string, st *quest.State) Summary {
	out := Summary{
		Name: name, Question: quest.InShort(st.Problem.Text), Society: st.Society(), Rules: st.Rules, Reason: st.Reason, Agents: len(st.Agents), Models: modelsOf(st),
		Cost: knownCost(st.Spent.Cost, st.Spent.Unpriced), Unpriced: st.Spent.Unpriced, Estimated: st.Spent.Estimated, Recalled: st.Spent.Recalled, Turns: st.Spent.Turns, Tools: st.Spent.Tools,
		Tokens: st.Spent.Usage.Input + st.Spent.Usage.Output, Seconds: float64(st.Elapsed(st.Time)) / 1e6, Limits: limitsOf(st.Limits),
		Events: st.Seq, Hash: st.Hash.String(), Created: st.Created, Updated: st.Time, Activity: view.SparkOf(st), Verdict: st.Verdict(),
		Tally: view.Of(st).Tally(st), Questions: len(st.Open()),
	}
	if out.Cost == nil {
		out.AtLeast = new(view.USD(st.Spent.Cost))
	}
	if len(st.Outages) > 0 {
		out.Reason = st.Outage()
	}
	if o := st.Origin; o != nil {
		out.Origin = &Origin{o.From, o.At, o.Hash.String()}
	}
	return out
}

func modelsOf(s *quest.State) []string {
	out := []string{}
	for _, a := range s.Agents {
		if a.Model != "" && !slices.Contains(out, a.Model) {
			out = append(out, a.Model)
		}
	}
	return out
}

// quests lists all that the caller may see.
func (s *Server) quests(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	who := callerOf(r)
	out, err := s.lookAtAll(r.Context(), func(name string) bool { return who.allows(read, name) })
	if err != nil {
		return err
	}
	slices.SortStableFunc(out, func(a, b Summary) int { return cmp.Compare(b.Updated, a.Updated) })
	return s.send(w, http.StatusOK, struct {
		Quests []Summary `json:"quests"`
	}{out})
}

func (s *Server) quest(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	d, err := s.detail(r.Context(), r.PathValue("quest"))
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, d)
}

func (s *Server) detail(ctx context.Context, name string) (*Detail, error) {
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer done()
	sum, err := s.summary(b)
	if err != nil {
		return nil, err
	}
	st := b.state
	answered, err := s.rt.Answered(ctx, name, st)
	if err != nil {
		return nil, err
	}
	d := &Detail{Summary: sum, Facts: view.Of(st).Facts(st), Conclusion: b.Conclusion(st), Seed: fmt.Sprint(st.Seed), Team: s.team(ctx, b), Warnings: append([]string{}, st.Warnings...), Questions: view.Questions(st, answered), Policies: []PolicyUse{}, Trouble: s.keeper.Trouble(name)}
	if st.Related != nil {
		d.Related = len(st.Related.Graph.Nodes)
	}
	var modes []quest.Mode
	modes, d.Mode = st.Modes()
	d.Modes = make([]Mode, len(modes))
	for i, m := range modes {
		d.Modes[i] = Mode(m)
	}
	for _, p := range st.Policies {
		d.Policies = append(d.Policies, PolicyUse{p.Name, p.Use})
	}
	if d.Problem, err = s.read(ctx, st.Problem); err != nil {
		return nil, err
	}
	if d.Spec, err = s.read(ctx, event.Text{Ref: &st.Spec}); err != nil {
		return nil, err
	}
	if st.Answer != nil {
		answer, err := s.read(ctx, *st.Answer)
		if err != nil {
			return nil, err
		}
		d.Answer = &answer
	}
	if st.Computer != nil {
		d.Computer = st.Computer.Driver
	}
	d.Imported, err = s.imported(ctx, name, st)
	return d, err
}

// read returns a text whole, for people.
func (s *Server) read(ctx context.Context, t event.Text) (string, error) {
	text, err := agent.Read(t, func(ref event.Ref) ([]byte, error) { return s.rt.Blob(ctx, ref) })
	return strings.ToValidUTF8(text, "\uFFFD"), err
}

// Limits are where a quest stops by itself, in the units that people use.
type Limits struct {
	LimitSet
	Agent *LimitSet `json:"agent,omitempty"`
}

// LimitSet are the limits of a quest or of each agent.
type LimitSet struct {
	Cost    *view.USD `json:"cost_usd,omitempty"`
	Turns   *int64    `json:"turns,omitempty"`
	Tokens  *int64    `json:"tokens,omitempty"`
	Seconds *float64  `json:"seconds,omitempty"`
	Storage *int64    `json:"storage_bytes,omitempty"`
}

func limitsOf(l event.Limits) (out Limits) {
	out.LimitSet = limitSet(l.Cost, l.Turns, l.Tokens, l.Duration, l.Storage)
	if a := l.Agent; a != nil {
		out.Agent = new(limitSet(a.Cost, a.Turns, a.Tokens, a.Duration, a.Storage))
	}
	return out
}

func limitSet(cost, turns, tokens, micros, storage *int64) LimitSet {
	s := LimitSet{Cost: (*view.USD)(cost), Turns: turns, Tokens: tokens, Storage: storage}
	if micros != nil {
		s.Seconds = new(float64(*micros) / 1e6)
	}
	return s
}
