// Command lyceum runs a laboratory of AI agents on a question.
package main

import (
	"os"

	"lyceum/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
