// Command lyceum runs a laboratory of AI agents on a question.
package main

import (
	"context"
	"os"

	"lyceum/internal/cli"
)

func main() {
	// It ends with the program.
	ctx := context.Background()
	// Inside a computer this same program is the helper, or what an agent may have it be.
	if code, played := cli.Inside(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); played {
		os.Exit(code)
	}
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
