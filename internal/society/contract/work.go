package contract

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// work takes the next step with a part of the plan, if there is one now.
func work(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	switch {
	case t.Done:
		return report(t, e)
	case t.Kind == wait:
		return waitFor(s, t, e)
	}
	if step := tenders(s, t, e); step != nil || t.Open {
		return step
	}
	switch t.Kind {
	case research:
		return search(Net(s), t, e)
	case compute:
		return calculate(s, t, e)
	}
	return examine(s, t, e)
}

// report has the worker tell the planner what came of its part.
func report(t *tender.Task, e event.Event) []event.Draft {
	if t.Informed || t.Worker == "" || t.Kind == audit {
		return nil // the auditor says more than that
	}
	return tell(e, t.Worker, event.Inform, t.Award, fmt.Sprintf("%s is done: sources %s.", t.Task, cite(t.Found)))
}

// timerWait is what the timer of a waiting step is for.
const timerWait = "wait"

func waitFor(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	if e.Time >= t.Until {
		return one(e, Planner, &event.TaskCompleted{Task: t.Task})
	}
	for _, c := range s.Calls {
		if c.Timer == timerWait {
			return nil
		}
	}
	return one(e, "core", &event.TimerSet{At: t.Until, Purpose: timerWait})
}

func search(n *tender.Net, t *tender.Task, e event.Event) []event.Draft {
	switch r := t.Result; {
	case r == nil:
		method := "lexical"
		if t.Worker == Hybrid {
			method = "hybrid"
		}
		call := &event.SearchCall{Limit: t.Limit, Method: method, Query: t.Text, Task: t.Task}
		if src := n.Source(t.Around); src != nil && src.Anchor != nil {
			call.Method, call.Doc, call.Paragraph = "around", src.Anchor.Doc, src.Anchor.Paragraph
		}
		return one(e, t.Worker, call)
	case r.Error != "":
		return failed(t, e, r.Error)
	case len(r.Sources) == 0:
		return failed(t, e, nothingFound)
	default:
		return one(e, t.Worker, &event.TaskCompleted{Award: t.Award, Sources: r.Sources, Task: t.Task})
	}
}

// nothingFound is why a search failed that went well.
const nothingFound = "nothing in the corpus has any of the words that were searched for"

func failed(t *tender.Task, e event.Event, reason string) []event.Draft {
	return one(e, t.Worker, &event.TaskFailed{Award: t.Award, Reason: event.Shorten(reason, 1000), Task: t.Task})
}

// calculate has a program run. What the coder has run, it says with a tool.
func calculate(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	r := t.Result
	if t.Worker == Coder {
		return coded(s, t, e)
	}
	switch {
	case r == nil:
		engine := "builtin"
		if t.Worker == Python {
			engine = "python"
		}
		return one(e, t.Worker, &event.ComputeCall{Code: program(s, t.Text), Engine: engine, Program: t.Text, Task: t.Task})
	case len(r.Sources) == 0:
		return failed(t, e, r.Error)
	}
	return one(e, t.Worker, &event.TaskCompleted{Award: t.Award, Sources: r.Sources, Task: t.Task})
}

// coded is about a program that the coder writes: it is done when one has run well,
// and given up when the coder is.
func coded(s *quest.State, t *tender.Task, e event.Event) []event.Draft {
	c := s.Agent(Coder)
	switch {
	case t.Result != nil && len(t.Result.Sources) > 0:
		return one(e, t.Worker, &event.TaskCompleted{Award: t.Award, Sources: t.Result.Sources, Task: t.Task})
	case c.Parked != "" && c.Parked != waitsForContract:
		return failed(t, e, c.Parked)
	case t.Tries >= maxTries:
		return failed(t, e, fmt.Sprintf("%d programs of its own did not run well", t.Tries))
	}
	return nil
}

// maxTries is how many programs the coder may have run for one contract.
const maxTries = 5
