package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json/jsontext"
)

// Looking through a request. All lists here are of what is known to be harmless, so that
// what providers think of next is closed until somebody has looked at it: the provider's
// own tools, servers that it would ask, addresses that it would fetch and what it has stored
// lead out of the sandbox.

// wish is what a request says that matters here.
type wish struct {
	model string
	// from and to are where the model's name stands in the body, with its quotation marks.
	from, to int64
	stream   bool
	// limit is how many tokens the answer may have, 0 if it does not say.
	limit int64
}

// deniedError says what of a request leads out of the sandbox.
type deniedError struct{ what string }

func (e *deniedError) Error() string {
	return e.what + " leads out of the sandbox, or is not known to stay in it: the gateway does not pass it on. A person can list it for this agent"
}

// look reads a request of a format.
func look(rt route, body []byte, allowed []string) (*wish, error) {
	l := &looker{d: jsontext.NewDecoder(bytes.NewBuffer(body)), allowed: allowed}
	var err error
	switch rt.wire {
	case event.WireAnthropic:
		err = l.anthropic()
	case event.WireChat:
		err = l.chat()
	case event.WireResponses:
		err = l.responses()
	case event.WireGemini:
		l.model, l.stream = rt.model, rt.stream
		err = l.gemini()
	}
	if err == nil {
		if _, end := l.d.ReadToken(); !errors.Is(end, io.EOF) {
			err = errors.New("there is more behind the request")
		}
	}
	switch {
	case err != nil:
		return nil, err
	case l.model == "":
		return nil, errors.New("the request names no model")
	case len(l.model) > maxName:
		return nil, fmt.Errorf("the name of the model has %d bytes, more than %d", len(l.model), maxName)
	}
	return &l.wish, nil
}

// looker goes through a request once. Duplicate names and what is no UTF-8 are errors of the
// decoder: two readers could read them in two ways.
type looker struct {
	wish
	d       *jsontext.Decoder
	allowed []string
}

func (l *looker) permits(word string) bool { return slices.Contains(l.allowed, word) }

// members are what an object may have: how each is read.
type members map[string]func() error

// object reads an object whose members are all known; null is none. What is the agent's own
// affair is skipped.
func (l *looker) object(what string, known members) error {
	return l.each(what, func(name string) error {
		read, ok := known[name]
		if !ok {
			if l.d.PeekKind() == 'n' || l.permits(name) {
				return l.skip()
			}
			return &deniedError{fmt.Sprintf("the field %q of %s", short(name), what)}
		}
		if read == nil {
			return l.skip()
		}
		return read()
	})
}

// each reads an object, member by member; null is none.
func (l *looker) each(what string, member func(name string) error) error {
	switch t, err := l.d.ReadToken(); {
	case err != nil:
		return err
	case t.Kind() == 'n':
		return nil
	case t.Kind() != '{':
		return fmt.Errorf("%s must be an object", what)
	}
	for l.d.PeekKind() != '}' {
		t, err := l.d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(t.String()); err != nil {
			return err
		}
	}
	_, err := l.d.ReadToken()
	return err
}

// list reads an array; null is an empty one.
func (l *looker) list(what string, one func() error) error {
	switch t, err := l.d.ReadToken(); {
	case err != nil:
		return err
	case t.Kind() == 'n':
		return nil
	case t.Kind() != '[':
		return fmt.Errorf("%s must be a list", what)
	}
	for l.d.PeekKind() != ']' {
		if l.d.PeekKind() == 0 { // the next token says what is wrong
			_, err := l.d.ReadToken()
			return errors.Join(err, errors.New("the request ends within a list"))
		}
		if err := one(); err != nil {
			return err
		}
	}
	_, err := l.d.ReadToken()
	return err
}

func (l *looker) skip() error { return l.d.SkipValue() }

// text reads a text into to; null is none.
func (l *looker) text(to *string) func() error {
	return func() error {
		t, err := l.d.ReadToken()
		switch {
		case err != nil:
			return err
		case t.Kind() == 'n':
			return nil
		case t.Kind() != '"':
			return errors.New("there is something else where a text must be")
		}
		*to = t.String()
		return nil
	}
}

// name reads the model's name, and where it stands.
func (l *looker) name() error {
	v, err := l.d.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() != '"' {
		return errors.New("model must be a text")
	}
	l.to = l.d.InputOffset()
	l.from = l.to - int64(len(v))
	name, err := jsontext.AppendUnquote(nil, v)
	l.model = string(name)
	return err
}

// number reads a number that bounds an answer.
func (l *looker) number() error {
	t, err := l.d.ReadToken()
	switch {
	case err != nil:
		return err
	case t.Kind() == 'n':
		return nil
	case t.Kind() != '0':
		return errors.New("there is something else where a number must be")
	}
	l.limit = max(l.limit, min(max(t.Int(), 0), 1<<40))
	return nil
}

// flag reads whether the answer is to be streamed.
func (l *looker) flag() error {
	t, err := l.d.ReadToken()
	if err != nil {
		return err
	}
	l.stream = t.Kind() == 't'
	return nil
}

// only lets a member pass that has one of some values, written as JSON, or none.
func (l *looker) only(what string, values ...string) func() error {
	return func() error {
		v, err := l.d.ReadValue()
		if err != nil {
			return err
		}
		if v.Kind() == 'n' || slices.Contains(values, string(v)) || l.permits(what) {
			return nil
		}
		return &deniedError{"the field " + what + ", set as it is,"}
	}
}

// kind lets a type pass that is one of those that are known.
func (l *looker) kind(what, kind string, known []string) error {
	if slices.Contains(known, kind) || l.permits(kind) {
		return nil
	}
	return &deniedError{fmt.Sprintf("the %s %q", what, short(kind))}
}

// address lets an address pass that holds its data itself: nobody has to fetch it.
func (l *looker) address(at string) error {
	if at == "" || strings.HasPrefix(at, "data:") || l.permits("url") {
		return nil
	}
	return &deniedError{"an address that the provider would fetch"}
}
