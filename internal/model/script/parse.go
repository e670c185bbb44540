package script

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/strictyaml"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Parse reads a script; name is for messages. An error says in which line it is.
func Parse(name string, data []byte) (*Script, error) {
	s := &Script{name: name}
	root, err := strictyaml.Document(name, data)
	if err == nil {
		err = strictyaml.Fields(root, "the script", map[string]func(ast.Node) error{
			"rules": func(n ast.Node) error {
				return strictyaml.Each(n, "rules", func(n ast.Node) error {
					r, err := parseRule(n)
					s.rules = append(s.rules, r)
					return err
				})
			},
		})
	}
	if err == nil && len(s.rules) == 0 {
		err = &strictyaml.Error{File: name, Text: "it has no rules"}
	}
	if err != nil {
		return nil, strictyaml.InFile(name, err)
	}
	return s, nil
}

func parseRule(n ast.Node) (rule, error) {
	r := rule{line: strictyaml.Line(n)}
	// Templates need the rule's expressions, which may stand below them.
	var late []func() error
	later := func(f func(ast.Node) error) func(ast.Node) error {
		return func(n ast.Node) error {
			late = append(late, func() error { return f(n) })
			return nil
		}
	}
	err := strictyaml.Fields(n, "a rule", map[string]func(ast.Node) error{
		"on":    func(n ast.Node) error { return r.on.parse(n) },
		"think": later(func(n ast.Node) error { return r.template(n, &r.think) }),
		"say":   later(func(n ast.Node) error { return r.template(n, &r.say) }),
		"call": later(func(n ast.Node) error {
			return strictyaml.Each(n, "call", func(n ast.Node) error {
				c, err := r.parseCall(n)
				r.calls = append(r.calls, c)
				return err
			})
		}),
		"usage": func(n ast.Node) error {
			r.usage = new(event.Usage)
			return strictyaml.Fields(n, "usage", map[string]func(ast.Node) error{
				"input":  strictyaml.Integer(&r.usage.Input, 0),
				"output": strictyaml.Integer(&r.usage.Output, 0),
				"cached": strictyaml.Integer(&r.usage.Cached, 0),
			})
		},
		"cost":  func(n ast.Node) error { return dollars(n, &r.cost) },
		"delay": func(n ast.Node) error { return duration(n, &r.delay) },
		"fault": strictyaml.Choice(&r.fault, string(model.Unavailable), string(model.ContextTooLong), string(model.Refused), string(model.Invalid), faultHang, faultEmpty),
		"stop":  strictyaml.Choice(&r.stop, model.StopEnd, model.StopTools, model.StopLength, model.StopRefusal),
	})
	for _, f := range late {
		if err == nil {
			err = f()
		}
	}
	if err != nil {
		return r, err
	}
	return r, r.check(n)
}

// check looks for rules that contradict themselves.
func (r *rule) check(n ast.Node) error {
	speaks := r.say != nil || r.think != nil || r.calls != nil
	switch {
	case r.fault != "" && speaks:
		return strictyaml.At(n, "a rule with a fault cannot think, say or call")
	case r.fault == "" && !speaks:
		return strictyaml.At(n, "the rule answers nothing; give it say, call, think or fault (fault: empty answers with no parts)")
	case r.usage != nil && r.usage.Cached > r.usage.Input:
		return strictyaml.At(n, "usage: cached is a part of input and cannot be more")
	}
	return nil
}

func (c *condition) parse(n ast.Node) error {
	return strictyaml.Fields(n, "on", map[string]func(ast.Node) error{
		"turn":       strictyaml.Integer(&c.turn, 1),
		"from_turn":  strictyaml.Integer(&c.from, 1),
		"until_turn": strictyaml.Integer(&c.until, 1),
		"every":      strictyaml.Integer(&c.every, 1),
		"agent":      strictyaml.Word(&c.agent),
		"tool":       strictyaml.Word(&c.tool),
		"result":     expression(&c.result),
		"last":       expression(&c.last),
		"seen":       expression(&c.seen),
	})
}

