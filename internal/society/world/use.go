package world

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxSaid is how much one is told at once, in bytes of JSON.
const maxSaid = 12 << 10

// Use implements quest.Toolbox.
func (Society) Use(s *quest.State, a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	c := &using{s, a, u, e, u.Place(), Of(s)}
	switch {
	case a.Name == Maker && !slices.Contains(makerTools, u.Name), a.Name != Maker && u.Name != giveMarks:
		return c.wrong("%s is not for you.", u.Name)
	case u.Name == giveMarks:
		return c.marks()
	case u.Name == declareStructure:
		return c.declare()
	case u.Name == propose:
		return c.propose()
	case u.Name == try:
		return c.try()
	}
	return c.finish()
}

// using is a call of one of the society's tools.
type using struct {
	s     *quest.State
	a     *agent.Agent
	u     *agent.Use
	e     event.Event
	place agent.Place
	m     *Memory
}

// say answers the call; wrong answers it with what is wrong.
func (c *using) say(format string, args ...any) []event.Draft {
	return c.answer(false, nil, fmt.Sprintf(format, args...))
}
func (c *using) wrong(format string, args ...any) []event.Draft {
	return c.answer(true, nil, fmt.Sprintf(format, args...))
}

func (c *using) answer(isError bool, picture *event.Ref, text string) []event.Draft {
	b := &event.ToolAnswered{Call: c.u.Call, Error: isError, Output: event.Text{Text: event.Shorten(text, maxSaid)}}
	if picture != nil {
		b.Attachments = []event.Attachment{{Media: "image/png", Name: "seen.png", Ref: *picture}}
	}
	return []event.Draft{quest.After(c.e, c.a.Name, c.u.Name, b)}
}

// do is the effect of a call.
func (c *using) do(b event.Body) []event.Draft {
	return []event.Draft{quest.After(c.e, c.a.Name, c.u.Name, b)}
}

// read reads the arguments strictly, and says what is wrong with them.
func (c *using) read(to any) string {
	if c.u.Args.Ref != nil {
		return "The arguments are too long: a call has about 10,000 bytes. Say less."
	}
	if err := json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(c.u.Args.Text), "{}")), to, json.RejectUnknownMembers(true)); err != nil {
		return "The arguments do not fit the tool: " + plain.Brief(err.Error(), 300)
	}
	return ""
}

func (c *using) done() bool { return slices.Contains(c.m.Done, c.place) }

func (c *using) declare() []event.Draft {
	if c.done() {
		return c.say("The structure is declared. What you propose from now on claims to have it.")
	}
	if c.m.spent() {
		return c.wrong("%s", c.whatNow())
	}
	if c.u.Args.Ref != nil {
		return c.wrong("The structure is too long: use shorter names.")
	}
	structure, err := trial.ReadStructure([]byte(cmp.Or(strings.TrimSpace(c.u.Args.Text), "{}")))
	if err != nil {
		return c.wrong("The structure cannot be taken: %v.", err)
	}
	if why := meets(c.m.Settings.Constraints, structure); why != "" {
		return c.wrong("The structure cannot be taken: %s", event.Shorten(why, 2000))
	}
	return c.do(&event.StructureDeclared{Answer: c.place.Answer, Part: c.place.Part, Structure: structure})
}

