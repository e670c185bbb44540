// Package executor reaches outside coding agents in computers over the Agent Client Protocol,
// version 1, and nothing else. It knows no quest: what an agent reports it gives on as bodies of
// events, in order, and what an agent wants to be allowed it asks its Host.
//
// An agent is a command of a computer that outlives this process. The computer keeps all that
// the agent wrote, by byte; the journal, a file on the host, keeps all that was written to the
// agent. A line stands in the journal before its first byte is written, with the place in the
// agent's output up to which was read then. The two together are the conversation, in order, and
// there is nothing else to remember.
//
// A Lyceum that comes to an agent that runs reads the conversation from its beginning, through
// the same code. Our requests have names for ids that say what they are, such as init, new-1 or
// p17 for the prompt 17: one that stands in the journal is not written again, and its answer is
// found, or waited for. A request of the agent that has its answer in the journal is not worked
// on again; one that has none is, and what it does is made to be done once: a command has its
// name by the place of the request, the Host is asked by the same id. The last line of the
// journal may be known to the agent in part: the computer knows how many bytes it was given, and
// gets the rest. So the agent has every line once, whenever Lyceum was killed.
//
// What is reported has the place in the output at which it stands. The reading stops at the last
// prompt of the journal until somebody asks for that prompt, and says up to which place they know
// all; what stands behind is reported, or was not lost. Places go on over processes: the output of
// the next one begins ProcessSpan further. An agent that ended while nobody was there has its
// output still: what it answered is taken from there, and only if it did not answer, another is
// asked.
//
// All of it is bounded: lines, updates and answers of a prompt, requests at a time, time to get
// ready, to stop, to say anything at all. Whoever goes beyond is ended, with all that it has
// started, and the error says what it did.
package executor

