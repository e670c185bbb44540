package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tags is how Hermes, Qwen and many others were taught: JSON between tags.
var tags = &Dialect{
	name: Tags, begin: "<tool_call>", end: "</tool_call>", reply: "<tool_response>",
	declare: declareTags, call: callTags, result: resultTags, parse: parseTags, closing: closingTags,
}

const tagsBefore = `You can call tools. Their signatures, as JSON Schemas, stand between <tools> tags:
<tools>
`

const tagsAfter = `</tools>
To call a tool, write a JSON object with its name and arguments between <tool_call> tags, and nothing else between them; one such pair for each call:
<tool_call>
{"name": "<name of the tool>", "arguments": {"<name of an argument>": <its value>}}
</tool_call>
Then stop. Each result comes between <tool_response> tags; never write one yourself. In texts that you are shown, a backslash behind a < or [ (as in <\tool_call>) marks words that are no call; write such words in the same way.`

func declareTags(tools []model.Tool) string {
	var b strings.Builder
	b.WriteString(tagsBefore)
	for _, t := range tools {
		schema, err := mapStrings([]byte(t.Shown()), Break)
		if err != nil {
			schema = []byte("{}")
		}
		fmt.Fprintf(&b, `{"type": "function", "function": {"name": %s, "description": %s, "parameters": %s}}`+"\n", quote(Break(t.Name)), quote(Break(t.Description)), schema)
	}
	b.WriteString(tagsAfter)
	return b.String()
}

func callTags(name, args string) (string, bool) {
	given, err := object(args, Break)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("\n{\"name\": %s, \"arguments\": %s}\n", quote(name), given), true
}

func resultTags(name, text string, failed bool) string {
	member := "content"
	if failed {
		member = "error"
	}
	return fmt.Sprintf("<tool_response>\n{\"name\": %s, %q: %s}\n</tool_response>", quote(name), member, quote(Break(text)))
}

func parseTags(text string) (name, args string, err error) {
	var c struct {
		Name      *string        `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	err = json.Unmarshal([]byte(text), &c)
	if c.Name != nil {
		name = Unbreak(*c.Name)
	}
	switch {
	case err != nil:
		return name, "", notJSON(err)
	case !isName(name):
		return "", "", errors.New(`want {"name": …, "arguments": {…}}, with a name of letters, digits and _ . : -`)
	}
	var inner string
	switch c.Arguments.Kind() {
	case 'n', 0:
		return name, "{}", nil
	case '"': // some write the object as a text
		if json.Unmarshal(c.Arguments, &inner) == nil {
			c.Arguments = jsontext.Value(inner)
		}
	}
	given, err := object(string(c.Arguments), Unbreak)
	return name, string(given), err
}

// notJSON says what is wrong with a text.
func notJSON(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("a member stands there twice: %.80s", e.JSONPointer)
		}
		return fmt.Errorf("it is no JSON: %.120s at byte %d", e.Err, e.ByteOffset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it is no JSON: it ends too early")
	}
	return fmt.Errorf("it is no call: %.120s", err)
}

// object returns an object with each of its strings, names included, as f makes them.
func object(text string, f func(string) string) ([]byte, error) {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	v, err := mapStrings([]byte(text), f)
	switch {
	case err != nil:
		return nil, notJSON(err)
	case v.Kind() != '{':
		return nil, errors.New("the arguments are no JSON object")
	}
	return v, nil
}

// mapStrings returns a value with each of its strings, names included, as f makes them. All
// else stays as it is written, without white space.
func mapStrings(value []byte, f func(string) string) (jsontext.Value, error) {
	var out bytes.Buffer
	in := jsontext.NewDecoder(bytes.NewReader(value))
	to := jsontext.NewEncoder(&out)
	for {
		t, err := in.ReadToken()
		if err == io.EOF && out.Len() > 0 {
			break
		}
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(f(t.String()))
		}
		if err == nil {
			err = to.WriteToken(t)
		}
		if err != nil {
			return nil, err
		}
	}
	v := jsontext.Value(bytes.TrimRight(out.Bytes(), "\n"))
	if !v.IsValid() { // more than one
		return nil, errors.New("there is more than one value")
	}
	return v, nil
}

func quote(text string) string {
	q, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return `""` // valid text can always be quoted
	}
	return string(q)
}

// closingTags looks for the end outside of JSON's strings.
func closingTags(buf []byte, s *scan) int {
	const end = "</tool_call>"
	for s.at < len(buf) {
		rest := buf[s.at:]
		if s.in {
			n := bytes.IndexAny(rest, `"\`)
			switch {
			case n < 0:
				s.at = len(buf)
			case rest[n] == '"':
				s.at, s.in = s.at+n+1, false
			case n+1 == len(rest):
				s.at += n
				return -1
			default:
				s.at += n + 2
			}
			continue
		}
		n := bytes.IndexAny(rest, `"<`)
		switch {
		case n < 0:
			s.at = len(buf)
		case rest[n] == '"':
			s.at, s.in = s.at+n+1, true
		case bytes.HasPrefix(rest[n:], []byte(end)):
			return s.at + n
		case strings.HasPrefix(end, string(rest[n:min(len(rest), n+len(end))])):
			s.at += n
			return -1
		default:
			s.at += n + 1
		}
	}
	return -1
}