// propose hands in what was made, and waits until the tiers have said what they say.
func (c *using) propose() []event.Draft {
	for _, a := range c.m.Attempts {
		if a.Place == c.place {
			if a.Reward == nil {
				return nil
			}
			text, picture := c.m.feedback(a)
			return c.answer(false, picture, text)
		}
	}
	if c.u.Prepared == nil {
		return nil
	}
	if c.u.Prepared.Error != "" || c.u.Prepared.Tree == nil {
		return c.wrong("%s", cmp.Or(c.u.Prepared.Error, "There is no folder of that name in your home."))
	}
	var args struct {
		Path    string         `json:"path"`
		Intent  string         `json:"intent"`
		Stories jsontext.Value `json:"stories"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	told, err := trial.ReadStories(c.m.Settings.Kind, []byte(cmp.Or(string(args.Stories), "null")))
	intent := strings.TrimSpace(args.Intent)
	switch {
	case err != nil:
		return c.wrong("The stories cannot be taken: %v.", err)
	case intent == "" || len(intent) > 500:
		return c.wrong("intent is empty or has more than 500 bytes.")
	case len(told)+len(c.m.Settings.Stories) == 0:
		return c.wrong("Tell at least one story: what somebody does with it, and what must be seen then.")
	case slices.ContainsFunc(told, func(x event.WorldStory) bool {
		return slices.ContainsFunc(c.m.Settings.Stories, func(y event.WorldStory) bool { return x.Name == y.Name })
	}):
		return c.wrong("A story of yours has the name of one of the author's: %s. Give it another name.", strings.Join(names(c.m.Settings.Stories), ", "))
	case c.m.spent():
		return c.wrong("%s", c.whatNow())
	}
	return c.do(&event.AttemptProposed{
		Answer: c.place.Answer, Part: c.place.Part, Attempt: int64(len(c.m.Attempts)) + 1, Intent: intent, Path: event.Shorten(path.Clean(args.Path), 300),
		Stories: append([]event.WorldStory{}, told...), Structure: c.m.Declared, Tree: *c.u.Prepared.Tree,
	})
}

// whatNow is for a maker that can propose nothing more: it is asked only if something passed.
func (c *using) whatNow() string {
	text := fmt.Sprintf("There were %d attempts, which is all there can be.", len(c.m.Attempts))
	if best := c.m.Best(); best != nil {
		text += fmt.Sprintf(" Finish with attempt %d.", best.Number)
	}
	return text
}

func names(list []event.WorldStory) (out []string) {
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out
}

// finish ends the quest with an attempt that every tier has passed.
func (c *using) finish() []event.Draft {
	if c.done() {
		return c.say("The quest ends with your answer.")
	}
	var args struct {
		Attempt int64  `json:"attempt"`
		Text    string `json:"text"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	a, said := c.m.Attempt(args.Attempt), strings.TrimSpace(args.Text)
	switch {
	case a == nil:
		return c.wrong("There is no attempt %d.\n%s", args.Attempt, strings.Join(board(c.m), "\n"))
	case !c.m.Passed(a):
		return c.wrong("Attempt %d has not passed every tier.\n%s", a.Number, strings.Join(board(c.m), "\n"))
	case said == "":
		return c.wrong("text is empty: say what you made.")
	}
	return c.do(&event.MessageSent{Answer: c.place.Answer, Part: c.place.Part, Performative: event.Inform, Quiet: true, Reply: uint64(a.Number), Text: event.Text{Text: event.Shorten(said, 6<<10)}, To: Maker})
}

// faults says what is wrong with marks, empty if nothing.
func (m *Memory) faults(marks []event.WorldMark) string {
	if len(marks) != len(m.Settings.Rubric) {
		return fmt.Sprintf("There are %d criteria, and %d marks.", len(m.Settings.Rubric), len(marks))
	}
	for _, c := range m.Settings.Rubric {
		at := slices.IndexFunc(marks, func(x event.WorldMark) bool { return x.Criterion == c.Name })
		switch {
		case at < 0:
			return fmt.Sprintf("There is no mark for %s.", c.Name)
		case marks[at].Mark < 0 || marks[at].Mark > 1000:
			return fmt.Sprintf("The mark for %s is %d: want 0 to 1000.", c.Name, marks[at].Mark)
		case strings.TrimSpace(marks[at].Quotation) == "" || len(marks[at].Quotation) > 300:
			return fmt.Sprintf("The quotation for %s is empty, or has more than 300 bytes.", c.Name)
		}
	}
	return ""
}

// marks takes the marks of a judge, if what it quotes is there.
func (c *using) marks() []event.Draft {
	if c.done() {
		return c.say("Your marks are taken. You have nothing else to do.")
	}
	j := c.m.judging(c.a.Name)
	if j == nil || !j.Told {
		return c.wrong("You have nothing to judge.")
	}
	if j.Call != 0 && j.Place == c.place {
		switch {
		case j.Result == nil:
			return nil
		case j.Result.Error != "":
			return c.wrong("Your quotations could not be looked for: %s", plain.Brief(j.Result.Error, 300))
		case len(j.Result.Missing) > 0:
			return c.wrong("These quotations are not in what you were shown: quote word for word.\n- %s", event.Shorten(strings.Join(j.Result.Missing, "\n- "), 3000))
		}
		return c.do(&event.MarksGiven{Answer: c.place.Answer, Part: c.place.Part, Attempt: c.m.current().Number, Marks: j.Marks})
	}
	if j.Call != 0 {
		return nil // what it said before is looked at
	}
	var args struct {
		Marks []event.WorldMark `json:"marks"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if why := c.m.faults(args.Marks); why != "" {
		return c.wrong("%s The criteria:\n%s", why, c.m.rubric())
	}
	a := c.m.current()
	return c.do(&event.MarksCall{Answer: c.place.Answer, Part: c.place.Part, Attempt: a.Number, Marks: args.Marks, Text: *a.look(byRules).Result.Text})
}
