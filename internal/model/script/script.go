// Package script is a model that plays fixed lines. It is not a language model:
// tests, benches and recorded demos use it where a quest must go the same way
// every time.
//
// A script is a list of rules. Each request is answered by the first rule whose
// conditions all hold; a rule without conditions always matches. The choice
// depends on the request alone, so a quest that was interrupted goes on where it
// stood. A request that no rule matches is an error that shows it.
//
//	rules:
//	  - on: {turn: 1}
//	    think: "Six times seven."        # a thinking part
//	    say: "I will compute it."        # a text part
//	    call:                            # tool calls, all at once
//	      - tool: calculate
//	        args: {code: "print(6*7)"}
//	    usage: {input: 100, output: 20, cached: 0}
//	    cost: "0.001"
//	  - on: {tool: calculate, result: '(?m)^(\d+)$'}
//	    say: "The answer is $1."
//	  - on: {last: "(?i)are you there"}
//	    delay: 20ms
//	    fault: unavailable
//
// Conditions: turn, from_turn and until_turn compare the number of the agent's
// model call; every: n holds on each nth; agent is a name; tool and result want a
// result of that tool, with an output that matches, in the last message; last
// matches the texts of the last message, seen those of the newest message that
// it can match.
//
// In say, think and args, $1 and ${name} stand for what the groups of seen
// matched (of result, if there is no seen; else of last), ${turn} for the number of the turn, and
// $$ for a dollar sign. The args of
// a call are a mapping, which becomes JSON with its keys in the same order, or a
// string, which is sent as it is and need not be JSON. What is put into a string
// is not escaped.
//
// Without usage, tokens are estimated as a fourth of the bytes; cost is in US
// dollars, and nothing by default. stop is end, tools, length or refusal, and by
// default what the parts suggest. A delay comes before the answer. A fault comes
// instead of one: unavailable, context, refused and invalid are the errors of
// those kinds, hang waits until the request is cancelled, empty answers with no
// parts at all.
//
// Parse refuses what it does not know, with the line. YAML anchors are not
// supported.
package script

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Script is a parsed script. It never changes, and any number of agents may use
// it at once.
type Script struct {
	name  string
	rules []rule
}

var _ model.Model = (*Script)(nil)

type rule struct {
	line  int
	on    condition
	think template
	say   template
	calls []call
	usage *event.Usage
	// cost in nanodollars.
	cost  int64
	delay time.Duration
	fault string
	stop  string
}

type call struct {
	tool string
	args argument
}

// The faults besides those that are kinds of errors.
const (
	faultHang  = "hang"
	faultEmpty = "empty"
)

// Generate answers r by the first rule that matches it.
func (s *Script) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.stopped(err)
	}
	for _, rule := range s.rules {
		if groups, ok := rule.on.match(r); ok {
			return s.play(ctx, rule, groups, r, emit)
		}
	}
	return nil, &model.Error{Kind: model.Invalid, Text: fmt.Sprintf(
		"script %s has no rule for turn %d of %s, where the last message is %.200q; add one (a rule without \"on\" matches always)",
		s.name, r.Turn, r.Agent, textOf(r, len(r.Messages)-1))}
}

func (s *Script) stopped(err error) error { return fmt.Errorf("script %s: %w", s.name, err) }

func (s *Script) play(ctx context.Context, rule rule, groups map[string]string, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if err := wait(ctx, rule.delay); err != nil {
		return nil, s.stopped(err)
	}
	switch rule.fault {
	case "", faultEmpty:
	case faultHang:
		<-ctx.Done()
		return nil, s.stopped(ctx.Err())
	default:
		return nil, &model.Error{Kind: model.Kind(rule.fault), Text: fmt.Sprintf("script %s, line %d: this fault was ordered", s.name, rule.line)}
	}
	if _, taken := groups["turn"]; !taken {
		if groups == nil {
			groups = map[string]string{}
		}
		groups["turn"] = strconv.FormatInt(r.Turn, 10)
	}
	a := rule.answer(r, groups)
	if emit != nil {
		stream(a.Parts, emit)
	}
	return a, nil
}

// stream hands out thoughts and text word by word.
func stream(parts []model.Part, emit func(model.Delta)) {
	for _, p := range parts {
		if p.Kind == event.PartToolCall {
			continue
		}
		for word := range strings.SplitAfterSeq(p.Text, " ") {
			if word != "" {
				emit(model.Delta{Kind: p.Kind, Text: word})
			}
		}
	}
}

// wait returns after d, or earlier with an error if ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (rule *rule) answer(r *model.Request, groups map[string]string) *model.Answer {
	a := &model.Answer{Cost: rule.cost, Stop: rule.stop}
	if text := rule.think.expand(groups); text != "" {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartThinking, Text: text})
	}
	if text := rule.say.expand(groups); text != "" {
		a.Parts = append(a.Parts, model.Part{Kind: event.PartText, Text: text})
	}
	for i, c := range rule.calls {
		a.Parts = append(a.Parts, model.Part{
			Kind: event.PartToolCall,
			ID:   fmt.Sprintf("call_%d_%d", r.Turn, i),
			Name: c.tool,
			Args: c.args.expand(groups),
		})
	}
	if a.Stop == "" {
		a.Stop = model.StopEnd
		if len(rule.calls) > 0 {
			a.Stop = model.StopTools
		}
	}
	if rule.usage != nil {
		a.Usage = *rule.usage
	} else {
		a.Usage = estimate(r, a.Parts)
	}
	return a
}

// estimate counts a token for each four bytes.
func estimate(r *model.Request, answer []model.Part) event.Usage {
	input := len(r.System)
	for _, t := range r.Tools {
		input += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		input += size(m.Parts)
	}
	thinking := 0
	for _, p := range answer {
		if p.Kind == event.PartThinking {
			thinking += len(p.Text)
		}
	}
	return event.Usage{Input: tokens(input), Output: tokens(size(answer)), Thinking: tokens(thinking)}
}

func size(parts []model.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text) + len(p.Name) + len(p.Args)
	}
	return n
}

func tokens(bytes int) int64 { return int64(bytes+3) / 4 }
