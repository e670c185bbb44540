package modeltest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// grown is a conversation that grows as those of agents do, with all that can happen to one.
type grown struct {
	rand *rand.Rand
	r    model.Request
	next int
	seen bool // it has pictures at times
}

func (g *grown) text() string { return "word " + strconv.Itoa(g.rand.IntN(1000)) + " \"\u2028\xff" }

func (g *grown) name() string { return []string{"look", "seek"}[g.rand.IntN(2)] }

func (g *grown) picture() model.Part {
	return model.Part{Kind: model.PartImage, Media: []string{"image/png", "image/gif", "image/x-odd"}[g.rand.IntN(3)], Data: []byte(g.text())}
}

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
			m.Parts = append(m.Parts, model.Part{Kind: model.PartToolResult, ID: id, Name: g.name(), Text: g.text(), Error: g.rand.IntN(3) == 0})
			if g.seen && g.rand.IntN(3) == 0 {
				m.Parts[len(m.Parts)-1].Pictures = []model.Part{g.picture()}
			}
		case m.Role == model.User && g.seen && g.rand.IntN(4) == 0:
			m.Parts = append(m.Parts, g.picture())
		case m.Role == model.Assistant && g.rand.IntN(2) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartToolCall, ID: id, Name: g.name(), Args: []string{`{"a":1}`, `{"a`, ""}[g.rand.IntN(3)]})
		case m.Role == model.Assistant && g.rand.IntN(3) == 0:
			m.Parts = append(m.Parts, model.Part{Kind: event.PartThinking, Text: g.text(), Opaque: []string{model.Mark("acme", `{"type":"reasoning","id":"r","encrypted_content":"x"}`), model.Mark("acme", "sealed"), model.Mark("other", "sealed"), ""}[g.rand.IntN(4)]})
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

// ExerciseKept holds a driver to what it keeps of a conversation between two requests: not a byte that is sent
// depends on it, whatever the conversation goes through, and what was sent stays as it was. write writes a request
// for the model of that name in four pieces: what stands before the messages, those that are kept, the others, and
// what stands behind them. Its provider is acme.
func ExerciseKept[B ~[][]byte](t *testing.T, name string, write func(*model.Request) (B, error)) {
	t.Helper()
	kept, all := 0, 0
	for seed := range uint64(60) {
		g := &grown{rand: rand.New(rand.NewPCG(seed, 1)), seen: seed%3 == 0, r: model.Request{Model: name, System: "be brief"}}
		memo := new(model.Memo)
		var sent []B
		var copies [][]byte
		for turn := range 60 {
			g.say()
			g.change()
			whole := g.r
			want, err := write(&whole)
			if err != nil {
				t.Fatalf("seed %d, turn %d: write it whole: %v", seed, turn, err)
			}
			with := g.r
			with.Memo = memo
			got, err := write(&with)
			if err != nil {
				t.Fatalf("seed %d, turn %d: write what is new: %v", seed, turn, err)
			}
			if w, g := bytes.Join(want, nil), bytes.Join(got, nil); !bytes.Equal(w, g) {
				t.Fatalf("seed %d, turn %d: with what was kept\n%s\nis sent, want\n%s", seed, turn, g, w)
			}
			kept, all = kept+len(got[1]), all+len(got[1])+len(got[2])
			sent, copies = append(sent, got), append(copies, bytes.Join(got, nil))
		}
		for i, body := range sent { // a connection may read its bytes after the next is written
			if !bytes.Equal(bytes.Join(body, nil), copies[i]) {
				t.Fatalf("seed %d: request %d is another one after those that came later", seed, i)
			}
		}
	}
	if kept < all/2 {
		t.Errorf("of %d bytes of messages %d were written before, want most of them", all, kept)
	}
}
