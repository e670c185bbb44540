package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	sdk "github.com/coder/acp-go-sdk"
)

// turn is one prompt that is worked on.
type turn struct {
	agent   *Agent
	session *session
	cancel  func() // takes the prompt back
	ctx     context.Context

	run *run
	// asked are questions that the client was asked in this turn, none of them twice: one that
	// it leaves open stays open. Each takes its question back, which nobody need answer any
	// more. pending are how many it has not decided about; decided says
	// that it has about one, and whether there is an answer.
	asked   map[uint64]context.CancelFunc
	pending int
	// answered says that there was an answer while the run went on.
	answered bool
	decided  chan bool
	// moved has a value when a waiting quest may go on though nobody has answered.
	moved chan struct{}
	works sync.WaitGroup
	// last is why the last answer ended, if whoever gave it did not end it of its own accord: it
	// refused, or the answer reached the limit of its length. Otherwise it is empty.
	last sdk.StopReason
}

// prompt begins a turn: from here on a second one is refused, and a cancel finds it.
func (a *Agent) prompt(p *sdk.PromptRequest) (func(context.Context) (any, error), error) {
	s, err := a.open(p.SessionId)
	if err != nil {
		return nil, err
	}
	what, err := read(s.folder, p.Prompt)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.turn != nil {
		return nil, acp.Errorf(acp.InvalidRequest, "the session %s is working on a prompt: wait for its end, or cancel it", s.id)
	}
	t := &turn{agent: a, session: s, asked: map[uint64]context.CancelFunc{}, decided: make(chan bool), moved: make(chan struct{}, 1)}
	t.ctx, t.cancel = context.WithCancel(a.life)
	s.turn = t
	return func(ctx context.Context) (any, error) {
		defer context.AfterFunc(ctx, t.cancel)()
		stop, err := t.work(what)
		t.cancel()
		t.works.Wait()
		if stop == sdk.StopReasonCancelled {
			t.rest()
		}
		a.mu.Lock()
		s.turn = nil
		a.mu.Unlock()
		if err != nil {
			return nil, a.explain(err)
		}
		return sdk.PromptResponse{StopReason: stop}, nil
	}, nil
}

// explain makes an error of the protocol.
func (a *Agent) explain(err error) error {
	if _, ok := errors.AsType[*acp.Error](err); ok {
		return err
	}
	text := plain.Text(a.rt.Redact(err.Error()))
	if a.opts.NoKey != nil && a.opts.NoKey(err) {
		return acp.Errorf(acp.AuthRequired, "%s", text)
	}
	if _, ok := errors.AsType[*runtime.PlanError](err); ok {
		return acp.Errorf(acp.InvalidParams, "%s", text)
	}
	return acp.Errorf(acp.Internal, "%s", text)
}

// work says what the person says, and has the quest go on until it rests.
func (t *turn) work(what said) (sdk.StopReason, error) {
	a, s := t.agent, t.session
	if err := t.free(); err != nil {
		return t.stopped(err)
	}
	// A word that has begun to be said is said whole, whatever happens to the client.
	ctx := a.life
	a.mu.Lock()
	c := s.choices
	a.mu.Unlock()
	if done, err := t.command(ctx, c, what); done && t.ctx.Err() != nil {
		return sdk.StopReasonCancelled, nil
	} else if done || err != nil {
		return sdk.StopReasonEndTurn, err
	}
	named := a.project(s).named(t.ctx, what.names)
	if t.ctx.Err() != nil {
		return sdk.StopReasonCancelled, nil
	}
	if !c.made {
		if err := t.create(ctx, c, &what, named); err != nil {
			return "", err
		}
	} else if err := t.bringAlong(ctx, &what, named); err != nil {
		return "", err
	}
	if what.text != "" || len(what.files) > 0 {
		if err := t.say(ctx, what.short()); err != nil {
			return "", err
		}
	}
	return t.goOn()
}

