package quest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Questions to people. An agent asks with a tool, or policies have a person decide about
// a proposal. A question is a call that only a person answers, or its default when its
// time is up. Whoever asked waits for it, unless it said that it does not; all others go
// on. A quest in which nothing else is open waits for people: see Waiting.

// Question is one to a person: open, or answered and the answer not used yet.
type Question struct {
	Seq uint64
	// Asker is the agent, or who else made the proposal that it is about.
	Asker string
	// Time is when it was asked.
	Time  event.Time
	Body  event.InteractionOpened
	Reply *Reply `json:",omitzero"`
}

// Reply is what was answered to a question.
type Reply struct {
	Choice string `json:",omitzero"`
	Text   string `json:",omitzero"`
	// Nobody says that nobody answered in time: it is the default.
	Nobody bool `json:",omitzero"`
}

// The answers to a question about a proposal.
const (
	yes = "yes"
	no  = "no"
)

// matter is what a question about a proposal is about. A yes holds for it alone.
type matter struct {
	kind  event.Type
	actor string
	at    agent.Place
	turn  int64
	sum   event.Hash
}

func (q *Question) matter() matter {
	m := matter{kind: q.Body.Proposal, actor: q.Asker, at: agent.Place{Answer: q.Body.Answer, Part: q.Body.Part}, turn: q.Body.Turn}
	if q.Body.Sum != nil {
		m.sum = *q.Body.Sum
	}
	return m
}

// about is the question about a proposal, nil if there is none.
func (s *State) about(m matter) *Question {
	for i := range s.Questions {
		if q := &s.Questions[i]; q.Body.Proposal != "" && q.matter() == m {
			return q
		}
	}
	return nil
}

// allowed reports whether a person was asked about a proposal and said yes.
func (s *State) allowed(m matter) bool {
	q := s.about(m)
	return q != nil && q.Reply != nil && q.Reply.Choice == yes
}

// Open are the questions that wait for an answer, the oldest first. A quest that has
// ended asks nothing any more.
func (s *State) Open() (out []Question) {
	if s.Status == Finished || s.Status == Failed || s.Status == Stopped {
		return nil
	}
	for _, q := range s.Questions {
		if q.Reply == nil {
			out = append(out, q)
		}
	}
	return out
}

// Waiting reports whether the quest waits for people: it runs, but all that is open is
// questions to them, or the society waits for their words. The time until somebody says
// something does not count as running time. What a society waits for by a timer of its own is
// no such waiting.
func (s *State) Waiting() bool {
	if s.Status != Running {
		return false
	}
	asked := s.resting()
	if len(s.Questions) == 0 && !asked {
		return false
	}
	for i := range s.Questions {
		if s.Questions[i].Reply != nil {
			return false // somebody is about to go on from it
		}
	}
	for seq, c := range s.Calls {
		if !s.people(seq, c) {
			return false
		}
		asked = asked || c.Kind == "interaction.opened"
	}
	return asked
}

// people reports whether an open call is a question to people, a call that waits for one,
// or a timer of the core's own: nobody works on it.
func (s *State) people(seq uint64, c Call) bool {
	return c.Kind == "interaction.opened" || c.Timer == durationTimer || strings.HasPrefix(c.Timer, questionTimer) ||
		strings.HasPrefix(c.Timer, outageTimer) || c.Timer != "" && s.idle(c.Timer) || s.asks(seq)
}

// Idler is a memory that knows of timers of its society whether anybody still waits for them.
type Idler interface {
	// Idle reports whether nothing follows when the timer of a purpose fires.
	Idle(purpose string) bool
}

func (s *State) idle(purpose string) bool {
	m, ok := s.memory.(Idler)
	return ok && m.Idle(purpose)
}

// asks reports whether a call is one that waits for the answer to its question.
func (s *State) asks(call uint64) bool {
	return slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Body.Call == call })
}

// Due is when the first of the open questions expires, 0 if none does.
func (s *State) Due() (at event.Time) {
	for _, q := range s.Open() {
		if q.Body.Expires != 0 && (at == 0 || q.Body.Expires < at) {
			at = q.Body.Expires
		}
	}
	return at
}

