package anthropic

import (
	"bytes"
	"slices"

	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// past is what must be known of the messages that are written, to write those behind them. Its zero value is
// the beginning of a conversation.
type past struct {
	count int             // how many they are
	open  []askedCall     // the calls of the last of them
	used  map[string]bool // the ids of all their calls
	// results says that the user's last message begins with a result; thought, that the loop of tools
	// that it is in began with a thought.
	results, thought bool
	// around says that what stands around the messages is written, with these thoughts asked for.
	around   bool
	thinking thinking
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

// moving is how many messages at the end may be written otherwise the next time: points to be cached are set in
// them, and what comes is added to the last.
const moving = 3

// write writes r, and of its messages those that no request before has written.
func (m *Model) write(r *model.Request) (wire.Body, error) {
	kept, n := wire.Settled[past](r, frame{m, r.Model, r.System, wire.ToolsOf(r), r.Thinking, r.Effort, r.MaxTokens})
	rest := *r
	rest.Messages = r.Messages[n:]
	out := m.request(&rest, &kept.State)
	if kept.State.count > 0 && len(out.Messages) < moving { // no more than a guard
		r.Memo.Kept = nil
		return m.write(r)
	}
	if err := around(kept, out); err != nil {
		return nil, err
	}
	settled := max(len(out.Messages)-moving, 0)
	text, err := wire.Append(kept.Text, len(kept.Text) == 0, out.Messages[:settled])
	if err != nil {
		return nil, err
	}
	if settled > 0 {
		kept.Settle(r, n+out.Messages[settled].first, text, kept.State.behind(out.Messages[:settled]))
	}
	last, err := wire.Append(nil, len(text) == 0, out.Messages[settled:])
	if err != nil {
		return nil, err
	}
	return wire.Body{kept.Before, text, last, kept.After}, nil
}

// around writes what stands before and after the messages, unless it is written already.
func around(kept *wire.Kept[past], r *request) error {
	var asked thinking
	if r.Thinking != nil {
		asked = *r.Thinking
	}
	if p := &kept.State; p.around && p.thinking == asked {
		return nil
	}
	bare := *r
	bare.Messages = nil
	data, err := wire.Write(&bare)
	if err != nil {
		return err
	}
	kept.After = []byte("]}")
	kept.Before = bytes.TrimSuffix(data, kept.After) // the messages come last
	kept.State.around, kept.State.thinking = true, asked
	return nil
}

// behind is what must be known once these messages are written, too.
func (p past) behind(messages []message) past {
	if p.used == nil {
		p.used = map[string]bool{}
	}
	for _, m := range messages {
		p.see(m)
		p.open = nil
		for _, b := range m.Content {
			if b.Type == typeCall {
				p.used[b.ID] = true
				p.open = append(p.open, askedCall{was: b.was, is: b.ID})
			}
		}
	}
	return p
}

// see follows whether thoughts came first.
func (p *past) see(m message) {
	first := m.Content[0].Type
	if m.Role == model.User {
		p.results = first == typeResult
	} else if !p.results || p.count <= 2 {
		p.thought = first == typeThinking || first == typeRedacted
	}
	p.count++
}

// thoughtFirst reports whether the loop of tools that the messages end with, if
// they do, began with a thought. It did not if thoughts were off, or another
// provider's.
func (p past) thoughtFirst(messages []message) bool {
	for _, m := range messages {
		p.see(m)
	}
	return p.thought || !p.results || p.count <= 2
}

// pair puts the results of calls first into the message behind them, makes up those
// that are missing, tells those that nobody asked for as text, and gives calls ids
// that the API takes.
func (p *past) pair(messages []message) {
	fresh := map[string]bool{}
	used := func(id string) bool { return p.used[id] || fresh[id] }
	asked := slices.Clone(p.open) // the calls of the message before
	for i, m := range messages {
		var results, rest []block
		for _, b := range m.Content {
			if b.Type != typeResult {
				rest = append(rest, b)
				continue
			}
			// Calls may have had the same id: their results come in their order.
			at := slices.IndexFunc(asked, func(a askedCall) bool { return a.was == b.ToolUseID && !a.answered })
			if at < 0 {
				rest = append(rest, late(b)...)
				continue
			}
			asked[at].answered = true
			b.ToolUseID, b.Name = asked[at].is, ""
			results = append(results, b)
		}
		for _, a := range asked {
			if !a.answered {
				results = append(results, block{Type: typeResult, ToolUseID: a.is, Content: "(there is no result)", IsError: true})
			}
		}
		asked = nil
		for j, b := range rest {
			if b.Type == typeCall {
				rest[j].ID, rest[j].was = legalID(b.ID, used), b.ID
				fresh[rest[j].ID] = true
				asked = append(asked, askedCall{was: b.ID, is: rest[j].ID})
			}
		}
		messages[i].Content = append(results, rest...)
	}
}
