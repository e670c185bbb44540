package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

// functionGemma is the format of FunctionGemma, as its makers document it: names without
// quotes, and <escape> on both sides of a string.
var functionGemma = &Dialect{
	name: FunctionGemma, begin: "<start_function_call>", end: "<end_function_call>", reply: "<start_function_response>",
	declare: declareGemma, call: callGemma, result: resultGemma, parse: parseGemma, closing: closingGemma,
}

const escape = "<escape>"

// gemmaBefore is the sentence that the model was trained with.
const gemmaBefore = "You are a model that can do function calling with the following functions"

func declareGemma(tools []model.Tool) string {
	var b strings.Builder
	b.WriteString(gemmaBefore)
	for _, t := range tools {
		b.WriteString("<start_function_declaration>declaration:" + named(t.Name) + "{description:" + escaped(t.Description))
		if s, err := gemmaValue(t.Shown(), true); err == nil && strings.HasPrefix(s, "{") {
			b.WriteString(",parameters:" + s)
		}
		b.WriteString("}<end_function_declaration>")
	}
	return b.String()
}

func callGemma(name, args string) (string, bool) {
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	given, err := gemmaValue(args, false)
	if err != nil || !strings.HasPrefix(given, "{") {
		return "", false
	}
	return "call:" + name + given, true
}

func resultGemma(name, text string, failed bool) string {
	member := "value"
	if failed {
		member = "error"
	}
	return "<start_function_response>response:" + name + "{" + member + ":" + escaped(text) + "}<end_function_response>"
}

func escaped(text string) string {
	return escape + Break(strings.ToValidUTF8(text, "\uFFFD")) + escape
}

// gemmaValue writes a JSON value. In a schema the types are in capitals, as the model was
// trained.
func gemmaValue(value string, schema bool) (string, error) {
	w := &gemmaWriter{in: jsontext.NewDecoder(strings.NewReader(value))}
	if err := w.value(schema); err != nil {
		return "", err
	}
	if rest := strings.TrimSpace(value[w.in.InputOffset():]); rest != "" {
		return "", errors.New("there is more than one value")
	}
	return w.out.String(), nil
}

type gemmaWriter struct {
	in  *jsontext.Decoder
	out strings.Builder
}

// value writes the next value. What a schema says of properties are schemas by name, so a
// property may be called type.
func (w *gemmaWriter) value(schema bool) error {
	t, err := w.in.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case '"':
		w.out.WriteString(escaped(t.String()))
	case '{':
		return w.members(func(name string) error {
			if schema && name == "type" && w.in.PeekKind() == '"' {
				kind, err := w.in.ReadToken()
				w.out.WriteString(escaped(strings.ToUpper(kind.String())))
				return err
			}
			if schema && name == "properties" && w.in.PeekKind() == '{' {
				if _, err := w.in.ReadToken(); err != nil {
					return err
				}
				return w.members(func(string) error { return w.value(true) })
			}
			return w.value(schema && name != "enum" && name != "const" && name != "default" && name != "examples")
		})
	case '[':
		w.out.WriteByte('[')
		for first := true; w.in.PeekKind() != ']'; first = false {
			if !first {
				w.out.WriteByte(',')
			}
			if err := w.value(schema); err != nil {
				return err
			}
		}
		w.out.WriteByte(']')
		_, err = w.in.ReadToken()
		return err
	default:
		w.out.WriteString(t.String())
	}
	return nil
}

// members writes those of an object whose brace was read; each writes the value of one.
func (w *gemmaWriter) members(each func(name string) error) error {
	w.out.WriteByte('{')
	for first := true; w.in.PeekKind() != '}'; first = false {
		if !first {
			w.out.WriteByte(',')
		}
		t, err := w.in.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		if bare(name) {
			w.out.WriteString(name)
		} else {
			w.out.WriteString(escaped(name))
		}
		w.out.WriteByte(':')
		if err := each(name); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	_, err := w.in.ReadToken()
	return err
}

// bare reports whether a name can stand without <escape>.
func bare(name string) bool { return isName(name) && !strings.Contains(name, ":") }

func parseGemma(text string) (name, args string, err error) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	rest, ok := strings.CutPrefix(text, "call:")
	if !ok {
		return "", "", errors.New("want call:name{argument:value}")
	}
	name, _, ok = strings.Cut(rest, "{")
	name = strings.TrimSpace(name)
	switch {
	case !isName(name):
		return "", "", errors.New("want call:name{argument:value}, with a name of letters, digits and _ . : -")
	case !ok:
		return name, "", errors.New("the arguments are missing: want call:name{argument:value}")
	}
	p := &gemmaReader{text: rest, at: strings.IndexByte(rest, '{')}
	if err := p.value(0); err != nil {
		return name, "", err
	}
	if p.skip(); p.at < len(p.text) {
		return name, "", fmt.Errorf("there is more behind the arguments: %.40q", p.text[p.at:])
	}
	if !jsontext.Value(p.out).IsValid() {
		return name, "", errors.New("an argument stands there twice")
	}
	return name, string(p.out), nil
}

