package openai

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// grown is a conversation that grows as those of agents do, with all that can happen to one.
type grown struct {
	rand *rand.Rand
	r    model.Request
	next int
}

func (g *grown) text() string { return "word " + strconv.Itoa(g.rand.IntN(1000)) + " \"\u2028\xff" }

// say adds a message of either side, or adds to the last.
func (g *grown) say() {
	m := model.Message{Role: model.User}
	if n := len(g.r.Messages); n > 0 && g.r.Messages[n-1].Role == model.User {
		m.Role = model.Assistant
	}
	if g.rand.IntN(6) == 0 {
		m.Role = model.Assistant
	}
	for range g.rand.IntN(4) {
		g.next++
		id := "call_" + strconv.Itoa(g.next-g.rand.IntN(3)) // some twice, some without a call
		switch {
		case m.Role == model.User && g.rand.IntN(2) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: model.PartToolResult, ID: id, Name: "look", Text: g.text(), Error: g.rand.IntN(3) == 0})
		case m.Role == model.Assistant && g.rand.IntN(2) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartToolCall, ID: id, Name: "look", Args: `{"a":1}`})
		case m.Role == model.Assistant && g.rand.IntN(3) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartThinking, Text: g.text(), Opaque: model.Mark("acme", `{"type":"reasoning","id":"r","encrypted_content":"x"}`)})
		case g.rand.IntN(5) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartText}) // empty
		default:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartText, Text: g.text()})
		}
	}
	if n := len(g.r.Messages) - 1; n >= 0 && g.r.Messages[n].Role == m.Role && g.rand.IntN(2) == 0 {
		// As agent.Rendering does with what is said aside.
		m.Parts = slices.Concat(g.r.Messages[n].Parts, m.Parts)
		g.r.Messages = append(slices.Clone(g.r.Messages[:n]), m)
		return
	}
	g.r.Messages = append(g.r.Messages, m)
}

// change is what seldom happens: a cut of the window, other tools, another prompt, more thinking.
func (g *grown) change() {
	switch g.rand.IntN(40) {
	case 0:
		n := len(g.r.Messages)
		g.r.Messages = slices.Concat(g.r.Messages[:min(n, 1)], g.r.Messages[n/2:])
	case 1:
		g.r.Tools = []model.Tool{{Name: "look", Schema: `{"type":"object"}`, Description: g.text()}}
	case 2:
		g.r.System = g.text()
	case 3:
		g.r.Thinking = !g.r.Thinking
	case 4:
		g.r.MaxTokens = int64(g.rand.IntN(3))
	}
}

// TestWhatIsKeptChangesNoByte: a request is the same whether or not most of it was written before.
func TestWhatIsKeptChangesNoByte(t *testing.T) {
	t.Parallel()
	chat := NewChat(&wire.Client{}, Options{Provider: "acme", ReasoningField: "reasoning", AfterTools: "Go on."})
	responses := NewResponses(&wire.Client{}, Options{Provider: "acme"})
	for name, write := range map[string]func(*model.Request) (wire.Body, error){"Chat": chat.request, "Responses": responses.request} {
		kept := 0
		for seed := range uint64(60) {
			g := &grown{rand: rand.New(rand.NewPCG(seed, 1)), r: model.Request{Model: "m", System: "be brief"}}
			memo := new(model.Memo)
			for turn := range 60 {
				g.say()
				g.change()
				whole := g.r
				want, err := write(&whole)
				if err != nil {
					t.Fatal(err)
				}
				with := g.r
				with.Memo = memo
				got, err := write(&with)
				if err != nil {
					t.Fatal(err)
				}
				if w, g := bytes.Join(want, nil), bytes.Join(got, nil); !bytes.Equal(w, g) {
					t.Fatalf("%s, seed %d, turn %d: with what was kept\n%s\nis sent, want\n%s", name, seed, turn, g, w)
				}
				kept += len(got[1])
			}
		}
		if kept == 0 {
			t.Errorf("%s: nothing was ever kept", name)
		}
	}
}

// TestATurnIsWrittenOnce: what a request writes does not grow with the history.
func TestATurnIsWrittenOnce(t *testing.T) {
	t.Parallel()
	m := NewChat(&wire.Client{}, Options{})
	written := 0
	l := list{name: "messages", fields: m.fields, fits: m.fits, items: func(t turn) []any { written++; return m.items(t) }}
	r := model.Request{Model: "m", Memo: new(model.Memo)}
	for i := range 500 {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: strconv.Itoa(i)}}})
		before := written
		if _, err := l.write(m, &r); err != nil {
			t.Fatal(err)
		}
		if n := written - before; n > 3 {
			t.Fatalf("request %d wrote %d turns, want at most 3", i, n)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: event.PartText, Text: "so"}}})
	}
}

// TestWhatWasSentStaysAsItWas: a connection may read a request's bytes after the next is written.
func TestWhatWasSentStaysAsItWas(t *testing.T) {
	t.Parallel()
	m := NewChat(&wire.Client{}, Options{})
	g := &grown{rand: rand.New(rand.NewPCG(7, 1)), r: model.Request{Model: "m", Memo: new(model.Memo)}}
	var sent []wire.Body
	var copies [][]byte
	for range 200 {
		g.say()
		body, err := m.request(&g.r)
		if err != nil {
			t.Fatal(err)
		}
		sent, copies = append(sent, body), append(copies, bytes.Join(body, nil))
	}
	for i, body := range sent {
		if !bytes.Equal(bytes.Join(body, nil), copies[i]) {
			t.Fatalf("request %d is another one after those that came later", i)
		}
	}
}
