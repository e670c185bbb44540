// Package dialect lets models use tools that have no tool calls: tools become text in
// the system prompt, and calls are read from the text of the answer.
//
// A dialect stands between a call and its driver. Above it a request has tools, calls and
// results, and so has what the ledger records; below it there is only text. Nothing of a
// dialect is recorded, so replay and verify do not know of it, and a quest can go on with
// another.
//
// Some strings are no words but orders to a model or to the reader here: what begins a
// call, a result or a turn. In whatever others wrote (outputs of tools, texts of people,
// descriptions of tools, the model's own words) each of them is broken up before the model
// sees it, and put together in what the model says. So no text can forge a call, a result
// or a turn; see Break.
//
// A call that cannot be read is a call all the same, with arguments that are no JSON: it
// has a result like any other, an error that says what was wrong.
package dialect

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// The names of the dialects. Native is none: the provider has tool calls.
const (
	Native        = "native"
	FunctionGemma = "functiongemma"
	Tags          = "tags"
)

// Names are all that a configuration can name.
func Names() []string { return []string{Native, FunctionGemma, Tags} }

// Dialect is a way to write tools, calls and results as text.
type Dialect struct {
	name string
	// begin and end stand around a call, reply before a result.
	begin, end, reply string
	// declare says which tools there are, and how they are called.
	declare func([]model.Tool) string
	// call is what stands between begin and end; ok is false if args are no JSON object.
	call func(name, args string) (text string, ok bool)
	// result is the result of a call, with all that stands around it.
	result func(name, text string, failed bool) string
	// parse reads what stands between begin and end. It returns the name as far as that
	// can be read, whatever else is wrong.
	parse func(text string) (name, args string, err error)
	// closing finds end behind a call that begins buf, as far as s has not looked already.
	// It is -1 if there is none outside of strings.
	closing func(buf []byte, s *scan) int
}

// Of returns the dialect of a name, nil for those that are none.
func Of(name string) *Dialect {
	switch name {
	case FunctionGemma:
		return functionGemma
	case Tags:
		return tags
	}
	return nil
}

// Stop is a text at which a server should stop: no model writes it but to make up a
// result.
func (d *Dialect) Stop() string { return d.reply }

// add adds parts to a message: pictures as they are, all else as text. Thoughts are
// left out: they go to nobody but the format that they came in.
func (d *Dialect) add(out, parts []model.Part, broken map[string]string) []model.Part {
	say := func(text string) {
		if n := len(out); n > 0 && out[n-1].Kind == event.PartText {
			out[n-1].Text += "\n" + text
		} else if text != "" {
			out = append(out, model.Part{Kind: event.PartText, Text: text})
		}
	}
	for _, p := range parts {
		switch p.Kind {
		case event.PartText:
			if p.Text != "" {
				say(Break(p.Text))
			}
		case event.PartToolCall:
			if text, ok := d.call(named(p.Name), p.Args); ok {
				say(d.begin + text + d.end)
				continue
			}
			why, text := unreadable(p.Args)
			broken[p.ID] = why
			say(Break(d.begin + text))
		case model.PartToolResult:
			text := p.Text
			if why, ok := broken[p.ID]; ok {
				text = "the call could not be read: " + why + "\n" + text
				delete(broken, p.ID)
			}
			say(d.result(named(p.Name), text, p.Error))
			out = append(out, p.Pictures...)
		case model.PartImage:
			out = append(out, p)
		}
	}
	return out
}

// named is a tool's name as it can be written: a model may have made it up.
func named(name string) string {
	name = strings.Map(func(r rune) rune {
		if nameRune(r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return unnamed
	}
	return name
}

// unnamed is what a call is of whose name cannot be read.
const unnamed = "unreadable_call"

func nameRune(r rune) bool {
	return r == '_' || r == '.' || r == ':' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// isName reports whether a call can have this name.
func isName(name string) bool {
	return name != "" && len(name) <= maxName && strings.IndexFunc(name, func(r rune) bool { return !nameRune(r) }) < 0
}

// maxName is how long a name may be: no tool has a longer one.
const maxName = 128

// Ear hears an answer: what is words in it is told, and the calls are read.
// It is of one goroutine.
type Ear struct {
	d    *Dialect
	r    *model.Request
	emit func(model.Delta)
	live *reader
}

// Listen returns what hears one answer to r, which is as it was before Request. emit, which
// may be nil, is told the words, and whatever is no text.
func (d *Dialect) Listen(r *model.Request, emit func(model.Delta)) *Ear {
	e := &Ear{d: d, r: r, emit: emit}
	e.live = e.reader(func(words string) {
		if emit != nil {
			emit(model.Delta{Kind: event.PartText, Text: words})
		}
	})
	return e
}

func (e *Ear) reader(say func(string)) *reader {
	return &reader{d: e.d, calls: len(e.r.Tools) > 0, say: say}
}

// Delta takes in a piece of the answer.
func (e *Ear) Delta(p model.Delta) {
	switch {
	case p.Kind == event.PartText:
		e.live.write(p.Text)
	case e.emit != nil:
		e.emit(p)
	}
}

// Answer tells what was held back, and makes calls of those in the text of the answer.
func (e *Ear) Answer(a *model.Answer) {
	e.live.close()
	var parts []model.Part
	var text *reader
	flush := func() {
		if text != nil {
			parts, text = append(parts, text.close()...), nil
		}
	}
	for _, p := range a.Parts {
		if p.Kind != event.PartText {
			flush()
			parts = append(parts, p)
			continue
		}
		if text == nil {
			text = e.reader(nil)
		}
		text.write(p.Text)
	}
	flush()
	n := 0
	for i := range parts {
		if p := &parts[i]; p.Kind == event.PartToolCall {
			if p.ID == "" {
				p.ID = e.id(n)
			}
			n++
		}
	}
	a.Parts = parts
	if n > 0 && a.Stop == model.StopEnd {
		a.Stop = model.StopTools
	}
}

// id names a call: the same for the same answer to the same turn.
func (e *Ear) id(n int) string {
	words := []string{e.r.Quest, e.r.Agent, strconv.FormatInt(e.r.Turn, 10), strconv.Itoa(len(e.r.Messages)), strconv.Itoa(n)}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return "call_" + strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 36)
}
