package script

import (
	"regexp"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// condition says which requests a rule is for. What is not set does not matter.
type condition struct {
	turn, from, until, every int64
	agent, tool              string
	result, last             *regexp.Regexp
}

// match reports whether r is meant, and what the groups of its expressions
// caught, by number and by name.
func (c *condition) match(r *model.Request) (map[string]string, bool) {
	switch {
	case c.turn != 0 && r.Turn != c.turn,
		c.from != 0 && r.Turn < c.from,
		c.until != 0 && r.Turn > c.until,
		c.every != 0 && r.Turn%c.every != 0,
		c.agent != "" && r.Agent != c.agent:
		return nil, false
	}
	var groups map[string]string
	if c.last != nil {
		text := lastText(r)
		m := c.last.FindStringSubmatchIndex(text)
		if m == nil {
			return nil, false
		}
		groups = captured(c.last, text, m)
	}
	if c.tool == "" && c.result == nil {
		return groups, true
	}
	for _, p := range results(r) {
		if c.tool != "" && toolOf(r, p) != c.tool {
			continue
		}
		if c.result == nil {
			return groups, true
		}
		if m := c.result.FindStringSubmatchIndex(p.Text); m != nil {
			return captured(c.result, p.Text, m), true
		}
	}
	return nil, false
}

func captured(re *regexp.Regexp, text string, m []int) map[string]string {
	groups := make(map[string]string)
	for i, name := range re.SubexpNames() {
		if m[2*i] < 0 {
			continue
		}
		groups[strconv.Itoa(i)] = text[m[2*i]:m[2*i+1]]
		if name != "" {
			groups[name] = text[m[2*i]:m[2*i+1]]
		}
	}
	return groups
}

func lastParts(r *model.Request) []model.Part {
	if len(r.Messages) == 0 {
		return nil
	}
	return r.Messages[len(r.Messages)-1].Parts
}

// lastText is what the last message says, its tool results included.
func lastText(r *model.Request) string {
	var texts []string
	for _, p := range lastParts(r) {
		if p.Kind == event.PartText || p.Kind == model.PartToolResult {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func results(r *model.Request) []model.Part {
	var list []model.Part
	for _, p := range lastParts(r) {
		if p.Kind == model.PartToolResult {
			list = append(list, p)
		}
	}
	return list
}

// toolOf returns the tool that a result is of. A result that does not say so is
// joined with its call.
func toolOf(r *model.Request, result model.Part) string {
	if result.Name != "" {
		return result.Name
	}
	for i := len(r.Messages) - 2; i >= 0; i-- {
		for _, p := range r.Messages[i].Parts {
			if p.Kind == event.PartToolCall && p.ID == result.ID {
				return p.Name
			}
		}
	}
	return ""
}
