package gemini

import (
	"bytes"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// past is what must be known of the contents that are written, to write those behind them.
type past struct {
	last  string            // the role of the last one
	asked map[string]int    // where its calls stand, nil if there is none
	names map[string]string // of all calls, by their ids
}

// named are names of calls by their ids: those of the contents that are written, and fresh ones, which are not
// settled yet.
type named struct{ settled, fresh map[string]string }

func (n named) of(id string) (name string, ok bool) {
	if name, ok = n.fresh[id]; !ok {
		name, ok = n.settled[id]
	}
	return name, ok
}

// frame is what a request is made of besides its messages.
type frame struct {
	driver        *Model
	model, system string
	tools         wire.Toolset
	thinking      bool
	effort        model.Effort
	most          int64
}

// write writes r, and of its contents those that no request before has written. All but the last are settled: what
// comes is added to that one, or begins another.
func (m *Model) write(r *model.Request) (wire.Body, error) {
	kept, n := wire.Settled[past](r, frame{m, r.Model, r.System, wire.ToolsOf(r), r.Thinking, r.Effort, r.MaxTokens})
	if kept.Before == nil {
		data, err := wire.Write(m.bare(r))
		if err != nil {
			return nil, err
		}
		// What is before it is a text, in which no quotation mark stands for itself.
		at := bytes.Index(data, []byte(list)) + len(list) - 1
		kept.Before, kept.After = data[:at:at], data[at:]
	}
	rest := *r
	rest.Messages = r.Messages[n:]
	contents := m.contents(&rest, &kept.State)
	if len(contents) > 0 && contents[0].Role == kept.State.last { // no more than a guard
		r.Memo.Kept = nil
		return m.write(r)
	}
	settled := max(len(contents)-1, 0)
	text, err := wire.Append(kept.Text, len(kept.Text) == 0, contents[:settled])
	if err != nil {
		return nil, err
	}
	last, err := wire.Append(nil, len(text) == 0, contents[settled:])
	if err != nil {
		return nil, err
	}
	if settled > 0 {
		first := contents[settled].first
		kept.Settle(r, n+first, text, kept.State.behind(rest.Messages[:first], contents[settled-1]))
	}
	return wire.Body{kept.Before, text, last, kept.After}, nil
}

// list is the field of the contents, as it is written when there are none.
const list = `"contents":[]`

// behind is what must be known once these messages are written, too, of which last came last.
func (p past) behind(messages []model.Message, last content) past {
	if p.names == nil {
		p.names = map[string]string{}
	}
	for _, m := range messages {
		for i := range m.Parts {
			if part := &m.Parts[i]; part.Kind == event.PartToolCall {
				p.names[part.ID] = part.Name
			}
		}
	}
	p.last, p.asked = last.Role, places(last.Parts)
	return p
}
