package acp

import (
	"context"
	"encoding/json"
)

// Work answers a request: see Peer.
type Work = func(context.Context) (any, error)

// Begin reads the params of a request, and begins it.
func Begin[P any](params json.RawMessage, f func(*P) (Work, error)) (Work, error) {
	p := new(P)
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := json.Unmarshal(params, p); err != nil {
		return nil, Errorf(InvalidParams, "read the params: %v", err)
	}
	if v, ok := any(p).(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return nil, Errorf(InvalidParams, "%v", err)
		}
	}
	return f(p)
}

// Done is a work that is done already.
func Done(v any) (Work, error) {
	return func(context.Context) (any, error) { return v, nil }, nil
}
