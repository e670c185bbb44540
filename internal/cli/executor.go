package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"lyceum/internal/acp"
	"lyceum/internal/executor/builtin"
)

// beExecutor is Lyceum's own coding agent, on standard input and output. Variables tell it all
// that it needs.
func beExecutor(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintln(errOut, "lyceum executor takes no arguments")
		return exitUsage
	}
	opts, err := builtin.FromEnvironment(os.Getenv)
	if err != nil {
		fmt.Fprintf(errOut, "lyceum executor: %v\n", err)
		return exitUsage
	}
	opts.Version = thisBuild().recorded()
	opts.Say = func(line string) { fmt.Fprintln(errOut, "lyceum executor: "+printable(line)) }
	agent := builtin.New(ctx, opts)
	if err := agent.Serve(acp.NewConn(ctx, agent, in, out, acp.Options{})); err != nil {
		fmt.Fprintf(errOut, "lyceum executor: %s\n", printable(err.Error()))
		return exitFailed
	}
	return exitDone
}
