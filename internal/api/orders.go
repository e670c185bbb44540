package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// Control is an order to a quest.
type Control struct {
	Action     string       `json:"action"`
	Limits     *LimitsOrder `json:"limits,omitempty"`
	NoThinking bool         `json:"no_thinking,omitempty"`
	At         uint64       `json:"at,omitempty"`
	Name       string       `json:"name,omitempty"`
	Model      string       `json:"model,omitempty"`
	Seed       string       `json:"seed,omitempty"`
	Message    string       `json:"message,omitempty"`
	Start      bool         `json:"start,omitempty"`
	// Mode is the one that the society is to work in.
	Mode string `json:"mode,omitempty"`
	// Allow is what an imported quest may do from now on.
	Allow *runtime.Allowance `json:"allow,omitempty"`
	// Server is the name of an MCP server that the quest gets or loses, Settings what a quest.yaml
	// would say of it.
	Server   string          `json:"server,omitempty"`
	Settings *setting.Server `json:"settings,omitempty"`
}

// LimitsOrder are limits as a caller gives them.
type LimitsOrder struct {
	LimitSetOrder
	Agent *LimitSetOrder `json:"agent,omitempty"`
}

// LimitSetOrder is one set of them.
type LimitSetOrder struct {
	Cost    *json.RawMessage `json:"cost_usd,omitempty"`
	Turns   *int64           `json:"turns,omitempty"`
	Tokens  *int64           `json:"tokens,omitempty"`
	Seconds *float64         `json:"seconds,omitempty"`
	Storage *int64           `json:"storage_bytes,omitempty"`
}

// Controlled is what came of an order.
type Controlled struct {
	Quest Summary `json:"quest"`
	// Told says that another process has the quest and acts soon.
	Told bool `json:"told"`
}

func (l *LimitsOrder) limits() (out event.Limits, err error) {
	if l == nil {
		return out, nil
	}
	share, err := l.share("limits.")
	if err != nil {
		return out, err
	}
	out = event.Limits{Cost: share.Cost, Turns: share.Turns, Tokens: share.Tokens, Duration: share.Duration, Storage: share.Storage}
	if l.Agent != nil {
		each, err := l.Agent.share("limits.agent.")
		out.Agent = &each
		return out, err
	}
	return out, nil
}

func (l *LimitSetOrder) share(at string) (out event.Share, err error) {
	for _, n := range []struct {
		name string
		from *int64
		to   **int64
	}{{"turns", l.Turns, &out.Turns}, {"tokens", l.Tokens, &out.Tokens}, {"storage_bytes", l.Storage, &out.Storage}} {
		if n.from != nil && (*n.from < 0 || *n.from > maxSeq) {
			return out, badParameter(at+n.name, "%d: want 0 or more", *n.from)
		}
		*n.to = n.from
	}
	if l.Cost != nil {
		usd, err := quest.ParseUSD(strings.Trim(string(*l.Cost), `"`))
		if err != nil {
			return out, badParameter(at+"cost_usd", "%v", err)
		}
		out.Cost = new(int64(usd))
	}
	if l.Seconds != nil {
		if !(*l.Seconds >= 0 && *l.Seconds <= 1e9) {
			return out, badParameter(at+"seconds", "want a number from 0 to 1e9")
		}
		out.Duration = new(int64(*l.Seconds * 1e6))
	}
	return out, nil
}

