package runtime

import (
	"context"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"

	"github.com/go-json-experiment/json"
)

// AddServer is a server for a quest that is there already, as an order has it. What could not stand
// in a quest.yaml is refused.
func AddServer(name string, set setting.Server) (*event.McpAdded, error) {
	if err := setting.Check(name, set); err != nil {
		return nil, err
	}
	data, err := json.Marshal(set, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write what is said of the server %s: %w", name, err)
	}
	return &event.McpAdded{Kind: set.Kind(), Name: name, Said: string(data), Sampling: set.Sampling}, nil
}

// openAdded makes a server ready that has come.
func (l *live) openAdded(ctx context.Context, name string) error {
	i := slices.IndexFunc(l.state.Servers, func(p event.ServerPin) bool { return p.Name == name })
	if i < 0 {
		return nil // it has gone in the same breath
	}
	return l.openServer(ctx, l.state.Servers[i])
}
