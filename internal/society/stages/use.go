package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// Use implements quest.Toolbox. Each effect is one event, found again by the place of its call.
func (Society) Use(s *quest.State, a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	m := Of(s)
	c := &using{s, a, u, e, u.Place(), m, m.Study}
	if use := uses[u.Name]; use != nil {
		return use(c)
	}
	return nil // the world answers a search
}

// using is a call of one of the society's tools.
type using struct {
	s     *quest.State
	a     *agent.Agent
	u     *agent.Use
	e     event.Event
	place agent.Place
	m     *Memory
	study *study.Study
}

// maxSaid is how many bytes of JSON an answer to a call has.
const maxSaid = 12 << 10

// say answers the call; wrong answers it with what is wrong.
func (c *using) say(format string, args ...any) []event.Draft {
	return c.answer(false, format, args...)
}
func (c *using) wrong(format string, args ...any) []event.Draft {
	return c.answer(true, format, args...)
}

func (c *using) answer(isError bool, format string, args ...any) []event.Draft {
	output := event.Text{Text: event.Shorten(fmt.Sprintf(format, args...), maxSaid)}
	return c.do(&event.ToolAnswered{Call: c.u.Call, Error: isError, Output: output})
}

// do is the effect of a call.
func (c *using) do(b event.Body) []event.Draft {
	return []event.Draft{quest.After(c.e, c.a.Name, c.u.Name, b)}
}

// read reads the arguments strictly, and says what is wrong with them.
func (c *using) read(to any) string { return read(c.u, to) }

func read(u *agent.Use, to any) string {
	if u.Args.Ref != nil {
		return "The arguments are too long: a call has about 10,000 bytes."
	}
	if err := json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(u.Args.Text), "{}")), to, json.RejectUnknownMembers(true)); err != nil {
		for _, t := range tools {
			if t.Name == u.Name {
				return "The arguments do not fit the tool. They must be a JSON object of this form: " + t.Schema
			}
		}
	}
	return ""
}

// words are what is said to people with interact.
type words struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Reply   string   `json:"reply"`
	Options []string `json:"options"`
	Files   []string `json:"files"`
	About   string   `json:"about"`
}

// The most that is said at once.
const (
	maxText    = 4000
	maxOptions = 10
	maxOption  = 200
	maxFiles   = 16
	maxFile    = 300
)

// check says what is wrong with words.
func (w *words) check() string {
	w.Text = strings.TrimSpace(w.Text)
	w.Reply = cmp.Or(w.Reply, study.Reply(w.Kind))
	bad := func(o string) bool { return strings.TrimSpace(o) == "" || event.Weight(o) > maxOption }
	switch {
	case !slices.Contains(study.Kinds, w.Kind):
		return fmt.Sprintf("There is no kind %s: there are %s.", paper.Quote(event.Shorten(w.Kind, 40)), strings.Join(study.Kinds, ", "))
	case !slices.Contains(study.Replies, w.Reply):
		return "reply must be none, threaded or blocking."
	case w.Text == "" || event.Weight(w.Text) > maxText:
		return fmt.Sprintf("The text must have 1 to %d bytes. What is longer belongs into a file: name it.", maxText)
	case len(w.Options) > maxOptions || slices.ContainsFunc(w.Options, bad):
		return fmt.Sprintf("There can be %d options of 1 to %d bytes.", maxOptions, maxOption)
	case len(w.Options) > 0 && w.Reply != study.ReplyBlocking:
		return "Options are for a question: let its reply be blocking."
	case len(w.Files) > maxFiles:
		return fmt.Sprintf("There can be %d files.", maxFiles)
	}
	for _, f := range w.Files {
		if _, err := workspace.Path(f); err != nil || len(f) > maxFile {
			return fmt.Sprintf("%s is no file of your home.", paper.Quote(event.Shorten(f, 100)))
		}
	}
	return ""
}

