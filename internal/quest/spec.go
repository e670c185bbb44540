package quest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/policy"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Spec is a quest.yaml: what a person asks for. Unknown keys are refused.
type Spec struct {
	Name        string `yaml:"name,omitempty" json:"name,omitempty" jsonschema:"name of the quest: 1 to 63 of a-z, 0-9 and -, beginning with a letter or a digit; default: the name of the file's folder"`
	Problem     string `yaml:"problem,omitempty" json:"problem,omitempty" jsonschema:"the question, in Markdown"`
	ProblemFile string `yaml:"problem_file,omitempty" json:"problem_file,omitempty" jsonschema:"a file with the question, beside quest.yaml or below it; instead of problem"`
	Society     string `yaml:"society,omitempty" json:"society,omitempty" jsonschema:"the rules the agents work by"`
	// Agents is a number or a list, and so read node by node.
	Agents  Agents `yaml:"agents,omitempty" json:"agents,omitempty" jsonschema:"how many agents there are, or groups of agents that differ"`
	Profile string `yaml:"profile,omitempty" json:"profile,omitempty" jsonschema:"what the agents are good at, and the computer for that: research, formal-math, security, arc-agi, code, or one of your own; see lyceum profile list"`
	Model   string `yaml:"model,omitempty" json:"model,omitempty" jsonschema:"the model, such as script:plan.yaml for a script beside quest.yaml"`
	// Executor is whom the agents are, instead of their model alone.
	Executor string `yaml:"executor,omitempty" json:"executor,omitempty" jsonschema:"the coding agent that acts, in the agents' computers, with the model behind a gateway: builtin, claude, codex, gemini, goose, opencode, qwen, or one of config.yaml; see docs/executors.md; default: Lyceum's own agents"`
	// PermissionTimeout is for what executors want to do themselves.
	PermissionTimeout *Duration `yaml:"permission_timeout,omitempty" json:"permission_timeout,omitempty" jsonschema:"how long an executor waits for your yes to what it wants to do by itself, where a policy has you asked: from 1s to 24h; then it is a no; default 10m"`
	Tools             []string  `yaml:"tools,omitempty" json:"tools,omitempty" jsonschema:"the tools the agents may use, besides those of the society; default: those of the profile, or all of them"`
	Data              string    `yaml:"data,omitempty" json:"data,omitempty" jsonschema:"a folder beside quest.yaml that is copied into each agent's home"`
	// Repo, Base, Prepare and Deliver are for what agents work on and what becomes of it.
	Repo    string `yaml:"repo,omitempty" json:"repo,omitempty" jsonschema:"a git repository or folder that agents work on: quest.yaml's own folder (.) or one below it; each agent's home begins with its files; see docs/deliver.md"`
	Base    string `yaml:"base,omitempty" json:"base,omitempty" jsonschema:"the commit of repo that agents begin with, by any name that git knows; default HEAD; worktree takes changes that are not committed"`
	Prepare string `yaml:"prepare,omitempty" json:"prepare,omitempty" jsonschema:"a shell command that runs once, with the network of computer, in the home that every agent begins with"`
	Deliver string `yaml:"deliver,omitempty" json:"deliver,omitempty" jsonschema:"branch: have what an agent changed made a branch of repo (lyceum/ and the quest's name) when the quest has its answer; default: only lyceum deliver does that"`
	// Discover is for quests with many tools.
	Discover bool `yaml:"discover,omitempty" json:"discover,omitempty" jsonschema:"whether agents begin with the eight of the servers' tools that fit the question best, and find others with the tool search_tools, instead of being shown all of them; for agents without roles of their own; see docs/tools.md; default false"`
	// Cache is for quests that are asked again.
	Cache string `yaml:"cache,omitempty" json:"cache,omitempty" jsonschema:"whether an answer that a model gave in another quest of this home during the last 24 hours may be taken instead of a new one, at no cost: exact for the same request, near also for the same question in slightly other words; never where an answer counts as a sample; see docs/models.md; default: every answer is new"`
	// Relations is for work of many steps.
	Relations bool `yaml:"relations,omitempty" json:"relations,omitempty" jsonschema:"whether agents note plans, steps, files and how they belong together with the tools relate, unrelate and relations; for agents without roles of their own; see docs/tools.md; default false"`
	MayAsk    bool `yaml:"may_ask,omitempty" json:"may_ask,omitempty" jsonschema:"whether agents may ask you something while they work, with the tool ask_person; see docs/questions.md; default false"`
	// MCP is read node by node.
	MCP setting.Servers `yaml:"mcp,omitempty" json:"mcp,omitempty" jsonschema:"MCP servers whose tools the agents get, by name, each with run or url; see docs/protocols.md"`
	// Computer is a word or a mapping, and so read node by node.
	Computer Computer `yaml:"computer,omitempty" json:"computer,omitzero" jsonschema:"the sandboxed machine of each agent: none, auto, namespaces, bubblewrap, docker, or a mapping with more; default: what the profile says, and none without one"`
	Seed     uint64   `yaml:"seed,omitempty" json:"seed,omitempty" jsonschema:"where the quest's random choices begin; default 0"`
	// Thinking is a word, a number or a truth, and so read node by node.
	Thinking Thinking `yaml:"thinking,omitempty" json:"thinking,omitempty" jsonschema:"how much models think before they answer: none, low, medium, high, or a number of tokens; true, the default, leaves it to the provider, and false is none"`
	// MaxOutput is how many tokens an answer may have, 0 what the provider takes.
	MaxOutput int64   `yaml:"max_output,omitempty" json:"max_output,omitempty" jsonschema:"how many tokens an answer may have, thoughts included, at least 256; default: what the provider takes, and more once an answer was cut off"`
	Window    int64   `yaml:"window,omitempty" json:"window,omitempty" jsonschema:"how many tokens a request may have, at least 2000; default: what the model can see, at most 200000"`
	Context   string  `yaml:"context,omitempty" json:"context,omitempty" jsonschema:"what becomes of the oldest messages when an agent's window is full: cut (the default) takes them away, compact has the model sum them up first"`
	Prompts   Prompts `yaml:"prompts,omitempty" json:"prompts,omitempty" jsonschema:"texts of your own in the place of those that agents are told, each a file beside quest.yaml or below it, by the names of docs/prompts.md"`
	// Policies are read node by node, for their form depends on what they are.
	Policies policy.List `yaml:"policies,omitempty" json:"policies,omitempty" jsonschema:"rules that every proposal of an agent must pass: built-in ones with use, threads of your own with steps, and files with more of both; see docs/policies.md"`
	Limits   Bounds      `yaml:"limits,omitempty" json:"limits,omitzero" jsonschema:"where the quest stops by itself"`
	// Keys are those of societies, which know how they are read.
	Keys Keys `yaml:"-" json:"-"`
}

