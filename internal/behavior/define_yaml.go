package behavior

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// ReadDefinition reads a definition from YAML. An error is a *strictyaml.Error
// with its place in the file.
//
// Only the form is looked at here. What it means is checked afterwards, as for a
// definition from elsewhere, and the fault is then looked up in the file.
func ReadDefinition(n ast.Node) (*Definition, error) {
	d := &Definition{}
	err := strictyaml.Fields(n, "a thread", map[string]func(ast.Node) error{
		"name":     strictyaml.Word(&d.Name),
		"text":     strictyaml.Word(&d.Text),
		"per":      strictyaml.Word(&d.Per),
		"repeat":   strictyaml.Truth(&d.Repeat),
		"priority": whole(&d.Priority, 0, maxPriority),
		"steps": func(n ast.Node) error {
			return strictyaml.Each(n, "steps", func(n ast.Node) error {
				p, err := readPoint(n)
				d.Steps = append(d.Steps, p)
				return err
			})
		},
	})
	if err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, locate(n, err)
	}
	return d, nil
}

// locate finds the node that a fault is about, or the closest above it.
func locate(n ast.Node, err error) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		return strictyaml.Wrap(n, err)
	}
	text := f.text
	if len(f.path) > 0 {
		if key, ok := f.path[len(f.path)-1].(string); ok {
			text = key + ": " + text
		}
	}
	for _, p := range f.path {
		if n, ok = child(n, p); !ok {
			break
		}
	}
	return strictyaml.At(n, "%s", text)
}

// child returns the member or item of a node. Where one thing may stand instead
// of a list, it is its own first item.
func child(n ast.Node, name any) (ast.Node, bool) {
	if i, ok := name.(int); ok {
		if list, ok := n.(*ast.SequenceNode); ok && i < len(list.Values) {
			return list.Values[i], true
		}
		return n, true
	}
	pairs, _ := strictyaml.Pairs(n)
	for _, p := range pairs {
		k, _ := p.Key.(ast.Node)
		if key, ok := strictyaml.String(k); ok && key == name {
			return p.Value, true
		}
	}
	return n, false
}

func readPoint(n ast.Node) (p Point, err error) {
	err = strictyaml.Fields(n, "a step", map[string]func(ast.Node) error{
		"wait":      patterns(&p.Wait),
		"block":     patterns(&p.Block),
		"ask":       patterns(&p.Ask),
		"interrupt": patterns(&p.Interrupt),
		"request": oneOrMore(func(n ast.Node) error {
			e, err := readEvent(n)
			p.Request = append(p.Request, e)
			return err
		}),
		"times": whole(&p.Times, 1, maxTimes),
	})
	return p, err
}

func patterns(to *[]PatternDef) func(ast.Node) error {
	return oneOrMore(func(n ast.Node) error {
		p, err := readPattern(n)
		*to = append(*to, p)
		return err
	})
}

func readPattern(n ast.Node) (p PatternDef, err error) {
	err = strictyaml.Fields(n, "it", map[string]func(ast.Node) error{
		"type":   words(&p.Types),
		"reason": strictyaml.Word(&p.Reason),
		"later":  strictyaml.Truth(&p.Later),
		"default": func(n ast.Node) (err error) {
			p.Default, err = yesOrNo(n)
			return err
		},
		"within": span(&p.Within),
		"where": func(n ast.Node) error {
			pairs, ok := strictyaml.Pairs(n)
			if !ok || len(pairs) == 0 {
				return strictyaml.At(n, "it must be a mapping of fields and what must hold of them")
			}
			seen := make(map[string]bool)
			for _, pair := range pairs {
				c, err := readCondition(pair, seen)
				if err != nil {
					return err
				}
				p.Where = append(p.Where, c)
			}
			slices.SortFunc(p.Where, func(a, b ConditionDef) int { return strings.Compare(a.Path, b.Path) })
			return nil
		},
	})
	return p, err
}

// yesOrNo reads yes or no, which YAML may take for true or false.
func yesOrNo(n ast.Node) (string, error) {
	switch text := strings.TrimSpace(n.GetToken().Value); text {
	case "yes", "true":
		return "yes", nil
	case "no", "false":
		return "no", nil
	}
	return "", strictyaml.At(n, "it must be yes or no")
}

// span reads a time such as 90s, 30m or 24h.
func span(to *int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d.Microseconds() > maxWithin {
			return strictyaml.At(n, "it must be a time from 1s to 8760h, such as 30m")
		}
		*to = d.Microseconds()
		return nil
	}
}

func readCondition(p *ast.MappingValueNode, seen map[string]bool) (c ConditionDef, err error) {
	if c.Path, err = strictyaml.Key(p, seen); err != nil {
		return c, err
	}
	add := func(n ast.Node) error {
		s, err := readScalar(n)
		c.In = append(c.In, s)
		return err
	}
	if _, ok := strictyaml.Pairs(p.Value); !ok {
		return c, add(p.Value)
	}
	return c, strictyaml.Fields(p.Value, "a condition", map[string]func(ast.Node) error{
		"in":     func(n ast.Node) error { return some(n, add) },
		"min":    number(&c.Min),
		"max":    number(&c.Max),
		"prefix": words(&c.Prefix),
	})
}