func (s *Server) control(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var c Control
	if err := decode(r, &c); err != nil {
		return err
	}
	name := r.PathValue("quest")
	st, err := s.stateOf(r.Context(), name)
	if err != nil {
		return err
	}
	limits, err := c.Limits.limits()
	if err != nil {
		return err
	}
	if c.Action == "fork" || c.Action == "allow" || c.Action == "add_server" || limits != (event.Limits{}) { // a new quest, or more to spend or to reach
		if err := callerOf(r).must(admin, name); err != nil {
			return err
		}
	}
	status, told := http.StatusOK, false
	switch c.Action {
	case "start", "resume":
		told, err = s.start(r.Context(), name, st, &c, limits)
	case "pause":
		if st.status != quest.Running {
			return conflict("quest %s is %s: there is nothing to pause", name, st.status)
		}
		told, err = s.post(r.Context(), name, st, &event.QuestPaused{Reason: "paused by a person"})
	case "stop":
		if st.status == quest.Finished || st.status == quest.Failed || st.status == quest.Stopped {
			return conflict("quest %s is %s: there is nothing to stop", name, st.status)
		}
		told, err = s.post(r.Context(), name, st, &event.QuestStopped{Reason: "stopped by a person"})
	case "limit":
		if limits == (event.Limits{}) {
			return badParameter("limits", "say which limits the quest is to have")
		}
		if err := s.checkCost(st, limits); err != nil {
			return err
		}
		told, err = s.post(r.Context(), name, st, &event.BudgetRaised{Limits: limits})
	case "mode":
		told, err = s.post(r.Context(), name, st, st.mode(c.Mode))
	case "add_server", "remove_server":
		told, err = s.changeServers(r.Context(), name, st, &c)
	case "allow":
		err = s.allow(r.Context(), name, &c)
	case "fork":
		status = http.StatusCreated
		name, err = s.fork(r.Context(), name, &c, limits)
	default:
		err = badParameter("action", "%.30q: want start, pause, resume, stop, limit, mode, add_server, remove_server, allow or fork", c.Action)
	}
	if err != nil {
		return err
	}
	sum, err := s.ordered(r.Context(), c.Action, name)
	if err != nil {
		return err
	}
	return s.send(w, status, Controlled{sum, told})
}

// ordered is what there is to say of a quest after an order.
func (s *Server) ordered(ctx context.Context, action, name string) (Summary, error) {
	if action == "start" {
		return s.started(ctx, name)
	}
	return s.glance(ctx, ledger.Head{Quest: name}, nil)
}

// changeServers gives a quest a server, or takes one away.
func (s *Server) changeServers(ctx context.Context, name string, st *standingOf, c *Control) (told bool, err error) {
	if c.Action == "remove_server" {
		return s.post(ctx, name, st, &event.McpRemoved{Server: c.Server})
	}
	if c.Settings == nil {
		return false, badParameter("settings", "say how the server is reached, as in a quest.yaml")
	}
	order, err := runtime.AddServer(c.Server, *c.Settings)
	if err != nil {
		return false, badParameter("settings", "%v", err)
	}
	return s.post(ctx, name, st, order)
}

// allow records what an imported quest may do.
func (s *Server) allow(ctx context.Context, name string, c *Control) error {
	if c.Allow == nil {
		return badParameter("allow", "say what the quest may do; {} allows nothing")
	}
	err := s.rt.Allow(ctx, name, func(a *runtime.Allowance) { *a = *c.Allow })
	if _, ok := errors.AsType[*runtime.PlanError](err); ok {
		return badParameter("allow", "%v", err)
	}
	return err
}

// standingOf is what orders need to know of a quest.
type standingOf struct {
	status  quest.Status
	talked  bool // a person has said something since it ended
	mail    bool // what is said to it waits until it is delivered
	check   func(event.Body) error
	claimed bool
	models  []string
	// mode is the order that sets a mode.
	mode func(id string) event.Body
	// over is the limit that is reached, whatever others are given.
	over func(event.Limits) *policy.Over
}

func (s *Server) stateOf(ctx context.Context, name string) (*standingOf, error) {
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return nil, err
	}
	out := &standingOf{status: b.state.Status, talked: b.state.Spoken > b.state.Ended, mail: b.state.HasMail(), models: modelsOf(b.state), mode: b.state.ModeOrder}
	done()
	out.over = func(l event.Limits) *policy.Over {
		b, done, err := s.shelf.open(ctx, name)
		if err != nil {
			return nil // whoever runs it says why
		}
		defer done()
		return b.state.OverWith(l)
	}
	out.check = func(body event.Body) error {
		b, done, err := s.shelf.open(ctx, name)
		if err != nil {
			return err
		}
		defer done()
		if err := b.state.Accepts("person", body); err != nil {
			return conflict("%v", err)
		}
		return nil
	}
	out.claimed, err = s.rt.Ledger.Claimed(name)
	return out, err
}

