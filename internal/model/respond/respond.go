// Package respond is the server's half of the providers' formats: it writes an answer as each
// of them does, streamed in pieces or whole.
//
// The gateway answers with it for models that are no provider's; the suite of drivers plays
// providers with it. It reads nothing: what a request says is for whoever serves to judge.
package respond

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// Send writes one server-sent event, whose name may be empty, and flushes it. It returns
// false when the connection is to be given up.
type Send func(name, data string) bool

// Answer is what is to be said.
type Answer struct {
	// ID tells answers apart, Model is who speaks.
	ID, Model string
	// Created is in seconds since 1970, for formats that say so.
	Created int64
	Parts   []model.Part
	Usage   event.Usage
	Stop    string
	// Seal makes what a format sends of an opaque part; nil sends it as it is. id is that of
	// the item that it belongs to, if the format has ids.
	Seal func(p model.Part, id string) string
}

func (a *Answer) seal(p model.Part, id string) string {
	if a.Seal == nil || p.Opaque == "" {
		return p.Opaque
	}
	return a.Seal(p, id)
}

// Format is how a provider writes.
type Format interface {
	// Stream sends an answer in pieces. It stops when send returns false.
	Stream(send Send, a *Answer)
	// Whole is the body of an answer that is not streamed.
	Whole(a *Answer) []byte
}

// Of returns the format of a name, nil if there is none.
func Of(wire string) Format {
	switch wire {
	case event.WireAnthropic:
		return Anthropic{}
	case event.WireChat:
		return Chat{}
	case event.WireResponses:
		return Responses{}
	case event.WireGemini:
		return Gemini{}
	}
	return nil
}

// Write makes JSON of what a server says.
func Write(v any) []byte {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("an answer that is no JSON: %v", err)) // all of them are made here
	}
	return data
}

// pieces cuts a text into at most n, between its characters and wherever that falls in JSON.
func pieces(s string, n int) (out []string) {
	r := []rune(s)
	for size := len(r)/n + 1; len(r) > 0; r = r[min(size, len(r)):] {
		out = append(out, string(r[:min(size, len(r))]))
	}
	return out
}

// args are arguments as an object, whatever a model wrote.
func args(p model.Part) string {
	var v map[string]any
	if json.Unmarshal([]byte(p.Args), &v) != nil {
		return "{}"
	}
	return p.Args
}