// mayAsk reports whether the researcher may put a question: one that works on its own decides
// by itself, but for what only people can give.
func (c *using) mayAsk(w *words) bool {
	return w.Reply != study.ReplyBlocking || c.m.Settings.Mode != study.Autonomous || w.About == "keys" || w.About == "money" || w.About == "data"
}

// interact says something, asks people if it is a question, makes a checkpoint of what it is
// about, hands over what they have said, and answers with that.
func (c *using) interact() []event.Draft {
	var w words
	if bad := cmp.Or(c.read(&w), w.check()); bad != "" {
		return c.wrong("%s", bad)
	}
	at := c.study.Effect(c.place)
	switch {
	case at == 0 && !c.mayAsk(&w):
		return c.wrong("You work on your own: decide by yourself, go on, and say with a milestone what you decided and why. Only keys, money and data that would leave are questions for people: say so with about.")
	case at == 0 && len(c.s.Mail) == 0 && c.study.Repeats(w.Kind, w.Text):
		return c.say("You have said that already, and nobody has said anything since. Go on.")
	case at == 0:
		return c.do(&event.InteractSaid{Answer: c.place.Answer, Part: c.place.Part, Kind: w.Kind, Reply: w.Reply, Text: event.Text{Text: w.Text}, Options: w.Options, Files: w.Files})
	}
	if step, done := c.keep(&w); !done {
		return step
	}
	if n := c.fits(at); n > 0 {
		return one(c.e, "core", &event.MailDelivered{Messages: c.s.Ready()[:n], To: Researcher, With: event.WithInteract})
	}
	return c.say("%s", c.came(at))
}

// maxHeard is how many bytes of mail the answer to an executor has room for.
const maxHeard = 8 << 10

// fits is how many messages are handed over with the answer. Our own model hears all of them
// beside it; an executor hears what the answer has room for, and the others with its next sitting.
func (c *using) fits(at uint64) (n int) {
	ready := min(len(c.s.Ready()), maxMail)
	if c.a.Session == nil {
		return ready
	}
	room := maxHeard
	for _, l := range c.heard(at) {
		room -= event.Weight(l)
	}
	for i := range c.s.Mail[:ready] {
		l := &c.s.Mail[i]
		if !l.Short(room) {
			break
		}
		room -= event.Weight(l.Said())
		n++
	}
	return n
}

// heard are the messages that this call has brought an executor.
func (c *using) heard(at uint64) (out []string) {
	if c.a.Session == nil {
		return nil
	}
	for _, h := range c.a.Session.Brought {
		if h.Seq > at {
			out = append(out, h.Text.Text)
		}
	}
	return out
}

// maxShown is how many exchanges an answer shows.
const maxShown = 4

// came tells whether something came of what was said.
func (c *using) came(at uint64) string {
	var b strings.Builder
	b.WriteString("Said to: " + audience(c.m) + ".")
	switch heard := c.heard(at); {
	case len(heard) > 0:
		b.WriteString(" Messages came, the oldest first:\n" + strings.Join(heard, "\n") + "\n")
	case c.a.Session != nil && len(c.s.Mail) > 0:
		b.WriteString(" Messages came that are too long for here: you get them when this sitting is over.")
	case c.study.Handed > at:
		b.WriteString(" Messages came: they follow, the oldest first.")
	default:
		b.WriteString(" Nothing came. Go on.")
	}
	if t := c.study.Waits(); t != nil && t.Seq == at {
		b.WriteString(" The question is open: once you rest, the study waits for its answer.")
	}
	b.WriteString(c.noted())
	head := "\nThe last exchanges:"
	for _, x := range c.study.Words[max(0, len(c.study.Words)-maxShown):] {
		if x.Seq != at { // it knows what it has just said
			b.WriteString(head + "\n" + x.Line())
			head = ""
		}
	}
	return b.String()
}

// maxReason is how many bytes a reason has, maxBecause how much it can rest on.
const (
	maxReason  = 1000
	maxBecause = 16
)

