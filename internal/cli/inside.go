package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/helper"
	"lyceum/internal/mcp/bridge"
)

// role is what this program is in place of a command line. It has no home and reads no
// configuration.
type role func(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int

// roles are those that programs of a computer may have this one play, by its first argument.
var roles = map[string]role{"executor": beExecutor, bridge.Role: bridge.Main}

// Inside plays the part that this program has in computers, if it has one, and returns the
// exit code. Their first process is the helper. For their programs, which find this one at
// computer.Program, it is one of the roles and nothing else: a command line would make
// itself a home in theirs and speak of quests that nobody has.
func Inside(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) (code int, played bool) {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	if first == helper.Role {
		return helper.Main(args[1:]), true
	}
	if play := roles[first]; play != nil {
		return play(ctx, args[1:], in, out, errOut), true
	}
	if self, err := os.Executable(); err != nil || strings.TrimSuffix(self, " (deleted)") != computer.Program {
		return 0, false
	}
	fmt.Fprintln(errOut, "lyceum: this is a computer of an agent: Lyceum is outside, and has no commands here")
	return exitUsage, true
}
