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
	result, last, seen       *regexp.Regexp
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
	groups, ok := c.said(r)
	if !ok || c.tool == "" && c.result == nil {
		return groups, ok
	}
	for _, p := range results(r) {
		if c.tool != "" && toolOf(r, p) != c.tool {
			continue
		}
		if c.result == nil {
			return groups, true
		}
		if m := c.result.FindStringSubmatchIndex(p.Text); m != nil {
			if c.seen == nil {
				groups = captured(c.result, p.Text, m)
			}
			return groups, true
		}
	}
	return nil, false
}

// said matches what the last message says, and what any of them does: the newest that matches.
func (c *condition) said(r *model.Request) (groups map[string]string, ok bool) {
	if c.last != nil {
		if groups, ok = find(c.last, r, len(r.Messages)-1); !ok {
			return nil, false
		}
	}
	if c.seen == nil {
		return groups, true
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if groups, ok := find(c.seen, r, i); ok {
			return groups, true
		}
	}
	return nil, false
}

// find matches the texts of a message.
func find(re *regexp.Regexp, r *model.Request, i int) (map[string]string, bool) {
	text := textOf(r, i)
	m := re.FindStringSubmatchIndex(text)
	if m == nil {
		return nil, false
	}
	return captured(re, text, m), true
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

func parts(r *model.Request, i int) []model.Part {
	if i < 0 || i >= len(r.Messages) {
		return nil
	}
	return r.Messages[i].Parts
}

// textOf is what a message says, its tool results included.
func textOf(r *model.Request, i int) string {
	var texts []string
	for _, p := range parts(r, i) {
		if p.Kind == event.PartText || p.Kind == model.PartToolResult {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func results(r *model.Request) []model.Part {
	var list []model.Part
	for _, p := range parts(r, len(r.Messages)-1) {
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