func readEvent(n ast.Node) (e EventDef, err error) {
	err = strictyaml.Fields(n, "a request", map[string]func(ast.Node) error{
		"type": strictyaml.Word(&e.Type),
		"with": func(n ast.Node) error {
			if _, ok := strictyaml.Pairs(n); !ok {
				return strictyaml.At(n, "it must be a mapping")
			}
			text, err := appendJSON(nil, n)
			if err != nil {
				return err
			}
			detail, err := JSONDetail(string(text))
			if err != nil {
				return strictyaml.Wrap(n, err)
			}
			e.Detail = detail.JSON()
			return nil
		},
	})
	return e, err
}

// appendJSON makes JSON of YAML.
func appendJSON(b []byte, n ast.Node) ([]byte, error) {
	if pairs, ok := strictyaml.Pairs(n); ok {
		b = append(b, '{')
		seen := make(map[string]bool)
		for i, p := range pairs {
			name, err := strictyaml.Key(p, seen)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(name)...), ':')
			if b, err = appendJSON(b, p.Value); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	if list, ok := n.(*ast.SequenceNode); ok {
		b = append(b, '[')
		for i, v := range list.Values {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendJSON(b, v); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	s, err := readScalar(n)
	if err != nil {
		return nil, err
	}
	v, err := s.value()
	return append(b, v.String()...), strictyaml.Wrap(n, err)
}

// almostNumber is what the YAML parser takes for a text although a person may
// have meant a number: one beyond 64 bits in a spelling that JSON does not have.
var almostNumber = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F_]+|0[oObB][0-7_]+|[0-9][0-9_]*\.?[0-9_]*([eE][-+]?[0-9_]+)?)$`)

// readScalar keeps a number as it is written, and refuses one that JSON would
// write in another way: it might be meant as a text, or be none at all.
func readScalar(n ast.Node) (Scalar, error) {
	if text, ok := strictyaml.String(n); ok {
		// Numbers beyond 64 bits, and those with an exponent, are texts to the
		// parser unless they are quoted.
		switch plain := n.GetToken().Type == token.StringType; {
		case plain && isNumber(text):
			return Scalar{Kind: "number", Text: text}, nil
		case plain && almostNumber.MatchString(text):
			return Scalar{}, strictyaml.At(n, "%.40s is not a number as JSON writes it; quote it if it is a text", text)
		case !utf8.ValidString(text):
			return Scalar{}, strictyaml.At(n, "it is not UTF-8 text")
		}
		return Scalar{Kind: "text", Text: text}, nil
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return Scalar{Kind: "null"}, nil
	case *ast.BoolNode:
		return Scalar{Kind: "bool", Text: strconv.FormatBool(n.Value)}, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		text := strings.TrimSpace(n.GetToken().Value)
		if !isNumber(text) {
			return Scalar{}, strictyaml.At(n, "%.40s is not a number as JSON writes it; quote it if it is a text", text)
		}
		return Scalar{Kind: "number", Text: text}, nil
	}
	return Scalar{}, strictyaml.At(n, "it must be a text, a number, true, false or null")
}

func number(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		s, err := readScalar(n)
		if err == nil && s.Kind != "number" {
			err = strictyaml.At(n, "it must be a number")
		}
		*to = s.Text
		return err
	}
}

func whole(to *int64, least, most int64) func(ast.Node) error {
	return func(n ast.Node) error {
		s, err := readScalar(n)
		if err != nil {
			return err
		}
		v, err := strconv.ParseInt(s.Text, 10, 64)
		if s.Kind != "number" || err != nil || v < least || v > most {
			return strictyaml.At(n, "it must be a whole number from %d to %d", least, most)
		}
		*to = v
		return nil
	}
}

// words reads one word or a list of them.
func words(to *[]string) func(ast.Node) error {
	return oneOrMore(func(n ast.Node) error {
		var word string
		err := strictyaml.Word(&word)(n)
		*to = append(*to, word)
		return err
	})
}

// oneOrMore reads one thing, or a list of them.
func oneOrMore(read func(ast.Node) error) func(ast.Node) error {
	return func(n ast.Node) error {
		if _, ok := n.(*ast.SequenceNode); ok {
			return some(n, read)
		}
		return read(n)
	}
}

// some reads a list that is not empty.
func some(n ast.Node, read func(ast.Node) error) error {
	if list, ok := n.(*ast.SequenceNode); ok && len(list.Values) == 0 {
		return strictyaml.At(n, "the list is empty")
	}
	return strictyaml.Each(n, "it", read)
}

// ParseThreads reads a file that is a list of threads.
func ParseThreads(file string, data []byte) (out []Thread, err error) {
	n, err := strictyaml.Document(file, data)
	if err != nil {
		return nil, err
	}
	err = strictyaml.Each(n, "threads", func(n ast.Node) error {
		d, err := ReadDefinition(n)
		if err != nil {
			return err
		}
		t, err := d.Thread()
		out = append(out, t)
		return strictyaml.Wrap(n, err)
	})
	return out, strictyaml.InFile(file, err)
}
