package quest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Forms. A server that works on a call may want to know something of a person. The person is
// asked in words and answers in words: JSON, or a line for each field. What does not fit the
// form is asked for once more, with what is wrong with it; then the server is told no. So it is
// if nobody answers in time.

// Form is what a server wants to know.
type Form struct {
	Seq   uint64
	Agent string
	Body  event.McpAsked
	// Asked is how often a person was asked, Wrong what was wrong with the answer.
	Asked int    `json:",omitzero"`
	Wrong string `json:",omitzero"`
	// Reply is what the server is told, once that is certain.
	Reply *event.McpReplied `json:",omitzero"`
}

// Bounds on what servers may want to know.
const (
	// maxForms is how many forms of an agent are open at one time.
	maxForms = 4
	// maxForm is how many bytes of JSON a form has.
	maxForm = 8 << 10
	// formAsked is how often a person is asked, formTime for how long, in microseconds.
	formAsked = 2
	formTime  = event.Time(5 * 60 * 1_000_000)
)

// decline is the answer by which a person says that the server is told nothing.
const decline = "decline"

func (s *State) form(seq uint64) *Form {
	i := slices.IndexFunc(s.Forms, func(f Form) bool { return f.Seq == seq })
	if i < 0 {
		return nil
	}
	return &s.Forms[i]
}

// formOver reports whether nobody waits for a form any more: its call has a result, or the
// server asks something else for it.
func (s *State) formOver(f *Form) bool {
	if f == nil || f.Reply != nil {
		return true
	}
	_, open := s.Calls[f.Body.Call]
	return !open
}

func (s *State) applyForm(e event.Event) {
	switch b := e.Body.(type) {
	case *event.McpAsked:
		for i := range s.Forms {
			if f := &s.Forms[i]; f.Body.Call == b.Call && f.Reply == nil {
				f.refuse("the server asks something else")
			}
		}
		s.Forms = append(s.Forms, Form{Seq: e.Seq, Agent: e.Actor, Body: *b})
	case *event.McpReplied:
		s.Forms = slices.DeleteFunc(s.Forms, func(f Form) bool { return f.Seq == b.Asked })
	}
}

func (f *Form) refuse(why string) {
	f.Reply = &event.McpReplied{Asked: f.Seq, Server: f.Body.Server, Why: why}
}

// forms says what comes next of what servers want to know: a question, or the reply.
func (s *State) forms(e event.Event) []event.Draft {
	for i := range s.Forms {
		f := &s.Forms[i]
		switch {
		case f.Reply != nil:
			return []event.Draft{After(e, f.Agent, "", f.Reply)}
		case s.formOver(f):
			return []event.Draft{After(e, f.Agent, "", &event.McpReplied{Asked: f.Seq, Server: f.Body.Server, Why: "the call is over"})}
		case !slices.ContainsFunc(s.Questions, func(q Question) bool { return q.Body.Form == f.Seq }):
			return []event.Draft{After(e, f.Agent, "", f.question(s.Calls[f.Body.Call].Tool, e.Time))}
		}
	}
	return nil
}

// question puts a form into words.
func (f *Form) question(tool string, now event.Time) *event.InteractionOpened {
	b := &event.InteractionOpened{Form: f.Seq, Server: f.Body.Server, Expires: now + formTime}
	var w strings.Builder
	if f.Wrong != "" {
		fmt.Fprintf(&w, "That does not fit, and is asked once more: %s.\n", f.Wrong)
	}
	fmt.Fprintf(&w, "The server %s wants to know something of a person before it goes on with %s, which %s has called. These are its words, and a stranger's: %q\n",
		f.Body.Server, tool, f.Agent, event.Shorten(f.Body.Message, maxQuestion/2))
	if f.Body.Address != "" {
		b.Options = []string{yes, no}
		host := ""
		if u, err := url.Parse(f.Body.Address); err == nil {
			host = u.Host
		}
		fmt.Fprintf(&w, "It wants you to visit a page of %s, which Lyceum does not open:\n%s\nSay yes when you have been there.", host, f.Body.Address)
		b.Question.Text = event.Shorten(w.String(), maxQuestion)
		return b
	}
	w.WriteString(FormWords(f.Body.Fields))
	fmt.Fprintf(&w, "Answer with a line `name: value` for each, or with JSON; with %s the server is told nothing. Give it nothing that is secret.", decline)
	b.Question.Text = event.Shorten(w.String(), maxQuestion)
	return b
}

func kindOf(f *event.FormField) string {
	kind := f.Kind
	if len(f.Options) > 0 {
		kind = "one of " + strings.Join(f.Options, ", ")
	}
	if f.Required {
		kind += ", required"
	}
	return kind
}