// free waits until an earlier run of the quest here has come to rest.
func (t *turn) free() error {
	r := t.session.run
	if r == nil || r.served {
		return nil
	}
	select {
	case <-r.done:
		return nil
	default:
		r.pause() // a run that is held for a person's pause lets go
	}
	select {
	case <-r.done:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

// create makes the quest of a session. What the prompt brings besides its text is left to be
// said.
func (t *turn) create(ctx context.Context, c choices, what *said, named map[string][]byte) error {
	a, s := t.agent, t.session
	question := what.text
	if question == "" {
		question = "What is in the files that I send along?"
	}
	shape, changes := a.shapes[c.society], c.changes(a.shapes[c.society].agents)
	if _, usual := a.rt.Societies.Modes(c.society, nil); c.mode != usual {
		changes.Keys = a.rt.Societies.ModeKeys(c.society, c.mode)
	}
	d := &runtime.Draft{By: runtime.FromSession, Spec: shape.spec(question), Name: s.id, Dir: s.folder, Home: a.rt.Home, Model: a.opts.Model, Changes: changes}
	taken, notes, err := t.make(ctx, d, named)
	if err != nil {
		return err
	}
	if err := a.noteFolder(s.id, s.folder); err != nil {
		return fmt.Errorf("note the folder of session %s: %w", s.id, err)
	}
	what.text = ""
	s.seen = 1 // the client knows what it asked
	if taken {
		s.voice.Folder = s.folder
	} else {
		what.attach(named)
	}
	a.mu.Lock()
	s.choices.made = true
	mode := s.choices.mode
	a.mu.Unlock()
	a.opts.Say(fmt.Sprintf("Session %s is quest %s of this home. It may cost up to $%s.", s.id, s.id, c.cost))
	st, err := a.rt.Load(ctx, s.id)
	if err != nil {
		return err
	}
	if _, now := st.Modes(); mode != now {
		if err := t.post(ctx, st.ModeOrder(mode)); err != nil {
			return err
		}
	}
	if err := a.tellTitle(s, st); err != nil || len(notes) == 0 {
		return err
	}
	return t.notice(plain.Text(a.rt.Redact(strings.Join(notes, "\n"))) + "\n\n")
}

// make makes a quest with the session's folder as its repo and with the client's servers, as far
// as that can be; notes say what it is made without, and why. taken says that it has the folder.
func (t *turn) make(ctx context.Context, d *runtime.Draft, named map[string][]byte) (taken bool, notes []string, err error) {
	a, s := t.agent, t.session
	notes = slices.Clone(s.left)
	without := func(why error) {
		taken, d.Changes.Repo, d.Changes.Base = false, nil, nil
		notes = append(notes, fmt.Sprintf("The agents get none of the files in %s: %v. The quest works without them.", s.folder, why))
	}
	if base, err := a.base(s.folder); err != nil {
		without(err)
	} else {
		taken, d.Changes.Repo, d.Changes.Base = true, new("."), &base
	}
	d.Spec.MCP = s.servers
	if inside(s.servers) {
		d.Changes.Computer = "auto"
	}
	for {
		err := a.makeOf(ctx, d, named)
		switch field := quest.FieldOf(err); {
		case err == nil:
			return taken, notes, nil
		case taken && (field == "repo" || field == "base"):
			without(err)
		case inside(d.Spec.MCP) && (field == "computer" || field == "mcp"):
			d.Spec.MCP, d.Changes.Computer = outside(d.Spec.MCP), ""
			notes = append(notes, fmt.Sprintf("MCP servers that are programs run inside the agents' computers, and are left out: %v.", err))
		default:
			return false, nil, err
		}
	}
}

func (a *Agent) makeOf(ctx context.Context, d *runtime.Draft, named map[string][]byte) error {
	plan, err := d.Plan(a.rt.Societies)
	if err == nil && plan.Spec.Model == "" && !a.rt.Societies.ByRules(plan.Spec) {
		err = acp.Errorf(acp.InvalidParams, "no model: choose one, give model in config.yaml, or start lyceum acp with --model (demo needs no key)")
	}
	if err != nil {
		return err
	}
	plan.Say = a.opts.Say
	if plan.Spec.Repo != "" {
		plan.Over = named
	}
	_, err = a.rt.Create(ctx, plan)
	return err
}

// bringAlong has files that a later prompt names go along, unless agents began with them as they
// are now.
func (t *turn) bringAlong(ctx context.Context, what *said, named map[string][]byte) error {
	if len(named) == 0 {
		return nil
	}
	st, err := t.agent.rt.Load(ctx, t.session.id)
	if err != nil {
		return err
	}
	maps.DeleteFunc(named, func(name string, data []byte) bool {
		if st.Repo == nil {
			return false
		}
		e, err := repo.At(ctx, t.agent.rt.Blobs, st.Repo.Tree, name)
		return err == nil && e != nil && e.Hash == event.HashOf(data)
	})
	what.attach(named)
	return nil
}

// say is a message to the agents, or the answer to the one question that is open: an option,
// or words. What a policy asks is never answered by the way.
func (t *turn) say(ctx context.Context, what said) error {
	a, s := t.agent, t.session
	st, err := a.rt.Load(ctx, s.id)
	if err != nil {
		return err
	}
	var body event.Body
	if open := st.Open(); len(open) == 1 && open[0].Body.Proposal == "" && len(what.files) == 0 {
		body = reply(open[0], what.text)
	} else {
		files, err := a.rt.Attach(ctx, what.files)
		if err != nil {
			return err
		}
		body = &event.UserMessage{Text: event.Text{Text: what.text}, Attachments: files}
	}
	return t.post(ctx, body)
}

// post puts a word of the client's into the quest's inbox. It need not be told of it.
func (t *turn) post(ctx context.Context, body event.Body) error {
	number, err := t.agent.post(ctx, t.session.id, body)
	t.session.own[number] = true
	return err
}

func reply(q quest.Question, text string) *event.InteractionAnswered {
	for _, o := range q.Body.Options {
		if strings.EqualFold(o, text) {
			return &event.InteractionAnswered{Interaction: q.Seq, Choice: o}
		}
	}
	return &event.InteractionAnswered{Interaction: q.Seq, Text: text}
}

// goOn runs the quest, again after each question that the client was asked, until there is
// nothing to wait for.
func (t *turn) goOn() (sdk.StopReason, error) {
	a, s := t.agent, t.session
	a.mu.Lock()
	limits, noThinking := s.choices.limits(), !s.choices.thinking
	a.mu.Unlock()
	for {
		var err error
		if t.run, err = a.start(t.ctx, s.id, s.seen, limits, noThinking); err != nil {
			return t.stopped(err)
		}
		s.run = t.run
		limits, t.answered = event.Limits{}, false
		var st *quest.State
		again := false
		if err = t.listen(); err == nil {
			if st = t.run.state; st != nil && st.Waiting() {
				t.askOpen(st)
				again, err = t.answers(st)
			}
		}
		switch {
		case errors.Is(err, errHeld):
			t.run.leave()
			return sdk.StopReasonEndTurn, nil
		case err != nil:
			return t.stopped(err)
		case !again:
			return t.ended(st)
		}
	}
}

// errHeld says that a person has paused the quest, somewhere else.
var errHeld = errors.New("the quest is paused")

// listen tells the client what happens in a run, until the run is over.
func (t *turn) listen() error {
	r := t.run
	for {
		select {
		case h := <-r.heard:
			if err := t.hear(h); err != nil {
				return err
			}
			if h.delta == nil && h.event.Type == "quest.paused" && h.event.Actor == "person" {
				return errHeld
			}
		case answered := <-t.decided:
			t.pending--
			t.answered = t.answered || answered
		case <-r.done:
			for len(r.heard) > 0 {
				if err := t.hear(<-r.heard); err != nil {
					return err
				}
			}
			return r.err
		case <-t.ctx.Done():
			return t.ctx.Err()
		}
	}
}

// pauseTime is how long a cancelled prompt waits for its quest to be paused.
const pauseTime = 1500 * time.Millisecond

// stopped is how a turn ends before its quest does: by an error, or because the client took
// it back. Then the quest is paused, and what is under way comes in without this turn.
func (t *turn) stopped(err error) (sdk.StopReason, error) {
	r := t.run
	if t.ctx.Err() == nil {
		if r != nil {
			r.leave()
		}
		return "", err
	}
	if r == nil {
		return sdk.StopReasonCancelled, nil
	}
	defer r.leave()
	select {
	case <-t.agent.conn.Done():
		if r.served {
			return sdk.StopReasonCancelled, nil // the client is gone, and the server goes on
		}
	default:
	}
	r.pause()
	timer := time.NewTimer(pauseTime)
	defer timer.Stop()
	for {
		select {
		case h := <-r.heard:
			if err := t.hear(h); err != nil || h.delta == nil && h.event.Type == "quest.paused" {
				return sdk.StopReasonCancelled, nil
			}
		case <-r.done:
			return sdk.StopReasonCancelled, nil
		case <-timer.C:
			return sdk.StopReasonCancelled, nil
		}
	}
}

// rest pauses a quest that only waited for its person when the prompt was taken back: no run of it
// was there to pause.
func (t *turn) rest() {
	a, r := t.agent, t.run
	if r == nil || r.served {
		return
	}
	select {
	case <-r.done:
	default:
		return
	}
	if r.err != nil || r.state == nil || !r.state.Waiting() {
		return
	}
	if _, err := a.post(a.life, t.session.id, &event.QuestPaused{Reason: "interrupted"}); err != nil {
		a.opts.Say(fmt.Sprintf("Session %s was not paused: %s", t.session.id, plain.Line(err.Error())))
	}
}

// hear tells the client one thing that happened.
func (t *turn) hear(h heard) error {
	a, s := t.agent, t.session
	if h.delta != nil {
		if n, ok := s.voice.Delta(*h.delta); ok {
			return a.conn.Update(n)
		}
		return nil
	}
	e := h.event
	s.seen = e.Seq
	if o, ok := e.Body.(event.Order); ok && s.own[o.Number()] {
		delete(s.own, o.Number())
		return nil
	}
	for _, n := range s.voice.Event(a.life, e) {
		if err := a.conn.Update(n); err != nil {
			return err
		}
	}
	switch b := e.Body.(type) {
	case *event.ModelResult:
		t.last = unasked[b.Stop]
	case *event.PromptResult:
		t.last = unasked[b.Stop]
	case *event.InteractionOpened:
		t.ask(e.Seq, b)
	case *event.InteractionAnswered:
		t.over(b.Interaction)
	case *event.InteractionExpired:
		t.over(b.Interaction)
	case *event.InteractionWithdrawn:
		t.over(b.Interaction)
	case *event.ModeSet:
		return a.follows(s, b.Mode)
	case *event.AnchorMoved:
		return a.follows(s, b.To)
	}
	return nil
}

// unasked are the protocol's words for ends of answers that nobody chose, by what models and
// executors say of them.
var unasked = map[string]sdk.StopReason{
	"length": sdk.StopReasonMaxTokens, event.StopTokens: sdk.StopReasonMaxTokens,
	event.StopRefusal: sdk.StopReasonRefusal, // models have the same word
}

// ended is why a turn ended with its quest at rest.
func (t *turn) ended(st *quest.State) (sdk.StopReason, error) {
	a, s := t.agent, t.session
	if st == nil {
		return "", errors.New("the quest came to rest without a word")
	}
	if err := a.tellUsage(s, st); err != nil {
		return "", err
	}
	switch st.Status {
	case quest.Finished:
		if err := t.bring(st, "", false); t.ctx.Err() != nil {
			return sdk.StopReasonCancelled, nil
		} else if err != nil {
			// The answer stands, whatever becomes of the files.
			if err := t.notice("\n\nThe changes could not be shown: " + plain.Line(a.rt.Redact(err.Error())) + ". /deliver tries again."); err != nil {
				return "", err
			}
		}
	case quest.Exceeded:
		return t.exceeded(st)
	case quest.Failed:
		switch t.last {
		case sdk.StopReasonMaxTokens:
			return t.last, t.notice("\n\n" + plainOr(st.Reason, "The last answer was cut off at the limit of its length."))
		case sdk.StopReasonRefusal:
			return t.last, nil
		}
		return "", errors.New(plainOr(st.Reason, "the quest has failed"))
	case quest.Paused:
		if st.Rested != "" || st.Reason != "" && st.Outage() != "" {
			return "", errors.New(plainOr(st.Reason, "the quest was paused by its rules"))
		}
	}
	if len(st.Open()) > 0 {
		return sdk.StopReasonEndTurn, nil // a question is no end of an answer
	}
	return cmp.Or(t.last, sdk.StopReasonEndTurn), nil
}

// exceeded says which limit is reached. The protocol has words for two of them; money is
// spent on tokens, and for the rest a turn is what there is no more of.
func (t *turn) exceeded(st *quest.State) (sdk.StopReason, error) {
	stop := sdk.StopReasonMaxTurnRequests
	o := st.OverWith(event.Limits{})
	if o == nil {
		return stop, nil
	}
	if o.Limit == "tokens" || o.Limit == "cost" {
		stop = sdk.StopReasonMaxTokens
	}
	text := fmt.Sprintf("\n\nThe limit on %s is reached (%s).", o.Limit, view.Reached(o))
	if o.Limit == "cost" {
		text += " Choose a higher cost limit for this session, and say how to go on."
	}
	return stop, t.agent.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(t.session.id), Update: sdk.UpdateAgentMessageText(text)})
}