// questionTimer begins the purpose of the timer of a question; its number follows.
const questionTimer = "interaction/"

func timerOf(q *Question) string { return questionTimer + strconv.FormatUint(q.Seq, 10) }

// overdue has the first question expire whose time is up.
func (s *State) overdue(e event.Event) []event.Draft {
	for i := range s.Questions {
		if q := &s.Questions[i]; q.Reply == nil && q.Body.Expires != 0 && q.Body.Expires <= e.Time {
			return []event.Draft{After(e, "core", "", &event.InteractionExpired{Interaction: q.Seq})}
		}
	}
	return nil
}

// questionTimers ask to be woken when questions expire, as far as nobody has asked yet.
func (s *State) questionTimers(e event.Event) (out []event.Draft) {
	for i := range s.Questions {
		q := &s.Questions[i]
		if q.Reply == nil && q.Body.Expires > e.Time && !s.hasTimer(timerOf(q)) {
			out = append(out, After(e, "core", "", &event.TimerSet{At: q.Body.Expires, Purpose: timerOf(q)}))
		}
	}
	return out
}

func (s *State) hasTimer(purpose string) bool {
	for _, c := range s.Calls {
		if c.Timer == purpose {
			return true
		}
	}
	return false
}

// opened takes a question in. A call that asks again has used the answer before.
func (s *State) opened(e event.Event, b *event.InteractionOpened) {
	s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool { return b.Call != 0 && q.Body.Call == b.Call && q.Reply != nil })
	s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor}
	s.Questions = append(s.Questions, Question{Seq: e.Seq, Asker: e.Actor, Time: e.Time, Body: *b})
}

// replied takes the answer to a question in. Who asked with a tool and waits, or made a
// proposal, goes on from it; who does not wait is told.
func (s *State) replied(e event.Event, seq uint64, r Reply) {
	delete(s.Calls, seq)
	i := slices.IndexFunc(s.Questions, func(q Question) bool { return q.Seq == seq })
	if i < 0 {
		return
	}
	q := &s.Questions[i]
	if q.Body.Form != 0 {
		s.filled(q, r)
		s.Questions = slices.Delete(s.Questions, i, i+1)
		return
	}
	if q.Body.Server != "" {
		s.decided(q, r)
		s.Questions = slices.Delete(s.Questions, i, i+1)
		return
	}
	if s.HasMail() && q.Own() {
		s.post(Letter{Seq: e.Seq, Time: e.Time, Text: event.Text{Text: r.words()}, Reply: seq}, q.Asker)
		s.Questions = slices.Delete(s.Questions, i, i+1)
		return
	}
	if q.Body.Blocking {
		q.Reply = &r
		return
	}
	if a := s.Agent(q.Asker); a != nil {
		a.Wake()
		a.Told(event.Text{Text: fmt.Sprintf("Your question %d has an answer. %s", q.Seq, r.words())})
	}
	s.Questions = slices.Delete(s.Questions, i, i+1)
}

// answeredFacts is what policies are told of a person's answer.
func (s *State) answeredFacts(b *event.InteractionAnswered) *policy.Facts {
	f := &policy.Facts{Text: b.Said()}
	for _, q := range s.Questions {
		if q.Seq == b.Interaction {
			f.Agent, f.To = q.Asker, q.Asker
		}
	}
	return f
}

// expired takes in that nobody has answered a question in time.
func (s *State) expired(e event.Event, seq uint64) {
	for _, q := range s.Questions {
		if q.Seq == seq {
			s.replied(e, seq, Reply{Choice: q.Body.Default, Nobody: true})
			return
		}
	}
}

// words say an answer to an agent.
func (r *Reply) words() string {
	switch {
	case r.Nobody && r.Choice == "":
		return "Nobody answered in time: decide by yourself."
	case r.Nobody:
		return "Nobody answered in time, so this counts: " + r.Choice
	}
	return "A person answers: " + (&event.InteractionAnswered{Choice: r.Choice, Text: r.Text}).Said()
}