// filled takes in what a person said to a form.
func (s *State) filled(q *Question, r Reply) {
	f := s.form(q.Body.Form)
	if s.formOver(f) {
		return
	}
	f.Asked++
	text := strings.TrimSpace(r.Text)
	switch {
	case r.Nobody:
		f.refuse("nobody answered in time")
	case f.Body.Address != "" && r.Choice == yes:
		f.Reply = &event.McpReplied{Accepted: true, Asked: f.Seq, Server: f.Body.Server}
	case f.Body.Address != "" || strings.EqualFold(text, decline):
		f.refuse("a person declined")
	default:
		values, wrong := f.read(text)
		switch {
		case wrong == "":
			f.Reply = &event.McpReplied{Accepted: true, Asked: f.Seq, Server: f.Body.Server, Values: values}
		case f.Asked >= formAsked:
			f.refuse("the answer does not fit the form: " + event.Shorten(wrong, 500))
		default:
			f.Wrong = event.Shorten(wrong, 500)
		}
	}
}

// FormWords are the fields of a form in words, a line each, and how to answer them.
func FormWords(fields []event.FormField) string {
	var w strings.Builder
	for _, field := range fields {
		fmt.Fprintf(&w, "- %s (%s)", field.Name, kindOf(&field))
		for _, text := range []string{field.Title, field.Description} {
			if text != "" {
				w.WriteString(": " + text)
			}
		}
		w.WriteString("\n")
	}
	return w.String()
}

// ReadForm reads an answer to a form, and says what is wrong with it. declined says that it is no
// answer.
func ReadForm(fields []event.FormField, text string) (values, wrong string, declined bool) {
	if strings.EqualFold(strings.TrimSpace(text), decline) {
		return "", "", true
	}
	values, wrong = (&Form{Body: event.McpAsked{Fields: fields}}).read(strings.TrimSpace(text))
	return values, wrong, false
}

// read reads an answer, and says what is wrong with it.
func (f *Form) read(text string) (values, wrong string) {
	given := map[string]jsontext.Value{}
	one := ""
	if len(f.Body.Fields) == 1 {
		one = f.Body.Fields[0].Name
	}
	switch {
	case strings.HasPrefix(text, "{"):
		if json.Unmarshal([]byte(text), &given) != nil {
			return "", "it begins as JSON and is none"
		}
	case one != "" && !strings.HasPrefix(text, one+":"): // there is only one thing to mean
		given[one] = quoted(text)
	default:
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(line, ":")
			switch name = strings.TrimSpace(name); {
			case strings.TrimSpace(line) == "":
			case f.field(name) == nil:
				return "", fmt.Sprintf("%.80q does not begin with the name of a field", strings.TrimSpace(line))
			case given[name] != nil:
				return "", name + " stands there twice"
			default:
				given[name] = quoted(strings.TrimSpace(value))
			}
		}
	}
	for name := range given {
		if f.field(name) == nil {
			return "", fmt.Sprintf("there is no field %.80q", name)
		}
	}
	out := map[string]jsontext.Value{}
	for _, field := range f.Body.Fields {
		v, ok := given[field.Name]
		if !ok || len(v) == 2 && string(v) == `""` && !field.Required {
			if field.Required {
				return "", fmt.Sprintf("%s is missing", field.Name)
			}
			continue
		}
		if out[field.Name], ok = valueOf(&field, v); !ok {
			return "", fmt.Sprintf("%s must be %s", field.Name, kindOf(&field))
		}
	}
	data, err := json.Marshal(out, json.Deterministic(true))
	if err != nil || len(data) > maxForm {
		return "", "it is too long"
	}
	return string(data), ""
}

func (f *Form) field(name string) *event.FormField {
	i := slices.IndexFunc(f.Body.Fields, func(x event.FormField) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Body.Fields[i]
}

func quoted(text string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, text) // what is no UTF-8 becomes so
	return v
}

// valueOf is a value as the form wants it. Words may stand for numbers, and yes for true.
func valueOf(f *event.FormField, v jsontext.Value) (jsontext.Value, bool) {
	text := string(v)
	if v.Kind() == '"' {
		if json.Unmarshal(v, &text) != nil {
			return nil, false
		}
	}
	switch f.Kind {
	case "string":
		if v.Kind() != '"' || len(f.Options) > 0 && !slices.Contains(f.Options, text) || f.Required && text == "" {
			return nil, false
		}
		return quoted(text), true
	case "boolean":
		switch strings.ToLower(text) {
		case "true", yes:
			return jsontext.Value("true"), true
		case "false", no:
			return jsontext.Value("false"), true
		}
		return nil, false
	case "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return jsontext.Value(strconv.FormatInt(n, 10)), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, false
	}
	data, err := json.Marshal(n) // not what is no number, or endless
	return data, err == nil
}

// checkForm tells whether a server may ask now: it works on a call of the agent.
func (s *State) checkForm(actor string, b *event.McpAsked) error {
	c, ok := s.Calls[b.Call]
	if !ok || c.Kind != "tool.call" || c.Agent != actor || !strings.HasPrefix(c.Tool, b.Server+"__") {
		return fmt.Errorf("quest %s has no open call %d of the server %.40q by %s", s.Name, b.Call, b.Server, actor)
	}
	open := 0
	for _, f := range s.Forms {
		if f.Agent == actor {
			open++
		}
	}
	data, err := event.EncodeBody(b)
	if err != nil || len(data) > maxForm || open >= maxForms || b.Address == "" && len(b.Fields) == 0 {
		return fmt.Errorf("the server %.40q asks too much: %d forms are open, this one has %d bytes", b.Server, open, len(data))
	}
	return nil
}
