package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/mcp/bridge"
	"lyceum/internal/mcp/scoped"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// toolbox is what an executor finds at the port tools of its computer: the tools of its agent,
// or those of them that belong to one of several servers. Each call is a proposal of the agent.
type toolbox struct {
	o *outsider
	// server is the one that it is, empty for the only one.
	server string
}

// offered is a tool of an agent, as an executor finds it.
type offered struct {
	model.Tool
	// native is what the agent itself calls it.
	native, server string
}

// Tools implements scoped.Toolbox.
func (b toolbox) Tools(context.Context) (out []model.Tool, err error) {
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	for _, t := range b.o.tools {
		if t.server == b.server {
			out = append(out, t.Tool)
		}
	}
	return out, nil
}

// native is what the agent itself calls a tool of this server. Of one that is not here it is a
// name that no tool has, and the call is refused as any other like it.
func (b toolbox) native(name string) string {
	b.o.mu.Lock()
	defer b.o.mu.Unlock()
	for _, t := range b.o.tools {
		if t.server == b.server && t.Name == name {
			return t.native
		}
	}
	if b.server != "" {
		return b.server + "." + name
	}
	return name
}

// Use implements scoped.Toolbox.
func (b toolbox) Use(ctx context.Context, c scoped.Call) (out scoped.Result, err error) {
	l := b.o.l
	a, err := l.propose(ctx, Proposal{Agent: b.o.name, ID: c.ID, Tool: b.native(c.Tool), Args: c.Args})
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
	var tools []offered
	for _, t := range p.tools {
		native := t.Name
		var server string
		server, t.Name = o.l.state.ToolServer(native)
		tools = append(tools, offered{t, native, server})
		if own := o.l.state.Own(native); own != nil && own.Question != "" {
			asks = own
		}
	}
	o.mu.Lock()
	o.tools, o.asks = tools, asks
	o.mu.Unlock()
	for _, e := range o.endpoints {
		e.Changed()
	}
	return nil
}

// openEndpoints makes the servers of the agent's tools, by the paths at which they are.
func (o *outsider) openEndpoints() {
	if o.serves = o.l.state.ToolServers(); len(o.serves) == 0 {
		o.serves = []string{""}
	}
	o.endpoints = map[string]*scoped.Handler{}
	for _, server := range o.serves {
		o.endpoints[scoped.PathOf(server)] = scoped.New(o.name, toolbox{o, server}, scoped.Options{Version: o.l.rt.Version, Server: server})
	}
}

// serveTools answers at the port of the agent's tools. Whatever is at no path of a server hears
// so of one of them.
func (o *outsider) serveTools(w http.ResponseWriter, r *http.Request) {
	raw, _, _ := strings.Cut(r.RequestURI, "?")
	e := o.endpoints[raw]
	if e == nil {
		e = o.endpoints[scoped.PathOf(o.serves[0])]
	}
	e.ServeHTTP(w, r)
}

// servers are what sessions of the executor are told of: the servers at the port, or the bridges
// to them.
func (o *outsider) servers(c *computer.Computer) (out []executor.Server, err error) {
	token, err := c.Token(toolsPort, o.name)
	if err != nil {
		return nil, err
	}
	o.l.rt.headers.add(token)
	for _, server := range o.serves {
		s := executor.Server{Name: cmp.Or(server, toolsServer)}
		if o.set.MCP == executor.MCPStdio {
			args, env := bridge.Command(c.Address(toolsPort), token, server)
			s.Command, s.Variables = args, map[string]string{}
			for _, v := range env {
				name, value, _ := strings.Cut(v, "=")
				s.Variables[name] = value
			}
		} else {
			s.URL, s.Headers = "http://"+c.Address(toolsPort)+scoped.PathOf(server), map[string]string{"Authorization": "Bearer " + token}
		}
		out = append(out, s)
	}
	return out, nil
}

// toolsServer is what executors call the server of their agents' tools, if it is the only one.
const toolsServer = "lyceum"