// MarshalYAML implements yaml.InterfaceMarshaler: the keys of societies stand beside all
// others.
func (s Spec) MarshalYAML() (any, error) {
	type common Spec // without this method
	return struct {
		common `yaml:",inline"`
		Keys   Keys `yaml:",inline"`
	}{common(s), s.Keys}, nil
}

// Bounds are the limits of a Spec, in the units that people use.
type Bounds struct {
	Share `yaml:",inline"`
	Agent *Share `yaml:"agent,omitempty" json:"agent,omitempty" jsonschema:"what each agent may use of it; its duration is the time that its calls take"`
	// Strict is set when a quest is made, and never again.
	Strict bool `yaml:"strict,omitempty" json:"strict,omitempty" jsonschema:"whether calls under way may not pass the limits on cost and tokens either: the most that a call can use is reserved before it is made, and agents wait for each other near the limit; default false"`
}

// Share is a set of limits: a quest's, or those of each agent.
type Share struct {
	Cost     *USD      `yaml:"cost,omitempty" json:"cost,omitempty" jsonschema:"US dollars, such as 2.50"`
	Turns    *int64    `yaml:"turns,omitempty" json:"turns,omitempty" jsonschema:"model calls"`
	Tokens   *int64    `yaml:"tokens,omitempty" json:"tokens,omitempty" jsonschema:"tokens read and written by models"`
	Duration *Duration `yaml:"duration,omitempty" json:"duration,omitempty" jsonschema:"running time, such as 90s, 30m or 2h"`
	Storage  *Size     `yaml:"storage,omitempty" json:"storage,omitempty" jsonschema:"room on the disk for what is kept of agents' files, outputs and results, such as 500MiB or 4GiB, as it is first stored, large files before they are packed; default 20GiB for the quest and 2GiB for each agent"`
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
	if by.Storage != nil {
		s.Storage = by.Storage
	}
}

