package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// Tools of the core's own: those that agents of any society can have.

// askPerson asks a person something, ReadResult shows a part of a long result again, SearchTools
// finds tools in the catalogue.
const (
	askPerson   = "ask_person"
	ReadResult  = "read_result"
	SearchTools = "search_tools"
)

var coreTools = []OwnTool{{
	Step: AnsweredTool,
	Tool: model.Tool{Name: askPerson, Description: "Ask the person you work for, when something only they can know or decide stands in your way. It may take long; nobody may be there. Ask one thing at a time, with all that is needed to answer it.",
		Schema: `{"type":"object","additionalProperties":false,"required":["question"],"properties":{` +
			`"question":{"type":"string","minLength":1,"description":"the question, in a few sentences"},` +
			`"options":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1},"description":"short answers to choose from; the person may answer otherwise; default none"},` +
			`"wait":{"type":"boolean","description":"whether you wait for the answer (default true), or go on and are told when it comes"},` +
			`"minutes":{"type":"integer","minimum":1,"maximum":525600,"description":"after how many minutes without an answer the default counts; without it the question stays open"},` +
			`"default":{"type":"string","description":"what counts if nobody answers in time; without it you are told that nobody did"}}}`},
}, {
	Step: DeliveredTool, Reads: true,
	Tool: model.Tool{Name: ReadResult, Description: "Shows lines of a long result of one of your own calls, as it was recorded: what was left out of it, or what you no longer see. The note in a shortened result gives the number of the call.",
		Schema: `{"type":"object","additionalProperties":false,"required":["call"],"properties":{` +
			`"call":{"type":"integer","minimum":1,"description":"the number of the call"},` +
			`"from":{"type":"integer","description":"the first line to show, from 1 (default); a negative one counts from the end"},` +
			`"lines":{"type":"integer","minimum":1,"maximum":2000,"description":"how many lines to show at most; default 200"}}}`},
}, {
	Step: AnsweredTool,
	Tool: model.Tool{Name: SearchTools, Description: "Finds tools that you are not shown yet, and resources and prompts of servers. There are more than you see: say what you want to do, and you have the tools that fit best from your next turn on.",
		Schema: `{"type":"object","additionalProperties":false,"required":["intent"],"properties":{` +
			`"intent":{"type":"string","minLength":1,"description":"what you want to do, in a sentence"},` +
			`"kind":{"type":"string","enum":["local","mcp","skill","resource","prompt"],"description":"where the tool should come from: Lyceum itself, a server, a skill; or resource or prompt, for those of servers alone; default anything"}}}`},
}, skillTools[0], skillTools[1], skillTools[2]}

// CoreTools are the tools of the core that an agent of a quest has; world says that it has
// tools of the world, whose results may be long, alone that it asks nobody.
func (s *Spec) CoreTools(world, alone bool) (out []OwnTool) {
	if s.Relations && !alone {
		out = append(out, relationTools...)
	}
	for _, t := range coreTools {
		if t.Name == askPerson && s.MayAsk && !alone || t.Name == ReadResult && world || t.Name == SearchTools && s.Discover && !alone {
			out = append(out, t)
		}
	}
	return out
}

// question is what the arguments of askPerson say.
type question struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Wait     *bool    `json:"wait"`
	Minutes  int64    `json:"minutes"`
	Default  string   `json:"default"`
}

const (
	maxOptions = 10
	maxOption  = 200 // bytes of JSON
	maxMinutes = 365 * 24 * 60
)

// useOwn says what follows from an open call of one of the core's tools, or of the
// society's.
func (s *State) useOwn(a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	switch u.Name {
	case askPerson:
		return s.useAsk(a, u, e)
	case SearchTools:
		return s.useSearch(a, u, e)
	case Relate, Unrelate, Relations:
		return s.useRelation(a, u, e)
	}
	return s.rules.toolbox.Use(s, a, u, e)
}

// useAsk goes on with an agent's question: it is opened, and answered when there is an
// answer, or at once if the agent does not wait.
func (s *State) useAsk(a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	reply := func(failed bool, text string) []event.Draft {
		return []event.Draft{After(e, a.Name, u.Name, &event.ToolAnswered{Call: u.Call, Error: failed, Output: event.Text{Text: text}})}
	}
	i := slices.IndexFunc(s.Questions, func(q Question) bool { return q.Body.Call == u.Call })
	if i < 0 {
		b, wrong := readQuestion(u, e.Time)
		if wrong != "" {
			return reply(true, wrong)
		}
		return []event.Draft{After(e, a.Name, u.Name, b)}
	}
	switch q := &s.Questions[i]; {
	case !q.Body.Blocking:
		return reply(false, fmt.Sprintf("Question %d is open. You will be told when there is an answer.", q.Seq))
	case q.Reply == nil:
		return nil
	default:
		return reply(false, q.Reply.words())
	}
}

// readQuestion reads the arguments of a call, and says what is wrong with them.
func readQuestion(u *agent.Use, now event.Time) (*event.InteractionOpened, string) {
	if u.Args.Ref != nil {
		return nil, "The arguments are too long: ask in a few sentences."
	}
	var q question
	if err := json.Unmarshal([]byte(u.Args.Text), &q, json.RejectUnknownMembers(true)); err != nil {
		return nil, "The arguments do not fit the tool. They must be a JSON object of this form: " + coreTools[0].Schema
	}
	b := &event.InteractionOpened{Call: u.Call, Question: event.Text{Text: strings.TrimSpace(q.Question)}, Options: q.Options, Blocking: q.Wait == nil || *q.Wait, Default: q.Default}
	switch {
	case b.Question.Text == "":
		return nil, "The question is empty."
	case event.Weight(b.Question.Text) > maxQuestion:
		return nil, "The question is too long: ask in a few sentences."
	case len(q.Options) > maxOptions || slices.ContainsFunc(append(q.Options, q.Default), func(o string) bool { return event.Weight(o) > maxOption }):
		return nil, fmt.Sprintf("There can be %d options of at most %d bytes.", maxOptions, maxOption)
	case slices.Contains(q.Options, ""):
		return nil, "An option is empty."
	case q.Minutes < 0 || q.Minutes > maxMinutes:
		return nil, fmt.Sprintf("minutes must be from 1 to %d.", maxMinutes)
	case q.Default != "" && q.Minutes == 0:
		return nil, "A default counts after some minutes: say how many."
	}
	if q.Minutes > 0 {
		b.Expires = now + event.Time(q.Minutes)*60*1_000_000
	}
	return b, ""
}
