package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"lyceum/internal/acp/wire"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// errUnanswered leaves a request without an answer: the next Lyceum gives it.
var errUnanswered = errors.New("the request is left to who comes next")

// Bounds of terminals.
const (
	maxTerminals = 32
	maxOutput    = 1 << 20
	maxVariables = 1000
)

// prepare notes what a request says that later ones need, also of one that has its answer.
func (p *process) prepare(end int64, m wire.Message) {
	if m.Method != terminalMethods+"create" {
		return
	}
	var r struct {
		Limit *int `json:"outputByteLimit"`
	}
	limit := maxOutput
	if json.Unmarshal(m.Params, &r) == nil && r.Limit != nil && *r.Limit >= 0 {
		limit = min(limit, *r.Limit)
	}
	p.mu.Lock()
	p.limits[terminalName(p.id, p.base+end)] = limit
	p.mu.Unlock()
}

// released forgets the terminal that an earlier Lyceum released. mu is held.
func (p *process) released(m wire.Message) {
	var r struct {
		ID string `json:"terminalId"`
	}
	if m.Method == terminalMethods+"release" && json.Unmarshal(m.Params, &r) == nil {
		delete(p.limits, r.ID)
	}
}

// terminalName is that of the command of a terminal which was asked for at a place.
func terminalName(process string, at int64) string { return fmt.Sprintf("%s-t%d", process, at) }

// serve works on a request of the agent's that ends at a place of its output.
func (p *process) serve(ctx context.Context, end int64, m wire.Message, asked *event.PermissionAsked) (any, error) {
	switch {
	case m.Method == methodPermission:
		return p.permit(ctx, asked)
	case m.Method == methodElicit && p.e.Asks:
		return p.elicit(ctx, p.base+end, m.Params)
	case m.Method == methodRead && !p.e.Settings.NoRead:
		return p.readText(m.Params)
	case m.Method == methodWrite:
		return p.writeText(ctx, m.Params)
	case m.Method == terminalMethods+"create":
		return p.create(ctx, p.base+end, m.Params)
	case strings.HasPrefix(m.Method, terminalMethods):
		return p.terminal(ctx, strings.TrimPrefix(m.Method, terminalMethods), m.Params)
	}
	return nil, wire.Errorf(wire.NoMethod, "there is no method %s", plain.Quoted(m.Method, 100))
}

// permit asks the host. Where nobody can be asked any more, the request is cancelled.
func (p *process) permit(ctx context.Context, asked *event.PermissionAsked) (any, error) {
	cancelled := map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}
	p.mu.Lock()
	unwanted := p.after == math.MaxInt64
	p.mu.Unlock()
	if asked == nil || unwanted {
		return cancelled, nil
	}
	option, err := p.e.Host.Permit(ctx, asked)
	switch {
	case p.ctx.Err() != nil, errors.Is(err, context.Canceled) && ctx.Err() == nil:
		return nil, errUnanswered
	case err != nil, ctx.Err() != nil:
		return cancelled, nil
	}
	// Nobody but the agent's own list says what may be answered, and nothing holds for more than
	// this time.
	i := slices.IndexFunc(asked.Options, func(o event.PermissionOption) bool { return o.ID == option })
	if option == "" || i < 0 || !strings.HasSuffix(asked.Options[i].Kind, "_once") {
		return cancelled, nil
	}
	return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": option}}, nil
}

// path reads a path of an agent's, which must be in the home.
func (p *process) path(text string) (string, error) {
	name, err := workspace.Path(text)
	if err != nil {
		return "", wire.Errorf(wire.InvalidParams, "%v", err)
	}
	return name, nil
}

func (p *process) readText(params []byte) (any, error) {
	var r struct {
		Path        string
		Line, Limit *int64
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%v", err)
	}
	name, err := p.path(r.Path)
	if err != nil {
		return nil, err
	}
	var line, limit int64
	if r.Line != nil {
		line = *r.Line
	}
	if r.Limit != nil {
		if limit = *r.Limit; limit <= 0 {
			return map[string]string{"content": ""}, nil
		}
	}
	text, err := readFile(p.e.Computer.Home(), p.e.Computer.Guard(), name, min(line, 1<<40), min(limit, 1<<40))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wire.Errorf(wire.NotFound, "there is no file %s", name)
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"content": text}, nil
}

func (p *process) writeText(ctx context.Context, params []byte) (any, error) {
	var r struct{ Path, Content string }
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%v", err)
	}
	name, err := p.path(r.Path)
	if err != nil {
		return nil, err
	}
	if err := p.e.Computer.Guard().MayWrite(p.e.Computer.Home(), name); err != nil {
		return nil, p.refusal(ctx, err)
	}
	if err := p.e.Host.Write(ctx, name); err != nil {
		return nil, p.refusal(ctx, err)
	}
	p.files.Lock()
	defer p.files.Unlock()
	return nil, writeFile(p.e.Computer.Home(), name, r.Content)
}

// refusal is the error of a host, for the agent. A host that goes away has refused nothing.
func (p *process) refusal(ctx context.Context, err error) error {
	if p.ctx.Err() != nil || errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return errUnanswered
	}
	return err
}

