package builtin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/plain"

	sdk "github.com/coder/acp-go-sdk"
)

// The modes.
const (
	// ModeAsk asks before a file is written and before a command is run.
	ModeAsk = "ask"
	// ModeAuto does not.
	ModeAuto = "auto"
)

// session is a conversation about a folder.
type session struct {
	id, cwd string
	file    *store

	// Of the agent's mu:

	mode string
	// busy says that a request works on the session; cancel ends a prompt, and is nil without.
	busy   bool
	cancel context.CancelFunc
	closed bool

	// Of whoever has the session busy:

	lines   []line
	window  window
	calls   int
	servers []*server
}

var idRule = regexp.MustCompile(`^[A-Z2-7]{20,40}$`)

// end has the session closed, under the agent's lock, and reports whether it is to be freed:
// otherwise whoever works on it does so.
func (s *session) end() (free bool) {
	if s.cancel != nil {
		s.cancel()
	}
	s.closed = true
	return !s.busy
}

// free lets go what a session holds that nothing works on any more.
func (s *session) free() {
	for _, x := range s.servers {
		x.close()
	}
	s.file.close()
}

// release ends the work of somebody who had the session busy.
func (a *Agent) release(s *session) {
	a.mu.Lock()
	s.busy, s.cancel = false, nil
	closed := s.closed
	a.mu.Unlock()
	if closed {
		s.free()
	}
}

// take finds a session that nothing works on, and has it busy.
func (a *Agent) take(id sdk.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[string(id)]
	switch {
	case s == nil:
		return nil, acp.Errorf(acp.InvalidParams, "there is no open session %s: open it with session/new, session/load or session/resume", plain.Quoted(string(id), 60))
	case s.busy:
		return nil, acp.Errorf(acp.InvalidRequest, "the session is at work: wait for the answer, or send session/cancel")
	}
	s.busy = true
	return s, nil
}

func modes(now string) *sdk.SessionModeState {
	return &sdk.SessionModeState{
		CurrentModeId: sdk.SessionModeId(now),
		AvailableModes: []sdk.SessionMode{
			{Id: ModeAsk, Name: "Ask", Description: new("Asks before it writes a file or runs a command")},
			{Id: ModeAuto, Name: "Auto", Description: new("Writes files and runs commands without asking")},
		},
	}
}

func checkCwd(cwd string) error {
	if !filepath.IsAbs(cwd) || strings.ContainsRune(cwd, 0) || len(cwd) > maxPath {
		return acp.Errorf(acp.InvalidParams, "cwd: %s is no absolute path", plain.Quoted(cwd, 100))
	}
	return nil
}

func (a *Agent) newSession(p *sdk.NewSessionRequest) (func(context.Context) (any, error), error) {
	if err := checkCwd(p.Cwd); err != nil {
		return nil, err
	}
	servers, err := newServers(p.McpServers)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		s := &session{id: rand.Text(), cwd: filepath.Clean(p.Cwd), mode: ModeAsk, servers: servers}
		first := line{Kind: kindSession, ID: s.id, Cwd: s.cwd, Mode: s.mode}
		if s.file, err = create(ctx, a.opts.Dir, s.id, first); err != nil {
			return nil, err
		}
		s.connect(ctx, a.opts)
		if err := a.keep(s); err != nil {
			return nil, err
		}
		return sdk.NewSessionResponse{SessionId: sdk.SessionId(s.id), Modes: modes(s.mode)}, nil
	}, nil
}

// keep has a session among those that are open.
func (a *Agent) keep(s *session) error {
	a.mu.Lock()
	full := len(a.sessions) >= maxSessions
	if !full {
		a.sessions[s.id] = s
	}
	a.mu.Unlock()
	if full {
		s.free()
		return acp.Errorf(acp.InvalidRequest, "%d sessions are open: close one", maxSessions)
	}
	return nil
}

func (a *Agent) loadSession(p *sdk.LoadSessionRequest) (func(context.Context) (any, error), error) {
	return a.again(p.SessionId, p.Cwd, p.McpServers, func(s *session) any {
		a.replay(s)
		return sdk.LoadSessionResponse{Modes: modes(a.modeOf(s))}
	})
}

func (a *Agent) resumeSession(p *sdk.ResumeSessionRequest) (func(context.Context) (any, error), error) {
	return a.again(p.SessionId, p.Cwd, p.McpServers, func(s *session) any {
		return sdk.ResumeSessionResponse{Modes: modes(a.modeOf(s))}
	})
}

// again opens a session that was there before, in this process or in another.
func (a *Agent) again(id sdk.SessionId, cwd string, list []sdk.McpServer, tell func(*session) any) (func(context.Context) (any, error), error) {
	if !idRule.MatchString(string(id)) {
		return nil, acp.Errorf(acp.NotFound, "%v: %s", errNoSession, plain.Quoted(string(id), 60))
	}
	if err := checkCwd(cwd); err != nil {
		return nil, err
	}
	servers, err := newServers(list)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	_, open := a.sessions[string(id)]
	a.mu.Unlock()
	var s *session
	if open {
		if s, err = a.take(id); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) (any, error) {
		if s == nil {
			if s, err = a.read(ctx, string(id)); err != nil {
				return nil, err
			}
		}
		defer a.release(s)
		if s.cwd != filepath.Clean(cwd) {
			return nil, acp.Errorf(acp.InvalidParams, "the session is about %s, and not about %s", plain.Quoted(s.cwd, 100), plain.Quoted(cwd, 100))
		}
		for _, x := range s.servers {
			x.close()
		}
		s.servers = servers
		s.connect(ctx, a.opts)
		return tell(s), nil
	}, nil
}