// outdated withdraws the first question that an agent has left behind: it has had another
// turn since, so that what it proposed then is not proposed any more.
func (s *State) outdated(e event.Event) []event.Draft {
	for i := range s.Questions {
		q := &s.Questions[i]
		a := s.Agent(q.Asker)
		if s.stale(q) || s.forgone(q) || q.Reply == nil && s.gone(q) {
			return []event.Draft{After(e, "core", "", &event.InteractionWithdrawn{Interaction: q.Seq})}
		}
		if q.Reply != nil || q.Body.Turn == 0 || a == nil {
			continue
		}
		if a.Turns > q.Body.Turn || (q.Body.Proposal == "model.call" || q.Body.Proposal == "prompt.call") && a.Turns == q.Body.Turn {
			return []event.Draft{After(e, "core", "", &event.InteractionWithdrawn{Interaction: q.Seq})}
		}
	}
	return nil
}

// forgone reports whether the call that waited for a question has its answer: the society gave it
// another way, or a fork took it away, and nobody goes on from what a person says now.
func (s *State) forgone(q *Question) bool {
	if q.Reply != nil || q.Body.Call == 0 || !q.Body.Blocking {
		return false
	}
	_, open := s.Calls[q.Body.Call]
	return !open
}

// settled forgets the questions whose answers have been used, or that were withdrawn.
func (s *State) settled(e event.Event) {
	if len(s.Questions) == 0 {
		return
	}
	var used func(q *Question) bool
	switch b := e.Body.(type) {
	case *event.InteractionWithdrawn:
		s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool { return q.Seq == b.Interaction })
		return
	case *event.ModelCall:
		// The turn it is about has come, or it was about one before.
		used = func(q *Question) bool { return q.Asker == e.Actor && q.Body.Turn != 0 && q.Body.Turn <= b.Turn }
	case *event.PromptCall:
		used = func(q *Question) bool { return q.Asker == e.Actor && q.Body.Turn != 0 && q.Body.Turn <= b.Turn }
	case *event.PermissionDecided:
		used = func(q *Question) bool {
			return q.Asker == e.Actor && q.Body.Proposal == e.Type && q.Body.Answer == b.Asked
		}
	case *event.ToolSkipped:
		used = func(q *Question) bool {
			return q.Asker == e.Actor && q.Body.Proposal == "tool.call" && q.Body.Answer == b.Answer && q.Body.Part == b.Part
		}
	case *event.ToolCall:
		used = func(q *Question) bool {
			return q.Asker == e.Actor && q.Body.Proposal == e.Type && q.Body.Answer == b.Answer && q.Body.Part == b.Part
		}
	case *event.GatewayCall:
		used = func(q *Question) bool {
			return q.Asker == e.Actor && q.Body.Proposal == e.Type && q.Body.Answer == b.Asked
		}
	case *event.ToolAnswered:
		used = func(q *Question) bool { return q.Body.Call == b.Call }
	case *event.PolicyBlocked:
		used = func(q *Question) bool {
			return q.Asker == e.Actor && q.Body.Proposal == b.Proposal && q.Body.Answer == b.Answer && q.Body.Part == b.Part
		}
	default:
		if !e.Type.Proposal() {
			return
		}
		used = func(q *Question) bool { return q.Asker == e.Actor && q.Body.Proposal == e.Type }
	}
	s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool { return q.Reply != nil && used(&q) })
}

// checkAnswer tells whether a person's answer may come now.
func (s *State) checkAnswer(b *event.InteractionAnswered) error {
	if err := s.fresh(b.Inbox); err != nil {
		return err
	}
	i := slices.IndexFunc(s.Questions, func(q Question) bool { return q.Seq == b.Interaction && q.Reply == nil })
	if i < 0 {
		return fmt.Errorf("quest %s has no open question %d", s.Name, b.Interaction)
	}
	return s.Questions[i].Check(b)
}

// Check says what is wrong with an answer to the question.
func (q *Question) Check(b *event.InteractionAnswered) error {
	switch {
	case b.Choice != "" && !slices.Contains(q.Body.Options, b.Choice):
		return fmt.Errorf("question %d has no option %.80q: it has %s", q.Seq, b.Choice, list(q.Body.Options))
	case b.Choice == "" && (q.Body.Proposal != "" || q.Body.Server != "") && (q.Body.Form == 0 || len(q.Body.Options) > 0):
		return fmt.Errorf("question %d wants yes or no", q.Seq)
	case b.Choice == "" && b.Text == "":
		return fmt.Errorf("the answer to question %d is empty", q.Seq)
	}
	return nil
}

