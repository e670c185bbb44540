package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/acp/wire"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// protocol is the version that is spoken.
const protocol = 1

// greeting is what an agent says of itself, as far as it is used. What is missing it cannot do.
type greeting struct {
	Protocol     json.Number `json:"protocolVersion"`
	Capabilities struct {
		Load   bool `json:"loadSession"`
		Prompt struct {
			Image, Audio    bool
			EmbeddedContext bool
		} `json:"promptCapabilities"`
		MCP struct {
			HTTP, SSE bool
		} `json:"mcpCapabilities"`
		Session map[string]json.RawMessage `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Name, Title, Version string
	} `json:"agentInfo"`
	Methods []struct {
		ID string `json:"id"`
	} `json:"authMethods"`
}

// can reports whether sessions of the agent can do something.
func (g *greeting) can(what string) bool {
	raw, ok := g.Capabilities.Session[what]
	return ok && string(raw) != "null" && string(raw) != "false"
}

// names are what the agent can do.
func (g *greeting) names() []string {
	var out []string
	c := &g.Capabilities
	for name, ok := range map[string]bool{
		"load": c.Load, CanSee: c.Prompt.Image, "audio": c.Prompt.Audio, "embedded_context": c.Prompt.EmbeddedContext, "mcp.http": c.MCP.HTTP, "mcp.sse": c.MCP.SSE,
		"resume": g.can("resume"), "close": g.can("close"), "list": g.can("list"), "delete": g.can("delete"),
	} {
		if ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// greet says hello, if that was not said, and who we are where the agent wants that.
func (p *process) greet(ctx context.Context) (Info, error) {
	set := &p.e.Settings
	var g greeting
	offer := map[string]any{"fs": map[string]bool{"readTextFile": !set.NoRead, "writeTextFile": true}, "terminal": true}
	if p.e.Asks {
		offer["elicitation"] = map[string]any{"form": map[string]any{}}
	}
	err := p.call(ctx, "init", methodInitialize, map[string]any{
		"protocolVersion": protocol, "clientCapabilities": offer,
		"clientInfo": map[string]string{"name": "lyceum", "version": p.e.Version},
	}, &g)
	if err != nil {
		return Info{}, fmt.Errorf("greet the agent: %w", err)
	}
	n, err := strconv.ParseInt(string(g.Protocol), 10, 64)
	if err != nil || n != protocol {
		return Info{}, fmt.Errorf("the agent speaks version %.20s of the protocol, and %d is needed: take another version of the agent", string(g.Protocol), protocol)
	}
	if set.Exact && g.Info.Version != set.Version {
		return Info{}, fmt.Errorf("the agent says that it is version %s, and config.yaml wants %s: install that one, or change executors there", plain.Quoted(g.Info.Version, maxName), set.Version)
	}
	if set.Authenticate != "" {
		if err := p.call(ctx, "auth", methodAuthenticate, map[string]string{"methodId": set.Authenticate}, nil); err != nil {
			return Info{}, fmt.Errorf("sign the agent in by %s: %w", set.Authenticate, err)
		}
	}
	p.greeted = &g
	info := Info{
		Name: plain.Cut(plain.Line(g.Info.Name), maxName), Version: plain.Cut(plain.Line(g.Info.Version), maxName), Protocol: n,
		Capabilities: g.names(), Reported: set.Reported,
	}
	if p.opened != nil {
		info.Mode = p.opened.mode
	}
	return info, nil
}

// session is one that is open.
type session struct {
	Session
	mode string
}

// setup is what an agent says of a session that it has opened.
type setup struct {
	ID    string `json:"sessionId"`
	Modes *struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Options []json.RawMessage `json:"configOptions"`
}

// ways are those in which a session can be opened, by the word that their requests begin with.
var ways = []struct{ word, method, how string }{
	{"resume", methodResume, event.SessionResumed}, {"load", methodLoad, event.SessionLoaded}, {"new", methodNew, event.SessionNew},
}

// open opens a session, or finds the one that is open.
func (p *process) open(ctx context.Context, id string) (Session, error) {
	asked := p.opened != nil
	if !asked {
		var err error
		if p.opened, asked, err = p.session(ctx, id); err != nil {
			return Session{}, err
		}
	}
	s := p.opened.Session
	if asked && s.ID == id {
		s.How = "" // that is known
	}
	return s, nil
}

// session tries the ways, each at most once in a process. One that was tried by an earlier Lyceum
// is not tried again: its answer is there, or comes.
func (p *process) session(ctx context.Context, id string) (s *session, before bool, err error) {
	g := p.greeted
	servers, err := p.servers()
	if err != nil {
		return nil, false, err
	}
	p.mu.Lock()
	tried := p.asked["resume-1"] || p.asked["load-1"] || p.asked["new-1"]
	p.mu.Unlock()
	for _, way := range ways {
		request := way.word + "-1"
		p.mu.Lock()
		asked := p.asked[request]
		p.mu.Unlock()
		if tried && !asked && way.method != methodNew {
			continue
		}
		fits := way.method == methodNew || id != "" && (way.method == methodLoad && g.Capabilities.Load || way.method == methodResume && g.can("resume"))
		if !asked && !fits {
			continue
		}
		params := map[string]any{"cwd": workspace.Home, "mcpServers": servers}
		if way.method != methodNew {
			params["sessionId"] = id
		}
		var made setup
		err := p.call(ctx, request, way.method, params, &made)
		if refused := (*wire.Error)(nil); errors.As(err, &refused) && way.method != methodNew {
			continue // it does not have it any more
		}
		if err != nil {
			if refused := (*wire.Error)(nil); errors.As(err, &refused) && refused.Code == wire.AuthRequired {
				err = fmt.Errorf("%w: it wants to be signed in; name one of its methods (%s) as authenticate", err, g.methods())
			}
			return nil, false, fmt.Errorf("open a session: %w", err)
		}
		if way.method != methodNew {
			made.ID = id
		}
		if made.ID == "" || len(made.ID) > 1000 {
			return nil, false, errors.New("the agent opened a session and gave it no name that can be used")
		}
		s = &session{Session: Session{ID: made.ID, How: way.how, Process: p.id}}
		if s.mode, err = p.mode(ctx, &made); err != nil {
			return nil, false, err
		}
		return s, asked, nil
	}
	return nil, false, errors.New("the agent opens no session")
}

// methods are those by which the agent can be signed in.
func (g *greeting) methods() string {
	var out []string
	for _, m := range g.Methods[:min(len(g.Methods), 10)] {
		out = append(out, plain.Cut(plain.Line(m.ID), 50))
	}
	return strings.Join(out, ", ")
}

// mode gives a session its mode, if the agent has modes.
func (p *process) mode(ctx context.Context, made *setup) (string, error) {
	want := p.e.Settings.Mode
	if want == "" {
		return "", nil
	}
	var known []string
	if made.Modes != nil {
		for _, m := range made.Modes.Available {
			known = append(known, plain.Cut(plain.Line(m.ID), 50))
		}
		if slices.Contains(known, want) {
			if made.Modes.Current == want {
				return want, nil
			}
			if err := p.call(ctx, "mode-1", methodMode, map[string]string{"sessionId": made.ID, "modeId": want}, nil); err != nil {
				return "", fmt.Errorf("give the agent the mode %s: %w", want, err)
			}
			return want, nil
		}
	}
	for _, raw := range made.Options {
		var o struct {
			ID, Category string
			Options      []struct{ Value string }
		}
		// An option of a kind that nobody knows is left alone.
		if json.Unmarshal(raw, &o) != nil || o.ID != "mode" && o.Category != "mode" {
			continue
		}
		for _, v := range o.Options {
			known = append(known, plain.Cut(plain.Line(v.Value), 50))
		}
		if slices.Contains(known, want) {
			if err := p.call(ctx, "mode-1", methodOption, map[string]string{"sessionId": made.ID, "configId": o.ID, "value": want}, nil); err != nil {
				return "", fmt.Errorf("give the agent the mode %s: %w", want, err)
			}
			return want, nil
		}
	}
	if len(known) == 0 {
		return "", nil
	}
	return "", fmt.Errorf("the agent has no mode %s, it has %s: name one of them", want, strings.Join(known[:min(len(known), 20)], ", "))
}

// servers are the MCP servers as the protocol has them.
func (p *process) servers() ([]any, error) {
	out := []any{}
	for _, s := range p.e.Servers {
		if s.URL != "" {
			if !p.greeted.Capabilities.MCP.HTTP {
				return nil, fmt.Errorf("the agent cannot reach the server %s over HTTP: give it stdio as its mcp", s.Name)
			}
			out = append(out, map[string]any{"type": "http", "name": s.Name, "url": s.URL, "headers": pairs(s.Headers)})
			continue
		}
		if len(s.Command) == 0 {
			return nil, fmt.Errorf("the server %s has neither a URL nor a command", s.Name)
		}
		out = append(out, map[string]any{"name": s.Name, "command": s.Command[0], "args": append([]string{}, s.Command[1:]...), "env": pairs(s.Variables)})
	}
	return out, nil
}

func pairs(m map[string]string) []map[string]string {
	out := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, map[string]string{"name": name, "value": m[name]})
	}
	return out
}
