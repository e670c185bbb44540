package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
)

// introduction says what the structs do not: the envelope, the canonical form
// and the chain.
//
//go:embed introduction.md
var introduction string

func (c *catalogue) markdown() []byte {
	p := &page{shared: map[string]structure{}}
	for _, s := range c.shared {
		p.shared[s.name] = s
	}
	p.printf("%s\n\n", strings.TrimSpace(strings.Replace(introduction, "SAMPLE", c.sample, 1)))
	p.contents(c.events)
	noun := ""
	for _, e := range c.events {
		if e.noun() != noun {
			noun = e.noun()
			p.printf("## Events of %s\n\n", noun)
		}
		p.event(e)
	}
	p.printf("## Shared structures\n\n")
	for _, s := range c.shared {
		p.structure(s)
	}
	return append(bytes.TrimRight(p.Bytes(), "\n"), '\n')
}

type page struct {
	bytes.Buffer
	shared map[string]structure
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) contents(events []eventType) {
	p.printf("## All types\n\n| type | origin | says |\n|---|---|---|\n")
	for _, e := range events {
		p.printf("| [`%s`](#%s) | %s | %s |\n", e.name, anchor(e.name), e.origin(), cell(firstSentence(e.body.doc)))
	}
	p.printf("\n")
}

func (e eventType) origin() string {
	if e.input {
		return "input"
	}
	return "derived"
}

func (p *page) event(e eventType) {
	p.printf("### %s\n\n*%s*\n\n%s\n\n", e.name, strings.ToUpper(e.origin()[:1])+e.origin()[1:], e.body.doc)
	p.members(e.body.members)
}

func (p *page) structure(s structure) {
	p.printf("### %s\n\n%s\n\n", s.name, s.doc)
	if s.scalar != "" {
		p.printf("%s\n\n", s.scalar)
		return
	}
	p.members(s.members)
}

func (p *page) members(members []member) {
	if len(members) == 0 {
		p.printf("No members.\n\n")
		return
	}
	p.printf("| member | kind | optional | meaning |\n|---|---|---|---|\n")
	for _, m := range members {
		optional := ""
		if m.optional {
			optional = "yes"
		}
		p.printf("| `%s` | %s | %s | %s |\n", m.name, p.words(m.kind), optional, cell(m.doc))
	}
	p.printf("\n")
}

// words says a kind in JSON's terms, with a link to the structure it has.
func (p *page) words(k kind) string {
	kind := k.plain
	if k.named != "" {
		kind = "object"
		if p.shared[k.named].scalar != "" {
			kind = "string"
		}
	}
	if k.array {
		kind = "array of " + kind + "s"
	}
	if k.named != "" {
		kind += fmt.Sprintf(", [%s](#%s)", k.named, anchor(k.named))
	}
	return kind
}

// anchor is the fragment that renderers of Markdown give a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), ".", "")
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func firstSentence(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
