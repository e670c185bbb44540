package runtimetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// fired is the row of timer.set.
func fired(_ *World, call event.Event) event.Body { return &event.TimerFired{Call: call.Seq} }

// replied is the row of interaction.opened: a person chooses, or says something.
func replied(w *World, call event.Event) event.Body {
	r := &event.InteractionAnswered{Interaction: call.Seq}
	options := call.Body.(*event.InteractionOpened).Options
	if len(options) > 0 {
		r.Choice = options[w.IntN(len(options))]
	}
	if r.Choice == "" || w.Chance(300) {
		r.Text = w.Word()
	}
	w.Saw("questions answered")
	return r
}

// made is the row of prepare.call: the command leaves a home, or fails.
func made(w *World, call event.Event) event.Body {
	r := &event.PrepareResult{Call: call.Seq, Output: event.Text{Text: w.Word()}}
	switch {
	case w.Chance(150):
		r.Exit = 1
	case w.Chance(100):
		r.Error = "no computer"
	default:
		r.Tree = new(event.TreeRef(event.RefOf([]byte("prepared"))))
		w.Saw("prepared")
	}
	return r
}

// answer is the row of model.call: what the model of an agent says. Most of the time it
// calls tools, as the society's part has it.
func answer(w *World, call event.Event) event.Body {
	r := said(w, call)
	recall(w, call.Body.(*event.ModelCall), r)
	return r
}

func said(w *World, call event.Event) *event.ModelResult {
	r := &event.ModelResult{Call: call.Seq, Cost: w.Int64N(500), Usage: event.Usage{Input: w.Int64N(2000), Output: w.Int64N(300)}, Estimated: w.Chance(50)}
	strict := w.State().Limits.Strict
	if c := w.State().Calls[call.Seq]; strict { // no model uses more than it can
		r.Cost, r.Usage.Input = w.Int64N(c.Cost+1), min(r.Usage.Input, c.Tokens-r.Usage.Output)
	}
	if w.Chance(w.rates.Failed) {
		switch n := w.IntN(22); {
		case n < 4:
			r.Error = &event.ModelError{Kind: string(model.ContextTooLong), Text: "too long"}
		case n < 7:
			r.Error = &event.ModelError{Kind: string(model.Unavailable), Text: "overloaded"}
			if strict && w.Chance(500) {
				r.Wasted, r.Usage = new(r.Usage), event.Usage{}
			}
		case n < 12: // nothing at all
		default:
			r.Stop, r.Parts = []string{model.StopEnd, model.StopLength, model.StopRefusal}[w.IntN(3)], []event.Part{{Kind: event.PartText, Text: new(w.Text())}}
		}
		return r
	}
	r.Stop, r.Parts = model.StopTools, []event.Part{{Kind: event.PartText, Text: new(w.Text())}}
	for i := range 1 + w.IntN(3) {
		tool, text, ok := w.beside(call.Actor)
		if !ok {
			var args any
			tool, args = w.part.Call(w, call.Actor)
			text, ok = args.(event.Text)
			if !ok {
				data, err := json.Marshal(args, json.Deterministic(true))
				if err != nil {
					panic(err)
				}
				text = event.Text{Text: string(data)}
			}
		}
		r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint("c", call.Seq, "-", i), Name: tool, Args: &text})
	}
	return r
}

// passed is the row of gateway.call: what came of a request of an outside agent.
func passed(w *World, call event.Event) event.Body {
	r := &event.GatewayResult{Call: call.Seq, Status: 200, Size: w.Int64N(5000)}
	c := w.State().Calls[call.Seq]
	switch {
	case c.Count:
		return r
	case w.Chance(w.rates.Failed):
		r.Status, r.Error = 503, "overloaded"
		return r
	}
	r.Usage, r.Cost, r.Estimated = event.Usage{Input: w.Int64N(c.Most.Input + 1), Output: w.Int64N(c.Most.Output + 1)}, w.Int64N(500), w.Chance(100)
	if w.State().Limits.Strict {
		r.Cost = w.Int64N(min(c.Cost, 500) + 1)
	}
	return r
}

// Text is what anybody might say, long or short, now and then in a blob.
func (w *World) Text() event.Text {
	if w.Chance(100) {
		ref := event.RefOf([]byte(fmt.Sprint(w.Uint64())))
		ref.Size = w.Int64N(4000)
		return event.Text{Ref: &ref}
	}
	return event.Text{Text: strings.Repeat("word ", w.IntN(200))}
}

// toolResult is the row of tool.call: what a tool of the world says, and what the world
// does for tools that the rules answer.
func toolResult(w *World, call event.Event) event.Body {
	s := w.State()
	own := s.Own(call.Tool)
	if own == nil {
		r := &event.ToolResult{Call: call.Seq, Error: w.Chance(200), Output: w.Text()}
		if w.Chance(400) {
			r.Output = event.Text{Text: "the same"}
		}
		return r
	}
	u, err := s.Agent(call.Actor).Use(call.Seq)
	if err != nil {
		panic(err) // the call is open: it must be there
	}
	if own.Step == quest.PreparedTool {
		return prepared(w, call.Seq, own, u.Args.Text)
	}
	r := &event.ToolResult{Call: call.Seq}
	folder, err := s.Deliver(s.Agent(call.Actor), &u)
	if err != nil {
		r.Error, r.Output.Text = true, err.Error()
		return r
	}
	r.Output.Text = folder.Said
	if p, ok := w.part.(Receiver); ok {
		p.Received(folder)
	}
	return r
}

// missingFile is the one file that no agent has in its home.
const missingFile = "missing"

// prepared reads arguments as the runtime does, with a home in which any file but one is.
func prepared(w *World, seq uint64, own *quest.OwnTool, args string) *event.ToolPrepared {
	p := &event.ToolPrepared{Call: seq}
	given := map[string]any{}
	if err := json.Unmarshal([]byte(args), &given); err != nil {
		p.Error = "The arguments are no JSON object."
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, _ := given[name].(string)
		switch {
		case name == own.Folder:
			if text == missingFile {
				return &event.ToolPrepared{Call: seq, Error: "There is no such folder."}
			}
			p.Tree = new(event.TreeRef(event.RefOf([]byte(args))))
		case own.Folder != "": // the rules read it
		case name == own.Files:
			list, _ := given[name].([]any)
			for _, file := range list {
				p.Files = append(p.Files, fmt.Sprint(file))
			}
			slices.Sort(p.Files)
		case name == own.Content:
			f := w.State().Scan(own.Name, text)
			p.Content, p.Abstract, p.Citations, p.Loose, p.Numbers = &event.Text{Text: text}, f.Abstract, f.Citations, f.Loose, f.Numbers
		default:
			p.Values = append(p.Values, quest.Values(name, given[name])...)
		}
	}
	if slices.Contains(p.Files, missingFile) {
		return &event.ToolPrepared{Call: seq, Error: "There is no such file."}
	}
	if len(p.Files) > 0 {
		p.Tree = &event.TreeRef{Size: 1}
	}
	return p
}