// Override takes over the limits that by sets.
func (b *Bounds) Override(by Bounds) {
	b.Share.Override(by.Share)
	b.Strict = b.Strict || by.Strict
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
		return Fault(keyOf(n), "%v", err)
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
		return Fault(keyOf(n), "%v", err)
	}
	return nil
}

// MarshalYAML implements yaml.BytesMarshaler.
func (d Duration) MarshalYAML() ([]byte, error) { return []byte(d.String()), nil }

// Size is a number of bytes, written as 500MiB or 4GiB.
type Size int64

func (s Size) String() string { return strictyaml.FormatSize(int64(s)) }

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *Size) UnmarshalYAML(n ast.Node) error {
	v, err := strictyaml.ParseSize(scalar(n))
	if err != nil {
		return Fault(keyOf(n), "%v", err)
	}
	*s = Size(v)
	return nil
}

// MarshalYAML implements yaml.BytesMarshaler.
func (s Size) MarshalYAML() ([]byte, error) { return []byte(s.String()), nil }

// Limits returns the bounds as the rules count them.
func (b Bounds) Limits() event.Limits {
	l := event.Limits{Cost: (*int64)(b.Cost), Duration: (*int64)(b.Duration), Storage: (*int64)(b.Storage), Strict: b.Strict, Tokens: b.Tokens, Turns: b.Turns}
	if a := b.Agent; a != nil {
		l.Agent = &event.Share{Cost: (*int64)(a.Cost), Duration: (*int64)(a.Duration), Storage: (*int64)(a.Storage), Tokens: a.Tokens, Turns: a.Turns}
	}
	return l
}

// fault is something wrong with the value of a key. A key below others is written with
// dots, such as limits.agent.turns. word is what is wrong in the value, if that is one of
// several things, such as a name in a list.
type fault struct{ key, word, text string }

func (f *fault) Error() string { return f.text }

// placed is a fault and where in a file it is.
type placed struct {
	fault *fault
	at    *strictyaml.Error
}

func (p *placed) Error() string   { return p.at.Error() }
func (p *placed) Unwrap() []error { return []error{p.fault, p.at} }

// Fault is what is wrong with the value of a key, for whoever changes a spec.
func Fault(key, format string, args ...any) error { return FaultIn(key, "", format, args...) }

// FaultIn is a Fault of one word in the value of a key, such as a name in a list.
func FaultIn(key, word, format string, args ...any) error {
	return &fault{key, word, fmt.Sprintf(format, args...)}
}

// Placed gives a Fault its place in the quest.yaml that it is about. What has a place, and
// what is no fault of a key, stays as it is.
func Placed(file string, data []byte, err error) error {
	f, ok := errors.AsType[*fault](err)
	if _, has := errors.AsType[*strictyaml.Error](err); !ok || has {
		return err
	}
	return &placed{f, &strictyaml.Error{File: file, Line: lineOf(data, f.key, f.word), Column: 1, Text: f.text}}
}

