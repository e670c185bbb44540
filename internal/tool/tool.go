// Package tool holds the tools that agents use on the world.
//
// A tool gets its arguments as a model wrote them, which is to say from a
// stranger. Registry.Run checks them against the tool's schema before the tool
// sees them. Whatever goes wrong, bad arguments and panics included, is an
// output that the agent can read and act on; it never ends a run.
//
// Files are read and written on the host, below the agent's home; programs run in
// the agent's computer, which sees the same home. So a file may change, or become
// a link, between any two looks at it: only what was opened can be trusted.
package tool

import (
	"context"
	"os"

	"lyceum/internal/computer"
	"lyceum/internal/media"
	"lyceum/internal/model"
	"lyceum/internal/workspace"
)

// Tool is something an agent can do to the world.
type Tool struct {
	model.Tool
	// Repeatable says that running the tool twice does no harm, so that a call
	// which a crash interrupted may simply run again. A call of any other tool is
	// then answered with "interrupted, outcome unknown".
	Repeatable bool
	// Same says that the same arguments give the same output on every machine: verify runs each
	// call again.
	Same bool
	// Brief says that the tool does nothing to the world and needs nothing of it, and that it
	// minds Briefly.
	Brief bool
	// Writes says that the tool may change the agent's workspace.
	Writes bool
	// Computer says that the tool needs one.
	Computer bool
	// Named says that only those have the tool for whom somebody names it.
	Named bool
	// Paths are the arguments that are paths of the workspace, or lists of some: what
	// policies look at. A tool of Lyceum's own names them all. Of another, nil means that
	// nobody has said; those are then taken for paths that are called as paths are.
	Paths []string
	// Reads says that a call has no effect on any other: such calls of one turn run at the
	// same time. Parallel says that the tool has an argument parallel, by which the model
	// says so of a call.
	Reads, Parallel bool
	// Source is where it comes from, such as mcp:files; empty means from Lyceum itself.
	// Trust is what the quest's owner thinks of the source: see event.ShownTool.
	Source, Trust string
	// Run does it. The arguments fit the schema. An error is shown to the agent.
	Run func(ctx context.Context, c Call) (string, error)
	// Give does it in place of Run, for a tool that gives pictures or files besides
	// its text.
	Give func(ctx context.Context, c Call) (string, []media.File, error)
	// Tell does it in place of Run, for a tool that tells policies how it went besides: with
	// an object in JSON, whose members have short values. It is empty where there is nothing to
	// tell.
	Tell func(ctx context.Context, c Call) (text, outcome string, err error)
}

// functions counts those that a tool has to do it. It needs one.
func (t Tool) functions() (n int) {
	for _, has := range []bool{t.Run != nil, t.Give != nil, t.Tell != nil} {
		if has {
			n++
		}
	}
	return n
}

// Call is one use of a tool.
type Call struct {
	// ID is this call's and no other's in the agent's computer: letters and digits,
	// such as c17. Commands are named after it.
	ID string
	// Agent is whose call it is.
	Agent string
	// Args is a JSON object.
	Args []byte
	// Home is the agent's workspace. No path can leave it.
	Home *os.Root
	// Closed are the files and folders of it that policies keep the tool away from, in
	// the form of workspace.Path. Its arguments have been judged; what a link leads to,
	// and what it finds by walking, the tool must leave alone itself.
	Closed []string
	// Bounds are what the quest lets its agents read and write, by whatever means.
	Bounds workspace.Bounds
	// Computer is the agent's, nil if it has none.
	Computer Computer
}

// Computer is what tools do with an agent's computer.
type Computer interface {
	// Run runs a command to its end. When ctx ends the command is killed.
	Run(ctx context.Context, c computer.Command) (*computer.Result, error)
	// Start begins a long command and returns once it has begun.
	Start(ctx context.Context, c computer.Command) error
	// Wait returns the result of a command, computer.ErrUnknown if there is none.
	// When ctx ends it returns ctx's error and the command goes on.
	Wait(ctx context.Context, id string) (*computer.Result, error)
	// Processes returns the commands that the computer knows.
	Processes(ctx context.Context) ([]computer.Process, error)
	// Read returns up to max lines of a command's log from line from (1...) on; a
	// negative from counts from the end. It never waits for more to be written.
	Read(ctx context.Context, id string, from int64, max int) (*computer.Lines, error)
	// Write gives data to a command's input, and ends the input if end is set.
	Write(ctx context.Context, id string, data []byte, end bool) error
	// Kill ends a command and all that it started.
	Kill(ctx context.Context, id string) error
}

// Output is what the agent is shown.
type Output struct {
	Text string
	// Error says that Text tells what went wrong.
	Error bool
}

// Result is all that came of a call.
type Result struct {
	Output
	// Files are pictures, which the agent is shown if its model can see, and other
	// files, which it is told about. What they are is for their bytes to say. Those
	// that are too many or too large are left out, and the agent is told so.
	Files []media.File
	// Outcome is what policies are told of how it went, an object in JSON, or empty.
	Outcome string
	// Cause is why it failed, nil if it did not: whoever keeps the agent's world tells by it
	// whether the failure is for the agent to hear.
	Cause error
}