// create starts a command that the agent can look at.
func (p *process) create(ctx context.Context, at int64, params []byte) (any, error) {
	var r struct {
		Command string
		Args    []string
		Cwd     *string
		Env     []struct{ Name, Value string }
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%v", err)
	}
	if r.Command == "" || len(r.Env) > maxVariables {
		return nil, wire.Errorf(wire.InvalidParams, "there is no command, or more than %d variables", maxVariables)
	}
	cmd := computer.Command{ID: terminalName(p.id, at), Args: append([]string{r.Command}, r.Args...), Keep: true}
	if len(r.Args) == 0 && strings.ContainsAny(r.Command, " \t\n;&|<>$`'\"*()") {
		cmd.Args = []string{"sh", "-c", r.Command} // so agents say it that mean a line of a shell
	}
	if r.Cwd != nil && *r.Cwd != "" {
		dir, err := p.path(*r.Cwd)
		if err != nil {
			return nil, err
		}
		cmd.Dir = dir
	}
	for _, v := range r.Env {
		if v.Name == "" || strings.Contains(v.Name, "=") {
			return nil, wire.Errorf(wire.InvalidParams, "%s is no name of a variable", plain.Quoted(v.Name, 50))
		}
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	known, err := p.e.commands(ctx)
	if err != nil {
		return nil, p.refusal(ctx, err)
	}
	running := 0
	for c, runs := range known {
		if runs && c.terminal > 0 && c.terminal != at {
			running++
		}
	}
	if running >= maxTerminals {
		return nil, fmt.Errorf("%d commands run in terminals already: wait for one of them, or release it", running)
	}
	if err := p.e.Host.Run(ctx, cmd); err != nil {
		return nil, p.refusal(ctx, err)
	}
	// The host has started it; so this finds it.
	if err := p.e.Computer.Start(ctx, cmd); err != nil {
		return nil, p.refusal(ctx, err)
	}
	return map[string]string{"terminalId": cmd.ID}, nil
}

// terminal does what is asked about a command that the agent has started.
func (p *process) terminal(ctx context.Context, what string, params []byte) (any, error) {
	var r struct {
		ID string `json:"terminalId"`
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, wire.Errorf(wire.InvalidParams, "%v", err)
	}
	p.mu.Lock()
	limit, ok := p.limits[r.ID]
	p.mu.Unlock()
	if !ok {
		return nil, wire.Errorf(wire.NotFound, "there is no terminal %s", plain.Quoted(r.ID, 50))
	}
	c := p.e.Computer
	switch what {
	case "output":
		return p.output(ctx, r.ID, limit)
	case "wait_for_exit":
		res, err := c.Wait(ctx, r.ID)
		if err != nil {
			return nil, p.refusal(ctx, err)
		}
		return exitOf(res.Exit, res.Signal), nil
	case "kill", "release":
		if err := c.Kill(ctx, r.ID); err != nil && !errors.Is(err, computer.ErrUnknown) {
			return nil, p.refusal(ctx, err)
		}
		if what == "release" {
			p.mu.Lock()
			delete(p.limits, r.ID)
			p.mu.Unlock()
		}
		return nil, nil
	}
	return nil, wire.Errorf(wire.NoMethod, "there is no method %s", plain.Quoted(terminalMethods+what, 100))
}

func exitOf(code int, signal string) map[string]any {
	if signal != "" {
		return map[string]any{"exitCode": nil, "signal": signal}
	}
	return map[string]any{"exitCode": code, "signal": nil}
}

// output is the end of what a command wrote, both streams in the order of their lines.
func (p *process) output(ctx context.Context, id string, limit int) (any, error) {
	// A command that ended before we came has its output yet to be fetched.
	if known, err := p.e.commands(ctx); err != nil {
		return nil, p.refusal(ctx, err)
	} else if c, ok := p.e.parse(id); ok && !known[c] {
		if _, err := p.e.Computer.Wait(ctx, id); err != nil {
			return nil, p.refusal(ctx, err)
		}
	}
	var out []byte
	var got *computer.Lines
	truncated := false
	for most := 256; ; most *= 4 {
		var err error
		if got, err = p.e.Computer.Read(ctx, id, int64(-most), most); err != nil {
			return nil, p.refusal(ctx, err)
		}
		out = out[:0]
		for _, l := range got.Lines {
			out = append(out, l.Text...)
			if !l.Cut {
				out = append(out, '\n')
			}
		}
		whole := len(got.Lines) < most
		truncated = !whole
		if whole || len(out) > limit {
			break
		}
	}
	out = append(append(out, got.Partial[computer.Stdout]...), got.Partial[computer.Stderr]...)
	text := strings.ToValidUTF8(string(out), "\uFFFD")
	if len(text) > limit {
		text, truncated = plain.CutFront(text, limit), true
	}
	answer := map[string]any{"output": text, "truncated": truncated}
	if q := got.Process; !q.Running {
		answer["exitStatus"] = exitOf(q.Exit, q.Signal)
	}
	return answer, nil
}
