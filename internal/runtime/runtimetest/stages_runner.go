package runtimetest

import (
	"errors"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"

	"github.com/go-json-experiment/json"
)

// Runner is the part of a study whose researcher is an executor: a sitting is one prompt, its
// process comes and goes, it acts when it may not, and people talk to it meanwhile.
type Runner struct {
	*Stages
	guests guests
	work   executorBooks
}

// NewRunner returns the part of one quest.
func NewRunner() *Runner {
	p := &Runner{Stages: NewStages(), work: newExecutorBooks()}
	p.runner = "guest"
	return p
}

// Rows implements Caller.
func (p *Runner) Rows() map[event.Type]Row {
	rows := p.Stages.Rows()
	rows["prompt.call"] = p.returned
	return rows
}

// returned is the row of prompt.call: one that was cut short is interrupted, or ended just before.
func (p *Runner) returned(w *World, call event.Event) event.Body {
	if p.books.cut == call.Seq && w.Chance(700) {
		w.Saw("prompts cut")
		return &event.PromptResult{Call: call.Seq, Stop: event.StopInterrupted}
	}
	return returned(w, call)
}

// Visit implements Visitor. Who writes a paper does so in every step.
func (p *Runner) Visit(w *World) []event.Draft {
	call := func(agent string) (string, event.Text) {
		tool, args := p.Call(w, agent)
		data, err := json.Marshal(args, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		return tool, event.Text{Text: string(data)}
	}
	out := p.guests.visit(w, call)
	if a := w.State().Agent(stages.Researcher); p.writes && a.Asked != 0 && len(a.Open) == 0 {
		name, args := call(a.Name)
		out = append(out, event.Draft{Time: w.Now, Actor: a.Name, Body: &event.ToolProposed{ID: p.guests.name(w, "t"), Name: name, Args: args}})
	}
	return out
}

// Count implements Part.
func (p *Runner) Count(w *World, e event.Event) error {
	if err := p.work.count(w, e); err != nil {
		return err
	}
	if e.Actor == stages.Researcher && e.Type == "model.call" {
		return errors.New("a model is asked in the place of the runner")
	}
	return p.Stages.Count(w, e)
}

// Settled implements Settled.
func (p *Runner) Settled(w *World) error { return p.work.settled(w) }
