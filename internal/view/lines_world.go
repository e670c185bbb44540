package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// What is said of a world in closed words, as lines that people read.

// placed names a part by its role and name.
func placeLine(at event.WorldPlace) string {
	switch {
	case at.Role != "" && at.Name != "":
		return fmt.Sprintf("%s “%s”", at.Role, at.Name)
	case at.Name != "":
		return "“" + at.Name + "”"
	}
	return at.Role
}

// stepLine is a step in words.
func stepLine(s *event.WorldStep) string {
	at := placeLine(s.At)
	switch s.Do {
	case "type":
		return fmt.Sprintf("type “%s” into %s", s.Text, at)
	case "press":
		if at != "" {
			at = " in " + at
		}
		return "press " + s.Text + at
	case "select":
		return fmt.Sprintf("select “%s” in %s", s.Text, at)
	case "wait":
		return fmt.Sprintf("wait %d ms", s.Milliseconds)
	case "run":
		line := strings.TrimSpace("run " + strings.Join(s.Args, " "))
		if s.Input != "" {
			line += fmt.Sprintf(" with “%s” as input", s.Input)
		}
		return line
	}
	return strings.TrimSpace(s.Do + " " + at)
}

func stepLines(steps []event.WorldStep) []string {
	out := []string{}
	for i := range steps {
		out = append(out, stepLine(&steps[i]))
	}
	return out
}

// conditionLine is a condition in words.
func conditionLine(c *event.WorldCondition) string {
	how := "is"
	if c.How == "contains" {
		how = "contains"
	}
	text := func(what string) string { return fmt.Sprintf("%s %s “%s”", what, how, c.Text) }
	of := func(what string) string {
		if at := placeLine(c.At); at != "" {
			return what + " of " + at
		}
		return what
	}
	var line string
	switch c.Kind {
	case "present", "absent", "checked", "disabled", "focused":
		line = placeLine(c.At) + " is " + c.Kind
	case "count":
		line = fmt.Sprintf("there are %d of %s", c.Number, placeLine(c.At))
	case "exit":
		line = fmt.Sprintf("it exits with %d", c.Number)
	case "file":
		line = text("the file " + c.Path)
		if c.Text == "" {
			line = "there is a file " + c.Path
		}
	default:
		line = text(of(c.Kind))
	}
	if c.Not {
		return "not: " + line
	}
	return line
}

func conditionLines(list []event.WorldCondition) []string {
	out := []string{}
	for i := range list {
		out = append(out, conditionLine(&list[i]))
	}
	return out
}

// structureLines are the parts of a structure, each in a line.
func structureLines(s *event.WorldStructure) []string {
	out := []string{}
	for _, p := range worldParts(s) {
		line := p.kind + " " + p.name + " (" + p.is + ")"
		if p.at != "" {
			line += " at " + p.at
		}
		out = append(out, line)
	}
	for _, l := range s.Loops {
		out = append(out, fmt.Sprintf("loop %s: %s → %s in %s", l.Name, l.Lever, l.Response, l.Channel))
	}
	return out
}

// worldPart is a part of a structure that is no loop.
type worldPart struct{ kind, name, is, at string }

func worldParts(s *event.WorldStructure) (out []worldPart) {
	for _, o := range s.Objects {
		out = append(out, worldPart{"object", o.Name, o.Kind, placeLine(o.At)})
	}
	for _, c := range s.Channels {
		out = append(out, worldPart{"channel", c.Name, c.Kind, placeLine(c.At)})
	}
	for _, l := range s.Levers {
		out = append(out, worldPart{"lever", l.Name, l.Kind + ", " + l.When, placeLine(l.At)})
	}
	for _, b := range s.Blocks {
		out = append(out, worldPart{"block", b.Name, b.Kind, placeLine(b.At)})
	}
	return out
}
