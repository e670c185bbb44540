package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// LabSimOptions say how large a simulated lab is.
type LabSimOptions struct {
	// Agents is how many there are, Turns how many each may take.
	Agents, Turns int64
	Society       quest.Society
}

// SimulateLab runs a lab in a made-up world that follows from the seed: agents that
// publish, review, cite and vote, sensibly or not, or do nothing; a world that answers
// late, twice or never; people who pause, stop and talk; a budget that ends; a disk
// that is full at times; and a process that dies and is begun again from its snapshot.
// The code that decides and appends is the one that runs live. It returns the first
// thing that must not be.
func SimulateLab(seed uint64, opts LabSimOptions) (*LabSimReport, error) {
	w := &labWorld{rng: rand.New(rand.NewPCG(seed, 0x6c6162)), opts: opts, log: &simLog{}, societies: []quest.Society{opts.Society}}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("lab simulation with seed %d, event %d: %w", seed, len(w.log.events), err)
	}
	last := w.log.events[len(w.log.events)-1]
	w.report.Labs, w.report.Events, w.report.Head = 1, int64(len(w.log.events)), last.Hash
	return &w.report, nil
}

// LabSimReport counts what a simulated lab went through.
type LabSimReport struct {
	Labs, Events, Turns                             int64
	Papers, Published, Rejected, Revisions          int64
	Reviews, Expired, Votes, Cited, SelfCited       int64
	Reproductions, Advisories, Parked, Budgets      int64
	Refused, Blocked, Delivered                     int64
	Crashes, Restored, Full, Unheard, Lost, Doubled int64
	Finished, Failed                                int64
	// Head is the last event's hash, which stands for all bytes of the ledger.
	Head event.Hash
}

// Add adds what another simulation went through.
func (r *LabSimReport) Add(o *LabSimReport) {
	for _, n := range [][2]*int64{
		{&r.Labs, &o.Labs}, {&r.Events, &o.Events}, {&r.Turns, &o.Turns},
		{&r.Papers, &o.Papers}, {&r.Published, &o.Published}, {&r.Rejected, &o.Rejected}, {&r.Revisions, &o.Revisions},
		{&r.Reviews, &o.Reviews}, {&r.Expired, &o.Expired}, {&r.Votes, &o.Votes}, {&r.Cited, &o.Cited}, {&r.SelfCited, &o.SelfCited},
		{&r.Reproductions, &o.Reproductions}, {&r.Advisories, &o.Advisories}, {&r.Parked, &o.Parked}, {&r.Budgets, &o.Budgets},
		{&r.Refused, &o.Refused}, {&r.Blocked, &o.Blocked}, {&r.Delivered, &o.Delivered},
		{&r.Crashes, &o.Crashes}, {&r.Restored, &o.Restored}, {&r.Full, &o.Full}, {&r.Unheard, &o.Unheard}, {&r.Lost, &o.Lost}, {&r.Doubled, &o.Doubled},
		{&r.Finished, &o.Finished}, {&r.Failed, &o.Failed},
	} {
		*n[0] += *n[1]
	}
}

// labWorld is everything around the owner. It survives crashes.
type labWorld struct {
	rng       *rand.Rand
	opts      LabSimOptions
	societies []quest.Society
	log       *simLog
	owner     *owner
	now       event.Time
	report    LabSimReport
	books     *labBooks

	// flying are the calls under way that will come back.
	flying []uint64
	inbox  []ledger.Command
	// saved is the last snapshot.
	saved []byte
	// limit is how many turns the quest may take, all agents together; 0 is no limit.
	limit int64
	said  int // counts texts, so that no two are the same
}

// chance is by the thousand.
func (w *labWorld) chance(mille int) bool { return w.rng.IntN(1000) < mille }

func (w *labWorld) run() error {
	if err := w.create(); err != nil {
		return err
	}
	for n := int64(0); !w.over(); n++ {
		if n > 50*w.opts.Agents*w.opts.Turns+1000 {
			return errors.New("the lab does not come to an end")
		}
		if err := w.turn(); err != nil {
			return err
		}
	}
	if err := w.books.end(w.owner.state); err != nil {
		return err
	}
	return w.replay()
}

// over reports whether the quest has ended, and every call has its result. One that
// ended while a call was being prepared is run again: that has to answer it.
func (w *labWorld) over() bool {
	return w.owner != nil && w.ended() && len(w.owner.state.Calls) == 0
}

