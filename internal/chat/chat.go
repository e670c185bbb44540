// Package chat is what people say to a quest besides words: commands that begin with a slash.
//
// Parse tells a command from words, and Do carries it out: as an order that goes through the
// quest's inbox like any other, or with an answer from the views. No model reads a command or
// answers one, so a command costs nothing and works while nobody runs the quest. What is no
// command is refused with the list of those there are, and never said to an agent by mistake;
// words that begin with a slash are written with two.
package chat

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// Command is one that somebody gave.
type Command struct {
	Name string
	Args string
}

// Looks reports whether a command changes nothing.
func (c *Command) Looks() bool { return answers[c.Name] != nil && c.Args == "" }

// Info is what there is to know of a command.
type Info struct {
	Name string
	// Hint says what follows the name, empty if nothing does.
	Hint  string
	About string
	// Study says that only a study has a use for it; needs, that there must be arguments.
	Study bool
	needs bool
}

// Commands are all there are.
var Commands = []Info{
	{Name: "help", About: "these commands"},
	{Name: "status", About: "how the quest stands"},
	{Name: "stage", Hint: "[stage [why]]", About: "the stages so far; or go to another one", Study: true},
	{Name: "plan", About: "what is planned, and how far it is"},
	{Name: "graph", About: "what has come of it, and how it hangs together"},
	{Name: "summary", About: "the answer, or what was said last"},
	{Name: "metrics", About: "what it has used so far"},
	{Name: "pause", About: "pause the quest: what is under way comes in"},
	{Name: "resume", About: "go on"},
	{Name: "stop", About: "stop the quest"},
	{Name: "approve", Hint: "[question or card]", About: "say yes to what is asked, or to a card for all studies"},
	{Name: "servers", Hint: "[remove <server>]", About: "the MCP servers of the quest; or take one from it"},
	{Name: "now", About: "cut the turn short, and deliver what waits", Study: true},
	{Name: "use", Hint: "<skill>", About: "work by a skill in the next sitting", Study: true, needs: true},
	{Name: "withdraw", Hint: "<message>", About: "take back a message that was not delivered", Study: true, needs: true},
	{Name: "waive", Hint: "<condition> <why>", About: "go forward without what a stage needs", Study: true, needs: true},
}

// studies are the societies to which all that begins with a slash is a command.
var studies = map[string]bool{"stages": true}

// Commanded reports whether what begins with a slash is a command to a quest of this society. To
// others it is words, wherever people have no way to see the difference.
func Commanded(s *quest.State) bool { return studies[s.Society()] }

// Parse tells a command from words: cmd is nil for those. Words that begin with two slashes are
// said with one.
func Parse(text string) (cmd *Command, words string, err error) {
	rest, ok := strings.CutPrefix(text, "/")
	switch {
	case !ok:
		return nil, text, nil
	case strings.HasPrefix(rest, "/"):
		return nil, rest, nil
	}
	name, args := rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	i := slices.IndexFunc(Commands, func(c Info) bool { return c.Name == strings.ToLower(name) })
	if i < 0 {
		return nil, "", unknown(name)
	}
	switch c := &Commands[i]; {
	case c.Hint == "" && args != "":
		return nil, "", fmt.Errorf("/%s takes nothing after it; to say it in words, begin with two slashes", c.Name)
	case c.needs && args == "":
		return nil, "", fmt.Errorf("/%s wants more: /%s %s", c.Name, c.Name, c.Hint)
	}
	return &Command{Name: Commands[i].Name, Args: args}, "", nil
}

func unknown(name string) error {
	var names []string
	for _, c := range Commands {
		names = append(names, c.Name)
	}
	mean := "."
	if near := plain.Near(name, names); len(near) > 0 {
		mean = "; did you mean /" + strings.Join(near, " or /") + "?"
	}
	return fmt.Errorf("there is no command /%s%s The commands are /%s. To say it in words, begin with two slashes",
		plain.Brief(name, 40), mean, strings.Join(names, " /"))
}