// gemmaReader makes JSON of a value.
type gemmaReader struct {
	text string
	at   int
	out  []byte
}

// maxDepth is how deep values may be in each other, as in JSON here.
const maxDepth = 9_000

func (p *gemmaReader) skip() {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], white))
}

// next reports whether c comes, and takes it.
func (p *gemmaReader) next(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *gemmaReader) value(depth int) error {
	if depth > maxDepth {
		return errors.New("the arguments are too deep in each other")
	}
	p.skip()
	switch {
	case p.at == len(p.text):
		return errors.New("a value is missing")
	case strings.HasPrefix(p.text[p.at:], escape):
		return p.escaped()
	case p.text[p.at] == '{':
		return p.list('}', depth, func() error { return p.member(depth) })
	case p.text[p.at] == '[':
		return p.list(']', depth, func() error { return p.value(depth + 1) })
	case p.text[p.at] == '"':
		return p.quoted()
	}
	return p.bare()
}

// list reads what stands between brackets, with commas between.
func (p *gemmaReader) list(end byte, depth int, each func() error) error {
	p.out = append(p.out, p.text[p.at])
	p.at++
	for first := true; !p.next(end); first = false {
		if !first && !p.next(',') {
			return fmt.Errorf("want , or %c at %.40q", end, p.text[p.at:])
		}
		if !first {
			p.out = append(p.out, ',')
		}
		if err := each(); err != nil {
			return err
		}
	}
	p.out = append(p.out, end)
	return nil
}

// member reads a name and its value.
func (p *gemmaReader) member(depth int) error {
	p.skip()
	switch {
	case strings.HasPrefix(p.text[p.at:], escape):
		if err := p.escaped(); err != nil {
			return err
		}
	case strings.HasPrefix(p.text[p.at:], `"`):
		if err := p.quoted(); err != nil {
			return err
		}
	default:
		n := strings.IndexByte(p.text[p.at:], ':')
		name := strings.TrimSpace(p.text[p.at : p.at+max(n, 0)])
		if !isName(name) {
			return fmt.Errorf("want the name of an argument at %.40q", p.text[p.at:])
		}
		p.out = append(p.out, quote(name)...)
		p.at += n
	}
	if !p.next(':') {
		return fmt.Errorf("want : behind the name of an argument at %.40q", p.text[p.at:])
	}
	p.out = append(p.out, ':')
	return p.value(depth + 1)
}

// escaped reads a string between <escape>s.
func (p *gemmaReader) escaped() error {
	rest := p.text[p.at+len(escape):]
	n := strings.Index(rest, escape)
	if n < 0 {
		return errors.New("a text has no <escape> at its end")
	}
	p.out = append(p.out, quote(Unbreak(rest[:n]))...)
	p.at += 2*len(escape) + n
	return nil
}

// quoted reads a string as JSON has it, which the model was not told to write.
func (p *gemmaReader) quoted() error {
	rest := p.text[p.at:]
	end := 1
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	v := jsontext.Value(rest[:min(end+1, len(rest))])
	if !v.IsValid() {
		return fmt.Errorf("want <escape> around a text at %.40q", rest)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return err
	}
	p.out = append(p.out, quote(Unbreak(string(text)))...)
	p.at += len(v)
	return nil
}

// bare reads a number, true, false, null, or a word, which stands for itself.
func (p *gemmaReader) bare() error {
	rest := p.text[p.at:]
	n := strings.IndexAny(rest, ",{}[]<>\"")
	if n < 0 {
		n = len(rest)
	}
	word := strings.TrimSpace(rest[:n])
	if word == "" {
		return fmt.Errorf("want a value at %.40q", rest)
	}
	if v := jsontext.Value(word); v.IsValid() {
		p.out = append(p.out, word...)
	} else {
		p.out = append(p.out, quote(Unbreak(word))...)
	}
	p.at += n
	return nil
}

// closingGemma looks for the end outside of strings.
func closingGemma(buf []byte, s *scan) int {
	const end = "<end_function_call>"
	for s.at < len(buf) {
		rest := buf[s.at:]
		n := bytes.IndexByte(rest, '<')
		if n < 0 {
			s.at = len(buf)
			break
		}
		rest = rest[n:]
		s.at += n
		switch {
		case bytes.HasPrefix(rest, []byte(escape)):
			s.at, s.in = s.at+len(escape), !s.in
		case !s.in && bytes.HasPrefix(rest, []byte(end)):
			return s.at
		case strings.HasPrefix(escape, string(rest[:min(len(rest), len(escape))])),
			!s.in && strings.HasPrefix(end, string(rest[:min(len(rest), len(end))])):
			return -1 // more must come
		default:
			s.at++
		}
	}
	return -1
}
