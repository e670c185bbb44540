package behavior

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"

	"github.com/go-json-experiment/json/jsontext"
)

// Definition is a thread as data: what people write in YAML, and what is kept of
// it as JSON. Its members are in the order of their names and its numbers are
// texts, so that it encodes canonically and comes back as it was.
type Definition struct {
	Name string `json:"name"`
	// Per names a field. The thread then exists once for each value of it.
	Per      string  `json:"per,omitzero"`
	Priority int64   `json:"priority,omitzero"`
	Repeat   bool    `json:"repeat,omitzero"`
	Steps    []Point `json:"steps"`
	// Text is what a person is told that it does.
	Text string `json:"text,omitzero"`
}

// Point is one synchronisation point: what is stated there, until one of the
// events that are requested or waited for has happened often enough.
type Point struct {
	// Ask are events that a person has to allow.
	Ask       []PatternDef `json:"ask,omitempty"`
	Block     []PatternDef `json:"block,omitempty"`
	Interrupt []PatternDef `json:"interrupt,omitempty"`
	Request   []EventDef   `json:"request,omitempty"`
	// Times is how often it is to be passed; 0 is once.
	Times int64        `json:"times,omitzero"`
	Wait  []PatternDef `json:"wait,omitempty"`
}

// EventDef is an event to request. Detail is the text of a JSON object, empty for
// an event without one.
type EventDef struct {
	Type   string `json:"type"`
	Detail string `json:"with,omitzero"`
}

// PatternDef says which events are meant. Reason is for those that block or ask, Later
// for those that block, Default and Within for those that ask.
type PatternDef struct {
	Default string   `json:"default,omitzero"`
	Later   bool     `json:"later,omitzero"`
	Reason  string   `json:"reason,omitzero"`
	Types   []string `json:"type"`
	// Where is sorted by path, and has each path once.
	Where []ConditionDef `json:"where,omitempty"`
	// Within is in microseconds.
	Within int64 `json:"within,omitzero"`
}

// ConditionDef is what must hold of the field at a path of names with dots
// between them: exactly one of In, Min or Max, and Prefix.
type ConditionDef struct {
	In     []Scalar `json:"in,omitempty"`
	Max    string   `json:"max,omitzero"`
	Min    string   `json:"min,omitzero"`
	Path   string   `json:"path"`
	Prefix []string `json:"prefix,omitempty"`
}

// Scalar is a value as it was written. It is no JSON number itself because those
// do not survive canonical form.
type Scalar struct {
	// Kind is text, number, bool or null.
	Kind string `json:"kind"`
	Text string `json:"text,omitzero"`
}

// The limits of a definition. They are far beyond what a person would write.
const (
	maxList     = 100
	maxTimes    = 1_000_000_000
	maxPriority = 1000
	maxWithin   = 365 * 24 * 3600 * 1_000_000 // microseconds
)

// fault is what is wrong with a definition. Its path of members and positions
// leads to the place, in YAML as in JSON.
type fault struct {
	path []any
	text string
}

func (f *fault) Error() string {
	var out strings.Builder
	for i, p := range f.path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", p)
		default:
			if i > 0 {
				out.WriteByte('.')
			}
			fmt.Fprint(&out, p)
		}
	}
	if out.Len() > 0 {
		out.WriteString(": ")
	}
	return out.String() + f.text
}

func wrong(at any, format string, args ...any) error {
	return &fault{path: []any{at}, text: fmt.Sprintf(format, args...)}
}

// within says that a fault lies further down.
func within(err error, path ...any) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return err
	}
	return &fault{path: append(path, f.path...), text: f.text}
}

var threadName = plain.Form{First: "a-z0-9", Rest: "a-z0-9-", Most: 63}

const notAField = "%.40q is not the name of a field, such as agent or args.path"

// Check says what is wrong with a definition, wherever it came from.
func (d *Definition) Check() error {
	switch {
	case d.Name == "":
		return wrong("name", "it is missing")
	case !threadName.MatchString(d.Name):
		return wrong("name", "%.80q is not 1 to 63 of a-z, 0-9 and -, beginning with a letter or digit", d.Name)
	case !utf8.ValidString(d.Text):
		return wrong("text", "it is not UTF-8 text")
	case d.Per != "" && !isPath(d.Per):
		return wrong("per", notAField, d.Per)
	case d.Priority < 0 || d.Priority > maxPriority:
		return wrong("priority", "it must be a whole number from 0 to %d", maxPriority)
	case len(d.Steps) == 0:
		return wrong("steps", "there are none")
	case len(d.Steps) > maxList:
		return wrong("steps", "there are %d, more than %d", len(d.Steps), maxList)
	}
	for i := range d.Steps {
		if err := d.Steps[i].check(); err != nil {
			return within(err, "steps", i)
		}
	}
	if d.Repeat && !slices.ContainsFunc(d.Steps, Point.passes) {
		return wrong("repeat", "it repeats, but never waits for anything")
	}
	for i, p := range d.Steps[:len(d.Steps)-1] {
		if !p.passes() {
			return within(wrong(i, "it neither requests nor waits for anything, so that the steps behind it are never reached"), "steps")
		}
	}
	return nil
}

// passes reports whether the thread can go on from here.
func (p Point) passes() bool { return len(p.Request)+len(p.Wait) > 0 }

