package quest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Spec is a quest.yaml: what a person asks for. Unknown keys are refused.
type Spec struct {
	Name        string `yaml:"name,omitempty" json:"name,omitempty" jsonschema:"name of the quest: 1 to 63 of a-z, 0-9 and -, beginning with a letter or a digit; default: the name of the file's folder"`
	Problem     string `yaml:"problem,omitempty" json:"problem,omitempty" jsonschema:"the question, in Markdown"`
	ProblemFile string `yaml:"problem_file,omitempty" json:"problem_file,omitempty" jsonschema:"a file with the question, beside quest.yaml or below it; instead of problem"`
	Task        string `yaml:"task,omitempty" json:"task,omitempty" jsonschema:"the question of a contract net; instead of problem"`
	Society     string `yaml:"society,omitempty" json:"society,omitempty" jsonschema:"the rules the agents work by: solo (the default), one agent on its own; lab, agents that publish papers, review each other and vote, see docs/lab.md; or contract, a planner, workers that bid, and an auditor, see docs/contract.md"`
	Corpus      string `yaml:"corpus,omitempty" json:"corpus,omitempty" jsonschema:"a folder beside quest.yaml whose .md and .txt files a contract net searches"`
	Audit       string `yaml:"audit,omitempty" json:"audit,omitempty" jsonschema:"how strictly the answer of a contract net is audited: lite, standard (the default) or strict"`
	WaitUntil   string `yaml:"wait_until,omitempty" json:"wait_until,omitempty" jsonschema:"when the work of a contract net begins, such as 2030-01-31T12:00:00Z; default: at once"`
	// Agents is a number or a list, and so read node by node.
	Agents    Agents   `yaml:"agents,omitempty" json:"agents,omitempty" jsonschema:"how many agents a lab has, or groups of agents that differ"`
	Reviewers *int64   `yaml:"reviewers,omitempty" json:"reviewers,omitempty" jsonschema:"how many agents review each paper of a lab, less than there are agents; 0 publishes at once; default: 3, or all others if they are fewer"`
	Decision  string   `yaml:"decision,omitempty" json:"decision,omitempty" jsonschema:"which reviews publish a paper: majority (the default; a tie rejects) or unanimous"`
	Deadline  *int64   `yaml:"review_deadline_turns,omitempty" json:"review_deadline_turns,omitempty" jsonschema:"within how many of its own turns an agent must give a review before another is asked; default 40"`
	Profile   string   `yaml:"profile,omitempty" json:"profile,omitempty" jsonschema:"what the agents are good at, and the computer for that: research (the default of a lab), formal-math, security, arc-agi, code, or one of your own; see docs/lab.md"`
	Model     string   `yaml:"model,omitempty" json:"model,omitempty" jsonschema:"the model, such as script:plan.yaml for a script beside quest.yaml"`
	Tools     []string `yaml:"tools,omitempty" json:"tools,omitempty" jsonschema:"the tools the agents may use, besides those of the society; default: those of the profile, or all of them"`
	Data      string   `yaml:"data,omitempty" json:"data,omitempty" jsonschema:"a folder beside quest.yaml that is copied into each agent's home"`
	// Computer is a word or a mapping, and so read node by node.
	Computer Computer `yaml:"computer,omitempty" json:"computer,omitzero" jsonschema:"the sandboxed machine of each agent: none, auto, bubblewrap, docker, or a mapping with more; default: what the profile says, and none without one"`
	Seed     uint64   `yaml:"seed,omitempty" json:"seed,omitempty" jsonschema:"where the quest's random choices begin; default 0"`
	Thinking *bool    `yaml:"thinking,omitempty" json:"thinking,omitempty" jsonschema:"whether models may think before they answer; default true"`
	Window   int64    `yaml:"window,omitempty" json:"window,omitempty" jsonschema:"how many tokens a request may have, at least 2000; default 200000"`
	// Policies are read node by node, for their form depends on what they are.
	Policies policy.List `yaml:"policies,omitempty" json:"policies,omitempty" jsonschema:"rules that every proposal of an agent must pass: built-in ones with use, threads of your own with steps, and files with more of both; see docs/policies.md"`
	Limits   Bounds      `yaml:"limits,omitempty" json:"limits,omitzero" jsonschema:"where the quest stops by itself"`
}

