// Package builtin is Lyceum's own coding agent: the other side of package executor, an agent of
// the Agent Client Protocol, version 1, that runs inside a computer.
//
// It has no key, no configuration and no network. Models are asked at the gateway; files are
// read and written, and commands are run, by the client, who so sees all of it. Only to list
// files and to search them, for which the protocol has no words, it looks into the folder of
// the session itself.
//
// A session is a file of lines. What was said, what the model answered and what came of each
// call is in it before anything follows from it, so a process that is killed loses nothing but
// what it was about to do: another one loads the session, and a call without a result is told
// to the model as one whose outcome nobody knows.
//
// The model is a stranger, and so is whatever it reads. Its calls are checked, bounded, and
// told what is wrong with them; none of them ends a prompt.
package builtin

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"lyceum/internal/acp"

	sdk "github.com/coder/acp-go-sdk"
)

// Options are what an agent starts with. The zero value of all but the first three is good.
type Options struct {
	// Gateway is where models are asked, such as http://127.0.0.1:3129, Token what is brought
	// there in place of a key, and Model the name to ask for.
	Gateway, Token, Model string
	// Wire is the format that is spoken there: anthropic, chat, responses or gemini. Without one
	// it is anthropic, until the gateway says that the model is asked in another.
	Wire string
	// Dir is where sessions are kept.
	Dir string
	// Version is Lyceum's own.
	Version string
	// MaxRequests is how often a model is asked for one prompt, 100 if zero; MaxContext how many
	// bytes of a conversation it is shown, 480,000 if zero.
	MaxRequests, MaxContext int
	// Pause waits between two tries; nil is by the clock.
	Pause func(ctx context.Context, d time.Duration) error
	// Say is told what a person should know; nil tells nobody.
	Say func(line string)
}

// The bounds, where Options have none.
const (
	maxRequests = 100
	maxContext  = 480_000
	// maxSessions is how many sessions a process has open.
	maxSessions = 64
)

// Agent serves one client.
type Agent struct {
	opts Options
	asks *asker
	conn *acp.Conn
	// life ends all prompts.
	life context.Context

	// mu guards what follows, and the fields of sessions that say so.
	mu       sync.Mutex
	greeted  bool
	client   client
	sessions map[string]*session
}

// client is what the other side can do.
type client struct{ read, write, terminal bool }

// New returns an agent. Serve has it work; the end of ctx ends whatever it does.
func New(ctx context.Context, opts Options) *Agent {
	if opts.MaxRequests <= 0 {
		opts.MaxRequests = maxRequests
	}
	if opts.MaxContext <= 0 {
		opts.MaxContext = maxContext
	}
	if opts.Pause == nil {
		opts.Pause = pause
	}
	if opts.Say == nil {
		opts.Say = func(string) {}
	}
	return &Agent{opts: opts, life: ctx, asks: newAsker(opts), sessions: map[string]*session{}}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Serve works for the client at the other end of a connection, whose Peer the agent is, until
// it is gone. What its sessions hold is let go then.
func (a *Agent) Serve(conn *acp.Conn) error {
	a.conn = conn
	err := conn.Serve()
	a.mu.Lock()
	var left []*session
	for id, s := range a.sessions {
		delete(a.sessions, id)
		if s.end() {
			left = append(left, s)
		}
	}
	a.mu.Unlock()
	for _, s := range left {
		s.free()
	}
	return err
}

// Request implements acp.Peer.
func (a *Agent) Request(method string, params json.RawMessage) (func(context.Context) (any, error), error) {
	if method == sdk.AgentMethodInitialize {
		return acp.Begin(params, a.initialize)
	}
	a.mu.Lock()
	greeted := a.greeted
	a.mu.Unlock()
	if !greeted {
		return nil, acp.Errorf(acp.InvalidRequest, "%.80s before initialize: begin with that", method)
	}
	switch method {
	case sdk.AgentMethodAuthenticate:
		return acp.Done(sdk.AuthenticateResponse{}) // there is nothing to sign in to
	case sdk.AgentMethodSessionNew:
		return acp.Begin(params, a.newSession)
	case sdk.AgentMethodSessionLoad:
		return acp.Begin(params, a.loadSession)
	case sdk.AgentMethodSessionResume:
		return acp.Begin(params, a.resumeSession)
	case sdk.AgentMethodSessionClose:
		return acp.Begin(params, a.closeSession)
	case sdk.AgentMethodSessionSetMode:
		return acp.Begin(params, a.setMode)
	case sdk.AgentMethodSessionPrompt:
		return acp.Begin(params, a.prompt)
	}
	return nil, acp.Errorf(acp.NoMethod, "there is no method %.80q here", method)
}

// Notify implements acp.Peer.
func (a *Agent) Notify(method string, params json.RawMessage) {
	var p sdk.CancelNotification
	if method != sdk.AgentMethodSessionCancel || json.Unmarshal(params, &p) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[string(p.SessionId)]; s != nil && s.cancel != nil {
		s.cancel()
	}
}

// greeting is the part of an initialize that counts: a client of another version may have
// others that version 1 does not know.
type greeting struct {
	Capabilities struct {
		FS struct {
			Read  bool `json:"readTextFile"`
			Write bool `json:"writeTextFile"`
		} `json:"fs"`
		Terminal bool `json:"terminal"`
	} `json:"clientCapabilities"`
}

// initialize answers version 1 whatever is asked, and says exactly what there is.
func (a *Agent) initialize(p *greeting) (func(context.Context) (any, error), error) {
	a.mu.Lock()
	a.greeted = true
	a.client = client{read: p.Capabilities.FS.Read, write: p.Capabilities.FS.Write, terminal: p.Capabilities.Terminal}
	a.mu.Unlock()
	return acp.Done(sdk.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &sdk.Implementation{Name: "lyceum-builtin", Title: new("Lyceum's own agent"), Version: a.opts.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    sdk.McpCapabilities{Http: true},
			PromptCapabilities: sdk.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: sdk.SessionCapabilities{
				Close: &sdk.SessionCloseCapabilities{}, Resume: &sdk.SessionResumeCapabilities{},
			},
		},
	})
}

// say tells the client something about a session. One that is gone is told nothing, and ends
// all works anyway.
func (a *Agent) say(session string, u sdk.SessionUpdate) {
	_ = a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(session), Update: u})
}