// start runs a quest here, or has the process that holds it go on.
func (s *Server) start(ctx context.Context, name string, st *standingOf, c *Control, limits event.Limits) (told bool, err error) {
	switch {
	case st.claimed && st.status == quest.Running:
		return false, conflict("quest %s runs already", name)
	case st.claimed && st.status == quest.Paused:
		return s.post(ctx, name, st, &event.QuestResumed{Limits: limits, NoThinking: c.NoThinking, Version: s.rt.Version})
	case st.claimed:
		return false, conflict("quest %s is just coming to rest: try again in a moment", name)
	case c.Action == "resume" && st.status == quest.Created:
		return false, conflict("quest %s has not been started: start it", name)
	case st.status == quest.Finished && !st.talked:
		return false, conflict("quest %s has its answer: send the agents a message first, or fork it", name)
	}
	if err := s.checkCost(st, limits); err != nil {
		return false, err
	}
	if st.status == quest.Exceeded {
		if o := st.over(limits); o != nil {
			return false, conflict("quest %s has reached its limit on %s (%s): give it a higher one", name, o.Limit, view.Reached(o))
		}
	}
	err = s.keeper.Start(ctx, name, limits, c.NoThinking)
	if err != nil && !errors.Is(err, ledger.ErrClaimed) && !errors.Is(err, errClosing) && ctx.Err() == nil {
		err = conflict("quest %s cannot run: %v", name, err) // a key is missing, say
	}
	return false, err
}

// checkCost refuses a limit on the cost where nobody would know it.
func (s *Server) checkCost(st *standingOf, limits event.Limits) error {
	for _, model := range st.models {
		if err := s.rt.CheckCost(model, limits); err != nil {
			return badParameter("limits.cost_usd", "%v", err)
		}
	}
	return nil
}

// post puts an order into a quest's inbox. If nobody has the quest it is taken at once;
// otherwise its owner takes it, for which a moment is waited.
func (s *Server) post(ctx context.Context, name string, st *standingOf, body event.Body) (told bool, err error) {
	_, told, err = s.tell(ctx, name, st, body)
	return told && !s.keeper.Has(name), err
}

func (s *Server) tell(ctx context.Context, name string, st *standingOf, body event.Body) (id int64, told bool, err error) {
	return s.tellOnce(ctx, name, st, rand.Text(), body)
}

// tellOnce is tell for something that has been told perhaps, under the same key.
func (s *Server) tellOnce(ctx context.Context, name string, st *standingOf, key string, body event.Body) (id int64, told bool, err error) {
	// What the quest would refuse must not be said to have been recorded.
	if err := st.check(body); err != nil {
		return 0, false, err
	}
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return 0, false, err
	}
	id, err = s.rt.Post(ctx, name, ledger.Command{Key: key, Body: body})
	if err != nil {
		return 0, false, err
	}
	if s.keeper.cares(ctx, name) { // it takes it
		s.taken(ctx, name, head.Seq, body.Type())
		return id, true, nil
	}
	wanted := func(now *quest.State) bool { return rouses(now, body, id) }
	rests, err := s.rt.Settle(ctx, name)
	switch {
	case errors.Is(err, ledger.ErrClaimed):
		if st.mail {
			s.keeper.rouseAfter(name, wanted)
		}
	case err != nil || !wanted(rests) || !s.keeper.rouse(ctx, name, wanted):
		return id, false, err
	}
	s.taken(ctx, name, head.Seq, body.Type())
	return id, true, nil
}

// soon is how long an order's answer waits for it to be taken.
const soon = 2 * time.Second

// taken waits a moment for an event of a type, so that the answer shows what came of
// the order. That it does not come is no fault: the owner may be busy.
func (s *Server) taken(ctx context.Context, name string, after uint64, kind event.Type) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	for e, err := range s.rt.Ledger.Follow(ctx, name, after+1) {
		if err != nil || e.Type == kind {
			return
		}
	}
}

