package runtime

import (
	"context"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A service answers one type of call. It is all that the loop knows of a kind of call:
// how it begins, and what becomes of one that was under way when its owner died.
type service interface {
	// start begins an open call. It runs on the goroutine that owns the quest, and so may
	// look at the state; what it launches may not. The result comes back as an input.
	start(ctx context.Context, l *live, e event.Event) error
}

// careful is a service whose calls may do harm if they are made twice. The calls of any
// other are made again after a crash.
type careful interface {
	// mayRepeat reports whether an open call can be made again.
	mayRepeat(ctx context.Context, l *live, seq uint64, c quest.Call) bool
	// lost is the result of a call whose outcome nobody knows.
	lost(seq uint64, c quest.Call, known func(model string) Known) event.Draft
}

// ownServices answer the calls that quests of all societies make. Those of one society
// its workshop answers.
var ownServices = map[event.Type]service{
	"model.call": modelService{},
	"tool.call":  toolService{},
	"timer.set":  timerService{},
	"mcp.call":   mcpService{},

	"catalogue.call": catalogueService{},

	"gateway.call": gatewayService{},

	"executor.call": executorService{},
	"prompt.call":   promptService{},

	"interaction.opened": questionService{},

	"prepare.call": prepareService{},
	"home.call":    homeService{},
}

// OwnCalls are the types of calls that the runtime answers itself, for any society.
func OwnCalls() []event.Type { return slices.Sorted(maps.Keys(ownServices)) }

// openWorkshop makes what the quest's society needs of the world ready.
func (l *live) openWorkshop(ctx context.Context) (err error) {
	l.services = maps.Clone(ownServices)
	shop := l.rt.Workshop(l.state.Rules)
	if shop == nil {
		return nil
	}
	l.bench, err = shop.Open(ctx, l.quest())
	if err != nil {
		return err
	}
	for t, s := range l.bench.Services() {
		l.services[t] = workshopService{s}
	}
	return nil
}

// closeWorkshop waits for the calls under way to end, and for what was begun to be
// done.
func (l *live) closeWorkshop() error {
	if l.bench == nil {
		return nil
	}
	l.mail.close()
	return l.bench.Close()
}

type modelService struct{}

func (modelService) start(ctx context.Context, l *live, e event.Event) error {
	return l.startModel(ctx, e, e.Body.(*event.ModelCall))
}

type toolService struct{}

func (toolService) start(ctx context.Context, l *live, e event.Event) error {
	if e.Tool == "" {
		return nil // the rules answer it: there is no such tool
	}
	return l.startTool(ctx, e.Seq, e.Actor, e.Tool)
}

func (toolService) mayRepeat(ctx context.Context, l *live, seq uint64, c quest.Call) bool {
	return l.mayRepeat(ctx, seq, c)
}

func (toolService) lost(seq uint64, c quest.Call, _ func(string) Known) event.Draft {
	return lostTool(seq, c)
}

// lostTool is what an agent is told of a tool call that was interrupted.
func lostTool(seq uint64, c quest.Call) event.Draft {
	return event.Draft{Parent: seq, Actor: c.Agent, Tool: c.Tool, Body: &event.ToolResult{
		Call: seq, Error: true, Output: event.Text{Text: "Interrupted, outcome unknown: the command may or may not have run. Look before you repeat it."},
	}}
}

type timerService struct{}

func (timerService) start(ctx context.Context, l *live, e event.Event) error {
	l.startTimer(ctx, e.Seq, e.Body.(*event.TimerSet).At)
	return nil
}

// questionService does nothing: the answer to a question comes from a person, through the
// inbox.
type questionService struct{}

func (questionService) start(context.Context, *live, event.Event) error { return nil }
