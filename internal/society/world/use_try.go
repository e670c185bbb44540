package world

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/world/trial"

	"github.com/go-json-experiment/json/jsontext"
)

// try predicts, has it done, and shows what was predicted beside what was seen.
func (c *using) try() []event.Draft {
	for _, t := range c.m.Tries {
		if t.Place == c.place {
			return c.goOn(t)
		}
	}
	if c.m.trying() != nil || c.m.current() != nil {
		return nil // one thing at a time
	}
	b, why := c.prediction()
	if why != "" {
		return c.wrong("%s", why)
	}
	return c.do(b)
}

// prediction is what the maker expects, or why that is none.
func (c *using) prediction() (*event.PredictionMade, string) {
	var args struct {
		Attempt int64          `json:"attempt"`
		Steps   jsontext.Value `json:"steps"`
		Expect  jsontext.Value `json:"expect"`
	}
	if bad := c.read(&args); bad != "" {
		return nil, bad
	}
	a := c.m.Attempt(args.Attempt)
	kind := c.m.Settings.Kind
	switch {
	case a == nil:
		return nil, fmt.Sprintf("There is no attempt %d.\n%s", args.Attempt, strings.Join(board(c.m), "\n"))
	case !a.runnable():
		return nil, fmt.Sprintf("Attempt %d has not passed tiers 1 and 2: nothing of it runs.", a.Number)
	case int64(len(c.m.Tries)) >= c.m.Settings.Tries:
		return nil, fmt.Sprintf("There were %d trials, which is all there can be.", len(c.m.Tries))
	}
	steps, err := trial.ReadSteps(kind, []byte(cmp.Or(string(args.Steps), "null")))
	if err != nil {
		return nil, fmt.Sprintf("The steps cannot be done: %v.", err)
	}
	expect, err := trial.ReadExpectations(kind, []byte(cmp.Or(string(args.Expect), "null")))
	if err != nil {
		return nil, fmt.Sprintf("The prediction cannot be taken: %v.", err)
	}
	if w := trial.Weight(steps) + trial.Weight(expect); w > trial.MaxTry {
		return nil, fmt.Sprintf("Steps and conditions have %d bytes, more than %d.", w, trial.MaxTry)
	}
	if a.Structure != nil {
		expect = append(expect, trial.Foretold(kind, *a.Structure, steps)...)
	}
	return &event.PredictionMade{Answer: c.place.Answer, Part: c.place.Part, Attempt: a.Number, Expect: expect, Steps: append([]event.WorldStep{}, steps...)}, ""
}

// goOn is the next step of a trial.
func (c *using) goOn(t *Try) []event.Draft {
	switch {
	case t.Refused != "":
		return c.wrong("It was not tried: %s", t.Refused)
	case t.Call == 0:
		return c.s.Propose(c.e, quest.After(c.e, c.a.Name, "", c.m.call(t)))
	case t.Seen == nil:
		return nil
	case !t.over():
		return one(c.e, "core", surprise(t))
	}
	return c.answer(len(t.Seen.Held) == 0, t.Seen.After.Picture, beside(t))
}

// call has steps done to what was made.
func (m *Memory) call(t *Try) *event.WorldCall {
	expect := make([]event.WorldCondition, len(t.Expect))
	for i, x := range t.Expect {
		expect[i] = x.Condition
	}
	return &event.WorldCall{Attempt: t.Attempt, Expect: expect, Prediction: t.Seq, Steps: t.Steps, Tree: m.Attempt(t.Attempt).Tree}
}

// surprise is how far a prediction was from what was seen.
func surprise(t *Try) *event.SurpriseMeasured {
	each, mean := trial.Surprise(t.Expect, t.Seen.Held)
	return &event.SurpriseMeasured{Attempt: t.Attempt, Conditions: each, Mean: mean, Observed: t.Observed, Prediction: t.Seq, Unforeseen: t.Seen.Unforeseen}
}
