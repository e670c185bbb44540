// Package agent is the side of the Agent Client Protocol that an editor starts: sessions are
// quests of a home.
//
// It has no state or rule of its own that matters. A session is named as its quest, and all
// that it says comes from the ledger; what a process keeps is how far a client was told, and
// what it has chosen for a quest that is not made yet. So a session is loaded in another
// process as it was left, also by one that was killed.
//
// Quests run in the server of the home, if one is up, and otherwise here. They are always made
// here, by the person's own process: so the folder of a session can be a quest's repo without
// being listed for requests. What agents make of it is written back only as the client permits,
// file by file.
package agent

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/proof"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	sdk "github.com/coder/acp-go-sdk"
)

// Options are what an Agent starts with.
type Options struct {
	// Society, Model and Thinking are what new sessions have until their client chooses;
	// empty leaves it to the spec's own defaults.
	Society, Model string
	NoThinking     bool
	// Cost is what a session may spend.
	Cost quest.USD
	// Models are names to choose from.
	Models []string
	// Folders are those whose files agents may have though they are no git repositories.
	Folders []string
	// Believed is whose signatures count; nil leaves out who signed a quest.
	Believed func(context.Context) (proof.Known, error)
	// Token is brought to the server instead of the home's own, if it is not empty.
	Token string
	// NoKey tells that an error is about a key that is missing.
	NoKey func(error) bool
	// Say is told what a person should know.
	Say func(line string)
}

// members is how many agents a society gets that wants to know.
const members = 3

// shape is how a quest of a society is made of a question: whether its agents may ask the
// person, who is there, and how many they are, nil where it needs no number.
type shape struct {
	asks   bool
	agents *int64
}

func (s shape) spec(question string) *quest.Spec {
	return &quest.Spec{Problem: question, MayAsk: s.asks}
}

// maxSessions is how many sessions a process has open.
const maxSessions = 1000

// Agent serves one client.
type Agent struct {
	rt   *runtime.Runtime
	opts Options
	conn *acp.Conn
	// societies are those to choose from: a question alone is enough for them.
	societies []string
	// shapes are how quests of them are made.
	shapes map[string]shape

	// life ends the quests that run here.
	life context.Context
	end  context.CancelFunc
	runs sync.WaitGroup

	mu       sync.Mutex
	greeted  bool
	client   abilities
	sessions map[string]*session
}

// New returns an agent over a home. Serve has it work. The end of ctx does not break off the
// quests that run here: they come to rest.
func New(ctx context.Context, rt *runtime.Runtime, opts Options) *Agent {
	a := &Agent{rt: rt, opts: opts, shapes: map[string]shape{}, sessions: map[string]*session{}}
	for _, name := range rt.Societies.Names() {
		for _, sh := range []shape{{asks: true}, {asks: true, agents: new(int64(members))}, {}, {agents: new(int64(members))}} {
			d := &runtime.Draft{Spec: sh.spec("?"), Name: "a", Model: "demo", Dir: ".", Changes: runtime.Changes{Society: &name, Agents: sh.agents}}
			if _, err := d.Plan(rt.Societies); err == nil {
				a.societies, a.shapes[name] = append(a.societies, name), sh
				break
			}
		}
	}
	a.life, a.end = context.WithCancel(context.WithoutCancel(ctx))
	return a
}

// leaveTime is how long quests that run here have to come to rest when the client is gone.
const leaveTime = 3 * time.Second

// Serve works for the client at the other end of a connection, whose Peer the agent is, until
// it is gone. Quests that run here are paused then, and those of a server go on.
func (a *Agent) Serve(conn *acp.Conn) error {
	a.conn = conn
	err := conn.Serve()
	rest := make(chan struct{})
	go func() { defer close(rest); a.runs.Wait() }()
	timer := time.NewTimer(leaveTime)
	defer timer.Stop()
	select {
	case <-rest:
	case <-timer.C:
	}
	a.end()
	<-rest
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
	case sdk.AgentMethodSessionNew:
		return acp.Begin(params, a.newSession)
	case sdk.AgentMethodSessionLoad:
		return acp.Begin(params, a.load)
	case sdk.AgentMethodSessionResume:
		return acp.Begin(params, a.resume)
	case sdk.AgentMethodSessionList:
		return acp.Begin(params, a.list)
	case sdk.AgentMethodSessionClose:
		return acp.Begin(params, a.close)
	case sdk.AgentMethodSessionPrompt:
		return acp.Begin(params, a.prompt)
	case sdk.AgentMethodSessionSetConfigOption:
		return acp.Begin(params, a.choose)
	case sdk.AgentMethodSessionSetMode:
		return acp.Begin(params, a.setMode)
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
	if s := a.sessions[string(p.SessionId)]; s != nil && s.turn != nil {
		s.turn.cancel()
	}
}

// greeting is the part of an initialize that counts: a client of another version may have
// others that version 1 does not know.
type greeting struct {
	ProtocolVersion    json.RawMessage `json:"protocolVersion"`
	ClientCapabilities json.RawMessage `json:"clientCapabilities"`
}

// abilities are what a client does for an agent, as far as it is used. Its terminals never are:
// they would be outside of any sandbox.
type abilities struct {
	read, write, elicit bool
}

func (g *greeting) abilities() abilities {
	var c struct {
		FS struct {
			ReadTextFile, WriteTextFile bool
		}
		Elicitation *struct{ Form *struct{} }
	}
	if json.Unmarshal(g.ClientCapabilities, &c) != nil {
		return abilities{} // those of another version
	}
	return abilities{read: c.FS.ReadTextFile, write: c.FS.WriteTextFile, elicit: c.Elicitation != nil && c.Elicitation.Form != nil}
}

func (a *Agent) can() abilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.client
}

// initialize answers version 1 whatever is asked, and says exactly what there is.
func (a *Agent) initialize(p *greeting) (func(context.Context) (any, error), error) {
	a.mu.Lock()
	a.greeted, a.client = true, p.abilities()
	a.mu.Unlock()
	return acp.Done(sdk.InitializeResponse{
		ProtocolVersion: 1,
		AgentInfo:       &sdk.Implementation{Name: "lyceum", Title: new("Lyceum"), Version: a.rt.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    sdk.McpCapabilities{Http: true},
			PromptCapabilities: sdk.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: sdk.SessionCapabilities{
				Close: &sdk.SessionCloseCapabilities{}, List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{},
			},
		},
	})
}