// expression is the one whose groups templates name.
func (c *condition) expression() *regexp.Regexp {
	switch {
	case c.seen != nil:
		return c.seen
	case c.result != nil:
		return c.result
	}
	return c.last
}

func (r *rule) template(n ast.Node, t *template) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	*t, err = newTemplate(text, r.on.expression())
	return strictyaml.Wrap(n, err)
}

func (r *rule) parseCall(n ast.Node) (call, error) {
	var c call
	c.args = fixed("{}")
	err := strictyaml.Fields(n, "a call", map[string]func(ast.Node) error{
		"tool": strictyaml.Word(&c.tool),
		"args": func(n ast.Node) error {
			if text, ok := strictyaml.String(n); ok {
				t, err := newTemplate(text, r.on.expression())
				c.args = argument{raw: t}
				return strictyaml.Wrap(n, err)
			}
			if _, ok := strictyaml.Pairs(n); !ok {
				return strictyaml.At(n, "args must be a mapping, or a string of JSON")
			}
			a, err := r.argument(n)
			c.args = a
			return err
		},
	})
	if err == nil && c.tool == "" {
		err = strictyaml.At(n, "a call needs a tool")
	}
	return c, err
}

// argument makes JSON of YAML.
func (r *rule) argument(n ast.Node) (argument, error) {
	if text, ok := strictyaml.String(n); ok {
		// The parser takes an integer beyond 64 bits for a string.
		if n.GetToken().Type == token.StringType && isNumber(text) {
			return fixed(text), nil
		}
		t, err := newTemplate(text, r.on.expression())
		return argument{kind: textArgument, text: t}, strictyaml.Wrap(n, err)
	}
	if list, ok := strictyaml.Pairs(n); ok {
		a := argument{kind: objectArgument}
		seen := make(map[string]bool)
		for _, p := range list {
			name, err := strictyaml.Key(p, seen)
			if err != nil {
				return a, err
			}
			value, err := r.argument(p.Value)
			if err != nil {
				return a, err
			}
			a.members = append(a.members, member{name, value})
		}
		return a, nil
	}
	switch n := n.(type) {
	case *ast.SequenceNode:
		a := argument{kind: arrayArgument}
		for _, v := range n.Values {
			item, err := r.argument(v)
			if err != nil {
				return a, err
			}
			a.items = append(a.items, item)
		}
		return a, nil
	case *ast.NullNode:
		return fixed("null"), nil
	case *ast.BoolNode:
		return fixed(strconv.FormatBool(n.Value)), nil
	case *ast.IntegerNode, *ast.FloatNode:
		return number(n)
	}
	return argument{}, strictyaml.At(n, "a %s cannot be an argument", strings.ToLower(n.Type().String()))
}

// number keeps the digits as they are written, where JSON writes them so too.
func number(n ast.Node) (argument, error) {
	text := strings.TrimSpace(n.GetToken().Value)
	if isNumber(text) {
		return fixed(text), nil
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return fixed(fmt.Sprint(n.Value)), nil
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value) {
			return fixed(strconv.FormatFloat(n.Value, 'g', -1, 64)), nil
		}
	}
	return argument{}, strictyaml.At(n, "%.40s is not a number in JSON", text)
}

func isNumber(text string) bool {
	v := jsontext.Value(text)
	return v.IsValid() && v.Kind() == '0'
}

func expression(to **regexp.Regexp) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		*to, err = regexp.Compile(text)
		return strictyaml.Wrap(n, err)
	}
}

func duration(n ast.Node, to *time.Duration) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return strictyaml.At(n, "%.40q is not a time to wait, such as 20ms or 1.5s", text)
	}
	*to = d
	return nil
}

var decimal = regexp.MustCompile(`^\d{1,9}(\.\d{1,9})?$`)

// dollars reads a decimal fraction exactly, into nanodollars.
func dollars(n ast.Node, to *int64) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	if !decimal.MatchString(text) {
		return strictyaml.At(n, "%.40q is not an amount of dollars, such as \"0.001\", with at most nine decimals", text)
	}
	amount, _ := new(big.Rat).SetString(text)
	*to = amount.Mul(amount, big.NewRat(1e9, 1)).Num().Int64()
	return nil
}
