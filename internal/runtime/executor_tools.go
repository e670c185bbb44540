package runtime

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/mcp/bridge"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// toolbox is what an executor finds at the port tools of its computer: the tools of its agent.
// Each call is a proposal of the agent.
type toolbox struct{ o *outsider }

// Tools implements scoped.Toolbox.
func (b toolbox) Tools(context.Context) ([]model.Tool, error) {
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	return slices.Clone(b.o.tools), nil
}

// Use implements scoped.Toolbox.
func (b toolbox) Use(ctx context.Context, c scoped.Call) (out scoped.Result, err error) {
	l := b.o.l
	a, err := l.propose(ctx, Proposal{Agent: b.o.name, ID: c.ID, Tool: c.Tool, Args: c.Args})
	switch {
	case l.work.Err() != nil:
		return out, context.Canceled // the next Lyceum knows the call
	case errors.Is(err, errUnfit):
		return out, fmt.Errorf("the call of %s is too long: give shorter arguments", AtMost(c.Tool, 64))
	case err != nil:
		return out, err
	}
	out.Text, out.Error = a.Text, a.Error
	for _, f := range a.Attached {
		data, err := l.rt.Blob(ctx, f.Ref)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, scoped.File{Name: path.Base(f.Name), Media: f.Media, Data: data})
	}
	return out, nil
}

// shown takes over the tools that its agent has now. It runs on the owner's goroutine.
func (o *outsider) shown(ctx context.Context) error {
	a := o.l.state.Agent(o.name)
	p, err := o.l.prompt(a, func(ref event.Ref) ([]byte, error) { return o.l.rt.Blob(ctx, ref) })
	if err != nil {
		return fmt.Errorf("tools of %s: %w", o.name, err)
	}
	var asks *quest.OwnTool
	for _, t := range p.tools {
		if own := o.l.state.Own(t.Name); own != nil && own.Question != "" {
			asks = own
		}
	}
	o.mu.Lock()
	o.tools, o.asks = p.tools, asks
	o.mu.Unlock()
	if o.endpoint != nil {
		o.endpoint.Changed()
	}
	return nil
}

// servers are what sessions of the executor are told of: the port, or the bridge to it.
func (o *outsider) servers(c *computer.Computer) ([]executor.Server, error) {
	token, err := c.Token(toolsPort, o.name)
	if err != nil {
		return nil, err
	}
	o.l.rt.headers.add(token)
	s := executor.Server{Name: toolsServer}
	if o.set.MCP == executor.MCPStdio {
		args, env := bridge.Command(c.Address(toolsPort), token)
		s.Command, s.Variables = args, map[string]string{}
		for _, v := range env {
			name, value, _ := strings.Cut(v, "=")
			s.Variables[name] = value
		}
		return []executor.Server{s}, nil
	}
	s.URL, s.Headers = "http://"+c.Address(toolsPort)+scoped.Path, map[string]string{"Authorization": "Bearer " + token}
	return []executor.Server{s}, nil
}

// toolsServer is what executors call the server of their agents' tools.
const toolsServer = "lyceum"
