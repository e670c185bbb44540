package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// settings are what a policy is made with. They are pinned as JSON, so their form
// never changes for a version that has been released.
type settings interface {
	// check finds what is well-formed but cannot be meant.
	check() error
	thread() (behavior.Thread, error)
}

// Builtin is a policy that comes with Lyceum.
type Builtin struct {
	// Use is its name and version.
	Use string
	// Text says what it does.
	Text string
	// Always says that every quest has it.
	Always bool

	make func() settings
}

// Name is what a quest.yaml calls it.
func (b Builtin) Name() string {
	name, _, _ := strings.Cut(b.Use, "/")
	return name
}

// Builtins are all policies that come with Lyceum, the newest version of each.
func Builtins() []Builtin { return slices.Clone(builtins) }

var builtins = []Builtin{
	{"budget/1", "No model is called once a limit of the quest or of the agent is reached.", true, func() settings { return &budget{} }},
	{"repetition/1", "An agent that does the same with the same result is warned, and parked if it goes on.", true, func() settings { return &repetition{Warn: 3, Park: 6} }},
	{"whole-answers/1", "An agent whose answers are cut off is warned; one whose answers are cut off, empty or the same, time and again, is parked.", true, func() settings { return &answers{Warn: 3, Park: 6} }},
	{"max-calls/1", "An agent may call tools, or certain of them, so many times for a task.", false, func() settings { return &maxCalls{} }},
	{"same-error/1", "A tool that gives the same error several times is closed until something else has worked.", false, func() settings { return &sameError{Max: 3} }},
	{"allowed-tools/1", "Agents of a role may use certain tools only.", false, func() settings { return &allowedTools{} }},
	{"no-touch/2", "No tool may be given a path in certain folders.", false, func() settings { return &noTouch{wide: true} }},
	{"one-at-a-time/1", "In each of certain folders one tool works at a time; the next waits.", false, func() settings { return &oneAtATime{} }},
	{"analysis-first/1", "What is to be executed must have passed an analysis since it was last changed.", false, func() settings { return &analysisFirst{Artifact: "path"} }},
	{"thread/1", "A thread of the quest's own.", false, func() settings { return &own{} }},
}

// former are older versions, for quests that have pinned them.
var former = []Builtin{
	{"no-touch/1", "No tool may be given a path in certain folders; write_file leaves edit_file open.", false, func() settings { return &noTouch{} }},
}

// settingsOf reads a pinned policy.
func settingsOf(p event.PolicySpec) (settings, error) {
	for _, b := range append(Builtins(), former...) {
		if b.Use != p.Use {
			continue
		}
		s := b.make()
		if p.Settings != "" {
			if err := json.Unmarshal([]byte(p.Settings), s, json.RejectUnknownMembers(true)); err != nil {
				return nil, fmt.Errorf("policy %s: its settings cannot be read: %w", p.Name, err)
			}
		}
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("policy %s: %w", p.Name, err)
		}
		return s, nil
	}
	return nil, &UnknownError{Use: p.Use}
}

// pin writes a policy down as a quest pins it.
func pin(name, use string, s settings) (event.PolicySpec, error) {
	b, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return event.PolicySpec{}, fmt.Errorf("policy %s: %w", name, err)
	}
	return event.PolicySpec{Name: name, Use: use, Settings: string(b)}, nil
}

// MaxSize is how many bytes the policies of a quest may have: they stand in its
// first event.
const MaxSize = 6 << 10