// Bounds are the limits of a Spec, in the units that people use.
type Bounds struct {
	Share `yaml:",inline"`
	Agent *Share `yaml:"agent,omitempty" json:"agent,omitempty" jsonschema:"what each agent may use of it; its duration is the time that its calls take"`
}

// Share is a set of limits: a quest's, or those of each agent.
type Share struct {
	Cost     *USD      `yaml:"cost,omitempty" json:"cost,omitempty" jsonschema:"US dollars, such as 2.50"`
	Turns    *int64    `yaml:"turns,omitempty" json:"turns,omitempty" jsonschema:"model calls"`
	Tokens   *int64    `yaml:"tokens,omitempty" json:"tokens,omitempty" jsonschema:"tokens read and written by models"`
	Duration *Duration `yaml:"duration,omitempty" json:"duration,omitempty" jsonschema:"running time, such as 90s, 30m or 2h"`
}

// Override takes over the limits that by sets.
func (s *Share) Override(by Share) {
	if by.Cost != nil {
		s.Cost = by.Cost
	}
	if by.Turns != nil {
		s.Turns = by.Turns
	}
	if by.Tokens != nil {
		s.Tokens = by.Tokens
	}
	if by.Duration != nil {
		s.Duration = by.Duration
	}
}

// Override takes over the limits that by sets.
func (b *Bounds) Override(by Bounds) {
	b.Share.Override(by.Share)
	if by.Agent == nil {
		return
	}
	if b.Agent == nil {
		b.Agent = &Share{}
	}
	b.Agent.Override(*by.Agent)
}

// USD is an amount of money in nanodollars, written as a decimal number. It
// never passes through a float.
type USD int64

// ParseUSD reads an amount such as 2.50 or 0.000001.
func ParseUSD(s string) (USD, error) {
	bad := fmt.Errorf("%q is not an amount in US dollars, such as 2.50", s)
	whole, frac, _ := strings.Cut(strings.TrimSpace(s), ".")
	if whole+frac == "" || len(frac) > 9 || len(whole) > 6 {
		return 0, bad
	}
	var n int64
	for _, c := range whole + frac + strings.Repeat("0", 9-len(frac)) {
		if c < '0' || c > '9' {
			return 0, bad
		}
		n = n*10 + int64(c-'0')
	}
	return USD(n), nil
}

func (u USD) String() string {
	s := fmt.Sprintf("%d.%09d", u/1e9, u%1e9)
	s = strings.TrimRight(s, "0")
	if i := strings.IndexByte(s, '.'); len(s)-i < 3 {
		s += "00"[:3-(len(s)-i)]
	}
	return s
}

// UnmarshalYAML implements yaml.NodeUnmarshaler: a node knows where it stands.
func (u *USD) UnmarshalYAML(n ast.Node) (err error) {
	if *u, err = ParseUSD(scalar(n)); err != nil {
		return &fault{keyOf(n), err.Error()}
	}
	return nil
}

// scalar is the text of a value, as it is written or in quotes.
func scalar(n ast.Node) string { return strings.Trim(strings.TrimSpace(n.String()), `"'`) }

// keyOf is the key that a value stands under, with those above it.
func keyOf(n ast.Node) string { return strings.TrimPrefix(n.GetPath(), "$.") }

// MarshalYAML implements yaml.BytesMarshaler.
func (u USD) MarshalYAML() ([]byte, error) { return []byte(u.String()), nil }

// Duration is a span of time in microseconds, written as 90s, 30m or 2h.
type Duration int64

// ParseDuration reads a span such as 1h30m.
func ParseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration, such as 90s, 30m or 2h", s)
	}
	return Duration(d.Microseconds()), nil
}

func (d Duration) String() string { return (time.Duration(d) * time.Microsecond).String() }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *Duration) UnmarshalYAML(n ast.Node) (err error) {
	if *d, err = ParseDuration(scalar(n)); err != nil {
		return &fault{keyOf(n), err.Error()}
	}
	return nil
}

// MarshalYAML implements yaml.BytesMarshaler.
func (d Duration) MarshalYAML() ([]byte, error) { return []byte(d.String()), nil }