// create appends a quest.created with random settings.
func (w *labWorld) create() error {
	policies, err := policy.Complete(nil)
	if err != nil {
		return err
	}
	ref := event.RefOf([]byte("pinned"))
	tools := []string{"look", "write"}
	for _, t := range w.opts.Society.(quest.Toolbox).Own() {
		tools = append(tools, t.Name)
	}
	b := &event.QuestCreated{
		Agents: []event.AgentSpec{{Name: "agent", Count: w.opts.Agents, Model: "sim", System: ref, Tools: ref, ToolNames: tools, Window: 30_000}},
		Name:   "sim", Problem: event.Text{Text: "?"}, Rules: w.opts.Society.Rules(), Policies: policies, Seed: w.rng.Uint64(), Spec: ref,
		Computer: &event.ComputerSpec{},
		Lab:      &event.LabSpec{Deadline: 1 + w.rng.Int64N(40), Decision: []string{"majority", "unanimous"}[w.rng.IntN(2)], Reviewers: min(3, w.opts.Agents-1)},
		Limits:   event.Limits{Agent: &event.Share{Turns: &w.opts.Turns}},
	}
	if w.chance(300) {
		b.Lab.Reviewers = w.rng.Int64N(min(6, w.opts.Agents))
	}
	if w.chance(500) {
		w.limit = 1 + w.rng.Int64N(w.opts.Agents*w.opts.Turns)
		b.Limits.Turns = new(w.limit)
	}
	for _, text := range w.opts.Society.Texts() {
		if text.Name != "system" {
			b.Texts = append(b.Texts, text)
		}
	}
	w.books = newLabBooks(b.Lab, w.opts.Agents, &w.report)
	e, err := event.Seal("sim", 1, event.Hash{}, event.Draft{Actor: "person", Body: b})
	if err != nil {
		return err
	}
	return w.log.Append(context.Background(), ledger.Batch{Quest: "sim", Events: []event.Event{e}})
}

// turn lets some time pass, and something happen in it.
func (w *labWorld) turn() error {
	w.now += event.Time(w.rng.Int64N(300_000))
	w.log.full, w.log.forgetful = w.chance(2), w.chance(2)
	w.person()
	if w.owner == nil {
		return w.open()
	}
	if w.chance(2) {
		saved, err := w.owner.state.Encode()
		if err != nil {
			return err
		}
		w.saved = saved
	}
	resting := w.owner.state.Status != quest.Running
	switch {
	case !resting && len(w.flying) == 0 && len(w.owner.state.Calls) == 0:
		return errors.New("the quest runs, and nothing is under way")
	case w.chance(3), len(w.flying) == 0, resting && w.chance(200) && !w.ended():
		w.crash() // or it is run again, which is the same to it
		return w.open()
	}
	return w.step(append(w.due(), w.waiting(w.owner.state.Inbox)...))
}

func (w *labWorld) ended() bool {
	s := w.owner.state.Status
	return s == quest.Finished || s == quest.Failed
}

// crash forgets everything that is not in the ledger.
func (w *labWorld) crash() {
	w.owner, w.flying = nil, nil
	w.report.Crashes++
}

// open is what a process does when it starts to run the quest.
func (w *labWorld) open() error {
	var s *quest.State
	var err error
	if w.saved != nil {
		if s, err = quest.Decode(w.saved, w.societies); err != nil {
			return err
		}
		w.report.Restored++
	}
	if s, err = fold(context.Background(), w.log, "sim", s, w.societies); err != nil {
		return err
	}
	w.owner = &owner{key: "sim", log: w.log, state: s}
	again, lost := settle(s, lostUnless(func(c quest.Call) bool { return c.Tool != "write" }))
	for i := range lost {
		lost[i].Time = w.now
	}
	for _, seq := range again {
		w.fly(seq)
	}
	limits := event.Limits{}
	if s.Status == quest.Exceeded {
		w.limit = s.Spent.Turns + 1 + w.rng.Int64N(w.opts.Agents*w.opts.Turns)
		limits.Turns = new(w.limit)
	}
	wake := func() event.Draft {
		return event.Draft{Time: w.now, Actor: "person", Body: wakeBody(w.owner.state, limits, "sim")}
	}
	for _, inputs := range takeUp(s, wake, lost, w.waiting(s.Inbox), int64(w.rng.IntN(len(w.inbox)+1))) {
		if err := w.step(inputs()); err != nil || w.owner == nil {
			return err
		}
	}
	return nil
}

