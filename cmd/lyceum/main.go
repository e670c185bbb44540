// Command lyceum runs a laboratory of AI agents on a question.
package main

import (
	"context"
	"os"

	"lyceum/internal/cli"
	"lyceum/internal/computer/helper"
)

func main() {
	// Inside a computer this same program is the helper, and nothing else.
	if len(os.Args) > 1 && os.Args[1] == helper.Role {
		os.Exit(helper.Main(os.Args[2:]))
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
