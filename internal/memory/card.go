// Package memory keeps the cards that studies offer to all others of a home: Markdown files with
// front matter, in a folder for each kind, named by their ids.
//
// A file is written whole and is durable before anybody is told of it; one process writes at a
// time. Writing the same revision again changes nothing, so a call that a crash interrupted is
// made again without harm. A person's approval is a line of the file, and holds for the revision
// that stands there.
//
// People may edit, copy and remove these files, and anybody may have put them there: what is too
// large, a link, or not in the form of a card is left out with a reason and harms no other.
// What cards say is data, for whoever reads it.
package memory

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/strictyaml"
)

// The bounds of a card.
const (
	maxFile  = 32 << 10
	maxText  = 8000
	maxTitle = 200
	maxTags  = 10
	maxWord  = 300
)

// Card is a card of a home, as its file has it.
type Card struct {
	ID, Kind, Title, Quest, Stage, Origin string
	Tags                                  []string
	Revision                              int64
	Created, Updated                      event.Time
	// Approved is when a person let this revision into other studies' prompts, and Approver
	// who; zero and empty, if nobody has.
	Approved event.Time
	Approver string
	Text     string
	// Path is where the file is, below the folder of the cards.
	Path string

	data []byte // the file without its approval
}

// front is the front matter of a card.
type front struct {
	ID       string   `yaml:"id"`
	Kind     string   `yaml:"kind"`
	Title    string   `yaml:"title"`
	Scope    string   `yaml:"scope"`
	Quest    string   `yaml:"quest"`
	Tags     []string `yaml:"tags"`
	Stage    string   `yaml:"stage"`
	Created  string   `yaml:"created"`
	Updated  string   `yaml:"updated"`
	Revision int64    `yaml:"revision"`
	Origin   string   `yaml:"origin"`
	Approved string   `yaml:"approved"`
	Approver string   `yaml:"approver"`
}

// Parse reads a card. at is its file's name, for people.
func Parse(at string, data []byte) (*Card, error) {
	wrong := func(format string, args ...any) error {
		return &strictyaml.Error{File: at, Text: fmt.Sprintf(format, args...)}
	}
	head, text, ok := split(data)
	switch {
	case len(data) > maxFile:
		return nil, wrong("it has more than %d bytes", maxFile)
	case !utf8.Valid(data):
		return nil, wrong("it is not UTF-8 text")
	case !ok:
		return nil, wrong("it has no front matter: a card begins with a line ---, and another one ends it")
	}
	var f front
	if err := strictyaml.Decode(at, []byte(head), &f); err != nil {
		return nil, err
	}
	c := &Card{
		ID: f.ID, Kind: f.Kind, Title: f.Title, Quest: f.Quest, Stage: f.Stage, Origin: f.Origin, Tags: f.Tags, Revision: f.Revision,
		Approver: f.Approver, Text: strings.TrimSpace(text), data: join(unapproved(head), text),
	}
	for _, t := range []struct {
		to   *event.Time
		from string
	}{{&c.Created, f.Created}, {&c.Updated, f.Updated}, {&c.Approved, f.Approved}} {
		if t.from == "" && t.to == &c.Approved {
			continue
		}
		if err := t.to.UnmarshalText([]byte(t.from)); err != nil {
			return nil, wrong("%v", err)
		}
	}
	if bad := c.check(f.Scope); bad != "" {
		return nil, wrong("%s", bad)
	}
	return c, nil
}

// check says what is wrong with a card, empty for nothing.
func (c *Card) check(scope string) string {
	odd := func(s string) bool { return s == "" || len(s) > maxWord || plain.Papers.In(s) }
	switch {
	case !paper.IsRef(c.ID):
		return fmt.Sprintf("id: %.40q is none: it has 32 digits, 0 to 9 and a to f", c.ID)
	case !slices.Contains(study.CardKinds, c.Kind):
		return fmt.Sprintf("kind: there is no %.40q: there are %s", c.Kind, strings.Join(study.CardKinds, ", "))
	case odd(c.Title) || event.Weight(c.Title) > maxTitle:
		return fmt.Sprintf("title: want one line of 1 to %d bytes", maxTitle)
	case scope != "global":
		return fmt.Sprintf("scope: it is %.40q: cards of a home are global", scope)
	case odd(c.Quest) || odd(c.Origin):
		return "quest and origin: each must be one line, and say whose the card is"
	case !slices.Contains(study.Anchors, c.Stage):
		return fmt.Sprintf("stage: there is no %.40q", c.Stage)
	case len(c.Tags) > maxTags || slices.ContainsFunc(c.Tags, odd):
		return fmt.Sprintf("tags: want at most %d, each one line", maxTags)
	case c.Revision < 1:
		return "revision: they count from 1"
	case (c.Approved != 0) != (c.Approver != "") || c.Approver != "" && odd(c.Approver):
		return "approved and approver belong together"
	case c.Text == "" || event.Weight(c.Text) > maxText:
		return fmt.Sprintf("the text has %d bytes: want 1 to %d", event.Weight(c.Text), maxText)
	}
	return ""
}

// split parts a file into its front matter and its text.
func split(data []byte) (head, text string, ok bool) {
	rest, ok := strings.CutPrefix(string(data), "---\n")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "\n---\n")
}

func join(head, text string) []byte { return []byte("---\n" + head + "\n---\n" + text) }

// unapproved is front matter without a person's approval.
func unapproved(head string) string {
	lines := slices.DeleteFunc(strings.Split(head, "\n"), func(l string) bool {
		return strings.HasPrefix(l, "approved:") || strings.HasPrefix(l, "approver:")
	})
	return strings.Join(lines, "\n")
}

// approved is the file of the card with a person's approval.
func (c *Card) approved(by string, at event.Time) []byte {
	head, text, _ := split(c.data)
	return join(fmt.Sprintf("%s\napproved: %s\napprover: %s", head, at, paper.Quote(by)), text)
}

// file is where a card lies below the folder of the home's cards.
func (c *Card) file() string {
	return filepath.FromSlash((&study.Card{ID: c.ID, Kind: c.Kind, Title: c.Title}).File())
}

// Whole is the card for whoever reads it, without what people would not see.
func (c *Card) Whole() string { return plain.Told(string(c.data), 0) }

// Home is the card as an event has it.
func (c *Card) Home() event.HomeCard {
	return event.HomeCard{ID: c.ID, Kind: c.Kind, Quest: c.Quest, Title: plain.Told(c.Title, 0), Summary: study.Summary(plain.Told(c.Text, 0))}
}

// same reports whether two files differ in nothing but their approval.
func (c *Card) same(o *Card) bool { return bytes.Equal(c.data, o.data) }