// step has the owner take inputs. If the disk is full, or the answer is lost, the
// owner is dead, as a live one would be.
func (w *labWorld) step(inputs []event.Draft) error {
	from := len(w.log.events)
	_, _, err := w.owner.step(context.Background(), inputs)
	switch {
	case errors.Is(err, ledger.ErrFull):
		w.report.Full++
	case errors.Is(err, errLost):
		w.report.Unheard++
	case err != nil:
		return err
	}
	batch := w.log.events[from:]
	for _, e := range batch {
		if err := w.books.count(e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	if err := w.books.batch(); err != nil {
		return fmt.Errorf("after event %d: %w", len(w.log.events), err)
	}
	if err != nil {
		w.crash()
		return nil
	}
	for _, e := range batch {
		if c, open := w.owner.state.Calls[e.Seq]; open && (c.Tool != "" || c.Kind != "tool.call") {
			w.fly(e.Seq)
		}
	}
	return w.books.shown(w.owner.state)
}

func (w *labWorld) fly(seq uint64) {
	if w.chance(1) {
		w.report.Lost++
		return // it never comes back; the next owner will ask again
	}
	w.flying = append(w.flying, seq)
}

// due are results of some of the calls under way, now and then twice.
func (w *labWorld) due() (out []event.Draft) {
	for range min(len(w.flying), 1+w.rng.IntN(16)) {
		i, last := w.rng.IntN(len(w.flying)), len(w.flying)-1
		seq := w.flying[i]
		w.flying[i], w.flying = w.flying[last], w.flying[:last]
		c, open := w.owner.state.Calls[seq]
		if !open {
			continue // the rules have answered it meanwhile: it was prepared before
		}
		d := w.result(seq, c)
		if out = append(out, d); w.chance(20) {
			out = append(out, d)
			w.report.Doubled++
		}
	}
	return out
}

func (w *labWorld) result(seq uint64, c quest.Call) event.Draft {
	d := event.Draft{Parent: seq, Time: w.now, Actor: c.Agent, Tool: c.Tool}
	switch c.Kind {
	case "model.call":
		d.Body = w.answer(seq, c.Agent)
		return d
	case "reproduction.call":
		d.Actor = "core"
		d.Body = &event.ReproductionResult{Call: seq, Status: []string{event.Reproduced, event.Differs, event.NotRun}[w.rng.IntN(3)]}
		return d
	}
	u, err := w.owner.state.Agent(c.Agent).Use(seq)
	if err != nil {
		panic(err) // the call is open: it must be there
	}
	own := w.owner.state.Own(c.Tool)
	switch {
	case own == nil:
		d.Body = &event.ToolResult{Call: seq, Error: w.chance(200), Output: event.Text{Text: w.word()}}
	case own.Step == quest.PreparedTool:
		d.Body = w.prepared(seq, w.owner.state, own, u.Args.Text)
	default:
		r := &event.ToolResult{Call: seq}
		folder, err := w.owner.state.Deliver(w.owner.state.Agent(c.Agent), &u)
		if err != nil {
			r.Error, r.Output.Text = true, err.Error()
		} else {
			r.Output.Text = folder.Said
			w.books.delivered(folder)
		}
		d.Body = r
	}
	return d
}

// prepared reads arguments as the runtime does, with a home in which any file but
// "missing" is.
func (w *labWorld) prepared(seq uint64, s *quest.State, own *quest.OwnTool, args string) *event.ToolPrepared {
	p := &event.ToolPrepared{Call: seq}
	var given struct {
		Title       string   `json:"title"`
		Content     string   `json:"content"`
		Entrypoint  string   `json:"entrypoint"`
		Revises     string   `json:"revises"`
		Ref         string   `json:"ref"`
		Grade       string   `json:"grade"`
		Attachments []string `json:"attachments"`
	}
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		p.Error = "The arguments are no JSON object."
		return p
	}
	if slices.Contains(given.Attachments, "missing") {
		p.Error = "There is no such file."
		return p
	}
	if p.Files = given.Attachments; len(p.Files) > 0 {
		p.Tree = &event.TreeRef{Size: 1}
	}
	p.Content = &event.Text{Text: given.Content}
	p.Citations = s.Scan(own.Name, given.Content)
	for _, v := range []event.NamedText{
		{Name: "entrypoint", Text: given.Entrypoint}, {Name: "grade", Text: given.Grade}, {Name: "ref", Text: given.Ref},
		{Name: "revises", Text: given.Revises}, {Name: "title", Text: given.Title},
	} {
		if v.Text != "" {
			p.Values = append(p.Values, v)
		}
	}
	return p
}

// word is a text that nobody has said before.
func (w *labWorld) word() string {
	w.said++
	return fmt.Sprintf("word %d", w.said)
}

// answer is what the model of an agent says.
func (w *labWorld) answer(seq uint64, agent string) *event.ModelResult {
	r := &event.ModelResult{Call: seq, Cost: w.rng.Int64N(500), Usage: event.Usage{Output: w.rng.Int64N(300)}}
	switch n := w.rng.IntN(1000); {
	case n < 5:
		r.Error = &event.ModelError{Kind: string(model.Unavailable), Text: "overloaded"}
	case n < 8:
		r.Error = &event.ModelError{Kind: string(model.ContextTooLong), Text: "too long"}
	case n < 20: // nothing at all
	case n < 80:
		r.Stop, r.Parts = model.StopEnd, []event.Part{{Kind: event.PartText, Text: &event.Text{Text: w.word()}}}
	default:
		r.Stop = model.StopTools
		for i := range 1 + w.rng.IntN(2) {
			tool, args := w.call(agent)
			data, err := json.Marshal(args, json.Deterministic(true))
			if err != nil {
				panic(err)
			}
			r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint("c", seq, "-", i), Name: tool, Args: &event.Text{Text: string(data)}})
		}
	}
	return r
}

