// Package tool holds the tools that agents use on the world.
//
// A tool gets its arguments as a model wrote them, which is to say from a
// stranger. Registry.Run checks them against the tool's schema before the tool
// sees them. Whatever goes wrong, bad arguments and panics included, is an
// output that the agent can read and act on; it never ends a run.
package tool

import (
	"context"
	"os"

	"lyceum/internal/model"
)

// Tool is something an agent can do to the world.
type Tool struct {
	model.Tool
	// Repeatable says that running the tool twice does no harm, so that a call
	// which a crash interrupted may simply run again. A call of any other tool is
	// then answered with "interrupted, outcome unknown".
	Repeatable bool
	// Writes says that the tool may change the agent's workspace.
	Writes bool
	// Run does it. The arguments fit the schema. An error is shown to the agent.
	Run func(ctx context.Context, c Call) (string, error)
}

// Call is one use of a tool.
type Call struct {
	// Args is a JSON object.
	Args []byte
	// Home is the agent's workspace. No path can leave it.
	Home *os.Root
}

// Output is what the agent is shown.
type Output struct {
	Text string
	// Error says that Text tells what went wrong.
	Error bool
}
