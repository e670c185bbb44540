package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// Quest is what commands are given to.
type Quest interface {
	// Look shows what the quest's ledger comes to. Neither may be kept or changed.
	Look(ctx context.Context, read func(*quest.State, *view.Views) error) error
	// Text reads a text that may stand in a blob.
	Text(ctx context.Context, t event.Text) (string, error)
	// Order puts a person's order into the quest's inbox, unless the quest would refuse it,
	// and says what becomes of it.
	Order(ctx context.Context, order event.Body) (string, error)
	// Resume has the quest go on, and says where.
	Resume(ctx context.Context) (string, error)
}

// The orders to a study.
const (
	toStage    = "stage"
	toDeliver  = "now"
	toWithdraw = "withdraw"
	toWaive    = "waive"
	toApprove  = "approve"
	toUse      = "use"
)

// ErrNoStudy says that a command is for studies alone.
var ErrNoStudy = errors.New("the quest has no stages and no mail: its agents hear what is said in their next turn")

// Do carries out a command, and returns what there is to say about it.
func Do(ctx context.Context, q Quest, c *Command) (string, error) {
	if answer := answers[c.Name]; answer != nil && c.Args == "" {
		var a *answering
		err := q.Look(ctx, func(s *quest.State, v *view.Views) error {
			a = &answering{state: s, views: v}
			return answer(a)
		})
		if err == nil && a.text != nil {
			var text string
			text, err = q.Text(ctx, *a.text)
			a.line("%s", plain.Text(strings.TrimSpace(text)))
		}
		if err != nil {
			return "", err
		}
		return strings.TrimRight(a.b.String(), "\n"), nil
	}
	if c.Name == "resume" {
		return q.Resume(ctx)
	}
	var order event.Body
	err := q.Look(ctx, func(s *quest.State, _ *view.Views) (err error) {
		order, err = orderOf(s, c)
		return err
	})
	if err != nil {
		return "", err
	}
	return q.Order(ctx, order)
}

// orderOf is the order that a command is.
func orderOf(s *quest.State, c *Command) (event.Body, error) {
	first, rest, _ := strings.Cut(c.Args, " ")
	rest = strings.TrimSpace(rest)
	switch c.Name {
	case "pause":
		return &event.QuestPaused{Reason: "paused by a person"}, nil
	case "stop":
		return &event.QuestStopped{Reason: "stopped by a person"}, nil
	case "approve":
		return approval(s, first)
	case "servers":
		return removal(s, first, rest)
	}
	if !Commanded(s) {
		return nil, fmt.Errorf("/%s: %w", c.Name, ErrNoStudy)
	}
	switch c.Name {
	case "stage":
		if !slices.Contains(view.Anchors, first) {
			return nil, noSuch("stage", first, view.Anchors)
		}
		return &event.StudyOrder{Action: toStage, What: first, Reason: cmp.Or(rest, "a person said so")}, nil
	case "now":
		return &event.StudyOrder{Action: toDeliver}, nil
	case "use":
		if rest != "" {
			return nil, errors.New("/use takes the name of one skill")
		}
		return &event.StudyOrder{Action: toUse, What: first}, nil
	case "waive":
		if rest == "" {
			return nil, fmt.Errorf("/waive wants a reason: /waive %s <why>", plain.Brief(first, 40))
		}
		return &event.StudyOrder{Action: toWaive, What: first, Reason: rest}, nil
	}
	return Withdrawal(first)
}

// Withdrawal is the order that takes back a message, by its number.
func Withdrawal(number string) (*event.StudyOrder, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(number, "#"), 10, 53)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("%.40q is not the number of a message", number)
	}
	return &event.StudyOrder{Action: toWithdraw, Message: n}, nil
}

func noSuch(what, given string, known []string) error {
	mean := ""
	if near := plain.Near(given, known); len(near) > 0 {
		mean = " Did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("there is no %s %s: there are %s.%s", what, plain.Quoted(given, 40), strings.Join(known, ", "), mean)
}

// approval says yes: to the question of a number, to the one that is open, or to a card.
func approval(s *quest.State, which string) (event.Body, error) {
	var asks []quest.Question
	for _, q := range s.Open() {
		if yesTo(&q) != "" {
			asks = append(asks, q)
		}
	}
	number := strings.TrimPrefix(which, "#")
	for _, q := range asks {
		if strconv.FormatUint(q.Seq, 10) == number || which == "" && len(asks) == 1 {
			return &event.InteractionAnswered{Interaction: q.Seq, Choice: yesTo(&q)}, nil
		}
	}
	_, err := strconv.ParseUint(number, 10, 64)
	switch {
	case which == "" && len(asks) == 0:
		return nil, errors.New("nothing is asked that yes would be an answer to")
	case which == "":
		var numbers []string
		for _, q := range asks {
			numbers = append(numbers, strconv.FormatUint(q.Seq, 10))
		}
		return nil, fmt.Errorf("several questions are open: say which, %s", strings.Join(numbers, ", "))
	case err == nil:
		return nil, fmt.Errorf("no question %.20s is open that yes would be an answer to", number)
	case !Commanded(s):
		return nil, fmt.Errorf("there is no question %s: /approve says yes to a question, by its number", plain.Quoted(which, 40))
	}
	return &event.StudyOrder{Action: toApprove, What: which}, nil
}

// yesTo is the option of a question that means yes, empty if it has none.
func yesTo(q *quest.Question) string {
	for _, yes := range []string{"yes", "approve", "allow"} {
		for _, o := range q.Body.Options {
			if strings.EqualFold(o, yes) {
				return o
			}
		}
	}
	return ""
}

// removal takes a server from the quest. To add one is more than a word in a conversation: it lets
// agents reach further, and needs the owner (lyceum mcp add, or the API).
func removal(s *quest.State, verb, server string) (event.Body, error) {
	if verb != "remove" || server == "" {
		return nil, fmt.Errorf("/servers lists them, /servers remove <server> takes one away; lyceum mcp add %s <server> adds one", plain.Line(s.Name))
	}
	var names []string
	for _, srv := range s.Servers {
		names = append(names, srv.Name)
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("the quest has no MCP servers")
	case !slices.Contains(names, server):
		return nil, noSuch("server", server, names)
	}
	return &event.McpRemoved{Server: server}, nil
}