func (p *Point) check() error {
	n := len(p.Request) + len(p.Wait) + len(p.Block) + len(p.Ask) + len(p.Interrupt)
	switch {
	case n == 0:
		return &fault{text: "a step must request, wait for, block, ask about or be interrupted by something"}
	case n > maxList:
		return &fault{text: fmt.Sprintf("the step names %d kinds of events, more than %d", n, maxList)}
	case p.Times < 0 || p.Times > maxTimes:
		return wrong("times", "it must be a whole number from 1 to %d", maxTimes)
	case p.Times > 0 && !p.passes():
		return wrong("times", "the step neither requests nor waits for anything that could happen so often")
	}
	for i := range p.Request {
		if err := p.Request[i].check(); err != nil {
			return within(err, "request", i)
		}
	}
	for _, l := range []struct {
		name string
		list []PatternDef
	}{{"wait", p.Wait}, {"block", p.Block}, {"ask", p.Ask}, {"interrupt", p.Interrupt}} {
		for i := range l.list {
			if err := l.list[i].check(l.name); err != nil {
				return within(err, l.name, i)
			}
		}
	}
	return nil
}

func (e *EventDef) check() error {
	if e.Type == "*" {
		return wrong("type", "a request is for one type of event, not for every one")
	}
	if err := checkType(e.Type); err != nil {
		return within(err, "type")
	}
	if e.Detail == "" {
		return nil
	}
	if _, err := JSONDetail(e.Detail); err != nil {
		return wrong("with", "%v", err)
	}
	return nil
}

func checkType(t string) error {
	switch {
	case t == "":
		return &fault{text: "it is empty"}
	case !utf8.ValidString(t):
		return &fault{text: "it is not UTF-8 text"}
	}
	return nil
}

// check says what is wrong with a pattern of a step's list.
func (p *PatternDef) check(list string) error {
	switch {
	case p.Reason != "" && list != "block" && list != "ask":
		return wrong("reason", "only what is blocked or asked about has one")
	case p.Later && list != "block":
		return wrong("later", "only what is blocked can be so")
	case (p.Default != "" || p.Within != 0) && list != "ask":
		return wrong("default", "only what is asked about has default and within")
	case p.Default != "" && p.Default != "yes" && p.Default != "no":
		return wrong("default", "%.40q: want yes or no", p.Default)
	case (p.Default == "") != (p.Within == 0):
		return wrong("default", "say both default and within, or neither: what counts if nobody answers, and after how long")
	case p.Within < 0 || p.Within > maxWithin:
		return wrong("within", "it must be a time from 1s to 8760h")
	case !utf8.ValidString(p.Reason):
		return wrong("reason", "it is not UTF-8 text")
	case len(p.Types) == 0:
		return wrong("type", `it is missing; "*" means every type`)
	case len(p.Types) > maxList:
		return wrong("type", "there are %d, more than %d", len(p.Types), maxList)
	case len(p.Where) > maxList:
		return wrong("where", "there are %d conditions, more than %d", len(p.Where), maxList)
	}
	for i, t := range p.Types {
		if err := checkType(t); err != nil {
			return within(err, "type", i)
		}
	}
	for i := range p.Where {
		c := &p.Where[i]
		if i > 0 && c.Path <= p.Where[i-1].Path {
			return within(wrong(i, "the conditions must be sorted by path, each once"), "where")
		}
		if err := c.check(); err != nil {
			return within(err, "where", c.Path)
		}
	}
	return nil
}

func (c *ConditionDef) check() error {
	kinds := 0
	for _, has := range []bool{len(c.In) > 0, c.Min != "" || c.Max != "", len(c.Prefix) > 0} {
		if has {
			kinds++
		}
	}
	switch {
	case !isPath(c.Path):
		return &fault{text: fmt.Sprintf(notAField, c.Path)}
	case kinds != 1:
		return &fault{text: "a condition is a value, or has exactly one of in, min and max, prefix"}
	case len(c.In) > maxList || len(c.Prefix) > maxList:
		return &fault{text: fmt.Sprintf("the list has more than %d values", maxList)}
	case c.Min != "" && !isNumber(c.Min):
		return wrong("min", "%.40q is not a number", c.Min)
	case c.Max != "" && !isNumber(c.Max):
		return wrong("max", "%.40q is not a number", c.Max)
	}
	if order, ok := compareNumbers(c.Min, c.Max); ok && order > 0 {
		return wrong("min", "%.40s is more than the max, %.40s", c.Min, c.Max)
	}
	for i, s := range c.In {
		if _, err := s.value(); err != nil {
			return within(wrong(i, "%v", err), "in")
		}
	}
	for i, p := range c.Prefix {
		if p == "" || !utf8.ValidString(p) {
			return within(wrong(i, "%.40q is not a folder", p), "prefix")
		}
	}
	return nil
}

// isPath reports whether s names a field that an event can have.
func isPath(s string) bool {
	names := strings.Split(s, ".")
	return utf8.ValidString(s) && len(names) <= maxDepth && !slices.Contains(names, "")
}

// isNumber reports whether s is a number as JSON writes it, and one that can be
// compared.
func isNumber(s string) bool {
	v := jsontext.Value(s)
	_, ok := parseDecimal(s)
	return ok && v.IsValid() && v.Kind() == '0'
}

// value returns what a condition compares with.
func (s Scalar) value() (Value, error) {
	switch {
	case s.Kind == "text" && utf8.ValidString(s.Text):
		return TextValue(s.Text), nil
	case s.Kind == "number" && isNumber(s.Text):
		return Value{Kind: Number, Text: s.Text}, nil
	case s.Kind == "bool" && (s.Text == "true" || s.Text == "false"):
		return BoolValue(s.Text == "true"), nil
	case s.Kind == "null" && s.Text == "":
		return Value{Kind: Null}, nil
	}
	return Value{}, fmt.Errorf("%.40q is not a value of kind %.40q", s.Text, s.Kind)
}