type object map[string]any

// some is a reference: of a paper that there is, mostly.
func (w *labWorld) some() string {
	if n := len(w.books.refs); n > 0 && w.rng.IntN(10) > 0 {
		return w.books.refs[w.rng.IntN(n)]
	}
	return []string{"", strings.Repeat("0", 32), "x"}[w.rng.IntN(3)]
}

// call is any call of a tool, sensible or not.
func (w *labWorld) call(agent string) (string, object) {
	asked := w.books.asked[agent]
	switch n := w.rng.IntN(100); {
	case len(asked) > 0 && n < 70 || n < 3:
		ref := w.some()
		if len(asked) > 0 && w.rng.IntN(20) > 0 {
			ref = asked[w.rng.IntN(len(asked))]
		}
		grade := []string{"ACCEPT", "ACCEPT", "ACCEPT", "REJECT", "REJECT", "?"}[w.rng.IntN(6)]
		content := secretReview + w.word()
		if w.chance(30) {
			content = " "
		}
		return "submit_review", object{"ref": ref, "grade": grade, "content": content}
	case n < 25:
		return "submit_publication", w.paper(agent)
	case n < 40:
		return "vote_solution", object{"ref": w.some()}
	case n < 60:
		return "get_publication", object{"ref": w.some()}
	case n < 70:
		return "list_publications", object{"limit": w.rng.IntN(5), "order": []string{"latest", "citations", "?"}[w.rng.IntN(3)]}
	case n < 75:
		return "list_review_requests", object{}
	case n < 78:
		return "no_such_tool", object{}
	}
	return []string{"look", "write"}[w.rng.IntN(2)], object{"n": w.rng.IntN(5)}
}

// paper is what somebody hands in.
func (w *labWorld) paper(agent string) object {
	p := object{"title": w.word(), "content": w.word()}
	var cites strings.Builder
	for range w.rng.IntN(4) {
		if n := len(w.books.refs); n > 0 {
			fmt.Fprintf(&cites, " [%s]", w.books.refs[w.rng.IntN(n)])
		}
	}
	// What is in a code span is no citation.
	p["content"] = fmt.Sprintf("%s%s `[%032d]`", w.word(), cites.String(), 7)
	if list := w.books.rejected[agent]; len(list) > 0 && w.chance(400) {
		p["revises"] = list[w.rng.IntN(len(list))]
	}
	if w.chance(200) {
		p["attachments"], p["entrypoint"] = []string{"run.sh"}, "run.sh"
	}
	switch w.rng.IntN(30) {
	case 0:
		p["title"] = "two\nlines"
	case 1:
		p["content"] = "   "
	case 2:
		p["content"] = "see [" + strings.Repeat("f", 32) + "]"
	case 3:
		p["attachments"] = []string{"missing"}
	case 4:
		p["entrypoint"] = "other.sh"
	case 5:
		p["revises"] = w.some()
	case 6:
		delete(p, "title")
	case 7:
		p["attachments"] = []string{"reviews.md"}
	}
	return p
}

// person posts a command now and then.
func (w *labWorld) person() {
	if !w.chance(3) {
		return
	}
	var b event.Body
	switch w.rng.IntN(6) {
	case 0:
		b = &event.QuestPaused{}
	case 1:
		b = &event.QuestStopped{Reason: "enough"}
	case 2:
		b = &event.QuestResumed{}
	default:
		b = &event.UserMessage{Text: event.Text{Text: w.word()}, To: fmt.Sprint("agent-", w.rng.Int64N(w.opts.Agents))}
	}
	w.inbox = append(w.inbox, ledger.Command{ID: int64(len(w.inbox) + 1), Body: b})
}

// waiting is the inbox beyond a number. Each reading gets bodies of its own, as from a
// database.
func (w *labWorld) waiting(after int64) []event.Draft {
	return (&world{inbox: w.inbox, now: w.now}).waiting(after)
}

// replay derives the whole ledger again, and compares the state it comes to.
func (w *labWorld) replay() error {
	p := NewReplayer(w.societies)
	for _, e := range w.log.events {
		d, err := p.Begin(e)
		if err != nil {
			return err
		}
		if d == nil {
			d = p.Replay(e)
		}
		if d != nil {
			return fmt.Errorf("replay: %w\nrecorded %s\ncomputed %s", d, d.Recorded, d.Computed)
		}
	}
	if d := p.End(); d != nil {
		return fmt.Errorf("replay: %w", d)
	}
	return sameState(p.State, w.owner.state)
}