func (s *Server) fork(ctx context.Context, from string, c *Control, limits event.Limits) (string, error) {
	opts := runtime.ForkOptions{Name: c.Name, At: c.At, Model: c.Model, Message: c.Message}
	if c.Name != "" && !event.ValidName(c.Name) {
		return "", badParameter("name", "%.80q: want %s", c.Name, event.NameRule)
	}
	if strings.HasPrefix(c.Model, "script:") {
		// Its file would be looked for where the server was started.
		return "", badParameter("model", "a script is a file, and a fork made here has none: use lyceum fork")
	}
	if len(c.Message) > maxMessage {
		return "", badParameter("message", "a message has at most %d bytes", maxMessage)
	}
	if c.Seed != "" {
		seed, err := strconv.ParseUint(c.Seed, 10, 64)
		if err != nil {
			return "", badParameter("seed", "%.30q: want a number from 0 to 18446744073709551615", c.Seed)
		}
		opts.Seed = &seed
	}
	if head, err := s.rt.Ledger.Head(ctx, from); err != nil {
		return "", err
	} else if c.At > head.Seq {
		return "", badParameter("at", "there is no event %d: the last is %d", c.At, head.Seq)
	}
	st, err := s.rt.Fork(ctx, from, opts)
	if err != nil {
		return "", err
	}
	if c.Start {
		err = s.keeper.Start(ctx, st.Name, limits, c.NoThinking)
	}
	return st.Name, err
}

// Answer is a person's answer to a question of a quest.
type Answer struct {
	Question uint64 `json:"question"`
	// Choice is one of the question's options, Text an answer in words or what there is to
	// say with the choice.
	Choice string `json:"choice,omitempty"`
	Text   string `json:"text,omitempty"`
}

// reply puts a person's answer into a quest's inbox.
func (s *Server) reply(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var a Answer
	if err := decode(r, &a); err != nil {
		return err
	}
	if a.Question == 0 {
		return badParameter("question", "say which: the number of a question")
	}
	text := strings.ToValidUTF8(strings.TrimSpace(a.Text), "\uFFFD")
	if len(text) > maxMessage {
		return badParameter("text", "an answer has at most %d bytes; this one has %d", maxMessage, len(text))
	}
	name := r.PathValue("quest")
	if err := s.wellAnswered(r.Context(), name, &a, text); err != nil {
		return err
	}
	st, err := s.stateOf(r.Context(), name)
	if err != nil {
		return err
	}
	id, told, err := s.tell(r.Context(), name, st, &event.InteractionAnswered{Interaction: a.Question, Choice: a.Choice, Text: text})
	if err != nil {
		return err
	}
	return s.send(w, http.StatusAccepted, Posted{ID: id, Running: told})
}

// wellAnswered says which member of an answer does not fit its question.
func (s *Server) wellAnswered(ctx context.Context, name string, a *Answer, text string) error {
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	answered, err := s.rt.Answered(ctx, name, b.state)
	if err != nil {
		return err
	}
	for _, q := range b.state.Open() {
		if q.Seq != a.Question || answered[q.Seq] {
			continue
		}
		if err := q.Check(&event.InteractionAnswered{Interaction: a.Question, Choice: a.Choice, Text: text}); err != nil {
			return badParameter("choice", "%v", err)
		}
		return nil
	}
	return conflict("quest %s has no open question %d: it may have been answered by somebody else", name, a.Question)
}

// deleteQuest removes a quest and all its records.
func (s *Server) deleteQuest(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	name := r.PathValue("quest")
	if !event.ValidName(name) {
		return missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	if _, err := s.rt.Ledger.Head(r.Context(), name); err != nil {
		return err
	}
	if err := s.rt.Clean(r.Context(), name, true); err != nil {
		if errors.Is(err, ledger.ErrClaimed) {
			return conflict("quest %s runs: stop it first", name)
		}
		return err
	}
	s.shelf.forget(name)
	s.glances.Delete(name)
	s.work.Go(func() { s.Tidy(s.ctx) })
	w.WriteHeader(http.StatusNoContent)
	return nil
}
