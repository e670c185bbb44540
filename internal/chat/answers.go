package chat

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// answering is an answer from the views that is being put together.
type answering struct {
	state *quest.State
	views *view.Views
	b     strings.Builder
	// text is what comes at the end, wherever it stands.
	text *event.Text
}

// line adds a line. What agents wrote in it is made safe by whoever adds it.
func (a *answering) line(format string, args ...any) { fmt.Fprintf(&a.b, format+"\n", args...) }

// most is how much of what agents wrote stands in a line.
const most = 160

// answers are the commands that views answer.
var answers = map[string]func(*answering) error{
	"help": (*answering).help, "status": (*answering).status, "stage": (*answering).stages, "plan": (*answering).plan,
	"graph": (*answering).graph, "summary": (*answering).summary, "metrics": (*answering).metrics, "servers": (*answering).servers,
}

func (a *answering) help() error {
	for _, c := range Commands {
		if c.Study && !Commanded(a.state) {
			continue
		}
		a.line("%-30s %s", strings.TrimSpace("/"+c.Name+" "+c.Hint), c.About)
	}
	return nil
}

// Standing is how a quest stands, in a word or two.
func Standing(s *quest.State) string {
	switch {
	case s.Waiting() && len(s.Open()) > 0:
		return "waiting for an answer"
	case s.Waiting():
		return "waiting for words"
	case s.Stalled():
		return "waiting for " + plain.Line(s.Absent())
	case s.Rested != "":
		return "paused: " + plain.Line(s.Rested)
	case s.Status == quest.Exceeded:
		return "out of " + plain.Line(s.Reason)
	}
	return string(s.Status)
}

func (a *answering) status() error {
	s, t := a.state, &a.views.Talk
	a.line("%s is %s.", s.Name, Standing(s))
	if t.Anchor != "" {
		a.line("Stage: %s.", plain.Line(t.Anchor))
	}
	if t.Sitting > 0 {
		how := "has ended"
		if t.Sits {
			how = "goes on"
		}
		a.line("Sitting %d %s, by the skill %s.", t.Sitting, how, plain.Line(t.Skill))
	}
	a.mail()
	a.asked()
	a.line("Used: %s, %s.", view.Several(s.Spent.Turns, "turn"), view.Price(s.Spent.Cost, s.Spent.Unpriced))
	return nil
}

// mail says what waits to be heard.
func (a *answering) mail() {
	if len(a.views.Talk.Mail) == 0 {
		return
	}
	var numbers []string
	for _, l := range a.views.Talk.Mail {
		numbers = append(numbers, fmt.Sprint(l.Seq))
	}
	a.line("Not delivered yet: %s (%s).", view.Several(int64(len(numbers)), "message"), strings.Join(numbers, ", "))
}

// asked says what people are asked.
func (a *answering) asked() {
	for _, q := range a.state.Open() {
		a.line("Question %d of %s: %s", q.Seq, plain.Line(q.Asker), plain.Brief(q.Body.Question.Text, most))
	}
}

// stages say how a study came where it is.
func (a *answering) stages() error {
	t := &a.views.Talk
	if !Commanded(a.state) {
		return fmt.Errorf("/stage: %w", ErrNoStudy)
	}
	a.line("%s", Track(t.Anchor))
	for _, m := range t.Moves {
		a.line("%5d  %s → %s, by %s: %s", m.Seq, plain.Line(m.From), plain.Line(m.To), plain.Line(m.By), plain.Brief(m.Reason, most))
	}
	return nil
}

// Track is the stages in a line, with the present one in brackets.
func Track(anchor string) string {
	all := slices.Clone(view.Anchors)
	for i, name := range all {
		if name == anchor {
			all[i] = "[" + name + "]"
		}
	}
	return strings.Join(all, " · ")
}

func (a *answering) plan() error {
	cards := a.views.Board().Cards()
	for _, c := range cards {
		a.line("%-12s %s: %s", plain.Line(c.State), plain.Line(c.ID), plain.Brief(c.Goal, most))
	}
	switch {
	case len(cards) > 0:
	case Commanded(a.state):
		return a.stages()
	default:
		a.line("There is no plan.")
	}
	return nil
}

// shown is how many nodes of a graph are told, the newest.
const shown = 40

func (a *answering) graph() error {
	nodes, edges, _ := a.views.Canvas.Graph(0, 1<<30)
	label := map[string]string{}
	for _, n := range nodes {
		label[n.ID] = plain.Brief(n.Label, 60)
	}
	from := map[string][]string{}
	for _, e := range edges {
		if e.Until == 0 {
			from[e.To] = append(from[e.To], plain.Line(e.Kind)+" "+label[e.From])
		}
	}
	left := max(len(nodes)-shown, 0)
	if left > 0 {
		a.line("(%d older ones are left out)", left)
	}
	for _, n := range nodes[left:] {
		text := fmt.Sprintf("%5d  %s: %s", n.Seq, plain.Line(n.Kind), label[n.ID])
		if n.Status != "" {
			text += " (" + plain.Line(n.Status) + ")"
		}
		if by := from[n.ID]; len(by) > 0 {
			text += " ← " + strings.Join(by[max(len(by)-3, 0):], ", ")
		}
		a.line("%s", text)
	}
	return nil
}

func (a *answering) summary() error {
	s, t := a.state, &a.views.Talk
	a.line("%s is %s. It is about: %s", s.Name, Standing(s), plain.Brief(s.Problem.Text, most))
	a.asked()
	switch {
	case s.Status == quest.Finished && s.Answer != nil:
		a.line("\nThe answer:")
		a.text = new(*s.Answer)
	case t.Last != nil:
		a.line("\n%s said last:", plain.Line(t.Last.By))
		a.text = new(t.Last.Text)
	default:
		a.line("Nothing was said yet.")
	}
	return nil
}

func (a *answering) metrics() error {
	s := a.state
	a.line("%s, %s, %s in and %s out, %s", view.Several(s.Spent.Turns, "turn"), view.Several(s.Spent.Tools, "tool call"),
		view.Number(s.Spent.Usage.Input), view.Several(s.Spent.Usage.Output, "token"), view.Price(s.Spent.Cost, s.Spent.Unpriced))
	for _, ag := range s.Agents {
		a.line("%-14s %s, %s", plain.Line(ag.Name), view.Several(ag.Turns, "turn"), view.Several(ag.Tokens, "token"))
	}
	return nil
}

// servers says which MCP servers the quest has, and what agents have had of each.
func (a *answering) servers() error {
	if len(a.state.Servers) == 0 {
		a.line("The quest has no MCP servers.")
	}
	for _, srv := range a.state.Servers {
		how := "nobody has asked it yet"
		for _, ag := range a.state.Agents {
			switch o := a.state.Offer(ag.Name, srv.Name); {
			case o == nil || !o.Listed:
			case o.Failed:
				how = "it could not be used"
			default:
				how = view.Several(int64(o.Tools()), "tool")
			}
		}
		a.line("%-20s %-6s %s", plain.Line(srv.Name), plain.Line(srv.Kind), how)
	}
	return nil
}
