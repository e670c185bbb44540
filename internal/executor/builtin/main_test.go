package builtin

import (
	"context"
	"os"
	"testing"

	"lyceum/internal/acp"
	"lyceum/internal/executor/executortest"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// The parts that the test binary plays as a program of its own.
const (
	roleAgent  = "executor"
	roleServer = "be-a-server"
)

func TestMain(m *testing.M) {
	executortest.Roles() // the helper in a computer, and the scripted agent
	if len(os.Args) > 1 && os.Args[1] == roleAgent {
		opts, err := FromEnvironment(os.Getenv)
		if err != nil {
			panic(err)
		}
		opts.Version = "1"
		a := New(context.Background(), opts)
		_ = a.Serve(acp.NewConn(context.Background(), a, os.Stdin, os.Stdout, acp.Options{}))
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == roleServer {
		s := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "child", Version: "1"}, nil)
		addTool(s, "whoami", func() string { return "token " + os.Getenv(VariableToken) + " given " + os.Getenv("GIVEN") })
		_ = s.Run(context.Background(), &mcpsdk.StdioTransport{})
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
