package executor_test

// No race detector: what it tries are sandboxes, with limits on time and memory.

import (
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/executor/executortest"
	"lyceum/internal/need"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	executortest.Roles()
	need.AtATime(4)
	goleak.VerifyTestMain(m)
}

// TestScripted: what the suite says of every agent holds for the one that it is written with. Package
// builtin holds Lyceum's own agent to the same.
func TestScripted(t *testing.T) {
	executortest.Promises(t, func() computer.Driver { return namespaces.New(namespaces.Options{}) }, executortest.Scripted())
}

func TestExecutor(t *testing.T) {
	executortest.Exercise(t, func() computer.Driver { return namespaces.New(namespaces.Options{}) }, need.Times(12, 100))
}