// asking is what becomes of a proposal that policies have a person decide about: a
// question, once, or a refusal if a person, or nobody in time, has said no. The verdict
// waits while the question is open.
func (s *State) asking(e event.Event, m matter, f *policy.Facts, by []behavior.Blocker) (v verdict) {
	q := s.about(m)
	switch {
	case q == nil:
		v.instead = []event.Draft{After(e, m.actor, "", s.question(e, m, f, by))}
	case q.Reply == nil:
		v.waits = true
	default:
		reason := "A person said no."
		if q.Reply.Nobody {
			reason = "Nobody answered in time, and that means no."
		} else if q.Reply.Text != "" {
			reason = "A person said no: " + q.Reply.Text
		}
		for _, b := range q.Body.By {
			v.by = append(v.by, event.Blocker{Policy: b.Policy, Reason: event.Shorten(reason, maxReasons/len(q.Body.By))})
		}
	}
	return v
}

// question puts a proposal into words.
func (s *State) question(e event.Event, m matter, f *policy.Facts, by []behavior.Blocker) *event.InteractionOpened {
	b := &event.InteractionOpened{
		Answer: m.at.Answer, Part: m.at.Part, Turn: m.turn, Proposal: m.kind,
		Blocking: true, Options: []string{yes, no},
	}
	if m.sum != (event.Hash{}) {
		b.Sum = &m.sum
	}
	room := maxReasons / min(len(by), maxBlockers)
	var words []string
	for i, p := range by {
		words = append(words, p.Reason)
		if i < maxBlockers {
			b.By = append(b.By, event.Blocker{Policy: p.Thread, Reason: event.Shorten(p.Reason, room)})
		}
	}
	b.Question.Text = event.Shorten(m.actor+" wants "+wish(m.kind, f)+". "+strings.Join(words, " "), maxQuestion)
	at, word := patience(by)
	if most := cmp.Or(s.PermissionTimeout, PermissionTime); m.kind == "permission.decided" && (at == 0 || at > most) {
		at, word = most, no
	}
	if at != 0 {
		b.Default, b.Expires = word, e.Time+at
	}
	return b
}

// wish says what a proposal is, to a person.
func wish(t event.Type, f *policy.Facts) string {
	switch t {
	case "model.call", "prompt.call":
		return "its turn " + strconv.FormatInt(f.Turn, 10)
	case "tool.call":
		return strings.TrimSpace("to call " + f.Tool + " " + short(f.Args.Raw()))
	case "gateway.call":
		if f.Source != "" {
			return fmt.Sprintf("to have %s asked for the server %s. These are the server's words, and a stranger's: %q", short(f.Model), f.Source, event.Shorten(f.Text, maxSampled))
		}
		return "to ask " + short(f.Model) + " by the gateway"
	case "permission.decided":
		return strings.TrimSpace("to do by itself: " + ofTitle(f) + " " + short(f.Args.Raw()))
	case "quest.finished":
		return "to answer: " + short(f.Text)
	}
	return string(t)
}

// patience is how long a question about a proposal is open, in microseconds, and what
// counts then; 0 is for ever. Where several policies ask, a no in time is enough to
// refuse, and a yes only counts once all of them have let it.
func patience(by []behavior.Blocker) (within event.Time, word string) {
	first, last, all := event.Time(0), event.Time(0), true
	for _, b := range by {
		t := event.Time(b.Ask.Within)
		switch {
		case b.Ask.Default == no && (first == 0 || t < first):
			first = t
		case b.Ask.Default == yes:
			last = max(last, t)
		}
		all = all && b.Ask.Default == yes
	}
	switch {
	case first != 0:
		return first, no
	case all:
		return last, yes
	}
	return 0, ""
}

// maxQuestion is how many bytes of JSON a question may have.
const maxQuestion = 4 << 10
