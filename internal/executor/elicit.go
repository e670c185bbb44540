package executor

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"lyceum/internal/acp/wire"
	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// methodElicit is the request by which an agent has a form filled in.
const methodElicit = "elicitation/create"

// Question is something that an agent wants to know, as a form. Its words are a stranger's.
type Question struct {
	// ID is the same when it is asked again after a crash.
	ID      string
	Message string
	Fields  []event.FormField
}

// Bounds of a form.
const (
	maxFields  = 20
	maxChoices = 30
	maxWords   = 4 << 10
)

// elicit has a form filled in by the host. A page to visit, and what cannot be put into words, is
// declined.
func (p *process) elicit(ctx context.Context, at int64, params []byte) (any, error) {
	says := func(action string) map[string]any { return map[string]any{"action": action} }
	q, ok, err := question(params)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%v", err)
	}
	p.mu.Lock()
	unwanted := p.after == math.MaxInt64
	p.mu.Unlock()
	if !ok || unwanted {
		return says("decline"), nil
	}
	q.ID = "form-" + terminalName(p.id, at)
	values, err := p.e.Host.Ask(ctx, q)
	switch {
	case p.ctx.Err() != nil, errors.Is(err, context.Canceled) && ctx.Err() == nil:
		return nil, errUnanswered
	case ctx.Err() != nil:
		return says("cancel"), nil
	case err != nil || values == nil:
		return says("decline"), nil
	}
	return map[string]any{"action": "accept", "content": json.RawMessage(values)}, nil
}

// question reads a form. It reports whether it can be put into words.
func question(params []byte) (q Question, ok bool, err error) {
	var r struct {
		Mode, Message string
		Schema        struct {
			Required   []string
			Properties map[string]struct {
				Type, Title, Description string
				Enum                     []string
				OneOf                    []struct{ Const string }
			}
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return q, false, err
	}
	if r.Mode != "" && r.Mode != "form" || len(r.Schema.Properties) > maxFields {
		return q, false, nil
	}
	q.Message = plain.Cut(r.Message, maxWords)
	for _, name := range slices.Sorted(maps.Keys(r.Schema.Properties)) {
		s := r.Schema.Properties[name]
		f := event.FormField{Name: name, Kind: s.Type, Options: s.Enum, Required: slices.Contains(r.Schema.Required, name), Title: plain.Cut(s.Title, maxName), Description: plain.Cut(s.Description, 4*maxName)}
		for _, o := range s.OneOf {
			f.Options = append(f.Options, o.Const)
		}
		known := slices.Contains([]string{"string", "number", "integer", "boolean"}, f.Kind) && len(f.Options) <= maxChoices && len(name) <= maxName && !plain.Controls.In(name)
		switch {
		case known:
			q.Fields = append(q.Fields, f)
		case f.Required:
			return q, false, nil
		}
	}
	return q, true, nil
}