// Limits returns the bounds as the rules count them.
func (b Bounds) Limits() event.Limits {
	l := event.Limits{Cost: (*int64)(b.Cost), Duration: (*int64)(b.Duration), Tokens: b.Tokens, Turns: b.Turns}
	if a := b.Agent; a != nil {
		l.Agent = &event.Share{Cost: (*int64)(a.Cost), Duration: (*int64)(a.Duration), Tokens: a.Tokens, Turns: a.Turns}
	}
	return l
}

// ParseSpec reads a quest.yaml strictly. file is its name in errors, which are
// *strictyaml.Error; FieldOf knows the key of those that are about the value of one.
func ParseSpec(file string, data []byte) (*Spec, error) {
	s := new(Spec)
	err := strictyaml.Decode(file, data, s)
	if err == nil {
		if f := s.check(); f != nil {
			err = f
		}
	}
	if f, ok := errors.AsType[*fault](err); ok {
		return nil, &placed{f, &strictyaml.Error{File: file, Line: lineOf(data, f.key), Column: 1, Text: f.text}}
	}
	if e, ok := errors.AsType[*strictyaml.Error](err); ok && strings.HasPrefix(e.Text, "unknown field") {
		e.Text += "; the keys of a quest.yaml are in docs/quest.schema.json"
	}
	if err != nil {
		return nil, strictyaml.InFile(file, err)
	}
	return s, nil
}

// fault is something wrong with the value of a key. A key below others is written with
// dots, such as limits.agent.turns.
type fault struct{ key, text string }

func (f *fault) Error() string { return f.text }

// placed is a fault and where in a file it is.
type placed struct {
	fault *fault
	at    *strictyaml.Error
}

func (p *placed) Error() string   { return p.at.Error() }
func (p *placed) Unwrap() []error { return []error{p.fault, p.at} }

// Fault is what is wrong with the value of a key, for whoever changes a spec.
func Fault(key, format string, args ...any) error { return &fault{key, fmt.Sprintf(format, args...)} }

// FieldOf returns the key of a quest.yaml whose value ParseSpec, Check or Fault says is
// wrong, such as window or limits.turns, and nothing for any other error.
func FieldOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.key
	}
	return ""
}

// Check finds what cannot be meant in a spec that was not read from a file, or has
// been changed since.
func (s *Spec) Check() error {
	if f := s.check(); f != nil {
		return f
	}
	return nil
}

// check finds what is well-formed but cannot be meant.
func (s *Spec) check() *fault {
	switch {
	case s.Name != "" && !event.ValidName(s.Name):
		return &fault{"name", fmt.Sprintf("name %q: want %s", s.Name, event.NameRule)}
	case s.Task != "" && (s.Problem != "" || s.ProblemFile != ""):
		return &fault{"task", "task and problem are both given: keep one"}
	case s.Problem != "" && s.ProblemFile != "":
		return &fault{"problem_file", "problem and problem_file are both given: keep one"}
	case strings.TrimSpace(s.Question()) == "" && s.ProblemFile == "":
		return &fault{"problem", "no question: give problem or problem_file"}
	case s.Window != 0 && s.Window < MinWindow:
		return &fault{"window", fmt.Sprintf("window %d: want at least %d tokens", s.Window, MinWindow)}
	case s.Window > math.MaxInt32:
		return &fault{"window", fmt.Sprintf("window %d: no model reads that much", s.Window)}
	}
	if f := s.checkSociety(); f != nil {
		return f
	}
	if f := s.checkContract(); f != nil {
		return f
	}
	if f := s.Limits.check(); f != nil {
		return f
	}
	seen := map[string]bool{}
	for _, t := range s.Tools {
		if seen[t] {
			return &fault{"tools", fmt.Sprintf("tool %s is listed twice", t)}
		}
		seen[t] = true
	}
	return nil
}

// Check finds limits that cannot be meant. FieldOf knows their keys.
func (b Bounds) Check() error {
	if f := b.check(); f != nil {
		return f
	}
	return nil
}

func (b Bounds) check() *fault {
	f := b.Share.check("limits.")
	if f == nil && b.Agent != nil {
		f = b.Agent.check("limits.agent.")
	}
	return f
}