// Complete adds the policies that every quest has to those its author chose. The
// author's settings stand where there are any.
func Complete(chosen []event.PolicySpec) ([]event.PolicySpec, error) {
	var out []event.PolicySpec
	for _, b := range builtins {
		if !b.Always || slices.ContainsFunc(chosen, func(p event.PolicySpec) bool { return p.Use == b.Use }) {
			continue
		}
		p, err := pin(b.Name(), b.Use, b.make())
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	out = append(out, chosen...)
	size := 0
	for i, p := range out {
		if slices.ContainsFunc(out[:i], func(o event.PolicySpec) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("there are two policies named %s: give one of them another name (every quest has budget, repetition and whole-answers)", p.Name)
		}
		size += len(p.Name) + len(p.Use) + 2*len(p.Settings) + 40
	}
	if size > MaxSize {
		return nil, fmt.Errorf("the policies take %d bytes, more than the %d that a quest has room for: shorten them", size, MaxSize)
	}
	return out, nil
}

// budget stands for the limits, which are the quest's own affair: they can be
// raised when it is resumed. What is known of a model call says which is reached.
type budget struct{}

func (*budget) check() error { return nil }

func (*budget) thread() (behavior.Thread, error) {
	over := behavior.Condition{Path: []string{"over", "of"}, In: []behavior.Value{behavior.TextValue("quest"), behavior.TextValue("agent")}}
	return guard("No model is called once a limit is reached.", behavior.Ban{
		Match: &behavior.Pattern{Types: []string{"model.call", "prompt.call", "gateway.call"}, Where: []behavior.Condition{over}},
		Why: func(e behavior.Event) string {
			f := facts(e)
			who := "The quest"
			if f.Over.Of == "agent" {
				who = f.Agent
			}
			return fmt.Sprintf("%s has used %s.", who, f.Over.Figures())
		},
	}), nil
}

// Amount writes a sum of a limit with its unit.
func Amount(limit string, n int64) string {
	switch limit {
	case "cost":
		return "$" + trimmed(fixed(n, 9), 2)
	case "duration":
		return trimmed(fixed(n, 6), 0) + " s"
	case "storage":
		return Room(n)
	}
	return fmt.Sprintf("%d %s", n, limit)
}

// Several writes a number of things: 1 call, 2 calls. What Amount writes stands in ledgers, and knows
// no singular.
func Several(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Room writes a number of bytes for people, in MiB and tenths of them; less is written out.
func Room(n int64) string {
	const tenth = 1 << 20 / 10
	if n < tenth {
		return fmt.Sprintf("%d bytes", n)
	}
	return trimmed(fixed(n/tenth, 1), 0) + " MiB"
}

// trimmed cuts zeros behind the point, but keeps some places.
func trimmed(s string, places int) string {
	point := strings.IndexByte(s, '.')
	for len(s) > point+1+places && strings.HasSuffix(s, "0") {
		s = s[:len(s)-1]
	}
	return strings.TrimSuffix(s, ".")
}

// allowedTools lets a role use certain tools only.
type allowedTools struct {
	Role  string   `json:"role" yaml:"role"`
	Tools []string `json:"tools" yaml:"tools"`
}

func (s *allowedTools) check() error {
	switch {
	case s.Role == "":
		return errors.New("role: name the agents it is for, such as agent or executor")
	case s.Tools == nil:
		return errors.New("tools: list those that are allowed; [] allows none")
	}
	return nil
}

func (s *allowedTools) thread() (behavior.Thread, error) {
	allowed := "none"
	if len(s.Tools) > 0 {
		allowed = list(s.Tools)
	}
	return guard(fmt.Sprintf("%s may use these tools only: %s.", s.Role, allowed), behavior.Ban{
		Match: when{"tool.call where role = " + s.Role + " and tool is none of " + allowed, func(e behavior.Event) bool {
			f := facts(e)
			return e.Type == "tool.call" && (Role(f.Agent) == s.Role || f.Agent == s.Role) && !slices.Contains(s.Tools, f.Tool)
		}},
		Why: func(e behavior.Event) string {
			return fmt.Sprintf("You, as %s, may not use %s. You may use: %s.", s.Role, toolName(facts(e)), allowed)
		},
	}), nil
}

// own is a thread that the quest's author wrote.
type own struct{ behavior.Definition }

func (s *own) check() error {
	if err := s.Definition.Check(); err != nil {
		return err
	}
	if s.Per != "" {
		if err := checkField(s.Per); err != nil {
			return err
		}
	}
	rests := false
	for i, p := range s.Steps {
		if err := checkPoint(p); err != nil {
			return &stepError{i, err}
		}
		rests = rests || len(p.Request) == 0
	}
	if s.Repeat && !rests {
		return errors.New("it repeats and only requests: it would do so without end; let one of its steps wait")
	}
	return nil
}

// stepError says which step of a thread is wrong.
type stepError struct {
	step int
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("step %d: %v", e.step+1, e.err) }

func checkPoint(p behavior.Point) error {
	for _, list := range [][]behavior.PatternDef{p.Wait, p.Block, p.Ask, p.Interrupt} {
		for _, pattern := range list {
			if err := checkPattern(pattern); err != nil {
				return err
			}
		}
	}
	for _, b := range slices.Concat(p.Block, p.Ask) {
		for _, t := range b.Types {
			if t != "*" && !event.Type(t).Proposal() {
				return fmt.Errorf("%s cannot be blocked: it is not a proposal; those are %s", t, list(Proposals()))
			}
		}
	}
	for _, r := range p.Request {
		d, err := behavior.JSONDetail(r.Detail)
		if r.Type != "message.sent" || err != nil || d.Field(fieldText).Kind != behavior.Text || d.Field(fieldText).Text == "" {
			return errors.New("a policy can request one thing: a message.sent with a text, and to whom")
		}
	}
	return nil
}

// checkPattern refuses what no event is or has: a guard that waits for it would
// never do anything.
func checkPattern(p behavior.PatternDef) error {
	for _, t := range p.Types {
		if t != "*" && event.New(event.Type(t)) == nil {
			return fmt.Errorf("there is no event %.40q; docs/events.md has them all", t)
		}
	}
	for _, c := range p.Where {
		if err := checkField(c.Path); err != nil {
			return err
		}
	}
	return nil
}

// checkField refuses a field that no event has: a guard that asks for it would
// never block anything.
func checkField(path string) error {
	name, rest, nested := strings.Cut(path, ".")
	if !slices.Contains(Fields, name) {
		return fmt.Errorf("there is no field %.40q; there are %s", name, list(Fields))
	}
	inner := map[string][]string{
		"spent": {"cost", "duration", "storage", "tokens", "turns"}, "agent_spent": {"cost", "duration", "storage", "tokens", "turns"}, "over": {"limit", "of"},
	}[name]
	switch {
	case name == "args" || name == "output":
	case inner == nil && nested:
		return fmt.Errorf("the field %s has nothing in it: %.40q means nothing", name, path)
	case inner != nil && !slices.Contains(inner, rest):
		return fmt.Errorf("there is no field %.40q; of %s there are %s", path, name, list(inner))
	}
	return nil
}

// defers reports whether it may tell a proposal to wait.
func (s *own) defers() bool {
	return slices.ContainsFunc(s.Steps, func(p behavior.Point) bool {
		return slices.ContainsFunc(p.Block, func(b behavior.PatternDef) bool { return b.Later })
	})
}

// thread makes a block of everything one of every proposal: what has happened
// cannot be blocked.
func (s *own) thread() (behavior.Thread, error) {
	d := s.Definition
	d.Steps = slices.Clone(d.Steps)
	for i := range d.Steps {
		for _, list := range []*[]behavior.PatternDef{&d.Steps[i].Block, &d.Steps[i].Ask} {
			*list = slices.Clone(*list)
			for j := range *list {
				if b := &(*list)[j]; slices.Contains(b.Types, "*") {
					b.Types = Proposals()
				}
			}
		}
	}
	return d.Thread()
}

// guard is a thread that always blocks the same.
func guard(text string, bans ...behavior.Ban) behavior.Thread {
	scope := make(behavior.Any, len(bans))
	for i, b := range bans {
		scope[i] = b.Match
	}
	return behavior.Thread{Text: text, Scope: scope, Start: func() behavior.Behavior { return still{bans} }}
}

type still struct{ bans []behavior.Ban }

func (s still) Bids() behavior.Bids    { return behavior.Bids{Block: s.bans} }
func (still) Next(behavior.Event) bool { return true }
func (still) Save() string             { return "" }
func (still) Restore(string) error     { return nil }

// when is a matcher with its own words.
type when struct {
	text string
	f    func(behavior.Event) bool
}

func (w when) String() string { return w.text }

func (w when) Match(e behavior.Event) behavior.Truth {
	if w.f(e) {
		return behavior.Yes
	}
	return behavior.No
}
