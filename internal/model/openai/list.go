package openai

import (
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// list writes a request whose conversation is a list of items, and of that only what is new
// since the request before.
type list struct {
	// name is the field that the list is in, head what stands in it before the conversation.
	name string
	head []any
	// fields are those besides, fits says which ids can be sent, items what a turn is in the list.
	fields func(*model.Request) map[string]any
	fits   func(id string) bool
	items  func(turn) []any
}

// frame is what a request is made of besides its messages.
type frame struct {
	driver              any
	quest, agent, model string
	system              string
	tools               wire.Toolset
	thinking            bool
	effort              model.Effort
	most                int64
}

// past is what must be known of the turns that are written: who spoke last, and which calls are
// to be answered next.
type past struct {
	last model.Role
	open []call
}

// write writes r. All turns but the last are settled: what comes is added to that one, or begins
// another.
func (l *list) write(driver any, r *model.Request) (wire.Body, error) {
	kept, n := wire.Settled[past](r, frame{
		driver: driver, quest: r.Quest, agent: r.Agent, model: r.Model, system: r.System,
		tools: wire.ToolsOf(r), thinking: r.Thinking, effort: r.Effort, most: r.MaxTokens,
	})
	if kept.Before == nil {
		if err := l.around(kept, r); err != nil {
			return nil, err
		}
	}
	turns := alternate(r.Messages[n:])
	if n > 0 && len(turns) > 0 && turns[0].Role == kept.State.last { // no more than a guard
		r.Memo.Kept = nil
		return l.write(driver, r)
	}
	settled := max(len(turns)-1, 0)
	turns = conversation(turns, kept.State.open, l.fits)
	text, err := l.append(kept.Text, nil, turns[:settled])
	if err != nil {
		return nil, err
	}
	if settled > 0 {
		before := turns[settled-1]
		kept.Settle(r, n+turns[settled].first, text, past{last: before.Role, open: before.calls})
	}
	rest, err := l.append(nil, text, turns[settled:])
	if err != nil {
		return nil, err
	}
	return wire.Body{kept.Before, text, rest, kept.After}, nil
}

// append writes turns behind text, which stands behind before in the list.
func (l *list) append(text, before []byte, turns []turn) (_ []byte, err error) {
	for _, t := range turns {
		if text, err = wire.Append(text, len(l.head) == 0 && len(before) == 0 && len(text) == 0, l.items(t)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// around writes what stands before and after the conversation.
func (l *list) around(kept *wire.Kept[past], r *model.Request) (err error) {
	if kept.Before, kept.After, err = wire.Around(l.fields(r), l.name); err != nil {
		return err
	}
	kept.Before, err = wire.Append(kept.Before, true, l.head)
	return err
}