func plainOr(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return plain.Text(text)
}

// tellTitle tells the client what a session is called.
func (a *Agent) tellTitle(s *session, st *quest.State) error {
	title := titleOf(st)
	if title == "" {
		return nil
	}
	return a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(s.id), Update: sdk.SessionUpdate{
		SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{SessionUpdate: "session_info_update", Title: &title},
	}})
}

// tellUsage tells the client how full a session is, and what it has cost. Of one agent that is its
// window; several have no window together, and an executor keeps its own: of those it is all that
// they used.
func (a *Agent) tellUsage(s *session, st *quest.State) error {
	used := st.Spent.Usage.Input + st.Spent.Usage.Output
	size := used
	if len(st.Agents) == 1 && st.Agents[0].Executor == "" && st.Agents[0].Limit > 0 {
		used, size = st.Agents[0].Filled(), st.Agents[0].Limit
	}
	u := &sdk.SessionUsageUpdate{SessionUpdate: "usage_update", Used: int(min(used, size)), Size: int(size)}
	if st.Spent.Unpriced == 0 {
		u.Cost = &sdk.Cost{Amount: float64(st.Spent.Cost) / 1e9, Currency: "USD"}
	}
	return a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(s.id), Update: sdk.SessionUpdate{UsageUpdate: u}})
}