// read opens a session of another process, and has it busy.
func (a *Agent) read(ctx context.Context, id string) (*session, error) {
	file, lines, err := reopen(ctx, a.opts.Dir, id)
	if errors.Is(err, errNoSession) {
		return nil, acp.Errorf(acp.NotFound, "%v: %s", errNoSession, id)
	}
	if err != nil {
		return nil, err
	}
	s := &session{id: id, cwd: lines[0].Cwd, mode: ModeAsk, file: file, busy: true}
	for _, l := range lines {
		s.take(l)
	}
	if err := s.mend(); err != nil {
		file.close()
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, twice := a.sessions[id]; twice || len(a.sessions) >= maxSessions {
		file.close()
		return nil, acp.Errorf(acp.InvalidRequest, "the session is being opened already, or %d others are", maxSessions)
	}
	a.sessions[id] = s
	return s, nil
}

// take has the session know a line.
func (s *session) take(l line) {
	switch l.Kind {
	case kindMode, kindSession:
		if l.Mode == ModeAsk || l.Mode == ModeAuto {
			s.mode = l.Mode
		}
		return
	case kindWindow:
		if l.Window != nil {
			s.window = *l.Window
		}
		return
	case kindAnswer:
		s.calls += len(l.calls())
	}
	// Places in a window count what is said and done, and nothing else.
	s.lines = append(s.lines, l)
}

// add has something happen in the session: it is durable first.
func (s *session) add(l line) error {
	if err := s.file.add(l); err != nil {
		return err
	}
	s.take(l)
	return nil
}

// unknownOutcome is the result of a call that a process did not live to see the end of.
const unknownOutcome = "the agent was stopped before this call had a result: whether it was done, nobody knows. Look before you do it again."

// mend gives a result to calls that have none.
func (s *session) mend() error { return s.settle(unknownOutcome) }

// settle ends the calls of the last answer that have no result.
func (s *session) settle(why string) error {
	for _, p := range s.unsettled() {
		if err := s.add(line{Kind: kindResult, ID: p.Call, Text: why, Failed: true}); err != nil {
			return err
		}
	}
	return nil
}

// unsettled are the calls of the last answer that have no result.
func (s *session) unsettled() (out []part) {
	at := len(s.lines) - 1
	has := map[string]bool{}
	for at >= 0 && s.lines[at].Kind != kindAnswer {
		if s.lines[at].Kind == kindResult {
			has[s.lines[at].ID] = true
		}
		at--
	}
	if at < 0 {
		return nil
	}
	for _, p := range s.lines[at].calls() {
		if !has[p.Call] {
			out = append(out, p)
		}
	}
	return out
}

// replay tells the client all of a session.
func (a *Agent) replay(s *session) {
	called := map[string]part{}
	for _, l := range s.lines {
		switch l.Kind {
		case kindUser:
			if l.Text != "" {
				a.say(s.id, sdk.UpdateUserMessageText(l.Text))
			}
			for _, p := range l.Pictures {
				a.say(s.id, sdk.UpdateUserMessage(sdk.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.Media)))
			}
		case kindPlan:
			a.say(s.id, planUpdate(l.Plan))
		case kindAnswer:
			for _, p := range l.Parts {
				switch p.Kind {
				case event.PartText:
					a.say(s.id, sdk.UpdateAgentMessageText(p.Text))
				case event.PartThinking:
					if p.Text != "" {
						a.say(s.id, sdk.UpdateAgentThoughtText(p.Text))
					}
				case event.PartToolCall:
					called[p.Call] = p
				}
			}
		case kindResult:
			if p, ok := called[l.ID]; ok && p.Name != toolPlan {
				a.say(s.id, told(p, l))
			}
		}
	}
}

// told is a call of before, with its result.
func told(p part, l line) sdk.SessionUpdate {
	status := sdk.ToolCallStatusCompleted
	if l.Failed {
		status = sdk.ToolCallStatusFailed
	}
	return sdk.StartToolCall(sdk.ToolCallId(p.Call), title(p.Name, p.Args),
		sdk.WithStartKind(kindOf(p.Name)), sdk.WithStartStatus(status), sdk.WithStartRawInput(rawInput(p.Args)),
		sdk.WithStartContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(shown(l.Text)))}))
}

func (a *Agent) closeSession(p *sdk.CloseSessionRequest) (func(context.Context) (any, error), error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[string(p.SessionId)]
	if s == nil {
		return nil, acp.Errorf(acp.InvalidParams, "there is no open session %s", plain.Quoted(string(p.SessionId), 60))
	}
	delete(a.sessions, s.id)
	free := s.end()
	return func(context.Context) (any, error) {
		if free {
			s.free()
		}
		return sdk.CloseSessionResponse{}, nil
	}, nil
}

func (a *Agent) setMode(p *sdk.SetSessionModeRequest) (func(context.Context) (any, error), error) {
	mode := string(p.ModeId)
	if mode != ModeAsk && mode != ModeAuto {
		return nil, acp.Errorf(acp.InvalidParams, "modeId: %s is neither %s nor %s", plain.Quoted(mode, 40), ModeAsk, ModeAuto)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[string(p.SessionId)]
	if s == nil {
		return nil, acp.Errorf(acp.InvalidParams, "there is no open session %s", plain.Quoted(string(p.SessionId), 60))
	}
	if s.mode == mode {
		return acp.Done(sdk.SetSessionModeResponse{})
	}
	if err := s.file.add(line{Kind: kindMode, Mode: mode}); err != nil {
		return nil, fmt.Errorf("set the mode: %w", err)
	}
	s.mode = mode
	return acp.Done(sdk.SetSessionModeResponse{})
}

func (a *Agent) modeOf(s *session) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.mode
}