// check finds a limit that cannot be meant; above are the keys that it stands under.
func (s *Share) check(above string) *fault {
	if d := s.Duration; d != nil && *d > 1<<52 {
		return &fault{above + "duration", fmt.Sprintf("limit of %s: nothing runs that long", *d)}
	}
	if v := s.Turns; v != nil && (*v < 0 || *v > 1<<53) {
		return &fault{above + "turns", fmt.Sprintf("limit of %d turns: want 0 or more, up to 2^53", *v)}
	}
	if v := s.Tokens; v != nil && (*v < 0 || *v > 1<<53) {
		return &fault{above + "tokens", fmt.Sprintf("limit of %d tokens: want 0 or more, up to 2^53", *v)}
	}
	return nil
}

// MinWindow is the smallest window an agent can work in, DefaultWindow what it
// has if the spec does not say.
const (
	MinWindow     = 2000
	DefaultWindow = 200_000
)

// lineOf finds the line of a key, 1 if it is not there. One at the margin is the
// file's own; further in, the word may also stand in the question. One below others is
// looked for behind them.
func lineOf(data []byte, key string) int {
	end := 0
	for word := range strings.SplitSeq(key, ".") {
		word = regexp.QuoteMeta(word)
		var at []int
		if end == 0 {
			at = regexp.MustCompile(`(?m)^` + word + `\s*:`).FindIndex(data)
		}
		if at == nil {
			at = regexp.MustCompile(`(?m)[\s{,]` + word + `\s*:`).FindIndex(data[end:])
		}
		if at == nil {
			break
		}
		end += at[1]
	}
	return 1 + bytes.Count(data[:end], []byte("\n"))
}

// Schema returns the JSON Schema of a quest.yaml.
func Schema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Spec](&jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("schema of quest.yaml: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "quest.yaml"
	s.Description = "A question for Lyceum, and how to work on it."
	limits := s.Properties["limits"]
	for _, l := range []*jsonschema.Schema{limits, limits.Properties["agent"]} {
		l.Properties["cost"] = &jsonschema.Schema{Types: []string{"number", "string"}, Description: l.Properties["cost"].Description}
		l.Properties["duration"] = &jsonschema.Schema{Type: "string", Description: l.Properties["duration"].Description}
	}
	s.Properties["computer"] = computerSchema(s.Properties["computer"].Description)
	s.Properties["policies"] = policySchema(s.Properties["policies"].Description)
	s.Properties["agents"] = agentsSchema(s.Properties["agents"].Description)
	s.Properties["name"].Pattern = namePattern
	s.Properties["profile"].Pattern = namePattern
	s.Properties["society"].Enum = words(Societies)
	s.Properties["decision"].Enum = words(Decisions)
	s.Properties["audit"].Enum = words(Audits)
	reviewers, deadline := s.Properties["reviewers"], s.Properties["review_deadline_turns"]
	*reviewers = jsonschema.Schema{Type: "integer", Minimum: new(0.0), Maximum: new(MaxAgents - 1.0), Description: reviewers.Description}
	*deadline = jsonschema.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(maxDeadline * 1.0), Description: deadline.Description}
	return s, nil
}

// namePattern is what event.ValidName checks.
const namePattern = "^[a-z0-9][a-z0-9-]{0,62}$"

func words(list []string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

// policySchema is the form of a list of policies, as far as a schema can say it:
// what a built-in policy takes, its documentation says.
func policySchema(text string) *jsonschema.Schema {
	var names []any
	for _, b := range policy.Builtins() {
		if b.Name() != "thread" {
			names = append(names, b.Name())
		}
	}
	builtin := &jsonschema.Schema{
		Type: "object", Required: []string{"use"}, Description: "a built-in policy and its settings",
		Properties: map[string]*jsonschema.Schema{"use": {Enum: names}},
	}
	own := &jsonschema.Schema{
		Type: "object", Required: []string{"name", "steps"}, Description: "a thread of your own",
		Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "steps": {Type: "array", Items: &jsonschema.Schema{Type: "object"}}},
	}
	file := &jsonschema.Schema{Type: "string", Description: "a file with a list of policies, beside quest.yaml or below it"}
	return &jsonschema.Schema{Type: "array", Description: text, Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{file, builtin, own}}}
}
