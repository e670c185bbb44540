// Command questschema prints the JSON Schema of a quest.yaml.
package main

import (
	"fmt"
	"os"

	"lyceum/internal/society"
)

func main() {
	data, err := society.All().SchemaFile()
	if err == nil {
		_, err = os.Stdout.Write(data)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