// move goes to another stage.
func (c *using) move() []event.Draft {
	var args struct {
		To      string   `json:"to"`
		Reason  string   `json:"reason"`
		Because []string `json:"because"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		return c.say("The study is at %s. The next sitting begins afresh, with the skill for it; end this one when you have said what the next needs.", c.study.Anchor)
	}
	args.Reason = strings.TrimSpace(args.Reason)
	if args.Reason == "" || event.Weight(args.Reason) > maxReason {
		return c.wrong("The reason must have 1 to %d bytes.", maxReason)
	}
	if err := c.study.MayMove(args.To); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	if bad := c.because(args.Because); bad != "" {
		return c.wrong("%s", bad)
	}
	return c.do(&event.AnchorMoved{Answer: c.place.Answer, Part: c.place.Part, From: c.study.Anchor, To: args.To, By: "tool", Reason: args.Reason, Because: args.Because})
}

// because says which of the things that something rests on do not exist.
func (c *using) because(ids []string) string {
	if len(ids) > maxBecause {
		return fmt.Sprintf("There can be %d things that it rests on: name those that matter.", maxBecause)
	}
	for _, id := range ids {
		if !c.study.Exists(id, c.s.Seq+1) {
			return fmt.Sprintf("because: there is no artifact, no result, no card and no event %s.", paper.Quote(event.Shorten(id, 40)))
		}
	}
	return ""
}

// complete ends the quest, where a person has to agree once one does.
func (c *using) complete() []event.Draft {
	var args struct {
		Answer string `json:"answer"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	args.Answer = strings.TrimSpace(args.Answer)
	switch {
	case c.study.Effect(c.place) != 0:
		return c.say("The quest ends with your answer.")
	case c.study.Anchor != study.Finalize:
		return c.wrong("The study is at %s: it is completed from %s. Go there with move_anchor.", c.study.Anchor, study.Finalize)
	case args.Answer == "" || event.Weight(args.Answer) > maxCard:
		return c.wrong("The answer must have 1 to %d bytes.", maxCard)
	}
	if step, wait := c.asked("The researcher wants to end the study with this answer: "+args.Answer, "finish"); wait {
		return step
	}
	return c.do(&event.InteractSaid{Answer: c.place.Answer, Part: c.place.Part, Kind: study.Answer, Reply: study.ReplyNone, Text: event.Text{Text: args.Answer}})
}

// asked puts a question that the rules ask people about, if the quest is to ask about that, or about
// cost where it costs something. wait says that there is no yes yet, and step what follows then.
func (c *using) asked(text string, about ...string) (step []event.Draft, wait bool) {
	if !slices.ContainsFunc(c.m.Settings.Ask, func(w string) bool { return slices.Contains(about, w) }) {
		return nil, false
	}
	yes, step := c.consent(text)
	return step, yes == 0
}

// consent is the question that a person has said yes to; 0 if there is none yet, and then step
// is what follows.
func (c *using) consent(text string) (yes uint64, step []event.Draft) {
	switch q := c.question(); {
	case q == nil:
		return 0, c.do(&event.InteractionOpened{Blocking: true, Call: c.u.Call, Options: []string{"yes", "no"}, Question: event.Text{Text: event.Shorten(text, maxText)}})
	case q.Reply == nil:
		return 0, nil
	case q.Reply.Choice != "yes":
		return 0, c.wrong("The person says no. %s", cmp.Or(q.Reply.Text, "They give no reason: ask with interact."))
	default:
		return q.Seq, nil
	}
}

// question is the last one that the call has asked a person, nil if there is none.
func (c *using) question() (last *quest.Question) {
	for i := range c.s.Questions {
		if q := &c.s.Questions[i]; q.Body.Call == c.u.Call {
			last = q
		}
	}
	return last
}

// state says where the study stands.
func (c *using) state() []event.Draft {
	if bad := c.read(&struct{}{}); bad != "" {
		return c.wrong("%s", bad)
	}
	return c.say("%s", strings.Join(Standing(c.s), "\n"))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