// FaultsOf is what an error consists of, in its order.
func FaultsOf(err error) []error {
	if all, ok := errors.AsType[strictyaml.Faults](err); ok {
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// InOrder makes one error of faults, each told once, in the order of their lines. Those
// without one come first.
func InOrder(faults []error) error {
	told := map[string]bool{}
	faults = slices.DeleteFunc(slices.Clone(faults), func(err error) bool {
		before := told[err.Error()]
		told[err.Error()] = true
		return before
	})
	slices.SortStableFunc(faults, func(a, b error) int { return cmp.Compare(lineIn(a), lineIn(b)) })
	return strictyaml.Join(faults)
}

func lineIn(err error) int {
	if e, ok := errors.AsType[*strictyaml.Error](err); ok {
		return e.Line
	}
	return 0
}

// FieldOf returns the key of a quest.yaml whose value ParseSpec, Check or Fault says is
// wrong, such as window or limits.turns, and nothing for any other error.
func FieldOf(err error) string {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.key
	}
	return ""
}

// check finds what is well-formed and cannot be meant, whatever the society is.
func (s *Spec) check() (faults []error) {
	add := func(wrong bool, key, format string, args ...any) {
		if wrong {
			faults = append(faults, Fault(key, format, args...))
		}
	}
	add(s.Name != "" && !event.ValidName(s.Name), "name", "name %q: want %s", s.Name, event.NameRule)
	add(s.Window != 0 && s.Window < MinWindow, "window", "window %d: want at least %d tokens", s.Window, MinWindow)
	add(s.Window > math.MaxInt32, "window", "window %d: no model reads that much", s.Window)
	add(s.Context != "" && !slices.Contains(contexts, s.Context), "context", "context %.40q: want %s", s.Context, spoken(contexts, "or"))
	add(s.Cache != "" && !slices.Contains(caches, s.Cache), "cache", "cache %.40q: want %s", s.Cache, spoken(caches, "or"))
	add(s.MaxOutput != 0 && (s.MaxOutput < MinOutput || s.MaxOutput > MaxOutput), "max_output", "max_output %d: want from %d to %d tokens", s.MaxOutput, MinOutput, MaxOutput)
	add(s.Profile != "" && !event.ValidName(s.Profile), "profile", "profile %.80q: want %s", s.Profile, event.NameRule)
	add(s.Executor != "" && !event.ValidName(s.Executor), "executor", "executor %.80q: want %s", s.Executor, event.NameRule)
	t := s.PermissionTimeout
	add(t != nil && (*t < minPermissionTime || *t > maxPermissionTime), "permission_timeout", "permission_timeout %s: want from 1s to 24h", t)
	faults = append(faults, s.checkRepo()...)
	faults = append(faults, s.Limits.check()...)
	seen := map[string]bool{}
	for _, t := range s.Tools {
		add(seen[t], "tools", "tool %s is listed twice", t)
		seen[t] = true
	}
	return faults
}

// Check finds limits that cannot be meant. FieldOf knows their keys.
func (b Bounds) Check() error { return strictyaml.Join(b.check()) }

func (b Bounds) check() []error {
	faults := b.Share.check("limits.")
	if b.Agent != nil {
		faults = append(faults, b.Agent.check("limits.agent.")...)
	}
	return faults
}

// check finds limits that cannot be meant; above are the keys that they stand under.
func (s *Share) check(above string) (faults []error) {
	if d := s.Duration; d != nil && *d > 1<<52 {
		faults = append(faults, Fault(above+"duration", "limit of %s: nothing runs that long", *d))
	}
	for _, l := range []struct {
		name string
		most *int64
	}{{"turns", s.Turns}, {"tokens", s.Tokens}} {
		if l.most != nil && (*l.most < 0 || *l.most > 1<<53) {
			faults = append(faults, Fault(above+l.name, "limit of %d %s: want 0 or more, up to 2^53", *l.most, l.name))
		}
	}
	if v := s.Storage; v != nil && (*v < MinStorage || *v > maxSize) {
		faults = append(faults, Fault(above+"storage", "limit of %s of storage: want 1MiB to 1024TiB", *v))
	}
	return faults
}

// contexts are what can become of a window that is full.
var contexts = []string{event.ContextCut, event.ContextCompact}

// MinWindow is the smallest window an agent can work in, DefaultWindow what it
// has if the spec does not say.
const (
	MinWindow     = 2000
	DefaultWindow = 200_000
)

// lineOf finds the line of a key, 1 if it is not there, or that of a word behind it. One at
// the margin is the file's own; further in, the word may also stand in the question. One
// below others is looked for behind them.
func lineOf(data []byte, key, word string) int {
	end := 0
	for name := range strings.SplitSeq(key, ".") {
		name = regexp.QuoteMeta(name)
		var at []int
		if end == 0 {
			at = regexp.MustCompile(`(?m)^` + name + `\s*:`).FindIndex(data)
		}
		if at == nil {
			at = regexp.MustCompile(`(?m)[\s{,]` + name + `\s*:`).FindIndex(data[end:])
		}
		if at == nil {
			break
		}
		end += at[1]
	}
	if end > 0 && word != "" {
		if at := regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(word) + `(?:$|[^\w-])`).FindIndex(data[end:]); at != nil {
			end += at[0] + 1
		}
	}
	return 1 + bytes.Count(data[:end], []byte("\n"))
}