import (
	"context"

	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// Executor is an outside agent in a computer. There is one implementation, for whatever speaks
// the protocol; executortest holds each agent to the same promises.
type Executor interface {
	// Ready starts the agent, or finds it where it runs, and says what it is. It takes at most
	// ReadyTime.
	Ready(ctx context.Context) (Info, error)
	// Open opens the session with the given id if the agent can and has it, else a new one. If
	// the process still has it open, that is the session, and nothing is said.
	Open(ctx context.Context, id string) (Session, error)
	// Prompt says something in the open session, and waits until the agent's turn is over. One
	// that was begun before a crash, by its number, goes on. The end of ctx is session/cancel,
	// and after GraceTime the death of all that runs for the agent; the turn then has the stop
	// interrupted, and no error.
	Prompt(ctx context.Context, p Prompt) (Turn, error)
	// Close ends the agent and all that it has started.
	Close() error
}

// Info is what an agent says of itself.
type Info struct {
	Name, Version string
	Protocol      int64
	// Capabilities by name, sorted, such as load, resume, image, mcp.http.
	Capabilities []string
	// Mode is the one that the session was given: empty before there is one, and if the agent
	// has none.
	Mode string
	// Reported says that it runs its commands by itself.
	Reported bool
}

// Session is one that is open.
type Session struct {
	ID string
	// How is new, loaded or resumed; empty if the process had the one that was asked for open
	// already. A process that nobody knows may have it open: then a crash came before that was
	// told.
	How string
	// Process is the command of the computer that has it.
	Process string
}

// Prompt is something that is said to an agent.
type Prompt struct {
	// Seq is its number: that of the prompt.call.
	Seq uint64
	// Text is what is said. Pictures go with it, for an agent that says that it can see.
	Text     string
	Pictures []Picture
	// Begin is called before the first byte is written to a process that has not been told, and
	// not again for the same process, unless a crash came before that byte; what it says must
	// hold over a crash when it returns. An error of it ends the prompt.
	Begin func(ctx context.Context, process string) error
	// After is the place in the agent's output, the At of what was reported, up to which all is
	// known. What stands before it is not reported again.
	After int64
}

// Picture is one that is shown with a prompt.
type Picture struct {
	Media string
	Data  []byte
}

// CanSee is the capability of agents that can be shown pictures.
const CanSee = "image"

// MaxPrompt is how many bytes a prompt may have, its pictures as base64.
const MaxPrompt = maxLine - 64<<10

// Turn is what came of a prompt.
type Turn struct {
	// Stop is one of the protocol's reasons, or event.StopInterrupted.
	Stop string
	// Text is what it said after its last call, Thought what it said to itself then.
	Text, Thought string
	// Frames are the lines of both sides that belong to it, in order; see Derive. Of pictures
	// that were shown they have the hashes alone.
	Frames []byte
}

// Host is what an agent reaches outside its own process, besides models and tools: whoever runs
// it. Its methods may be called by several goroutines, but Report by one at a time.
type Host interface {
	// Report takes what the agent reported, in the order of its output, to be durable in time.
	// It waits while there is too much.
	Report(ctx context.Context, b event.Body) error
	// Live tells what the agent is just saying, as it comes; kind is text or thought.
	Live(kind, text string)
	// Permit asks whether the agent may do something, and waits. What it returns is the id of an
	// option, or nothing if the request is cancelled. Asked again after a crash, with the same
	// id, it gives the same answer.
	Permit(ctx context.Context, b *event.PermissionAsked) (option string, err error)
	// Ask answers a question of the agent's, and waits: with a JSON object of what the fields are to
	// hold, or with nil if nobody says. Asked again after a crash, with the same id, it is the same
	// question. It is not called unless Agent.Asks.
	Ask(ctx context.Context, q Question) (values []byte, err error)
	// Write and Run are what the agent has done through Lyceum. They are refused with words for
	// the agent. Write is asked before a file below the home is written. Run starts a command of
	// the terminal in the computer, and writes down what comes of it; after a crash it may be
	// asked again for a command that runs, by the same id, which is then not started again.
	Write(ctx context.Context, path string) error
	Run(ctx context.Context, cmd computer.Command) error
}

// Settings are what is known of an agent before it is started. They are pinned in a quest's
// first event, and hold nothing secret.
type Settings struct {
	Name string `json:"name"`
	// Folder is the name below computer.FoldersDir of the one that has its programs, empty if
	// the computer has them. Where it stands on the host is not pinned.
	Folder string `json:"folder,omitzero"`
	// Command are the program and its arguments; {folder} stands for where the folder is inside.
	Command []string `json:"command"`
	// Variables of its environment: {gateway} stands for the address of the gateway, such as
	// http://127.0.0.1:3129, {token} for what it is to take for its key, {model} for the name of
	// its model, {home} for its home, {settings} for the folder in its home that is for what it
	// keeps for itself, {folder} as above.
	Variables map[string]string `json:"variables,omitempty"`
	// Files are written below {settings}, SettingsDir in its home, by path, before it is started,
	// with the same words filled in.
	Files map[string]string `json:"files,omitempty"`
	// Wire is the format in which it asks for models: anthropic, chat, responses or gemini;
	// empty if it asks in whatever format its model wants.
	Wire string `json:"wire,omitzero"`
	// Authenticate is the method that it wants to be signed in by, empty for none.
	Authenticate string `json:"authenticate,omitzero"`
	// Mode is the one that it is given, empty to leave it as it is.
	Mode string `json:"mode,omitzero"`
	// NoRead says that it is not offered to read files through us.
	NoRead bool `json:"no_read,omitzero"`
	// Version is the one that was tried. Exact says that a person wants that one and no other.
	Version string `json:"version,omitzero"`
	Exact   bool   `json:"exact,omitzero"`
	// Reported says that it runs its commands by itself whatever it is offered.
	Reported bool `json:"reported,omitzero"`
	// MCP is how it takes the tools of its agent: http, or stdio through the bridge.
	MCP string `json:"mcp,omitzero"`
}
